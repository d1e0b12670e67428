r"""Clusters around centres, for points that overlap: k-means, Ward's, and mixtures of Gaussians of several kinds.

They suit points that a few centres describe, and mislead where clusters are curved or lie inside each other. Which it
is can be told without knowing the clusters: from how well points are predicted that a model has not seen. A mixture of
Gaussians knows centres only; the density that neighbours show,

.. math:: \hat\rho(p) = \frac1W \sum_{q \ne p} w_q \, \mathcal N\left(p; q, c R_q^2\right)

with :math:`R_q` the distance of q to its tenth neighbour and c what predicts best, knows any shape, but needs many
points for it, and more as dimensions grow. With :math:`g = \operatorname{mean}_p \log m(p) - \log\hat\rho(p)` the gain
of the best mixture m (:mod:`evencut.selection.mixtures`) in nats a point, centres are worth :math:`\exp(g / 0.025)`,
but no more than one. A quarter of the votes around centres is that of k-means and Ward's; the kinds of mixtures share
the others in proportion to :math:`\exp(g / 0.025)` with their own gains.

Trees, which vote where centres do not, see valleys between clusters only where points are dense enough to show them. In
an intrinsic dimension :math:`d > 2` centres take over the part :math:`1 - (2/d)^2` of their votes whatever the gain.

A row far away (:func:`evencut.points.far_rows`) is no part of the fit. It is a cluster of its own where mixtures of
one centre fewer have the better Bayesian information criterion on the others; otherwise it joins the likeliest centre.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .candidates import Neighborhoods, Partition
from .mixtures import KINDS, Mixture, fit_mixture, n_parameters

__all__ = ["Centres", "centres", "dequantized", "neighbor_log_density", "sample_of"]

# Neighbour whose distance is the width of the density at a point, and the factors c that are tried.
_NEIGHBOR = 10
_WIDTHS = (0.25, 0.5, 1.0, 2.0, 4.0)
# Nats a point by which neighbours must predict better for centres to lose most of their worth.
_NATS = 0.025
# Intrinsic dimension up to which spanning trees see valleys.
_PLANE = 2.0
# Points that a mixture needs for each of its parameters.
_POINTS_PER_PARAMETER = 2
# Share of the mixtures beside k-means and Ward's.
_SHARE_OF_MIXTURES = 0.75
# So little worth is none.
_LITTLE_WORTH = 0.01
# Points that centres are fitted on, and so many a cluster where that is more: a few parameters need no more.
_SAMPLE = 2000
_SAMPLE_PER_CLUSTER = 50
# Steps of mixtures after which their starts are compared.
_FIRST_STEPS = 10
# More clusters or columns take longer than all the rest.
_MOST_COMPONENTS = 100
_MOST_FEATURES = 1000


class Centres(NamedTuple):
    """Partitions around centres, their shares of the votes, and what all are worth here, from 0 to 1."""

    partitions: list[Partition]
    shares: Sequence[float]
    worth: float


def centres(
    neighborhoods: Neighborhoods, n_clusters: int, starts: Sequence[NDArray[np.integer]], rng: np.random.Generator
) -> Centres:
    """The partitions around `n_clusters` centres, and what they are worth; none where there are no coordinates.

    Parameters
    ----------
    neighborhoods : Neighborhoods
    n_clusters : int
    starts : sequence of ndarrays of shape (n_points,)
        Partitions that mixtures may start from, besides k-means and Ward's.
    rng : Generator

    Examples
    --------
    >>> import numpy as np
    >>> from evencut.selection import find_neighborhoods
    >>> rng = np.random.default_rng(0)
    >>> overlapping = rng.normal(size=(300, 2)) + 3 * (np.arange(300) % 2)[:, None]
    >>> turn = rng.uniform(0, 6.28, 300)
    >>> ring = np.column_stack([np.cos(turn), np.sin(turn)]) + 0.05 * rng.normal(size=(300, 2))
    >>> [round(centres(find_neighborhoods(X), 2, [], rng).worth, 1) for X in (overlapping, ring)]
    [1.0, 0.0]
    """
    if not neighborhoods.has_coordinates or n_clusters > _MOST_COMPONENTS or neighborhoods.X.shape[1] > _MOST_FEATURES:
        return Centres([], [], 0.0)
    seen = _Seen.of(neighborhoods, n_clusters, rng)
    seed = int(rng.integers(2**31))
    kmeans = seen.kmeans(n_clusters, seed)
    if seen.is_worth_nothing(kmeans, n_clusters):
        return Centres([], [], 0.0)
    if seen.far.size and n_clusters > 1:
        found = seen.beside_far_rows(kmeans, starts, n_clusters, seed)
    else:
        found = seen.around_centres(kmeans, starts, n_clusters)
    kinds = ["k-means", "Ward", *(f"Gaussians, {mixture.kind}" for mixture in found.mixtures)]
    partitions = [
        Partition("centre", kind, 0, labels, neighborhoods.system.name) for kind, labels in zip(kinds, found.labels)
    ]
    gains = np.array([mixture.predictive for mixture in found.mixtures]) - seen.by_neighbors
    best = gains.max(initial=-np.inf) if gains.size else 0.0
    shares = np.concatenate([np.full(2, 0.5 * (1 - _SHARE_OF_MIXTURES)), _SHARE_OF_MIXTURES * _softmax(gains / _NATS)])
    return Centres(partitions, shares.tolist(), _worth(best, neighborhoods.dimension))


class _Found(NamedTuple):
    """Labels by k-means, Ward's and each mixture, and the mixtures."""

    labels: NDArray[np.int64]
    mixtures: list[Mixture]

    @property
    def criterion(self) -> float:
        """The best Bayesian information criterion of the mixtures, in nats a point."""
        return max((mixture.criterion for mixture in self.mixtures), default=-np.inf)


class _Seen(NamedTuple):
    """The points about their mean, and the sample that centres are fitted on: a row far away is no part of it."""

    X: NDArray[np.floating]
    far: NDArray[np.intp]
    rows: NDArray[np.intp]
    mass: NDArray[np.float64]
    smooth: NDArray[np.float64]
    by_neighbors: float
    dimension: float

    @classmethod
    def of(cls, neighborhoods: Neighborhoods, n_clusters: int, rng: np.random.Generator) -> _Seen:
        near = np.delete(np.arange(neighborhoods.n_points), neighborhoods.far)
        # About the mean, where variances are not small differences of large squares.
        X = neighborhoods.X - neighborhoods.X[near].mean(axis=0, dtype=np.float64)
        rows = near[sample_of(len(near), n_clusters, rng)]
        mass = neighborhoods.weights[rows] / neighborhoods.weights[rows].sum()
        by_neighbors = float(mass @ neighbor_log_density(neighborhoods, rows))
        return cls(X, neighborhoods.far, rows, mass, dequantized(X[rows], rng), by_neighbors, neighborhoods.dimension)

    def kinds(self, n_clusters: int) -> list[str]:
        """The mixtures that there are points enough for."""
        most = len(self.rows) / _POINTS_PER_PARAMETER
        return [kind for kind in KINDS if n_parameters(kind, n_clusters, self.X.shape[1]) < most]

    def kmeans(self, n_clusters: int, seed: int) -> NDArray[np.int64]:
        """The labels of the sample by k-means."""
        return _kmeans(self.X[self.rows], self.mass, n_clusters, seed)

    def ward(self, n_clusters: int) -> NDArray[np.int64]:
        """The labels of the sample by Ward's, which costs its square: half of it shows the clusters."""
        sample = self.X[self.rows]
        half = slice(None, None, 1 if len(sample) <= _SAMPLE // 2 else 2)
        return _nearest(sample, sample[half], _ward(sample[half], n_clusters))

    def for_all(self, labels: NDArray[np.int64]) -> NDArray[np.int64]:
        """The labels of the sample for all points: those of the nearest means, but theirs where only far rows miss."""
        of_all = _nearest(self.X, self.X[self.rows], labels)
        if len(self.rows) + len(self.far) == len(self.X):
            of_all[self.rows] = labels
        return of_all

    def is_worth_nothing(self, kmeans: NDArray[np.int64], n_clusters: int) -> bool:
        """Whether the likeliest kind of mixture, of which all others are special cases, is far from likely enough."""
        if "full" not in self.kinds(n_clusters):
            return False
        likely = fit_mixture(self.smooth, self.mass, kmeans, n_clusters).log_likelihood
        return _worth(likely - self.by_neighbors, self.dimension) < _LITTLE_WORTH

    def around_centres(
        self, kmeans: NDArray[np.int64], starts: Sequence[NDArray[np.integer]], n_clusters: int
    ) -> _Found:
        """The partitions of all points; mixtures from the best of the starts that have no more clusters."""
        ward = self.ward(n_clusters)
        others = [np.unique(start[self.rows], return_inverse=True)[1] for start in starts]
        of_sample = [kmeans, ward, *(start for start in others if start.max() < n_clusters)]
        kinds = self.kinds(n_clusters)
        mixtures = [_likeliest(self.smooth, self.mass, of_sample, n_clusters, kind) for kind in kinds]
        labels = [self.for_all(kmeans), self.for_all(ward)]
        labels += [np.argmax(mixture.log_joint(self.X), axis=1) for mixture in mixtures]
        return _Found(np.array(labels), mixtures)

    def beside_far_rows(
        self, kmeans: NDArray[np.int64], starts: Sequence[NDArray[np.integer]], n_clusters: int, seed: int
    ) -> _Found:
        """The same, but rows far away are the last cluster where the others need no more centres than are left."""
        fewer = self.around_centres(self.kmeans(n_clusters - 1, seed), starts, n_clusters - 1)
        found = self.around_centres(kmeans, starts, n_clusters)
        if fewer.criterion < found.criterion or not found.mixtures:
            return found
        fewer.labels[:, self.far] = n_clusters - 1
        return fewer


def _softmax(values: NDArray[np.float64]) -> NDArray[np.float64]:
    weights = np.exp(values - values.max(initial=-np.inf))
    return weights / weights.sum()


def _worth(gain: float, dimension: float) -> float:
    by_prediction = float(np.exp(min(gain, 0.0) / _NATS))
    return 1 - (1 - by_prediction) * min(1.0, _PLANE / dimension) ** 2


def sample_of(n_points: int, n_clusters: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """The points that centres are fitted on, in their order.

    Examples
    --------
    >>> import numpy as np
    >>> len(sample_of(100, 2, np.random.default_rng(0))), len(sample_of(9000, 2, np.random.default_rng(0)))
    (100, 2000)
    """
    n_sample = max(_SAMPLE, _SAMPLE_PER_CLUSTER * n_clusters)
    return np.arange(n_points) if n_points <= n_sample else np.sort(rng.choice(n_points, n_sample, replace=False))


def dequantized(X: NDArray[np.floating], rng: np.random.Generator) -> NDArray[np.float64]:
    """The values spread evenly over the steps in which their columns come, the median gap between distinct values.

    A density of a column of few values, such as yes and no, has no bound, and a mixture would follow that column alone.

    Examples
    --------
    >>> import numpy as np
    >>> dequantized(np.array([[0.0], [1.0], [1.0]]), np.random.default_rng(0)).round(2).ravel()
    array([0.14, 0.77, 0.54])
    """
    steps = [np.diff(np.unique(column)) for column in X.T]
    width = np.array([np.median(gaps) if gaps.size else 0.0 for gaps in steps])
    return np.asarray(X + width * (rng.random(X.shape) - 0.5))


def neighbor_log_density(neighborhoods: Neighborhoods, rows: NDArray[np.integer]) -> NDArray[np.float64]:
    """Logarithm of the density at some points that their neighbours show, with the width that predicts best.

    Examples
    --------
    >>> import numpy as np
    >>> from evencut.selection import find_neighborhoods
    >>> X = np.random.default_rng(0).normal(size=(2000, 1))
    >>> entropy = 0.5 * np.log(2 * np.pi * np.e)
    >>> bool(abs(neighbor_log_density(find_neighborhoods(X), np.arange(2000)).mean() + entropy) < 0.05)
    True
    """
    squared, near = neighborhoods.distances[rows, 1:] ** 2, neighborhoods.indices[rows, 1:]
    n_features = neighborhoods.X.shape[1]
    radius = neighborhoods.distances[:, min(_NEIGHBOR, neighborhoods.distances.shape[1] - 1)]
    smallest = radius[radius > 0].min() if (radius > 0).any() else 1.0
    variance = (np.maximum(radius, smallest) ** 2 / n_features)[near]
    share = neighborhoods.weights[near] / neighborhoods.weights.sum()
    mass = np.log(share) - n_features / 2 * np.log(2 * np.pi * variance)
    tried = []
    for width in _WIDTHS:
        seen = mass - n_features / 2 * np.log(width) - squared / (2 * width * variance)
        highest = seen.max(axis=1)
        tried.append(highest + np.log(np.exp(seen - highest[:, None]).sum(axis=1)))
    return max(tried, key=lambda density: float(neighborhoods.weights[rows] @ density))


def _likeliest(
    X: NDArray[np.floating],
    mass: NDArray[np.float64],
    starts: Sequence[NDArray[np.integer]],
    n_clusters: int,
    kind: str,
) -> Mixture:
    """A mixture from the start that is likeliest after some steps: after one it says little of the end."""
    first = [fit_mixture(X, mass, start, n_clusters, kind, n_steps=_FIRST_STEPS) for start in starts]
    return fit_mixture(X, mass, max(first, key=lambda mixture: mixture.log_likelihood), n_clusters, kind)


def _kmeans(X: NDArray[np.floating], mass: NDArray[np.float64], n_clusters: int, seed: int) -> NDArray[np.int64]:
    from sklearn.cluster import KMeans

    return KMeans(n_clusters, n_init=1, random_state=seed).fit(X, sample_weight=mass).labels_.astype(np.int64)


def _ward(X: NDArray[np.floating], n_clusters: int) -> NDArray[np.int64]:
    from scipy.cluster.hierarchy import fcluster, linkage

    return fcluster(linkage(X, "ward"), n_clusters, "maxclust").astype(np.int64) - 1


def _nearest(X: NDArray[np.floating], sample: NDArray[np.floating], labels: NDArray[np.int64]) -> NDArray[np.int64]:
    """The labels of a sample for all points: theirs where it is all, else those of the nearest mean."""
    if len(sample) == len(X):
        return labels
    members = np.eye(int(labels.max()) + 1)[labels].T
    means = members @ sample / np.maximum(members.sum(axis=1, keepdims=True), 1)
    return np.argmin(np.sum(means**2, axis=1) - 2 * X @ means.T, axis=1)
