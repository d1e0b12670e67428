// How dense the points lie on the screen: shades for a million of them, and lines of equal density.

const CELLS = 96;
const LEVELS = 6;

/** Paint points into pixels so that places with many are strong and places with few are faint, in the mean of their colours. */
export function shade({ pixels, width, height, xy, colours: { index, table }, map, step, ground, clip: [left, right] }) {
  const size = width * height;
  const sums = new Float32Array(3 * size);
  const counts = new Float32Array(size);
  const { sx, sy, tx, ty } = map;
  for (let i = 0; i < index.length; i += step) {
    const x = xy[2 * i] * sx + tx;
    const y = xy[2 * i + 1] * sy + ty;
    if (!(x >= left && y >= 0 && x < right && y < height)) continue;
    const at = (y | 0) * width + (x | 0);
    const colour = table[index[i] + 1];
    counts[at] += 1;
    sums[3 * at] += colour & 255;
    sums[3 * at + 1] += (colour >>> 8) & 255;
    sums[3 * at + 2] += (colour >>> 16) & 255;
  }
  let most = 1;
  for (let at = 0; at < size; at++) if (counts[at] > most) most = counts[at];
  const scale = 0.8 / Math.log(1 + most);
  const [r, g, b] = [ground & 255, (ground >>> 8) & 255, (ground >>> 16) & 255];
  for (let at = 0; at < size; at++) {
    const n = counts[at];
    if (!n) continue;
    const strong = 0.2 + scale * Math.log(1 + n);
    const mix = (under, sum) => Math.round(under + (sum / n - under) * strong);
    pixels[at] = ((255 << 24) | (mix(b, sums[3 * at + 2]) << 16) | (mix(g, sums[3 * at + 1]) << 8) | mix(r, sums[3 * at])) >>> 0;
  }
}

function blurred(grid, columns, rows) {
  const next = new Float32Array(grid.length);
  for (let y = 0; y < rows; y++) {
    for (let x = 0; x < columns; x++) {
      let sum = 0;
      for (let dy = -1; dy <= 1; dy++) {
        for (let dx = -1; dx <= 1; dx++) {
          const [i, j] = [Math.max(0, Math.min(columns - 1, x + dx)), Math.max(0, Math.min(rows - 1, y + dy))];
          sum += grid[j * columns + i];
        }
      }
      next[y * columns + x] = sum / 9;
    }
  }
  return next;
}

/** Lines of equal density of the points in view, as a path in pixels. */
export function contours(xy, map, width, height) {
  const cell = Math.max(width, height) / CELLS;
  const columns = Math.ceil(width / cell) + 1;
  const rows = Math.ceil(height / cell) + 1;
  let grid = new Float32Array(columns * rows);
  const { sx, sy, tx, ty } = map;
  const step = Math.max(1, Math.floor(xy.length / 2 / 200000));
  for (let i = 0; i < xy.length; i += 2 * step) {
    const x = (xy[i] * sx + tx) / cell;
    const y = (xy[i + 1] * sy + ty) / cell;
    if (x >= 0 && y >= 0 && x < columns && y < rows) grid[(y | 0) * columns + (x | 0)] += 1;
  }
  for (let round = 0; round < 4; round++) grid = blurred(grid, columns, rows);
  const most = grid.reduce((a, b) => Math.max(a, b), 0);
  const path = new Path2D();
  if (!most) return path;
  for (let level = 1; level <= LEVELS; level++) march(path, grid, columns, rows, cell, most * 0.5 ** (LEVELS - level + 0.5));
  return path;
}

/** Marching squares: the pieces of one line through the cells. */
function march(path, grid, columns, rows, cell, level) {
  for (let y = 0; y + 1 < rows; y++) {
    for (let x = 0; x + 1 < columns; x++) {
      const at = y * columns + x;
      const corners = [grid[at], grid[at + 1], grid[at + columns + 1], grid[at + columns]];
      const places = [[x, y], [x + 1, y], [x + 1, y + 1], [x, y + 1]];
      const crossings = [];
      for (let side = 0; side < 4; side++) {
        const [a, b] = [corners[side], corners[(side + 1) % 4]];
        if (a < level === b < level) continue;
        const share = (level - a) / (b - a);
        const [p, q] = [places[side], places[(side + 1) % 4]];
        crossings.push([(p[0] + (q[0] - p[0]) * share + 0.5) * cell, (p[1] + (q[1] - p[1]) * share + 0.5) * cell]);
      }
      for (let i = 0; i + 1 < crossings.length; i += 2) {
        path.moveTo(...crossings[i]);
        path.lineTo(...crossings[i + 1]);
      }
    }
  }
}
