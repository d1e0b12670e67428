"""Writes the pages of the paper from the results of `python -m reproduction all`, kept in docs/reproduced.

    python docs/_ext/paper_page.py out/paper

makes everything again into out/paper, in the colours of the site, and keeps `results.json` and the pictures of all
figures that show no photo of the data folder.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

#: Figures whose pictures show photos that are not the project's to give away.
PHOTOS = {"grabcut"}
KEPT = "reproduced"
ROOT = Path(__file__).parents[2]
WIDTH = 1300


def setup(app):
    """Write the pages before Sphinx reads the sources."""
    app.connect("config-inited", write_pages)
    return {"parallel_read_safe": True}


def write_pages(app, config):
    """Write reproduced/body.md, which paper.md includes, and reproduced/PART.md."""
    from reproduction.results import pages_of

    folder = Path(app.srcdir) / KEPT
    results = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    for name, text in pages_of(results, {path.stem: path.name for path in folder.glob("*.png")}).items():
        target = folder / f"{name}.md"
        if not target.exists() or target.read_text(encoding="utf-8") != text:
            target.write_text(text, encoding="utf-8")


def make(folder):
    """Make everything, drawn so that light and dark pages both show it."""
    import picture_style

    quoted = {key: f'"{value}"' if isinstance(value, str) else value for key, value in picture_style.STYLE.items()}
    with tempfile.TemporaryDirectory() as scratch:
        style = Path(scratch) / "matplotlibrc"
        style.write_text("\n".join(f"{key}: {value}" for key, value in quoted.items()), encoding="utf-8")
        command = [sys.executable, "-m", "reproduction", "all", "--out", folder]
        subprocess.run(command, env=os.environ | {"MATPLOTLIBRC": str(style)}, cwd=ROOT, check=True)


def keep(source, folder):
    """Copy results and pictures, no wider than a page shows them, in their own colours."""
    from PIL import Image

    folder.mkdir(exist_ok=True)
    shutil.copyfile(source / "results.json", folder / "results.json")
    made = {figure["name"] for figure in json.loads((folder / "results.json").read_text(encoding="utf-8"))["figures"]}
    for old in folder.glob("*.png"):
        old.unlink()
    for name in sorted(made - PHOTOS):
        with Image.open(source / f"{name}.png") as picture:
            picture.thumbnail((WIDTH, WIDTH))
            picture.save(folder / f"{name}.png", optimize=True)


if __name__ == "__main__":
    make(sys.argv[1])
    keep(Path(sys.argv[1]), Path(__file__).parents[1] / KEPT)
