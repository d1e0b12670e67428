"""The few ways in which all figures draw: points by cluster, points by value, titles of panels."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..plotting import PALETTE, ClusterDisplay

__all__ = ["BLUE", "GREEN", "GREY", "ORANGE", "clusters", "heading", "space", "values"]

BLUE, ORANGE, GREEN = PALETTE[:3]
GREY = "#777777"
#: Perceptually even and safe for the colour-blind.
COLORMAP = "cividis"


def clusters(ax: Any, X: ArrayLike, labels: ArrayLike, title: str, size: float = 6) -> None:
    """Points of the plane in the colours of their clusters, without ticks."""
    ClusterDisplay.from_labels(X, labels, ax=ax, legend=False, s=size)
    ax.set(aspect="equal", xticks=[], yticks=[], xlabel="", ylabel="")
    heading(ax, title)


def values(ax: Any, X: ArrayLike, value: ArrayLike, title: str, size: float = 6) -> Any:
    """Points of the plane (or of space, on 3-D axes) coloured by a value; returns what a colour bar needs."""
    points = np.asarray(X)
    shown = ax.scatter(*points.T, c=value, cmap=COLORMAP, s=size, linewidths=0)
    heading(ax, title)
    return shown


def space(figure: Any, place: Any, X: ArrayLike, labels: ArrayLike, title: str, size: float = 6) -> Any:
    """Points of space in the colours of their clusters, on new 3-D axes."""
    ax = figure.add_subplot(place, projection="3d")
    points, labels = np.asarray(X), np.asarray(labels)
    for k in np.unique(labels):
        color = PALETTE[int(k) % len(PALETTE)]
        ax.scatter(*points[labels == k].T, s=size, color=color, linewidths=0, depthshade=False, alpha=0.8)
    bare(ax)
    heading(ax, title)
    return ax


def bare(ax: Any) -> None:
    """3-D axes without numbers: in an embedding only the shape means something."""
    for axis in (ax.xaxis, ax.yaxis, ax.zaxis):
        axis.set_ticklabels([])
        axis.pane.set_facecolor("white")
    ax.tick_params(length=0)


def heading(ax: Any, title: str) -> None:
    """The title of a panel."""
    ax.set_title(title, fontsize=10)
