// One scatter plot: points on a canvas, axes, cluster numbers, lasso and hover on another over it.

import { clusterColour, groundColour, inkColour, packed } from "./colours.js";
import { listen } from "./plot_gestures.js";
import { outline, paintOver } from "./plot_over.js";
import { Raster } from "./raster.js";
import { h } from "./ui.js";
import { openWebGL } from "./webgl.js";

const PADDING = 30;
const FRAME_MS = 17;
// The view is moved many times a second; colours while a slider is dragged come as fast as they can be made.
const REST_MS = 140;
const DRAG_REST_MS = 700;
const HOVER_PX = 14;

export class Plot {
  /** view: shared. on: {hover(row, event), leave(), pick(row), lasso(mask)}. */
  constructor(view, name, on) {
    this.view = view;
    this.on = on;
    this.tool = "pan";
    this.points = null;
    this.selected = null;
    this.hovered = null;
    this.over = h("canvas", {
      class: "plot-over",
      tabindex: "0",
      role: "img",
      "aria-label": `${name}: scatter plot. Arrow keys move the view, plus and minus zoom, 0 shows everything. Enter takes a point in hand, arrow keys then go from point to point, Escape lets go.`,
    });
    this.element = h("div", { class: "plot" }, this.over);
    this.#paintWith((canvas) => new Raster(canvas));
    view.listeners.add((moving) => this.request(moving));
    new ResizeObserver(() => this.request(false)).observe(this.element);
    listen(this);
  }

  /** frame: {middle, unit, names} of the axes. */
  setPoints(xy, frame) {
    if (this.selected?.length !== xy.length / 2) this.selected = null;
    this.points = xy;
    this.frame = frame;
    this.over.dataset.axes = frame.names.join(", ");
    this.colours = { index: new Int8Array(xy.length / 2).fill(-1), table: [packed(clusterColour(-1))] };
    this.marks = [];
    this.hardware ||= this.#paintWith((canvas) => openWebGL(canvas, xy.length / 2, () => this.#fallBack()));
    this.request(false);
  }

  setColours(colours, dragging = false) {
    this.colours = colours;
    this.request(dragging, DRAG_REST_MS);
  }

  /** Whether points are shaded by how many lie together, and whether lines of equal density are drawn. */
  setShading({ dense, lines }) {
    this.dense = dense;
    this.lines = lines;
    this.request(false);
  }

  /** Another clustering's colours to the right of a line: {colours, at}, or null. */
  setSwipe(swipe) {
    this.swipe = swipe;
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

  /** Paint with the next frame; one that moves is painted in full when it has rested for so long. */
  request(moving, rest = REST_MS) {
    this.moving = moving;
    clearTimeout(this.rest);
    if (moving) this.rest = setTimeout(() => this.request(false), rest);
    if (this.frameAsked) return;
    this.frameAsked = true;
    requestAnimationFrame(() => {
      this.frameAsked = false;
      this.#paint();
    });
  }

  get radius() {
    const n = this.points.length / 2;
    const base = n > 200000 ? 0.9 : n > 50000 ? 1.1 : n > 10000 ? 1.6 : n > 2500 ? 2.4 : 3.4;
    return base * this.ratio * Math.min(2.2, Math.max(1, this.view.zoom ** 0.3));
  }

  /** Paint on a new canvas by what `open` makes of it; where that is nothing, all stays as it is. Returns whether it is not. */
  #paintWith(open) {
    const canvas = h("canvas", { class: "plot-points" });
    const painter = open(canvas);
    if (!painter) return false;
    this.canvas?.remove();
    this.element.prepend(canvas);
    Object.assign(this, { canvas, painter });
    return true;
  }

  /** The graphics hardware is gone: everything to paint is here, too. */
  #fallBack() {
    this.#paintWith((canvas) => new Raster(canvas));
    this.request(false);
  }

  #paint() {
    const box = this.element.getBoundingClientRect();
    if (box.width < 10 || box.height < 10) return;
    this.ratio = Math.min(2, window.devicePixelRatio || 1);
    const width = Math.round(box.width * this.ratio);
    const height = Math.round(box.height * this.ratio);
    this.map = this.points && this.view.map(width, height, PADDING * this.ratio);
    this.painter.paint(this.#scene(width, height));
    paintOver(this, width, height);
    this.painted = (this.painted ?? 0) + 1;
  }

  /** What is painted, for any painter. */
  #scene(width, height) {
    if (!this.points) return { width, height, ground: groundColour(), xy: [], parts: [] };
    const { points: xy, view, map, radius, dense, colours, swipe, moving } = this;
    const cut = swipe && Math.round(swipe.at * width);
    const parts = swipe ? [{ colours, clip: [0, cut] }, { colours: swipe.colours, clip: [cut, width] }] : [{ colours }];
    // While the view moves, as many points as a frame has time for; all of them when it rests.
    const budget = moving ? FRAME_MS / Math.max(1, view.plots) : null;
    const selected = this.selected && { mask: this.selected, radius: radius + 1.6 * this.ratio };
    return { width, height, ground: groundColour(), ink: inkColour(), xy, turns: view.turns, parts, map, radius, dense, budget, selected };
  }

  pixel(row) {
    const { sx, sy, tx, ty } = this.map;
    return [(this.points[2 * row] * sx + tx) / this.ratio, (this.points[2 * row + 1] * sy + ty) / this.ratio];
  }

  place(x, y) {
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

  /** A byte a point, 1 inside a path: the path is filled once, and every point looks up its pixel. */
  inside(path) {
    const paper = new OffscreenCanvas(this.over.width, this.over.height);
    const pen = paper.getContext("2d", { willReadFrequently: true });
    pen.scale(this.ratio, this.ratio);
    outline(pen, path);
    pen.fill();
    const alpha = pen.getImageData(0, 0, paper.width, paper.height).data;
    const mask = new Uint8Array(this.points.length / 2);
    const { sx, sy, tx, ty } = this.map;
    for (let i = 0; i < mask.length; i++) {
      const x = this.points[2 * i] * sx + tx;
      const y = this.points[2 * i + 1] * sy + ty;
      if (x >= 0 && y >= 0 && x < paper.width && y < paper.height && alpha[4 * ((y | 0) * paper.width + (x | 0)) + 3] > 127) mask[i] = 1;
    }
    return mask;
  }

  hoverAt(now, event) {
    this.walking = false;
    cancelAnimationFrame(this.hoverAsked);
    this.hoverAsked = requestAnimationFrame(() => {
      const row = this.nearest(...now);
      if (row === this.hovered) return;
      this.#take(row, event);
    });
  }

  /** Go to the next point in a direction, or take the one nearest to the middle in hand. */
  walk(dx, dy) {
    if (!this.map) return;
    const box = this.over.getBoundingClientRect();
    const from = dx || dy ? this.pixel(this.hovered) : [box.width / 2, box.height / 2];
    const row = this.#next(from, dx, dy);
    this.walking = true;
    if (row === null) return;
    const [x, y] = this.pixel(row);
    this.#take(row, { clientX: box.left + x, clientY: box.top + y, walked: true });
  }

  #take(row, event) {
    this.hovered = row;
    paintOver(this, this.over.width, this.over.height);
    if (row === null) this.on.leave();
    else this.on.hover(row, event);
  }

  /** The point that lies best in a direction: near, and not far off to the side. */
  #next([x, y], dx, dy) {
    const { sx, sy, tx, ty } = this.map;
    let best = null;
    let least = Infinity;
    for (let row = 0; row < this.points.length / 2; row++) {
      if (row === this.hovered && (dx || dy)) continue;
      const ax = (this.points[2 * row] * sx + tx) / this.ratio - x;
      const ay = (this.points[2 * row + 1] * sy + ty) / this.ratio - y;
      const ahead = ax * dx + ay * dy;
      if ((dx || dy) && !(ahead > 0.5)) continue;
      const cost = dx || dy ? ahead + 3 * Math.abs(ax * dy - ay * dx) : Math.hypot(ax, ay);
      if (cost < least) {
        least = cost;
        best = row;
      }
    }
    return best;
  }

  unhover() {
    this.walking = false;
    cancelAnimationFrame(this.hoverAsked);
    if (this.hovered !== null) this.#take(null);
  }
}
