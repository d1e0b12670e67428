// A diagnosis in words and pictures: the verdict, the evidence for every cluster, and the cure.

import { clusterColour, swatch, verdictColour, verdictTone } from "./colours.js";
import { codeBlock, h, percent, row, s, short, table } from "./ui.js";

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
export function reportView({ report, headline, summary, profiles, cure }, side, pane, apply) {
  const tone = verdictTone(report);
  const rows = report.clusters.map((found, i) => {
    const label = Number(found.label);
    const verdict = h("td", {}, h("span", { class: "dot" }), `${found.verdict} (${percent(found.confidence)})`);
    verdict.querySelector(".dot").style.background = verdictColour(found.verdict);
    return h(
      "tr",
      {},
      h("th", { scope: "row" }, swatch(label), pane.nameOf(label)),
      h("td", {}, String(found.size)),
      h("td", {}, `${percent(found.density)}`),
      h("td", {}, found.neighbor === null ? "none" : short(found.border_density, 2)),
      h("td", {}, short(found.conductance, 2)),
      h("td", {}, profile(profiles[i], clusterColour(label))),
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
    table("Evidence for every cluster", heads.map(([text, title]) => h("th", { scope: "col", title: title || null }, text)), rows),
    h("div", { class: "quiet" }, ...summary.map((line) => h("p", {}, line))),
  );
}

/** The tables of what an automatic choice compared. */
export function selectionView(run) {
  if (!run || run.kind !== "fit" || !run.facts.selection.length) {
    return h("p", { class: "hint" }, "The table of candidates appears where the kernel or the number of clusters is chosen automatically.");
  }
  const write = (cell) => (typeof cell === "number" ? short(cell, 4) : String(cell ?? "–"));
  const titled = ({ name, columns, rows }) => {
    const title = name === "numbers" ? "Numbers of clusters compared, best first" : "Candidates compared, best first";
    return [h("h4", {}, title), table(name, columns.map((column) => column.replaceAll("_", " ")), rows.map((cells) => row(cells.map(write))))];
  };
  return h("div", { class: "selection" }, run.facts.selection.map(titled));
}
