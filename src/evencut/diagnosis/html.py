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


# Colours that most colour-blind readers distinguish; more clusters than colours begin again.
_CLUSTERS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#8c6d00", "#56b4e9", "#7f3b8c", "#e69f00")
_INK, _QUIET, _RULE = "#1f2933", "#616e7c", "#d5dbe1"
_GOOD, _BAD, _UNSURE = "#0b7a4b", "#b3261e", "#8a5a00"
_PROFILE_SIZE = 200, 130

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
    code = f"<pre><code>{escape(report.code)}</code></pre>" if report.code else ""
    summary = "".join(f"<p>{escape(line)}</p>" for line in report.summary())
    advice = "".join(f"<p>{escape(line)}</p>" for line in report.advice.splitlines())
    return (
        f'<div class="evencut"><style>{_STYLE}</style>'
        f'<h1 class="{_tone(report.verdict)}">{escape(report.headline())}</h1>'
        f"<h2>What to do</h2>{advice}{code}{_cures(report)}"
        f"<h2>Clusters</h2>{_table(report)}{_described(description)}"
        f'<h2>The data</h2><div class="row">{_maps(report)}</div>'
        "<h2>Borders</h2><p>Log density from the neighbouring cluster (left) across the border (middle line) into the "
        "cluster (right), layer by layer of the neighbour graph. An honest border lies in a valley.</p>"
        f'<div class="row">{_profiles(report)}</div>'
        f"<h2>The whole</h2>{summary}</div>"
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
        name, *numbers, verdict = map(escape, cells)
        middle = "".join(f"<td>{number}</td>" for number in numbers)
        rows.append(f'<tr><td>{swatch}{name}</td>{middle}<td class="{_tone(row.verdict)}">{verdict}</td></tr>')
    return _rows_under(heads, rows)


def _described(description: Description | None) -> str:
    """What distinguishes each cluster; empty without a description."""
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
    """The cures that were tried; empty without any."""
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


def _maps(report: BiasReport) -> str:
    """The density and the clusters."""
    pictures = report.pictures
    axes = "; the two leading principal components" if pictures.projected else ""
    by_density = np.argsort(pictures.density)
    pale, dark = np.array([205, 222, 240]), np.array([8, 37, 84])
    ranks = np.argsort(by_density) / max(len(by_density) - 1, 1)
    shades = np.round(pale + (dark - pale) * ranks[:, None]).astype(int).tolist()
    colours = [f"#{red:02x}{green:02x}{blue:02x}" for red, green, blue in shades]
    density = _scatter(pictures.plane, colours, by_density, "Density, from sparse (pale) to dense (dark)" + axes)
    sizes = np.bincount(pictures.codes, minlength=len(report.clusters))
    order = np.argsort(-sizes[pictures.codes], kind="stable")  # small clusters are drawn last, on top
    return density + _scatter(pictures.plane, [_colour(k) for k in pictures.codes], order, "The clusters" + axes)


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
    return _figure(dots, width, height, caption)


def _profiles(report: BiasReport) -> str:
    layers = [layer for pair in report.pictures.profiles if pair is not None for layer in pair]
    if not layers:
        return "<p>No two clusters touch in the neighbour graph: a gap parts each from the others.</p>"
    values = np.concatenate(layers)
    figures = []
    for k, (row, pair) in enumerate(zip(report.clusters, report.pictures.profiles)):
        body = f'<text x="100" y="69" text-anchor="middle" font-size="13" fill="{_QUIET}">no border</text>'
        caption = f"{row.label}: a gap all around"
        if pair is not None:
            body = _profile(*pair, float(values.min()), float(values.max()), _colour(k))
            caption = f"{row.label}, border with {row.neighbor}: {row.verdict}"
        figures.append(_figure(body, *_PROFILE_SIZE, caption))
    return "".join(figures)


def _profile(inside: NDArray, outside: NDArray, low: float, high: float, colour: str) -> str:
    (width, height), pad = _PROFILE_SIZE, 14
    step = (width / 2 - pad) / DEPTH

    def level(value: float) -> float:
        return height - 20 - (value - low) / max(high - low, 1e-9) * (height - 20 - pad)

    right = [(width / 2 + (i + 0.5) * step, level(v)) for i, v in enumerate(inside)]
    left = [(width / 2 - (i + 0.5) * step, level(v)) for i, v in enumerate(outside)][::-1]
    across = _polyline([left[-1], right[0]], _QUIET)
    middle = f'<line x1="{width / 2}" x2="{width / 2}" y1="4" y2="{height - 4}" stroke="{_RULE}" stroke-width="2"/>'
    ends = "".join(
        f'<text x="{x}" y="{height - 5}" text-anchor="{anchor}" font-size="10" fill="{_QUIET}">{word}</text>'
        for x, anchor, word in ((5, "start", "neighbour"), (width - 5, "end", "cluster"))
    )
    return middle + across + _polyline(left, _QUIET) + _polyline(right, colour) + ends


def _polyline(points: list[tuple[float, float]], ink: str) -> str:
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    dots = "".join(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.5" fill="{ink}"/>' for x, y in points)
    return f'<polyline fill="none" stroke="{ink}" stroke-width="2" points="{line}"/>{dots}'


def _figure(body: str, width: int, height: int, caption: str) -> str:
    """A drawing in a frame, with its caption."""
    label = escape(caption)
    frame = f'<rect x=".5" y=".5" width="{width - 1}" height="{height - 1}" fill="#fff" stroke="{_RULE}"/>'
    return (
        f'<figure style="width:{width}px"><svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" role="img" aria-label="{label}">{frame}{body}</svg>'
        f"<figcaption>{label}</figcaption></figure>"
    )


def _colour(k: int) -> str:
    return _CLUSTERS[k % len(_CLUSTERS)]


def pictures_of(points: AnyFloats, measures: Measures, findings: list[Finding]) -> Pictures:
    """A picture of the points looked at, and of the border that each finding rests on."""
    n_shown, n_clusters = 1500, len(measures.sizes)
    thinned = np.arange(0, len(points), max(1, -(-len(points) // n_shown)))
    # Some points of each cluster are drawn in any case: small ones may not survive the thinning.
    n_each = max(5, min(50, n_shown // n_clusters))
    first = [np.flatnonzero(measures.codes == k)[:n_each] for k in range(n_clusters)]
    shown = np.union1d(thinned, np.concatenate(first))
    return Pictures(
        plane=_plane(points, shown),
        density=measures.log_density[shown],
        codes=measures.codes[shown],
        projected=points.shape[1] > 2,
        profiles=[None if f.border is None else f.border.profile_from(k) for k, f in enumerate(findings)],
    )


def _plane(points: AnyFloats, shown: Places) -> Floats:
    """The points of a plane; those of a line, with some noise; or their two leading principal components."""
    if points.shape[1] == 2:
        return points[shown].astype(np.float64)
    if points.shape[1] == 1:
        jitter = np.random.default_rng(0).uniform(-0.1, 0.1, len(shown)) * np.ptp(points)
        return np.column_stack([points[shown, 0], jitter])
    from sklearn.decomposition import PCA

    return PCA(2, svd_solver="full", random_state=0).fit(points).transform(points[shown])
