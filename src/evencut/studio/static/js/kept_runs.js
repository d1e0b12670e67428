// Clusterings of before, with small pictures; a click brings one back to the side that is chosen.

import { byCluster, groundColour } from "./colours.js";
import { methodDetail, methodTitle } from "./controls.js";
import { Raster } from "./raster.js";
import { h, replace } from "./ui.js";
import { View } from "./view.js";

const WIDE = 132;
const TALL = 92;
const POINTS = 4000;

export class KeptRuns {
  /** show(run): brings a clustering back. */
  constructor(api, show) {
    this.api = api;
    this.show = show;
    this.runs = new Map();
    this.element = h("div", { class: "dock-view kept-runs" });
  }

  set(runs) {
    this.runs = new Map(runs.map((run) => [run.id, run]));
    this.pictures = new Map();
    this.#list();
  }

  add(run) {
    this.runs.delete(run.id);
    this.runs.set(run.id, run);
    this.#list();
  }

  /** Where the points lie now: the pictures are of these places. */
  setPlaces(xy) {
    this.xy = xy;
    this.pictures = new Map();
    this.#list();
  }

  #list() {
    if (!this.runs.size) return replace(this.element, h("p", { class: "hint" }, "Every clustering stays here, to be shown again."));
    const cards = [...this.runs.values()].reverse().map((run) => {
      const title = run.kind === "column" ? `Column “${run.facts.column}”` : methodTitle(run.method);
      const detail = run.kind === "column" ? "from the file" : methodDetail(run.method, run.facts);
      return h("button", { class: "kept-run", "data-run": run.id, onclick: () => this.show(run) }, this.#picture(run), h("strong", {}, title), h("span", { class: "quiet" }, detail));
    });
    replace(this.element, cards);
  }

  #picture(run) {
    if (!this.pictures.has(run.id)) {
      const canvas = h("canvas", { width: WIDE, height: TALL, "aria-hidden": "true" });
      this.pictures.set(run.id, canvas);
      this.#draw(run, canvas).catch(() => {});
    }
    return this.pictures.get(run.id);
  }

  async #draw(run, canvas) {
    const { xy } = this;
    if (!xy) return;
    const every = Math.max(1, Math.ceil(xy.length / 2 / POINTS));
    const { values } = await this.api.array(`/runs/${run.id}/labels?every=${every}`, Int32Array);
    const places = new Float32Array(2 * values.length);
    for (let i = 0; i < values.length; i++) places.set([xy[2 * i * every], xy[2 * i * every + 1]], 2 * i);
    const view = new View();
    view.setExtent(places);
    const parts = [{ colours: byCluster(values) }];
    new Raster(canvas).paint({ width: WIDE, height: TALL, ground: groundColour(), xy: places, parts, map: view.map(WIDE, TALL, 6), radius: 1.2 });
  }
}
