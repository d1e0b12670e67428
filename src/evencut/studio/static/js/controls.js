// The choices of a method, as a form; every control says in one sentence what it does.

import { field, h, replace, segmented, select } from "./ui.js";

export const PRESETS = {
  kernel_kmeans: { title: "Kernel k-means", method: { tool: "kernel", kernel: "gaussian", bandwidth: "scott", criterion: "average_association", equalize: null } },
  evencut: { title: "evencut", method: { tool: "evencut" } },
  normalized_cut: { title: "Normalised cut", method: { tool: "kernel", kernel: "gaussian", bandwidth: "scott", criterion: "normalized_cut", equalize: null } },
  equalised: { title: "Equalised exactly", method: { tool: "kernel", kernel: "gaussian", bandwidth: "scott", criterion: "average_association", equalize: "exact" } },
  kmeans: { title: "k-means", method: { tool: "kmeans" } },
  hdbscan: { title: "HDBSCAN", method: { tool: "hdbscan" } },
};

const KERNELS = [
  ["shared_neighbors", "Shared neighbours"],
  ["knn", "Nearest neighbours"],
  ["gaussian", "Gaussian, one bandwidth"],
  ["adaptive_gaussian", "Gaussian, adaptive bandwidth"],
  ["local_scaling", "Local scaling"],
  ["geodesic", "Geodesic"],
];
const CRITERIA = [
  ["normalized_cut", "Normalised cut"],
  ["average_association", "Average association (kernel k-means)"],
  ["average_cut", "Average cut"],
];
const EQUALISE = [
  ["", "No"],
  ["weights", "By weights"],
  ["exact", "Exactly (equal degrees)"],
];
const SCALES = [
  ["auto", "Automatic"],
  ["standard", "To one deviation"],
  ["", "As they are"],
];
const WITH_BANDWIDTH = ["gaussian", "geodesic"];
const WITH_NEIGHBORS = ["shared_neighbors", "knn", "adaptive_gaussian", "local_scaling", "geodesic"];

export const DEFAULT_METHOD = {
  tool: "evencut",
  n_clusters: 2,
  kernel: "gaussian",
  bandwidth: "scott",
  n_neighbors: null,
  criterion: "normalized_cut",
  equalize: null,
  scale: "auto",
  seed: 0,
  sample: 3000,
};

/** A method with a preset's choices, keeping the number of clusters and the seed. */
export function withPreset(method, name) {
  const { n_clusters, seed, scale } = method;
  return { ...DEFAULT_METHOD, n_clusters, seed, scale, ...PRESETS[name].method };
}

/** The preset a method is, whatever its bandwidth; null where it is none of them. */
function presetOf(method) {
  const matches = ([, preset]) => Object.entries(preset.method).every(([key, value]) => key === "bandwidth" || method[key] === value);
  return Object.entries(PRESETS).find(matches)?.[0] ?? null;
}

/** What a method is called. */
export function methodTitle(method) {
  const preset = presetOf(method);
  if (preset) return PRESETS[preset].title;
  const name = method.criterion === "average_association" ? "Kernel k-means" : CRITERIA.find(([key]) => key === method.criterion)[1];
  return method.equalize ? `${name}, evened out` : name;
}

/** What tells it apart from others of the same name. */
export function methodDetail(method, facts) {
  const k = method.n_clusters === "auto" ? "k auto" : `k = ${method.n_clusters}`;
  if (method.tool === "hdbscan") return `at least ${method.n_neighbors ?? 10} points a cluster`;
  if (method.tool !== "kernel") return k;
  const parts = [k];
  parts.push(KERNELS.find(([key]) => key === method.kernel)[1].split(",")[0].toLowerCase());
  if (hasBandwidth(method)) {
    const sigma = facts?.bandwidth ?? method.bandwidth;
    parts.push(`σ = ${typeof sigma === "number" ? Number(sigma.toPrecision(3)) : sigma}`);
  }
  if (method.n_neighbors && WITH_NEIGHBORS.includes(method.kernel)) parts.push(`${method.n_neighbors} neighbours`);
  if (method.equalize) parts.push(method.equalize === "exact" ? "equal degrees" : "weights");
  return parts.join(" · ");
}

export const hasBandwidth = (method) => method.tool === "kernel" && WITH_BANDWIDTH.includes(method.kernel);

/** The form; `change(method)` is called with a new method whenever one is chosen. */
export class MethodForm {
  constructor(change) {
    this.change = change;
    this.element = h("div", { class: "form" });
  }

  show(method, columns, column) {
    this.method = method;
    const set = (part) => this.change({ ...this.method, ...part });
    const presets = h("div", { class: "presets", role: "group", "aria-label": "Ready-made methods" });
    const chosen = column ? null : presetOf(method);
    for (const [name, preset] of Object.entries(PRESETS)) {
      const pressed = name === chosen;
      presets.append(
        h("button", { class: "chip", "aria-pressed": String(pressed), "data-preset": name, onclick: () => this.change(withPreset(this.method, name)) }, preset.title),
      );
    }
    const parts = [presets];
    if (columns.length) {
      const options = [["", "– cluster with the method above –"], ...columns.map((name) => [name, name])];
      parts.push(
        field(
          "Labels of a column",
          "Shows labels that another tool made, so that they can be diagnosed.",
          "column",
          select(options, column ?? "", (name) => (name ? this.change(null, name) : this.change(this.method)), { "data-control": "column" }),
        ),
      );
    }
    if (!column) parts.push(...this.#fields(method, set));
    replace(this.element, parts);
  }

  #fields(method, set) {
    const own = method.tool === "kernel";
    const ours = own || method.tool === "evencut";
    const found = [];
    if (method.tool !== "hdbscan") found.push(this.#number(method, set, ours));
    if (own) {
      found.push(
        field(
          "Kernel",
          "How alike two points are; kernels that adapt to density do not isolate dense clumps.",
          "kernel",
          select(KERNELS, method.kernel, (kernel) => set({ kernel }), { "data-control": "kernel" }),
        ),
      );
    }
    if (hasBandwidth(method)) found.push(this.#bandwidth(method, set));
    if ((own && WITH_NEIGHBORS.includes(method.kernel)) || method.tool === "hdbscan") found.push(this.#neighbors(method, set));
    if (own) {
      found.push(
        field(
          "Criterion",
          "What a good clustering is: little is cut, or much is kept together.",
          "criterion",
          select(CRITERIA, method.criterion, (criterion) => set({ criterion }), { "data-control": "criterion" }),
        ),
        field(
          "Even the density out",
          "Weights or equal degrees take the bias out of any kernel.",
          "equalise",
          select(EQUALISE, method.equalize ?? "", (value) => set({ equalize: value || null }), { "data-control": "equalize" }),
        ),
      );
    }
    if (ours) {
      found.push(
        field(
          "Scale the columns",
          "Columns of different units are brought to one spread before distances are taken.",
          "scale",
          select(SCALES, method.scale ?? "", (value) => set({ scale: value || null }), { "data-control": "scale" }),
        ),
      );
    }
    if (method.tool !== "hdbscan") {
      const seed = h("input", { type: "number", min: "0", max: "4294967295", step: "1", value: String(method.seed), "data-control": "seed" });
      seed.addEventListener("change", () => set({ seed: Math.max(0, Math.floor(Number(seed.value) || 0)) }));
      found.push(field("Seed", "The same seed gives the same clusters.", "seed", seed));
    }
    return found;
  }

  #number(method, set, canFind) {
    const auto = method.n_clusters === "auto";
    const last = auto ? 2 : method.n_clusters;
    const number = h("input", { type: "number", min: "1", max: "2000", step: "1", value: String(last), disabled: auto, "data-control": "n_clusters" });
    number.addEventListener("change", () => set({ n_clusters: Math.min(2000, Math.max(1, Math.round(Number(number.value) || 2))) }));
    const how = segmented(
      "Number of clusters",
      canFind ? [["given", "Given"], ["auto", "Auto"]] : [["given", "Given"]],
      auto ? "auto" : "given",
      (value) => set({ n_clusters: value === "auto" ? "auto" : last }),
    );
    return field("Clusters", "How many there should be; auto finds the number.", "clusters", number, how);
  }

  #bandwidth(method, set) {
    const rules = method.kernel === "geodesic" ? [["scott", "Its own"]] : [["scott", "Scott's rule"], ["silverman", "Silverman's rule"], ["median", "Median distance"]];
    const isNumber = typeof method.bandwidth === "number";
    const number = h("input", {
      type: "number", min: "0", step: "any", "aria-label": "Bandwidth", "data-control": "bandwidth",
      value: isNumber ? String(Number(method.bandwidth.toPrecision(4))) : "", placeholder: "number",
    });
    number.addEventListener("change", () => Number(number.value) > 0 && set({ bandwidth: Number(number.value) }));
    const rule = select([["", "Number"], ...rules], isNumber ? "" : method.bandwidth, (value) => value && set({ bandwidth: value }), { "aria-label": "Rule of the bandwidth" });
    return field("Bandwidth", "Over which distance points count as alike; drag the slider under the plots.", "bandwidth", number, rule);
  }

  #neighbors(method, set) {
    const number = h("input", {
      type: "number", min: "1", max: "1000", step: "1", placeholder: "its own", "data-control": "n_neighbors",
      value: method.n_neighbors === null ? "" : String(method.n_neighbors),
    });
    number.addEventListener("change", () => set({ n_neighbors: number.value ? Math.min(1000, Math.max(1, Math.round(Number(number.value)))) : null }));
    return method.tool === "hdbscan"
      ? field("Smallest cluster", "Fewer points together than this are noise.", "neighbors", number)
      : field("Neighbours", "How many nearest points make a point's neighbourhood.", "neighbors", number);
  }
}
