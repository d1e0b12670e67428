// Two clusterings against each other: which points differ, and how the clusters of one lie in those of the other.

import { confusion, differences } from "./match.js";
import { count, h, percent, replace } from "./ui.js";

const MOST = 30;

export class Compare {
  constructor(points) {
    this.points = points;
    this.element = h("div", { class: "dock-view compare" });
  }

  get both() {
    const { a, b } = this.points.panes;
    return a.labels && b.labels && a.labels.length === b.labels.length;
  }

  show() {
    if (!this.both) return replace(this.element, h("p", { class: "hint" }, "Two clusterings of the same points are compared here."));
    const { a, b } = this.points.panes;
    const { found } = differences(a.labels, b.labels);
    const button = h("button", { class: "small primary-soft", "data-action": "differences", disabled: !found, onclick: () => this.mark() }, `Mark the ${count(found)} points that differ`);
    const head = h("div", { class: "compare-head" }, h("strong", {}, `${percent(found / a.labels.length)} of the points differ`), button);
    replace(this.element, head, this.#table(a, b));
  }

  /** Select the points whose clusters do not belong together. */
  mark() {
    const { a, b } = this.points.panes;
    const { mask, found } = differences(a.labels, b.labels);
    this.points.select(found ? mask : null, found);
  }

  #table(a, b) {
    const table = confusion(a.labels, b.labels);
    if (table.rows > MOST || table.columns > MOST) return h("p", { class: "hint" }, `The table is for at most ${MOST} clusters a side.`);
    const name = (pane, label) => {
      const swatch = h("i", { class: "swatch" });
      swatch.style.background = pane.colourOf(label);
      return [swatch, pane.nameOf(label)];
    };
    const most = table.counts.reduce((x, y) => Math.max(x, y), 1);
    const used = (pane) => [...pane.run.facts.sizes.keys()].filter((label) => pane.run.facts.sizes[label]);
    const rows = used(a).map((i) =>
      h(
        "tr",
        {},
        h("th", { scope: "row" }, name(a, i)),
        used(b).map((j) => {
          const n = table.counts[i * table.columns + j];
          const cell = h("td", { class: j === i ? "matched" : null }, h("button", { class: "plain", disabled: !n, title: "Select these points", onclick: () => this.#pick(i, j) }, n ? count(n) : "·"));
          cell.style.setProperty("--share", String(n / most));
          return cell;
        }),
      ),
    );
    return h(
      "div",
      { class: "table-scroll", tabindex: "0", role: "region", "aria-label": "Points in each pair of clusters" },
      h("table", { class: "confusion" }, h("thead", {}, h("tr", {}, h("th", {}, "left \\ right"), used(b).map((j) => h("th", { scope: "col" }, name(b, j))))), h("tbody", {}, rows)),
    );
  }

  #pick(i, j) {
    const { a, b } = this.points.panes;
    const mask = new Uint8Array(a.labels.length);
    let found = 0;
    for (let row = 0; row < mask.length; row++) if (a.labels[row] === i && b.labels[row] === j) found += mask[row] = 1;
    this.points.select(mask, found);
  }
}
