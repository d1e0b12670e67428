// How the plots look: tool, colour, axes, shading, one plot or two or one swiped over the other, sides folded away.

import { isPlain } from "./groups.js";
import { attempt, h, keepFocus, notice, replace, segmented, select } from "./ui.js";

const DENSE_ROWS = 200000;
const MAPPED_COLUMNS = 10; // of more, an overview shows little

export class Look {
  /** points: the half of the page this belongs to. */
  constructor(points) {
    this.points = points;
    this.axes = null;
    this.colour = "cluster";
    this.layout = "two";
    this.shading = "auto";
    this.lines = false;
    this.sides = true;
    this.tools = segmented(
      "Tool",
      [["pan", "Pan", "Drag to move, wheel or pinch to zoom"], ["lasso", "Lasso", "Draw around points to select them"]],
      "pan",
      (tool) => this.setTool(tool),
    );
    this.axesBox = h("div", { class: "axes" });
    this.colourBox = h("span", {});
    this.shadingBox = h("span", {});
    this.layouts = segmented("Layout", [["one", "One"], ["two", "Two"], ["swipe", "Swipe", "One plot, left and right of a line"]], "two", (value) => this.#changed("layout", () => this.setLayout(value)));
    this.fold = h("button", { class: "small", "data-action": "fold", "aria-pressed": "false", title: "Fold the choices away", onclick: () => this.#changed(null, () => this.setSides(!this.sides)) }, "Choices");
    this.full = h("button", { class: "small", "data-action": "full", title: "Nothing but the plots (F)", onclick: () => this.toggleFull() }, "Full");
    this.swipeBar = h("input", { type: "range", class: "swipe-bar", min: "0", max: "1000", value: "500", "aria-label": "Swipe between left and right", hidden: true, oninput: () => this.swipe() });
    this.element = h(
      "div",
      { class: "toolbar", role: "toolbar", "aria-label": "View" },
      this.fold,
      this.tools,
      h("label", { class: "inline" }, h("span", { class: "word" }, "Colour"), this.colourBox),
      this.axesBox,
      h("label", { class: "inline expert" }, h("span", { class: "word" }, "Draw"), this.shadingBox),
      h("button", { class: "small", onclick: () => points.view.reset() }, "Show all"),
      h("span", { class: "grow" }),
      this.layouts,
      this.full,
    );
    document.addEventListener("fullscreenchange", () => !document.fullscreenElement && this.toggleFull(false));
  }

  /** Do it, then say what was done so that it can be undone; what only folds is not. */
  #changed(what, act) {
    act();
    this.points.remember(what && `change the ${what}`);
  }

  settings() {
    const { axes, colour, layout, shading, lines, sides } = this;
    return { axes, colour, layout, shading, lines, sides };
  }

  /** Other data: their colours are their own. */
  forgetColours() {
    Object.assign(this, { colour: "cluster", values: null });
    for (const pane of Object.values(this.points.panes)) pane.setValues(null);
    this.showColours();
  }

  /** Take settings over, without asking the server for anything. */
  restore({ axes, layout = "two", shading = "auto", lines = false, sides = true } = {}) {
    this.axes = axes ?? this.defaultAxes();
    Object.assign(this, { shading, lines });
    this.setLayout(layout);
    this.setSides(sides);
    this.showAxes();
    this.showShading();
  }

  /** Whether columns hold numbers and are used. */
  canDraw(names) {
    const { columns, chosen } = this.points.points;
    return names.every((name) => chosen.includes(name) && columns.some((column) => column.number && column.name === name));
  }

  defaultAxes() {
    const { chosen } = this.points.points;
    return chosen.length === 2 && this.canDraw(chosen) ? [...chosen] : chosen.length > MAPPED_COLUMNS ? "map" : "pca";
  }

  setTool(tool) {
    this.tools.show(tool);
    for (const pane of Object.values(this.points.panes)) pane.plot.setTool(tool);
  }

  setSides(sides) {
    this.sides = sides;
    this.fold.setAttribute("aria-pressed", String(!sides));
    this.fold.title = sides ? "Fold the choices away" : "Show the choices";
    this.points.element.classList.toggle("folded", !sides);
  }

  toggleFull(on = !document.body.classList.contains("full")) {
    document.body.classList.toggle("full", on);
    this.full.textContent = on ? "Leave full screen" : "Full";
    if (on) document.documentElement.requestFullscreen?.().catch(() => {});
    else if (document.fullscreenElement) document.exitFullscreen();
  }

  setLayout(layout) {
    this.layout = layout;
    this.layouts.show(layout);
    const { element, view } = this.points;
    element.classList.toggle("single", layout !== "two");
    element.classList.toggle("swiped", layout === "swipe");
    view.plots = layout === "two" ? 2 : 1;
    this.swipeBar.hidden = layout !== "swipe";
    this.swipe();
    this.points.showMethod();
  }

  /** The right clustering's colours to the right of the line, in the left plot. */
  swipe() {
    const { a, b } = this.points.panes;
    const on = this.layout === "swipe" && b.plot.colours && b.labels;
    a.plot.setSwipe(on ? { colours: b.plot.colours, at: Number(this.swipeBar.value) / 1000 } : null);
  }

  showShading() {
    const options = [["auto", "Points or density"], ["points", "Points"], ["density", "Density"]].flatMap(([key, text]) => [[key, text], [`${key}+lines`, `${text} + lines`]]);
    const box = select(options, this.shading + (this.lines ? "+lines" : ""), (value) => {
      [this.shading] = value.split("+");
      this.lines = value.endsWith("+lines");
      this.#changed("drawing", () => this.#shade());
    }, { "aria-label": "How points are drawn", title: "How points are drawn", "data-control": "shading" });
    keepFocus(this.shadingBox, () => replace(this.shadingBox, box));
    this.#shade();
  }

  #shade() {
    const dense = this.shading === "density" || (this.shading === "auto" && this.points.rows >= DENSE_ROWS);
    for (const pane of Object.values(this.points.panes)) pane.plot.setShading({ dense, lines: this.lines });
  }

  showAxes() {
    const { points } = this.points;
    const numbers = points.columns.filter((column) => column.number).map((column) => [column.name, column.name]);
    const change = (axes) => {
      this.axes = axes;
      this.showAxes();
      this.points.place().then(() => this.points.remember("change the axes")).catch((error) => notice(error.message, "error"));
    };
    const flat = !Array.isArray(this.axes);
    const special = [["pca", "Overview"], ["space", "Overview in space"]];
    if (points.chosen.length > 2) special.push(["map", "Map"], ["tsne", "t-SNE"], ...(this.points.about.can.umap ? [["umap", "UMAP"]] : []));
    const other = (x) => (numbers.find(([name]) => name !== x) ?? numbers[0])[0];
    const first = select([...special, ...numbers], flat ? this.axes : this.axes[0], (x) => change(special.some(([name]) => name === x) ? x : [x, flat ? other(x) : this.axes[1]]), { "aria-label": "Horizontal axis", title: "Horizontal axis", "data-control": "x" });
    const parts = [h("label", { class: "inline" }, h("span", { class: "word" }, "Axes"), first)];
    if (!flat) parts.push(select(numbers, this.axes[1], (y) => change([this.axes[0], y]), { "aria-label": "Vertical axis", title: "Vertical axis", "data-control": "y" }));
    keepFocus(this.axesBox, () => replace(this.axesBox, parts));
  }

  showColours() {
    const { points, panes } = this.points;
    const options = [["cluster", "Clusters"], ["density", "Density"]];
    if (isPlain()) options.pop();
    const runs = isPlain() ? [] : Object.values(panes).flatMap((pane) => pane.run?.values ?? []);
    if (runs.includes("degrees")) options.push(["degrees", "Degrees"]);
    if (runs.includes("probability")) options.push(["probability", "Probability"]);
    for (const column of points.columns) options.push([`column:${column.name}`, column.name]);
    const box = select(options, this.colour, (value) => this.setColour(value), { "aria-label": "Colour of the points", title: "Colour of the points", "data-control": "colour" });
    keepFocus(this.colourBox, () => replace(this.colourBox, box));
  }

  async setColour(colour) {
    this.colour = colour;
    this.values = null;
    this.showColours();
    await attempt(async () => {
      await Promise.all(["a", "b"].map((key) => this.colourPane(key)));
      this.points.remember("change the colours");
    });
  }

  async colourPane(key) {
    const pane = this.points.panes[key];
    const { colour } = this;
    const { api, points: data } = this.points;
    const set = (...found) => colour === this.colour && data === this.points.points && pane.setValues(...found);
    if (colour === "cluster" || !pane.run) return pane.setValues(null);
    if (colour === "density" || colour.startsWith("column:")) {
      const name = colour.slice(7);
      const column = this.points.points.columns.find((known) => known.name === name);
      const path = colour === "density" ? "/points/density" : `/points/column?name=${encodeURIComponent(name)}`;
      const isWords = column && !column.number;
      this.values ??= Promise.all([api.array(path, isWords ? Int32Array : Float32Array), isWords ? api.get(`/points/names?name=${encodeURIComponent(name)}`) : {}]);
      const [{ values }, { names = null }] = await this.values;
      return set(values, colour === "density" ? "log density" : name, names);
    }
    if (!pane.run.values.includes(colour)) return pane.setValues(null);
    set((await api.array(`/runs/${pane.run.id}/values/${colour}`, Float32Array)).values, colour);
  }
}
