// What was read from a file, as it was understood: every guess is a switch, and nothing is left out without a word.

import { h, keepFocus, many, notice, replace, row, select, table, written } from "./ui.js";

const YES = [["", "found out"], ["true", "yes"], ["false", "no"]];
const MARKS = [["", "found out"], [",", "comma"], [";", "semicolon"], ["\t", "tab"], ["|", "bar"]];
const POINTS = [["", "found out"], [".", "point"], [",", "comma"]];
const GAPS = [["drop", "are left out"], ["mean", "are filled with means"], ["neighbors", "are filled from similar rows"]];
const ROLES = ["number", "category", "date", "identifier", "outcome", "leave out"].map((role) => [role, role]);
const USED = new Set(["number", "category", "date"]);
const WRITTEN = { "utf-16": "UTF-16", "latin-1": "Latin-1", gzip: "packed with gzip", excel: "an Excel workbook", blanks: "parted by blanks" };

export class DataCheck {
  /** points: the half of the page; again(reading): reads the file anew. */
  constructor(points, again) {
    this.points = points;
    this.again = again;
    this.said = {};
    this.element = h("div", { class: "dock-view data-check" }, h("p", { class: "hint" }, "What is read from a file appears here."));
  }

  /** Another file: what was said about the last one does not count. */
  forget() {
    this.said = {};
  }

  show() {
    const { points } = this.points;
    if (!points) return;
    keepFocus(this.element, () => replace(this.element, this.#switches(points), h("div", {}, this.#choices(points), this.#columns(points)), this.#preview(points)));
  }

  #switches(points) {
    const { reading, source } = points;
    if (source.kind !== "csv") return h("p", { class: "hint" }, source.kind === "example" ? "An example that comes with the studio." : `Read as ${source.kind === "cells" ? "AnnData: what is noted of each cell, then its genes" : source.kind.toUpperCase()}.`);
    const one = (name, title, options, now) => {
      const box = select(options, this.said[name] ?? "", (value) => this.#say(name, value), { "data-control": `read-${name}`, disabled: !this.again.can() });
      box.firstElementChild.textContent = `found out: ${options.find(([key]) => key === String(now))?.[1] ?? now}`;
      return h("label", { class: "inline" }, title, box);
    };
    return h(
      "div",
      { class: "button-row" },
      reading.sheets?.length > 1 ? one("sheet", "Sheet", [["", ""], ...reading.sheets.map((name) => [name, name])], reading.sheet) : null,
      one("header", "First line names the columns", YES, reading.header),
      one("delimiter", "Cells are parted by a", MARKS, reading.delimiter),
      one("decimal", "Decimal", POINTS, reading.decimal),
      reading.written ? h("span", { class: "quiet" }, WRITTEN[reading.written]) : null,
    );
  }

  #say(name, value) {
    if (value) this.said[name] = value;
    else delete this.said[name];
    this.again.read(this.said);
  }

  /** Search among the columns, take all that are shown or none, and what becomes of gaps. */
  #choices(points) {
    const shown = () => [...this.element.querySelectorAll("[data-column]")].filter((box) => !box.closest("tr").hidden && !box.disabled);
    const tick = (on) => () => {
      for (const box of shown()) box.checked = on;
      this.#choose(points);
    };
    const word = h("input", { type: "text", placeholder: "Find a column", "aria-label": "Find a column", "data-control": "find-column", value: this.word ?? "", oninput: () => this.#filter((this.word = word.value)) });
    const gaps = select(GAPS, points.missing, (missing) => this.points.chooseColumns(points.chosen, missing), { "data-control": "missing" });
    const counts = h("input", { type: "checkbox", checked: points.counts, "data-control": "counts", onchange: () => this.points.chooseColumns(points.chosen, points.missing, counts.checked) });
    return h("div", { class: "button-row" }, word, h("button", { class: "small", "data-action": "all-columns", onclick: tick(true) }, "All"), h("button", { class: "small", "data-action": "no-columns", onclick: tick(false) }, "None"), h("label", { class: "inline" }, "Rows with gaps", gaps), h("label", { class: "check" }, counts, "These are counts: log-normalise"));
  }

  #filter(word) {
    const wanted = word.trim().toLowerCase();
    for (const box of this.element.querySelectorAll("[data-column]")) box.closest("tr").hidden = !box.dataset.column.toLowerCase().includes(wanted);
  }

  #columns(points) {
    const chosen = new Set(points.chosen);
    const line = (column) => {
      const hidden = Boolean(this.word) && !column.name.toLowerCase().includes(this.word.trim().toLowerCase());
      const box = h("input", { type: "checkbox", checked: chosen.has(column.name), disabled: !column.usable, "data-column": column.name, "aria-label": `Group by ${column.name}`, onchange: () => this.#choose(points) });
      return h("tr", { hidden }, h("td", {}, box), h("th", { scope: "row" }, column.name), h("td", {}, select(ROLES, column.role, (role) => this.#setRole(points, column, role), { "data-role": column.name, "aria-label": `${column.name} is a` })), h("td", {}, column.missing ? many(column.missing, "gap") : ""), h("td", {}, column.why || (chosen.has(column.name) ? "" : "left out")));
    };
    const gone = points.left_out.map(([name, why]) => h("tr", { class: "gone" }, h("td", {}), h("th", { scope: "row" }, name), h("td", { colspan: "3" }, `not read: ${why}`)));
    return table("Columns", ["by", "column", "is a", "gaps", "why"], [points.columns.map(line), gone], "column-table");
  }

  /** Another role: what is a number, a category or a date is used, the rest is left out. */
  #setRole(points, { name }, role) {
    const chosen = points.columns.map((column) => column.name).filter((known) => (known === name ? USED.has(role) : points.chosen.includes(known)));
    this.points.chooseColumns(chosen.length ? chosen : points.chosen, points.missing, points.counts, { [name]: role });
  }

  #choose(points) {
    const wanted = new Set([...this.element.querySelectorAll("[data-column]:checked")].map((box) => box.dataset.column));
    const names = points.columns.map(({ name }) => name).filter((name) => wanted.has(name));
    if (names.length) return this.points.chooseColumns(names);
    notice("tick the columns to group by: at least one is needed");
  }

  #preview(points) {
    const names = points.columns.slice(0, 40).map(({ name }) => name);
    return table("First rows", names, points.first_rows.map((values) => row(values.map((value) => written(value, 6)))));
  }
}
