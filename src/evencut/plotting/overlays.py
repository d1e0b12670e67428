"""What explains a clustering (density, borders, energy), and a photo with a labelling painted over it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.ndimage import maximum_filter, minimum_filter
from sklearn.utils.validation import check_is_fitted

from ..tensors import AnyFloats, AnyInts, Floats
from .clusters import PALETTE, ClusterDisplay, axes_for

__all__ = ['BorderDisplay', 'DensityDisplay', 'EnergyDisplay', 'label_colors', 'paint_labels']

class _OverClusters:
    """A display that draws something with the points of another."""

    def __init__(self, clusters: ClusterDisplay) -> None:
        self.clusters, self.ax_, self.figure_ = clusters, clusters.ax_, clusters.figure_


class DensityDisplay(_OverClusters):
    """Clusters drawn over the density of the points; shows clusters that coincide with a dense region.

    Make one with `from_labels` or `from_estimator`. The density is a Gaussian Parzen estimate of the two coordinates
    drawn (principal components if the data have more). Its bandwidth is Scott's or, if that is less, the typical
    distance to the :math:`\\sqrt n`-th neighbour: curved and separate clusters do not run into each other.

    Parameters
    ----------
    clusters : ClusterDisplay
        The points and their clusters.

    Attributes
    ----------
    ax_, figure_
        Where the display was drawn.
    contours_ : matplotlib QuadContourSet
        The density.

    Examples
    --------
    >>> from evencut.datasets import make_clumped_moons
    >>> X, y = make_clumped_moons(200, random_state=0)
    >>> display = DensityDisplay.from_labels(X, y)
    >>> len(display.clusters.collections_)
    2
    """

    contours_: Any

    @classmethod
    def from_labels(cls, X: ArrayLike, labels: ArrayLike, *, ax: Any = None, **style: Any) -> DensityDisplay:
        """Draw the density of the points and the points over it; parameters as in `ClusterDisplay.from_labels`."""
        return cls(ClusterDisplay.from_labels(X, labels, ax=ax, **style))._over_density()

    @classmethod
    def from_estimator(cls, estimator: Any, X: ArrayLike, *, ax: Any = None, **style: Any) -> DensityDisplay:
        """The same for the labels of a fitted clustering."""
        return cls(ClusterDisplay.from_estimator(estimator, X, ax=ax, **style))._over_density()

    def _over_density(self) -> DensityDisplay:
        from scipy.stats import gaussian_kde

        points = self.clusters.points
        if len(points) < 3 or np.linalg.matrix_rank(points - points[0]) < 2:
            raise ValueError("a density in the plane needs at least 3 points that do not lie on a line.")
        x, y = _grid(self.ax_)
        # More kernels change nothing that can be seen.
        sample = points[:: -(-len(points) // 5000)]
        density = gaussian_kde(sample.T, _bandwidth_factor(sample))
        # Below the density of one point in fifty nothing is drawn.
        levels = np.linspace(np.quantile(density(sample.T), 0.02), density(sample.T).max(), 13)
        height = density(np.vstack([x.ravel(), y.ravel()])).reshape(x.shape)
        look = {"cmap": _shades(), "antialiased": False, "zorder": 0, "extend": "max"}
        self.contours_ = self.ax_.contourf(x, y, height, levels=levels, **look)
        return self


def _bandwidth_factor(points: AnyFloats) -> float:
    """The bandwidth in deviations of the points: Scott's, or less if their neighbours are nearer."""
    from scipy.spatial import cKDTree

    centred = points - points.mean(axis=0)
    whitened = centred @ np.linalg.inv(np.linalg.cholesky(np.cov(centred.T))).T
    radius = cKDTree(whitened).query(whitened, k=[min(len(points), 1 + int(np.sqrt(len(points))))])[0]
    scott = len(points) ** (-1 / 6)
    return float(min(scott, np.median(radius))) or scott


def _shades() -> Any:
    """From nothing to grey: dense is dark on a white ground and light on a dark one."""
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("shades", [(0.5, 0.5, 0.5, 0.0), (0.4, 0.4, 0.4, 0.75)])


class BorderDisplay(_OverClusters):
    """Clusters and the borders between them, from `predict`.

    Make one with `from_estimator`, for points in the plane.

    Parameters
    ----------
    clusters : ClusterDisplay
        The points and their clusters.

    Attributes
    ----------
    ax_, figure_
        Where the display was drawn.
    regions_ : matplotlib AxesImage
        The plane in the colours of the clusters.

    Examples
    --------
    >>> from evencut import EvenCut
    >>> from evencut.datasets import make_rings
    >>> X, _ = make_rings(200, random_state=0)
    >>> model = EvenCut(2, random_state=0).fit(X)
    >>> BorderDisplay.from_estimator(model, X, resolution=20).regions_.get_array().shape
    (20, 20, 4)
    """

    regions_: Any

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: ArrayLike, *, ax: Any = None, resolution: int = 150, **style: Any
    ) -> BorderDisplay:
        """Draw the points and colour the plane by the cluster a new point there would join.

        Parameters
        ----------
        estimator : fitted clusterer with `predict`
        X : array-like of shape (n_samples, 2)
            The points it was fitted on.
        ax : matplotlib Axes, optional
        resolution : int, default=150
            Points of the grid along each side.
        **style
            As in `ClusterDisplay.from_labels`.
        """
        if np.ndim(X) != 2 or np.shape(X)[1] != 2:
            raise ValueError(f"borders are drawn in the plane, but X has shape {np.shape(X)}; give two features.")
        display = cls(ClusterDisplay.from_estimator(estimator, X, ax=ax, **style))
        x, y = _grid(display.ax_, resolution)
        predicted = estimator.predict(np.column_stack([x.ravel(), y.ravel()]))
        where = np.searchsorted(np.unique(estimator.labels_), predicted)
        shades = np.array([[*_rgb(PALETTE[k % len(PALETTE)]), 63.75] for k in range(where.max() + 1)]) / 255
        extent = *display.ax_.get_xlim(), *display.ax_.get_ylim()
        look = {"origin": "lower", "extent": extent, "aspect": "auto", "zorder": 0}
        display.regions_ = display.ax_.imshow(shades[where].reshape(*x.shape, 4), **look)
        return display


class EnergyDisplay:
    """Energy of a clustering after each sweep of its solver; it never rises.

    Parameters
    ----------
    trace : array of shape (n_sweeps + 1,)
        Energies, the start first.

    Attributes
    ----------
    ax_, figure_
        Where the display was drawn.
    line_ : matplotlib Line2D

    Examples
    --------
    >>> EnergyDisplay([-1.0, -1.5, -1.5]).plot().line_.get_ydata().tolist()
    [-1.0, -1.5, -1.5]
    """

    ax_: Any
    figure_: Any
    line_: Any

    def __init__(self, trace: ArrayLike) -> None:
        self.trace = np.asarray(trace, dtype=np.float64)

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None, **style: Any) -> EnergyDisplay:
        """Draw the `energy_trace_` of a fitted clustering."""
        check_is_fitted(estimator, "energy_trace_")
        return cls(estimator.energy_trace_).plot(ax=ax, **style)

    def plot(self, *, ax: Any = None, **style: Any) -> EnergyDisplay:
        """Draw on `ax`, or on a new figure; `style` goes to `Axes.plot`."""
        ax = axes_for(ax)
        look = {"color": PALETTE[0], "marker": "o"} | style
        (self.line_,) = ax.plot(np.arange(len(self.trace)), self.trace, **look)
        ax.set(xlabel="sweep", ylabel="energy")
        ax.xaxis.get_major_locator().set_params(integer=True)
        self.ax_, self.figure_ = ax, ax.figure
        return self


def _grid(ax: Any, resolution: int = 100) -> tuple[Floats, Floats]:
    """A grid over what the axes show, which is then fixed."""
    limits = ax.get_xlim(), ax.get_ylim()
    ax.set(xlim=limits[0], ylim=limits[1])
    x, y = np.meshgrid(*(np.linspace(low, high, resolution) for low, high in limits))
    return x, y


def _rgb(color: str) -> list[int]:
    return [int(color[i : i + 2], 16) for i in (1, 3, 5)]


def label_colors(n_labels: int) -> NDArray[np.uint8]:
    """Colour of each label, from :data:`PALETTE`; darker each time the palette repeats.

    Examples
    --------
    >>> label_colors(1).tolist()
    [[0, 114, 178]]
    """
    hues = np.array([_rgb(color) for color in PALETTE])
    turn = np.arange(n_labels) // len(PALETTE)
    return (hues[np.arange(n_labels) % len(PALETTE)] * (0.75**turn)[:, None]).astype(np.uint8)


def paint_labels(photo: NDArray[np.uint8], codes: AnyInts, n_labels: int) -> NDArray[np.uint8]:
    """Show the object with a bright contour on a dimmed background, or several labels in colours.

    Parameters
    ----------
    photo : ndarray of shape (height, width, 3)
    codes : ndarray of int of shape (height, width)
        Labels from 0; with two of them, 1 is the object.
    n_labels : int

    Examples
    --------
    >>> import numpy as np
    >>> paint_labels(np.full((1, 4, 3), 200, dtype=np.uint8), np.array([[0, 0, 1, 1]]), 2)[0, :, 0]
    array([ 70, 255, 255, 200], dtype=uint8)
    """
    light = photo.astype(np.float64)
    if n_labels == 2:
        painted = np.where(codes[..., None] == 1, light, 0.35 * light)
    else:
        painted = 0.45 * light + 0.55 * label_colors(n_labels)[codes]
    painted[maximum_filter(codes, 3) != minimum_filter(codes, 3)] = (255, 230, 0)
    return painted.astype(np.uint8)
