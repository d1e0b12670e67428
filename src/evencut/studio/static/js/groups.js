// The plain layer: group the rows, say how many groups, and nothing that has to be looked up; "More" brings the rest.

import { DEFAULT_METHOD } from "./controls.js";
import { h } from "./ui.js";

const MORE = "evencut-more"; // in the browser's storage: whether the page has shown more
const MOST = 20;

export const isPlain = () => document.body.classList.contains("plain");

export class Groups {
  constructor(points) {
    this.points = points;
    this.number = h("output", { class: "quiet" });
    this.slider = h("input", { type: "range", min: "1", max: String(MOST), step: "1", value: "3", "aria-label": "How many groups", "data-control": "groups" });
    this.slider.addEventListener("input", () => (this.number.textContent = this.slider.value));
    this.slider.addEventListener("change", () => this.group(Number(this.slider.value)));
    this.more = h("button", { class: "small", "data-action": "more", onclick: () => this.setPlain(!isPlain()) });
    const go = h("button", { class: "primary wide", "data-action": "group", onclick: () => this.group("auto") }, "Group my rows");
    const head = h("div", { class: "field-head" }, h("span", {}, "How many groups"), this.number);
    this.element = h("div", { class: "form" }, go, h("div", { class: "field" }, head, this.slider, h("p", { class: "hint" }, "The number is found; move this to ask for another.")), this.more);
  }

  /** Plain: one clustering in plain words; otherwise methods, two sides and their diagnosis. */
  setPlain(plain = localStorage.getItem(MORE) !== "yes") {
    const { points } = this;
    document.body.classList.toggle("plain", plain);
    localStorage.setItem(MORE, plain ? "no" : "yes");
    this.more.textContent = plain ? "More: methods, two sides, diagnosis" : "Less: the groups alone";
    if (plain) points.active = "b";
    points.look.setLayout(plain ? "one" : "two");
    for (const pane of Object.values(points.panes)) pane.showTitle();
    if (!points.points) return;
    points.look.showColours();
    if (!plain && !points.panes.a.run && points.panes.b.run) points.run("a", null);
    points.dock.show(plain && points.panes.b.run ? "clusters" : null);
  }

  /** Group the rows into so many groups, or as many as are found. */
  async group(n_clusters) {
    const { points } = this;
    points.setActive("b");
    points.columns.b = null;
    points.methods.b = { ...DEFAULT_METHOD, n_clusters, seed: points.methods.b.seed };
    await points.run("b", n_clusters === "auto" ? "group the rows" : `ask for ${n_clusters} groups`);
    points.dock.show("clusters");
  }

  /** The number of groups that are shown. */
  show(run) {
    if (!run) return;
    this.slider.value = String(Math.min(MOST, run.facts.n_clusters));
    this.number.textContent = String(run.facts.n_clusters);
  }
}
