r"""Labellings of least bound: one minimum cut for two labels, expansion moves for more (Boykov, Veksler, Zabih, 2001).

Minimises :math:`\sum_p c_{p, l_p} + \sum_{pq} w_{pq} [l_p \ne l_q]`; pixels whose label is known keep it.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from .grid import Labels, Slices, boundary_energy, directions, neighbor_pairs, window_of
from .maxflow import GridCut


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
        self._window = window_of(known < 0) if (known < 0).any() else None
        self._cut: GridCut | None = None
        if self._window is not None:
            self._inner = weights[self._window]
            self._inner_known = known[self._window]

    def boundary(self, labels: Labels) -> float:
        """The boundary term of a labelling."""
        return boundary_energy(self.weights, labels)

    def improve(self, costs: NDArray[np.floating], labels: Labels) -> Labels:
        """A labelling that costs at most as much as `labels` (the best one of all, for two labels).

        Parameters
        ----------
        costs : ndarray of shape (n_pixels, n_labels)
        labels : ndarray of the shape of `known`
            Where to start; its known pixels are right.
        """
        if self._window is None:
            return labels.copy()
        inner_costs = costs.reshape(*labels.shape, self.n_labels)[self._window]
        improved = labels.copy()
        if self.n_labels == 2:
            improved[self._window] = self._best_of_two(inner_costs)
        else:
            for label in range(self.n_labels):
                self._expand(label, inner_costs, improved)
        return improved

    def _best_of_two(self, costs: NDArray[np.floating]) -> Labels:
        unary = costs[..., 1] - costs[..., 0] + self._pull_of_rim
        if self._cut is None:
            self._cut = GridCut(self._inner)
        known = self._inner_known
        force = self._force(unary)
        unary = np.where(known < 0, unary, np.where(known == 1, -force, force))
        return self._cut.minimize(unary).astype(known.dtype)

    @cached_property
    def _pull_of_rim(self) -> NDArray[np.float64]:
        """What the known labels around the window add to the cost of label 1 at its rim."""
        pull = np.zeros(self._inner_known.shape)
        for d, step in enumerate(directions(self.known.ndim)):
            for here, there in _pairs_across(self._window, step, self.known.shape):  # type: ignore[arg-type]
                weight = self.weights[..., d][here]
                part = tuple(slice(h.start - w.start, h.stop - w.start) for h, w in zip(here, self._window))  # type: ignore[arg-type]
                pull[part] += np.where(self.known[there] == 1, -weight, weight)
        return pull

    def _expand(self, label: int, costs: NDArray[np.floating], labels: Labels) -> None:
        """Let `label` take any pixels of the window it pays to take; changes `labels`."""
        grown = window_of(self._window_mask(), margin=1)
        current, known, weights = labels[grown], self.known[grown], self.weights[grown]
        unary = np.zeros(current.shape)
        place = tuple(
            slice(w.start - g.start, w.stop - g.start) for w, g in zip(self._window, grown)  # type: ignore[arg-type]
        )
        kept = np.take_along_axis(costs, current[place][..., None].astype(np.intp), axis=-1)[..., 0]
        unary[place] = costs[..., label] - kept
        capacities = np.zeros_like(weights)
        for d, here, there in neighbor_pairs(current.shape, forward=True):
            w = weights[..., d][here]
            both_keep = w * (current[here] != current[there])
            there_takes = w * (current[here] != label)
            here_takes = w * (current[there] != label)
            unary[here] += here_takes - both_keep
            unary[there] -= here_takes
            capacities[(*there, weights.shape[-1] - 1 - d)] += there_takes + here_takes - both_keep
        force = self._force(unary)
        fixed = known >= 0
        unary[fixed] = force
        takes = GridCut(capacities).minimize(unary) & ~fixed
        labels[grown][takes] = label

    def _window_mask(self) -> NDArray[np.bool_]:
        mask = np.zeros(self.known.shape, dtype=bool)
        mask[self._window] = True
        return mask

    def _force(self, unary: NDArray[np.floating]) -> float:
        """A cost that no boundary can outweigh."""
        return 1.0 + float(np.abs(unary).max(initial=0)) + 4.0 * self.weights.shape[-1] * self._heaviest

    @cached_property
    def _heaviest(self) -> float:
        return float(self.weights.max(initial=0))


def _pairs_across(window: Slices, step: tuple[int, ...], shape: tuple[int, ...]) -> Iterator[tuple[Slices, Slices]]:
    """Parts of the window whose neighbours one step on lie outside of it but in the grid, and these; each pair once."""
    inner = list(window)
    for axis, along in enumerate(step):
        part = window[axis]
        if not along:
            continue
        rim = part.stop - 1 if along > 0 else part.start
        here = [*inner[:axis], slice(rim, rim + 1), *window[axis + 1 :]]
        # What crosses this face has been named: the faces of later axes begin behind it.
        inner[axis] = slice(part.start, rim) if along > 0 else slice(rim + 1, part.stop)
        kept = [
            slice(max(side.start, -move), min(side.stop, size - move)) for side, move, size in zip(here, step, shape)
        ]
        if all(side.start < side.stop for side in kept):
            yield tuple(kept), tuple(slice(side.start + move, side.stop + move) for side, move in zip(kept, step))
