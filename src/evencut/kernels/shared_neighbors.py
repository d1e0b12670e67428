"""The shared-neighbour kernel: close for their surroundings, and surrounded by the same points.

Both factors compare a pair with its own neighbourhood, so that density drops out and gaps, bridges and
noise weigh little.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from .._runtime import n_threads
from ..affinity import AffinityLike
from ..affinity.lazy import NeighborRows
from ..neighbors import NeighborSearch, neighbor_graph
from ..tensors import AnyFloats, AnyInts, Floats, array_namespace, beside, double, is_tensor, numbered, to_array
from .base import Extension, NeighborKernel, Points, check_neighbors, for_tensors

# Affinity of a point with itself where it has none with others: too little to matter beside any neighbour.
_ALONE = 1e-10


class _Side(NamedTuple):
    """Distances and numbers of neighbours, and the radius around each point: what the compiled loop reads of a side."""

    distances: AnyFloats
    radius: Floats
    lists: AnyInts

    @classmethod
    def of(cls, distances: AnyFloats, indices: AnyInts) -> _Side:
        """From the tables that a search gives."""
        if is_tensor(indices):
            return cls(distances, _radius(distances), indices.contiguous())  # type: ignore[attr-defined]
        return cls(np.ascontiguousarray(distances), _radius(distances), np.ascontiguousarray(indices))


@dataclass(eq=False, repr=False)
class SharedNeighbors(NeighborKernel):
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
        K; where there are fewer other points, all are neighbours, with a warning unless it is the default.
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

    title = "Shared neighbours"

    n_neighbors: int = 25
    sharpness: float = 0.5
    power: float = 6.0

    @for_tensors
    def extend(self, X: Points, *, n_jobs: int | None = None) -> Extension:
        """Affinities of new points with their K + 1 nearest points of `X`."""
        self._check(len(X))
        search = NeighborSearch(X, n_jobs=n_jobs)
        return self.extend_from(search, *search.query_self(self.n_neighbors + 1))

    def _both(self, X: Points, n_jobs: int | None) -> tuple[AffinityLike, Extension]:
        self._check(len(X))
        search = NeighborSearch(X, n_jobs=n_jobs)
        distances, indices = search.query_self(self.n_neighbors + 1)
        how: dict[str, Any] = {"sharpness": self.sharpness, "power": self.power, "n_jobs": n_jobs}
        affinity = shared_neighbor_affinity(X, distances, indices, **how)
        return affinity, self.extend_from(search, distances, indices)

    def extend_from(self, search: NeighborSearch, distances: AnyFloats, indices: AnyInts) -> Extension:
        """The extension from neighbours already found, as in :func:`shared_neighbor_affinity`."""
        return partial(self._rows, search, _Side.of(distances, indices))

    def _rows(self, search: NeighborSearch, theirs: _Side, Y: Points) -> AffinityLike:
        away, near = search.query(Y, self.n_neighbors + 1)
        if is_tensor(near):
            rows = numbered(near)[:, None].expand(near.shape)
            pairs = rows.reshape(-1), near.reshape(-1)
            shape = float(self.sharpness), float(self.power)
            values = _of_pairs(Y, search.X, pairs, _Side.of(away, near), theirs, shape)
            return NeighborRows(near, values.reshape(near.shape), search.n_points)
        indptr = np.arange(0, near.size + 1, near.shape[1])
        data = np.empty(near.size)
        mine = _Side.of(away, near)
        _fill(mine, theirs, False, (indptr, near.ravel(), data), (self.sharpness, self.power), search.n_jobs)
        return sparse.csr_array((data, near.ravel(), indptr), shape=(len(near), search.n_points))

    def _check(self, n_points: int) -> None:
        check_neighbors(self, n_points)
        if not self.sharpness > 0:
            raise ValueError(f"sharpness={self.sharpness!r} must be positive.")
        if not self.power >= 0:
            raise ValueError(f"power={self.power!r} must not be negative; 0 ignores common neighbours.")


def shared_neighbor_affinity(
    X: Points,
    distances: AnyFloats,
    indices: AnyInts,
    *,
    sharpness: float = 0.5,
    power: float = 6.0,
    n_jobs: int | None = None,
) -> sparse.csr_array:
    """The affinity of :class:`SharedNeighbors` from neighbours already found.

    Parameters
    ----------
    X : points, n of them
        Of any kind: only their precision is looked at, which the affinity keeps.
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
    side = _Side.of(distances, indices)
    affinity = neighbor_graph(side.lists, "union", X.dtype)
    if is_tensor(X):
        columns = beside(X, affinity.indices)
        rows = numbered(X).repeat_interleave(beside(X, np.diff(affinity.indptr)))
        values = _of_pairs(X, X, (rows, columns), side, side, (float(sharpness), float(power)))
        values[rows == columns] = _ALONE
        affinity.data = to_array(array_namespace(X).asarray(values, dtype=X.dtype))
        return affinity
    _fill(side, side, True, (affinity.indptr, affinity.indices, affinity.data), (sharpness, power), n_jobs)
    affinity.setdiag(_ALONE)
    return affinity


def _of_pairs(
    Y: Any, X: Any, pairs: tuple, mine: _Side, theirs: _Side, shape: tuple[float, float]
) -> Any:
    """Affinities of listed pairs of tensors."""
    from ..gpu.graph import shared_affinities

    return shared_affinities(Y, X, pairs, (mine.lists, theirs.lists), (mine.radius, theirs.radius), shape)


def _fill(
    mine: _Side,
    theirs: _Side,
    among: bool,
    pattern: tuple,
    shape: tuple[float, float],
    n_jobs: int | None,
) -> None:
    """Affinities of the entries of a CSR pattern; each thread takes a stretch of its rows."""
    from ._shared_neighbor_loops import pair_affinities

    n_workers = n_threads(n_jobs)
    ends = np.linspace(0, len(mine.lists), n_workers + 1).astype(int)
    sharpness, power = map(float, shape)
    with ThreadPoolExecutor(n_workers) as pool:
        tasks = [
            pool.submit(pair_affinities, (first, last), mine, theirs, among, pattern, sharpness, power)
            for first, last in zip(ends[:-1], ends[1:])
        ]
        for task in tasks:
            task.result()


def _radius(distances: AnyFloats) -> Floats:
    """Distance to the (K/2)-th other neighbour; where copies of the point fill that place, to the next one apart."""
    half = max((distances.shape[1] - 1) // 2, 1)
    xp = array_namespace(distances)
    # A copy, since compiled loops take no column of a table.
    radius = double(distances[:, min(half, distances.shape[1] - 1)]) + 0.0
    if (radius > 0).all():
        return radius
    apart = xp.amin(xp.where(distances > 0, distances, xp.inf), axis=1)
    return xp.where(radius > 0, radius, xp.where(xp.isfinite(apart), apart, 1.0))
