// One of the two clusterings side by side: its plot, its sizes, what is known of it, and what can be done with it.

import { byCluster, byValue, clusterColour, packed, swatch, verdictColour, verdictTone } from "./colours.js";
import { methodDetail, methodTitle } from "./controls.js";
import { isPlain } from "./groups.js";
import { highest } from "./agreement.js";
import { Plot } from "./plot.js";
import { count, h, many, percent, replace, short, twoDigits } from "./ui.js";

const MOST_MARKS = 40;

/** Rows near the middle of each cluster, where its number is written. */
function marksOf(labels, xy, names) {
  const sums = new Map();
  const step = Math.max(1, Math.floor(labels.length / 60000));
  for (let i = 0; i < labels.length; i += step) {
    if (labels[i] < 0 || Number.isNaN(xy[2 * i])) continue;
    const sum = sums.get(labels[i]) ?? [0, 0, 0];
    sum[0] += xy[2 * i];
    sum[1] += xy[2 * i + 1];
    sum[2] += 1;
    sums.set(labels[i], sum);
  }
  const best = new Map();
  for (let i = 0; i < labels.length; i += step) {
    const sum = sums.get(labels[i]);
    if (!sum) continue;
    const far = Math.hypot(xy[2 * i] - sum[0] / sum[2], xy[2 * i + 1] - sum[1] / sum[2]);
    if (!(far >= (best.get(labels[i])?.far ?? Infinity))) best.set(labels[i], { far, row: i });
  }
  return [...best].map(([label, { row }]) => ({ label, row, text: names(label) }));
}

export class Pane {
  /** on: {focus(), diagnose(), exports(), names(run), hover, leave, lasso} */
  constructor(key, name, view, on) {
    this.key = key;
    this.agreement = null;
    this.name = name;
    this.on = on;
    this.plot = new Plot(view, `${name} clustering`, on);
    this.title = h("h3", {}, name);
    this.detail = h("span", { class: "quiet" });
    this.verdict = h("button", { class: "verdict", hidden: true, onclick: () => on.diagnose() });
    this.sizes = h("div", { class: "sizes", role: "group", "aria-label": "Sizes of the clusters" });
    this.facts = h("p", { class: "facts", role: "status" });
    this.scale = h("div", { class: "colour-scale", hidden: true });
    this.element = h(
      "section",
      { class: "pane", "data-pane": key, "aria-label": `${name} clustering`, onpointerdown: () => on.focus() },
      h(
        "header",
        {},
        h("div", { class: "pane-title" }, this.title, this.detail),
        h("button", { class: "small primary-soft expert", "data-action": "diagnose", onclick: () => on.diagnose() }, "Diagnose"),
        h("button", { class: "small", "data-action": "export", onclick: () => on.exports() }, "Export"),
      ),
      h("div", { class: "plot-frame" }, this.plot.element, this.verdict),
      h("div", { class: "pane-foot" }, this.scale, this.sizes, this.facts),
    );
  }

  setPoints(xy, frame) {
    this.xy = xy;
    this.plot.setPoints(xy, frame);
    if (this.labels) this.#paint();
  }

  /** A run and its labels: a number has one colour on both sides, and the studio gives numbers so that they live on. */
  setRun(run, labels) {
    this.run = run;
    this.labels = labels;
    this.previewed = null;
    this.only = null;
    this.values = null;
    this.setReport(null);
    this.showTitle();
    this.#paint();
    this.#showSizes();
    this.#showFacts();
  }

  showTitle() {
    const plain = isPlain();
    if (!this.run) return (this.title.textContent = plain ? "Your groups" : this.name);
    const { kind, facts, method } = this.run;
    this.title.textContent = kind === "column" ? `Column “${facts.column}”` : plain ? "Your groups" : methodTitle(method);
    this.detail.textContent = kind === "column" ? "labels from the file" : plain ? many(facts.n_clusters, "group") : methodDetail(method, facts);
  }

  /** What a cluster is called: by the user, by the file, or by its number. */
  nameOf(label) {
    return this.on.names(this.run)[label] || this.run.facts.names?.[label] || String(label);
  }

  /** Colours of the points by cluster. */
  colours() {
    return byCluster(this.labels, this.only);
  }

  /** What a method would give, while the user drags: labels of a sample, which every point follows. */
  preview(labels, follows, weights) {
    this.previewed = labels;
    const table = Uint32Array.from({ length: labels.length + 1 }, (_, i) => packed(clusterColour(i ? labels[i - 1] : -1)));
    this.plot.marks = [];
    this.plot.setColours({ index: follows, table }, true);
    const sizes = new Array(highest(labels)).fill(0);
    labels.forEach((label, i) => label >= 0 && (sizes[label] += weights[i]));
    this.#showChips(sizes, 0, String);
    this.facts.textContent = follows.length > labels.length ? `a sample of ${labels.length} while you drag; all points when you let go` : "while you drag";
  }

  /** The labels that are shown at the `n` points of a sample: a preview goes on with their numbers. */
  labelsAt(follows, n) {
    if (this.previewed) return this.previewed;
    const labels = new Int32Array(n).fill(-1);
    if (this.labels) for (let i = 0; i < follows.length; i++) if (follows[i] >= 0 && labels[follows[i]] < 0) labels[follows[i]] = this.labels[i];
    return labels;
  }

  /** How far it agrees with the other side; null where there is none. */
  setAgreement(value) {
    this.agreement = value;
    if (this.run) this.#showFacts();
  }

  clear() {
    this.run = null;
    this.labels = null;
    this.previewed = null;
    this.plot.setMarks([]);
    this.showTitle();
    replace(this.sizes);
    this.facts.textContent = "";
    this.detail.textContent = "";
    this.setReport(null);
  }

  /** Colours by a number or a category (`names`) a row, or by cluster where it is null. */
  setValues(values, name, names = null) {
    this.values = values && { values, name, names };
    this.element.classList.toggle("coloured", Boolean(values));
    this.#paint();
  }

  setReport(report) {
    this.report = report;
    this.verdict.hidden = !report;
    if (!report) return;
    const { verdict, confidence } = report.report;
    this.verdict.className = `verdict ${verdictTone(report.report)}`;
    replace(this.verdict, h("span", { class: "dot" }), `${verdict === "ok" ? "no bias found" : verdict} · ${percent(confidence)}`);
    this.verdict.querySelector(".dot").style.background = verdictColour(verdict);
    this.verdict.title = report.headline;
  }

  repaint() {
    if (this.labels) {
      this.#paint();
      this.#showSizes();
    } else this.plot.request(false);
  }

  #paint() {
    if (!this.xy) return;
    if (this.values?.names) {
      const { values, name, names } = this.values;
      this.plot.setColours(byCluster(values));
      this.plot.setMarks([]);
      const used = new Set(values);
      const chips = [...names.keys(), -1].filter((code) => used.has(code)).map((code) => h("span", { class: "category" }, swatch(code), names[code] ?? "no value"));
      replace(this.scale, h("span", {}, `${name}:`), chips.length > MOST_MARKS ? many(chips.length, "value") : chips);
      this.scale.hidden = false;
      return;
    }
    if (this.values) {
      const { colours, low, high } = byValue(this.values.values, this.values.name === "probability" ? [0, 1] : null);
      this.plot.setColours(colours);
      this.plot.setMarks([]);
      replace(this.scale, h("span", {}, `${this.values.name}: ${short(low)}`), h("i", { class: "ramp" }), h("span", {}, short(high)));
      this.scale.hidden = false;
      return;
    }
    this.scale.hidden = true;
    if (!this.labels) return;
    this.plot.setColours(this.colours());
    this.plot.setMarks(this.#marks());
  }

  #marks() {
    const found = marksOf(this.labels, this.xy, (label) => this.nameOf(label));
    return found.length > MOST_MARKS ? [] : found;
  }

  /** Bring one cluster out; the others fade. */
  bringOut(label) {
    this.only = this.only === label ? null : label;
    this.#paint();
    this.#showSizes();
  }

  #showSizes() {
    const { sizes, n_noise } = this.run.facts;
    this.#showChips(sizes, n_noise, (label) => this.nameOf(label));
  }

  #showChips(sizes, n_noise, nameOf) {
    const total = sizes.reduce((a, b) => a + b, 0) + n_noise || 1;
    const order = sizes.map((size, label) => [label, size]).filter(([, size]) => size).sort((a, b) => b[1] - a[1]);
    const bars = order.map(([label, size]) => {
      const text = nameOf(label);
      const title = `Cluster ${text}: ${many(size, "point")}, ${percent(size / total)}. Click to bring it out.`;
      const on = { "aria-pressed": String(this.only === label), onclick: () => this.run && this.bringOut(label) };
      return h("button", { class: "size", title, ...on }, swatch(label), h("span", {}, `${text}: ${count(size)}`));
    });
    if (n_noise) bars.push(h("span", { class: "size-rest" }, `in none: ${count(n_noise)}`));
    replace(this.sizes, bars);
  }

  #showFacts() {
    const { facts } = this.run;
    const parts = [];
    if (facts.confidence !== null && facts.confidence !== undefined) parts.push(`confidence ${percent(facts.confidence)}`);
    if (facts.energy !== null) parts.push(`energy ${short(facts.energy, 5)}`);
    if (this.run.kind === "fit") parts.push(`${short(facts.seconds, 2)} s`);
    if (facts.true_agreement !== null && facts.true_agreement !== undefined) parts.push(`agreement with the truth ${twoDigits(facts.true_agreement)}`);
    if (this.agreement !== null) parts.push(`with the other side ${twoDigits(this.agreement)}`);
    if (facts.n_fitted && facts.n_fitted < this.labels.length - facts.n_missing) parts.push(`fitted on a sample of ${count(facts.n_fitted)}, the rest follow`);
    if (facts.n_missing) parts.push(`${many(facts.n_missing, "row")} with gaps left out`);
    if (this.run.n_held) parts.push(`${many(this.run.n_held, "point")} held by hand`);
    const islands = (facts.islands ?? []).map(([label, n]) => h("strong", { class: "islands" }, `${this.nameOf(label)} holds ${n} separate islands: ask for more clusters. `));
    const gaps = facts.n_missing ? `${many(facts.n_missing, "row")} with gaps left out` : "";
    replace(this.facts, islands, h("span", { class: "expert" }, parts.join(" · ")), h("span", { class: "plain-only" }, gaps));
    this.facts.title = "Agreement is the adjusted Rand index over the rows in clusters of both: 1 is the same, 0 is chance.";
  }
}
