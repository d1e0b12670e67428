"""What was measured, as records: version, commit, date, processor and rows. A page is drawn from its record alone.

A benchmark measures sections of Markdown, text and tables. `publish` keeps each as a record in `records/NAME.json`,
with where and when it was measured, and draws the page `NAME.md` from what is kept. Sections that were not measured
this time stay as they were, under their own stamp. A page begins with the sentence of `findings.toml` that says what
follows from it. A table under a line `<!-- in records/NAME.csv -->` is written to that file, and the page links to it.
"""

from __future__ import annotations

import csv
import datetime
import json
import os
import platform
import re
import subprocess
import tomllib
from pathlib import Path
from typing import Any

from evencut import __version__

__all__ = ["HERE", "draw", "is_earlier", "minor", "page_names", "publish", "read_earlier", "read_record", "stamp"]

HERE = Path(__file__).parent
_FOLDER = HERE / "records"
_EARLIER = HERE / "earlier.toml"
_TABLE = re.compile(r"^(?:<!-- in (\S+) -->\n)?(\|.*\n\|[-| :]+\|\n(?:\|.*(?:\n|\Z))*)", re.M)


def stamp() -> dict[str, Any]:
    """Where and when something is measured: nothing in it names a machine or a path."""
    return {
        "version": __version__,
        "commit": _commit(),
        "date": f"{datetime.datetime.now(datetime.UTC):%Y-%m-%d}",
        "cpu": _processor(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
    }


def _commit() -> str:
    """The commit, with "-dirty" where code differs from it; pages that other benchmarks wrote do not count."""
    code = [str(HERE.parent / "src"), str(HERE / "*.py")]
    commit = _git("rev-parse", "--short", "HEAD")
    return commit + "-dirty" * bool(commit and _git("status", "--porcelain", "--", *code)) or "unknown"


def _git(*words: str) -> str:
    return subprocess.run(["git", "-C", str(HERE), *words], capture_output=True, text=True, check=False).stdout.strip()


def _processor() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        for line in cpuinfo.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()


def publish(
    name: str, sections: dict[str, str], *, folder: Path | None = None, measured: dict[str, Any] | None = None
) -> str:
    """Keep what was measured of some sections, and draw the page; returns its text.

    A section that starts with a heading of the first level gives the page its title. `measured` is the stamp of what
    was measured, for a run so long that the tree may have changed since; now by default.
    """
    folder = HERE if folder is None else folder
    path = folder / "records" / f"{name.lower()}.json"
    record: dict[str, Any] = {"title": name.capitalize(), "sections": {}}
    if path.exists():
        record = json.loads(path.read_text(encoding="utf-8"))
    for section, text in sections.items():
        if text.startswith("# "):
            heading, text = text.split("\n", 1)
            record["title"] = heading.removeprefix("# ")
        if not text.strip():
            continue
        record["sections"][section] = {**(measured or stamp()), "rows": _blocks(text, folder)}
    record["follows"] = read_findings()[name.lower()]
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    page = draw(record)
    (folder / f"{name.upper()}.md").write_text(page, encoding="utf-8")
    from . import front_page

    if folder == HERE:
        _forget_earlier(name.lower(), record)
        if name.lower() in front_page.SOURCES:
            front_page.write()
    return page


def page_names() -> list[str]:
    """The benchmarks that have a page."""
    return sorted(path.stem.lower() for path in HERE.glob("*.md"))


def read_findings() -> dict[str, str]:
    """What follows from each page, in one sentence; reviewed by hand whenever a page changes."""
    return tomllib.loads(Path(__file__).with_name("findings.toml").read_text(encoding="utf-8"))


def read_earlier() -> dict[str, str]:
    """The pages whose record is of an earlier version, or of code that no commit holds, and why."""
    return tomllib.loads(_EARLIER.read_text(encoding="utf-8"))


def is_earlier(record: dict[str, Any], version: str = __version__) -> bool:
    """Whether some section was measured with another minor version, or with changes that no commit holds.

    >>> is_earlier({"sections": {"all": {"version": "0.3.1", "commit": "abc"}}}, "0.3.2")
    False
    """
    stamps = record["sections"].values()
    return any(minor(one["version"]) != minor(version) or "dirty" in one["commit"] for one in stamps)


def _forget_earlier(name: str, record: dict[str, Any]) -> None:
    """Remove a page from the list of earlier ones."""
    if name in read_earlier() and not is_earlier(record):
        lines = _EARLIER.read_text(encoding="utf-8").splitlines(keepends=True)
        _EARLIER.write_text("".join(one for one in lines if not one.startswith(f"{name} = ")), encoding="utf-8")


def read_record(name: str) -> dict[str, Any]:
    """What is kept of a benchmark."""
    return json.loads((_FOLDER / f"{name}.json").read_text(encoding="utf-8"))


def minor(version: str) -> str:
    """The minor version, which a development version counts as.

    >>> minor("0.3.0.dev0"), minor("0.3.1")
    ('0.3', '0.3')
    """
    return ".".join(version.split(".")[:2])


def draw(record: dict[str, Any]) -> str:
    """The page: its sections, and where and when each was measured, unless the next one was measured with it."""
    lines = [f"# {record['title']}", "", f"**{record['follows']}**", ""]
    sections = list(record["sections"].values())
    for place, section in enumerate(sections):
        lines += [_drawn(block) for block in section["rows"]]
        following = sections[place + 1] if place + 1 < len(sections) else None
        if following is None or _measured(following) != _measured(section):
            lines += [_measured(section), ""]
    return "\n".join(lines).rstrip() + "\n"


def _measured(section: dict[str, Any]) -> str:
    return (
        f"*Measured with evencut {section['version']} (commit {section['commit']}) on {section['date']}: "
        f"{section['cpu']}, {section['cores']} cores, Python {section['python']}.*"
    )


def _blocks(text: str, folder: Path) -> list[Any]:
    """Text and tables in turn; a table is its columns and its rows, or the file that holds them."""
    blocks: list[Any] = []
    end = 0
    for match in _TABLE.finditer(text):
        _add_text(blocks, text[end : match.start()])
        header, _, *rows = map(_cells, match[2].strip().splitlines())
        if match[1] is None:
            blocks.append({"columns": header, "rows": rows})
        else:
            with (folder / match[1]).open("w", newline="", encoding="utf-8") as file:
                csv.writer(file, lineterminator="\n").writerows([header, *rows])
            blocks.append({"file": match[1], "n_rows": len(rows)})
        end = match.end()
    _add_text(blocks, text[end:])
    return blocks


def _add_text(blocks: list[Any], text: str) -> None:
    if text.strip():
        blocks.append(text.strip("\n"))


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().removeprefix("|").removesuffix("|").split("|")]


def _drawn(block: Any) -> str:
    if isinstance(block, str):
        return block + "\n"
    if "file" in block:
        return f"[Table of {block['n_rows']} rows]({block['file']})\n"
    head, *rows = (f"| {' | '.join(cells)} |" for cells in (block["columns"], *block["rows"]))
    return "\n".join([head, "|" + "---|" * len(block["columns"]), *rows, ""])
