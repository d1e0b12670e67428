// The selected points: their rows as a table, and how they lie in each column against all points.

import { inkColour } from "./colours.js";
import { attempt, count, h, notice, replace, row, save, table, written } from "./ui.js";

const ROWS = 60;
const COLUMNS = 12;
const BARS = 24;

export class SelectionView {
  constructor(points) {
    this.points = points;
    this.mask = null;
    this.ranges = {}; // by column: what was dragged in its histogram
    this.element = h("div", { class: "dock-view selected" });
    this.fill();
  }

  show(mask) {
    this.mask = mask;
    if (this.points.dock?.shown === "selected") this.fill();
  }

  get rows() {
    const rows = [];
    for (let i = 0; i < (this.mask?.length ?? 0); i++) if (this.mask[i]) rows.push(i);
    return rows;
  }

  async fill() {
    const search = this.#search();
    const { mask } = this;
    if (this.of !== this.points.points?.key) Object.assign(this, { ranges: {}, of: this.points.points?.key });
    const hint = h("p", { class: "hint" }, "Draw around points with the lasso, search, or drag over a range of a column: rows appear here.");
    if (!mask) replace(this.element, search, hint);
    if (!mask && this.points.points) {
      const histograms = await this.#histograms().catch(() => []);
      if (!this.mask) replace(this.element, search, h("div", { class: "histograms" }, histograms), hint);
    }
    if (!mask) return;
    const rows = this.rows;
    await attempt(async () => {
      const shown = rows.slice(0, ROWS);
      const { columns, rows: cells } = await this.points.api.get(`/points/rows?${shown.map((row) => `at=${row}`).join("&")}`);
      const histograms = await this.#histograms();
      if (this.mask !== mask) return;
      replace(
        this.element,
        search,
        h("div", { class: "histograms" }, histograms),
        h("p", { class: "hint" }, `${count(rows.length)} points selected${rows.length > ROWS ? `, the first ${ROWS} below` : ""}. `, h("button", { class: "small", onclick: () => save(`row\n${rows.join("\n")}\n`, "selected.csv", "text/csv") }, "Save their numbers")),
        table("Selected rows", ["row", ...columns], cells.map((values) => row(values.map((value) => written(value))))),
      );
    });
  }

  /** Rows by a condition on a column: a word it holds, or a number above or below. */
  #search() {
    const columns = this.points.points?.columns ?? [];
    const column = h("select", { "aria-label": "Column to search", "data-control": "search-column" }, columns.slice(0, 300).map(({ name }) => h("option", { value: name, selected: name === this.asked?.[0] }, name)));
    const word = h("input", { type: "text", "aria-label": "What to search for", value: this.asked?.[1] ?? "", placeholder: "> 3, < 0.5, = 2, or a word", "data-control": "search" });
    return h("form", { class: "search", onsubmit: (event) => (event.preventDefault(), this.#find(column.value, word.value)) }, h("label", { class: "inline" }, "Select rows where", column), word, h("button", { class: "small" }, "Search"));
  }

  async #find(name, text) {
    this.asked = [name, text];
    const { api, points } = this.points;
    const column = points.columns.find((known) => known.name === name);
    await attempt(async () => {
      const { values } = await api.array(`/points/column?name=${encodeURIComponent(name)}`, column.number ? Float32Array : Int32Array);
      const test = column.number ? numberTest(text) : await wordTest(api, name, text);
      const mask = Uint8Array.from(values, (value) => (test(value) ? 1 : 0));
      if (!mask.includes(1)) notice(`no row has ${text} in ${name}`);
      this.points.select(mask);
    });
  }

  async #histograms() {
    const { api, points } = this.points;
    const names = points.chosen.filter((name) => points.columns.find((column) => column.name === name).number).slice(0, COLUMNS);
    return Promise.all(
      names.map(async (name) => {
        const { values } = await api.array(`/points/column?name=${encodeURIComponent(name)}`, Float32Array);
        return this.#histogram(name, values);
      }),
    );
  }

  #filter() {
    const kept = Object.values(this.ranges);
    const isIn = (_, row) => (kept.every(({ range, values }) => values[row] >= range[0] && values[row] <= range[1]) ? 1 : 0);
    this.points.select(kept.length ? Uint8Array.from({ length: this.points.rows }, isIn) : null);
  }

  #histogram(name, values) {
    let low = Infinity;
    let high = -Infinity;
    for (const value of values) {
      if (value < low) low = value;
      if (value > high) high = value;
    }
    const all = new Float64Array(BARS);
    const some = new Float64Array(BARS);
    for (let i = 0; i < values.length; i++) {
      if (!Number.isFinite(values[i])) continue;
      const bar = Math.min(BARS - 1, Math.floor(((values[i] - low) / (high - low || 1)) * BARS));
      all[bar] += 1;
      if (this.mask?.[i]) some[bar] += 1;
    }
    const canvas = h("canvas", { width: 144, height: 44, role: "img", title: "Drag to select the rows in a range", "aria-label": `${name}: selected points against all` });
    // A drag selects a range; ranges in several columns are all asked for, and a click takes one back.
    const at = (event) => low + ((high - low) * Math.max(0, Math.min(144, event.offsetX))) / 144;
    canvas.addEventListener("pointerdown", (event) => (canvas.setPointerCapture(event.pointerId), (this.from = [at(event), event.offsetX])));
    canvas.addEventListener("pointerup", (event) => {
      const range = [this.from[0], at(event)].sort((a, b) => a - b);
      if (Math.abs(event.offsetX - this.from[1]) < 3) delete this.ranges[name];
      else this.ranges[name] = { range, values };
      this.#filter();
    });
    const pen = canvas.getContext("2d");
    for (const [bars, alpha] of [[all, 0.22], [some, 0.85]]) {
      const most = Math.max(...bars, 1);
      pen.globalAlpha = alpha;
      pen.fillStyle = inkColour();
      bars.forEach((n, i) => pen.fillRect(i * 6, 44 - (44 * n) / most, 5, (44 * n) / most));
    }
    return h("figure", {}, canvas, h("figcaption", {}, name));
  }
}

function numberTest(text) {
  const [, sign, number] = /^\s*([<>=]?)\s*(-?[\d.]+(?:e-?\d+)?)\s*$/i.exec(text) ?? [];
  if (number === undefined) throw new Error(`“${text}” is no condition on a number; write > 3, < 0.5 or = 2`);
  const limit = Math.fround(Number(number));
  return { ">": (value) => value > limit, "<": (value) => value < limit }[sign] ?? ((value) => value === limit);
}

async function wordTest(api, name, text) {
  const { names } = await api.get(`/points/names?name=${encodeURIComponent(name)}`);
  const wanted = text.trim().toLowerCase();
  const codes = new Set(names.flatMap((word, code) => (word.toLowerCase().includes(wanted) ? [code] : [])));
  return (value) => codes.has(value);
}
