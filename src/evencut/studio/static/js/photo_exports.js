// What can be taken home from a photo: the mask, the cut-out, and the code that makes them again.

import { codeBlock, dialog, h, notice, replace, save } from "./ui.js";

export async function photoExportDialog(api, photo, n_photos) {
  if (!photo?.n_steps) return notice("nothing is cut out yet; draw a box or click on the object", "error");
  const fetched = (file) => async () => {
    try {
      save(...(await api.file(file)));
    } catch (error) {
      notice(error.message, "error");
    }
  };
  const recipes = h("div", {}, h("p", { class: "hint" }, "writing the code …"));
  dialog(
    `Export ${photo.name}`,
    h(
      "div",
      { class: "button-row" },
      h("button", { "data-export": "mask", onclick: fetched("/photo/mask.png") }, "Mask, PNG"),
      h("button", { "data-export": "cutout", onclick: fetched("/photo/cutout.png") }, "Cut-out with alpha, PNG"),
      h("button", { "data-export": "map", onclick: fetched("/photo/map.png") }, "All objects in colours, PNG"),
      h("button", { "data-export": "zip", onclick: fetched("/photo/objects.zip") }, "Mask and cut-out of each, ZIP"),
      h("button", { "data-export": "coco", onclick: fetched("/photo/coco.json") }, "COCO with run lengths, JSON"),
      n_photos > 1 ? h("button", { "data-export": "photos", onclick: fetched("/photos.zip") }, "All photos: masks, cut-outs and COCO, ZIP") : null,
    ),
    recipes,
  );
  try {
    const recipe = await api.get("/photo/recipe");
    replace(
      recipes,
      h("h3", {}, "Python"),
      h("p", { class: "hint" }, "Makes exactly this mask again."),
      codeBlock(recipe.python, "Python code"),
      h("button", { class: "small", "data-export": "python", onclick: () => save(recipe.python, "cut_out.py", "text/x-python") }, "Save as cut_out.py"),
      h("h3", {}, "Command line"),
      recipe.command ? codeBlock(recipe.command, "command line") : h("p", { class: "hint" }, `No command: ${recipe.why_no_command}`),
    );
  } catch (error) {
    notice(error.message, "error");
  }
}
