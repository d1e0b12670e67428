r"""Steps: areas of even density that differ from their neighbours by a sharp step, with no gap between them.

With :math:`\rho` the smoothed density that K neighbours show, a partition along its steps is evidence of structure
where

.. math:: \frac{\operatorname{mean}_{pq\ \mathrm{across}} (\log\rho_p - \log\rho_q)^2}
               {\operatorname{mean}_{pq\ \mathrm{inside}} (\log\rho_p - \log\rho_q)^2} \ge 20

while each cluster is even: its :math:`\log\rho` spreads by no more than the standard error :math:`1/\sqrt K`. A slope
fails the first, since it is as steep inside as at the border, and a summit the second.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..criteria import normalized_cut
from ..solvers.multilevel import multilevel
from .candidates import Neighborhoods, smooth_density, stepped

__all__ = ["count_steps"]

_NEIGHBORS = 25
# The largest number of areas tried; more of them hardly have steps all around.
_MOST_AREAS = 4
# An area holds so many neighbourhoods: the densities of fewer tell little.
_NEIGHBORHOODS = 10
# Of 120 single Gaussians, boxes, balls and strands of such sizes the sharpest border had 16.
_SHARPNESS = 20.0
_STEP = 0.3


def count_steps(neighborhoods: Neighborhoods, random_state: int | None = None) -> int:
    """The number of even areas with sharp steps between them, or 1.

    Examples
    --------
    >>> import numpy as np
    >>> from evencut.selection import find_neighborhoods
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(size=(2000, 2)) * [1, 2]
    >>> dense = np.concatenate([X, rng.uniform(size=(4000, 2))])
    >>> count_steps(find_neighborhoods(X), 0), count_steps(find_neighborhoods(dense), 0)
    (1, 2)
    """
    # In one column chance makes steps as sharp as any.
    if neighborhoods.n_points < 2 * _NEIGHBORHOODS * _NEIGHBORS or neighborhoods.X.shape[1] == 1:
        return 1
    affinity = neighborhoods.affinity(_NEIGHBORS)
    density = smooth_density(neighborhoods, _NEIGHBORS, neighborhoods.dimension)
    problem = normalized_cut(stepped(affinity, neighborhoods, _NEIGHBORS), neighborhoods.weights)
    rows = np.repeat(np.arange(neighborhoods.n_points), np.diff(affinity.indptr))
    squared = (density[rows] - density[affinity.indices]) ** 2
    for n_areas in range(_MOST_AREAS, 1, -1):
        labels, _, _ = multilevel(problem, n_areas, n_init=2, n_runs=1, random_state=random_state)
        across = labels[rows] != labels[affinity.indices]
        if across.any() and _areas_are_even(density, labels):
            inside = float(np.average(squared[~across], weights=affinity.data[~across]))
            if np.average(squared[across], weights=affinity.data[across]) >= _SHARPNESS * inside:
                return n_areas
    return 1


def _areas_are_even(density: NDArray[np.float64], labels: NDArray[np.integer]) -> bool:
    """Whether all areas are large and even, and no two of the same density."""
    areas = [density[labels == area] for area in np.unique(labels)]
    if min(map(len, areas)) < _NEIGHBORHOODS * _NEIGHBORS:
        return False
    low, middle, high = np.array([np.percentile(area, [25, 50, 75]) for area in areas]).T
    # A quarter on either side of the middle is 0.674 standard deviations of a Gaussian.
    spread = np.sqrt(np.average(((high - low) / 1.349) ** 2, weights=[len(area) for area in areas]))
    return bool(spread * np.sqrt(_NEIGHBORS) <= 1 and np.diff(np.sort(middle)).min() >= _STEP)
