// Two labellings of the same points beside each other: how many points they share. The studio numbers clusters that belong
// together alike; only what is previewed is matched here.

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

/** For each column the row that it shares most points with, -1 for none; the largest shares first. */
function pairs({ rows, columns, counts }) {
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

/** A byte a point: 1 where the numbers of its clusters differ; what belongs together on both sides has one number. */
export function differences(first, second) {
  const mask = Uint8Array.from(first, (label, i) => (label === second[i] ? 0 : 1));
  return { mask, found: mask.reduce((a, b) => a + b, 0) };
}
