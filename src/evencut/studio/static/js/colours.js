// Colours that most colour-blind people can tell apart: eight for clusters, one scale from dark blue to yellow for numbers.

import { highest } from "./agreement.js";
import { h } from "./ui.js";

const SHADES = 64;
const LIGHT = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#8c6d00", "#56b4e9", "#7f3b8c", "#e69f00"];
const DARK = ["#4ba3e3", "#ff8a4c", "#2fc79b", "#e39ac5", "#d3b13a", "#8fd0f7", "#b987d1", "#ffc04d"];
// Cividis, made to look the same with and without colour blindness.
const SCALE = ["#00224e", "#123570", "#3b496c", "#575d6d", "#707173", "#8a8678", "#a59c74", "#c3b369", "#e1cc55", "#fee838"];
const VERDICTS = { ok: "#009e73", "mode isolation": "#d55e00", "sparse subset": "#cc79a7", "equal sizes": "#56b4e9", overlap: "#8c8c8c", "one body": "#b8860b", unrelated: "#7f3b8c", "too few points": "#8c8c8c" };

const isDark = () => document.documentElement.dataset.theme === "dark";

const channel = (hex, at) => parseInt(hex.slice(at, at + 2), 16);

/** A colour as the 32 bits that canvas memory holds. */
export function packed(hex) {
  return ((255 << 24) | (channel(hex, 5) << 16) | (channel(hex, 3) << 8) | channel(hex, 1)) >>> 0;
}

function mixed(from, to, share) {
  const part = (at) => Math.round(channel(from, at) * (1 - share) + channel(to, at) * share);
  return `#${[1, 3, 5].map((at) => part(at).toString(16).padStart(2, "0")).join("")}`;
}

/** The colour of a cluster; after the eighth they begin again, lighter and darker in turn. */
export function clusterColour(label) {
  const base = isDark() ? DARK : LIGHT;
  if (label < 0) return isDark() ? "#5d6a76" : "#aab4bd";
  const round = Math.floor(label / base.length);
  const colour = base[label % base.length];
  if (round === 0) return colour;
  return mixed(colour, round % 2 ? (isDark() ? "#ffffff" : "#000000") : isDark() ? "#000000" : "#ffffff", 0.4);
}

/** The colour of a cluster as a small square. */
export function swatch(label) {
  const square = h("i", { class: "swatch" });
  square.style.background = clusterColour(label);
  return square;
}

/** The colour of a share from 0 to 1. */
function scaleColour(share) {
  const place = Math.max(0, Math.min(1, share)) * (SCALE.length - 1);
  const low = Math.min(SCALE.length - 2, Math.floor(place));
  return mixed(SCALE[low], SCALE[low + 1], place - low);
}

export const verdictColour = (verdict) => VERDICTS[verdict] ?? "#8c8c8c";
/** The class of the style in which a verdict is written: only ok is good, and what density cannot tell is neither. */
export const verdictTone = ({ verdict, biased }) => (verdict === "ok" ? "good" : biased || verdict === "unrelated" ? "bad" : "unsure");
export const groundColour = () => (isDark() ? "#141b22" : "#ffffff");
export const inkColour = () => (isDark() ? "#f2f6fa" : "#10181f");

/** The colour of a point. */
export const colourAt = ({ index, table }, row) => table[index[row] + 1];

/**
 * Colours of points by cluster; one may be brought out while others fade.
 * They are a table and, for each point, its place there less one: -1 takes the first, that of noise and gaps. Whatever the
 * number of points, other colours are another table only.
 */
export function byCluster(labels, only = null) {
  const shown = (label) => (only === null || label === only ? clusterColour(label) : mixed(clusterColour(label), groundColour(), 0.82));
  return { index: labels, table: Uint32Array.from({ length: highest(labels) + 1 }, (_, i) => packed(shown(i - 1))) };
}

/** Colours of points by a number: spread so that every shade has as many points, or evenly over a given range. */
export function byValue(values, range = null) {
  const known = [];
  const step = Math.max(1, Math.floor(values.length / 4000));
  for (let i = 0; i < values.length; i += step) if (Number.isFinite(values[i])) known.push(values[i]);
  known.sort((a, b) => a - b);
  const table = Uint32Array.from({ length: SHADES + 1 }, (_, i) => packed(i ? scaleColour((i - 1) / (SHADES - 1)) : clusterColour(-1)));
  const even = (i) => range[0] + ((range[1] - range[0]) * (i + 1)) / SHADES;
  const edges = Float64Array.from({ length: SHADES - 1 }, (_, i) => (range ? even(i) : (known[Math.floor(((i + 1) / SHADES) * known.length)] ?? 0)));
  const index = new Int8Array(values.length).fill(-1);
  for (let i = 0; i < values.length; i++) {
    const value = values[i];
    if (!Number.isFinite(value)) continue;
    let low = 0;
    let high = SHADES - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (value < edges[middle]) high = middle;
      else low = middle + 1;
    }
    index[i] = low;
  }
  return { colours: { index, table }, low: range?.[0] ?? known[0] ?? 0, high: range?.[1] ?? known[known.length - 1] ?? 0 };
}
