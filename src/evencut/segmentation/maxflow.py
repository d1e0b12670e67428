r"""Minimum cuts on the pixel grid, by our compiled max-flow.

It minimises :math:`\sum_p u_p x_p + \sum_{pq} c_{pq}\, x_p (1 - x_q)` over :math:`x \in \{0, 1\}`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .grid import directions

Floats = NDArray[np.floating]


class GridCut:
    """Minimum cuts on one grid for one or many unary terms.

    What the last cut left in the network is where the next one starts, so that slowly changing unary terms cost little.

    Parameters
    ----------
    capacities : ndarray of shape (..., n_directions)
        Non-negative capacity of the edge from each pixel in each direction; those that leave the grid are
        ignored.

    Examples
    --------
    >>> import numpy as np
    >>> cut = GridCut(np.full((1, 3, 8), 2.0))
    >>> cut.minimize(np.array([[-5.0, -1.0, 4.0]]))
    array([[ True,  True, False]])
    """

    def __init__(self, capacities: Floats):
        self.shape = capacities.shape[:-1]
        steps = directions(len(self.shape))
        padded = tuple(size + 2 for size in self.shape)
        self._inside = tuple(slice(1, size + 1) for size in self.shape)
        residual = np.zeros((*padded, len(steps)))
        residual[self._inside] = capacities
        for d, step in enumerate(steps):
            for axis, along in enumerate(step):
                if along:
                    rim = 1 if along < 0 else self.shape[axis]
                    residual[(*(slice(None),) * axis, rim, ..., d)] = 0
        self._residual = residual.reshape(-1, len(steps))
        self._excess = np.zeros(padded)
        self._unary: Floats = np.zeros(self.shape)
        strides = np.cumprod([1, *padded[:0:-1]])[::-1]
        self._offsets = np.array(steps) @ strides
        self._tree = np.zeros(padded, dtype=np.int8)

    def minimize(self, unary: Floats) -> NDArray[np.bool_]:
        """The smallest set of pixels (x = 1) among those of least energy."""
        from ._maxflow_loops import maximum_flow

        if unary.shape != self.shape:
            raise ValueError(f"unary has shape {unary.shape}; the grid has shape {self.shape}.")
        unary = np.asarray(unary, dtype=np.float64)
        # Only the difference is new: both terminal edges of a pixel may be lowered by the same amount for free.
        self._excess[self._inside] -= unary - self._unary
        self._unary = unary.copy()
        maximum_flow(self._residual, self._excess.ravel(), self._offsets, self._tree.ravel())
        return self._tree[self._inside] == 1
