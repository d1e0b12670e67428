r"""Clusters around centres, for points that overlap: k-means, Ward's, and mixtures of Gaussians.

They suit points that a few centres describe, and mislead where clusters are curved or lie inside each other. Which it
is can be told without knowing the clusters: from how well points are predicted that a model has not seen. A mixture of
Gaussians knows centres only; the density that neighbours show,

.. math:: \hat\rho(p) = \frac1W \sum_{q \ne p} w_q \, \mathcal N\left(p; q, c R_q^2\right)

with :math:`R_q` the distance of q to its tenth neighbour and c what predicts best, knows any shape, but needs many
points for it, and more as dimensions grow. With :math:`g = \operatorname{mean}_p \log m(p) - \log\hat\rho(p)` the gain
of the best mixture m (:mod:`evencut.selection.mixtures`) in nats a point, centres are worth :math:`\exp(g / 0.1)`, and
no more than one.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .candidates import Neighborhoods, Partition
from .mixtures import KINDS, Mixture, fit_mixture, mixture_sample, n_parameters

__all__ = ["Centres", "centres", "neighbor_log_density"]

# Neighbour whose distance is the width of the density at a point, and the factors c that are tried.
_NEIGHBOR = 10
_WIDTHS = (0.25, 0.5, 1.0, 2.0, 4.0)
# Nats a point by which neighbours must predict better for centres to lose most of their worth.
_NATS = 0.1
# More points than this are too many for Ward's tree.
_MOST_IN_WARD = 1000
# More clusters or columns take longer than all the rest.
_MOST_COMPONENTS = 100
_MOST_FEATURES = 1000


class Centres(NamedTuple):
    """Partitions around centres, and what these are worth here, from 0 to 1."""

    partitions: list[Partition]
    worth: float


def centres(
    around: Neighborhoods, n_clusters: int, starts: Sequence[NDArray[np.integer]], rng: np.random.Generator
) -> Centres:
    """The partitions around `n_clusters` centres, and what they are worth; none where there are no coordinates.

    Parameters
    ----------
    around : Neighborhoods
    n_clusters : int
    starts : sequence of ndarrays of shape (n_points,)
        Partitions that mixtures may start from, besides k-means and Ward's.
    rng : Generator

    Examples
    --------
    >>> import numpy as np
    >>> from evencut.selection import look_around
    >>> rng = np.random.default_rng(0)
    >>> overlapping = rng.normal(size=(300, 2)) + 3 * (np.arange(300) % 2)[:, None]
    >>> turn = rng.uniform(0, 6.28, 300)
    >>> ring = np.column_stack([np.cos(turn), np.sin(turn)]) + 0.05 * rng.normal(size=(300, 2))
    >>> [round(centres(look_around(X), 2, [], rng).worth, 1) for X in (overlapping, ring)]
    [1.0, 0.0]
    """
    if not around.has_coordinates or n_clusters > _MOST_COMPONENTS or around.X.shape[1] > _MOST_FEATURES:
        return Centres([], 0.0)
    # About the mean, where variances are not small differences of large squares.
    X = around.X - around.X.mean(axis=0, dtype=np.float64)
    rows = mixture_sample(len(X), rng)
    seed = int(rng.integers(2**31))
    labels = {"k-means": _kmeans(X, around.weights, n_clusters, seed), "Ward": _ward(X, n_clusters, rng)}
    sample, mass = X[rows], around.weights[rows] / around.weights[rows].sum()
    fitted = _mixtures(sample, mass, [start[rows] for start in (*labels.values(), *starts)], n_clusters)
    for mixture in fitted:
        labels[f"Gaussians, {mixture.kind}"] = np.argmax(mixture.log_joint(X), axis=1)
    partitions = [Partition("centre", kind, 0, found, around.system.name) for kind, found in labels.items()]
    if not fitted:
        return Centres(partitions, 1.0)
    gain = max(mixture.predictive for mixture in fitted) - float(mass @ neighbor_log_density(around)[rows])
    return Centres(partitions, float(np.exp(min(gain, 0.0) / _NATS)))


def neighbor_log_density(around: Neighborhoods) -> NDArray[np.float64]:
    """Logarithm of the density at each point that its neighbours show, itself left out, with the best width.

    Examples
    --------
    >>> import numpy as np
    >>> from evencut.selection import look_around
    >>> X = np.random.default_rng(0).normal(size=(2000, 1))
    >>> entropy = 0.5 * np.log(2 * np.pi * np.e)
    >>> bool(abs(neighbor_log_density(look_around(X)).mean() + entropy) < 0.05)
    True
    """
    away, near = around.distances[:, 1:], around.indices[:, 1:]
    n_features = around.X.shape[1]
    radius = away[:, min(_NEIGHBOR, away.shape[1]) - 1]
    smallest = radius[radius > 0].min() if (radius > 0).any() else 1.0
    squared = np.maximum(radius, smallest) ** 2 / n_features
    mass = np.log(around.weights[near]) - np.log(around.weights.sum())
    best = np.full(len(near), -np.inf)
    for width in _WIDTHS:
        variance = width * squared[near]
        seen = mass - 0.5 * (n_features * np.log(2 * np.pi * variance) + away**2 / variance)
        density = np.logaddexp.reduce(seen, axis=1)
        if np.average(density, weights=around.weights) > np.average(best, weights=around.weights):
            best = density
    return best


def _mixtures(
    X: NDArray[np.floating], mass: NDArray[np.float64], starts: Sequence[NDArray[np.integer]], n_clusters: int
) -> list[Mixture]:
    """A mixture of every kind that has fewer parameters than points, from the start that is likeliest after a step."""
    fitted = []
    for kind in KINDS:
        if n_parameters(kind, n_clusters, X.shape[1]) < len(X):
            first = [fit_mixture(X, mass, start, n_clusters, kind, n_steps=1).log_likelihood for start in starts]
            fitted.append(fit_mixture(X, mass, starts[int(np.argmax(first))], n_clusters, kind))
    return fitted


def _kmeans(
    X: NDArray[np.floating], weights: NDArray[np.float64], n_clusters: int, seed: int
) -> NDArray[np.int64]:
    from sklearn.cluster import KMeans

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # fewer distinct points than clusters leave some without any
        labels = KMeans(n_clusters, n_init=3, random_state=seed).fit(X, sample_weight=weights).labels_
    return labels.astype(np.int64)


def _ward(X: NDArray[np.floating], n_clusters: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Ward's clusters of a sample; the others belong to the nearest of their means."""
    from scipy.cluster.hierarchy import fcluster, linkage

    n_sample = max(_MOST_IN_WARD, 4 * n_clusters)
    rows = np.arange(len(X)) if len(X) <= n_sample else np.sort(rng.choice(len(X), n_sample, replace=False))
    labels = fcluster(linkage(X[rows], "ward"), n_clusters, "maxclust").astype(np.int64) - 1
    if len(rows) == len(X):
        return labels
    members = np.eye(int(labels.max()) + 1)[labels].T
    means = members @ X[rows] / members.sum(axis=1, keepdims=True)
    return np.argmin(np.sum(means**2, axis=1) - 2 * X @ means.T, axis=1)
