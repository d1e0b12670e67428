"""The answer of a segmentation, and the door to the next one: `refine` takes more strokes and reuses the graph."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

if TYPE_CHECKING:
    from .session import State

__all__ = ["Segmentation"]


@dataclass(frozen=True, eq=False)
class Segmentation:
    """A segmented image.

    Parameters
    ----------
    labels : ndarray of int of shape (M, N)
        Label of each pixel: 1 background and 2 object from a box, the labels of the scribbles otherwise.
    energy : float
        Criterion plus boundary term at the working size, in the paper's sign: lower is better.
    trace : tuple of float
        Energy of the start and after each round. It never rises for the ratio criteria; for the entropy criterion
        the best labelling is kept.
    n_iter : int
        Rounds.
    converged : bool
        Whether the rounds came to rest before `max_iter`.
    smoothness : float
        Weight of the boundary term that was used; less than asked for where that would have left one label only.
    timings : dict of str to float
        Seconds of CPU time of each step.
    label_names : ndarray of int
        The labels that `labels` can hold, sorted.
    """

    labels: NDArray[np.int64]
    energy: float
    trace: tuple[float, ...]
    n_iter: int
    converged: bool
    smoothness: float
    timings: dict[str, float]
    label_names: NDArray[np.int64]
    _state: State | None = field(default=None, repr=False)

    @property
    def mask(self) -> NDArray[np.bool_]:
        """The object: where the larger of two labels is."""
        if len(self.label_names) != 2:
            raise ValueError(f"there are {len(self.label_names)} labels, not two; use labels instead of mask.")
        return self.labels == self.label_names[1]

    def refine(self, scribbles: ArrayLike) -> Segmentation:
        """The segmentation with more strokes, in a fraction of the time of the first.

        Parameters
        ----------
        scribbles : array of int of shape (M, N)
            0 where nothing is drawn, else a label that is already in use: after a box, 1 is background and 2 object.

        Returns
        -------
        Segmentation
            A new result; this one stays as it is.
        """
        if self._state is None:
            raise ValueError("this segmentation cannot be refined; start from scribbles with segment().")
        return self._state.with_strokes(scribbles)
