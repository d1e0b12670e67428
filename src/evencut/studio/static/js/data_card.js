// Where points come from: an example, a file, a drop, the command line; and which columns are clustered by.

import { count, fileButton, h, notice, select } from "./ui.js";

const ACCEPT = ".csv,.tsv,.txt,.data,.dat,.gz,.xlsx,.parquet,.pq,.npy,.h5ad";

export class DataCard {
  constructor(points) {
    this.points = points;
    this.line = Promise.resolve();
    this.asked = 0;
    const examples = [["", "– choose –"], ...points.about.points.map((example) => [example.name, example.title])];
    this.examples = select(examples, "", (name) => name && this.example(name), { id: "example", "data-control": "example" });
    this.name = h("strong", { class: "data-name" }, "No points yet");
    this.size = h("span", { class: "quiet" });
    this.story = h("p", { class: "hint" });
    this.columns = h("button", { class: "small", "data-action": "check", hidden: true, onclick: () => points.dock.show("data") });
    this.element = h(
      "section",
      { class: "card" },
      h("div", { class: "card-head" }, h("h2", {}, "Points"), fileButton("Open a file", "points-file", ACCEPT, ([file]) => this.upload(file))),
      h("div", { class: "data-line" }, this.name, this.size),
      h("div", { class: "field" }, h("div", { class: "field-head" }, h("label", { for: "example" }, "Example")), this.examples),
      this.story,
      this.columns,
      h("p", { class: "hint" }, "Or drop a file of text, Excel, Parquet, AnnData or NPY anywhere on the page, or paste rows of a spreadsheet. Nothing leaves this machine."),
    );
  }

  show(points) {
    this.name.textContent = points.name;
    this.size.textContent = `${count(points.n_rows)} rows, ${points.columns.length} columns`;
    this.examples.value = points.source.example ?? "";
    this.story.textContent = this.points.about.points.find((example) => example.name === points.source.example)?.story ?? "";
    this.columns.hidden = false;
    this.columns.textContent = `Uses ${points.chosen.length} of ${points.columns.length} columns: check`;
  }

  async example(name, settings = null) {
    await this.#load(() => this.points.api.post("/points/example", { name }), null, settings);
  }

  async given(index, reading = null) {
    if (!reading) this.points.check.forget();
    await this.#load(() => this.points.api.post(`/points/given?${new URLSearchParams(reading ?? {})}`, { index }), (said) => this.given(index, said));
  }

  /** Open a file; `reading` is what the user says about its header and its marks. */
  async upload(file, reading = null) {
    const { limits } = this.points.about;
    if (file.size > limits.table_bytes) {
      notice(`${file.name} has ${(file.size / 1e6).toFixed(0)} MB; the studio takes ${(limits.table_bytes / 1e6).toFixed(0)}. Use a sample of the rows.`, "error");
      return;
    }
    const show = (share) => this.points.work.show({ name: `Loading ${file.name}`, step: "", share });
    show(0);
    if (!reading) this.points.check.forget();
    await this.#load(() => this.points.api.upload("/points/upload", file, show, reading ?? {}), (said) => this.upload(file, said));
  }

  /** Ask for points after those asked for before, so that the studio holds what was asked for last; only that is shown. */
  async #load(ask, again, settings = null) {
    const turn = (this.asked += 1);
    try {
      const points = await (this.line = this.line.catch(() => {}).then(ask));
      this.points.work.show(null);
      if (turn !== this.asked) return;
      this.again = again;
      for (const text of points.warnings) notice(text);
      await this.points.take(points, settings);
    } catch (error) {
      this.points.work.show(null);
      if (turn === this.asked) notice(error.message, "error");
    }
  }
}
