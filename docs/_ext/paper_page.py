"""Writes the body of the paper's page from the results of `evencut reproduce all`, kept in docs/reproduced.

    python docs/_ext/paper_page.py out/paper

keeps new results: `results.json`, and the pictures, small, of all figures that show no photo of the data folder.
"""

import json
import shutil
import sys
from pathlib import Path

#: Figures whose pictures show photos that are not the project's to give away.
PHOTOS = {"grabcut"}
KEPT = "reproduced"
BODY = "reproduced/body.md"
WIDTH = 900


def setup(app):
    """Write the body before Sphinx reads the sources."""
    app.connect("config-inited", write_body)
    return {"parallel_read_safe": True}


def write_body(app, config):
    """Write reproduced/body.md, which paper.md includes."""
    from evencut.paper.results import page_of

    folder = Path(app.srcdir) / KEPT
    results = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    pictures = {path.stem: f"{KEPT}/{path.name}" for path in folder.glob("*.png")}
    text = page_of(results, pictures)
    target = Path(app.srcdir) / BODY
    if not target.exists() or target.read_text(encoding="utf-8") != text:
        target.write_text(text, encoding="utf-8")


def keep(source, folder):
    """Copy results and small pictures from a folder that `evencut reproduce all` has written."""
    from PIL import Image

    folder.mkdir(exist_ok=True)
    shutil.copyfile(source / "results.json", folder / "results.json")
    made = {figure["name"] for figure in json.loads((folder / "results.json").read_text(encoding="utf-8"))["figures"]}
    for old in folder.glob("*.png"):
        old.unlink()
    for name in sorted(made - PHOTOS):
        with Image.open(source / f"{name}.png") as picture:
            small = picture.convert("RGB")
            small.thumbnail((WIDTH, WIDTH))
            # Few colours are enough for diagrams, and a quarter of the bytes.
            small.quantize(96).save(folder / f"{name}.png", optimize=True)


if __name__ == "__main__":
    keep(Path(sys.argv[1]), Path(__file__).parents[1] / KEPT)
