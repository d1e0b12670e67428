// The bandwidth: a slider, and over it what every bandwidth would give, the paper's picture of biases over sigma.

import { verdictColour } from "./colours.js";
import { h, percent, replace, s, short } from "./ui.js";

const STEPS = 400;
const SIDE = 34;
const HEIGHT = 128;

export class Sweep {
  /** on: {drag(sigma), drop(), sweep()} */
  constructor(on) {
    this.on = on;
    this.range = [0.01, 1];
    this.slider = h("input", { type: "range", min: "0", max: String(STEPS), step: "1", "aria-label": "Bandwidth", id: "bandwidth-slider" });
    this.slider.addEventListener("input", () => {
      const sigma = this.#at(Number(this.slider.value) / STEPS);
      this.#mark(sigma);
      on.drag(sigma);
    });
    this.slider.addEventListener("change", () => on.drop());
    this.value = h("output", { class: "sigma", for: "bandwidth-slider" });
    this.button = h("button", { class: "small primary-soft", "data-action": "sweep", onclick: () => on.sweep() }, "Sweep all");
    this.chart = h("div", { class: "sweep-chart" });
    this.answer = h("p", { class: "hint" });
    this.note = h("p", { class: "hint" });
    this.bar = h("div", { class: "sweep-bar" }, h("label", { for: "bandwidth-slider" }, "Bandwidth"), this.slider, this.value, this.button);
    this.element = h("div", { class: "sweep" }, this.chart, this.answer, this.note);
    new ResizeObserver(() => this.#draw()).observe(this.chart);
  }

  setRange(range) {
    this.range = range;
    this.setResult(null);
  }

  setResult(result) {
    this.result = result;
    this.answer.textContent = result ? `${result.answer} (${result.n_points} points, k = ${result.n_clusters})` : "";
    this.#draw();
  }

  /** Where the slider stands; `usable` says whether the method shown has a bandwidth at all. */
  setSigma(sigma, usable, side) {
    this.bar.hidden = !usable;
    this.note.textContent = usable
      ? `Drag: the ${side} clustering follows. Small bandwidths isolate dense clumps, large ones split like k-means.`
      : "Neither method has a bandwidth: kernels that adapt need none. Choose a Gaussian kernel to drag one.";
    if (sigma) {
      const place = Math.log(sigma / this.range[0]) / Math.log(this.range[1] / this.range[0]);
      this.slider.value = String(Math.round(STEPS * Math.max(0, Math.min(1, place))));
    }
    this.#mark(usable ? sigma : null);
  }

  #at(share) {
    return this.range[0] * (this.range[1] / this.range[0]) ** share;
  }

  #mark(sigma) {
    this.sigma = sigma;
    this.value.textContent = sigma ? `σ = ${short(sigma)}` : "";
    this.slider.setAttribute("aria-valuetext", sigma ? `sigma ${short(sigma)}` : "none");
    const line = this.chart.querySelector(".now");
    if (line) this.#place(line);
  }

  #x(sigma) {
    const share = Math.log(sigma / this.range[0]) / Math.log(this.range[1] / this.range[0]);
    return SIDE + (this.width - 2 * SIDE) * Math.max(0, Math.min(1, share));
  }

  #place(line) {
    line.setAttribute("visibility", this.sigma ? "visible" : "hidden");
    if (!this.sigma) return;
    for (const end of ["x1", "x2"]) line.setAttribute(end, String(this.#x(this.sigma)));
  }

  #draw() {
    this.width = this.chart.clientWidth;
    this.chart.classList.toggle("empty", !this.result);
    if (!this.result || this.width < 60) {
      const text = "Sweep tries twelve bandwidths, clusters with each, and diagnoses every result.";
      replace(this.chart, h("p", { class: "hint" }, text));
      return;
    }
    const { rows } = this.result;
    const edges = rows.map((row) => this.#x(row.bandwidth));
    const half = rows.length > 1 ? (edges[1] - edges[0]) / 2 : 20;
    const top = 20;
    const bottom = HEIGHT - 6;
    const tall = bottom - top;
    const parts = [];
    let last = null;
    rows.forEach((row, i) => {
      const left = Math.max(0, edges[i] - half);
      const width = Math.min(this.width, edges[i] + half) - left;
      parts.push(s("rect", { x: left, y: 0, width, height: HEIGHT, fill: verdictColour(row.verdict), opacity: "0.28" }));
      if (row.verdict !== last) parts.push(s("text", { x: left + 4, y: 13, class: "band" }, row.verdict));
      last = row.verdict;
      let from = bottom;
      row.shares.forEach((share, k) => {
        const part = share * tall;
        from -= part;
        const title = `σ = ${short(row.bandwidth)}: ${row.verdict} (${percent(row.confidence)}), shares ${row.shares.map(percent).join(", ")}, stability ${short(row.stability, 2)}`;
        parts.push(s("rect", { x: edges[i] - half * 0.5, y: from, width: half, height: Math.max(0, part - 1), class: `bar bar-${Math.min(k, 4)}` }, s("title", {}, title)));
      });
    });
    const line = rows.map((row, i) => `${edges[i]},${bottom - (row.stability ?? 0) * tall}`).join(" ");
    parts.push(s("polyline", { points: line, class: "stability" }));
    rows.forEach((row, i) => parts.push(s("circle", { cx: edges[i], cy: bottom - (row.stability ?? 0) * tall, r: 3, class: "stability-dot" })));
    const now = s("line", { class: "now", y1: 0, y2: HEIGHT });
    parts.push(now);
    this.#place(now);
    replace(this.chart, s("svg", { width: this.width, height: HEIGHT, role: "img", "aria-label": this.result.answer }, parts));
    this.#place(this.chart.querySelector(".now"));
  }
}
