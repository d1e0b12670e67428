// A project: all of this tab in one file, saved and opened again.

import { $, attempt, h, notice, save } from "./ui.js";

export class Projects {
  constructor(studio) {
    this.studio = studio;
    this.file = h("input", { type: "file", accept: ".evencut", class: "visually-hidden", id: "project-file", tabindex: "-1", "aria-label": "Project file", onchange: () => this.file.files[0] && this.open(this.file.files[0]) });
    $("project").append(this.file);
    $("save-project").addEventListener("click", () => this.save());
    $("open-project").addEventListener("click", () => this.choose());
  }

  choose() {
    this.file.click();
  }

  async save() {
    const { api, timeline, points, photos } = this.studio;
    await attempt(async () => {
      await timeline.flush();
      const name = (points.points?.name ?? photos.photo?.name ?? "project").replace(/\.\w+$/, "");
      save(await api.blob("/project.evencut"), `${name}.evencut`);
      timeline.unsaved = false;
    });
  }

  open(file) {
    this.file.value = "";
    return this.#take(file.name, (api, show) => api.upload("/project/upload", file, show));
  }

  /** A project of the command line. */
  given(index) {
    return this.#take(this.studio.about.files[index], (api) => api.post("/project/given", { index }));
  }

  /** Offer what an ended studio or a closed tab has left. */
  offer(recoverable) {
    const box = h("p", { class: "recover", role: "status" });
    const end = () => box.remove();
    const when = (saved) => new Date(1000 * saved).toLocaleString([], { dateStyle: "medium", timeStyle: "short" });
    const restore = ({ id, name }) => this.#take(name, (api) => api.post("/recover", { id })).then(end);
    const buttons = recoverable.slice(0, 3).map((one) => h("button", { class: "small primary-soft", "data-action": "recover", onclick: () => restore(one) }, `${one.name}, ${when(one.saved)}`));
    const discard = () => this.studio.api.delete("/recover").then(end, (error) => notice(error.message, "error"));
    box.append("Unsaved work was kept. Restore: ", ...buttons, h("button", { class: "small", "data-action": "discard", onclick: discard }, "Delete it"), h("button", { class: "plain", "aria-label": "Not now", onclick: end }, "×"));
    $("main").before(box);
  }

  async #take(name, ask) {
    const { api, timeline, work } = this.studio;
    const show = (share) => work.show({ name: `Loading ${name}`, step: "", share });
    show(0);
    try {
      await timeline.settled();
      await timeline.restore(await ask(api, show));
      timeline.remember(`open ${name}`);
    } catch (error) {
      notice(error.message, "error");
    } finally {
      work.show(null);
    }
  }
}
