// What can be taken home from a photo: the mask, the cut-out, and the code that makes them again.

import { attempt, dialog, h, notice, recipeView, save } from "./ui.js";

export async function photoExportDialog(api, photo, n_photos) {
  if (!photo?.n_steps) return notice("nothing is cut out yet; draw a box or click on the object", "error");
  const fetched = (file) => () => attempt(async () => save(...(await api.file(file))));
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
    recipeView(api.get("/photo/recipe"), "Makes exactly this mask again.", "cut_out.py"),
  );
}
