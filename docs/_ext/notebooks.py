"""Makes a notebook of every tutorial, to download from its page: text as Markdown, code and pictures as cells."""

import json
import re
from pathlib import Path

from drawn_pages import BLOCK

#: Pages that are read from top to bottom, with code that runs.
TUTORIALS = ("tutorial", "tutorial_table")
FOLDER = "made"


def setup(app):
    """Write the notebooks before Sphinx reads the sources, and offer them on the pages."""
    app.connect("config-inited", write_notebooks)
    # Before the pictures are drawn, so that the link is on the page as it was written.
    app.connect("source-read", offer, priority=400)
    return {"parallel_read_safe": True}


def write_notebooks(app, config):
    """Write made/PAGE.ipynb for every tutorial."""
    folder = Path(app.srcdir) / FOLDER
    folder.mkdir(exist_ok=True)
    for name in TUTORIALS:
        notebook = notebook_of((Path(app.srcdir) / f"{name}.md").read_text(encoding="utf-8"))
        (folder / f"{name}.ipynb").write_text(json.dumps(notebook, indent=1) + "\n", encoding="utf-8")


def offer(app, docname, source):
    """Put the link below the title of a tutorial."""
    if docname in TUTORIALS:
        title, rest = source[0].split("\n", 1)
        source[0] = f"{title}\n\n{{download}}`Download this page as a notebook </{FOLDER}/{docname}.ipynb>`\n{rest}"


def notebook_of(page):
    """A page as a notebook: what its code prints is left to the reader's own run."""
    cells, end, printed = [], 0, False
    for block in BLOCK.finditer(page):
        kind = (block["kind"] or "").strip()
        is_code = kind == "python" or block["text"] is not None
        if is_code or (kind == "text" and printed):
            add_text(cells, page[end : block.start()])
            end = block.end()
        if is_code:
            cells.append(cell("code", (block["code"] or block["drawing"]).strip("\n")))
        printed = is_code
    add_text(cells, page[end:])
    cells = [{"id": f"cell-{number}", **one} for number, one in enumerate(cells)]
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}


def add_text(cells, text):
    """A cell of Markdown, unless there is nothing to say; links inside the site lead nowhere from a notebook."""
    text = re.sub(r"\[([^\]]+)\]\((?!https?:)[^)]*\)", r"\1", text.strip("\n"))
    text = re.sub(r"\{(?:class|func|mod)\}(`[^`]+`)", r"\1", text)
    if text.strip():
        cells.append(cell("markdown", text))


def cell(kind, text):
    """A cell without outputs; its identifier is given when all cells are there."""
    made = {"cell_type": kind, "metadata": {}, "source": text}
    return made | ({"execution_count": None, "outputs": []} if kind == "code" else {})
