// One scatter plot: points on a canvas, axes, cluster numbers, lasso and hover on another over it.

import { clusterColour, groundColour, inkColour, packed } from "./colours.js";
import { Raster } from "./raster.js";
import { h, short } from "./ui.js";

const PADDING = 30;
const FRAME_MS = 17;
const HOVER_PX = 14;

function ticks(low, high, most) {
  const raw = (high - low) / most;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((m) => m * power).find((m) => m >= raw);
  const found = [];
  for (let value = Math.ceil(low / step) * step; value <= high; value += step) found.push(Math.abs(value) < step / 1e6 ? 0 : value);
  return found;
}

export class Plot {
  /** view: shared. on: {hover(row, event), lasso(mask, count), leave()}. */
  constructor(view, name, on) {
    this.view = view;
    this.on = on;
    this.tool = "pan";
    this.points = null;
    this.selected = null;
    this.cost = 2e-5;
    this.canvas = h("canvas", { class: "plot-points" });
    this.over = h("canvas", {
      class: "plot-over",
      tabindex: "0",
      role: "img",
      "aria-label": `${name}: scatter plot. Arrow keys pan, plus and minus zoom, 0 shows everything.`,
    });
    this.element = h("div", { class: "plot" }, this.canvas, this.over);
    this.raster = new Raster(this.canvas);
    view.listeners.add((moving) => this.request(moving));
    new ResizeObserver(() => this.request(false)).observe(this.element);
    this.#listen();
  }

  /** frame: {middle, unit, names} of the axes. */
  setPoints(xy, frame) {
    this.points = xy;
    this.frame = frame;
    this.colours = new Uint32Array(xy.length / 2).fill(packed(clusterColour(-1)));
    this.selected = null;
    this.marks = [];
    this.request(false);
  }

  setColours(colours) {
    this.colours = colours;
    this.request(false);
  }

  /** Numbers to write over clusters: {text, row, label}. */
  setMarks(marks) {
    this.marks = marks;
    this.request(false);
  }

  setSelected(mask) {
    this.selected = mask;
    this.request(false);
  }

  setTool(tool) {
    this.tool = tool;
    this.over.dataset.tool = tool;
  }

  request(moving) {
    this.moving = moving;
    if (this.frameAsked) return;
    this.frameAsked = true;
    requestAnimationFrame(() => {
      this.frameAsked = false;
      this.#paint();
      if (this.moving) {
        clearTimeout(this.rest);
        this.rest = setTimeout(() => this.request(false), 140);
      }
    });
  }

  get radius() {
    const n = this.points.length / 2;
    const base = n > 200000 ? 0.9 : n > 50000 ? 1.1 : n > 10000 ? 1.6 : n > 2500 ? 2.4 : 3.4;
    return base * this.ratio * Math.min(2.2, Math.max(1, this.view.zoom ** 0.3));
  }

  #paint() {
    const box = this.element.getBoundingClientRect();
    if (box.width < 10 || box.height < 10) return;
    this.ratio = Math.min(2, window.devicePixelRatio || 1);
    const width = Math.round(box.width * this.ratio);
    const height = Math.round(box.height * this.ratio);
    this.raster.resize(width, height);
    this.raster.clear(packed(groundColour()));
    if (this.points) {
      this.map = this.view.map(width, height, PADDING * this.ratio);
      const n = this.points.length / 2;
      // While the view moves, as many points as a frame has time for; all of them when it rests.
      const budget = FRAME_MS / Math.max(1, this.view.plots);
      const step = this.moving ? Math.max(1, Math.ceil((n * this.cost) / budget)) : 1;
      const start = performance.now();
      this.raster.draw({ xy: this.points, colours: this.colours, map: this.map, radius: this.radius, step });
      if (n > 5000) this.cost = 0.7 * this.cost + 0.3 * ((performance.now() - start) / (n / step));
      if (this.selected) this.#paintSelected();
    }
    this.raster.show();
    this.#paintOver(width, height);
    this.painted = (this.painted ?? 0) + 1;
  }

  #paintSelected() {
    const ink = packed(inkColour());
    const colours = new Uint32Array(this.colours.length).fill(ink);
    const shared = { xy: this.points, map: this.map, only: this.selected };
    this.raster.draw({ ...shared, colours, radius: this.radius + 1.6 * this.ratio });
    this.raster.draw({ ...shared, colours: this.colours, radius: this.radius });
  }

  #paintOver(width, height) {
    this.over.width = width;
    this.over.height = height;
    const pen = this.over.getContext("2d");
    pen.scale(this.ratio, this.ratio);
    if (!this.points) return;
    this.#paintAxes(pen, width / this.ratio, height / this.ratio);
    this.#paintMarks(pen);
    if (this.path) this.#paintLasso(pen);
    if (this.hovered !== null && this.hovered !== undefined) {
      const [x, y] = this.#pixel(this.hovered);
      pen.strokeStyle = inkColour();
      pen.lineWidth = 1.6;
      pen.beginPath();
      pen.arc(x, y, this.radius / this.ratio + 3, 0, 7);
      pen.stroke();
    }
  }

  #paintAxes(pen, width, height) {
    const { middle, unit, names } = this.frame;
    const { sx, sy, tx, ty } = this.map;
    const colour = getComputedStyle(this.element).color;
    pen.font = "11px system-ui, sans-serif";
    pen.fillStyle = colour;
    pen.strokeStyle = colour;
    const named = pen.measureText(names[0].slice(0, 30)).width + 34;
    pen.globalAlpha = 0.75;
    const xAt = (value) => (((value - middle[0]) / unit[0]) * sx + tx) / this.ratio;
    const yAt = (value) => (((value - middle[1]) / unit[1]) * sy + ty) / this.ratio;
    const xOf = (pixel) => ((pixel * this.ratio - tx) / sx) * unit[0] + middle[0];
    const yOf = (pixel) => ((pixel * this.ratio - ty) / sy) * unit[1] + middle[1];
    pen.lineWidth = 1;
    pen.textAlign = "center";
    pen.textBaseline = "bottom";
    for (const value of ticks(xOf(0), xOf(width), Math.max(2, width / 110))) {
      const x = xAt(value);
      if (x < 36 || x > width - named) continue;
      pen.fillText(short(value, 4), x, height - 4);
    }
    pen.textAlign = "left";
    pen.textBaseline = "middle";
    for (const value of ticks(yOf(height), yOf(0), Math.max(2, height / 90))) {
      const y = yAt(value);
      if (y < 24 || y > height - 24) continue;
      pen.fillText(short(value, 4), 5, y);
    }
    pen.globalAlpha = 1;
    pen.font = "600 11px system-ui, sans-serif";
    pen.textAlign = "right";
    pen.textBaseline = "bottom";
    pen.fillText(names[0].slice(0, 30), width - 6, height - 4);
    pen.textAlign = "left";
    pen.textBaseline = "top";
    pen.fillText(names[1].slice(0, 30), 5, 5);
  }

  #paintMarks(pen) {
    pen.font = "700 12px system-ui, sans-serif";
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    for (const mark of this.marks ?? []) {
      const [x, y] = this.#pixel(mark.row);
      const wide = pen.measureText(mark.text).width + 10;
      pen.fillStyle = groundColour();
      pen.strokeStyle = clusterColour(mark.label);
      pen.lineWidth = 2;
      pen.beginPath();
      pen.roundRect(x - wide / 2, y - 9, wide, 18, 9);
      pen.fill();
      pen.stroke();
      pen.fillStyle = inkColour();
      pen.fillText(mark.text, x, y + 0.5);
    }
  }

  #paintLasso(pen) {
    pen.strokeStyle = inkColour();
    pen.lineWidth = 1.5;
    pen.setLineDash([5, 4]);
    pen.beginPath();
    this.path.forEach(([x, y], i) => (i ? pen.lineTo(x, y) : pen.moveTo(x, y)));
    pen.closePath();
    pen.stroke();
    pen.globalAlpha = 0.08;
    pen.fillStyle = inkColour();
    pen.fill();
    pen.globalAlpha = 1;
    pen.setLineDash([]);
  }

  #pixel(row) {
    const { sx, sy, tx, ty } = this.map;
    return [(this.points[2 * row] * sx + tx) / this.ratio, (this.points[2 * row + 1] * sy + ty) / this.ratio];
  }

  #place(x, y) {
    const { sx, sy, tx, ty } = this.map;
    return [(x * this.ratio - tx) / sx, (y * this.ratio - ty) / sy];
  }

  /** The nearest point within reach of the pointer. */
  nearest(x, y) {
    const { sx, sy, tx, ty } = this.map;
    let best = null;
    let least = (HOVER_PX * this.ratio) ** 2;
    const px = x * this.ratio;
    const py = y * this.ratio;
    for (let i = 0; i < this.points.length; i += 2) {
      const dx = this.points[i] * sx + tx - px;
      const dy = this.points[i + 1] * sy + ty - py;
      const far = dx * dx + dy * dy;
      if (far < least) {
        least = far;
        best = i >> 1;
      }
    }
    return best;
  }

  /** The points inside a path: the path is filled once, and every point looks up its pixel. */
  inside(path) {
    const paper = new OffscreenCanvas(this.over.width, this.over.height);
    const pen = paper.getContext("2d", { willReadFrequently: true });
    pen.scale(this.ratio, this.ratio);
    pen.beginPath();
    path.forEach(([x, y], i) => (i ? pen.lineTo(x, y) : pen.moveTo(x, y)));
    pen.closePath();
    pen.fill();
    const alpha = pen.getImageData(0, 0, paper.width, paper.height).data;
    const mask = new Uint8Array(this.points.length / 2);
    const { sx, sy, tx, ty } = this.map;
    let found = 0;
    for (let i = 0; i < mask.length; i++) {
      const x = this.points[2 * i] * sx + tx;
      const y = this.points[2 * i + 1] * sy + ty;
      if (x >= 0 && y >= 0 && x < paper.width && y < paper.height && alpha[4 * ((y | 0) * paper.width + (x | 0)) + 3] > 127) {
        mask[i] = 1;
        found += 1;
      }
    }
    return { mask, found };
  }

  #listen() {
    const { over } = this;
    const fingers = new Map();
    const at = (event) => {
      const box = over.getBoundingClientRect();
      return [event.clientX - box.left, event.clientY - box.top];
    };
    over.addEventListener("pointerdown", (event) => {
      if (!this.points || event.button > 0) return;
      over.setPointerCapture(event.pointerId);
      fingers.set(event.pointerId, at(event));
      if (this.tool === "lasso" && fingers.size === 1) this.path = [at(event)];
    });
    over.addEventListener("pointermove", (event) => {
      if (!this.points || !this.map) return;
      const now = at(event);
      const before = fingers.get(event.pointerId);
      if (!before) return this.#hover(now, event);
      if (fingers.size === 2) this.#pinch(fingers, event.pointerId, now);
      else if (this.tool === "lasso" && this.path) {
        this.path.push(now);
        this.request(true);
      } else {
        const [x0, y0] = this.#place(...before);
        const [x1, y1] = this.#place(...now);
        this.view.pan(x0 - x1, y0 - y1);
      }
      fingers.set(event.pointerId, now);
    });
    const up = (event) => {
      if (!fingers.delete(event.pointerId)) return;
      if (this.path) {
        const path = this.path;
        this.path = null;
        if (path.length > 4) {
          const { mask, found } = this.inside(path);
          this.on.lasso?.(found ? mask : null, found);
        } else this.on.lasso?.(null, 0);
      }
      this.request(false);
    };
    over.addEventListener("pointerup", up);
    over.addEventListener("pointercancel", up);
    over.addEventListener("pointerleave", () => this.#unhover());
    over.addEventListener(
      "wheel",
      (event) => {
        if (!this.map) return;
        event.preventDefault();
        this.view.zoomAt(Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.0016)), ...this.#place(...at(event)));
      },
      { passive: false },
    );
    over.addEventListener("dblclick", () => this.view.reset());
    over.addEventListener("keydown", (event) => {
      const step = 0.15 / this.view.zoom;
      const moves = { ArrowLeft: [-step, 0], ArrowRight: [step, 0], ArrowUp: [0, step], ArrowDown: [0, -step] };
      if (moves[event.key]) this.view.pan(...moves[event.key]);
      else if (event.key === "+" || event.key === "=") this.view.zoomAt(1.3, this.view.x, this.view.y);
      else if (event.key === "-") this.view.zoomAt(1 / 1.3, this.view.x, this.view.y);
      else if (event.key === "0") this.view.reset();
      else if (event.key === "Escape") this.on.lasso?.(null, 0);
      else return;
      event.preventDefault();
    });
  }

  #pinch(fingers, id, now) {
    const other = [...fingers].find(([key]) => key !== id)[1];
    const before = fingers.get(id);
    const far = (a, b) => Math.hypot(a[0] - b[0], a[1] - b[1]);
    const middle = this.#place((now[0] + other[0]) / 2, (now[1] + other[1]) / 2);
    this.view.zoomAt(far(now, other) / Math.max(1, far(before, other)), ...middle);
  }

  #hover(now, event) {
    cancelAnimationFrame(this.hoverAsked);
    this.hoverAsked = requestAnimationFrame(() => {
      const row = this.nearest(...now);
      if (row === this.hovered) return;
      this.hovered = row;
      this.#paintOver(this.over.width, this.over.height);
      if (row === null) this.on.leave?.();
      else this.on.hover?.(row, event);
    });
  }

  #unhover() {
    cancelAnimationFrame(this.hoverAsked);
    if (this.hovered === null) return;
    this.hovered = null;
    this.on.leave?.();
    if (this.map) this.#paintOver(this.over.width, this.over.height);
  }
}
