"""The scores of the front page, from the records: `python -m benchmarks.front_page` writes them into README.md.

`publish` does so too whenever one of the three records is measured again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from . import records

README = records.HERE.parent / "README.md"
#: The records that the front page quotes.
SOURCES = ("leaderboard", "tables", "real")
_BEGIN, _END = "<!-- scores: python -m benchmarks.front_page -->\n", "<!-- end of scores -->"
_NAMES = {"SpectralClustering": "spectral", "GaussianMixture": "Gaussian mixture", "KMeans": "k-means"}


class Lead(NamedTuple):
    """The mean of a peer, and the 95 % interval of what evencut has more."""

    peer: str
    mean: float
    low: float
    high: float


def front_scores() -> str:
    """The table of the front page."""
    heads = ("mean adjusted Rand index", "`EvenCut` (95 % interval)", "others (95 % interval of the lead of `EvenCut`)")
    lines = [f"| {' | '.join(heads)} |", "|---|---|---|"]
    for title, page, (mean, low, high), leads in (_public_sets(), _real_tables(), _number_found()):
        leads = sorted(leads, key=lambda lead: -lead.mean)
        peers = ", ".join(f"{lead.peer} {lead.mean:.2f} ({lead.low:+.2f} to {lead.high:+.2f})" for lead in leads)
        lines.append(f"| [{title}](benchmarks/{page}.md) | {mean:.2f} ({low:.2f} to {high:.2f}) | {peers} |")
    for title, name, section, column in (
        ("CPU seconds, all public sets", "leaderboard", "all", "CPU s, all sets"),
        ("CPU seconds, all real sets, number not given", "real", "summary", "CPU s, found"),
    ):
        block = next(block for block in _blocks(name, section) if column in block["columns"])
        place = block["columns"].index(column)
        seconds = {_NAMES.get(row[0], row[0]): row[place] for row in block["rows"]}
        peers = ", ".join(f"{peer} {value}" for peer, value in seconds.items() if peer != "evencut")
        lines.append(f"| {title} | {seconds['evencut']} | {peers} |")
    return "\n".join(lines) + "\n"


def write() -> None:
    """Put the table of today's records into the front page."""
    before, rest = README.read_text(encoding="utf-8").split(_BEGIN)
    after = rest.split(_END)[1]
    README.write_text(before + _BEGIN + front_scores() + _END + after, encoding="utf-8")


def _public_sets() -> tuple[str, str, tuple[float, float, float], list[Lead]]:
    """The first table of the leaderboard, whose intervals it holds."""
    table = next(block["rows"] for block in _blocks("leaderboard", "all") if "95 % interval" in block["columns"])
    text = next(b for b in records.read_record("leaderboard")["sections"]["all"]["rows"] if "public sets" in b)
    count = re.search(r"(\d+) public sets", text)[1]  # type: ignore[index]
    numbers = {row[0]: [float(one) for cell in row[1:4] for one in re.findall(r"[-+]?\d*\.\d+", cell)] for row in table}
    mean, low, high = numbers.pop("evencut")
    leads = [Lead(_NAMES.get(peer, peer), row[0], *row[-2:]) for peer, row in numbers.items()]
    return f"{count} public sets, number of clusters given", "LEADERBOARD", (mean, low, high), leads


def _real_tables() -> tuple[str, str, tuple[float, float, float], list[Lead]]:
    """Real tables, raw and standardised: the intervals are over the tables."""
    block = next(iter(_blocks("tables", "tables")))
    methods = block["columns"][3:]
    scores: dict[str, list[float]] = {name: [] for name in methods}
    tables = list(dict.fromkeys(row[0] for row in block["rows"] if row[0] != "mean"))
    for table in tables:
        rows = [row[3:] for row in block["rows"] if row[0] == table]
        for name, cells in zip(methods, zip(*rows)):
            scores[name].append(np.mean([_score(cell) for cell in cells]))
    return f"{len(tables)} real tables, number given", "TABLES", *_compared(scores)


def _number_found() -> tuple[str, str, tuple[float, float, float], list[Lead]]:
    """Real data of every kind whose number of clusters each method finds by itself."""
    groups = [name for name in records.read_record("real")["sections"] if name not in ("about", "summary")]
    scores: dict[str, list[float]] = {}
    for group in groups:
        block = list(_blocks("real", group))[-1]
        for name, place in zip(block["columns"][3:], range(3, len(block["columns"]))):
            scores.setdefault(name, []).extend(_score(row[place]) for row in block["rows"] if row[0] != "mean")
    n_sets = len(scores["evencut"])
    kinds = ", ".join({"mixed": "tables of words and numbers"}.get(name, name) for name in groups)
    return f"{n_sets} real sets ({kinds}), **number not given**", "REAL", *_compared(scores)


def _compared(scores: dict[str, list[float]]) -> tuple[tuple[float, float, float], list[Lead]]:
    """The mean of evencut and its lead over each peer, by bootstrap over the sets that both have."""
    ours = np.array(scores["evencut"])
    leads = []
    for peer, values in scores.items():
        if peer != "evencut":
            both = ~np.isnan(values)
            lead = (ours - np.array(values))[both]
            leads.append(Lead(peer, float(np.array(values)[both].mean()), *_interval(lead)))
    return (float(ours.mean()), *_interval(ours)), leads


def _interval(values: Any) -> tuple[float, float]:
    """95 % of the means of ten thousand samples with replacement."""
    rows = np.random.default_rng(0).integers(len(values), size=(10_000, len(values)))
    low, high = np.quantile(values[rows].mean(axis=1), (0.025, 0.975))
    return float(low), float(high)


def _score(cell: str) -> float:
    """The index at the start of a cell; 0 for a method that failed, NaN for one that was not run."""
    number = re.match(r"-?\d*\.\d+", cell)
    return float(number[0]) if number else np.nan if cell == "-" else 0.0


def _blocks(name: str, section: str) -> Iterator[dict[str, Any]]:
    blocks = records.read_record(name)["sections"][section]["rows"]
    return (block for block in blocks if isinstance(block, dict) and "columns" in block)


if __name__ == "__main__":
    write()
