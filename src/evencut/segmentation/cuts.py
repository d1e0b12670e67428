r"""Least cuts on the pixel grid: boundary weights, max-flow for two labels, expansion moves for more.

Boundary weights are :math:`c_{pq} = w_{pq}\, (\phi + (1 - \phi)\, e^{-\beta |I_p - I_q|^2 / 2 \sigma^2})` with
:math:`w_{pq} = 1 / |p - q|` in a plane of square pixels (see :func:`edge_measures`). Labellings minimise
:math:`\sum_p c_{p, l_p} + \sum_{pq} w_{pq} [l_p \ne l_q]` (Boykov, Veksler, Zabih, 2001); known labels are kept.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .grid import Labels, directions, edge_measures, neighbor_pairs, window_of

#: The boundary terms by name; None stands for no term.
REGULARIZERS = ("contrast", "length", None)

#: :math:`\beta`, and :math:`\phi`: what is left of the weight at the strongest edge.
_SHARPNESS, _FLOOR = 3.0, 0.05

_ENOUGH = 1_000_000
_STRIPE, _STRIPES = 16, 8


def boundary_weights(
    image: NDArray[np.floating],
    regularizer: str | None = "contrast",
    *,
    scale: float | None = None,
    spacing: tuple[float, ...] | None = None,
) -> NDArray[np.float64]:
    r"""Weights of the edges of the grid, of shape (height, width, 8) for an image and (..., 26) for a volume.

    Parameters
    ----------
    image : ndarray of shape (..., n_channels)
    regularizer : {"contrast", "length", None}
        `"contrast"` makes edges of the image cheap to cut; `"length"` counts the Euclidean length of the
        boundary; None leaves the term out.
    scale : float, optional
        :math:`\sigma^2`; by default the :func:`contrast_scale` of the image.
    spacing : tuple of float, optional
        Length of a voxel along each axis.

    Examples
    --------
    >>> import numpy as np
    >>> boundary_weights(np.zeros((1, 2, 3)), "length")[0, 0].round(2)
    array([0., 0., 0., 0., 1., 0., 0., 0.])
    """
    shape = image.shape[:-1]
    measures = edge_measures(spacing or (1.0,) * len(shape))
    weights = np.zeros((*shape, len(measures)))
    if regularizer is None:
        return weights
    from ._grid_loops import squared_differences

    if regularizer == "contrast" and scale is None:
        scale = contrast_scale(image)
    for d, pixels, neighbors in neighbor_pairs(shape, forward=True):
        weight = measures[d]
        if regularizer == "contrast" and scale:
            fall = np.exp(-_SHARPNESS / (2 * scale) * squared_differences(image[pixels], image[neighbors]))
            weight = weight * (_FLOOR + (1 - _FLOOR) * fall)
        weights[..., d][pixels] = weight
        weights[..., len(measures) - 1 - d][neighbors] = weight
    return weights


def contrast_scale(image: NDArray[np.floating]) -> float:
    r"""Mean of :math:`|I_p - I_q|^2` over the neighbouring pairs; zero for a single pixel.

    Examples
    --------
    >>> import numpy as np
    >>> contrast_scale(np.array([[[0.0], [2.0]]]))
    4.0
    """
    from ._grid_loops import sum_of_squared_differences

    total, n_pairs = 0.0, 0
    height = image.shape[0]
    # A million pixels in stripes over the whole height say as much as all of them.
    step = max(1, image[..., 0].size // _ENOUGH)
    thickness = max(2, min(_STRIPE, height // _STRIPES))
    for top in range(0, height, thickness * step):
        stripe = image[top : top + thickness] if step > 1 else image
        for _, pixels, neighbors in neighbor_pairs(stripe.shape[:-1], forward=True):
            total += sum_of_squared_differences(stripe[pixels], stripe[neighbors])
            n_pairs += stripe[pixels][..., 0].size
        if step == 1:
            break
    return total / max(n_pairs, 1)


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
        inside = residual[self._inside]
        for d, pixels, _ in neighbor_pairs(self.shape):
            inside[..., d][pixels] = capacities[..., d][pixels]
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


class GridLabeler:
    """Minimiser of unary costs plus a Potts boundary term on a grid.

    Parameters
    ----------
    weights : ndarray of shape (..., n_directions)
        Cost of separating neighbours, smoothness included.
    known : ndarray of int
        The label of pixels that must keep it, -1 elsewhere.
    n_labels : int

    Examples
    --------
    >>> import numpy as np
    >>> labeler = GridLabeler(np.full((1, 3, 8), 2.0), np.array([[-1, -1, 0]]), 2)
    >>> labeler.improve(np.array([[5.0, 0.0], [1.0, 0.0], [0.0, 9.0]]), np.array([[0, 0, 0]]))
    array([[1, 1, 0]])
    """

    def __init__(self, weights: NDArray[np.floating], known: Labels, n_labels: int):
        self.weights = weights
        self.known = known
        self.n_labels = n_labels
        # The known labels around the window hold its labels in place.
        self._window = window_of(known < 0, margin=1) if (known < 0).any() else None
        self._cut: GridCut | None = None

    def improve(self, costs: NDArray[np.floating], labels: Labels) -> Labels:
        """A labelling of at most the cost of `labels` (the best one of all, for two labels).

        Parameters
        ----------
        costs : ndarray of shape (n_pixels, n_labels)
        labels : ndarray of the shape of `known`
            Where to start; its known pixels are right.
        """
        if self._window is None:
            return labels.copy()
        window_costs = costs.reshape(*labels.shape, self.n_labels)[self._window]
        improved = labels.copy()
        if self.n_labels == 2:
            improved[self._window] = self._best_of_two(window_costs)
        else:
            for label in range(self.n_labels):
                self._expand(label, window_costs, improved[self._window])
        return improved

    def _best_of_two(self, costs: NDArray[np.floating]) -> Labels:
        if self._cut is None:
            self._cut = GridCut(self.weights[self._window])
        known = self.known[self._window]
        unary = costs[..., 1] - costs[..., 0]
        force = self._force(unary)
        unary = np.where(known < 0, unary, np.where(known == 1, -force, force))
        return self._cut.minimize(unary).astype(known.dtype)

    def _expand(self, label: int, costs: NDArray[np.floating], labels: Labels) -> None:
        """Let `label` take any pixels of the window it pays to take; changes `labels`."""
        known, weights = self.known[self._window], self.weights[self._window]
        own = np.take_along_axis(costs, labels[..., None].astype(np.intp), axis=-1)[..., 0]
        unary = np.asarray(costs[..., label] - own, dtype=np.float64)
        capacities = np.zeros_like(weights)
        for d, pixels, neighbors in neighbor_pairs(labels.shape, forward=True):
            w = weights[..., d][pixels]
            both_keep = w * (labels[pixels] != labels[neighbors])
            neighbor_takes = w * (labels[pixels] != label)
            pixel_takes = w * (labels[neighbors] != label)
            unary[pixels] += pixel_takes - both_keep
            unary[neighbors] -= pixel_takes
            capacities[(*neighbors, weights.shape[-1] - 1 - d)] += neighbor_takes + pixel_takes - both_keep
        fixed = known >= 0
        unary[fixed] = self._force(unary)
        labels[GridCut(capacities).minimize(unary) & ~fixed] = label

    def _force(self, unary: NDArray[np.floating]) -> float:
        """A cost that no boundary can outweigh."""
        heaviest = float(self.weights.max(initial=0))
        return 1.0 + float(np.abs(unary).max(initial=0)) + 4.0 * self.weights.shape[-1] * heaviest
