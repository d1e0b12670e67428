// The drawer under the plots: a bar that is always there, and one view of the answers when it is opened.

import { h, segmented } from "./ui.js";

export class Dock {
  /** views: [[name, title, element, onshow]]; bar: what stands in the bar beside the names; change(open view) */
  constructor(views, bar, change) {
    this.views = new Map(views.map(([name, , element, onshow]) => [name, { element, onshow }]));
    this.change = change;
    this.tabs = segmented("What is shown below", views.map(([name, title]) => [name, title]), null, (name) => this.#pressed(name));
    this.body = h("div", { class: "dock-body", hidden: true }, [...this.views.values()].map(({ element }) => element));
    this.element = h("section", { class: "dock", "aria-label": "Answers" }, h("div", { class: "dock-bar" }, bar, this.tabs), this.body);
    this.shown = null;
    this.show(null);
  }

  #pressed(name) {
    this.show(this.shown === name ? null : name);
    this.change(this.shown);
  }

  /** Open a view, or close the drawer with null. */
  show(name) {
    this.shown = this.views.has(name) ? name : null;
    this.tabs.show(this.shown);
    this.body.hidden = this.shown === null;
    for (const [key, { element, onshow }] of this.views) {
      element.hidden = key !== this.shown;
      if (key === this.shown) onshow?.();
    }
  }
}
