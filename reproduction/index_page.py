"""One page with every figure, its claims in our words, what was measured, and the verdicts."""

from __future__ import annotations

from html import escape
from typing import Any

from .results import counts_of

_MARKS = {"pass": "✓ reproduced", "fail": "✗ failed", "not tested": "? not tested"}
_STYLE = """
body {font: 16px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; color: #222}
img {max-width: 100%; height: auto} table {border-collapse: collapse; width: 100%; margin: 1rem 0 3rem}
td, th {border-bottom: 1px solid #ccc; padding: .4rem .6rem; text-align: left; vertical-align: top}
.pass {color: #00664a} .not-tested {color: #7a5200} .fail {color: #a33b00; font-weight: bold}
figcaption, .why {color: #555} nav a {margin-right: 1rem}
"""


def page(results: dict[str, Any]) -> str:
    """The page as HTML, from :func:`reproduction.results.results_of`; pictures are expected beside it.

    Examples
    --------
    >>> "nothing was made" in page({"figures": [], "skipped": [("labelme", "needs data")], "version": "1"})
    True
    """
    figures = results["figures"]
    counts = []
    for group, count in counts_of(figures).items():
        told = ", ".join(f"{n} {_MARKS[v].split(maxsplit=1)[1]}" for v, n in count.items())
        counts.append(f"{sum(count.values())} {group}: {told}")
    parts = [
        '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>The paper, reproduced</title><style>{_STYLE}</style></head><body>",
        "<h1>Kernel clustering: density biases and solutions, reproduced</h1>",
        f"<p>Claims of the paper by Marin, Tang, Ben Ayed and Boykov, in our words, beside what evencut "
        f"{escape(results['version'])} measured, by Lloyd's steps and at the lowest energy found.</p>",
        _listed(counts) if figures else "<p>nothing was made.</p>",
        "<nav>" + " ".join(f'<a href="#{f["name"]}">{f["name"]}</a>' for f in figures) + "</nav>",
        *(_section(figure) for figure in figures),
    ]
    if results["skipped"]:
        parts.append("<h2>Not made here</h2>" + _listed(f"{name}: {why}" for name, why in results["skipped"]))
    return "\n".join([*parts, "</body></html>\n"])


def _listed(lines: Any) -> str:
    return "<ul>" + "".join(f"<li>{escape(line)}</li>" for line in lines) + "</ul>"


def _section(figure: dict[str, Any]) -> str:
    name, title = figure["name"], escape(figure["title"])
    rows = "".join(_row(claim) for claim in figure["claims"])
    heads = "".join(f"<th>{head}</th>" for head in ("the paper claims", "by Lloyd's steps", "at the lowest energy"))
    return (
        f'<section id="{name}"><h2>{title}</h2>'
        f'<figure><a href="{name}.svg"><img src="{name}.png" alt="{title}"></a>'
        f'<figcaption>{escape(figure["caption"])} <a href="{name}.json">numbers</a></figcaption></figure>'
        f"<table><tr>{heads}</tr>{rows}</table></section>"
    )


def _row(claim: dict[str, Any]) -> str:
    where = f" ({escape(claim['at'])})" if claim["at"] else ""
    return f"<tr><td>{escape(claim['says'])}{where}</td>{_cell(claim['steps'])}{_cell(claim['lowest'])}</tr>"


def _cell(verdict: dict[str, str] | None) -> str:
    if verdict is None:
        return "<td>–</td>"
    why = f'<div class="why">{escape(verdict["why"])}</div>' if verdict["why"] else ""
    mark = f'<b class="{verdict["verdict"].replace(" ", "-")}">{_MARKS[verdict["verdict"]]}</b>'
    return f"<td>{mark}: {escape(verdict['measured'])}{why}</td>"
