// Two labellings of the same points beside each other. The studio numbers clusters that belong together alike.

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

export const total = (numbers) => numbers.reduce((a, b) => a + b, 0);

/** A byte a point: 1 where the numbers of its clusters differ; what belongs together on both sides has one number. */
export const differences = (first, second) => Uint8Array.from(first, (label, i) => (label === second[i] ? 0 : 1));

const pairs = (n) => (n * (n - 1)) / 2;

/** The adjusted Rand index over the rows that both put into clusters: 1 for the same, 0 for chance. */
export function agreement(first, second) {
  const both = new Map();
  const ones = new Map();
  const others = new Map();
  const add = (map, key) => map.set(key, (map.get(key) ?? 0) + 1);
  let n = 0;
  for (let i = 0; i < first.length; i++) {
    if (first[i] < 0 || second[i] < 0) continue;
    n += 1;
    add(both, first[i] * 100003 + second[i]);
    add(ones, first[i]);
    add(others, second[i]);
  }
  const sum = (map) => [...map.values()].reduce((total, n) => total + pairs(n), 0);
  const [together, left, right] = [both, ones, others].map(sum);
  const chance = (left * right) / pairs(n);
  const most = (left + right) / 2;
  return n < 2 ? null : most === chance ? 1 : (together - chance) / (most - chance);
}
