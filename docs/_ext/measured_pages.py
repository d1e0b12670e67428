"""Brings the measured results (benchmarks/*.md) into the documentation: words and numbers as they are, with charts."""

import csv
import re
import shutil
import tomllib
from pathlib import Path

from measured_charts import draw_table

_HEAD = """# Leaderboard and benchmarks

Every page is drawn from a record, which holds version, commit, date and processor; `python -m benchmarks NAME` measures
it again. Ratios compare with another tool timed in the same run. Charts are drawn from the tables below them.

"""
#: What each page measures, by what a reader wants to know.
_GROUPS = {
    "How good are the clusters?": {
        "leaderboard": "scores beside other tools on public and generated sets; number of clusters; no structure",
        "tables": "scores on real tables, raw and standardised",
        "real": "scores on texts, cells, images, audio and tables of words and numbers, beside other tools",
        "pairs": "two Gaussians of very different size",
        "repeated_rows": "tables with many copies of the same rows",
        "ablation": "what each constant of the default is worth",
    },
    "How far can I trust an answer?": {
        "confidence": "`confidence_` beside the true score",
        "structureless": "how often data without clusters are called one cluster",
        "steady": "the same answer in another unit, precision or order, and with another seed",
        "answers": "probabilities, outliers, trees, tables with words, pairs, streams",
        "diagnosis": "how often `diagnose` is right",
        "evidence": "how often the test of a split is wrong, and what it sees",
        "memory": "rows that keep their cluster when data are clustered again; births and deaths",
        "cures": "which cure works against which bias",
        "sizes_bounded": "what bounds on the size of clusters cost, beside k-means-constrained",
        "energies": "how close the solvers come to the lowest known energy",
    },
    "How fast is it?": {
        "results": "time, memory and scores beside other tools",
        "embeddings": "vectors of 384 columns, documents, single cells; neighbour search",
        "sizes": "ten thousand to a million points",
        "landmarks": "data larger than memory",
        "gpu": "fits, neighbours and sums on a GPU",
        "first_answer": "import, first fit, installed size",
        "settings": "which settings answer within a minute, and which are refused",
        "studio": "updates and clicks in the studio",
    },
    "How good are the masks?": {
        "segmentation": "errors from a box, beside OpenCV's grabCut",
        "clicks": "clicks to a mask of 90 % IoU",
        "volumes": "Dice from clicks on volumes",
    },
}
# A longer table is folded: its chart, or the text around it, tells the essence.
_LONG = 24
_IN_A_FILE = re.compile(r"^\[Table of \d+ rows\]\((\S+\.csv)\)\n", re.M)
_TABLE = re.compile(r"^\|.*\n\|[-| :]+\|\n(?:\|.*(?:\n|\Z))+", re.M)


def setup(app):
    """Copy the pages before Sphinx reads the sources."""
    app.connect("config-inited", copy_pages)
    app.connect("source-read", lead_to_copies)
    app.connect("include-read", lambda app, path, docname, content: lead_to_copies(app, docname, content))
    return {"parallel_read_safe": True}


def copy_pages(app, config):
    """Write results/index.md and one page a file of results."""
    root = Path(app.srcdir).parent
    folder = Path(app.srcdir) / "results"
    folder.mkdir(exist_ok=True)
    names = []
    for source in sorted((root / "benchmarks").glob("*.md")):
        name = source.stem.lower()
        text = without_outer_links(with_tables(source.read_text(encoding="utf-8"), source.parent))
        write(folder / f"{name}.md", with_charts(text, name, folder))
        names.append(name)
    for drawing in (root / "benchmarks").glob("*.svg"):
        shutil.copyfile(drawing, folder / drawing.name)
    for stale in set(folder.glob("*.md")) - {folder / f"{name}.md" for name in [*names, "index"]}:
        stale.unlink()
    listed = earlier(root / "benchmarks" / "earlier.toml")
    write(folder / "index.md", _HEAD + (listed + contents(names) if names else "No results are kept here yet.\n"))


def earlier(listed):
    """The pages that were not measured again with this version, by their reasons."""
    reasons = {}
    for name, reason in tomllib.loads(listed.read_text(encoding="utf-8")).items():
        reasons.setdefault(reason, []).append(f"[](/results/{name}.md)")
    lines = [f"- {', '.join(names)}: {reason}." for reason, names in reasons.items()]
    return "\n".join(["Not measured again with this version:", "", *lines, "", ""]) if lines else ""


def contents(names):
    """A table for each group of pages, and the tree that the sidebar shows; a page without a group comes last."""
    known = {name for pages in _GROUPS.values() for name in pages}
    groups = _GROUPS | {"Others": {name: "" for name in names if name not in known}}
    lines = []
    for title, pages in groups.items():
        rows = [f"| [](/results/{name}.md) | {question} |" for name, question in pages.items() if name in names]
        if rows:
            lines += [f"## {title}", "", "| page | what it measures |", "|---|---|", *rows, ""]
    order = [name for pages in groups.values() for name in pages if name in names]
    return "\n".join([*lines, "```{toctree}", ":hidden:", "", *order, "```", ""])


def lead_to_copies(app, docname, source):
    """A link to a file of results leads to its page here; its words stay where there is none yet."""

    def page(match):
        name = match[2].lower()
        found = (Path(app.srcdir) / "results" / f"{name}.md").exists()
        return f"[{match[1]}](/results/{name}.md)" if found else match[1]

    source[0] = re.sub(r"\[([^\]]+)\]\((?:\.\./)*benchmarks/(\w+)\.md\)", page, source[0])


def with_tables(text, folder):
    """The tables that a page keeps in files, in their places."""

    def table(match):
        with (folder / match[1]).open(newline="", encoding="utf-8") as file:
            header, *rows = csv.reader(file)
        lines = [header, ["---"] * len(header), *rows]
        return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)

    return _IN_A_FILE.sub(table, text)


def with_charts(text, page, folder):
    """Every table in a box that scrolls on small screens, with its chart above it; long ones folded."""
    places = iter(range(1000))

    def boxed(match):
        lines = match[0].strip().splitlines()
        header, rows = cells(lines[0]), [cells(line) for line in lines[2:]]
        name = f"{page}_{next(places)}.svg"
        told = draw_table(header, [row for row in rows if len(row) == len(header)], folder / name)
        chart = f"```{{image}} {name}\n:class: chart\n:alt: {told}\n```\n\n" if told else ""
        table = f"::::{{container}} measured\n\n{match[0].strip()}\n\n::::\n"
        if len(rows) > _LONG:
            summary = f"<details><summary>The table: {len(rows)} rows</summary>"
            table = f"```{{raw}} html\n{summary}\n```\n\n{table}\n```{{raw}} html\n</details>\n```\n"
        return chart + table

    return _TABLE.sub(boxed, text)


def cells(line):
    """The cells of a line of a table."""
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def without_outer_links(text):
    """Links to files of the project lead nowhere on the site: their words stay."""
    return re.sub(r"(?<!!)\[([^\]]+)\]\((?!https?:|#)[^)]*\)", r"\1", text)


def write(path, text):
    """Touch the file only where the text is new, so that Sphinx need not read it again."""
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")
