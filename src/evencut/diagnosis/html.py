"""A report as HTML: the table, a density map, a map of the clusters and the border profile of each, drawn as SVG.

No file outside the page is needed, nor any plotting library.
"""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..tensors import AnyFloats, Floats, Places
from .borders import DEPTH, Measures
from .report import Pictures
from .verdicts import OK, ONE_BODY, OVERLAP, TOO_FEW, Finding

if TYPE_CHECKING:
    from .description import Description
    from .report import BiasReport


# Colours told apart by most colour-blind readers; more clusters than colours begin again.
_CLUSTERS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#8c6d00", "#56b4e9", "#7f3b8c", "#e69f00")
_INK, _QUIET, _RULE = "#1f2933", "#616e7c", "#d5dbe1"
_GOOD, _BAD, _UNSURE = "#0b7a4b", "#b3261e", "#8a5a00"

_STYLE = f"""
.evencut {{ font: 15px/1.5 system-ui, sans-serif; color: {_INK}; background: #fff; max-width: 60rem; }}
.evencut h1 {{ font-size: 1.35rem; margin: 0 0 .6rem; }}
.evencut h2 {{ font-size: 1rem; margin: 1.4rem 0 .4rem; }}
.evencut table {{ border-collapse: collapse; font-variant-numeric: tabular-nums; }}
.evencut th, .evencut td {{ padding: .25rem .8rem .25rem 0; text-align: right; border-bottom: 1px solid {_RULE}; }}
.evencut th {{ color: {_QUIET}; font-weight: 500; }}
.evencut th:first-child, .evencut td:first-child, .evencut th:last-child, .evencut td:last-child
  {{ text-align: left; }}
.evencut pre {{ background: #f3f5f7; padding: .7rem .9rem; white-space: pre-wrap;
  border-radius: 4px; }}
.evencut .good {{ color: {_GOOD}; }} .evencut .bad {{ color: {_BAD}; font-weight: 600; }}
.evencut .unsure {{ color: {_UNSURE}; }}
.evencut .row {{ display: flex; flex-wrap: wrap; gap: 1.2rem; }}
.evencut figure {{ margin: 0; }} .evencut figcaption {{ color: {_QUIET}; font-size: .85rem; }}
.evencut p {{ margin: .3rem 0; max-width: 46rem; }}
.evencut .swatch {{ display: inline-block; width: .75rem; height: .75rem; border-radius: 50%; margin-right: .4rem; }}
"""


def page(report: BiasReport, description: Description | None = None) -> str:
    """The whole page; with a description it says what each cluster is."""
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(report.headline())}</title></head>\n"
        f'<body style="margin:2rem">{fragment(report, description)}</body></html>\n'
    )


def fragment(report: BiasReport, description: Description | None = None) -> str:
    """The report as a piece of a page, for notebooks."""
    tone = _tone(report.verdict)
    code = f"<pre><code>{escape(report.code)}</code></pre>" if report.code else ""
    summary = "".join(f"<p>{escape(line)}</p>" for line in report.summary())
    advice = "".join(f"<p>{escape(line)}</p>" for line in report.advice.splitlines())
    return (
        f'<div class="evencut"><style>{_STYLE}</style>'
        f'<h1 class="{tone}">{escape(report.headline())}</h1>'
        f"<h2>What to do</h2>{advice}{code}{_cures(report)}"
        f"<h2>Clusters</h2>{_table(report)}{_described(description)}"
        f'<h2>The data</h2><div class="row">{_density_map(report)}{_cluster_map(report)}</div>'
        f'<h2>Borders</h2><p>{_PROFILE_NOTE}</p><div class="row">{_profiles(report)}</div>'
        f"<h2>The whole</h2>{summary}</div>"
    )


_PROFILE_NOTE = (
    "Log density from the neighbouring cluster (left) across the border (middle line) into the cluster (right), "
    "layer by layer of the neighbour graph. An honest border lies in a valley."
)


def _tone(verdict: str) -> str:
    """The class of the style in which a verdict is written."""
    return {OK: "good", OVERLAP: "unsure", ONE_BODY: "unsure", TOO_FEW: "unsure"}.get(verdict, "bad")


def _rows_under(heads: tuple[str, ...], rows: Iterable[str]) -> str:
    head = "".join(f"<th>{name}</th>" for name in heads)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"


def _table(report: BiasReport) -> str:
    heads = ("cluster", "size", "share", "denser than", "border / inside", "conductance", "verdict")
    rows = []
    for k, (row, cells) in enumerate(zip(report.clusters, report.cells())):
        swatch = f'<span class="swatch" style="background:{_colour(k)}"></span>'
        tone = _tone(row.verdict)
        middle = "".join(f"<td>{escape(cell)}</td>" for cell in cells[1:-1])
        rows.append(
            f'<tr><td>{swatch}{escape(cells[0])}</td>{middle}<td class="{tone}">{escape(cells[-1])}</td></tr>'
        )
    return _rows_under(heads, rows)


def _described(description: Description | None) -> str:
    """What sets each cluster apart; nothing where nobody has said it."""
    if description is None:
        return ""
    heads = ("cluster", "rows", "typical rows (from 0)", "what sets it apart")
    rows = (
        f"<tr><td>{escape(str(cluster.label))}</td><td>{cluster.size}</td>"
        f"<td>{escape(', '.join(map(str, cluster.typical)))}</td>"
        f"<td>{'<br>'.join(escape(str(effect)) for effect in cluster.effects) or 'nothing in these columns'}</td></tr>"
        for cluster in description.clusters
    )
    return f"<h2>What each cluster is</h2>{_rows_under(heads, rows)}"


def _cures(report: BiasReport) -> str:
    """What was tried, beside what was given; nothing where nothing was."""
    if not report.cures:
        return ""
    heads = ("tried", "verdict of its borders", "without a valley before", "after", "points", "advised")
    rows = (
        f"<tr><td><code>{escape(repr(cure.model))}</code></td><td>{cure.verdict}</td><td>{cure.before:.0%}</td>"
        f"<td>{cure.after:.0%}</td><td>{cure.n_tried}</td><td>{'yes' if cure.offered else 'no'}: "
        f"{escape(cure.reason)}</td></tr>"
        for cure in report.cures
    )
    return f"<h2>Tried</h2>{_rows_under(heads, rows)}"


def _density_map(report: BiasReport) -> str:
    pictures = report.pictures
    ranks = np.argsort(np.argsort(pictures.density)) / max(len(pictures.density) - 1, 1)
    colours = [_shade(rank) for rank in ranks]
    caption = "Density, from sparse (pale) to dense (dark)" + _projected(report)
    return _scatter(pictures.plane, colours, np.argsort(pictures.density), caption)


def _cluster_map(report: BiasReport) -> str:
    pictures = report.pictures
    sizes = np.bincount(pictures.codes, minlength=len(report.clusters))
    order = np.argsort(-sizes[pictures.codes], kind="stable")  # small clusters are drawn last, on top
    return _scatter(pictures.plane, [_colour(k) for k in pictures.codes], order, "The clusters" + _projected(report))


def _projected(report: BiasReport) -> str:
    return "; the two leading principal components" if report.pictures.projected else ""


def _scatter(plane: Floats, colours: list[str], order: Places, caption: str) -> str:
    width, height, pad = 430, 340, 12
    low, high = plane.min(axis=0), plane.max(axis=0)
    span = np.where(high > low, high - low, 1.0)
    # One scale for both axes: a map must not stretch the distances it shows.
    unit = min((width - 2 * pad) / span[0], (height - 2 * pad) / span[1])
    x = width / 2 + (plane[:, 0] - (low[0] + high[0]) / 2) * unit
    y = height / 2 - (plane[:, 1] - (low[1] + high[1]) / 2) * unit
    radius = 3.2 if len(plane) < 400 else 2.2
    dots = "".join(f'<circle cx="{x[i]:.1f}" cy="{y[i]:.1f}" r="{radius}" fill="{colours[i]}"/>' for i in order)
    frame = f'<rect x=".5" y=".5" width="{width - 1}" height="{height - 1}" fill="#fff" stroke="{_RULE}"/>'
    return _figure(f"{frame}{dots}", width, height, caption)


def _profiles(report: BiasReport) -> str:
    drawn = [p for p in report.pictures.profiles if p is not None]
    if not drawn:
        return "<p>No two clusters touch in the neighbour graph: a gap parts each from the others.</p>"
    values = np.concatenate([np.concatenate(pair) for pair in drawn])
    low, high = float(values.min()), float(values.max())
    figures = []
    for k, (row, pair) in enumerate(zip(report.clusters, report.pictures.profiles)):
        if pair is None:
            figures.append(_figure(_gap(), 200, 130, f"{row.label}: a gap all around"))
        else:
            caption = f"{row.label}, border with {row.neighbor}: {row.verdict}"
            figures.append(_figure(_profile(*pair, low, high, _colour(k)), 200, 130, caption))
    return "".join(figures)


def _profile(inside: NDArray, outside: NDArray, low: float, high: float, colour: str) -> str:
    width, height, pad = 200, 130, 14
    step = (width / 2 - pad) / DEPTH

    def level(value: float) -> float:
        return height - 20 - (value - low) / max(high - low, 1e-9) * (height - 20 - pad)

    right = [(width / 2 + (i + 0.5) * step, level(v)) for i, v in enumerate(inside)]
    left = [(width / 2 - (i + 0.5) * step, level(v)) for i, v in enumerate(outside)][::-1]
    across = _polyline([left[-1], right[0]], _QUIET)
    middle = f'<line x1="{width / 2}" x2="{width / 2}" y1="4" y2="{height - 4}" stroke="{_RULE}" stroke-width="2"/>'
    frame = f'<rect x=".5" y=".5" width="{width - 1}" height="{height - 1}" fill="#fff" stroke="{_RULE}"/>'
    ends = "".join(
        f'<text x="{x}" y="{height - 5}" text-anchor="{anchor}" font-size="10" fill="{_QUIET}">{word}</text>'
        for x, anchor, word in ((5, "start", "neighbour"), (width - 5, "end", "cluster"))
    )
    return frame + middle + across + _polyline(left, _QUIET) + _polyline(right, colour) + ends


def _polyline(points: list[tuple[float, float]], ink: str) -> str:
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    dots = "".join(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.5" fill="{ink}"/>' for x, y in points)
    return f'<polyline fill="none" stroke="{ink}" stroke-width="2" points="{line}"/>{dots}'


def _gap() -> str:
    frame = f'<rect x=".5" y=".5" width="199" height="129" fill="#fff" stroke="{_RULE}"/>'
    return frame + f'<text x="100" y="69" text-anchor="middle" font-size="13" fill="{_QUIET}">no border</text>'


def _figure(body: str, width: int, height: int, caption: str) -> str:
    label = escape(caption)
    return (
        f'<figure style="width:{width}px"><svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" role="img" aria-label="{label}">{body}</svg>'
        f"<figcaption>{label}</figcaption></figure>"
    )


def _colour(k: int) -> str:
    return _CLUSTERS[k % len(_CLUSTERS)]


def _shade(rank: float) -> str:
    """From pale to dark blue along one hue."""
    pale, dark = np.array([205, 222, 240]), np.array([8, 37, 84])
    red, green, blue = np.round(pale + (dark - pale) * rank).astype(int)
    return f"#{red:02x}{green:02x}{blue:02x}"


#: Points drawn in the maps of a report.
_DRAWN = 1500


def pictures_of(points: AnyFloats, measures: Measures, findings: list[Finding]) -> Pictures:
    """A picture of the points looked at, and of the border that each finding rests on."""
    step = max(1, -(-len(points) // _DRAWN))
    thinned = np.arange(0, len(points), step)
    # Clusters too small to survive the thinning are what one wants to see: draw some points of each.
    some = max(5, min(50, _DRAWN // len(measures.sizes)))
    few = [np.flatnonzero(measures.codes == k)[:some] for k in range(len(measures.sizes))]
    shown = np.union1d(thinned, np.concatenate(few))
    return Pictures(
        plane=_plane(points, shown),
        density=measures.log_density[shown],
        codes=measures.codes[shown],
        projected=points.shape[1] > 2,
        profiles=[_border_profile(k, finding) for k, finding in enumerate(findings)],
    )


def _plane(points: AnyFloats, shown: Places) -> Floats:
    """The points as they are in the plane; spread along a line; or their two leading principal components."""
    if points.shape[1] == 2:
        return points[shown].astype(np.float64)
    if points.shape[1] == 1:
        jitter = np.random.default_rng(0).uniform(-0.1, 0.1, len(shown)) * np.ptp(points)
        return np.column_stack([points[shown, 0], jitter])
    from sklearn.decomposition import PCA

    return PCA(2, svd_solver="full", random_state=0).fit(points).transform(points[shown])


def _border_profile(k: int, finding: Finding) -> tuple[Floats, Floats] | None:
    """Layers of the cluster from its border inwards, then those of its neighbour."""
    border = finding.border
    if border is None:
        return None
    return border.profile if border.first == k else border.profile[::-1]
