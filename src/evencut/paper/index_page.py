"""One page with every figure, its claims in our words, what was measured, and the verdicts."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from .frame import Claim, Figure

__all__ = ["page"]

_MARKS = {"pass": "✓ reproduced", "fail": "✗ failed", "not tested": "? not tested"}
_STYLE = """
body {font: 16px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; color: #222}
img {max-width: 100%; height: auto} table {border-collapse: collapse; width: 100%; margin: 1rem 0 3rem}
td, th {border-bottom: 1px solid #ccc; padding: .4rem .6rem; text-align: left; vertical-align: top}
.pass {color: #00664a} .not-tested {color: #7a5200} .fail {color: #a33b00; font-weight: bold}
td:last-child {white-space: nowrap} figcaption, .why {color: #555} nav a {margin-right: 1rem}
"""


def page(figures: Sequence[Figure], skipped: Sequence[tuple[str, str]]) -> str:
    """The page as HTML; pictures are expected beside it.

    Parameters
    ----------
    figures : sequence of Figure
    skipped : sequence of (name, reason)
        What was not made, and why.

    Examples
    --------
    >>> "nothing was made" in page([], [("labelme", "needs data")])
    True
    """
    claims = [claim for figure in figures for claim in figure.claims]
    counts = [f"{sum(c.verdict == v for c in claims)} {word.split(maxsplit=1)[1]}" for v, word in _MARKS.items()]
    parts = [
        '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>The paper, reproduced</title><style>{_STYLE}</style></head><body>",
        "<h1>Kernel clustering: density biases and solutions, reproduced</h1>",
        "<p>Claims of the paper by Marin, Tang, Ben Ayed and Boykov, in our words, beside what evencut measured.</p>",
        f"<p>{len(claims)} claims: {', '.join(counts)}.</p>" if claims else "<p>nothing was made.</p>",
        "<nav>" + " ".join(f'<a href="#{f.name}">{f.name}</a>' for f in figures) + "</nav>",
        *(_section(figure) for figure in figures),
    ]
    if skipped:
        rows = "".join(f"<li>{escape(name)}: {escape(reason)}</li>" for name, reason in skipped)
        parts.append(f"<h2>Not made here</h2><ul>{rows}</ul>")
    return "\n".join([*parts, "</body></html>\n"])


def _section(figure: Figure) -> str:
    rows = "".join(_row(claim) for claim in figure.claims)
    return (
        f'<section id="{figure.name}"><h2>{escape(figure.title)}</h2>'
        f'<figure><a href="{figure.name}.svg"><img src="{figure.name}.png" alt="{escape(figure.title)}"></a>'
        f'<figcaption>{escape(figure.caption)} <a href="{figure.name}.json">numbers</a></figcaption></figure>'
        f"<table><tr><th>the paper claims</th><th>measured</th><th>verdict</th></tr>{rows}</table></section>"
    )


def _row(claim: Claim) -> str:
    why = f'<div class="why">{escape(claim.why)}</div>' if claim.why else ""
    where = f" ({escape(claim.at)})" if claim.at else ""
    return (
        f"<tr><td>{escape(claim.says)}{where}</td><td>{escape(claim.measured)}{why}</td>"
        f'<td class="{claim.verdict.replace(" ", "-")}">{_MARKS[claim.verdict]}</td></tr>'
    )
