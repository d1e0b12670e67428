// Every command of the page by its name: Ctrl+K opens the list, letters narrow it, Enter runs the first.

import { dialog, h, replace } from "./ui.js";

export class Palette {
  /** commands(): [[name, keys, act]] */
  constructor(commands) {
    this.commands = commands;
    document.addEventListener("keydown", (event) => {
      if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== "k") return;
      event.preventDefault();
      this.open();
    });
  }

  open() {
    if (document.querySelector(".palette")) return;
    const list = h("ul", { class: "commands", role: "listbox", "aria-label": "Commands" });
    const word = h("input", { type: "text", class: "palette", role: "combobox", "aria-expanded": "true", "aria-label": "Name of a command", placeholder: "Type a command" });
    const box = dialog("Commands", word, list);
    let chosen = 0;
    const show = () => {
      const wanted = word.value.trim().toLowerCase().split(/\s+/);
      this.found = this.commands().filter(([name]) => wanted.every((part) => name.toLowerCase().includes(part)));
      chosen = Math.max(0, Math.min(chosen, this.found.length - 1));
      replace(
        list,
        this.found.map(([name, keys], i) =>
          h("li", { role: "option", "aria-selected": String(i === chosen), onclick: () => run(i) }, name, keys ? h("kbd", {}, keys) : null),
        ),
      );
    };
    const run = (i) => {
      const command = this.found[i];
      box.close();
      command?.[2]();
    };
    word.addEventListener("input", () => ((chosen = 0), show()));
    word.addEventListener("keydown", (event) => {
      if (event.key === "ArrowDown") chosen += 1;
      else if (event.key === "ArrowUp") chosen = Math.max(0, chosen - 1);
      else if (event.key === "Enter") return event.preventDefault(), run(chosen);
      else return;
      event.preventDefault();
      show();
    });
    show();
    word.focus();
  }
}
