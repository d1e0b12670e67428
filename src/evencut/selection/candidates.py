r"""Partitions found by different principles, for the consensus to choose from.

Cuts: normalised cuts of the shared-neighbour graph at several scales, and the same where a step in density is a border
too. Trees: the longest edges of spanning trees. A step multiplies the affinity of p and q by

.. math:: \exp\left(-c K (\log\rho_p - \log\rho_q)^2\right)

with :math:`\rho` the density seen by K neighbours, smoothed over neighbourhoods: differences count in units of the
standard error :math:`1/\sqrt K` of such a density, so that chance is no border. The density goes with the radius of the
neighbourhood to the power of the dimension d, but of :math:`16/d` above four dimensions: there a neighbourhood reaches
as far as its cluster, and the full power would cut stragglers off and leave no cluster to spare for small ones.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..criteria import normalized_cut
from ..kernels import shared_neighbor_affinity
from ..neighbors import NeighborSearch, is_dense
from ..points import GIVEN, CoordinateSystem, far_rows
from ..solvers.multilevel import multilevel
from .trees import Joins, SpanningTree, join_pieces, spanning_tree

__all__ = [
    "Neighborhoods",
    "Partition",
    "cuts",
    "find_neighborhoods",
    "intrinsic_dimension",
    "log_density",
    "neighborhood_sizes",
    "rare_groups",
    "smooth_density",
    "stepped",
    "tree_cuts",
]

# A neighbourhood is a sixth of an average cluster, within limits: fewer are noise, more add only cost.
_CLUSTERS_PER_NEIGHBORHOOD = 6
_FEWEST, _MOST = 10, 25
_SCALES = (0.6, 1.0, 1.6)
# Neighbours that core distances of trees reach to; shares of an average cluster that a cut of a tree must leave.
_CORES = (1, 5, 10)
_SHARES = (0.25, 0.05, 0.02)
# Sharpness c of a step in density, and how often the density is averaged over neighbours.
_STEP = 2.0
_SMOOTHINGS = 2
# Dimension up to which a neighbourhood is a small part of a cluster, and the density in it that of a place.
_LOCAL_DIMENSION = 4.0


class Partition(NamedTuple):
    """A partition and where it comes from.

    Parameters
    ----------
    family : {"cut", "tree", "centre"}
    kind : str
    scale : int
        Neighbours of a cut, those that core distances of a tree reach to, or 0.
    labels : ndarray of shape (n_points,)
    system : str
        Name of the coordinate system.
    """

    family: str
    kind: str
    scale: int
    labels: NDArray[np.int64]
    system: str = GIVEN


@dataclass(frozen=True, eq=False)
class Neighborhoods:
    """The neighbours of points in one coordinate system, and what follows from them for any number of clusters."""

    system: CoordinateSystem
    search: NeighborSearch
    weights: NDArray[np.float64]
    distances: NDArray[np.float64]
    indices: NDArray[np.integer]
    joins: Joins
    dimension: float
    far: NDArray[np.intp]
    _trees: dict[int, SpanningTree] = field(default_factory=dict, init=False)
    _affinities: dict[int, sparse.csr_array] = field(default_factory=dict, init=False)

    @property
    def X(self) -> NDArray[np.floating]:
        """The points."""
        return self.search.X

    @property
    def has_coordinates(self) -> bool:
        """Whether the points are rows of numbers."""
        return is_dense(self.X)

    @property
    def n_points(self) -> int:
        """How many there are."""
        return len(self.weights)

    def tree(self, core: int) -> SpanningTree:
        """The spanning tree with core distances to neighbour number `core`."""
        if core not in self._trees:
            self._trees[core] = spanning_tree(self.distances, self.indices, self.joins, core, self.weights)
        return self._trees[core]

    def affinity(self, size: int) -> sparse.csr_array:
        """The shared-neighbour affinity with `size` neighbours."""
        if size not in self._affinities:
            away, near = self.distances[:, : size + 1], self.indices[:, : size + 1]
            self._affinities[size] = shared_neighbor_affinity(self.X, away, near, n_jobs=self.search.n_jobs)
        return self._affinities[size]


def neighborhood_sizes(n_points: int, n_clusters: int) -> list[int]:
    """The scales K that are tried: 0.6, 1 and 1.6 times a sixth of an average cluster, that kept within 10 and 25."""
    middle = min(max(n_points / (_CLUSTERS_PER_NEIGHBORHOOD * n_clusters), _FEWEST), _MOST)
    return [min(round(scale * middle), n_points - 1) for scale in _SCALES]


def find_neighborhoods(
    X: NDArray[np.floating],
    weights: NDArray[np.floating] | None = None,
    *,
    system: CoordinateSystem | None = None,
    n_jobs: int | None = None,
) -> Neighborhoods:
    """The neighbours of points that are in a system already, for any number of clusters.

    Examples
    --------
    >>> import numpy as np
    >>> find_neighborhoods(np.random.default_rng(0).normal(size=(50, 2))).indices.shape
    (50, 41)
    """
    system = CoordinateSystem(GIVEN) if system is None else system
    search = NeighborSearch(X, n_jobs=n_jobs)
    distances, indices = search.query_self(round(_SCALES[-1] * _MOST) + 1)
    counts = np.ones(len(X)) if weights is None else np.asarray(weights, dtype=np.float64)
    joins = join_pieces(X, indices, n_jobs=n_jobs)
    # Rows far away are known where points are rows of numbers.
    far = far_rows(X) if is_dense(X) else np.empty(0, dtype=np.intp)
    return Neighborhoods(system, search, counts, distances, indices, joins, intrinsic_dimension(distances), far)


def intrinsic_dimension(distances: NDArray[np.float64]) -> float:
    r"""Levina and Bickel's estimate from distances to neighbours: one over the mean of :math:`\log(R_K / R_j)`."""
    apart = np.where(distances[:, 1:] > 0, distances[:, 1:], np.nan)
    with np.errstate(over="ignore"):
        ratio = np.log(distances[:, -1:] / apart[:, :-1]) if distances.shape[1] > 2 else np.full((1, 1), np.nan)
    # Quotients that are no floats say nothing of the dimension.
    ratio[np.isinf(ratio)] = np.nan
    mean = np.nanmean(ratio) if np.isfinite(ratio).any() else 0.0
    return float(1.0 / mean) if mean > 0 else 1.0


def cuts(
    neighborhoods: Neighborhoods, n_clusters: int, *, n_init: int = 2, random_state: int | None = None
) -> Iterator[Partition]:
    """Normalised cuts at the steps in density and at the gaps between points.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.concatenate([np.random.default_rng(0).normal(size=(60, 2)) + place for place in (0, 9)])
    >>> [(cut.kind, cut.scale) for cut in cuts(find_neighborhoods(X), 2, random_state=0)]
    [('step', 6), ('step', 10), ('gap', 10), ('step', 16), ('gap', 16)]
    """
    for rank, size in enumerate(neighborhood_sizes(len(neighborhoods.X), n_clusters)):
        affinity = neighborhoods.affinity(size)
        matrices = {"step": stepped(affinity, neighborhoods, size)}
        # At the finest scale gaps are mostly chance; its cut would only be outvoted.
        if rank > 0:
            matrices["gap"] = affinity
        for kind, matrix in matrices.items():
            problem = normalized_cut(matrix, neighborhoods.weights)
            labels, _, _ = multilevel(problem, n_clusters, n_init=n_init, n_runs=1, random_state=random_state)
            yield Partition("cut", kind, size, labels, neighborhoods.system.name)


def tree_cuts(neighborhoods: Neighborhoods, n_clusters: int) -> Iterator[Partition]:
    """Cuts of the longest edges of spanning trees.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.concatenate([np.random.default_rng(0).normal(size=(60, 2)) + place for place in (0, 9)])
    >>> {tuple(np.bincount(tree.labels)) for tree in tree_cuts(find_neighborhoods(X), 2)} == {(60, 60)}
    True
    """
    for core, share in itertools.product(_CORES, _SHARES):
        labels = neighborhoods.tree(core).cut(n_clusters, share)
        yield Partition("tree", f"{share:g} of a cluster", core, labels, neighborhoods.system.name)


def rare_groups(neighborhoods: Neighborhoods, n_clusters: int) -> NDArray[np.int64]:
    """The cut of a tree that leaves the smallest clusters.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(300, 2)) + 9 * (np.arange(300) < 6)[:, None]
    >>> sorted(np.bincount(rare_groups(find_neighborhoods(X), 2)).tolist())
    [6, 294]
    """
    return neighborhoods.tree(_CORES[1]).cut(n_clusters, _SHARES[-1])


def log_density(neighborhoods: Neighborhoods, size: int, dimension: float) -> NDArray[np.float64]:
    """Logarithm, up to a constant, of the density that `size` neighbours show in a space of that dimension."""
    radius = neighborhoods.distances[:, size]
    smallest = radius[radius > 0].min() if (radius > 0).any() else 1.0
    mass = neighborhoods.weights[neighborhoods.indices[:, : size + 1]].sum(axis=1)
    return np.log(mass) - dimension * np.log(np.maximum(radius, smallest))


def smooth_density(neighborhoods: Neighborhoods, size: int, dimension: float) -> NDArray[np.float64]:
    """The same, averaged over neighbourhoods."""
    density = log_density(neighborhoods, size, dimension)
    for _ in range(_SMOOTHINGS):
        density = density[neighborhoods.indices[:, : size + 1]].mean(axis=1)
    return density


def stepped(affinity: sparse.csr_array, neighborhoods: Neighborhoods, size: int) -> sparse.csr_array:
    """The affinity with steps in density taken for borders."""
    from ._consensus_loops import step_down

    density = smooth_density(
        neighborhoods, size, min(neighborhoods.dimension, _LOCAL_DIMENSION**2 / neighborhoods.dimension)
    )
    data = step_down(affinity.indptr, affinity.indices, affinity.data, density, _STEP * size)
    return sparse.csr_array((data, affinity.indices, affinity.indptr), shape=affinity.shape)
