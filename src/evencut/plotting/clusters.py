"""Points in the colours of their clusters, the tree above them, and the palette and figures all displays share.

Colours come from a palette that people with colour-blindness can tell apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.decomposition import PCA
from sklearn.utils.validation import check_array, check_is_fitted

from .._lazy import require
from ..tensors import AnyFloats, Floats

__all__ = ['PALETTE', 'ClusterDisplay', 'make_figure', 'plot_selection', 'plot_tree', 'require_matplotlib']

#: Eight colours that stay distinct under the common forms of colour-blindness (Okabe and Ito, 2008).
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#F0E442", "#000000")

# Past eight clusters the colours come round again with another marker, to tell all clusters apart.
_MARKERS = "osD^vP*X"
_NOISE_COLOR = "#999999"
_MAX_NAMES = 32


@dataclass(eq=False, repr=False)
class ClusterDisplay:
    """A scatter plot of points coloured by cluster.

    Make one with `from_labels` or `from_estimator`. Points in one dimension are drawn along a line, in two unchanged,
    and in more on their first two principal components (the axis labels say so). The label -1 means no cluster and is
    drawn grey.

    Parameters
    ----------
    points : ndarray of shape (n_samples, 2)
        Where the points are drawn.
    labels : ndarray of shape (n_samples,)
        Cluster of each point.
    axis_labels : tuple of two str, default=("", "")
        What the two coordinates are.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where the display was drawn.
    figure_ : matplotlib Figure
        The figure that holds it.
    collections_ : list of matplotlib PathCollection
        One scatter a cluster, in the order of the sorted labels.

    Examples
    --------
    >>> from evencut.datasets import make_rings
    >>> from evencut.plotting import ClusterDisplay
    >>> X, y = make_rings(random_state=0)
    >>> display = ClusterDisplay.from_labels(X, y, title="two rings")
    >>> len(display.collections_)
    2
    """

    points: AnyFloats
    labels: NDArray[Any]
    _: KW_ONLY
    axis_labels: tuple[str, str] = ("", "")
    ax_: Any = field(init=False)
    figure_: Any = field(init=False)
    collections_: list[Any] = field(init=False)

    @classmethod
    def from_labels(
        cls,
        X: ArrayLike,
        labels: ArrayLike,
        *,
        ax: Any = None,
        title: str | None = None,
        legend: bool = True,
        **style: Any,
    ) -> ClusterDisplay:
        """Draw points in the colours of their labels.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The points.
        labels : array-like of shape (n_samples,)
            Cluster of each point.
        ax : matplotlib Axes, optional
            Where to draw; a new figure otherwise.
        title : str, optional
            Title of the axes.
        legend : bool, default=True
            Whether to name the clusters and their sizes.
        **style
            Passed on to `Axes.scatter`.

        Returns
        -------
        display : ClusterDisplay
            The display, drawn.
        """
        names = [str(name) for name in getattr(X, "columns", [])]
        # It looks for infinity in the sum, which may be infinite though no value is.
        with np.errstate(over="ignore", invalid="ignore"):
            data: Floats = check_array(X, dtype=np.float64)
        labels = np.asarray(labels)
        if labels.shape != (len(data),):
            raise ValueError(f"labels has shape {labels.shape}; it must have one entry for each of {len(data)} points.")
        points, axis_labels = _on_a_plane(data, names)
        return cls(points, labels, axis_labels=axis_labels).plot(ax=ax, title=title, legend=legend, **style)

    @classmethod
    def from_estimator(cls, estimator: Any, X: ArrayLike, **options: Any) -> ClusterDisplay:
        """Draw points in the colours a fitted clustering gives them.

        Parameters
        ----------
        estimator : fitted clusterer
            Its `labels_` colour the points.
        X : array-like of shape (n_samples, n_features)
            The points it was fitted on.
        ax, title, legend, **style
            As in `from_labels`.

        Returns
        -------
        display : ClusterDisplay
            The display, drawn.
        """
        check_is_fitted(estimator, "labels_")
        return cls.from_labels(X, estimator.labels_, **options)

    def plot(self, *, ax: Any = None, title: str | None = None, legend: bool = True, **style: Any) -> ClusterDisplay:
        """Draw on `ax`, or on a new figure; the parameters are those of `from_labels`."""
        ax = axes_for(ax)
        # Smaller dots for more points keep the shape of dense regions visible.
        look = {"s": float(np.clip(12_000 / len(self.points), 1, 25)), "linewidths": 0, "alpha": 0.8} | style
        self.collections_ = []
        for place, name in enumerate(np.unique(self.labels)):
            members = self.points[self.labels == name]
            label = f"{name} ({len(members)} points)"
            self.collections_.append(ax.scatter(*members.T, label=label, **_appearance(name, place), **look))
        ax.set(xlabel=self.axis_labels[0], ylabel=self.axis_labels[1])
        if title is not None:
            ax.set_title(title)
        if legend:
            _name_clusters(ax, self.collections_, markerscale=2)
        self.ax_, self.figure_ = ax, ax.figure
        return self


def _name_clusters(ax: Any, handles: Sequence[Any], **look: Any) -> None:
    """A legend beside the axes, where it hides no point."""
    named, left_out = handles[:_MAX_NAMES], max(0, len(handles) - _MAX_NAMES)
    look |= {"title": "cluster" + (f" (and {left_out} more)" if left_out else ""), "ncols": 1 + (len(named) - 1) // 16}
    ax.legend(handles=named, loc="upper left", bbox_to_anchor=(1.01, 1), borderaxespad=0, **look)


def _appearance(name: Any, place: int) -> dict[str, str]:
    if name == -1:
        return {"color": _NOISE_COLOR, "marker": "x"}
    turn, hue = divmod(place, len(PALETTE))
    return {"color": PALETTE[hue], "marker": _MARKERS[turn % len(_MARKERS)]}


def _on_a_plane(X: Floats, names: list[str]) -> tuple[Floats, tuple[str, str]]:
    """Two coordinates for each point, and their names."""
    largest = float(np.abs(X).max())
    # Squares of larger values leave the range of floats, in principal components as on the axes.
    if largest > 1e100:
        unit = 10.0 ** np.floor(np.log10(largest))
        points, (across, up) = _on_a_plane(X / unit, names)
        return points, (f"{across} / {unit:.0e}".strip(), f"{up} / {unit:.0e}".strip() if up or X.shape[1] > 1 else "")
    if X.shape[1] == 1:
        return np.column_stack([X[:, 0], np.zeros(len(X))]), (names[0] if names else "", "")
    if X.shape[1] == 2:
        return X, (names[0], names[1]) if names else ("", "")
    if len(X) == 1:
        return X[:, :2], ("", "")
    pca = PCA(2, svd_solver="covariance_eigh" if X.shape[1] < 1000 else "auto", random_state=0)
    with np.errstate(invalid="ignore"):
        points = pca.fit_transform(X)
    share = np.nan_to_num(pca.explained_variance_ratio_)  # equal points have no variance to share
    first, second = (f"principal component {i + 1} ({share[i]:.0%} of the variance)" for i in range(2))
    return points, (first, second)


def plot_selection(selection: Any, ax: Any = None) -> Any:
    """Draw why a number of clusters was chosen or, where it was given, why a clustering was.

    A number that was chosen is shown on the curve of agreement: how far methods of different principles agree on each
    number of clusters, beside what they would agree on by chance. If the number was given, each candidate has a bar as
    long as its consensus, in the colour of its principle, with its share of the votes.

    Parameters
    ----------
    selection : evencut.selection.Selection
        The `selection_` of a fitted estimator.
    ax : matplotlib Axes, optional
        Where to draw; a new figure otherwise.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from evencut import EvenCut
    >>> from evencut.datasets import make_rings
    >>> X, y = make_rings(random_state=0)
    >>> ax = plot_selection(EvenCut(2, random_state=0).fit(X).selection_)
    >>> ax.get_title().split()[0]
    'confidence'
    """
    ax = axes_for(ax)
    draw = _draw_numbers if len(selection.numbers) else _draw_candidates
    draw(ax, selection)
    return ax


def _draw_numbers(ax: Any, selection: Any) -> None:
    """The curve of agreement beside the one by chance, and the number that was chosen."""
    tried = sorted(selection.numbers, key=lambda number: number.n_clusters)
    counts = [number.n_clusters for number in tried]
    best = selection.numbers[0].n_clusters
    ink = ax.xaxis.label.get_color()  # visible on a dark background too
    if np.isfinite([number.chance for number in tried]).any():
        heights, chance = ([getattr(number, name) for number in tried] for name in ("agreement", "chance"))
        ax.fill_between(counts, chance, heights, color=PALETTE[0], alpha=0.15, linewidth=0)
        ax.plot(counts, heights, "o-", color=PALETTE[0], label="agreement")
        ax.plot(counts, chance, "o--", color=_NOISE_COLOR, label="by chance")
        ax.set(ylabel="agreement of different principles", ylim=(0, 1.05))
    else:
        # The number of given distances is judged by conductance alone.
        heights = [number.gain for number in tried]
        ax.plot(counts, heights, "o-", color=PALETTE[0], label="gain")
        ax.set(ylabel="gain in conductance")
    title = f"{selection.n_clusters} cluster{'' if selection.n_clusters == 1 else 's'}"
    if selection.n_clusters != best:
        # One cluster, or clusters that were split again, are not on the curve.
        title += f"; the curve is clearest at {best}"
    ax.plot([best], [heights[counts.index(best)]], "o", markersize=13, fillstyle="none", color=ink, label="clearest")
    if max(counts) > 20:
        ax.set_xscale("log", base=2)
        ticks = [k for k in counts if k & (k - 1) == 0 or k == best]
        ax.set_xticks(ticks, [str(k) for k in ticks])
        ax.set_xticks([], minor=True)
    else:
        ax.xaxis.get_major_locator().set_params(integer=True)
    ax.set(xlabel="number of clusters")
    ax.set_title(title, fontsize=10)
    ax.legend(fontsize=8)


def _draw_candidates(ax: Any, selection: Any) -> None:
    """A bar for each candidate, the best on top."""
    shown = selection.candidates[:16]
    principles = [candidate.principle for candidate in selection.candidates]
    names = _distinct([f"{c.kind}{f' {c.scale}' if c.scale else ''}, {c.system}" for c in shown])
    colors = {principle: PALETTE[place % len(PALETTE)] for place, principle in enumerate(dict.fromkeys(principles))}
    shares = np.asarray(selection.votes) / (np.sum(selection.votes) or 1.0)
    rows = np.arange(len(shown))
    for principle, color in colors.items():
        members = [row for row in rows if principles[row] == principle]
        share = shares[[own == principle for own in principles]].sum()
        label = f"{principle} ({share:.0%} of the votes)"
        ax.barh(members, [selection.consensus[row] for row in members], color=color, label=label)
    for row in rows:
        ax.text(selection.consensus[row] + 0.01, row, f"{shares[row]:.0%}", va="center", fontsize=7)
    ax.set_yticks(rows, names, fontsize=8)
    ax.set_ylim(len(shown) - 0.4, -0.6)
    ax.set(xlabel="consensus with the other candidates", xlim=(0, 1.12))
    ax.set_xticks(np.linspace(0, 1, 6))
    n_more = len(selection.candidates) - len(shown)
    suffix = f"; {n_more} more candidates" if n_more else ""
    ax.set_title(f"confidence {selection.confidence:.2f}{suffix}", fontsize=10)
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=2, fontsize=8, frameon=False)


def _distinct(names: list[str]) -> list[str]:
    """Names with a number where one is repeated."""
    unique = [f"{name} ({names[: row + 1].count(name)})" for row, name in enumerate(names)]
    return [name if names.count(name) == 1 else unique[row] for row, name in enumerate(names)]


def make_figure(nrows: int = 1, ncols: int = 1, *, size: tuple[float, float] = (6.4, 4.8)) -> tuple[Any, Any]:
    """A figure without a window, and its axes; safe for files and threads.

    Examples
    --------
    >>> figure, axes = make_figure(ncols=2, size=(8, 3))
    >>> len(axes)
    2
    """
    figure = require_matplotlib("matplotlib.figure").Figure(figsize=size, layout="constrained")
    return figure, figure.subplots(nrows, ncols)


def require_matplotlib(module: str = "matplotlib") -> Any:
    """A module of matplotlib; where it is missing, an error that says what to install."""
    return require(module, "drawing needs matplotlib", "plot")


def axes_for(ax: Any = None, size: tuple[float, float] | None = None) -> Any:
    """The axes to draw on: those of a new figure where none are given."""
    return require_matplotlib("matplotlib.pyplot").subplots(figsize=size, layout="constrained")[1] if ax is None else ax


def plot_tree(
    linkage: NDArray[Any],
    n_clusters: int,
    stable: Sequence[int] = (),
    ax: Any = None,
    *,
    labels: ArrayLike | None = None,
    leaf_of_row: ArrayLike | None = None,
) -> Any:
    """Draw the tree above the parts of clusters, each cluster in its colour; a line marks a stable number of clusters.

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
    labels, leaf_of_row : array-like of shape (n_rows,), optional
        The cluster and the leaf of each row: they name the clusters, and parts are counted in rows instead of leaves.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import numpy as np
    >>> ax = plot_tree(np.array([[0, 1, 0.1, 2], [2, 3, 0.9, 3.0]]), 2, stable=[2])
    >>> [text.get_text() for text in ax.texts]
    ['2 clusters']
    """
    from scipy.cluster.hierarchy import dendrogram

    ax = axes_for(ax)
    n_leaves = len(linkage) + 1
    ink = ax.xaxis.label.get_color()  # seen on a dark ground, too
    rows_of_node, cluster_of_node = _nodes(linkage, n_clusters, labels, leaf_of_row)
    # More branches cannot be read.
    shown = min(n_leaves, max(2 * n_clusters, 10), 40)
    if n_leaves > 1:
        dendrogram(
            linkage, p=shown, truncate_mode="lastp", ax=ax, leaf_rotation=90, leaf_font_size=8,
            leaf_label_func=lambda node: str(int(rows_of_node[node])),
            link_color_func=lambda node: _branch_color(int(cluster_of_node[node]), ink),
        )  # fmt: skip
        heights = np.asarray(linkage[n_leaves - shown :, 2], dtype=np.float64)
        margin = 0.06 * (np.ptp(heights) or heights[-1] or 1.0)
        ax.set_ylim(heights[0] - margin, heights[-1] + margin)
    for k in [number for number in stable if 2 <= number <= shown][:3]:
        low = linkage[n_leaves - k - 1, 2] if k < n_leaves else 0.0
        height = (low + linkage[n_leaves - k, 2]) / 2
        ax.axhline(height, color=ink, linestyle="--", linewidth=1, alpha=0.6)
        # Inside the axes, where no figure cuts it off.
        ax.annotate(
            f"{k} clusters", (1, height), xycoords=("axes fraction", "data"), xytext=(-3, 2),
            textcoords="offset points", ha="right", va="bottom", fontsize=8, color=ink,
            bbox={"facecolor": ax.get_facecolor(), "edgecolor": "none", "pad": 1},
        )  # fmt: skip
    counted = "leaves" if labels is None else "rows"
    ax.set(ylabel="loss of association", xlabel=f"{counted} of each part")
    if labels is not None and n_leaves > 1:
        from matplotlib.lines import Line2D

        sizes = zip(*np.unique(np.asarray(labels), return_counts=True))
        lines = [(_branch_color(name, ink), f"{name} ({size} rows)") for name, size in sizes if name >= 0]
        _name_clusters(ax, [Line2D([], [], color=color, label=f"cluster {name}") for color, name in lines], fontsize=8)
    return ax


def _nodes(
    linkage: NDArray[Any], n_clusters: int, labels: ArrayLike | None, leaf_of_row: ArrayLike | None
) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """For every node of a tree its number of rows, and its cluster, or -1 above the clusters."""
    n_leaves = len(linkage) + 1
    rows, cluster = np.ones(2 * n_leaves - 1), np.full(2 * n_leaves - 1, -1, dtype=np.int64)
    if labels is None or leaf_of_row is None:
        from scipy.cluster.hierarchy import fcluster

        cluster[:n_leaves] = fcluster(linkage, n_clusters, "maxclust") - 1 if n_leaves > 1 else 0
    else:
        leaves, names = np.asarray(leaf_of_row), np.asarray(labels)
        known = leaves >= 0
        rows[:n_leaves] = np.bincount(leaves[known], minlength=n_leaves)
        cluster[leaves[known]] = names[known]
    for step, (first, second) in enumerate(np.asarray(linkage)[:, :2].astype(int)):
        rows[n_leaves + step] = rows[first] + rows[second]
        if cluster[first] == cluster[second]:
            cluster[n_leaves + step] = cluster[first]
    return rows, cluster


def _branch_color(cluster: int, ink: str) -> str:
    return ink if cluster < 0 else PALETTE[cluster % len(PALETTE)]
