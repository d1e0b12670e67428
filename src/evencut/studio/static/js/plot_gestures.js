// Hands on a plot: pan, pinch, lasso, turn; a tap or a pointer shows a row; keys do all of it, too.

import { ARROWS } from "./ui.js";

const TAP_PX = 8;

export function listen(plot) {
  const { over } = plot;
  const fingers = new Map();
  let tap = null;
  const at = (event) => {
    const box = over.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  over.addEventListener("pointerdown", (event) => {
    if (!plot.points || event.button > 0) return;
    over.setPointerCapture(event.pointerId);
    fingers.set(event.pointerId, at(event));
    tap = fingers.size === 1 ? at(event) : null;
    if (plot.tool === "lasso" && fingers.size === 1) plot.path = [at(event)];
    if (fingers.size === 2) plot.path = null; // two fingers zoom, whatever the first had begun
  });
  over.addEventListener("pointermove", (event) => {
    if (!plot.points || !plot.map) return;
    const now = at(event);
    const before = fingers.get(event.pointerId);
    if (!before) return event.pointerType === "touch" ? undefined : plot.hoverAt(now, event);
    if (tap && Math.hypot(now[0] - tap[0], now[1] - tap[1]) > TAP_PX) tap = null;
    if (fingers.size === 2) pinch(plot, fingers, event.pointerId, now);
    else if (plot.path) {
      plot.path.push(now);
      plot.request(true);
    } else if (event.pointerType !== "touch" || plot.view.space) move(plot, before, now, event.shiftKey);
    fingers.set(event.pointerId, now);
  });
  const up = (event) => {
    if (!fingers.delete(event.pointerId)) return;
    if (plot.path) finishLasso(plot);
    else if (tap && event.type === "pointerup" && event.pointerType === "touch") plot.hoverAt(tap, event);
    else if (tap && event.type === "pointerup" && plot.hovered !== null) plot.on.pick(plot.hovered);
    plot.request(false);
  };
  over.addEventListener("pointerup", up);
  over.addEventListener("pointercancel", up);
  over.addEventListener("pointerleave", (event) => event.pointerType !== "touch" && plot.unhover());
  over.addEventListener(
    "wheel",
    (event) => {
      if (!plot.map) return;
      event.preventDefault();
      plot.view.zoomAt(Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.0016)), ...plot.place(...at(event)));
    },
    { passive: false },
  );
  over.addEventListener("dblclick", () => plot.view.reset());
  over.addEventListener("keydown", (event) => key(plot, event));
}

function move(plot, before, now, panning) {
  const { view } = plot;
  if (view.space && !panning) return view.rotate((now[0] - before[0]) * 0.01, (now[1] - before[1]) * 0.01);
  const [x0, y0] = plot.place(...before);
  const [x1, y1] = plot.place(...now);
  view.pan(x0 - x1, y0 - y1);
}

function finishLasso(plot) {
  const { path } = plot;
  plot.path = null;
  plot.on.lasso(path.length > 4 ? plot.inside(path) : null);
}

function pinch(plot, fingers, id, now) {
  const other = [...fingers].find(([other]) => other !== id)[1];
  const before = fingers.get(id);
  const far = (a, b) => Math.hypot(a[0] - b[0], a[1] - b[1]);
  const middle = plot.place((now[0] + other[0]) / 2, (now[1] + other[1]) / 2);
  const old = plot.place((before[0] + other[0]) / 2, (before[1] + other[1]) / 2);
  plot.view.pan(old[0] - middle[0], old[1] - middle[1]);
  plot.view.zoomAt(far(now, other) / Math.max(1, far(before, other)), ...middle);
}

function key(plot, event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const { view } = plot;
  const arrow = ARROWS[event.key];
  const step = 0.15 / view.zoom;
  if (arrow && plot.walking) plot.walk(...arrow);
  else if (arrow && view.space) view.rotate(arrow[0] * 0.15, arrow[1] * 0.15);
  else if (arrow) view.pan(arrow[0] * step, -arrow[1] * step);
  else if (event.key === "Enter") plot.walk(0, 0);
  else if (event.key === "+" || event.key === "=") view.zoomAt(1.3, view.x, view.y);
  else if (event.key === "-") view.zoomAt(1 / 1.3, view.x, view.y);
  else if (event.key === "0") view.reset();
  else if (event.key === "Escape") {
    plot.unhover();
    plot.on.lasso(null);
  } else return;
  event.preventDefault();
}
