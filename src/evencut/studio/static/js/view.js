// Which part of the plane is seen; shared by plots that pan and zoom together.

export class View {
  constructor() {
    this.extent = [1, 1];
    this.plots = 1; // how many are seen at once, and share the time of a frame
    this.turns = 0; // how often the places were changed
    this.listeners = new Set();
    this.reset();
  }

  /** Centre in places, zoom 1 where everything fits. */
  reset() {
    this.x = 0;
    this.y = 0;
    this.zoom = 1;
    this.tell(false);
  }

  /** From places to pixels of a plot of that size, everything within the padding at zoom 1. */
  map(width, height, padding) {
    const fits = Math.min((width / 2 - padding) / this.extent[0], (height / 2 - padding) / this.extent[1]);
    const unit = Math.max(fits, 1) * this.zoom;
    return { sx: unit, sy: -unit, tx: width / 2 - this.x * unit, ty: height / 2 + this.y * unit };
  }

  /** How far the points reach from the middle, in places. */
  setExtent(xy) {
    let x = 0;
    let y = 0;
    for (let i = 0; i < xy.length; i += 2) {
      const [a, b] = [Math.abs(xy[i]), Math.abs(xy[i + 1])];
      if (a > x) x = a;
      if (b > y) y = b;
    }
    this.extent = [Math.max(x, 0.02), Math.max(y, 0.02)];
  }

  /** Points in space, three numbers each, turned by hand; null for points in the plane. Returns places in the plane. */
  setSpace(xyz) {
    this.space = xyz && { xyz, xy: new Float32Array((xyz.length / 3) * 2), yaw: 0.5, pitch: 0.4 };
    if (!this.space) return null;
    this.#project();
    return this.space.xy;
  }

  rotate(yaw, pitch) {
    this.space.yaw += yaw;
    this.space.pitch = Math.max(-1.57, Math.min(1.57, this.space.pitch + pitch));
    this.#project();
    this.tell(true);
  }

  #project() {
    this.turns += 1;
    const { xyz, xy, yaw, pitch } = this.space;
    const [cy, sy, cp, sp] = [Math.cos(yaw), Math.sin(yaw), Math.cos(pitch), Math.sin(pitch)];
    for (let i = 0, j = 0; i < xyz.length; i += 3, j += 2) {
      const depth = xyz[i] * sy + xyz[i + 2] * cy;
      xy[j] = xyz[i] * cy - xyz[i + 2] * sy;
      xy[j + 1] = xyz[i + 1] * cp - depth * sp;
    }
  }

  pan(dx, dy) {
    this.x += dx;
    this.y += dy;
    this.tell(true);
  }

  /** Zoom by a factor, keeping a place where it is. */
  zoomAt(factor, x, y) {
    const zoom = Math.max(0.4, Math.min(4000, this.zoom * factor));
    const change = this.zoom / zoom;
    this.x = x + (this.x - x) * change;
    this.y = y + (this.y - y) * change;
    this.zoom = zoom;
    this.tell(true);
  }

  tell(moving) {
    for (const listener of this.listeners) listener(moving);
  }
}
