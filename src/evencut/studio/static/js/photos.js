// The half of the page about photos: a box, clicks and strokes, and the cut-out that follows them.

import { photoExportDialog } from "./photo_exports.js";
import { PhotoStage } from "./photo_stage.js";
import { field, h, notice, percent, replace, segmented, select, short } from "./ui.js";

const ACCEPT = "image/png,image/jpeg,image/webp,image/tiff,.tif,.tiff";

export class Photos {
  constructor(context) {
    Object.assign(this, context); // api, work, about, remember
    this.label = 2;
    this.stage = new PhotoStage({ prompt: (prompt) => this.prompt(prompt), label: () => this.label });
    this.element = this.about.can.photos ? this.#build() : h("div", { class: "half missing" }, h("p", {}, 'Photos need two more libraries: pip install "evencut[vision]", then start the studio again.'));
  }

  #build() {
    const examples = [["", "– choose –"], ...this.about.photos.map((photo) => [photo.name, photo.title])];
    this.examples = select(examples, "", (name) => name && this.example(name), { id: "photo-example", "data-control": "photo-example" });
    this.file = h("input", { type: "file", accept: ACCEPT, class: "visually-hidden", id: "photo-file", onchange: () => this.file.files[0] && this.upload(this.file.files[0]) });
    this.name = h("strong", { class: "data-name" }, "No photo yet");
    this.size = h("span", { class: "quiet" });
    this.tool = segmented("Tool", [["click", "Box and click"], ["stroke", "Stroke"], ["pan", "Move"]], "click", (tool) => this.stage.setTool(tool));
    this.mode = segmented("What is drawn", [["2", "Object"], ["1", "Background"]], "2", (label) => (this.label = Number(label)));
    this.regions = h("div", { class: "regions", role: "group", "aria-label": "Regions" });
    this.severalBox = h("input", { type: "checkbox", onchange: () => this.#several(this.severalBox.checked) });
    const brush = h("input", { type: "range", min: "2", max: "40", value: "8", oninput: () => this.stage.setBrush(Number(brush.value)) });
    this.shown = segmented("Show", [["contour", "Contour"], ["mask", "Mask"], ["cutout", "Cut-out"]], "contour", (how) => this.stage.setShown(how));
    this.undo = h("button", { class: "small", "data-action": "undo", onclick: () => this.move(-1) }, "Undo");
    this.redo = h("button", { class: "small", "data-action": "redo", onclick: () => this.move(1) }, "Redo");
    this.facts = h("p", { class: "facts", role: "status" });
    this.compared = h("p", { class: "facts" });
    const label = h("label", { class: "button small", for: "photo-file", tabindex: "0" }, "Open a photo");
    label.addEventListener("keydown", (event) => (event.key === "Enter" || event.key === " ") && this.file.click());
    const compare = this.about.can.grabcut
      ? h("button", { class: "small", "data-action": "grabcut", onclick: () => this.compare() }, "Compare with grabCut")
      : h("p", { class: "hint" }, "Install opencv-python-headless to compare with OpenCV's grabCut.");
    const sidebar = h(
      "aside",
      { class: "sidebar", "aria-label": "Choices" },
      h(
        "section",
        { class: "card" },
        h("div", { class: "card-head" }, h("h2", {}, "Photo"), label, this.file),
        h("div", { class: "data-line" }, this.name, this.size),
        h("div", { class: "field" }, h("div", { class: "field-head" }, h("label", { for: "photo-example" }, "Example")), this.examples),
        h("p", { class: "hint" }, "Or drop a PNG, JPEG, WebP or TIFF photo on the page."),
      ),
      h(
        "section",
        { class: "card" },
        h("div", { class: "card-head" }, h("h2", {}, "Draw")),
        field("Tool", "Drag a box around the object, or click on it; a right click takes away.", "photo-tool", this.tool),
        field("Label", "What a click or stroke says: this is the object, or this is not.", "photo-label", this.mode, this.regions),
        h("label", { class: "check" }, this.severalBox, "Several regions instead of one object"),
        field("Brush", "Width of a stroke, in pixels of the photo.", "photo-brush", brush),
        h("div", { class: "button-row" }, this.undo, this.redo, h("button", { class: "small", "data-action": "restart", onclick: () => this.restart() }, "Start over")),
      ),
      h("section", { class: "card" }, h("div", { class: "card-head" }, h("h2", {}, "Result")), this.shown, this.facts, compare, this.compared, h("button", { class: "primary wide", "data-action": "photo-export", onclick: () => photoExportDialog(this.api, this.photo) }, "Export")),
    );
    this.#several(false);
    return h("div", { class: "half photos-half" }, sidebar, h("div", { class: "stage" }, this.stage.element));
  }

  #several(on) {
    this.label = on ? 1 : 2;
    this.several = on;
    this.stage.setSeveral(on);
    this.mode.hidden = on;
    this.mode.show("2");
    replace(this.regions);
    if (!on) return;
    const chips = segmented("Region", [1, 2, 3, 4, 5, 6].map((label) => [String(label), String(label)]), "1", (label) => (this.label = Number(label)));
    replace(this.regions, chips);
  }

  // ---- loading ----

  async example(name) {
    await this.#load(() => this.api.post("/photo/example", { name }));
  }

  async given(index) {
    await this.#load(() => this.api.post("/photo/given", { index }));
  }

  async upload(file) {
    const show = (share) => this.work.show({ name: `Loading ${file.name}`, step: "", share });
    show(0);
    await this.#load(() => this.api.upload("/photo/upload", file, show));
    this.file.value = "";
  }

  async #load(ask) {
    try {
      const photo = await ask();
      this.work.show(null);
      await this.take(photo);
    } catch (error) {
      this.work.show(null);
      notice(error.message, "error");
    }
  }

  /** Show a photo of the session, with what is drawn on it. */
  async take(photo) {
    const blob = await this.api.blob("/photo/image");
    await this.stage.setPhoto(await createImageBitmap(blob), photo);
    this.severalBox.checked = photo.prompts.some((prompt) => prompt.label > 2);
    this.#several(this.severalBox.checked);
    this.compared.textContent = "";
    await this.#show(photo);
  }

  async #show(photo) {
    this.photo = photo;
    this.name.textContent = photo.name;
    this.size.textContent = `${photo.width} × ${photo.height} pixels`;
    this.examples.value = photo.source.example ?? "";
    this.undo.disabled = photo.position === 0;
    this.redo.disabled = photo.position >= photo.n_steps;
    const labels = photo.position ? (await this.api.array("/photo/labels", Uint8Array)).values : null;
    if (this.photo !== photo) return;
    this.stage.setLabels(labels, photo.prompts);
    this.#showFacts(photo);
    this.remember();
  }

  #showFacts(photo) {
    if (!photo.facts) {
      this.facts.textContent = "Drag a box around the object, or click on it.";
      return;
    }
    const { seconds, energy, shares, warnings } = photo.facts;
    const parts = [`${short(seconds, 2)} s`];
    if (energy !== null) parts.push(`energy ${short(energy, 5)}`);
    if (this.several) parts.push(Object.entries(shares).map(([label, share]) => `${label}: ${percent(share)}`).join(", "));
    else if (shares["2"] !== undefined) parts.push(`object ${percent(shares["2"])} of the photo`);
    if (!Object.keys(shares).length) parts.push("mark a second region");
    parts.push(`${photo.position} gesture${photo.position === 1 ? "" : "s"}`);
    this.facts.textContent = parts.join(" · ");
    for (const text of warnings ?? []) notice(text);
  }

  // ---- drawing ----

  async prompt(prompt) {
    if (!this.photo) return;
    try {
      const { photo } = await this.work.run("Cut-out", () => this.api.post("/photo/prompts", prompt));
      await this.#show(photo);
    } catch (error) {
      this.stage.setLabels(this.stage.labels, this.photo.prompts);
      if (error.status !== "cancelled") notice(error.message, "error");
    }
  }

  async move(by) {
    if (!this.photo) return;
    const position = this.photo.position + by;
    if (position < 0 || position > this.photo.n_steps) return;
    try {
      await this.#show(await this.api.put("/photo/position", { position }));
    } catch (error) {
      notice(error.message, "error");
    }
  }

  async restart() {
    if (this.photo?.position) await this.move(-this.photo.position);
  }

  async compare() {
    try {
      const { facts, overlap } = await this.work.run("grabCut", () => this.api.post("/photo/grabcut"));
      const theirs = await this.api.array("/photo/grabcut", Uint8Array);
      this.stage.setOther(theirs.values);
      this.compared.textContent = `grabCut took ${short(facts.seconds, 2)} s; the two agree on ${percent(overlap)} of what either calls object. Its contour is the blue one.`;
    } catch (error) {
      if (error.status !== "cancelled") notice(error.message, "error");
    }
  }

  repaint() {
    this.stage.request();
  }

  keydown(event) {
    if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== "z") return;
    event.preventDefault();
    this.move(event.shiftKey ? 1 : -1);
  }
}
