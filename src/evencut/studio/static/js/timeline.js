// One line of moments for everything: what was done is told to the server, undo and redo bring moments back.

import { $, attempt, notice } from "./ui.js";

const WAIT_MS = 250;

export class Timeline {
  /** page(): what the page shows, to be found again. apply(state): shows a session's state. */
  constructor(api, page, apply) {
    Object.assign(this, { api, page, apply });
    this.line = Promise.resolve();
    this.untold = 0;
    this.#tell(0);
    $("undo").addEventListener("click", () => this.move(-1));
    $("redo").addEventListener("click", () => this.move(1));
    document.addEventListener("keydown", (event) => this.#key(event));
    this.show({ position: -1, n_moments: 0, undo: null, redo: null });
  }

  /** The user has done something (`what`), which is told at once, or only looks at it otherwise (no `what`). */
  remember(what = null) {
    if (this.applying) return;
    clearTimeout(this.timer);
    this.unsaved ||= Boolean(what);
    if (what) this.#send(async (page) => this.show(await this.api.post("/history", { what, page })));
    else this.timer = setTimeout(() => this.flush(), WAIT_MS);
  }

  /** Tell the server what the page looks like. */
  flush() {
    clearTimeout(this.timer);
    return this.#send((page) => this.api.put("/page", page));
  }

  /** Tell the page as it is now, after all that was told before. */
  #send(tell) {
    const page = this.page();
    this.#tell(1);
    this.line = this.line
      .then(() => tell(page))
      .catch((error) => notice(error.message, "error"))
      .finally(() => this.#tell(-1));
    return this.line;
  }

  /** Whether all that was done is told, for whoever looks at the page from outside. */
  #tell(more) {
    this.untold += more;
    document.documentElement.dataset.told = this.untold ? "no" : "yes";
  }

  /** Wait until all that was done is told: what is done next is then a moment of its own. */
  settled() {
    return this.line;
  }

  /** Undo (-1) or redo (1). */
  async move(by) {
    await this.settled();
    clearTimeout(this.timer);
    this.line = this.line.then(() => this.#go(this.about.position + by));
    return this.line;
  }

  async #go(position) {
    if (position < 0 || position >= this.about.n_moments) return;
    const done = position < this.about.position ? `undone: ${this.about.undo}` : `again: ${this.about.redo}`;
    await attempt(async () => {
      const state = await this.api.put("/history", { position });
      await this.restore(state);
      notice(done);
    });
  }

  /** Show a state without taking that for something the user did. */
  async restore(state) {
    this.applying = true;
    try {
      this.show(state.history);
      await this.apply(state);
    } finally {
      this.applying = false;
      this.unsaved = false;
    }
  }

  show(about) {
    this.about = about;
    for (const [id, word, key] of [["undo", "Undo", "Ctrl+Z"], ["redo", "Redo", "Ctrl+Shift+Z"]]) {
      $(id).disabled = !about[id];
      $(id).title = about[id] ? `${word}: ${about[id]} (${key})` : `Nothing to ${id}`;
    }
  }

  #key(event) {
    if (!(event.ctrlKey || event.metaKey)) return;
    const key = event.key.toLowerCase();
    // A word being written has an undo of its own.
    if (event.target.matches?.("textarea, input[type=text], input:not([type])")) return;
    if (key === "z") this.move(event.shiftKey ? 1 : -1);
    else if (key === "y") this.move(1);
    else return;
    event.preventDefault();
  }
}
