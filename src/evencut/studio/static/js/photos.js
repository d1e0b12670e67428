// The half of the page about photos: objects, each from a box or a click, and the cut-outs that follow the gestures.

import { photoExportDialog } from "./photo_exports.js";
import { ObjectList } from "./photo_objects.js";
import { PhotoStage } from "./photo_stage.js";
import { attempt, field, fileButton, h, many, notice, percent, replace, segmented, select, short } from "./ui.js";

const ACCEPT = "image/png,image/jpeg,image/webp,image/tiff,.tif,.tiff";

export class Photos {
  constructor(context) {
    Object.assign(this, context); // api, work, about, remember
    this.label = 2;
    this.album = [];
    this.place = -1;
    this.line = Promise.resolve();
    this.asked = 0;
    this.stage = new PhotoStage({
      prompt: (prompt, adjusted) => this.prompt(prompt, adjusted),
      label: () => this.label,
      labels: (step) => this.#labels(step).catch(() => null),
      hover: (place) => this.#hover(place),
      say: (text) => (this.spoken.textContent = text),
    });
    this.objects = new ObjectList(this);
    this.element = this.about.can.photos ? this.#build() : h("div", { class: "half missing" }, h("p", {}, 'Photos need two more libraries: pip install "evencut[vision]", then start the studio again.'));
  }

  #build() {
    const examples = [["", "– choose –"], ...this.about.photos.map((photo) => [photo.name, photo.title])];
    this.examples = select(examples, "", (name) => name && this.example(name), { id: "photo-example", "data-control": "photo-example" });
    this.name = h("strong", { class: "data-name" }, "No photo yet");
    this.size = h("span", { class: "quiet" });
    this.turn = h("div", { class: "button-row", hidden: true });
    this.tool = segmented("Tool", [["click", "Box, click"], ["stroke", "Stroke"], ["erase", "Erase"], ["pan", "Move"]], "click", (tool) => this.stage.setTool(tool));
    this.mode = segmented("What is drawn", [["2", "Object"], ["1", "Background"]], "2", (label) => (this.label = Number(label)));
    this.regions = h("div", { class: "regions", role: "group", "aria-label": "Regions" });
    this.severalBox = h("input", { type: "checkbox", onchange: () => this.#several(this.severalBox.checked) });
    const brush = h("input", { type: "range", min: "2", max: "40", value: "8", oninput: () => this.stage.setBrush(Number(brush.value)) });
    this.shown = segmented("Show", [["contour", "Contour"], ["mask", "Mask"], ["cutout", "Cut-out"]], "contour", (how) => this.stage.setShown(how));
    this.facts = h("p", { class: "facts", role: "status" });
    this.spoken = h("p", { class: "visually-hidden", role: "status" });
    const sidebar = h(
      "aside",
      { class: "sidebar", "aria-label": "Choices for photos" },
      h(
        "section",
        { class: "card" },
        h("div", { class: "card-head" }, h("h2", {}, "Photo"), fileButton("Open photos", "photo-file", ACCEPT, (files) => this.open(files), true)),
        h("div", { class: "data-line" }, this.name, this.size),
        this.turn,
        h("div", { class: "field" }, h("div", { class: "field-head" }, h("label", { for: "photo-example" }, "Example")), this.examples),
        h("p", { class: "hint" }, "Or drop PNG, JPEG, WebP or TIFF photos on the page, as many as you like."),
      ),
      this.objects.element,
      h(
        "section",
        { class: "card" },
        h("div", { class: "card-head" }, h("h2", {}, "Draw")),
        field("Tool", "Drag a box around an object, or click on it; a right click takes away.", "photo-tool", this.tool),
        field("Label", "What a click or stroke says: this is the object, or this is not.", "photo-label", this.mode, this.regions),
        h("label", { class: "check" }, this.severalBox, "Regions of the whole photo instead of objects"),
        field("Brush", "Width of a stroke on the screen: zoom in to draw finely.", "photo-brush", brush),
        h("div", { class: "button-row" }, h("button", { class: "small", "data-action": "restart", onclick: () => this.restart() }, "Start over")),
      ),
      h("section", { class: "card" }, h("div", { class: "card-head" }, h("h2", {}, "Result")), this.shown, this.facts, this.spoken, h("button", { class: "primary wide", "data-action": "photo-export", onclick: () => photoExportDialog(this.api, this.photo, this.album.length) }, "Export")),
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

  /** Open photos: the first is shown, next and previous turn to the others. */
  async open(files) {
    await this.openAlbum(files.map((file) => ({ file, name: file.name, key: null, page: 0 })), 0);
  }

  /** Photos that come from files of the page (`file`) or of the command line (`given`), and one to begin with. */
  async openAlbum(album, place) {
    this.album = album;
    await this.turnTo(place);
  }

  /** Show a photo of the album: as it was left where it was open before. */
  async turnTo(place) {
    const entry = this.album[place];
    if (!entry) return;
    if (entry.key) return this.#load(() => this.api.put("/photo/current", { key: entry.key }));
    const show = (share) => this.work.show({ name: `Loading ${entry.name}`, step: "", share });
    await this.#load(async () => {
      const { page } = entry;
      const photo = entry.file ? await this.api.upload("/photo/upload", entry.file, show, { page }) : await this.api.post(`/photo/given?page=${page}`, { index: entry.given });
      entry.key = photo.key;
      // Further pages of a stack are photos of their own, turned to like the others.
      const more = page ? [] : Array.from({ length: photo.n_pages - 1 }, (_, i) => ({ ...entry, key: null, page: i + 1, name: `${entry.name}, page ${i + 2}` }));
      this.album.splice(this.album.indexOf(entry) + 1, 0, ...more);
      return photo;
    });
  }

  #showTurn() {
    const { place, album } = this;
    this.turn.hidden = album.length < 2;
    const button = (text, to, action) => h("button", { class: "small", "data-action": action, disabled: !album[to], onclick: () => this.turnTo(to) }, text);
    replace(this.turn, button("‹ Previous", place - 1, "previous"), h("span", { class: "quiet" }, place < 0 ? many(album.length, "photo") : `${place + 1} of ${album.length}`), button("Next ›", place + 1, "next"));
  }

  /** Load a photo after those that were asked for before, or not at all where another was asked for since. */
  #load(ask) {
    const turn = (this.asked += 1);
    this.line = this.line.then(async () => {
      if (turn !== this.asked) return;
      this.work.show({ name: "Loading a photo", step: "", share: null });
      try {
        const photo = await ask();
        await this.take(photo);
        this.remember(`open ${photo.name}`);
      } catch (error) {
        notice(error.message, "error");
      } finally {
        this.work.show(null);
      }
    });
    return this.line;
  }

  /** Show a photo of the session, with what is drawn on it. */
  async take(photo) {
    if (this.photo?.key !== photo.key) {
      const blob = await this.api.blob("/photo/image");
      await this.stage.setPhoto(await createImageBitmap(blob), photo);
      this.objects.active = null;
    }
    this.severalBox.checked = photo.prompts.some((prompt) => prompt.label > 2);
    this.#several(this.severalBox.checked);
    this.place = this.album.findIndex(({ key }) => key === photo.key);
    await this.#show(photo);
    this.#showTurn();
  }

  /** After an undo or a reload: the photo that is there, or none; the studio knows the files that were opened. */
  async restore(photo, album) {
    if (!this.album.some(({ key }) => key === photo?.key)) this.album = album;
    if (photo) return this.take(photo);
    if (!this.photo) return;
    this.photo = null;
    this.stage.clear();
    this.name.textContent = "No photo yet";
    this.size.textContent = "";
  }

  async #show(photo) {
    this.photo = photo;
    this.name.textContent = photo.name;
    this.size.textContent = `${photo.width} × ${photo.height} pixels`;
    this.examples.value = photo.source.example ?? "";
    this.objects.show(photo);
    const labels = photo.n_steps ? await this.#labels(this.stage.step) : null;
    if (this.photo !== photo) return;
    this.stage.setLabels(labels, photo.prompts, photo.objects.length, this.objects.active);
    this.#showFacts(photo);
  }

  /** Labels of one pixel in `step` each way. */
  async #labels(step) {
    return { values: (await this.api.array(`/photo/labels?every=${step}`, Uint8Array)).values, step };
  }

  #showFacts(photo) {
    if (!photo.facts) {
      this.facts.textContent = "Drag a box around an object, or click on it.";
      return;
    }
    const { seconds, energy, shares, warnings } = photo.facts;
    const parts = [`${short(seconds, 2)} s`];
    if (energy !== null && energy !== undefined) parts.push(`energy ${short(energy, 5)}`);
    if (this.several) parts.push(Object.entries(shares).map(([label, share]) => `${label}: ${percent(share)}`).join(", "));
    else if (shares["2"] !== undefined) parts.push(`object ${percent(shares["2"])} of the photo`);
    if (!Object.keys(shares).length) parts.push("mark a second region");
    parts.push(many(photo.n_steps, "gesture"));
    this.facts.textContent = parts.join(" · ");
    for (const text of warnings ?? []) notice(text);
  }

  // ---- drawing ----

  /** A gesture: on the active object, or on a new one where it is a box or there is none. */
  async prompt(prompt, adjusted = false) {
    if (!this.photo) return;
    const object = this.several ? 1 : this.objects.forGesture(prompt, adjusted);
    if (object === null) {
      this.stage.setLabels(this.stage.labels, this.photo.prompts, this.photo.objects.length, this.objects.active);
      return notice("begin an object with a box or a click on it; then take away", "error");
    }
    try {
      const { photo } = await this.work.run("Cut-out", () => this.api.post("/photo/prompts", { ...prompt, object }));
      this.objects.active = object;
      await this.#show(photo);
      this.remember(adjusted ? "move a box" : `${prompt.kind} on a photo`);
    } catch (error) {
      this.stage.setLabels(this.stage.labels, this.photo.prompts, this.photo.objects.length, this.objects.active);
      if (error.status !== "cancelled") notice(error.message, "error");
    }
  }

  /** Something about the objects was changed on the server. */
  async change(what, ask) {
    await attempt(async () => {
      await this.#show(await ask());
      this.remember(what);
    });
  }

  async restart() {
    if (!this.photo?.n_steps) return;
    this.objects.active = null;
    await this.change("start the photo over", () => this.api.delete("/photo/objects"));
  }

  /** What a first click here would take; nothing where an object is being worked on. */
  async #hover([x, y]) {
    if (this.several || this.objects.active !== null || this.work.busy) return null;
    return this.api.askArray("/photo/hover", { x, y }, Uint8Array).catch(() => null);
  }

  repaint() {
    this.stage.request();
  }

  keydown(event) {
    if (event.ctrlKey || event.metaKey || event.target.matches?.("input, textarea, select")) return;
    if (event.key.toLowerCase() === "n") this.objects.begin();
  }
}
