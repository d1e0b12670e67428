// The choices of a method, as a form; every control says in one sentence what it does.

import { field, h, keepFocus, replace, segmented, select } from "./ui.js";

export const PRESETS = {
  kernel_kmeans: { title: "Kernel k-means", method: { tool: "kernel", kernel: "gaussian", criterion: "average_association", equalize: null } },
  evencut: { title: "evencut", method: { tool: "evencut" } },
  normalized_cut: { title: "Normalised cut", method: { tool: "kernel", kernel: "gaussian", criterion: "normalized_cut", equalize: null } },
  equalised: { title: "Equalised exactly", method: { tool: "kernel", kernel: "gaussian", criterion: "average_association", equalize: "exact" } },
  kmeans: { title: "k-means", method: { tool: "kmeans" } },
  hdbscan: { title: "HDBSCAN", method: { tool: "hdbscan" } },
};

/** The kernels as the server describes them: name, title and parameters of each. */
let kernels = [];
export function setKernels(described) {
  kernels = described;
}
const kernelOf = (method) => kernels.find((kernel) => kernel.name === method.kernel) ?? { title: "", parameters: [] };
const RULES = { scott: "Scott's rule", silverman: "Silverman's rule", median: "Median distance" };
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

export const DEFAULT_METHOD = {
  tool: "evencut",
  n_clusters: 2,
  kernel: "gaussian",
  parameters: {},
  criterion: "normalized_cut",
  equalize: null,
  scale: "auto",
  min_cluster_size: 10,
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
  const matches = ([, preset]) => Object.entries(preset.method).every(([key, value]) => method[key] === value);
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
  const k = method.n_clusters === "auto" ? (facts ? `k = ${facts.n_clusters}, found` : "k is found") : `k = ${method.n_clusters}`;
  if (method.tool === "hdbscan") return `at least ${method.min_cluster_size} points a cluster`;
  if (method.tool !== "kernel") return k;
  const parts = [k, kernelOf(method).title.split(",")[0].toLowerCase()];
  for (const { name, title } of kernelOf(method).parameters) {
    const value = (name === "bandwidth" ? facts?.bandwidth : null) ?? method.parameters[name];
    if (value === undefined) continue;
    const shown = typeof value === "number" ? Number(value.toPrecision(3)) : value;
    parts.push(name === "bandwidth" ? `σ = ${shown}` : name === "n_neighbors" ? `${shown} neighbours` : `${title.toLowerCase()} ${shown}`);
  }
  if (method.equalize) parts.push(method.equalize === "exact" ? "equal degrees" : "weights");
  return parts.join(" · ");
}

export const hasBandwidth = (method) => method.tool === "kernel" && kernelOf(method).parameters.some(({ name }) => name === "bandwidth");

/** The form; `change(method)` is called with a new method whenever one is chosen. */
export class MethodForm {
  constructor(change) {
    this.change = change;
    this.element = h("div", { class: "form" });
  }

  /** `found`: the number of clusters that the clustering shown has. */
  show(method, columns, column, found) {
    this.method = method;
    this.found = found;
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
      const box = select(options, column ?? "", (name) => (name ? this.change(null, name) : this.change(this.method)), { "data-control": "column" });
      parts.push(field("Labels of a column", "Shows labels that another tool made, so that they can be diagnosed.", "column", box));
    }
    if (!column) parts.push(...this.#fields(method, set));
    keepFocus(this.element, () => replace(this.element, parts));
  }

  #fields(method, set) {
    const own = method.tool === "kernel";
    const found = [];
    const choice = (name, hint, topic, options, key) => field(name, hint, topic, select(options, method[key] ?? "", (value) => set({ [key]: value || null }), { "data-control": key }));
    if (method.tool !== "hdbscan") found.push(this.#number(method, set, own || method.tool === "evencut"));
    if (own) {
      const box = select(kernels.map(({ name, title }) => [name, title]), method.kernel, (kernel) => set({ kernel, parameters: {} }), { "data-control": "kernel" });
      found.push(field("Kernel", "How alike two points are; kernels that adapt to density do not isolate dense clumps.", "kernel", box));
      found.push(...kernelOf(method).parameters.map((parameter) => this.#parameter(parameter, method, set)));
    }
    if (method.tool === "hdbscan") found.push(this.#smallest(method, set));
    if (own) {
      found.push(choice("Criterion", "What is minimised: normalised cut, average cut, or kernel k-means.", "criterion", CRITERIA, "criterion"));
      found.push(choice("Equalise the density", "By weights, or by scaling the affinities to equal degrees.", "equalise", EQUALISE, "equalize"));
    }
    found.push(choice("Scale the columns", "Divides columns of different units by their standard deviations.", "scale", SCALES, "scale"));
    if (method.tool !== "hdbscan") {
      const seed = h("input", { type: "number", min: "0", max: "4294967295", step: "1", value: String(method.seed), "data-control": "seed" });
      seed.addEventListener("change", () => set({ seed: Math.max(0, Math.floor(Number(seed.value) || 0)) }));
      found.push(field("Seed", "The same seed gives the same clusters.", "seed", seed));
    }
    return found;
  }

  #number(method, set, canFind) {
    const auto = method.n_clusters === "auto";
    const last = auto ? (this.found ?? 2) : method.n_clusters;
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

  /** A number, or one of the rules that the parameter knows; empty leaves it to the kernel. */
  #parameter({ name, title, hint, least, most, whole, rules }, method, set) {
    const value = method.parameters[name];
    const choose = (chosen) => {
      const { [name]: _, ...others } = method.parameters;
      set({ parameters: chosen === null ? others : { ...others, [name]: chosen } });
    };
    const number = h("input", {
      type: "number", min: String(least), max: String(most), step: whole ? "1" : "any", "aria-label": title, "data-control": name,
      value: typeof value === "number" ? String(Number(value.toPrecision(4))) : "", placeholder: "its own",
    });
    number.addEventListener("change", () => {
      if (!number.value) return choose(null);
      const asked = whole ? Math.round(Number(number.value)) : Number(number.value);
      if (asked > 0) choose(Math.min(most, Math.max(least, asked)));
    });
    if (!rules.length) return field(title, hint, name, number);
    const options = [["", "Number"], ...rules.map((rule) => [rule, RULES[rule] ?? rule])];
    const rule = select(options, typeof value === "number" ? "" : (value ?? rules[0]), (chosen) => chosen && choose(chosen), { "aria-label": `Rule of the ${title.toLowerCase()}` });
    return field(title, hint, name, number, rule);
  }

  #smallest(method, set) {
    const number = h("input", { type: "number", min: "2", max: "100000", step: "1", "data-control": "min_cluster_size", value: String(method.min_cluster_size) });
    number.addEventListener("change", () => set({ min_cluster_size: Math.min(100000, Math.max(2, Math.round(Number(number.value) || 10))) }));
    return field("Smallest cluster", "Fewer points together than this are noise.", "n_neighbors", number);
  }
}
