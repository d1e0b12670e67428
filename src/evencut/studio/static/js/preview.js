// While the user drags: a sample is clustered again and again, and every point follows the sample's point next to it.

import { highest } from "./agreement.js";

export class Previewer {
  constructor(api, panes) {
    Object.assign(this, { api, panes });
    this.shown = 0;
  }

  /** New data or columns: the sample is another. */
  forget() {
    this.follows = null;
  }

  /** Find the sample before it is needed. */
  async prepare() {
    await this.#load().catch(() => {});
  }

  /** Show what a method would give; while one answer is made, only the last question is kept. */
  async ask(key, method) {
    this.next = { key, method };
    if (this.busy) return;
    this.busy = true;
    try {
      let answer = this.#request();
      while (answer) {
        const found = await answer;
        // The studio makes the next answer while this one is painted.
        answer = this.#request();
        answer?.catch(() => {});
        this.panes[found.key].preview(found.values, this.follows, this.weights);
        this.shown += 1;
      }
    } catch {
      // The fit that follows says what is wrong.
    } finally {
      this.busy = false;
    }
  }

  /** The answer to the last question, on its way; null where nothing was asked since. */
  #request() {
    const asked = this.next;
    this.next = null;
    return asked && this.#answer(asked);
  }

  async #answer({ key, method }) {
    await this.#load();
    const before = [...this.panes[key].labelsAt(this.follows, this.weights.length)];
    const { values } = await this.api.askArray("/preview", { method, before }, Int32Array);
    return { key, values };
  }

  /** Forget what was asked but not answered yet: the real thing is under way. */
  drop() {
    this.next = null;
  }

  async #load() {
    if (this.follows) return;
    this.loading ??= this.#fetch().finally(() => (this.loading = null));
    await this.loading;
  }

  async #fetch() {
    const { values } = await this.api.array("/points/sample", Int16Array);
    const weights = new Float64Array(highest(values));
    for (let i = 0; i < values.length; i++) if (values[i] >= 0) weights[values[i]] += 1;
    this.follows = values;
    this.weights = weights;
  }
}
