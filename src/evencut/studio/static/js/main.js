// The page begins here: session, theme, the two halves, undo, files that are dropped or pasted, links.

import { about as askAbout, Work } from "./api.js";
import { setKernels } from "./controls.js";
import { isPhoto, listenForFiles, openGiven, offerFiles } from "./files.js";
import { Palette } from "./palette.js";
import { Photos } from "./photos.js";
import { Points } from "./points.js";
import { Projects } from "./projects.js";
import { fromLink, openSession, toLink } from "./store.js";
import { Timeline } from "./timeline.js";
import { takeToken } from "./token.js";
import { $, copyText, notice, percent, replace } from "./ui.js";

const THEME = "evencut-theme";

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

class Studio {
  constructor(about, api, state) {
    Object.assign(this, { about, api, state });
    this.half = "points";
    this.work = new Work(api, showWork, () => this.timeline.settled());
    this.timeline = new Timeline(api, () => this.page(), (found) => this.restore(found));
    const remember = (what) => this.timeline.remember(what);
    const context = { api, about, work: this.work, remember };
    this.points = new Points(context);
    this.photos = new Photos(context);
    this.halves = { points: this.points, photos: this.photos };
    this.projects = new Projects(this);
    replace($("main"), this.points.element, this.photos.element);
    this.#listen();
  }

  /** What the page shows, for a reload, an undo, a link. */
  page() {
    const { points, photos, half } = this;
    const settings = points.settings();
    const { names, ...link } = settings;
    const example = points.points?.source.example ?? null;
    const address = { v: 1, half, example, data: points.points?.name ?? null, photo: photos.photo?.source.example ?? null, points: link };
    history.replaceState(null, "", `#s=${toLink(address)}`);
    return { half, points: settings };
  }

  async restore(state) {
    if (state.points) await this.points.restore(state);
    await this.photos.restore(state.photo, state.album);
    this.show(state.page.half ?? this.half);
  }

  show(chosen) {
    this.half = chosen;
    for (const [name, part] of Object.entries(this.halves)) {
      part.element.hidden = name !== chosen;
      $(`tab-${name}`).setAttribute("aria-selected", String(name === chosen));
      $(`tab-${name}`).tabIndex = name === chosen ? 0 : -1;
    }
    this.halves[chosen].repaint();
    this.timeline.remember();
  }

  async openHalf(name) {
    this.show(name);
    if (name === "photos" && !this.photos.photo && this.about.photos.length) await this.photos.example(this.about.photos[0].name);
    if (name === "points" && !this.points.points) await this.points.data.example(this.about.points[0].name);
  }

  toggleTheme() {
    const theme = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
    localStorage.setItem(THEME, theme);
    setTheme(theme);
    for (const part of Object.values(this.halves)) part.repaint();
  }

  #listen() {
    for (const name of Object.keys(this.halves)) {
      $(`tab-${name}`).addEventListener("click", () => this.openHalf(name));
      $(`tab-${name}`).addEventListener("keydown", (event) => {
        if (event.key !== "ArrowLeft" && event.key !== "ArrowRight") return;
        const other = name === "points" ? "photos" : "points";
        this.openHalf(other);
        $(`tab-${other}`).focus();
      });
    }
    $("theme").addEventListener("click", () => this.toggleTheme());
    $("link").addEventListener("click", () => copyText(location.href, "Link"));
    $("commands").addEventListener("click", () => this.palette.open());
    $("work-stop").addEventListener("click", () => this.work.stop().catch((error) => notice(error.message, "error")));
    this.palette = new Palette(() => this.#commands());
    document.addEventListener("keydown", (event) => this.#key(event));
    this.#closeMenu($("project"));
    addEventListener("pagehide", () => this.api.leave());
    addEventListener("beforeunload", (event) => this.#holdsWork() && event.preventDefault());
    addEventListener("pageshow", (event) => event.persisted && this.api.get("").catch(() => location.reload()));
    listenForFiles(this);
  }

  /** Whether work on the user's own data was saved in no project yet. */
  #holdsWork() {
    const own = [this.points.points?.source.kind, this.photos.photo?.source.kind].some((kind) => kind && kind !== "example");
    return own && this.timeline.unsaved;
  }

  /** A menu closes when something in it was chosen, by a press elsewhere, and by Escape. */
  #closeMenu(menu) {
    const close = () => (menu.open = false);
    menu.addEventListener("click", (event) => event.target.closest(".menu-body button") && close());
    document.addEventListener("pointerdown", (event) => !menu.contains(event.target) && close());
    menu.addEventListener("keydown", (event) => {
      if (event.key !== "Escape") return;
      close();
      menu.querySelector("summary").focus();
    });
  }

  #key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches?.("input, textarea, select")) return;
    if (this.half === "photos") return this.photos.keydown(event);
    if (event.key.toLowerCase() === "f") this.points.look.toggleFull();
    else if (event.key === "Escape" && document.body.classList.contains("full")) this.points.look.toggleFull(false);
  }

  #commands() {
    const { points, photos, timeline, projects } = this;
    const view = (name, title) => [`Show ${title}`, "", () => points.dock.show(name)];
    const ofPoints = [
      ["Cluster", "", () => points.run(points.active)],
      ["Diagnose the left", "", () => points.diagnosis.diagnose("a")],
      ["Diagnose the right", "", () => points.diagnosis.diagnose("b")],
      ["Sweep all bandwidths", "", () => points.runSweep()],
      ["Mark the points that differ", "", () => points.compare.both && points.compare.mark()],
      ["Lasso", "", () => points.look.setTool("lasso")],
      ["Full screen", "F", () => points.look.toggleFull()],
      ["Fold the choices away", "", () => points.look.setSides(!points.look.sides)],
      ...[["one", "One plot"], ["two", "Two plots"], ["swipe", "Swipe between the two"]].map(([layout, title]) => [title, "", () => points.look.setLayout(layout)]),
      view("clusters", "all clusters"), view("compare", "the comparison"), view("selected", "the selected rows"), view("runs", "clusterings of before"),
      ...this.about.points.map(({ name, title }) => [`Open example: ${title}`, "", () => points.data.example(name)]),
    ];
    const ofPhotos = [
      ["New object", "N", () => photos.objects.begin()],
      ["Next photo", "", () => photos.turnTo(photos.place + 1)],
      ["Previous photo", "", () => photos.turnTo(photos.place - 1)],
      ["Start the photo over", "", () => photos.restart()],
    ];
    return [
      ...(this.half === "points" ? ofPoints : ofPhotos),
      ["Undo", "Ctrl+Z", () => timeline.move(-1)],
      ["Redo", "Ctrl+Shift+Z", () => timeline.move(1)],
      ["Save the project", "", () => projects.save()],
      ["Open a project", "", () => projects.choose()],
      ["Points", "", () => this.openHalf("points")],
      ["Photos", "", () => this.openHalf("photos")],
      ["Light or dark colours", "", () => this.toggleTheme()],
    ];
  }

  /** Show what the session holds, what a link asks for, the file of the command line, or the first example. */
  async begin() {
    const { about, state, points, photos } = this;
    const link = fromLink(location.hash);
    if (state.points || state.photo) {
      await this.timeline.restore(state);
      if (state.job?.running) {
        await this.work.resume(state.job).catch(() => {});
        await this.timeline.restore(await this.api.get(""));
      }
      return;
    }
    this.show(link?.half ?? "points");
    if (about.files.length) return openGiven(this, 0);
    if (link?.half === "photos" && link.photo) await photos.example(link.photo);
    const example = about.points.find((known) => known.name === link?.example) ?? about.points[0];
    if (link && link.data && !link.example) notice(`This link speaks of ${link.data}: open that file, then choose the settings again.`);
    if (link?.half !== "photos") await points.data.example(example.name, link?.example ? link.points : null);
    await this.timeline.flush();
  }
}

async function start() {
  takeToken();
  setTheme(firstTheme());
  const [about, { api, state }] = await Promise.all([askAbout(), openSession()]);
  const studio = new Studio(about, api, state);
  if (about.files.length > 1 && !about.files.every(isPhoto)) offerFiles(studio);
  if (about.recoverable.length && !state.points && !state.photo) studio.projects.offer(about.recoverable);
  // The page is there; what it needs of the libraries comes behind it, and is named meanwhile.
  studio.show("points");
  showWork({ name: "Starting: scikit-learn, and the processes that work", step: "", share: null });
  const kernels = api.kernels().then((found) => {
    setKernels(found);
    studio.points.showMethod();
    for (const pane of Object.values(studio.points.panes)) if (pane.run) pane.showTitle();
  });
  await Promise.all([kernels, studio.begin()]).finally(() => studio.work.busy || showWork(null));
  document.documentElement.dataset.ready = "yes";
}

start().catch((error) => {
  notice(error.message, "error");
  document.documentElement.dataset.ready = "failed";
});
