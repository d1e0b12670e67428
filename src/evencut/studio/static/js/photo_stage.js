// The photo on the page: zoom and pan, the box and strokes being drawn, the contour, mask or cut-out over it.

import { clusterColour, inkColour, packed } from "./colours.js";
import { listen } from "./photo_gestures.js";
import { h } from "./ui.js";

const REGION_ALPHA = 120;
const OBJECT_ALPHA = 80;
// An answer is painted in at most so many pixels at once, and in as many as the screen can show after a rest.
const QUICK_PIXELS = 1_500_000;
const REFINE_MS = 400;

export class PhotoStage {
  /** on: {prompt(prompt, adjusted), label(), hover(place), say(text)} */
  constructor(on) {
    this.on = on;
    this.tool = "click";
    this.shown = "contour";
    this.brush = 8;
    this.zoom = 1;
    this.centre = null;
    this.canvas = h("canvas", { class: "photo-canvas", tabindex: "0", role: "img", "aria-label": "The photo. Drag a box around an object, or click on it; a right click takes away. By keys: arrows move a cross, Enter clicks there, X takes away, B begins and ends a box; plus and minus zoom, Shift and arrows move the view." });
    this.empty = h("p", { class: "photo-empty" }, "Choose an example or drop a photo.");
    this.element = h("div", { class: "photo-stage" }, this.canvas, this.empty);
    new ResizeObserver(() => this.request()).observe(this.element);
    listen(this);
  }

  async setPhoto(bitmap, photo) {
    this.bitmap = bitmap;
    this.photo = photo;
    this.labels = null;
    this.other = null;
    this.overlay = null;
    this.zoom = 1;
    this.centre = [photo.width / 2, photo.height / 2];
    Object.assign(this, { cross: null, boxFrom: null, pending: null, hover: null });
    this.empty.hidden = true;
    this.request();
  }

  /** No photo. */
  clear() {
    Object.assign(this, { bitmap: null, photo: null, labels: null, other: null, overlay: null, contour: null, prompts: [] });
    this.canvas.width = 1;
    this.empty.hidden = false;
  }

  /** Whether labels are regions, each of its own colour, or background and object. */
  setSeveral(several) {
    this.several = several;
    this.request();
  }

  /** Labels of the pixels, the gestures, how many objects there are, and the one that is worked on. */
  setLabels(labels, prompts, n_objects = 1, object = 1) {
    this.labels = labels;
    this.prompts = prompts;
    this.many = n_objects > 1;
    this.object = object;
    this.pending = null;
    this.other = null;
    this.#compose();
    this.request();
  }

  setOther(labels) {
    this.other = this.#edges(labels);
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

  /** The layer over the photo, at first in no more pixels than are quickly painted. */
  #compose() {
    this.overlay = null;
    this.contour = null;
    if (!this.labels || !this.labels.some((label) => label)) return;
    const { width, height } = this.photo;
    this.#layer(Math.max(this.#finest(), Math.ceil(Math.sqrt((width * height) / QUICK_PIXELS))));
  }

  /** How many pixels of the photo lie under one of the screen, each way. */
  #finest() {
    return this.scale ? Math.max(1, Math.floor(1 / (this.scale * this.ratio))) : 1;
  }

  /** Where the layer is coarser than the screen, draw it anew once the hand rests. */
  #refine() {
    clearTimeout(this.refining);
    if (!this.overlay || this.overlayStep <= this.#finest()) return;
    this.refining = setTimeout(() => {
      if (this.overlay) this.#layer(this.#finest());
      this.request();
    }, REFINE_MS);
  }

  /** A colour for each label, two for the squares of a cut-out, at one pixel in `step` of the photo each way. */
  #layer(step) {
    const { width, height } = this.photo;
    const [columns, rows] = [Math.ceil(width / step), Math.ceil(height / step)];
    const layer = new ImageData(columns, rows);
    const pixels = new Uint32Array(layer.data.buffer);
    const [even, odd] = this.several || (this.many && this.shown !== "cutout") ? this.#regionColours() : this.#objectColours();
    for (let y = 0, at = 0; y < height; y += step) {
      for (let x = 0, from = y * width; x < width; x += step, at++) pixels[at] = (((x >> 4) + (y >> 4)) & 1 ? odd : even)[this.labels[from + x]];
    }
    this.overlay = new OffscreenCanvas(columns, rows);
    this.overlay.getContext("2d").putImageData(layer, 0, 0);
    this.overlayStep = step;
    this.canvas.dataset.detail = String(step);
    if (this.shown === "contour") this.contour = this.#edges(this.labels, step);
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

  /** The edges between pixels of different label, one in `step` looked at, as a path in pixels of the photo. */
  #edges(labels, step = 1) {
    const { width, height } = this.photo;
    const path = new Path2D();
    const line = (x0, y0, x1, y1) => {
      path.moveTo(x0, y0);
      path.lineTo(x1, y1);
    };
    // Edges in a row become one line, sideways and downwards: a long path of short ones takes long to paint.
    const downFrom = new Int32Array(width).fill(-1);
    for (let y = 0; y < height; y += step) {
      let from = -1;
      for (let x = 0, at = y * width; x < width; x += step, at += step) {
        const down = x + step < width && labels[at + step] !== labels[at];
        if (down && downFrom[x] < 0) downFrom[x] = y;
        else if (!down && downFrom[x] >= 0) {
          line(x + step, downFrom[x], x + step, y);
          downFrom[x] = -1;
        }
        const along = y + step < height && labels[at + step * width] !== labels[at];
        if (along && from < 0) from = x;
        else if (!along && from >= 0) {
          line(from, y + step, x, y + step);
          from = -1;
        }
      }
      if (from >= 0) line(from, y + step, width, y + step);
    }
    downFrom.forEach((y, x) => y >= 0 && line(x + step, y, x + step, height));
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

  #paint() {
    const box = this.element.getBoundingClientRect();
    if (box.width < 10 || !this.bitmap) return;
    this.ratio = Math.min(2, window.devicePixelRatio || 1);
    this.canvas.width = Math.round(box.width * this.ratio);
    this.canvas.height = Math.round(box.height * this.ratio);
    const { width, height } = this.photo;
    this.scale = Math.min((box.width - 24) / width, (box.height - 24) / height) * this.zoom;
    this.left = box.width / 2 - this.centre[0] * this.scale;
    this.top = box.height / 2 - this.centre[1] * this.scale;
    const pen = this.canvas.getContext("2d");
    pen.setTransform(this.ratio * this.scale, 0, 0, this.ratio * this.scale, this.ratio * this.left, this.ratio * this.top);
    pen.imageSmoothingEnabled = this.scale < 3;
    pen.drawImage(this.#picture(), 0, 0, width, height);
    if (this.overlay) pen.drawImage(this.overlay, 0, 0, this.overlay.width * this.overlayStep, this.overlay.height * this.overlayStep);
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
    if (this.other) line(this.other, "#56e0ff", 1.6);
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
