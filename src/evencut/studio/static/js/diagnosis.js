// The diagnosis of either side: asked for, shown in the drawer, marked when its clustering has gone, and its cure applied.

import { reportView } from "./report.js";
import { attempt, h, notice, replace } from "./ui.js";

const HINT = "Press Diagnose on a clustering: verdict, evidence and cure appear here.";
export const SIDES = { a: "left", b: "right" };

export class Diagnosis {
  constructor(points) {
    this.points = points;
    this.element = h("div", { class: "dock-view" });
    this.clear();
  }

  clear() {
    this.reported = null;
    replace(this.element, h("p", { class: "hint" }, HINT));
  }

  async diagnose(key) {
    const pane = this.points.panes[key];
    if (!pane.run) return notice("cluster something first", "error");
    await attempt(async () => {
      const run = pane.run.id;
      await this.points.work.run("Diagnosis", () => this.points.api.post(`/runs/${run}/diagnosis`));
      if (pane.run.id !== run) return this.diagnose(key); // a newer clustering came in between
      pane.run.judged = true;
      await this.show(key);
      this.points.dock.show("diagnosis");
      this.points.remember(`diagnose the ${SIDES[key]}`);
    });
  }

  async show(key) {
    const pane = this.points.panes[key];
    const found = await this.points.api.get(`/runs/${pane.run.id}/diagnosis`);
    pane.setReport(found);
    this.reported = { key, run: pane.run.id };
    replace(this.element, reportView(found, SIDES[key], pane, (cure) => this.applyCure(key, cure)));
  }

  /** Say so where the report in the drawer speaks of a clustering that is no longer shown. */
  markStale() {
    const { reported } = this;
    this.element.querySelector(".stale")?.remove();
    const stale = reported && this.points.panes[reported.key].run?.id !== reported.run;
    if (!stale) return;
    const renew = h("button", { class: "small primary-soft", "data-action": "renew", onclick: () => this.diagnose(reported.key) }, "Diagnose again");
    this.element.prepend(h("p", { class: "stale" }, `This is about an earlier clustering of the ${SIDES[reported.key]}. `, renew));
  }

  /** Put the advised method beside the biased one, so that before and after can be compared. */
  async applyCure(key, cure) {
    const other = key === "a" ? "b" : "a";
    this.points.methods[other] = { ...cure, seed: this.points.methods[key].seed };
    this.points.columns[other] = null;
    this.points.look.setLayout("two");
    this.points.active = other;
    this.points.showMethod();
    await this.points.run(other, "apply the cure");
    await this.diagnose(other);
  }
}
