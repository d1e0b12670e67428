"""The few ways in which all figures draw: clusters, values, curves, bars and photos, each with its title."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import cycle
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from evencut.plotting import PALETTE, ClusterDisplay

BLUE, ORANGE, GREEN = PALETTE[:3]
GREY = "#777777"
#: Perceptually even and safe for the colour-blind.
COLORMAP = "cividis"
_STYLES = ("-", "--", ":", "-.")


def canvas(width: float, height: float) -> Any:
    """An empty figure, for panels of different kinds."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def ink() -> Any:
    """The colour of axes and words: black, or what the style of a page says."""
    from matplotlib import rcParams

    return rcParams["axes.edgecolor"]


def heading(ax: Any, title: str, **axes: Any) -> None:
    """The title of a panel, and what `Axes.set` takes."""
    ax.set(**axes)
    ax.set_title(title, fontsize=10)
    for name in "xy":
        if axes.get(f"{name}scale") == "log":
            _label_few(getattr(ax, f"{name}axis"), getattr(ax, f"get_{name}lim")())


def _label_few(axis: Any, limits: tuple[float, float]) -> None:
    """Plain numbers at 1, 2 and 5 on a logarithmic axis of less than two decades, whose own labels would overlap."""
    from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

    low, high = limits
    if 0 < low < high < 100 * low:
        axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axis.set_major_formatter(StrMethodFormatter("{x:g}"))
        axis.set_minor_formatter(NullFormatter())


def photo(ax: Any, image: Any, title: str) -> None:
    """A photo without axes."""
    ax.imshow(image)
    ax.set_axis_off()
    heading(ax, title)


def clusters(ax: Any, X: ArrayLike, labels: ArrayLike, title: str, size: float = 6) -> None:
    """Points of the plane in the colours of their clusters, without ticks."""
    ClusterDisplay.from_labels(X, labels, ax=ax, legend=False, s=size)
    heading(ax, title, aspect="equal", xticks=[], yticks=[], xlabel="", ylabel="")


def curves(ax: Any, x: Any, ys: Mapping[str, Any], title: str, legend: Any = 8, marks: str = "", **axes: Any) -> None:
    """A line for each name, in colours and strokes of their own; `legend` is its size of letters or options."""
    for (name, y), color, style in zip(ys.items(), cycle((BLUE, ORANGE, GREEN, GREY)), cycle(_STYLES)):
        ax.plot(x, y, marks + style, color=color, lw=2, ms=4, label=name)
    heading(ax, title, **axes)
    ax.legend(**(legend if isinstance(legend, dict) else {"fontsize": legend}))


def bars(ax: Any, rows: Mapping[str, Mapping[str, float]], title: str, *, floor: float = 0.0, **axes: Any) -> None:
    """Groups of bars: `rows` names the bars of a group, their keys the groups."""
    groups = list(next(iter(rows.values())))
    width = 0.8 / len(rows)
    for place, ((name, row), color) in enumerate(zip(rows.items(), (BLUE, ORANGE, GREEN, GREY))):
        across = np.arange(len(groups)) + width * (place - (len(rows) - 1) / 2)
        ax.bar(across, np.maximum([row[g] for g in groups], floor), 0.95 * width, color=color, label=name)
    ax.set_xticks(range(len(groups)), [g.replace(" ", "\n", 1) for g in groups], fontsize=8)
    heading(ax, title, **axes)
    if len(rows) > 1:
        ax.legend(fontsize=8)


def values(ax: Any, X: ArrayLike, value: ArrayLike, title: str, size: float = 6) -> Any:
    """Points coloured by a value; returns what a colour bar needs."""
    shown = ax.scatter(*np.asarray(X).T, c=value, cmap=COLORMAP, s=size, linewidths=0)
    heading(ax, title)
    return shown


def solid(figure: Any, place: Any, X: ArrayLike, title: str, labels: Any = None, size: float = 6, **view: float) -> Any:
    """3-D axes without grid and numbers, with points of space in the colours of their clusters where there are any."""
    ax = figure.add_subplot(place, projection="3d")
    points, labels = np.asarray(X), np.zeros(0, dtype=int) if labels is None else np.asarray(labels)
    for k in np.unique(labels):
        color = PALETTE[int(k) % len(PALETTE)]
        ax.scatter(*points[labels == k].T, s=size, color=color, linewidths=0, depthshade=False, alpha=0.8)
    for axis in (ax.xaxis, ax.yaxis, ax.zaxis):
        axis.set_ticks([])
        axis.pane.set_visible(False)
        axis.line.set_linewidth(0.6)
    if view:
        ax.view_init(**view)
        ax.set_box_aspect(None, zoom=1.2)
    heading(ax, title)
    return ax
