// The photo on the page: zoom and pan, the box and strokes being drawn, the contour, mask or cut-out over it.

import { clusterColour, inkColour, packed } from "./colours.js";
import { listen } from "./photo_gestures.js";
import { h } from "./ui.js";

const REGION_ALPHA = 120;
const OBJECT_ALPHA = 80;
// Of an answer so many pixels are asked for and painted at once, and as many as the screen can show after a rest.
const QUICK_PIXELS = 1_500_000;
const REFINE_MS = 400;

export class PhotoStage {
  /** on: {prompt(prompt, adjusted), label(), labels(step), hover(place), say(text)} */
  constructor(on) {
    this.on = on;
    this.tool = "click";
    this.shown = "contour";
    this.brush = 8;
    this.zoom = 1;
    this.centre = null;
    this.canvas = h("canvas", { class: "photo-canvas", tabindex: "0", role: "img", "aria-label": "The photo. Drag a box around an object, or click on it; a right click takes away. By keys: arrows move a cross, Enter clicks there, X takes away, B begins and ends a box; plus and minus zoom, Shift and arrows move the view." });
    this.empty = h("p", { class: "photo-empty" }, "Choose an example or drop a photo.");
    const zoom = (text, action, name, onclick) => h("button", { class: "small", "data-action": action, "aria-label": name, title: name, onclick: () => this.photo && onclick() }, text);
    const buttons = [zoom("+", "zoom-in", "Zoom in", () => this.zoomAt(1.5, this.centre)), zoom("−", "zoom-out", "Zoom out", () => this.zoomAt(1 / 1.5, this.centre)), zoom("Whole", "zoom-fit", "Show the whole photo", () => this.#showAll())];
    this.element = h("div", { class: "photo-stage" }, this.canvas, this.empty, h("div", { class: "zoom button-row tight" }, buttons));
    new ResizeObserver(() => this.request()).observe(this.element);
    listen(this);
  }

  async setPhoto(bitmap, photo) {
    this.bitmap = bitmap;
    this.photo = photo;
    this.labels = null;
    this.overlay = null;
    Object.assign(this, { cross: null, boxFrom: null, pending: null, hover: null });
    this.empty.hidden = true;
    this.#showAll();
  }

  #showAll() {
    this.zoom = 1;
    this.centre = [this.photo.width / 2, this.photo.height / 2];
    this.#measure();
    this.request();
  }

  /** No photo. */
  clear() {
    Object.assign(this, { bitmap: null, photo: null, labels: null, overlay: null, contour: null, prompts: [] });
    this.canvas.width = 1;
    this.empty.hidden = false;
  }

  /** Whether labels are regions, each of its own colour, or background and object. */
  setSeveral(several) {
    this.several = several;
    this.request();
  }

  /** Labels of pixels ({values, step}, or null), the gestures, how many objects there are, and the one that is worked on. */
  setLabels(labels, prompts, n_objects = 1, object = 1) {
    this.labels = labels;
    this.prompts = prompts;
    this.many = n_objects > 1;
    this.object = object;
    this.pending = null;
    this.#compose();
    this.request();
  }

  setTool(tool) {
    this.tool = tool;
    this.canvas.dataset.tool = tool;
  }

  setShown(shown) {
    this.shown = shown;
    this.#compose();
    this.request();
  }

  setBrush(size) {
    this.brush = size;
  }

  request() {
    if (this.asked) return;
    this.asked = true;
    requestAnimationFrame(() => {
      this.asked = false;
      this.#paint();
    });
  }

  /** How many pixels of the photo lie under one of the screen, each way. */
  get #finest() {
    return this.scale ? Math.max(1, Math.floor(1 / (this.scale * this.ratio))) : 1;
  }

  /** One pixel in how many, each way, is asked for and painted at once. */
  get step() {
    const { width, height } = this.photo;
    return Math.max(this.#finest, Math.ceil(Math.sqrt((width * height) / QUICK_PIXELS)));
  }

  /** Where labels are coarser than the screen, ask for finer ones once the hand rests. */
  #refine() {
    clearTimeout(this.refining);
    if (this.labels?.step > this.#finest) this.refining = setTimeout(() => this.#finer(this.#finest), REFINE_MS);
  }

  async #finer(step) {
    const { labels } = this;
    const finer = await this.on.labels(step);
    if (!finer || labels !== this.labels) return;
    this.labels = finer;
    this.#compose();
    this.request();
  }

  /** The layer over the photo: a colour for each label, two for the squares of a cut-out. */
  #compose() {
    this.overlay = null;
    this.contour = null;
    if (!this.labels?.values.some((label) => label)) return;
    const { values, step } = this.labels;
    const [columns, rows] = this.#size(step);
    const layer = new ImageData(columns, rows);
    const pixels = new Uint32Array(layer.data.buffer);
    const [even, odd] = this.several || (this.many && this.shown !== "cutout") ? this.#regionColours() : this.#objectColours();
    for (let y = 0, at = 0; y < rows; y++) {
      for (let x = 0; x < columns; x++, at++) pixels[at] = (((x * step) >> 4) + ((y * step) >> 4) & 1 ? odd : even)[values[at]];
    }
    this.overlay = new OffscreenCanvas(columns, rows);
    this.overlay.getContext("2d").putImageData(layer, 0, 0);
    this.canvas.dataset.detail = String(step);
    if (this.shown === "contour") this.contour = this.#edges(this.labels);
  }

  #size(step) {
    return [Math.ceil(this.photo.width / step), Math.ceil(this.photo.height / step)];
  }

  #regionColours() {
    const alpha = this.shown === "mask" ? 255 : this.many ? OBJECT_ALPHA : REGION_ALPHA;
    // Of several objects the background is label 1, and keeps its own look.
    const first = this.many ? 2 : 1;
    const table = Uint32Array.from({ length: 256 }, (_, label) => (label >= first ? (packed(clusterColour(label - first)) & 0xffffff) | (alpha << 24) : 0));
    return [table, table];
  }

  #objectColours() {
    const fill = (other, object) => new Uint32Array(256).fill(other).fill(object, 2);
    if (this.shown === "mask") return [fill(0xff000000, 0xffffffff), fill(0xff000000, 0xffffffff)];
    if (this.shown === "cutout") return [fill(0xfff4f2f0, 0), fill(0xffd4d0cc, 0)];
    return [fill(0x78000000, 0), fill(0x78000000, 0)];
  }

  /** The edges between pixels of different label, as a path in pixels of the photo. */
  #edges({ values, step }) {
    const [columns, rows] = this.#size(step);
    const path = new Path2D();
    const line = (x0, y0, x1, y1) => {
      path.moveTo(x0 * step, y0 * step);
      path.lineTo(x1 * step, y1 * step);
    };
    // Edges in a row become one line, sideways and downwards: a long path of short ones takes long to paint.
    const downFrom = new Int32Array(columns).fill(-1);
    for (let y = 0, at = 0; y < rows; y++) {
      let from = -1;
      for (let x = 0; x < columns; x++, at++) {
        const down = x + 1 < columns && values[at + 1] !== values[at];
        if (down && downFrom[x] < 0) downFrom[x] = y;
        else if (!down && downFrom[x] >= 0) {
          line(x + 1, downFrom[x], x + 1, y);
          downFrom[x] = -1;
        }
        const along = y + 1 < rows && values[at + columns] !== values[at];
        if (along && from < 0) from = x;
        else if (!along && from >= 0) {
          line(from, y + 1, x, y + 1);
          from = -1;
        }
      }
      if (from >= 0) line(from, y + 1, columns, y + 1);
    }
    downFrom.forEach((y, x) => y >= 0 && line(x + 1, y, x + 1, rows));
    return path;
  }

  /** The photo in few more pixels than the screen has: to draw all of a large one takes a tenth of a second. */
  #picture() {
    const halvings = Math.floor(Math.log2(1 / (this.scale * this.ratio)));
    if (halvings < 1) return this.bitmap;
    if (this.smaller?.of !== this.bitmap || this.smaller.halvings !== halvings) {
      const canvas = new OffscreenCanvas(Math.ceil(this.photo.width / 2 ** halvings), Math.ceil(this.photo.height / 2 ** halvings));
      const pen = canvas.getContext("2d");
      pen.imageSmoothingQuality = "high";
      pen.drawImage(this.bitmap, 0, 0, canvas.width, canvas.height);
      this.smaller = { of: this.bitmap, halvings, canvas };
    }
    return this.smaller.canvas;
  }

  /** Where the photo lies in the window, and how large; null where there is nothing to see. */
  #measure() {
    const box = this.element.getBoundingClientRect();
    if (box.width < 10 || !this.bitmap) return null;
    const { width, height } = this.photo;
    this.ratio = Math.min(2, window.devicePixelRatio || 1);
    this.scale = Math.min((box.width - 24) / width, (box.height - 24) / height) * this.zoom;
    this.left = box.width / 2 - this.centre[0] * this.scale;
    this.top = box.height / 2 - this.centre[1] * this.scale;
    return box;
  }

  #paint() {
    const box = this.#measure();
    if (!box) return;
    const { width, height } = this.photo;
    this.canvas.width = Math.round(box.width * this.ratio);
    this.canvas.height = Math.round(box.height * this.ratio);
    const pen = this.canvas.getContext("2d");
    pen.setTransform(this.ratio * this.scale, 0, 0, this.ratio * this.scale, this.ratio * this.left, this.ratio * this.top);
    pen.imageSmoothingEnabled = this.scale < 3;
    pen.drawImage(this.#picture(), 0, 0, width, height);
    if (this.overlay) pen.drawImage(this.overlay, 0, 0, this.overlay.width * this.labels.step, this.overlay.height * this.labels.step);
    if (this.hover) pen.drawImage(this.hover, 0, 0, width, height);
    const line = (path, colour, wide, dash = []) => {
      pen.setLineDash(dash.map((part) => part / this.scale));
      pen.strokeStyle = colour;
      pen.lineWidth = wide / this.scale;
      pen.stroke(path);
    };
    if (this.contour) {
      line(this.contour, "#000000aa", 3.4);
      line(this.contour, "#ffe14d", 1.8);
    }
    // The mask and the cut-out are shown as they are; what was drawn belongs to the contour.
    if (this.shown === "contour" || !this.overlay) for (const prompt of this.prompts ?? []) this.#paintPrompt(pen, prompt, line);
    if (this.pending) this.#paintPrompt(pen, this.pending, line);
    if (this.shown === "contour") this.#paintHandles(pen);
    if (this.cross) this.#paintCross(line);
    this.#refine();
  }

  /** Corners of the active box, to be moved. */
  #paintHandles(pen) {
    const box = this.activeBox();
    if (!box || this.pending || this.tool !== "click") return;
    const [[x0, y0], [x1, y1]] = box;
    const size = 9 / this.scale;
    pen.fillStyle = "#ffffff";
    pen.strokeStyle = "#10181f";
    pen.lineWidth = 1.5 / this.scale;
    pen.setLineDash([]);
    for (const [x, y] of [[x0, y0], [x1, y0], [x0, y1], [x1, y1]]) {
      pen.fillRect(x - size / 2, y - size / 2, size, size);
      pen.strokeRect(x - size / 2, y - size / 2, size, size);
    }
  }

  #paintCross(line) {
    const [x, y] = this.cross;
    const reach = 12 / this.scale;
    const path = new Path2D();
    path.moveTo(x - reach, y);
    path.lineTo(x + reach, y);
    path.moveTo(x, y - reach);
    path.lineTo(x, y + reach);
    line(path, "#000000", 4);
    line(path, "#ffffff", 2);
  }

  #paintPrompt(pen, prompt, line) {
    const path = new Path2D();
    const colour = this.several ? clusterColour(prompt.label - 1) : prompt.label === 1 ? "#ff5a4d" : "#3ddc97";
    if (prompt.kind === "box") {
      const [[x0, y0], [x1, y1]] = prompt.points;
      path.rect(Math.min(x0, x1), Math.min(y0, y1), Math.abs(x1 - x0), Math.abs(y1 - y0));
      line(path, "#000000aa", 3);
      line(path, "#ffffff", 1.5, [7, 5]);
      return;
    }
    if (prompt.kind === "stroke") {
      prompt.points.forEach(([x, y], i) => (i ? path.lineTo(x, y) : path.moveTo(x, y)));
      pen.lineCap = "round";
      pen.lineJoin = "round";
      line(path, `${colour}99`, 2 * prompt.radius * this.scale);
      return;
    }
    const [x, y] = prompt.points[0];
    path.arc(x, y, 6 / this.scale, 0, 7);
    pen.fillStyle = colour;
    pen.fill(path);
    line(path, inkColour() === "#10181f" ? "#ffffff" : "#10181f", 2);
  }

  // ---- places ----

  pixelOf(event) {
    const box = this.canvas.getBoundingClientRect();
    const x = (event.clientX - box.left - this.left) / this.scale;
    const y = (event.clientY - box.top - this.top) / this.scale;
    return [Math.round(10 * x) / 10, Math.round(10 * y) / 10];
  }

  contains([x, y]) {
    return x >= 0 && y >= 0 && x < this.photo.width && y < this.photo.height;
  }

  zoomAt(factor, place) {
    const before = this.zoom;
    this.zoom = Math.max(0.5, Math.min(40, this.zoom * factor));
    const change = before / this.zoom;
    this.centre = [place[0] + (this.centre[0] - place[0]) * change, place[1] + (this.centre[1] - place[1]) * change];
    this.scale *= 1 / change;
    this.request();
  }

  get strokes() {
    return this.tool === "stroke" || this.tool === "erase";
  }

  /** The box of the active object, whose corners can be moved. */
  activeBox() {
    return this.prompts?.find((prompt) => prompt.kind === "box" && prompt.object === this.object)?.points ?? null;
  }

  /** Move the cross of the keyboard by pixels of the screen. */
  moveCross(dx, dy) {
    const [x, y] = this.cross ?? this.centre;
    const clip = (value, most) => Math.round(Math.max(0, Math.min(most - 1, value)));
    this.cross = [clip(x + dx / this.scale, this.photo.width), clip(y + dy / this.scale, this.photo.height)];
    if (this.boxFrom) this.pending = { kind: "box", points: [this.boxFrom, this.cross], label: 2 };
    this.on.say(`${this.cross[0]}, ${this.cross[1]}`);
  }

  /** Ask what a click would take, where nothing is drawn yet for the object. */
  async askHover(place) {
    if (!this.contains(place) || this.pending) return;
    const asked = (this.hoverAsked = (this.hoverAsked ?? 0) + 1);
    const found = await this.on.hover(place);
    if (found && asked === this.hoverAsked) this.setHover(found);
  }

  /** {values, about: {width, height}}: a byte a pixel of a small copy; null for nothing. */
  setHover(found) {
    if (!found) this.hoverAsked = (this.hoverAsked ?? 0) + 1;
    if (!found && !this.hover) return;
    this.hover = null;
    if (found) {
      const { width, height } = found.about;
      const layer = new ImageData(width, height);
      const pixels = new Uint32Array(layer.data.buffer);
      found.values.forEach((inside, at) => inside && (pixels[at] = 0x88fff24d));
      this.hover = new OffscreenCanvas(width, height);
      this.hover.getContext("2d").putImageData(layer, 0, 0);
    }
    this.request();
  }
}
