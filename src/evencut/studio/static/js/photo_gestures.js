// Hands on a photo: boxes, clicks and strokes; two fingers zoom and never draw; keys do all of it, too.

import { ARROWS } from "./ui.js";

const CLICK_PX = 5;
const HANDLE_PX = 14;
const REST_MS = 220;

export function listen(stage) {
  const { canvas } = stage;
  const fingers = new Map();
  let drag = null;
  let rest = null;
  const give = () => {
    drag = null;
    stage.pending = null;
    stage.request();
  };
  canvas.addEventListener("contextmenu", (event) => event.preventDefault());
  canvas.addEventListener("pointerdown", (event) => {
    if (!stage.bitmap) return;
    canvas.setPointerCapture(event.pointerId);
    fingers.set(event.pointerId, [event.clientX, event.clientY]);
    clearTimeout(rest);
    stage.setHover(null);
    if (fingers.size > 1) return give(); // whatever the first finger began, two of them zoom
    const from = stage.pixelOf(event);
    const moving = stage.tool === "pan" || event.button === 1;
    drag = { at: [event.clientX, event.clientY], from, points: [from], right: event.button === 2, moving, centre: stage.centre, corner: moving ? null : cornerAt(stage, event) };
  });
  canvas.addEventListener("pointermove", (event) => {
    if (fingers.size === 2) return pinch(stage, fingers, event);
    if (fingers.has(event.pointerId)) fingers.set(event.pointerId, [event.clientX, event.clientY]);
    if (drag) return drawn(stage, drag, event);
    clearTimeout(rest);
    stage.setHover(null);
    if (stage.bitmap && stage.tool === "click" && event.pointerType === "mouse") rest = setTimeout(() => stage.askHover(stage.pixelOf(event)), REST_MS);
  });
  canvas.addEventListener("pointerleave", () => {
    clearTimeout(rest);
    stage.setHover(null);
  });
  canvas.addEventListener("pointerup", (event) => {
    fingers.delete(event.pointerId);
    if (!drag) return;
    const done = drag;
    drag = null;
    if (!done.moving) finish(stage, done, event);
  });
  canvas.addEventListener("pointercancel", (event) => {
    fingers.delete(event.pointerId);
    give();
  });
  canvas.addEventListener(
    "wheel",
    (event) => {
      if (!stage.bitmap) return;
      event.preventDefault();
      stage.zoomAt(Math.exp(-event.deltaY * 0.0016), stage.pixelOf(event));
    },
    { passive: false },
  );
  canvas.addEventListener("keydown", (event) => key(stage, event));
}

function pinch(stage, fingers, event) {
  const before = fingers.get(event.pointerId);
  if (!before) return;
  const now = [event.clientX, event.clientY];
  const other = [...fingers].find(([id]) => id !== event.pointerId)[1];
  const far = (a, b) => Math.max(1, Math.hypot(a[0] - b[0], a[1] - b[1]));
  const middle = (a) => stage.pixelOf({ clientX: (a[0] + other[0]) / 2, clientY: (a[1] + other[1]) / 2 });
  const [old, place] = [middle(before), middle(now)];
  stage.centre = [stage.centre[0] + old[0] - place[0], stage.centre[1] + old[1] - place[1]];
  stage.zoomAt(far(now, other) / far(before, other), place);
  fingers.set(event.pointerId, now);
}

/** The corner of the active object's box under the pointer: what stays and what moves. */
function cornerAt(stage, event) {
  const box = stage.activeBox();
  if (!box || stage.tool !== "click") return null;
  const [x, y] = stage.pixelOf(event);
  const reach = HANDLE_PX / stage.scale;
  const [[x0, y0], [x1, y1]] = box;
  const corners = [[x0, y0, x1, y1], [x1, y0, x0, y1], [x0, y1, x1, y0], [x1, y1, x0, y0]];
  const found = corners.find(([cx, cy]) => Math.hypot(cx - x, cy - y) < reach);
  return found ? [found[2], found[3]] : null;
}

function drawn(stage, drag, event) {
  const far = Math.hypot(event.clientX - drag.at[0], event.clientY - drag.at[1]);
  if (drag.moving) {
    stage.centre = [drag.centre[0] - (event.clientX - drag.at[0]) / stage.scale, drag.centre[1] - (event.clientY - drag.at[1]) / stage.scale];
  } else if (stage.strokes) {
    drag.points.push(stage.pixelOf(event));
    stage.pending = stroke(stage, drag);
  } else if (far > CLICK_PX && !drag.right) {
    drag.isBox = true;
    stage.pending = { kind: "box", points: [drag.corner ?? drag.from, stage.pixelOf(event)], label: 2 };
  }
  stage.request();
}

function stroke(stage, drag) {
  const label = drag.right || stage.tool === "erase" ? 1 : stage.on.label();
  const step = Math.max(1, Math.ceil(drag.points.length / 1500));
  return { kind: "stroke", points: drag.points.filter((_, i) => i % step === 0), label, radius: Math.max(1, Math.min(60, stage.brush / stage.scale)) };
}

function finish(stage, drag, event) {
  if (stage.strokes) return send(stage, stroke(stage, drag));
  if (drag.isBox) return send(stage, boxOf(stage, drag.corner ?? drag.from, stage.pixelOf(event)), Boolean(drag.corner));
  if (stage.contains(drag.from)) send(stage, { kind: "click", points: [drag.from], label: drag.right ? 1 : stage.on.label() });
}

/** A box within the photo; null where it is too small to mean one. */
function boxOf(stage, from, to) {
  const clip = ([x, y]) => [Math.max(0, Math.min(stage.photo.width, x)), Math.max(0, Math.min(stage.photo.height, y))];
  const corners = [clip(from), clip(to)];
  const large = Math.abs(corners[0][0] - corners[1][0]) >= 4 && Math.abs(corners[0][1] - corners[1][1]) >= 4;
  return large ? { kind: "box", points: corners, label: 2 } : null;
}

function send(stage, prompt, adjusted = false) {
  stage.pending = prompt;
  stage.request();
  if (prompt) stage.on.prompt(prompt, adjusted);
}

/** Arrow keys move a cross, Enter clicks, X takes away, B begins and ends a box; with Shift the arrows move the view. */
function key(stage, event) {
  if (!stage.bitmap || event.ctrlKey || event.metaKey || event.altKey) return;
  const arrow = ARROWS[event.key];
  if (arrow && event.shiftKey) stage.centre = [stage.centre[0] + (arrow[0] * 40) / stage.scale, stage.centre[1] + (arrow[1] * 40) / stage.scale];
  else if (arrow) stage.moveCross(arrow[0] * 10, arrow[1] * 10);
  else if (event.key === "Enter" && stage.cross) send(stage, { kind: "click", points: [stage.cross], label: stage.on.label() });
  else if (event.key === "Enter") stage.moveCross(0, 0);
  else if (event.key.toLowerCase() === "x" && stage.cross) send(stage, { kind: "click", points: [stage.cross], label: 1 });
  else if (event.key.toLowerCase() === "b" && stage.cross) {
    if (stage.boxFrom) send(stage, boxOf(stage, stage.boxFrom, stage.cross));
    stage.boxFrom = stage.boxFrom ? null : stage.cross;
  } else if (event.key === "+" || event.key === "=") stage.zoomAt(1.3, stage.centre);
  else if (event.key === "-") stage.zoomAt(1 / 1.3, stage.centre);
  else if (event.key === "Escape") Object.assign(stage, { cross: null, boxFrom: null, pending: null });
  else return;
  event.preventDefault();
  stage.request();
}
