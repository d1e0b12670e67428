// A diagnosis in words and pictures: the verdict, the evidence for every cluster, and the cure.

import { verdictColour, verdictTone } from "./colours.js";
import { codeBlock, h, percent, s, short } from "./ui.js";

const WIDE = 132;
const TALL = 46;

/** Log density across a border: the neighbour on the left, the cluster on the right, an honest border in a valley. */
function profile(sides, colour) {
  if (!sides) return h("span", { class: "quiet" }, "no border");
  const [inner, outer] = sides.map((side) => side.filter((value) => value !== null));
  const values = [...outer.slice().reverse(), ...inner];
  if (values.length < 2) return h("span", { class: "quiet" }, "too small");
  const low = Math.min(...values);
  const high = Math.max(...values);
  const x = (i) => 4 + ((WIDE - 8) * i) / (values.length - 1);
  const y = (value) => TALL - 5 - ((TALL - 10) * (value - low)) / (high - low || 1);
  const middle = x(outer.length - 0.5);
  return s(
    "svg",
    { width: WIDE, height: TALL, role: "img", "aria-label": "density across the border" },
    s("line", { x1: middle, x2: middle, y1: 2, y2: TALL - 2, class: "border-line" }),
    s("polyline", { points: values.map((value, i) => `${x(i)},${y(value)}`).join(" "), fill: "none", stroke: colour, "stroke-width": 2 }),
  );
}

/** The report as an element; `apply(method)` puts the cure to work. */
export function reportView(found, side, pane, apply) {
  const { report, headline, summary, profiles, cure } = found;
  const tone = verdictTone(report);
  const rows = report.clusters.map((row, i) => {
    const label = Number(row.label);
    const swatch = h("i", { class: "swatch" });
    swatch.style.background = pane.colourOf(label);
    const verdict = h("td", {}, h("span", { class: "dot" }), `${row.verdict} (${percent(row.confidence)})`);
    verdict.querySelector(".dot").style.background = verdictColour(row.verdict);
    return h(
      "tr",
      {},
      h("th", { scope: "row" }, swatch, pane.nameOf(label)),
      h("td", {}, String(row.size)),
      h("td", {}, `${percent(row.density)}`),
      h("td", {}, row.neighbor === null ? "none" : short(row.border_density, 2)),
      h("td", {}, short(row.conductance, 2)),
      h("td", {}, profile(profiles[i], pane.colourOf(label))),
      verdict,
    );
  });
  const heads = [
    ["cluster", ""],
    ["points", ""],
    ["denser than", "Share of all points that are less dense than its middle."],
    ["border / inside", "Density on its border over the density inside: near 0 in a valley, 1 and more through a dense region."],
    ["leaves it", "Share of its neighbour links that leave the cluster."],
    ["across the border", "Log density from the neighbour (left) into the cluster (right)."],
    ["verdict", ""],
  ];
  const cureButton = cure
    ? h("button", { class: "primary", "data-action": "cure", onclick: () => apply(cure) }, `Apply the cure to the ${side === "left" ? "right" : "left"}`)
    : null;
  return h(
    "div",
    { class: "report" },
    h("div", { class: "report-head" }, h("h3", { class: tone }, `${side === "left" ? "Left" : "Right"}: ${headline}`), cureButton),
    h("div", { class: "advice" }, ...report.advice.split("\n").map((line) => h("p", {}, line)), report.code ? codeBlock(report.code, "advised line") : null),
    h(
      "div",
      { class: "table-scroll", tabindex: "0", role: "region", "aria-label": "Evidence for every cluster" },
      h("table", {}, h("thead", {}, h("tr", {}, heads.map(([text, title]) => h("th", { scope: "col", title: title || null }, text)))), h("tbody", {}, rows)),
    ),
    h("div", { class: "quiet" }, ...summary.map((line) => h("p", {}, line))),
  );
}

/** The tables of what an automatic choice compared. */
export function selectionView(run) {
  if (!run || run.kind !== "fit" || !run.facts.selection.length) {
    return h("p", { class: "hint" }, "The table of candidates appears where the kernel or the number of clusters is chosen automatically.");
  }
  const write = (cell) => (typeof cell === "number" ? short(cell, 4) : String(cell ?? "–"));
  const table = ({ name, columns, rows }) => {
    const title = name === "numbers" ? "Numbers of clusters compared, best first" : "Candidates compared, best first";
    const head = h("thead", {}, h("tr", {}, columns.map((column) => h("th", { scope: "col" }, column.replaceAll("_", " ")))));
    const body = h("tbody", {}, rows.map((row) => h("tr", {}, row.map((cell) => h("td", {}, write(cell))))));
    return h("div", { class: "table-scroll", tabindex: "0", role: "region", "aria-label": name }, h("h4", {}, title), h("table", {}, head, body));
  };
  return h("div", { class: "selection" }, run.facts.selection.map(table));
}
