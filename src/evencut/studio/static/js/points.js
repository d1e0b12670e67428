// The half of the page about points: data on the left, two clusterings side by side, what is known of them below.

import { agreement } from "./agreement.js";
import { ClusterTable } from "./cluster_table.js";
import { Compare } from "./compare.js";
import { DEFAULT_METHOD, hasBandwidth, MethodForm, withPreset } from "./controls.js";
import { Corrections } from "./corrections.js";
import { DataCard } from "./data_card.js";
import { DataCheck } from "./data_check.js";
import { Diagnosis, SIDES } from "./diagnosis.js";
import { Dock } from "./dock.js";
import { exportDialog } from "./exports.js";
import { KeptRuns } from "./kept_runs.js";
import { Groups, isPlain } from "./groups.js";
import { Look } from "./look.js";
import { Pane } from "./pane.js";
import { Previewer } from "./preview.js";
import { selectionView } from "./report.js";
import { SelectionView } from "./selection_view.js";
import { Sweep } from "./sweep.js";
import { Tip } from "./tip.js";
import { attempt, count, h, later, notice, replace, segmented } from "./ui.js";
import { View } from "./view.js";

const LIVE_ROWS = 20000; // up to here every choice clusters at once
const SLOW = new Set(["map", "tsne", "umap"]);
const GROUPED_ROWS = 250000; // and up to here a file that was opened is clustered by itself

export class Points {
  constructor(context) {
    Object.assign(this, context); // api, work, about, remember
    this.view = new View();
    this.active = "a";
    this.columns = { a: null, b: null };
    this.methods = { a: withPreset(DEFAULT_METHOD, "kernel_kmeans"), b: { ...DEFAULT_METHOD } };
    this.names = {};
    this.wanted = { a: 0, b: 0 };
    this.running = {};
    this.panes = {};
    this.tip = new Tip(this);
    for (const key of ["a", "b"]) {
      this.panes[key] = new Pane(key, key === "a" ? "Left" : "Right", this.view, {
        focus: () => this.setActive(key),
        diagnose: () => this.diagnosis.diagnose(key),
        exports: () => exportDialog(this.api, this.panes[key]),
        names: (run) => this.names[run.id] ?? {},
        hover: (row, event) => this.tip.show(row, event),
        leave: () => this.tip.hide(),
        pick: (row) => this.pick(row),
        lasso: (mask) => this.select(mask),
      });
    }
    this.data = new DataCard(this);
    this.check = new DataCheck(this, { can: () => Boolean(this.data.again), read: (said) => this.data.again(said) });
    this.groups = new Groups(this);
    this.form = new MethodForm((method, column) => this.#changed(method, column));
    this.sweep = new Sweep({ drag: (sigma) => this.#drag(sigma), drop: () => this.#drop(), sweep: () => this.runSweep() });
    this.corrections = new Corrections(this);
    this.previews = new Previewer(this.api, this.panes);
    this.look = new Look(this);
    this.compare = new Compare(this);
    this.kept = new KeptRuns(this.api, (run) => this.showKept(run));
    this.selection = new SelectionView(this);
    this.clusters = new ClusterTable(this);
    this.diagnosis = new Diagnosis(this);
    this.runLater = later(300, (key) => this.run(key));
    this.dropLater = later(450, () => this.#drop());
    this.element = this.#build();
    this.groups.setPlain();
  }

  get rows() {
    return this.points?.n_rows ?? 0;
  }

  #build() {
    this.which = segmented("Which clustering the choices are for", [["a", "Left"], ["b", "Right"]], this.active, (key) => this.setActive(key));
    this.go = h("button", { class: "primary wide", "data-action": "cluster", onclick: () => this.run(this.active) }, "Cluster");
    this.candidates = h("div", { class: "dock-view" });
    this.dock = new Dock(
      [
        ["data", "Data", this.check.element, () => this.check.show()],
        ["bandwidth", "Bandwidths", this.sweep.element],
        ["diagnosis", "Diagnosis", this.diagnosis.element],
        ["clusters", "Clusters", this.clusters.element, () => this.clusters.show()],
        ["compare", "Compare", this.compare.element, () => this.compare.show()],
        ["selected", "Selected", this.selection.element, () => this.selection.fill()],
        ["runs", "Runs", this.kept.element],
        ["selection", "Candidates", this.candidates, () => replace(this.candidates, selectionView(this.panes[this.active].run))],
      ],
      this.sweep.bar,
      () => this.remember(),
    );
    const sidebar = h(
      "aside",
      { class: "sidebar", "aria-label": "Choices" },
      this.data.element,
      h("section", { class: "card" }, h("div", { class: "card-head" }, h("h2", {}, "Groups")), this.groups.element),
      h("section", { class: "card expert" }, h("div", { class: "card-head" }, h("h2", {}, "Method"), this.which), this.form.element, this.go),
      this.corrections.element,
    );
    const stage = h(
      "div",
      { class: "stage" },
      this.look.element,
      this.corrections.bar,
      h("div", { class: "panes" }, this.panes.a.element, this.panes.b.element),
      this.look.swipeBar,
      this.dock.element,
      this.tip.element,
    );
    return h("div", { class: "half points-half" }, sidebar, stage);
  }

  // ---- data ----

  /** Show new data: layout first, then both clusterings. `settings` come from a link. */
  async take(points, settings = null) {
    this.setPoints(points);
    const example = this.about.points.find((known) => known.name === points.source.example);
    const start = { ...DEFAULT_METHOD, n_clusters: example?.n_clusters ?? "auto" };
    const left = example ? withPreset(start, "kernel_kmeans") : withPreset({ ...start, n_clusters: 2 }, "kmeans");
    this.methods = settings?.methods ?? { a: left, b: start };
    this.columns = settings?.columns ?? { a: null, b: null };
    this.names = {};
    for (const pane of Object.values(this.panes)) pane.clear();
    this.corrections.set([]);
    this.kept.set([]);
    this.diagnosis.clear();
    this.look.restore({ ...this.look.settings(), axes: settings?.axes ?? null });
    this.showMethod();
    await this.place();
    if (this.points !== points) return;
    if (this.rows <= GROUPED_ROWS || settings) {
      await this.work.during(async () => {
        // The number that is found on the right is asked for on the left, so that the two can be compared.
        await this.run("b", null);
        if (this.points !== points) return;
        if (!example && !settings && this.panes.b.run) this.methods.a.n_clusters = Math.max(2, this.panes.b.run.facts.n_clusters);
        if (!isPlain()) await this.run("a", null);
      });
      if (isPlain() && !example && this.points === points) this.dock.show("clusters");
    } else notice(`${count(this.rows)} rows: press “Group my rows”.`);
    if (this.points !== points) return;
    this.remember(`open ${points.name}`);
    this.previews.prepare();
  }

  /** Show again what a session holds, after a reload or an undo. */
  async restore(state) {
    const page = state.page.points ?? {};
    const same = this.points?.key === state.points.key && String(this.points.chosen) === String(state.points.chosen);
    const before = JSON.stringify(this.look.axes);
    if (!same) this.setPoints(state.points);
    Object.assign(this.methods, page.methods);
    Object.assign(this.columns, page.columns);
    this.names = page.names ?? {};
    this.active = page.active ?? "a";
    this.corrections.set(state.corrections);
    this.kept.set(state.runs ?? []);
    this.sweep.setResult(state.sweep ?? null);
    this.look.restore(page.look);
    if (!same || before !== JSON.stringify(this.look.axes)) await this.place(true);
    for (const key of ["a", "b"]) {
      if (state.panes[key]) await this.#put(key, state.panes[key]);
      else this.panes[key].clear();
    }
    await this.look.setColour(page.look?.colour ?? "cluster");
    this.showMethod();
    this.dock.show(page.dock ?? null);
    this.previews.prepare();
    for (const key of ["a", "b"]) if (state.panes[key]?.judged) await this.diagnosis.show(key);
  }

  setPoints(points) {
    this.look.values = null; // densities are those of the columns
    const isOther = this.points?.key !== points.key;
    this.points = points;
    if (isOther) this.look.forgetColours();
    this.previews.forget();
    this.data.show(points);
    if (points.bandwidths) this.sweep.setRange(points.bandwidths);
    if (this.dock?.shown === "data") this.check.show();
    this.view.reset();
  }

  async chooseColumns(columns, missing = this.points.missing, counts = this.points.counts, roles = {}) {
    try {
      this.setPoints(await this.api.put("/points/columns", { columns, missing, counts, roles }));
      const { axes } = this.look;
      if (Array.isArray(axes) ? !this.look.canDraw(axes) : ["pca", "map"].includes(axes)) this.look.axes = this.look.defaultAxes();
      this.look.showAxes();
      await this.place();
      if (this.#isLive()) await Promise.all((isPlain() ? ["b"] : ["a", "b"]).map((key) => this.run(key, null)));
      this.remember(`cluster by ${columns.length} columns`);
    } catch (error) {
      notice(error.message, "error");
      this.data.show(this.points);
      this.check.show();
    }
  }

  /** Draw the points along the axes chosen; what takes a while follows an overview, and may be stopped. */
  async place(atOnce = false) {
    const { axes } = this.look;
    const turn = (this.placed = (this.placed ?? 0) + 1);
    if (atOnce || !SLOW.has(axes)) return this.#drawAlong(axes, turn);
    const { key } = this.points;
    if (this.drawn !== key) await this.#drawAlong("pca", turn);
    try {
      await this.work.run("Drawing the map", () => this.api.post("/points/plane", { embedding: axes }));
      if (turn === this.placed) await this.#drawAlong(axes, turn);
    } catch (error) {
      if (error.status !== "cancelled") throw error;
      if (turn !== this.placed) return;
      this.look.axes = "pca";
      this.look.showAxes();
      await this.#drawAlong("pca", turn);
    }
  }

  async #drawAlong(axes, turn) {
    const space = axes === "space";
    const query = Array.isArray(axes) ? `?x=${encodeURIComponent(axes[0])}&y=${encodeURIComponent(axes[1])}` : space ? "?n_axes=3" : `?embedding=${axes}`;
    const { values, about } = await this.api.array(`/points/plane${query}`, Float32Array);
    if (turn !== this.placed) return; // other axes were chosen since: their answer is on its way, or there
    this.drawn = this.points.key;
    this.xy = this.view.setSpace(space ? values : null) ?? values;
    if (space) this.view.extent = [1.2, 1.2];
    else this.view.setExtent(values);
    this.view.reset();
    for (const pane of Object.values(this.panes)) pane.setPoints(this.xy, about);
    this.kept.setPlaces(this.xy);
    this.look.showShading();
  }

  // ---- methods and runs ----

  setActive(key) {
    if (this.active === key) return;
    this.active = key;
    this.showMethod();
    this.#showDock();
    this.corrections.refresh();
    this.remember();
  }

  showMethod() {
    for (const [key, pane] of Object.entries(this.panes)) pane.element.classList.toggle("active", key === this.active);
    this.which?.show(this.active);
    const labels = this.points?.columns.filter((column) => !column.number || column.missing === 0).map((column) => column.name) ?? [];
    this.groups.show(this.panes.b.run);
    this.form.show(this.methods[this.active], labels, this.columns[this.active], this.panes[this.active].run?.facts.n_clusters);
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
    this.showMethod();
    if (column || this.#isLive()) this.runLater(key);
    else this.remember(`choose a method for the ${SIDES[key]}`);
  }

  #isLive() {
    return this.rows <= LIVE_ROWS;
  }

  #drag(sigma) {
    const key = this.#bandwidthSide();
    if (!key) return;
    const method = { ...this.methods[key], parameters: { ...this.methods[key].parameters, bandwidth: Number(sigma.toPrecision(4)) } };
    this.methods[key] = method;
    this.dragged = key;
    const n_clusters = method.n_clusters === "auto" ? Math.max(2, this.panes[key].run?.facts.n_clusters ?? 2) : method.n_clusters;
    this.previews.ask(key, { ...method, n_clusters });
    this.dropLater();
  }

  /** The slider was let go: now with all points. */
  #drop() {
    const key = this.dragged;
    this.dragged = null;
    if (!key) return;
    this.previews.drop();
    this.run(key, "move the bandwidth");
  }

  /** Cluster one side; while it works, later wishes are kept and only the last is fulfilled. */
  async run(key, what = `cluster the ${SIDES[key]}`) {
    if (!this.points) return;
    this.wanted[key] += 1;
    this.running[key] ??= this.#fulfil(key, what).finally(() => (this.running[key] = null));
    await this.running[key];
  }

  async #fulfil(key, what) {
    try {
      let done = -1;
      while (done !== this.wanted[key]) {
        done = this.wanted[key];
        await this.#runOnce(key).catch((error) => {
          if (done === this.wanted[key]) throw error; // what went wrong before a newer wish is nobody's concern
        });
      }
      if (what) this.remember(what);
    } catch (error) {
      if (error.status !== "cancelled") notice(error.message, "error");
      else notice("stopped");
      if (this.panes[key].previewed && this.panes[key].run) await this.#show(key, this.panes[key].run);
    }
    this.showMethod();
  }

  async #runOnce(key) {
    const column = this.columns[key];
    const hold = this.corrections.count > 0 && ["evencut", "kernel"].includes(this.methods[key].tool);
    const result = column
      ? await this.api.post("/runs/column", { pane: key, name: column })
      : await this.work.run("Clustering", () => this.api.post("/runs", { pane: key, method: this.#asked(key), hold, around: this.around ?? null }));
    this.around = null;
    if (this.dragged === key) return this.kept.add(result.run); // the user has gone on; a newer answer is on its way
    await this.#show(key, result.run);
    this.kept.add(result.run);
    for (const text of result.run.facts.warnings) notice(text);
  }

  /** The method with a number where it cannot find one: the number found before, here or on the other side. */
  #asked(key) {
    const method = this.methods[key];
    if (method.n_clusters !== "auto" || ["evencut", "kernel"].includes(method.tool)) return method;
    const found = [this.panes[key], this.panes.b, this.panes.a].map((pane) => pane.run?.facts.n_clusters).find((n) => n > 1) ?? 2;
    this.methods[key] = { ...method, n_clusters: found };
    return this.methods[key];
  }

  /** Put a clustering of before on the active side. */
  async showKept(run) {
    const key = this.active;
    await attempt(async () => {
      await this.api.put("/panes", { pane: key, run: run.id });
      this.columns[key] = run.kind === "column" ? run.facts.column : null;
      if (run.method) this.methods[key] = run.method;
      await this.#show(key, run);
      this.showMethod();
      this.remember(`show a clustering of before on the ${SIDES[key]}`);
    });
  }

  /** A clustering that was changed by hand takes its place; clusters that were merged into one keep their names. */
  async showEdited(key, run, what, merged = []) {
    const pane = this.panes[key];
    const names = { ...this.names[pane.run.id] };
    const known = merged.map((label) => pane.nameOf(label)).filter((name, i) => name !== String(merged[i]));
    if (known.length) names[merged[0]] = known.join(" + ").slice(0, 60);
    this.names = { ...this.names, [run.id]: names };
    await this.#show(key, run);
    this.kept.add(run);
    this.remember(what);
  }

  async #show(key, run) {
    await this.#put(key, run);
    this.#showDock();
  }

  async #put(key, run) {
    const { a, b } = this.panes;
    const pane = this.panes[key];
    if (pane.run?.id !== run.id || pane.previewed) {
      const { values } = await this.api.array(`/runs/${run.id}/labels`, Int32Array);
      // A number goes on where its cluster does, and its name with it.
      if (pane.run && !this.names[run.id]) this.names = { ...this.names, [run.id]: { ...this.names[pane.run.id] } };
      pane.setRun(run, values);
    }
    const alike = a.labels && b.labels && a.labels.length === b.labels.length ? agreement(a.labels, b.labels) : null;
    for (const one of [a, b]) one.setAgreement(alike);
    if (this.look.colour !== "cluster") await this.look.colourPane(key);
    this.look.showColours();
    this.look.swipe();
    this.#showBandwidth();
    this.diagnosis.markStale();
  }

  /** What the dock says of the clusterings, anew. */
  #showDock() {
    if (["clusters", "compare", "selection"].includes(this.dock.shown)) this.dock.show(this.dock.shown);
  }

  // ---- diagnosis and sweep ----

  async runSweep() {
    const key = this.#bandwidthSide() ?? this.active;
    const method = this.methods[key];
    const n_clusters = method.n_clusters === "auto" ? Math.max(2, this.panes[key].run?.facts.n_clusters ?? 2) : method.n_clusters;
    this.dock.show("bandwidth");
    await attempt(async () => {
      const body = { n_clusters: Math.min(50, Math.max(2, n_clusters)), criterion: method.criterion, seed: method.seed };
      const { sweep } = await this.work.run("Sweep", () => this.api.post("/sweep", body));
      this.sweep.setResult(sweep);
      this.remember("sweep all bandwidths");
    });
  }

  // ---- view ----

  /** Select points (a byte each); none with null, or where no byte is set. */
  select(mask) {
    const selected = mask?.includes(1) ? mask : null;
    for (const pane of Object.values(this.panes)) pane.plot.setSelected(selected);
    this.corrections.setSelection(selected);
  }

  /** Select a point with those nearest to it. */
  async pick(row) {
    await attempt(async () => {
      const { neighbors } = await this.api.get(`/points/rows/${row}/neighbors`);
      const mask = new Uint8Array(this.rows);
      for (const one of [row, ...neighbors]) mask[one] = 1;
      this.select(mask);
    });
  }

  repaint() {
    for (const pane of Object.values(this.panes)) pane.repaint();
    this.look.swipe();
    this.kept.setPlaces(this.xy);
    this.sweep.setResult(this.sweep.result ?? null);
  }

  /** The settings that a link restores. */
  settings() {
    const { methods, columns, active, names } = this;
    return { methods, columns, active, names, look: this.look.settings(), axes: this.look.axes, dock: this.dock.shown };
  }
}
