// All clusters of the active side as a table: sorted by any head, renamed in place, merged, split, and what sets each apart.

import { swatch } from "./colours.js";
import { isPlain } from "./groups.js";
import { SIDES } from "./diagnosis.js";
import { attempt, count, h, percent, replace, table } from "./ui.js";

export class ClusterTable {
  constructor(points) {
    this.points = points;
    this.order = ["points", -1];
    this.chosen = new Set();
    this.element = h("div", { class: "dock-view clusters" });
  }

  get pane() {
    return this.points.panes[this.key];
  }

  /** The clusters of the active side: what is then done here is done there, whatever becomes active. */
  async show() {
    this.key = this.points.active;
    const { pane } = this;
    if (!pane.run) return replace(this.element, h("p", { class: "hint" }, "The clusters of the active side appear here."));
    if (this.run !== pane.run.id) this.chosen.clear();
    this.run = pane.run.id;
    this.told = {};
    this.#draw();
    await attempt(async () => {
      const told = (await this.points.api.get(`/runs/${pane.run.id}/described`)).clusters;
      if (this.run === pane.run.id) this.#tell(told);
    });
  }

  /** Write what sets each cluster apart into the table as it stands: a name may just be written there. */
  #tell(told) {
    this.told = told;
    this.most = Math.max(...Object.values(told).flatMap(({ effects }) => effects.map(({ effect }) => Math.abs(effect))), 1);
    for (const chart of this.element.querySelectorAll("[data-profile]")) replace(chart, this.#profile(told[chart.dataset.profile]));
    if (isPlain()) return;
    for (const written of this.element.querySelectorAll("[data-name]")) {
      const row = written.closest("tr");
      row.querySelector(".told").replaceWith(this.#toldCell(written.dataset.name));
      row.querySelector(".typical").replaceWith(this.#typicalCell(written.dataset.name));
    }
  }

  #toldCell(label) {
    return h("td", { class: "told" }, this.told[label]?.told.join("; ") || "–");
  }

  #typicalCell(label) {
    const button = (row) => h("button", { class: "plain", "data-typical": String(row), title: `Show row ${row}`, onclick: () => this.#select(row) }, String(row));
    return h("td", { class: "typical" }, (this.told[label]?.typical ?? []).map(button));
  }

  #draw() {
    const { pane } = this;
    const total = pane.labels.length - pane.run.facts.n_missing;
    const rows = pane.run.facts.sizes.map((size, label) => ({ label, name: pane.nameOf(label), points: size })).filter(({ points }) => points);
    const [by, direction] = this.order;
    rows.sort((a, b) => direction * (by === "name" ? a.name.localeCompare(b.name, undefined, { numeric: true }) : a[by] - b[by]));
    const head = (key) => h("th", { scope: "col", "aria-sort": by === key ? (direction > 0 ? "ascending" : "descending") : null }, h("button", { class: "plain", "data-sort": key, onclick: () => this.#sort(key) }, key));
    const merge = h("button", { class: "small", "data-action": "merge", disabled: this.chosen.size < 2, onclick: () => this.#edit("merge") }, "Merge");
    const split = h("button", { class: "small", "data-action": "split", disabled: this.chosen.size !== 1, onclick: () => this.#edit("split") }, "Split in two");
    if (isPlain()) return replace(this.element, h("div", { class: "group-cards" }, rows.map((row) => this.#card(row, total))));
    replace(
      this.element,
      h("div", { class: "button-row" }, h("strong", {}, `Clusters of the ${SIDES[this.key]}`), merge, split, h("span", { class: "hint" }, "Tick clusters to merge or split them; a name is written over in place.")),
      table("All clusters", [h("th", {}, h("span", { class: "visually-hidden" }, "Chosen")), head("name"), head("points"), "share", "what sets it apart", "typical rows"], rows.map((row) => this.#row(row, total)), "cluster-table"),
    );
  }

  /** The colour and the name of a cluster, which is written over in place. */
  #named({ label, name }) {
    const written = h("input", { type: "text", value: name, maxlength: "60", "aria-label": `Name of cluster ${name}`, "data-name": String(label), onchange: () => this.#rename(label, written.value) });
    return [swatch(label), written];
  }

  /** A cluster in plain words: its name, its size, and what it has more and less of than the rest. */
  #card(row, total) {
    const size = h("p", { class: "quiet" }, `${count(row.points)} rows, ${percent(row.points / total)}`);
    return h("article", { class: "group-card" }, h("div", { class: "card-name" }, this.#named(row)), size, h("div", { "data-profile": String(row.label) }));
  }

  /** Bars to the right for more than the rest has, to the left for less. */
  #profile(told) {
    if (this.pane.run.facts.n_clusters < 2) return h("p", { class: "hint" }, "all rows are in one group; ask for more, or check the columns");
    if (!told?.effects.length) return h("p", { class: "hint" }, "like the rest in all columns");
    return told.effects.map(({ text, effect }) => {
      const bar = h("i", { class: effect < 0 ? "less" : "more" });
      bar.style.width = `${(50 * Math.abs(effect)) / this.most}%`;
      return h("div", { class: "profile", title: text }, h("span", {}, text), h("div", { class: "profile-track" }, bar));
    });
  }

  #row({ label, name, points }, total) {
    const box = h("input", { type: "checkbox", checked: this.chosen.has(label), "aria-label": `Choose cluster ${name}`, onchange: () => this.#choose(label, box.checked) });
    return h("tr", {}, h("td", {}, box), h("th", { scope: "row" }, this.#named({ label, name })), h("td", {}, count(points)), h("td", {}, percent(points / total)), this.#toldCell(label), this.#typicalCell(label));
  }

  #select(row) {
    const mask = new Uint8Array(this.pane.labels.length);
    mask[row] = 1;
    this.points.select(mask);
  }

  #sort(key) {
    this.order = [key, this.order[0] === key ? -this.order[1] : key === "name" ? 1 : -1];
    this.#draw();
    this.element.querySelector(`[data-sort=${key}]`).focus();
  }

  #choose(label, on) {
    if (on) this.chosen.add(label);
    else this.chosen.delete(label);
    this.element.querySelector("[data-action=merge]").disabled = this.chosen.size < 2;
    this.element.querySelector("[data-action=split]").disabled = this.chosen.size !== 1;
  }

  #rename(label, name) {
    const { points, pane } = this;
    const names = { ...points.names[pane.run.id] };
    if (name.trim()) names[label] = name.trim();
    else delete names[label];
    points.names = { ...points.names, [pane.run.id]: names };
    pane.repaint();
    points.remember(`name a cluster ${name}`);
  }

  async #edit(how) {
    const { points, key } = this;
    await attempt(async () => {
      const labels = [...this.chosen].sort((a, b) => a - b);
      const { run } = await points.work.run(how === "merge" ? "Merging" : "Splitting", () => points.api.post(`/runs/${this.pane.run.id}/${how}`, { pane: key, labels }));
      this.chosen.clear();
      await points.showEdited(key, run, how === "merge" ? `merge ${labels.length} clusters` : "split a cluster", labels);
    });
  }
}
