// A project: all of this tab in one file, saved and opened again.

import { $, h, notice, save } from "./ui.js";

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
    try {
      await timeline.flush();
      const name = (points.points?.name ?? photos.photo?.name ?? "project").replace(/\.\w+$/, "");
      save(await api.blob("/project.evencut"), `${name}.evencut`);
    } catch (error) {
      notice(error.message, "error");
    }
  }

  async open(file) {
    const { api, timeline, work } = this.studio;
    this.file.value = "";
    const show = (share) => work.show({ name: `Loading ${file.name}`, step: "", share });
    show(0);
    try {
      await timeline.settled();
      const state = await api.upload("/project/upload", file, show);
      await timeline.restore(state);
      timeline.remember(`open ${file.name}`);
    } catch (error) {
      notice(error.message, "error");
    } finally {
      work.show(null);
    }
  }
}
