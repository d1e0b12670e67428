// Where points come from: an example, a file, a drop, the command line; and which columns are clustered by.

import { count, h, notice, replace, select } from "./ui.js";

const ACCEPT = ".csv,.tsv,.txt,.data,.parquet,.pq,.npy";

export class DataCard {
  constructor(points) {
    this.points = points;
    const examples = [["", "– choose –"], ...points.about.points.map((example) => [example.name, example.title])];
    this.examples = select(examples, "", (name) => name && this.example(name), { id: "example", "data-control": "example" });
    this.file = h("input", { type: "file", accept: ACCEPT, class: "visually-hidden", id: "points-file", onchange: () => this.file.files[0] && this.upload(this.file.files[0]) });
    this.name = h("strong", { class: "data-name" }, "No points yet");
    this.size = h("span", { class: "quiet" });
    this.story = h("p", { class: "hint" });
    this.columns = h("details", { class: "columns", hidden: true });
    this.element = h(
      "section",
      { class: "card" },
      h("div", { class: "card-head" }, h("h2", {}, "Points"), h("label", { class: "button small", for: "points-file", tabindex: "0" }, "Open a file"), this.file),
      h("div", { class: "data-line" }, this.name, this.size),
      h("div", { class: "field" }, h("div", { class: "field-head" }, h("label", { for: "example" }, "Example")), this.examples),
      this.story,
      this.columns,
      h("p", { class: "hint" }, "Or drop a CSV, TSV, Parquet or NPY file anywhere on the page. Nothing leaves this machine."),
    );
    this.element.querySelector("label.button").addEventListener("keydown", (event) => (event.key === "Enter" || event.key === " ") && this.file.click());
  }

  show(points) {
    this.name.textContent = points.name;
    this.size.textContent = `${count(points.n_rows)} rows, ${points.columns.length} columns`;
    this.examples.value = points.source.example ?? "";
    this.story.textContent = this.points.about.points.find((example) => example.name === points.source.example)?.story ?? "";
    this.#showColumns(points);
  }

  #showColumns(points) {
    const numbers = points.columns.filter((column) => column.number);
    this.columns.hidden = numbers.length < 2;
    const chosen = new Set(points.chosen);
    const boxes = numbers.map((column) => {
      const box = h("input", { type: "checkbox", checked: chosen.has(column.name) });
      box.addEventListener("change", () => {
        if (box.checked) chosen.add(column.name);
        else chosen.delete(column.name);
      });
      return h("label", { class: "check" }, box, h("span", {}, column.name), column.missing ? h("span", { class: "quiet" }, `${count(column.missing)} missing`) : null);
    });
    const apply = h("button", {
      class: "small",
      onclick: () => (chosen.size ? this.points.chooseColumns(numbers.map((c) => c.name).filter((name) => chosen.has(name))) : notice("choose at least one column", "error")),
    }, "Use these columns");
    replace(this.columns, h("summary", {}, `Clustered by ${points.chosen.length} of ${numbers.length} columns`), h("div", { class: "checks" }, boxes), apply);
  }

  async example(name, settings = null) {
    await this.#load(() => this.points.api.post("/points/example", { name }), settings);
  }

  async given(index) {
    await this.#load(() => this.points.api.post("/points/given", { index }));
  }

  async upload(file) {
    const { limits } = this.points.about;
    if (file.size > limits.table_bytes) {
      notice(`${file.name} has ${(file.size / 1e6).toFixed(0)} MB; the studio takes ${(limits.table_bytes / 1e6).toFixed(0)}. Use a sample of the rows.`, "error");
      return;
    }
    const show = (share) => this.points.work.show({ name: `Loading ${file.name}`, step: "", share });
    show(0);
    await this.#load(() => this.points.api.upload("/points/upload", file, show));
    this.file.value = "";
  }

  async #load(ask, settings = null) {
    try {
      const points = await ask();
      this.points.work.show(null);
      for (const text of points.warnings) notice(text);
      await this.points.take(points, settings);
    } catch (error) {
      this.points.work.show(null);
      notice(error.message, "error");
    }
  }
}
