// The page begins here: session, theme, the two halves, files that are dropped, links.

import { about as askAbout, Work } from "./api.js";
import { setKernels } from "./controls.js";
import { Photos } from "./photos.js";
import { Points } from "./points.js";
import { fromLink, openSession, toLink } from "./store.js";
import { $, copyText, h, later, notice, percent, replace } from "./ui.js";

const THEME = "evencut-theme";
const PHOTO = /\.(png|jpe?g|webp|tiff?)$/i;

function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  $("theme").textContent = theme === "dark" ? "Light" : "Dark";
  $("theme").setAttribute("aria-label", `Switch to ${theme === "dark" ? "light" : "dark"} colours`);
}

function firstTheme() {
  const kept = localStorage.getItem(THEME);
  return kept ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
}

function showWork(state) {
  const box = $("work");
  box.hidden = !state;
  if (!state) return;
  const bar = $("work-bar");
  $("work-text").textContent = [state.name, state.step].filter(Boolean).join(": ") + (state.share > 0 ? ` ${percent(state.share)}` : "");
  bar.classList.toggle("unknown", state.share === null || state.share === undefined);
  bar.firstElementChild.style.width = `${100 * Math.max(0.03, state.share ?? 1)}%`;
}

async function start() {
  setTheme(firstTheme());
  const [about, { api, state }] = await Promise.all([askAbout(), openSession()]);
  const work = new Work(api, showWork);
  let half = "points";
  let points = null;
  let photos = null;
  const remember = later(400, () => {
    if (!points) return;
    api.put("/page", { half, points: points.settings() }).catch(() => {});
    const settings = { v: 1, half, example: points.points?.source.example ?? null, data: points.points?.name ?? null, photo: photos.photo?.source.example ?? null, points: points.settings() };
    history.replaceState(null, "", `#s=${toLink(settings)}`);
  });
  setKernels(about.kernels);
  const context = { api, work, about, remember };
  points = new Points(context);
  photos = new Photos(context);
  const halves = { points, photos };
  replace($("main"), points.element, photos.element);

  const show = (chosen) => {
    half = chosen;
    for (const [name, part] of Object.entries(halves)) {
      part.element.hidden = name !== chosen;
      $(`tab-${name}`).setAttribute("aria-selected", String(name === chosen));
      $(`tab-${name}`).tabIndex = name === chosen ? 0 : -1;
    }
    halves[chosen].repaint();
    remember();
  };
  for (const name of Object.keys(halves)) {
    $(`tab-${name}`).addEventListener("click", () => openHalf(name));
    $(`tab-${name}`).addEventListener("keydown", (event) => {
      if (event.key !== "ArrowLeft" && event.key !== "ArrowRight") return;
      const other = name === "points" ? "photos" : "points";
      openHalf(other);
      $(`tab-${other}`).focus();
    });
  }
  const openHalf = async (name) => {
    show(name);
    if (name === "photos" && !photos.photo && about.photos.length) await photos.example(about.photos[0].name);
    if (name === "points" && !points.points) await points.data.example(about.points[0].name);
  };

  $("theme").addEventListener("click", () => {
    const theme = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
    localStorage.setItem(THEME, theme);
    setTheme(theme);
    for (const part of Object.values(halves)) part.repaint();
  });
  $("link").addEventListener("click", () => copyText(location.href, "Link"));
  $("work-stop").addEventListener("click", () => work.stop().catch((error) => notice(error.message, "error")));
  document.addEventListener("keydown", (event) => half === "photos" && photos.keydown(event));
  listenForDrops(show, points, photos);
  if (about.files.length > 1) offerFiles(about.files, show, points, photos);
  await begin({ about, state, points, photos, show, work });
  document.documentElement.dataset.ready = "yes";
}

/** Show what the session holds, what a link asks for, the file of the command line, or the first example. */
async function begin({ about, state, points, photos, show, work }) {
  const link = fromLink(location.hash);
  const fresh = !state.points && !state.photo;
  show(fresh ? (link?.half ?? "points") : (state.page.half ?? "points"));
  if (!fresh) {
    if (state.photo) await photos.take(state.photo);
    if (state.points) await points.restore(state);
    if (state.job?.running) {
      await work.resume(state.job).catch(() => {});
      const now = await points.api.get("");
      if (now.photo) await photos.take(now.photo);
      if (now.points) await points.restore(now);
    }
    if (!state.points && !state.photo) await points.data.example(about.points[0].name);
    return;
  }
  if (about.files.length) return openGiven(about.files, 0, show, points, photos);
  if (link?.half === "photos" && link.photo) await photos.example(link.photo);
  const example = about.points.find((known) => known.name === link?.example) ?? about.points[0];
  if (link && link.data && !link.example) notice(`This link speaks of ${link.data}: open that file, then choose the settings again.`);
  if (link?.half !== "photos") await points.data.example(example.name, link?.example ? link.points : null);
}

async function openGiven(files, index, show, points, photos) {
  const isPhoto = PHOTO.test(files[index]);
  show(isPhoto ? "photos" : "points");
  await (isPhoto ? photos : points.data).given(index);
}

function offerFiles(files, show, points, photos) {
  const box = h("select", { "aria-label": "File of the command line", onchange: () => openGiven(files, Number(box.value), show, points, photos) });
  files.forEach((name, index) => box.append(h("option", { value: String(index) }, name)));
  $("files").append(box);
}

function listenForDrops(show, points, photos) {
  const veil = $("drop");
  let depth = 0;
  const carriesFiles = (event) => [...(event.dataTransfer?.types ?? [])].includes("Files");
  document.addEventListener("dragenter", (event) => {
    if (carriesFiles(event)) veil.hidden = ++depth <= 0;
  });
  document.addEventListener("dragleave", (event) => {
    if (carriesFiles(event)) veil.hidden = --depth <= 0;
  });
  document.addEventListener("dragover", (event) => event.preventDefault());
  document.addEventListener("drop", async (event) => {
    event.preventDefault();
    depth = 0;
    veil.hidden = true;
    const file = event.dataTransfer?.files[0];
    if (!file) return;
    const isPhoto = PHOTO.test(file.name);
    show(isPhoto ? "photos" : "points");
    await (isPhoto ? photos.upload(file) : points.data.upload(file));
  });
}

start().catch((error) => {
  notice(error.message, "error");
  document.documentElement.dataset.ready = "failed";
});
