// Corrections by hand: points inside a lasso are held in a cluster, and the fit runs again around them.

import { total } from "./agreement.js";
import { swatch } from "./colours.js";
import { attempt, h, many, notice, replace } from "./ui.js";

export class Corrections {
  constructor(points) {
    this.points = points;
    this.list = [];
    this.mask = null;
    this.element = h("section", { class: "card" });
    this.bar = h("div", { class: "selection-bar", role: "group", "aria-label": "What to do with the selected points", hidden: true });
    this.#show(0);
  }

  get count() {
    return this.list.length;
  }

  set(list) {
    this.list = list;
    this.#drop();
  }

  setSelection(mask) {
    this.mask = mask;
    this.found = mask ? total(mask) : 0;
    this.#show(this.found);
    this.points.selection?.show(mask);
  }

  /** The active side is another: what is said of the selected points is about its clusters. */
  refresh() {
    this.#show(this.mask ? this.found : 0);
  }

  #show(found) {
    const pane = this.points.panes?.[this.points.active];
    const parts = [h("div", { class: "card-head" }, h("h2", {}, "Correct by hand"))];
    const lasso = h("button", { class: "small", onclick: () => this.points.look.setTool("lasso") }, "Take the lasso");
    parts.push(h("p", { class: "hint" }, "Draw around a few points and say where they belong; the others follow them in a new fit."), lasso);
    this.bar.hidden = !found;
    if (found) {
      const sizes = pane?.run?.facts.sizes ?? [];
      const buttons = [...sizes.keys()].filter((label) => sizes[label]).slice(0, 12).map((label) =>
        h("button", { class: "small", "data-hold": String(label), onclick: () => this.hold(label) }, swatch(label), `cluster ${pane.nameOf(label)}`),
      );
      replace(
        this.bar,
        h("span", {}, h("strong", {}, many(found, "point")), ` ${found === 1 ? "is" : "are"}, in the ${this.points.active === "a" ? "left" : "right"} clustering,`),
        h("button", { class: "small primary-soft", "data-hold": "one", onclick: () => this.hold("one") }, "one cluster"),
        ...buttons,
        h("span", { class: "grow" }),
        h("button", { class: "plain", onclick: () => this.#drop() }, "Let go"),
      );
    }
    if (this.list.length) {
      const lines = this.list.slice(-6).map(({ label, n_rows }) => h("li", {}, swatch(label), `${many(n_rows, "point")} held in cluster ${pane?.run ? pane.nameOf(label) : label}`));
      parts.push(
        h("ul", { class: "held" }, lines),
        h("div", { class: "button-row" }, h("button", { class: "small", onclick: () => this.release(true) }, "Take the last back"), h("button", { class: "small", onclick: () => this.release(false) }, "Take all back")),
      );
    }
    replace(this.element, parts);
  }

  #drop() {
    this.mask = null;
    for (const pane of Object.values(this.points.panes ?? {})) pane.plot.setSelected(null);
    this.#show(0);
    this.points.selection?.show(null);
  }

  /** Hold the selected points in a cluster and fit the active side again. */
  async hold(label) {
    const { api, active, panes } = this.points;
    const run = panes[active].run;
    if (!run || run.kind !== "fit") return notice("corrections need a clustering made here on the active side, not a column", "error");
    if (!["evencut", "kernel"].includes(run.method.tool)) return notice(`${panes[active].title.textContent} takes no corrections; choose evencut or a kernel`, "error");
    const rows = [];
    for (let i = 0; i < this.mask.length; i++) if (this.mask[i]) rows.push(i);
    await attempt(async () => {
      const answer = await api.bytes(`/selection?run=${run.id}&label=${label}`, Uint32Array.from(rows));
      this.list = answer.corrections;
      this.#drop();
      this.points.around = run.id; // the clusters stay what they are around what is corrected
      await this.points.run(active, `hold ${rows.length} points`);
    });
  }

  async release(last) {
    await attempt(async () => {
      this.list = (await this.points.api.delete(`/selection?last=${last}`)).corrections;
      this.#show(0);
      await this.points.run(this.points.active, "take corrections back");
    });
  }
}
