// What is drawn over the points of a plot: axes, cluster names, lines of density, the lasso, the point in hand.

import { groundColour, inkColour } from "./colours.js";
import { contours } from "./density.js";
import { short } from "./ui.js";

function ticks(low, high, most) {
  const raw = (high - low) / most;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((m) => m * power).find((m) => m >= raw);
  const found = [];
  for (let value = Math.ceil(low / step) * step; value <= high; value += step) found.push(Math.abs(value) < step / 1e6 ? 0 : value);
  return found;
}

export function paintOver(plot, width, height) {
  const { over, ratio } = plot;
  over.width = width;
  over.height = height;
  const pen = over.getContext("2d");
  pen.scale(ratio, ratio);
  if (!plot.points) return;
  if (plot.lines && !plot.moving) paintContours(pen, plot, width, height);
  if (!plot.view.space) paintAxes(pen, plot, width / ratio, height / ratio);
  paintMarks(pen, plot);
  if (plot.swipe) paintSwipe(pen, plot, width / ratio, height / ratio);
  if (plot.path) paintLasso(pen, plot.path);
  if (plot.hovered !== null) paintHovered(pen, plot);
}

function write(pen, text, x, y, align, baseline) {
  pen.textAlign = align;
  pen.textBaseline = baseline;
  pen.fillText(text, x, y);
}

/** Begin a closed path along the corners. */
export function outline(pen, corners) {
  pen.beginPath();
  corners.forEach(([x, y], i) => (i ? pen.lineTo(x, y) : pen.moveTo(x, y)));
  pen.closePath();
}

function paintContours(pen, plot, width, height) {
  pen.save();
  pen.scale(1 / plot.ratio, 1 / plot.ratio);
  pen.strokeStyle = inkColour();
  pen.globalAlpha = 0.45;
  pen.lineWidth = 1.1 * plot.ratio;
  pen.stroke(contours(plot.points, plot.map, width, height));
  pen.restore();
}

function paintSwipe(pen, plot, width, height) {
  const x = plot.swipe.at * width;
  pen.strokeStyle = inkColour();
  pen.lineWidth = 2;
  pen.beginPath();
  pen.moveTo(x, 0);
  pen.lineTo(x, height);
  pen.stroke();
  pen.font = "600 12px system-ui, sans-serif";
  pen.fillStyle = inkColour();
  write(pen, "left", x - 8, 8, "right", "top");
  write(pen, "right", x + 8, 8, "left", "top");
}

function paintHovered(pen, plot) {
  const [x, y] = plot.pixel(plot.hovered);
  pen.strokeStyle = inkColour();
  pen.lineWidth = 1.8;
  pen.beginPath();
  pen.arc(x, y, plot.radius / plot.ratio + 3, 0, 7);
  pen.stroke();
}

function paintAxes(pen, plot, width, height) {
  const { middle, unit, names } = plot.frame;
  const { sx, sy, tx, ty } = plot.map;
  const { ratio } = plot;
  const colour = getComputedStyle(plot.element).color;
  pen.font = "11px system-ui, sans-serif";
  pen.fillStyle = colour;
  const named = pen.measureText(names[0].slice(0, 30)).width + 34;
  pen.globalAlpha = 0.75;
  const xAt = (value) => (((value - middle[0]) / unit[0]) * sx + tx) / ratio;
  const yAt = (value) => (((value - middle[1]) / unit[1]) * sy + ty) / ratio;
  const xOf = (pixel) => ((pixel * ratio - tx) / sx) * unit[0] + middle[0];
  const yOf = (pixel) => ((pixel * ratio - ty) / sy) * unit[1] + middle[1];
  for (const value of ticks(xOf(0), xOf(width), Math.max(2, width / 110))) {
    const x = xAt(value);
    if (x >= 36 && x <= width - named) write(pen, short(value, 4), x, height - 4, "center", "bottom");
  }
  for (const value of ticks(yOf(height), yOf(0), Math.max(2, height / 90))) {
    const y = yAt(value);
    if (y >= 24 && y <= height - 24) write(pen, short(value, 4), 5, y, "left", "middle");
  }
  pen.globalAlpha = 1;
  pen.font = "600 11px system-ui, sans-serif";
  write(pen, names[0].slice(0, 30), width - 6, height - 4, "right", "bottom");
  write(pen, names[1].slice(0, 30), 5, 5, "left", "top");
}

/** Names of clusters: letters with a rim, no plate, so that the points under them stay in sight. */
function paintMarks(pen, plot) {
  pen.font = "700 13px system-ui, sans-serif";
  pen.textAlign = "center";
  pen.textBaseline = "middle";
  pen.lineJoin = "round";
  for (const mark of plot.marks ?? []) {
    const [x, y] = plot.pixel(mark.row);
    pen.globalAlpha = 0.9;
    pen.strokeStyle = groundColour();
    pen.lineWidth = 4;
    pen.strokeText(mark.text, x, y);
    pen.globalAlpha = 1;
    pen.fillStyle = inkColour();
    pen.fillText(mark.text, x, y);
  }
}

function paintLasso(pen, path) {
  pen.strokeStyle = inkColour();
  pen.lineWidth = 1.5;
  pen.setLineDash([5, 4]);
  outline(pen, path);
  pen.stroke();
  pen.globalAlpha = 0.08;
  pen.fillStyle = inkColour();
  pen.fill();
  pen.globalAlpha = 1;
  pen.setLineDash([]);
}
