// What can be taken home from a clustering: labels, pictures, a report, and the code that makes it again.

import { clusterColour, colourAt, groundColour, inkColour } from "./colours.js";
import { methodDetail } from "./controls.js";
import { attempt, count, dialog, h, notice, recipeView, save } from "./ui.js";

const MOST_IN_SVG = 50000;

function hex(packedColour) {
  const part = (shift) => ((packedColour >>> shift) & 255).toString(16).padStart(2, "0");
  return `#${part(0)}${part(8)}${part(16)}`;
}

const title = (pane) => `${pane.title.textContent} (${pane.run.kind === "fit" ? methodDetail(pane.run.method, pane.run.facts) : "column"})`;

/** The plot as a PNG at twice the size on the page, with a title and the sizes. */
async function png(pane) {
  const { canvas, over } = pane.plot;
  const head = 56 * pane.plot.ratio;
  const paper = new OffscreenCanvas(canvas.width, canvas.height + head);
  const pen = paper.getContext("2d");
  pen.fillStyle = groundColour();
  pen.fillRect(0, 0, paper.width, paper.height);
  pen.drawImage(canvas, 0, head);
  pen.drawImage(over, 0, head);
  pen.scale(pane.plot.ratio, pane.plot.ratio);
  pen.fillStyle = inkColour();
  pen.font = "600 15px system-ui, sans-serif";
  pen.fillText(title(pane), 12, 24);
  pen.font = "12px system-ui, sans-serif";
  let x = 12;
  pane.run.facts.sizes.slice(0, 12).forEach((size, label) => {
    if (!size) return;
    const text = `${pane.nameOf(label)}: ${count(size)}`;
    pen.fillStyle = clusterColour(label);
    pen.beginPath();
    pen.arc(x + 5, 41, 5, 0, 7);
    pen.fill();
    pen.fillStyle = inkColour();
    pen.fillText(text, x + 14, 45);
    x += 26 + pen.measureText(text).width;
  });
  return paper.convertToBlob({ type: "image/png" });
}

const escaped = (text) => text.replace(/[&<>"]/g, (letter) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[letter]);

/** The plot as SVG; of very many points an even sample, which the picture says. */
function svg(pane) {
  const { points, map, ratio } = pane.plot;
  const width = pane.plot.canvas.width / ratio;
  const height = pane.plot.canvas.height / ratio;
  const n = points.length / 2;
  const step = Math.max(1, Math.ceil(n / MOST_IN_SVG));
  const colours = pane.values ? pane.plot.colours : pane.colours();
  const radius = (pane.plot.radius / ratio).toFixed(2);
  const groups = new Map();
  for (let i = 0; i < n; i += step) {
    const x = (points[2 * i] * map.sx + map.tx) / ratio;
    const y = (points[2 * i + 1] * map.sy + map.ty) / ratio;
    if (!(x > -5 && y > -5 && x < width + 5 && y < height + 5)) continue;
    const colour = colourAt(colours, i);
    if (!groups.has(colour)) groups.set(colour, []);
    groups.get(colour).push(`<circle cx="${x.toFixed(1)}" cy="${(y + 40).toFixed(1)}" r="${radius}"/>`);
  }
  const drawn = [...groups].map(([colour, circles]) => `<g fill="${hex(colour)}" fill-opacity="0.92">${circles.join("")}</g>`).join("\n");
  const sampled = step > 1 ? ` (every ${step}th of ${n} points)` : "";
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height + 40}" viewBox="0 0 ${width} ${height + 40}">` +
    `<rect width="100%" height="100%" fill="${groundColour()}"/>` +
    `<text x="12" y="25" font-family="system-ui, sans-serif" font-size="15" font-weight="600" fill="${inkColour()}">${escaped(title(pane) + sampled)}</text>\n` +
    `${drawn}</svg>\n`
  );
}

/** The dialog of everything that can be exported from a pane. */
export async function exportDialog(api, pane) {
  if (!pane.run) return notice("cluster something first", "error");
  const run = pane.run.id;
  const fetched = (file) => () => attempt(async () => save(...(await api.file(`/runs/${run}/${file}`))));
  const button = (text, name, onclick) => h("button", { "data-export": name, onclick }, text);
  const files = [
    button("Your table with the clusters", "rows", fetched("rows")),
    button("Clusters alone, CSV", "csv", fetched("labels.csv")),
    button("Clusters alone, Parquet", "parquet", fetched("labels.parquet")),
    button("Picture, PNG", "png", async () => save(await png(pane), "clusters.png")),
    button("Picture, SVG", "svg", () => save(svg(pane), "clusters.svg", "image/svg+xml")),
    button("Report, HTML", "html", fetched("report.html")),
  ];
  if (pane.run.n_held) files.push(button("Corrections, CSV", "corrections", fetched("corrections.csv")));
  dialog(`Export ${pane.title.textContent}`, h("div", { class: "button-row" }, files), recipeView(api.get(`/runs/${run}/recipe`), "Makes exactly these labels again.", "cluster.py"));
}
