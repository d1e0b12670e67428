// How far two clusterings agree: the adjusted Rand index over the rows that both put into clusters, 1 for the same, 0 for chance.

const pairs = (n) => (n * (n - 1)) / 2;

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
