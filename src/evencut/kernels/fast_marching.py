"""Geodesic distances by fast marching: fronts that travel over a grid, at the speed the metric allows at each node.

Unlike shortest paths along a neighbour graph they cross the gaps between points, and see the density there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.ndimage import map_coordinates

from .._lazy import required
from ..tensors import Floats
from .base import Points

_MOST_FEATURES = 3
_MARGIN = 0.05
# A front starts at a small sphere around its source, of so many cells: at a point it would have no direction.
_FIRST_FRONT = 1.5


@dataclass(frozen=True, eq=False)
class MetricGrid:
    r"""A grid over the points with the slowness :math:`\sqrt{g}` of an isotropic metric tensor g I at its nodes.

    Parameters
    ----------
    origin : ndarray of shape (n_features,)
        The first node.
    step : float
        Distance between nodes.
    slowness : ndarray of n_features dimensions
        Length under the metric per unit of Euclidean length.
    """

    origin: Floats
    step: float
    slowness: Floats

    @classmethod
    def around(cls, X: Points, tensor: Callable[[Points], Floats], n_cells: int) -> MetricGrid:
        """A grid of `n_cells` along the longest side of the points' box, and a small margin.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
        tensor : callable
            The multiple of the identity that the metric tensor is, at each of some points.
        n_cells : int

        Examples
        --------
        >>> import numpy as np
        >>> grid = MetricGrid.around(np.array([[0.0, 0.0], [1.0, 0.5]]), lambda nodes: np.ones(len(nodes)), n_cells=20)
        >>> grid.slowness.shape
        (23, 13)
        """
        X = np.asarray(X, dtype=np.float64)
        if X.shape[1] > _MOST_FEATURES:
            raise ValueError(
                f"fast marching fills a grid over the {X.shape[1]} features, which is possible for at most "
                f"{_MOST_FEATURES}; use paths='graph'."
            )
        lowest, highest = X.min(axis=0), X.max(axis=0)
        longest = float(np.max(highest - lowest)) or 1.0
        step = longest / n_cells
        origin = lowest - _MARGIN * longest
        shape = tuple(int(np.ceil((side + 2 * _MARGIN * longest) / step)) + 1 for side in highest - lowest)
        nodes = origin + step * np.moveaxis(np.indices(shape), 0, -1).reshape(-1, X.shape[1])
        return cls(origin, step, np.sqrt(tensor(nodes)).reshape(shape))

    def distances(self, sources: Points, targets: Points) -> Floats:
        """Lengths of the shortest ways from each source to each target, one row a source; all inside the grid.

        Needs scikit-fmm.
        """
        marching = required("skfmm", "paths='fast_marching' needs scikit-fmm (paths='graph' does not)", "geodesic")
        sources, targets = np.asarray(sources, dtype=np.float64), np.asarray(targets, dtype=np.float64)
        nodes = self.origin + self.step * np.moveaxis(np.indices(self.slowness.shape), 0, -1)
        slow_here, slow_there = self._at(self.slowness, sources), self._at(self.slowness, targets)
        front = _FIRST_FRONT * self.step
        found = np.empty((len(sources), len(targets)))
        for row, source in enumerate(sources):
            away = np.sqrt(((nodes - source) ** 2).sum(axis=-1)) - front
            time = marching.travel_time(away, 1.0 / self.slowness, dx=self.step)
            found[row] = self._at(np.asarray(time), targets) + front * slow_here[row]
            straight = np.sqrt(((targets - source) ** 2).sum(axis=1))
            near = straight < 2 * front
            found[row, near] = straight[near] * 0.5 * (slow_here[row] + slow_there[near])
        return found

    def _at(self, field: Floats, points: Points) -> Floats:
        """The field between the nodes, linearly; points outside the grid have the value at its edge."""
        return map_coordinates(field, (points - self.origin).T / self.step, order=1, mode="nearest")
