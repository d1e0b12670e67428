// Files that come to the page: dropped, pasted, or named on the command line.

import { $, h, notice } from "./ui.js";

const PHOTO = /\.(png|jpe?g|webp|tiff?|gif|bmp|hei[cf]|avif)$/i;
const PROJECT = /\.evencut$/i;

export const isPhoto = (name) => PHOTO.test(name);

async function take(studio, files) {
  const project = files.find((file) => PROJECT.test(file.name));
  if (project) return studio.projects.open(project);
  const photos = files.filter((file) => PHOTO.test(file.name));
  if (photos.length) {
    studio.show("photos");
    return studio.photos.open(photos);
  }
  if (!files.length) return;
  studio.show("points");
  await studio.points.data.upload(files[0]);
}

export async function openGiven(studio, index) {
  const name = studio.about.files[index];
  if (PROJECT.test(name)) return studio.projects.given(index);
  if (PHOTO.test(name)) {
    studio.show("photos");
    const album = studio.about.files.flatMap((file, given) => (PHOTO.test(file) ? [{ given, name: file, key: null, page: 0 }] : []));
    return studio.photos.openAlbum(album, album.findIndex(({ given }) => given === index));
  }
  studio.show("points");
  await studio.points.data.given(index);
}

export function offerFiles(studio) {
  const box = h("select", { "aria-label": "File of the command line", onchange: () => openGiven(studio, Number(box.value)) });
  studio.about.files.forEach((name, index) => box.append(h("option", { value: String(index) }, name)));
  $("files").append(box);
}

export function listenForFiles(studio) {
  const any = $("any-file");
  any.addEventListener("change", () => take(studio, [...any.files]).finally(() => (any.value = "")));
  any.labels[0].addEventListener("keydown", (event) => (event.key === "Enter" || event.key === " ") && any.click());
  const veil = $("drop");
  let depth = 0;
  const carriesFiles = (event) => [...(event.dataTransfer?.types ?? [])].includes("Files");
  document.addEventListener("dragenter", (event) => {
    if (carriesFiles(event)) veil.hidden = ++depth <= 0;
  });
  document.addEventListener("dragleave", (event) => {
    if (carriesFiles(event)) veil.hidden = --depth <= 0;
  });
  document.addEventListener("dragover", (event) => event.preventDefault());
  document.addEventListener("drop", (event) => {
    event.preventDefault();
    depth = 0;
    veil.hidden = true;
    take(studio, [...(event.dataTransfer?.files ?? [])]);
  });
  document.addEventListener("paste", (event) => {
    if (event.target.matches?.("input, textarea")) return;
    const files = [...(event.clipboardData?.files ?? [])];
    if (files.length) return take(studio, files);
    const text = event.clipboardData?.getData("text/plain") ?? "";
    if (text.trim().split("\n").length < 4) return notice("copy at least three rows of a spreadsheet, then paste them here", "error");
    take(studio, [new File([text], text.split("\n")[0].includes("\t") ? "pasted.tsv" : "pasted.csv")]);
  });
}
