// The half of the page about points: data on the left, two clusterings side by side, what is known of them below.

import { agreement } from "./agreement.js";
import { exportDialog } from "./exports.js";
import { DEFAULT_METHOD, hasBandwidth, MethodForm, withPreset } from "./controls.js";
import { Corrections } from "./corrections.js";
import { DataCard } from "./data_card.js";
import { Pane } from "./pane.js";
import { reportView, selectionView } from "./report.js";
import { Sweep } from "./sweep.js";
import { count, h, later, notice, replace, segmented, select, short } from "./ui.js";
import { View } from "./view.js";

const LIVE_ROWS = 20000;
const DIAGNOSE_HINT = "Press Diagnose on a clustering: verdict, evidence and cure appear here.";
const SIDES = { a: "left", b: "right" };

export class Points {
  constructor(context) {
    Object.assign(this, context); // api, work, about, remember
    this.view = new View();
    this.active = "a";
    this.columns = { a: null, b: null };
    this.methods = { a: withPreset(DEFAULT_METHOD, "kernel_kmeans"), b: { ...DEFAULT_METHOD } };
    this.axes = null;
    this.colour = "cluster";
    this.two = true;
    this.wanted = { a: 0, b: 0 };
    this.panes = {};
    for (const key of ["a", "b"]) {
      this.panes[key] = new Pane(key, key === "a" ? "Left" : "Right", this.view, {
        focus: () => this.setActive(key),
        diagnose: () => this.diagnose(key),
        exports: () => exportDialog(this.api, this.panes[key]),
        hover: (row, event) => this.#hover(row, event),
        leave: () => (this.tip.hidden = true),
        lasso: (mask, found) => this.#select(mask, found),
      });
    }
    this.data = new DataCard(this);
    this.form = new MethodForm((method, column) => this.#changed(method, column));
    this.sweep = new Sweep({ drag: (sigma) => this.#drag(sigma), sweep: () => this.runSweep() });
    this.corrections = new Corrections(this);
    this.tip = h("div", { class: "tip", role: "tooltip", hidden: true });
    this.runLater = later(300, (key) => this.run(key));
    this.element = this.#build();
    this.setTwo(true);
  }

  get rows() {
    return this.points?.n_rows ?? 0;
  }

  #build() {
    this.which = segmented("Which clustering the choices are for", [["a", "Left"], ["b", "Right"]], this.active, (key) => this.setActive(key));
    this.go = h("button", { class: "primary wide", "data-action": "cluster", onclick: () => this.run(this.active) }, "Cluster");
    this.layout = segmented("Layout", [["one", "One"], ["two", "Two"]], "two", (value) => this.setTwo(value === "two"));
    this.tools = segmented(
      "Tool",
      [["pan", "Pan", "Drag to move, wheel or pinch to zoom"], ["lasso", "Lasso", "Draw around points to correct them"]],
      "pan",
      (tool) => this.setTool(tool),
    );
    this.axesBox = h("div", { class: "axes" });
    this.colourBox = h("span", {});
    this.dockTabs = segmented("What is shown below", [["bandwidth", "Bandwidth"], ["diagnosis", "Diagnosis"], ["selection", "Candidates"]], "bandwidth", (tab) => this.showDock(tab));
    this.reportBox = h("div", { hidden: true }, h("p", { class: "hint" }, DIAGNOSE_HINT));
    this.selectionBox = h("div", { hidden: true });
    const sidebar = h(
      "aside",
      { class: "sidebar", "aria-label": "Choices" },
      this.data.element,
      h("section", { class: "card" }, h("div", { class: "card-head" }, h("h2", {}, "Method"), this.which), this.form.element, this.go),
      this.corrections.element,
    );
    const stage = h(
      "div",
      { class: "stage" },
      h(
        "div",
        { class: "toolbar", role: "toolbar", "aria-label": "View" },
        this.tools,
        h("label", { class: "inline" }, "Colour", this.colourBox),
        this.axesBox,
        h("button", { class: "small", onclick: () => this.view.reset() }, "Show all"),
        h("span", { class: "grow" }),
        this.layout,
      ),
      this.corrections.bar,
      h("div", { class: "panes" }, this.panes.a.element, this.panes.b.element),
      h("section", { class: "dock", "aria-label": "Bandwidth, diagnosis and candidates" }, this.dockTabs, this.sweep.element, this.reportBox, this.selectionBox),
      this.tip,
    );
    return h("div", { class: "half points-half" }, sidebar, stage);
  }

  // ---- data ----

  /** Show new data: layout first, then both clusterings. `settings` come from a link. */
  async take(points, settings = null) {
    this.setPoints(points);
    const example = this.about.points.find((known) => known.name === points.source.example);
    const n_clusters = example?.n_clusters ?? 3;
    const start = { ...DEFAULT_METHOD, n_clusters };
    this.methods = settings?.methods ?? { a: withPreset(start, "kernel_kmeans"), b: start };
    this.columns = settings?.columns ?? { a: null, b: null };
    this.axes = settings?.axes ?? this.#defaultAxes();
    for (const pane of Object.values(this.panes)) pane.clear();
    this.corrections.set([]);
    this.sweep.setResult(null);
    replace(this.reportBox, h("p", { class: "hint" }, DIAGNOSE_HINT));
    this.#showMethod();
    this.#showAxes();
    await this.#place();
    if (this.#isLive() || settings) await Promise.all(["a", "b"].map((key) => this.run(key)));
    else notice(`${count(this.rows)} points: choose methods, then press Cluster.`);
  }

  /** Show again what a session holds, after a reload. */
  async restore(state) {
    this.setPoints(state.points);
    const page = state.page.points ?? {};
    Object.assign(this.methods, page.methods);
    Object.assign(this.columns, page.columns);
    this.axes = page.axes ?? this.#defaultAxes();
    this.active = page.active ?? "a";
    this.setTwo(page.two ?? true);
    this.corrections.set(state.corrections);
    if (state.sweep) this.sweep.setResult(state.sweep);
    this.#showMethod();
    this.#showAxes();
    await this.#place();
    await Promise.all(Object.entries(state.panes).map(([key, run]) => this.#show(key, run)));
    this.setColour(page.colour ?? "cluster");
  }

  setPoints(points) {
    this.points = points;
    this.data.show(points);
    if (points.bandwidths) this.sweep.setRange(points.bandwidths);
    this.view.reset();
  }

  async chooseColumns(columns) {
    try {
      this.setPoints(await this.api.put("/points/columns", { columns }));
      if (this.axes === "pca" || !this.axes.every((name) => columns.includes(name))) this.axes = this.#defaultAxes();
      this.#showAxes();
      await this.#place();
      for (const key of ["a", "b"]) if (this.#isLive()) this.run(key);
    } catch (error) {
      notice(error.message, "error");
      this.data.show(this.points);
    }
  }

  #defaultAxes() {
    const { chosen } = this.points;
    return chosen.length === 2 ? [...chosen] : "pca";
  }

  async #place() {
    const query = this.axes === "pca" ? "" : `?x=${encodeURIComponent(this.axes[0])}&y=${encodeURIComponent(this.axes[1])}`;
    const { values, about } = await this.api.array(`/points/plane${query}`, Float32Array);
    this.xy = values;
    this.view.setExtent(values);
    this.view.reset();
    for (const pane of Object.values(this.panes)) pane.setPoints(values, about);
  }

  // ---- methods and runs ----

  setActive(key) {
    if (this.active === key) return;
    this.active = key;
    this.which.show(key);
    this.#showMethod();
    this.#remember();
  }

  setTwo(two) {
    this.two = two;
    this.layout.show(two ? "two" : "one");
    this.element.classList.toggle("single", !two);
    this.view.plots = two ? 2 : 1;
    this.#showMethod();
  }

  #showMethod() {
    for (const [key, pane] of Object.entries(this.panes)) pane.element.classList.toggle("active", key === this.active);
    this.which.show(this.active);
    const labels = this.points?.columns.filter((column) => !column.number || column.missing === 0).map((column) => column.name) ?? [];
    this.form.show(this.methods[this.active], labels.slice(0, 300), this.columns[this.active]);
    this.#showBandwidth();
  }

  #showBandwidth() {
    const side = this.#bandwidthSide();
    const facts = side && this.panes[side].run?.facts;
    const given = side && this.methods[side].parameters.bandwidth;
    this.sweep.setSigma(side ? (typeof given === "number" ? given : facts?.bandwidth) : null, Boolean(side), SIDES[side]);
  }

  /** The side whose bandwidth the slider moves: the active one, or the other where only that has one. */
  #bandwidthSide() {
    const other = this.active === "a" ? "b" : "a";
    return [this.active, other].find((key) => !this.columns[key] && hasBandwidth(this.methods[key])) ?? null;
  }

  #changed(method, column = null) {
    const key = this.active;
    this.columns[key] = column;
    if (method) this.methods[key] = method;
    this.#showMethod();
    this.#remember();
    if (column || this.#isLive()) this.runLater(key);
  }

  #isLive() {
    return this.rows <= LIVE_ROWS;
  }

  #drag(sigma) {
    const key = this.#bandwidthSide();
    if (!key) return;
    this.methods[key] = { ...this.methods[key], parameters: { ...this.methods[key].parameters, bandwidth: Number(sigma.toPrecision(4)) } };
    this.run(key, true);
  }

  /** Cluster one side; while it works, later wishes are kept and only the last is fulfilled. */
  async run(key, dragging = false) {
    if (!this.points) return;
    this.wanted[key] += 1;
    if (this.running?.[key]) return;
    this.running = { ...this.running, [key]: true };
    try {
      let done = -1;
      while (done !== this.wanted[key]) {
        done = this.wanted[key];
        await this.#runOnce(key);
      }
    } catch (error) {
      if (error.status !== "cancelled") notice(error.message, "error");
      else notice("stopped");
    } finally {
      this.running[key] = false;
    }
    if (!dragging || !this.running[key]) this.#showMethod();
    this.#remember();
  }

  async #runOnce(key) {
    const column = this.columns[key];
    const hold = this.corrections.count > 0 && ["evencut", "kernel"].includes(this.methods[key].tool);
    const result = column
      ? await this.api.post("/runs/column", { pane: key, name: column })
      : await this.work.run("Clustering", () => this.api.post("/runs", { pane: key, method: this.methods[key], hold }));
    await this.#show(key, result.run);
    for (const text of result.run.facts.warnings) notice(text);
  }

  async #show(key, run) {
    const { values } = await this.api.array(`/runs/${run.id}/labels`, Int32Array);
    this.panes[key].setRun(run, values);
    const { a, b } = this.panes;
    const alike = a.labels && b.labels && a.labels.length === b.labels.length ? agreement(a.labels, b.labels) : null;
    for (const pane of [a, b]) pane.setAgreement(alike);
    if (this.colour !== "cluster") await this.#colourPane(key);
    this.#showColours();
    this.#showBandwidth();
    if (key === this.active || !this.two) replace(this.selectionBox, selectionView(run));
  }

  // ---- diagnosis and sweep ----

  async diagnose(key) {
    const pane = this.panes[key];
    if (!pane.run) return notice("cluster something first", "error");
    try {
      const run = pane.run.id;
      const found = await this.work.run("Diagnosis", () => this.api.post(`/runs/${run}/diagnosis`));
      if (pane.run.id !== run) return this.diagnose(key); // a newer clustering came in between
      pane.setReport(found);
      replace(this.reportBox, reportView(found, SIDES[key], pane.run.facts.names, (cure) => this.applyCure(key, cure)));
      this.dockTabs.show("diagnosis");
      this.showDock("diagnosis");
    } catch (error) {
      if (error.status !== "cancelled") notice(error.message, "error");
    }
  }

  /** Put the advised method beside the biased one, so that before and after can be compared. */
  async applyCure(key, cure) {
    const other = key === "a" ? "b" : "a";
    this.methods[other] = { ...cure, seed: this.methods[key].seed };
    this.columns[other] = null;
    this.setTwo(true);
    this.active = other;
    this.#showMethod();
    await this.run(other);
    await this.diagnose(other);
  }

  async runSweep() {
    const key = this.#bandwidthSide() ?? this.active;
    const method = this.methods[key];
    const n_clusters = method.n_clusters === "auto" ? Math.max(2, this.panes[key].run?.facts.n_clusters ?? 2) : method.n_clusters;
    try {
      const body = { n_clusters: Math.min(50, Math.max(2, n_clusters)), criterion: method.criterion, seed: method.seed };
      const { sweep } = await this.work.run("Sweep", () => this.api.post("/sweep", body));
      this.sweep.setResult(sweep);
    } catch (error) {
      if (error.status !== "cancelled") notice(error.message, "error");
    }
  }

  showDock(tab) {
    this.sweep.element.hidden = tab !== "bandwidth";
    this.reportBox.hidden = tab !== "diagnosis";
    this.selectionBox.hidden = tab !== "selection";
    if (tab === "selection") replace(this.selectionBox, selectionView(this.panes[this.active].run));
  }

  // ---- view ----

  setTool(tool) {
    this.tools.show(tool);
    for (const pane of Object.values(this.panes)) pane.plot.setTool(tool);
  }

  #select(mask, found) {
    for (const pane of Object.values(this.panes)) pane.plot.setSelected(mask);
    this.corrections.setSelection(mask, found);
  }

  #showAxes() {
    const numbers = this.points.columns.filter((column) => column.number).map((column) => [column.name, column.name]).slice(0, 400);
    const change = (axes) => {
      this.axes = axes;
      this.#showAxes();
      this.#remember();
      this.#place().catch((error) => notice(error.message, "error"));
    };
    const flat = this.axes === "pca";
    const first = select([["pca", "Principal components"], ...numbers], flat ? "pca" : this.axes[0], (x) => change(x === "pca" ? "pca" : [x, flat ? (numbers.find(([name]) => name !== x) ?? numbers[0])[0] : this.axes[1]]), { "aria-label": "Horizontal axis", "data-control": "x" });
    const parts = [h("label", { class: "inline" }, "Axes", first)];
    if (!flat) parts.push(select(numbers, this.axes[1], (y) => change([this.axes[0], y]), { "aria-label": "Vertical axis", "data-control": "y" }));
    replace(this.axesBox, parts);
  }

  #showColours() {
    const options = [["cluster", "Clusters"], ["density", "Density"]];
    const runs = Object.values(this.panes).flatMap((pane) => pane.run?.values ?? []);
    if (runs.includes("degrees")) options.push(["degrees", "Degrees"]);
    if (runs.includes("probability")) options.push(["probability", "Probability"]);
    for (const column of this.points.columns.filter((known) => known.number).slice(0, 100)) options.push([`column:${column.name}`, column.name]);
    replace(this.colourBox, select(options, this.colour, (value) => this.setColour(value), { "aria-label": "Colour of the points", "data-control": "colour" }));
  }

  async setColour(colour) {
    this.colour = colour;
    this.density = null;
    this.#showColours();
    this.#remember();
    try {
      await Promise.all(["a", "b"].map((key) => this.#colourPane(key)));
    } catch (error) {
      notice(error.message, "error");
    }
  }

  async #colourPane(key) {
    const pane = this.panes[key];
    const { colour } = this;
    if (colour === "cluster" || !pane.run) return pane.setValues(null);
    if (colour === "density" || colour.startsWith("column:")) {
      const name = colour.slice(7);
      const path = colour === "density" ? "/points/density" : `/points/column?name=${encodeURIComponent(name)}`;
      this.density ??= this.api.array(path, Float32Array);
      return pane.setValues((await this.density).values, colour === "density" ? "log density" : name);
    }
    if (!pane.run.values.includes(colour)) return pane.setValues(null);
    pane.setValues((await this.api.array(`/runs/${pane.run.id}/values/${colour}`, Float32Array)).values, colour);
  }

  async #hover(row, event) {
    const labels = Object.values(this.panes)
      .filter((pane) => pane.labels)
      .map((pane) => h("tr", {}, h("th", {}, pane.title.textContent), h("td", {}, pane.labels[row] < 0 ? "none" : (pane.run.facts.names?.[pane.labels[row]] ?? `cluster ${pane.labels[row]}`))));
    this.hoverRow = row;
    const cells = await this.api.get(`/points/rows/${row}`).catch(() => null);
    if (!cells || this.hoverRow !== row) return;
    const shown = cells.cells.slice(0, 8).map(([name, value]) => h("tr", {}, h("th", {}, name), h("td", {}, typeof value === "number" ? short(value, 5) : (value ?? "–"))));
    replace(this.tip, h("strong", {}, `row ${row}`), h("table", {}, labels, shown));
    const box = this.element.getBoundingClientRect();
    this.tip.style.left = `${Math.min(event.clientX - box.left + 14, box.width - 220)}px`;
    this.tip.style.top = `${event.clientY - box.top + 14}px`;
    this.tip.hidden = false;
  }

  repaint() {
    for (const pane of Object.values(this.panes)) pane.repaint();
    this.sweep.setResult(this.sweep.result ?? null);
  }

  /** The settings that a link restores. */
  settings() {
    const { methods, columns, axes, active, two, colour } = this;
    return { methods, columns, axes, active, two, colour };
  }

  #remember() {
    this.remember();
  }
}
