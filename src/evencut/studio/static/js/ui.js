// Small pieces of the page: elements, notices, dialogs, files to save. No styles in markup: the content policy forbids it.

const SVG = "http://www.w3.org/2000/svg";

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "class") element.setAttribute("class", value);
    else if (name in element && typeof value !== "string" && !(element instanceof SVGElement)) element[name] = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/** An HTML element with attributes, listeners (`onclick`) and children. */
export function h(tag, attributes, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/** The same for SVG. */
export function s(tag, attributes, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

/** The direction of each arrow key on the screen. */
export const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

export const $ = (id) => document.getElementById(id);

/** Put new children in place of the old. */
export function replace(element, ...children) {
  element.replaceChildren(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
}

/** A notice that goes away by itself; errors stay longer and are read aloud at once. */
export function notice(text, kind = "info") {
  const box = h("div", { class: `notice ${kind}`, role: kind === "error" ? "alert" : "status" }, h("span", {}, text));
  const close = h("button", { class: "plain", "aria-label": "Close this notice", onclick: () => box.remove() }, "×");
  box.append(close);
  $("notices").append(box);
  setTimeout(() => box.remove(), kind === "error" ? 12000 : 5000);
  return box;
}

/** Do it, and say what went wrong where something did; what the user has stopped is no mistake. */
export async function attempt(act) {
  try {
    return await act();
  } catch (error) {
    if (error.status !== "cancelled") notice(error.message, "error");
  }
}

/** A dialog with a title; returns the element so that it can be filled later. */
export function dialog(title, ...content) {
  const box = h("dialog", { class: "dialog", "aria-label": title });
  const close = h("button", { class: "plain", "aria-label": "Close", onclick: () => box.close() }, "×");
  box.append(h("header", {}, h("h2", {}, title), close), h("div", { class: "dialog-body" }, ...content));
  box.addEventListener("close", () => box.remove());
  box.addEventListener("click", (event) => event.target === box && box.close());
  document.body.append(box);
  box.showModal();
  return box;
}

/** A table that scrolls by itself; heads are words or cells, rows are rows of the table. */
export function table(label, heads, rows, kind = null) {
  const cells = heads.map((head) => (head instanceof Element ? head : h("th", { scope: "col" }, head)));
  const whole = h("table", { class: kind }, h("thead", {}, h("tr", {}, cells)), h("tbody", {}, rows));
  return h("div", { class: "table-scroll", tabindex: "0", role: "region", "aria-label": label }, whole);
}

/** A row of plain cells. */
export const row = (values) => h("tr", {}, values.map((value) => h("td", {}, value)));

/** A button that opens files: `take` gets a list of them. */
export function fileButton(text, id, accept, take, multiple = false) {
  const file = h("input", { type: "file", accept, multiple, class: "visually-hidden", id, onchange: () => file.files.length && Promise.resolve(take([...file.files])).finally(() => (file.value = "")) });
  const press = (event) => (event.key === "Enter" || event.key === " ") && file.click();
  return [h("label", { class: "button small", for: id, tabindex: "0", onkeydown: press }, text), file];
}

/** Code with a button that copies it. */
export function codeBlock(text, label) {
  const copy = h("button", { class: "small", onclick: () => copyText(text, label) }, "Copy");
  return h("div", { class: "code" }, copy, h("pre", { tabindex: "0", "aria-label": label }, h("code", {}, text)));
}

/** The code and the command of a result, once they are written. */
export function recipeView(asked, hint, file) {
  const box = h("div", {}, h("p", { class: "hint" }, "writing the code …"));
  attempt(async () => {
    const { python, command, why_no_command } = await asked;
    const code = h("button", { class: "small", "data-export": "python", onclick: () => save(python, file, "text/x-python") }, `Save as ${file}`);
    replace(box, h("h3", {}, "Python"), h("p", { class: "hint" }, hint), codeBlock(python, "Python code"), code, h("h3", {}, "Command line"), command ? codeBlock(command, "command line") : h("p", { class: "hint" }, `No command: ${why_no_command}`));
  });
  return box;
}

export async function copyText(text, label = "text") {
  try {
    await navigator.clipboard.writeText(text);
    notice(`${label} copied`);
  } catch {
    const box = dialog(label, h("textarea", { rows: "8", readonly: true, "aria-label": label }, text));
    box.querySelector("textarea").select();
  }
}

/** Save bytes or text under a name. */
export function save(content, name, type) {
  const address = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type }));
  const link = h("a", { href: address, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}

/** A number as people write it: few digits, no noise. */
export function short(value, digits = 3) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  if (Number.isInteger(value) && Math.abs(value) < 1e4) return String(value);
  const size = Math.abs(value);
  if (size >= 1e12 || (size !== 0 && size < 1e-4)) return value.toExponential(digits - 1).replace("e+", "e");
  if (size >= 1e4) return count(Math.round(value));
  return String(Number(value.toPrecision(digits)));
}

/** The value of a cell of a table. */
export const written = (value, digits = 5) => (typeof value === "number" && !Number.isInteger(value) ? short(value, digits) : String(value ?? "–"));

/** A share or an index with two digits, without the sign of a zero. */
export const twoDigits = (value) => value.toFixed(2).replace(/^-(0\.00)$/, "$1");

export const count = (n) => n.toLocaleString("en-GB");
export const many = (n, what) => `${count(n)} ${what}${n === 1 ? "" : "s"}`;
export const percent = (share) => `${(100 * share).toFixed(share < 0.1 ? 1 : 0)} %`;

/** Call at most once in so many milliseconds, always with the last arguments. */
export function later(wait, call) {
  let timer = null;
  return (...given) => {
    clearTimeout(timer);
    timer = setTimeout(() => call(...given), wait);
  };
}

/** A control with its name, what it does in one sentence, and where to read more. */
export function field(name, hint, topic, ...controls) {
  const id = `f-${topic}-${Math.random().toString(36).slice(2, 7)}`;
  const first = controls.flat()[0];
  first.id = first.id || id;
  first.setAttribute("aria-describedby", `${id}-hint`);
  const more = h("a", { href: `/static/help.html#${topic}`, target: "_blank", rel: "noopener", "aria-label": `More about ${name}` }, "?");
  return h(
    "div",
    { class: "field", "data-field": topic },
    h("div", { class: "field-head" }, h("label", { for: first.id }, name), h("span", { class: "help" }, more)),
    h("div", { class: "field-controls" }, ...controls),
    h("p", { class: "hint", id: `${id}-hint` }, hint),
  );
}

/** What tells a control apart from the others of a form, for when the form is drawn again. */
function markOf(element) {
  for (const name of ["control", "preset", "value", "sort", "action"]) {
    if (element?.dataset?.[name] === undefined) continue;
    const group = element.closest("[role=group]")?.getAttribute("aria-label");
    const own = `[data-${name}="${CSS.escape(element.dataset[name])}"]`;
    return group ? `[aria-label="${CSS.escape(group)}"] ${own}` : own;
  }
  return null;
}

/** Draw an element again and leave the focus on the control that had it. */
export function keepFocus(element, draw) {
  const mark = element.contains(document.activeElement) ? markOf(document.activeElement) : null;
  draw();
  if (mark) element.querySelector(mark)?.focus();
}

/** A select of [value, text] pairs. */
export function select(options, value, onchange, attributes = {}) {
  const box = h("select", { ...attributes, onchange: () => onchange(box.value) });
  for (const [key, text] of options) box.append(h("option", { value: key, selected: key === value }, text));
  return box;
}

/** Buttons of which one is pressed. */
export function segmented(name, options, value, onchange) {
  const box = h("div", { class: "segmented", role: "group", "aria-label": name });
  const show = (chosen) => {
    for (const button of box.children) button.setAttribute("aria-pressed", String(button.dataset.value === chosen));
  };
  for (const [key, text, title] of options) {
    box.append(h("button", { "data-value": key, title: title ?? null, onclick: () => (show(key), onchange(key)) }, text));
  }
  show(value);
  box.show = show;
  return box;
}
