// Two clusterings against each other: which points differ, and how the clusters of one lie in those of the other.

import { confusion, differences, total } from "./agreement.js";
import { swatch } from "./colours.js";
import { count, h, percent, replace, table } from "./ui.js";

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
    const found = total(differences(a.labels, b.labels));
    const button = h("button", { class: "small primary-soft", "data-action": "differences", disabled: !found, onclick: () => this.mark() }, `Mark the ${count(found)} points that differ`);
    const head = h("div", { class: "compare-head" }, h("strong", {}, `${percent(found / a.labels.length)} of the points differ`), button);
    replace(this.element, head, this.#table(a, b));
  }

  /** Select the points whose clusters do not belong together. */
  mark() {
    const { a, b } = this.points.panes;
    this.points.select(differences(a.labels, b.labels));
  }

  #table(a, b) {
    const overlap = confusion(a.labels, b.labels);
    if (overlap.rows > MOST || overlap.columns > MOST) return h("p", { class: "hint" }, `The table is for at most ${MOST} clusters a side.`);
    const name = (pane, label) => [swatch(label), pane.nameOf(label)];
    const most = overlap.counts.reduce((x, y) => Math.max(x, y), 1);
    const used = (pane) => [...pane.run.facts.sizes.keys()].filter((label) => pane.run.facts.sizes[label]);
    const rows = used(a).map((i) =>
      h(
        "tr",
        {},
        h("th", { scope: "row" }, name(a, i)),
        used(b).map((j) => {
          const n = overlap.counts[i * overlap.columns + j];
          const cell = h("td", { class: j === i ? "matched" : null }, h("button", { class: "plain", disabled: !n, title: "Select these points", onclick: () => this.#pick(i, j) }, n ? count(n) : "·"));
          cell.style.setProperty("--share", String(n / most));
          return cell;
        }),
      ),
    );
    const heads = used(b).map((j) => h("th", { scope: "col" }, name(b, j)));
    return table("Points in each pair of clusters", [h("th", {}, "left \\ right"), ...heads], rows, "confusion");
  }

  #pick(i, j) {
    const { a, b } = this.points.panes;
    this.points.select(Uint8Array.from(a.labels, (label, row) => (label === i && b.labels[row] === j ? 1 : 0)));
  }
}
