// The photo on the page: zoom and pan, the box and strokes being drawn, the contour, mask or cut-out over it.

import { clusterColour, inkColour, packed } from "./colours.js";
import { h } from "./ui.js";

const CLICK_PX = 5;
const REGION_ALPHA = 120;

export class PhotoStage {
  /** on: {prompt(prompt), label()} */
  constructor(on) {
    this.on = on;
    this.tool = "click";
    this.shown = "contour";
    this.brush = 8;
    this.zoom = 1;
    this.centre = null;
    this.canvas = h("canvas", { class: "photo-canvas", tabindex: "0", role: "img", "aria-label": "The photo. Drag a box around the object, or click on it; a right click takes away. Plus and minus zoom, arrow keys move." });
    this.empty = h("p", { class: "photo-empty" }, "Choose an example or drop a photo.");
    this.element = h("div", { class: "photo-stage" }, this.canvas, this.empty);
    new ResizeObserver(() => this.request()).observe(this.element);
    this.#listen();
  }

  async setPhoto(bitmap, photo) {
    this.bitmap = bitmap;
    this.photo = photo;
    this.labels = null;
    this.other = null;
    this.overlay = null;
    this.zoom = 1;
    this.centre = [photo.width / 2, photo.height / 2];
    this.empty.hidden = true;
    this.request();
  }

  /** Whether labels are regions, each of its own colour, or background and object. */
  setSeveral(several) {
    this.several = several;
    this.request();
  }

  setLabels(labels, prompts) {
    this.labels = labels;
    this.prompts = prompts;
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

  /** The layer over the photo, at the photo's own size: a colour for each label, two for the squares of a cut-out. */
  #compose() {
    this.overlay = null;
    this.contour = null;
    if (!this.labels || !this.labels.some((label) => label)) return;
    const { width, height } = this.photo;
    const layer = new ImageData(width, height);
    const pixels = new Uint32Array(layer.data.buffer);
    const [even, odd] = this.several ? this.#regionColours() : this.#objectColours();
    for (let y = 0, at = 0; y < height; y++) {
      for (let x = 0; x < width; x++, at++) pixels[at] = (((x >> 4) + (y >> 4)) & 1 ? odd : even)[this.labels[at]];
    }
    this.overlay = new OffscreenCanvas(width, height);
    this.overlay.getContext("2d").putImageData(layer, 0, 0);
    if (this.shown === "contour") this.contour = this.#edges(this.labels);
  }

  #regionColours() {
    const alpha = this.shown === "mask" ? 255 : REGION_ALPHA;
    const table = Uint32Array.from({ length: 256 }, (_, label) => (label ? (packed(clusterColour(label - 1)) & 0xffffff) | (alpha << 24) : 0));
    return [table, table];
  }

  #objectColours() {
    const fill = (other, object) => new Uint32Array(256).fill(other).fill(object, 2, 3);
    if (this.shown === "mask") return [fill(0xff000000, 0xffffffff), fill(0xff000000, 0xffffffff)];
    if (this.shown === "cutout") return [fill(0xfff4f2f0, 0), fill(0xffd4d0cc, 0)];
    return [fill(0x78000000, 0), fill(0x78000000, 0)];
  }

  /** The edges between pixels of different label, as a path in pixels of the photo. */
  #edges(labels) {
    const { width, height } = this.photo;
    const path = new Path2D();
    for (let y = 0, at = 0; y < height; y++) {
      for (let x = 0; x < width; x++, at++) {
        if (x + 1 < width && labels[at + 1] !== labels[at]) {
          path.moveTo(x + 1, y);
          path.lineTo(x + 1, y + 1);
        }
        if (y + 1 < height && labels[at + width] !== labels[at]) {
          path.moveTo(x, y + 1);
          path.lineTo(x + 1, y + 1);
        }
      }
    }
    return path;
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
    pen.drawImage(this.bitmap, 0, 0, width, height);
    if (this.overlay) pen.drawImage(this.overlay, 0, 0);
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

  // ---- gestures ----

  #pixel(event) {
    const box = this.canvas.getBoundingClientRect();
    const x = (event.clientX - box.left - this.left) / this.scale;
    const y = (event.clientY - box.top - this.top) / this.scale;
    return [Math.round(10 * x) / 10, Math.round(10 * y) / 10];
  }

  #inside([x, y]) {
    return x >= 0 && y >= 0 && x < this.photo.width && y < this.photo.height;
  }

  #listen() {
    const { canvas } = this;
    let drag = null;
    canvas.addEventListener("contextmenu", (event) => event.preventDefault());
    canvas.addEventListener("pointerdown", (event) => {
      if (!this.bitmap) return;
      canvas.setPointerCapture(event.pointerId);
      const moving = this.tool === "pan" || event.button === 1;
      drag = { at: [event.clientX, event.clientY], from: this.#pixel(event), points: [this.#pixel(event)], right: event.button === 2, moving, centre: this.centre };
    });
    canvas.addEventListener("pointermove", (event) => {
      if (!drag) return;
      const far = Math.hypot(event.clientX - drag.at[0], event.clientY - drag.at[1]);
      if (drag.moving) {
        this.centre = [drag.centre[0] - (event.clientX - drag.at[0]) / this.scale, drag.centre[1] - (event.clientY - drag.at[1]) / this.scale];
      } else if (this.tool === "stroke") {
        drag.points.push(this.#pixel(event));
        this.pending = this.#stroke(drag);
      } else if (far > CLICK_PX && !drag.right) {
        drag.isBox = true;
        this.pending = { kind: "box", points: [drag.from, this.#pixel(event)], label: 2 };
      }
      this.request();
    });
    canvas.addEventListener("pointerup", (event) => {
      if (!drag) return;
      const done = drag;
      drag = null;
      if (!done.moving) this.#finish(done, event);
    });
    canvas.addEventListener("pointercancel", () => {
      drag = null;
      this.pending = null;
      this.request();
    });
    canvas.addEventListener(
      "wheel",
      (event) => {
        if (!this.bitmap) return;
        event.preventDefault();
        const place = this.#pixel(event);
        const before = this.zoom;
        this.zoom = Math.max(0.5, Math.min(40, this.zoom * Math.exp(-event.deltaY * 0.0016)));
        const change = before / this.zoom;
        this.centre = [place[0] + (this.centre[0] - place[0]) * change, place[1] + (this.centre[1] - place[1]) * change];
        this.request();
      },
      { passive: false },
    );
    canvas.addEventListener("keydown", (event) => {
      const step = 40 / (this.scale || 1);
      const moves = { ArrowLeft: [-step, 0], ArrowRight: [step, 0], ArrowUp: [0, -step], ArrowDown: [0, step] };
      if (moves[event.key] && this.centre) this.centre = [this.centre[0] + moves[event.key][0], this.centre[1] + moves[event.key][1]];
      else if (event.key === "+" || event.key === "=") this.zoom = Math.min(40, this.zoom * 1.3);
      else if (event.key === "-") this.zoom = Math.max(0.5, this.zoom / 1.3);
      else return;
      event.preventDefault();
      this.request();
    });
  }

  #stroke(drag) {
    const label = drag.right ? 1 : this.on.label();
    const step = Math.max(1, Math.ceil(drag.points.length / 1500));
    return { kind: "stroke", points: drag.points.filter((_, i) => i % step === 0), label, radius: this.brush };
  }

  #finish(drag, event) {
    let prompt = null;
    if (this.tool === "stroke") prompt = this.#stroke(drag);
    else if (drag.isBox) {
      const end = this.#pixel(event);
      const clip = ([x, y]) => [Math.max(0, Math.min(this.photo.width, x)), Math.max(0, Math.min(this.photo.height, y))];
      const corners = [clip(drag.from), clip(end)];
      const large = Math.abs(corners[0][0] - corners[1][0]) >= 4 && Math.abs(corners[0][1] - corners[1][1]) >= 4;
      prompt = large ? { kind: "box", points: corners, label: 2 } : null;
    } else if (this.#inside(drag.from)) {
      prompt = { kind: "click", points: [drag.from], label: drag.right ? 1 : this.on.label() };
    }
    this.pending = prompt;
    this.request();
    if (prompt) this.on.prompt(prompt);
  }
}
