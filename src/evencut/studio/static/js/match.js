// Two labellings of the same points beside each other: how many points they share, and which clusters belong together.

const EXACT = 80;

export function highest(labels) {
  let most = -1;
  for (let i = 0; i < labels.length; i++) if (labels[i] > most) most = labels[i];
  return most + 1;
}

/** How many points are in cluster i of the first and j of the second: {rows, columns, counts} row by row. */
export function confusion(first, second) {
  const rows = highest(first);
  const columns = highest(second);
  const counts = new Float64Array(rows * columns);
  for (let i = 0; i < first.length; i++) if (first[i] >= 0 && second[i] >= 0) counts[first[i] * columns + second[i]] += 1;
  return { rows, columns, counts };
}

/** For each column the row that it belongs to, -1 for none, so that the pairs share the most points (Hungarian method). */
export function pairs({ rows, columns, counts }) {
  if (!rows || !columns) return new Int32Array(columns).fill(-1);
  if (Math.max(rows, columns) > EXACT) return greedy(rows, columns, counts);
  const n = Math.max(rows, columns);
  const cost = (i, j) => (i < rows && j < columns ? -counts[i * columns + j] : 0);
  const u = new Float64Array(n + 1);
  const v = new Float64Array(n + 1);
  const owner = new Int32Array(n + 1);
  const way = new Int32Array(n + 1);
  for (let i = 1; i <= n; i++) {
    owner[0] = i;
    let j0 = 0;
    const least = new Float64Array(n + 1).fill(Infinity);
    const used = new Uint8Array(n + 1);
    do {
      used[j0] = 1;
      const i0 = owner[j0];
      let delta = Infinity;
      let j1 = 0;
      for (let j = 1; j <= n; j++) {
        if (used[j]) continue;
        const now = cost(i0 - 1, j - 1) - u[i0] - v[j];
        if (now < least[j]) {
          least[j] = now;
          way[j] = j0;
        }
        if (least[j] < delta) {
          delta = least[j];
          j1 = j;
        }
      }
      for (let j = 0; j <= n; j++) {
        if (used[j]) {
          u[owner[j]] += delta;
          v[j] -= delta;
        } else least[j] -= delta;
      }
      j0 = j1;
    } while (owner[j0] !== 0);
    do {
      const j1 = way[j0];
      owner[j0] = owner[j1];
      j0 = j1;
    } while (j0);
  }
  const found = new Int32Array(columns).fill(-1);
  for (let j = 1; j <= columns; j++) {
    const i = owner[j] - 1;
    if (i >= 0 && i < rows && counts[i * columns + j - 1] > 0) found[j - 1] = i;
  }
  return found;
}

/** The largest shares first, for very many clusters. */
function greedy(rows, columns, counts) {
  const order = [];
  counts.forEach((n, at) => n && order.push([n, at]));
  order.sort((a, b) => b[0] - a[0]);
  const found = new Int32Array(columns).fill(-1);
  const taken = new Uint8Array(rows);
  for (const [, at] of order) {
    const [i, j] = [Math.floor(at / columns), at % columns];
    if (taken[i] || found[j] >= 0) continue;
    taken[i] = 1;
    found[j] = i;
  }
  return found;
}

/** The number of each cluster's colour, so that clusters that belong together have one; the others take what is free. */
export function matchedPalette(reference, palette, labels) {
  const table = confusion(reference, labels);
  const partner = pairs(table);
  const used = new Set();
  const found = new Int32Array(table.columns).fill(-1);
  partner.forEach((row, column) => {
    if (row < 0) return;
    found[column] = palette[row] ?? row;
    used.add(found[column]);
  });
  let free = 0;
  for (let column = 0; column < found.length; column++) {
    if (found[column] >= 0) continue;
    while (used.has(free)) free += 1;
    used.add(free);
    found[column] = free;
  }
  return found;
}

/** A byte a point: 1 where the clusters of the two do not belong together. */
export function differences(first, second) {
  const partner = pairs(confusion(first, second));
  const mask = new Uint8Array(first.length);
  let found = 0;
  for (let i = 0; i < first.length; i++) {
    const same = second[i] < 0 ? first[i] < 0 : partner[second[i]] === first[i];
    if (!same) {
      mask[i] = 1;
      found += 1;
    }
  }
  return { mask, found };
}
