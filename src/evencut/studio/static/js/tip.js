// What is known of the point under the pointer, the finger or the keys.

import { h, replace, written } from "./ui.js";

const SHOWN = 8;
const WIDE = 236;

export class Tip {
  constructor(points) {
    this.points = points;
    this.element = h("div", { class: "tip", role: "status", hidden: true });
  }

  hide() {
    this.row = null;
    this.element.hidden = true;
  }

  async show(row, event) {
    const { api, panes, element } = this.points;
    const labels = Object.values(panes)
      .filter((pane) => pane.labels)
      .map((pane) => h("tr", {}, h("th", {}, pane.title.textContent), h("td", {}, pane.labels[row] < 0 ? "none" : `cluster ${pane.nameOf(pane.labels[row])}`)));
    this.row = row;
    const cells = await api.get(`/points/rows/${row}`).catch(() => null);
    if (!cells || this.row !== row) return;
    const shown = cells.cells.slice(0, SHOWN).map(([name, value]) => h("tr", {}, h("th", {}, name), h("td", {}, written(value))));
    replace(this.element, h("strong", {}, `row ${row}`), h("table", {}, labels, shown));
    const box = element.getBoundingClientRect();
    this.element.hidden = false;
    const x = Math.max(4, Math.min(event.clientX - box.left + 14, box.width - WIDE));
    const tall = this.element.offsetHeight;
    const y = event.clientY - box.top + 14;
    this.element.style.left = `${x}px`;
    this.element.style.top = `${event.clientY + 14 + tall > innerHeight ? y - tall - 28 : y}px`;
  }
}
