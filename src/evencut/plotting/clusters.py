"""Points in the colours of their clusters, and the palette and figures that all displays share.

Colours come from a palette that people with colour-blindness can tell apart.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.decomposition import PCA
from sklearn.utils.validation import check_array, check_is_fitted

from .._lazy import required
from ..tensors import AnyFloats, Floats

__all__ = ["PALETTE", "ClusterDisplay", "make_figure", "plot_selection", "require_matplotlib"]

#: Eight colours that stay distinct under the common forms of colour-blindness (Okabe and Ito, 2008).
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#F0E442", "#000000")

# Past eight clusters the colours come round again with another marker, so that no two clusters look the same.
_MARKERS = "osD^vP*X"
_NOISE_COLOR = "#999999"
_MOST_NAMES = 32
_LARGEST_DRAWN = 1e100


@dataclass(eq=False, repr=False)
class ClusterDisplay:
    """A scatter plot of points coloured by cluster.

    Make one with `from_labels` or `from_estimator`. Points in one dimension are drawn along a line, in two as they are,
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
            raise ValueError(
                f"labels has shape {labels.shape}; it must have one entry for each of {len(data)} points."
            )
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

    def plot(
        self, *, ax: Any = None, title: str | None = None, legend: bool = True, **style: Any
    ) -> ClusterDisplay:
        """Draw on `ax`, or on a new figure; the parameters are those of `from_labels`."""
        ax = axes_for(ax)
        # Smaller dots for more points keep the shape of dense regions visible.
        look = {"s": float(np.clip(12_000 / len(self.points), 1, 25)), "linewidths": 0, "alpha": 0.8} | style
        self.collections_ = []
        for place, name in enumerate(np.unique(self.labels)):
            members = self.points[self.labels == name]
            scatter = ax.scatter(
                *members.T, label=f"{name} ({len(members)} points)", **_appearance(name, place), **look
            )
            self.collections_.append(scatter)
        ax.set(xlabel=self.axis_labels[0], ylabel=self.axis_labels[1])
        if title is not None:
            ax.set_title(title)
        if legend:
            self._name_clusters(ax)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _name_clusters(self, ax: Any) -> None:
        """A legend beside the axes, where it hides no point."""
        named = self.collections_[:_MOST_NAMES]
        left_out = len(self.collections_) - len(named)
        ax.legend(
            handles=named,
            title="cluster" + (f" (and {left_out} more)" if left_out else ""),
            ncols=1 + (len(named) - 1) // 16,
            markerscale=2,
            loc="upper left",
            bbox_to_anchor=(1.01, 1),
            borderaxespad=0,
        )


def _appearance(name: Any, place: int) -> dict[str, str]:
    if name == -1:
        return {"color": _NOISE_COLOR, "marker": "x"}
    return {
        "color": PALETTE[place % len(PALETTE)],
        "marker": _MARKERS[place // len(PALETTE) % len(_MARKERS)],
    }


def _on_a_plane(X: Floats, names: list[str]) -> tuple[Floats, tuple[str, str]]:
    """Two coordinates for each point, and what they are called."""
    largest = float(np.abs(X).max())
    if largest > _LARGEST_DRAWN:
        # Squares of such values leave the range of floats, in principal components as on the axes.
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
    """Draw the scores of the numbers of clusters, if one was chosen, or the agreement of the candidates.

    Candidates stand in the order of their consensus, the one that was taken first; a square shows the adjusted Rand
    index of two of them.

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
    if selection.numbers:
        tried = sorted(selection.numbers, key=lambda number: number.n_clusters)
        ax.plot([t.n_clusters for t in tried], [t.score for t in tried], "o-", color=PALETTE[0])
        best = selection.numbers[0]
        ax.set(xlabel="number of clusters", ylabel="conductance and agreement, against one cluster more")
        ax.xaxis.get_major_locator().set_params(integer=True)
        ink = ax.xaxis.label.get_color()  # visible on a dark background too
        ax.plot([best.n_clusters], [best.score], "o", markersize=14, fillstyle="none", color=ink)
        ax.set_title(f"{best.n_clusters}, by {best.evidence}" if best.is_clear else "1: nothing is clear", fontsize=10)
        return ax
    names = [f"{c.family}, {c.kind}" + (f", {c.scale}" if c.scale else "") for c in selection.candidates]
    image = ax.imshow(selection.agreements, vmin=0, vmax=1, cmap="cividis")
    ax.set_yticks(range(len(names)), names, fontsize=8)
    ax.set_xticks([])
    ax.set_title(f"confidence {selection.confidence:.2f}: who agrees with whom", fontsize=10)
    ax.figure.colorbar(image, ax=ax, label="adjusted Rand index")
    return ax


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
    return required(module, "drawing needs matplotlib", "plot")


def axes_for(ax: Any = None, size: tuple[float, float] | None = None) -> Any:
    """The axes to draw on: those of a new figure where none are given."""
    return require_matplotlib("matplotlib.pyplot").subplots(figsize=size, layout="constrained")[1] if ax is None else ax
