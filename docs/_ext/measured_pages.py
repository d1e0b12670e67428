"""Brings the measured results (LEADERBOARD.md, benchmarks/*.md) into the documentation, as they stand."""

import re
from pathlib import Path

_HEAD = """# Leaderboard and benchmarks

Measured by the programs in `benchmarks/`; `make leaderboard` and `make bench` measure again. Ratios compare with a peer
timed in the same run.

"""


def setup(app):
    """Copy the pages before Sphinx reads the sources."""
    app.connect("config-inited", copy_pages)
    app.connect("source-read", lead_to_copies)
    return {"parallel_read_safe": True}


def copy_pages(app, config):
    """Write results/index.md and one page a file of results."""
    root = Path(app.srcdir).parent
    folder = Path(app.srcdir) / "results"
    folder.mkdir(exist_ok=True)
    names = []
    for source in [root / "LEADERBOARD.md", *sorted((root / "benchmarks").glob("*.md"))]:
        if source.exists():
            name = source.stem.lower()
            write(folder / f"{name}.md", without_outer_links(source.read_text(encoding="utf-8")))
            names.append(name)
    for stale in set(folder.glob("*.md")) - {folder / f"{name}.md" for name in [*names, "index"]}:
        stale.unlink()
    listing = "```{toctree}\n:maxdepth: 1\n\n" + "\n".join(names) + "\n```\n"
    write(folder / "index.md", _HEAD + (listing if names else "No results are kept here yet.\n"))


def lead_to_copies(app, docname, source):
    """A link to a file of results leads to its page here; its words stay where there is none yet."""

    def page(match):
        name = match[2].lower()
        found = (Path(app.srcdir) / "results" / f"{name}.md").exists()
        return f"[{match[1]}](/results/{name}.md)" if found else match[1]

    source[0] = re.sub(r"\[([^\]]+)\]\((?:\.\./)+benchmarks/(\w+)\.md\)", page, source[0])


def without_outer_links(text):
    """Links to files of the project lead nowhere on the site: their words stay."""
    return re.sub(r"(?<!!)\[([^\]]+)\]\((?!https?:|#)[^)]*\)", r"\1", text)


def write(path, text):
    """Touch the file only where the text is new, so that Sphinx need not read it again."""
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")
