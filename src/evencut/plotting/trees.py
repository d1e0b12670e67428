"""The tree of a clustering: merges from its clusters up, and the numbers of clusters that are stable."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numpy.typing import NDArray

from .clusters import PALETTE, axes_for

__all__ = ["plot_tree"]

# More clusters than these are no picture.
_MOST_SHOWN = 40
_MOST_MARKED = 3


def plot_tree(linkage: NDArray[Any], n_clusters: int, stable: Sequence[int] = (), ax: Any = None) -> Any:
    """Draw a tree above some clusters; a line marks a stable number of clusters.

    Parameters
    ----------
    linkage : ndarray of shape (n_leaves - 1, 4)
        Merges in the format of scipy, such as `tree_` of a fitted model.
    n_clusters : int
        The number that was fitted; the tree is drawn from twice as many up.
    stable : sequence of int
        Numbers of clusters to be marked, the most stable first.
    ax : matplotlib Axes, optional
        Where to draw; a new figure otherwise.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import numpy as np
    >>> ax = plot_tree(np.array([[0, 1, 0.1, 2], [2, 3, 0.9, 3.0]]), 2, stable=[2])
    >>> [text.get_text() for text in ax.texts]
    ['2']
    """
    from scipy.cluster.hierarchy import dendrogram

    ax = axes_for(ax)
    n_leaves = len(linkage) + 1
    shown = min(n_leaves, max(2 * n_clusters, 10), _MOST_SHOWN)
    ink = ax.xaxis.label.get_color()  # seen on a dark ground, too
    if n_leaves > 1:
        dendrogram(
            linkage, p=shown, truncate_mode="lastp", ax=ax, color_threshold=0, above_threshold_color=ink,
            show_leaf_counts=True, leaf_rotation=90,
        )  # fmt: skip
    for k in [number for number in stable if 2 <= number <= shown][:_MOST_MARKED]:
        low = linkage[n_leaves - k - 1, 2] if k < n_leaves else 0.0
        height = (low + linkage[n_leaves - k, 2]) / 2
        ax.axhline(height, color=PALETTE[0], linestyle="--", linewidth=1)
        ax.text(ax.get_xlim()[1], height, str(k), color=PALETTE[0], va="center", ha="left")
    ax.set(ylabel="loss of association", xlabel="leaves of each part")
    return ax
