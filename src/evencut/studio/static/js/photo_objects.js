// The objects of a photo: each named and coloured, one of them worked on; a box or a first click begins a new one.

import { swatch } from "./colours.js";
import { h, percent, replace } from "./ui.js";

export class ObjectList {
  constructor(photos) {
    this.photos = photos;
    this.active = null;
    this.element = h("section", { class: "card objects" });
    this.show(null);
  }

  /** The object a gesture belongs to; null where it cannot begin one. */
  forGesture(prompt, adjusted) {
    const numbers = this.photos.photo.objects.map(({ object }) => object);
    const next = Math.max(0, ...numbers) + 1;
    if (adjusted) return this.active;
    if (prompt.kind === "box") return next;
    if (this.active !== null && numbers.includes(this.active)) return this.active;
    return prompt.label === 2 ? next : null;
  }

  /** The next click begins a new object. */
  begin() {
    this.#work(null);
  }

  #work(object) {
    this.active = object;
    const { photos } = this;
    this.show(photos.photo);
    photos.stage.setLabels(photos.stage.labels, photos.photo?.prompts ?? [], photos.photo?.objects.length ?? 0, object);
  }

  show(photo) {
    const objects = photo?.objects ?? [];
    if (!objects.some(({ object }) => object === this.active)) this.active = null;
    const rows = objects.map((one, place) => this.#row(one, place));
    replace(
      this.element,
      h("div", { class: "card-head" }, h("h2", {}, "Objects"), h("button", { class: "small", "data-action": "new-object", "aria-pressed": String(this.active === null), title: "The next click begins a new object (N)", onclick: () => this.begin() }, "New object")),
      rows.length ? h("ul", { class: "object-list" }, rows) : h("p", { class: "hint" }, "Each box, or first click, begins an object with a name and a colour of its own."),
    );
  }

  #row({ object, name, share }, place) {
    const { photos } = this;
    const choose = h("button", { class: "plain", "data-object": String(object), "aria-pressed": String(object === this.active), "aria-label": `Work on ${name}`, onclick: () => this.#work(object) }, swatch(place));
    const written = h("input", {
      type: "text",
      value: name,
      maxlength: "60",
      "aria-label": `Name of ${name}`,
      onchange: () => written.value.trim() && photos.change(`name ${written.value}`, () => photos.api.put(`/photo/objects/${object}`, { name: written.value.trim() })),
    });
    const remove = h("button", { class: "plain", "aria-label": `Remove ${name}`, onclick: () => photos.change(`remove ${name}`, () => photos.api.delete(`/photo/objects/${object}`)) }, "×");
    return h("li", { class: object === this.active ? "active" : null }, choose, written, h("span", { class: "quiet" }, percent(share ?? 0)), remove);
  }
}
