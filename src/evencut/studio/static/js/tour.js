// Five steps through the page, for the first visit and whenever they are asked for.

import { h, replace } from "./ui.js";

const STEPS = [
  [".sidebar .card", "Your data", "Open a file, paste from a spreadsheet, or drop one anywhere. Nothing leaves this machine."],
  ["[data-pane=a] .plot", "Two clusterings", "The same points by two methods. Colours are matched: what belongs together looks alike."],
  ["[data-action=diagnose]", "Is it an artefact?", "Diagnose says whether density, not structure, has drawn the borders, and how to cure it."],
  [".sweep-bar", "Bandwidth", "Drag: the clustering follows at once. Sweep tries all of them."],
  ["#undo", "Nothing is lost", "Undo reaches everything. Project saves all of it in one file. Ctrl+K finds any command."],
];

export function tour() {
  let at = 0;
  const box = h("div", { class: "tour", role: "dialog", "aria-label": "Tour" });
  const end = () => {
    box.remove();
    document.querySelector(".toured")?.classList.remove("toured");
    document.removeEventListener("keydown", leave);
  };
  const leave = (event) => event.key === "Escape" && end();
  const show = () => {
    document.querySelector(".toured")?.classList.remove("toured");
    const [place, title, text] = STEPS[at];
    const target = document.querySelector(place);
    target?.classList.add("toured");
    target?.scrollIntoView({ block: "nearest" });
    const last = at === STEPS.length - 1;
    const next = h("button", { class: "small primary", "data-action": "tour-next", onclick: () => (last ? end() : ((at += 1), show())) }, last ? "Done" : "Next");
    replace(box, h("strong", {}, title), h("p", {}, text), h("div", { class: "button-row" }, h("span", { class: "quiet" }, `${at + 1} of ${STEPS.length}`), h("span", { class: "grow" }), h("button", { class: "small", onclick: end }, "Leave"), next));
    const around = target?.getBoundingClientRect();
    if (around) {
      const below = around.bottom + 12;
      box.style.left = `${Math.max(8, Math.min(around.left, innerWidth - 316))}px`;
      box.style.top = `${Math.max(8, Math.min(below + 150 > innerHeight ? around.top - 168 : below, innerHeight - 180))}px`;
    }
    next.focus();
  };
  document.querySelector(".tour")?.remove();
  document.body.append(box);
  document.addEventListener("keydown", leave);
  show();
}
