"""The shared-neighbour kernel: close for their surroundings, and surrounded by the same points.

Both factors compare a pair with its own neighbourhood, so that density drops out and gaps, bridges and
noise weigh little.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from numbers import Integral
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from scipy import sparse

from .affinity import Affinity
from .kernel import Extension, Kernel, Points
from .neighbors import NeighborSearch, kneighbors, neighbor_graph

__all__ = ["Auto", "SharedNeighbors", "shared_neighbor_affinity"]

# Affinity of a point with itself where it has none with others: too little to matter beside any neighbour.
_ALONE = 1e-10


class SharedNeighbors(Kernel):
    r"""Locally scaled Gaussian of neighbours times a power of the share of neighbours in common.

    .. math:: A_{pq} = \exp\left(-\frac{\|f_p-f_q\|^2}{s\,R_p R_q}\right)
              \left(\frac{|N_p \cap N_q|}{K + 1}\right)^{\gamma}, \qquad q \in N_p \text{ or } p \in N_q

    :math:`N_p` holds the point and its K nearest others and :math:`R_p` is the distance to the (K/2)-th of
    them. Two points across a gap are far for their surroundings and share few neighbours; so are the points
    of a bridge or of sparse noise. Under the normalised cut such points are cheap to cut. The diagonal is next to
    nothing (1e-10): with an affinity of its own, an outlier would make a cluster by itself.

    Parameters
    ----------
    n_neighbors : int, default=25
        K; where there are fewer other points, all are neighbours.
    sharpness : float, default=0.5
        :math:`1/s`: larger values let the affinity fall faster with distance.
    power : float, default=6
        :math:`\gamma`; 0 ignores common neighbours.

    Notes
    -----
    Local scaling is Zelnik-Manor and Perona's (2004), similarity by shared neighbours Jarvis and Patrick's
    (1973).

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [1.0], [2.0], [10.0], [11.0], [12.0]])
    >>> float(SharedNeighbors(n_neighbors=2).affinity(X).toarray()[:3, 3:].max())
    0.0
    """

    is_graph = True

    def __init__(self, n_neighbors: int = 25, sharpness: float = 0.5, power: float = 6.0):
        self.n_neighbors = n_neighbors
        self.sharpness = sharpness
        self.power = power

    def affinity(self, X: Points, *, n_jobs: int | None = None) -> Affinity:
        """The sparse affinity of the union of all neighbourhoods."""
        self._check()
        distances, indices = kneighbors(X, self.n_neighbors + 1, n_jobs=n_jobs)
        how: dict[str, Any] = {"sharpness": self.sharpness, "power": self.power, "n_jobs": n_jobs}
        return shared_neighbor_affinity(X, distances, indices, **how)

    def extend(self, X: Points, *, n_jobs: int | None = None) -> Extension:
        """Affinities of new points with their K + 1 nearest points of `X`."""
        self._check()
        search = NeighborSearch(X, n_jobs=n_jobs)
        distances, indices = search.query_self(self.n_neighbors + 1)
        radius = _radius(distances)

        def rows(Y: Points) -> Affinity:
            away, near = search.query(Y, self.n_neighbors + 1)
            indptr = np.arange(0, near.size + 1, near.shape[1])
            data = np.empty(near.size)
            mine, theirs = (Y, _radius(away), near), (X, radius, indices)
            pattern = (indptr, near.ravel(), data)
            _fill(mine, theirs, pattern, self.sharpness, self.power, n_jobs)
            return sparse.csr_array((data, near.ravel(), indptr), shape=(len(Y), len(X)))

        return rows

    def _check(self) -> None:
        if not isinstance(self.n_neighbors, Integral) or self.n_neighbors < 1:
            raise ValueError(f"n_neighbors={self.n_neighbors!r} must be a whole number of at least 1.")
        if not self.sharpness > 0:
            raise ValueError(f"sharpness={self.sharpness!r} must be positive.")
        if not self.power >= 0:
            raise ValueError(f"power={self.power!r} must not be negative; 0 ignores common neighbours.")


class Auto(Kernel):
    """The shared-neighbour kernel at a scale chosen from the data.

    An estimator that meets it chooses the scale together with the labels, by
    :func:`evencut.selection.select`. Where nothing can be judged, it is :class:`SharedNeighbors` with its
    default parameters.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(50, 2))
    >>> bool((Auto().affinity(X) != SharedNeighbors().affinity(X)).sum())
    False
    """

    is_graph = True

    def affinity(self, X: Points, *, n_jobs: int | None = None) -> Affinity:
        """The sparse affinity at the default scale."""
        return SharedNeighbors().affinity(X, n_jobs=n_jobs)

    def extend(self, X: Points, *, n_jobs: int | None = None) -> Extension:
        """Affinities of new points at the default scale."""
        return SharedNeighbors().extend(X, n_jobs=n_jobs)


def shared_neighbor_affinity(
    X: Points,
    distances: NDArray[np.floating],
    indices: NDArray[np.integer],
    *,
    sharpness: float = 0.5,
    power: float = 6.0,
    n_jobs: int | None = None,
) -> sparse.csr_array:
    """The affinity of :class:`SharedNeighbors` from neighbours already found.

    Parameters
    ----------
    X : ndarray of shape (n, n_features)
    distances, indices : ndarrays of shape (n, K + 1)
        Each point first among its own neighbours, as :func:`evencut.neighbors.kneighbors` gives them; one
        search serves every smaller K by its first columns.
    sharpness, power : float
        As in :class:`SharedNeighbors`.
    n_jobs : int, optional
        Threads; the result does not depend on them.

    Examples
    --------
    >>> import numpy as np
    >>> from evencut.neighbors import kneighbors
    >>> X = np.arange(4.0)[:, None]
    >>> found = kneighbors(X, 4)
    >>> shared_neighbor_affinity(X, found[0][:, :2], found[1][:, :2]).shape
    (4, 4)
    """
    indices = np.ascontiguousarray(indices)
    affinity = neighbor_graph(indices, "union", X.dtype)
    side = (np.ascontiguousarray(X), _radius(distances), indices)
    _fill(side, side, (affinity.indptr, affinity.indices, affinity.data), sharpness, power, n_jobs)
    affinity.setdiag(_ALONE)
    return affinity


def _fill(queries, points, pattern, sharpness, power, n_jobs):
    """Affinities of the entries of a CSR pattern; each thread takes a stretch of its rows."""
    from ._shared_neighbors_loops import pair_affinities

    n_threads = effective_n_jobs(n_jobs)
    ends = np.linspace(0, len(queries[0]), n_threads + 1).astype(int)
    shape = float(sharpness), float(power)
    with ThreadPoolExecutor(n_threads) as pool:
        tasks = [
            pool.submit(pair_affinities, first, last, *queries, *points, *pattern, *shape)
            for first, last in zip(ends[:-1], ends[1:])
        ]
        for task in tasks:
            task.result()


def _radius(distances: NDArray[np.floating]) -> NDArray[np.float64]:
    """Distance to the (K/2)-th other neighbour; where copies of the point fill that place, to the next one apart."""
    half = max((distances.shape[1] - 1) // 2, 1)
    radius = distances[:, min(half, distances.shape[1] - 1)].astype(np.float64)
    copies = radius <= 0
    if copies.any():
        apart = np.where(distances[copies] > 0, distances[copies], np.inf).min(axis=1)
        radius[copies] = np.where(np.isfinite(apart), apart, 1.0)
    return radius
