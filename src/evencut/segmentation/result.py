"""The answer of a segmentation, and the door to the next one: `refine` takes more hints and reuses the graph."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

if TYPE_CHECKING:
    from .session import State

__all__ = ["Segmentation", "named"]

_Name = TypeVar("_Name", bound=np.integer)


def named(codes: NDArray[np.integer], names: NDArray[_Name]) -> NDArray[_Name]:
    """The names that codes stand for, in the type of the names.

    Examples
    --------
    >>> import numpy as np
    >>> named(np.array([[0, 1]]), np.array([1, 2])), named(np.array([1]), np.array([1, 5], dtype=np.uint8))
    (array([[1, 2]]), array([5], dtype=uint8))
    """
    if names[-1] - names[0] == len(names) - 1:
        # Names in a row are added to, which is faster than looking each one up.
        return np.add(codes, names[0], dtype=names.dtype, casting="unsafe")
    return np.take(names, codes)


@dataclass(frozen=True, eq=False)
class Segmentation:
    """A segmented image.

    Parameters
    ----------
    codes : ndarray of int of shape (M, N), or (D, M, N) of a volume
        Place in `label_names` of the label of each pixel.
    energy : float
        Criterion plus boundary term at the working size, in the paper's sign: lower is better. This and what follows
        describe the rounds of the first answer; clicks that correct it do not change them.
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
        The labels that pixels can have, sorted.
    previous : Segmentation or None
        The result that this one refines: to undo, go on from there.
    """

    codes: NDArray[np.integer]
    energy: float
    trace: tuple[float, ...]
    n_iter: int
    converged: bool
    smoothness: float
    timings: dict[str, float]
    label_names: NDArray[np.int64]
    previous: Segmentation | None = field(default=None, repr=False)
    _state: State | None = field(default=None, repr=False)

    @cached_property
    def labels(self) -> NDArray[np.int64]:
        """Label of each pixel: 1 background and 2 object from a box or clicks, the labels of the scribbles otherwise.

        Made when it is first asked for: of a large photo it takes more time than a click.
        """
        return named(self.codes, self.label_names)

    @property
    def mask(self) -> NDArray[np.bool_]:
        """The object: where the larger of two labels is."""
        if len(self.label_names) != 2:
            raise ValueError(f"there are {len(self.label_names)} labels, not two; use labels instead of mask.")
        return self.codes == 1

    def refine(self, scribbles: ArrayLike | None = None, *, clicks: Iterable[Any] | None = None) -> Segmentation:
        """The segmentation with more strokes or clicks, in a fraction of the time of the first.

        Parameters
        ----------
        scribbles : array of int of the shape of the labels, optional
            0 where nothing is drawn, else a label that is already in use: after a box, 1 is background and 2 object.
        clicks : list of (x, y, "object" or "background"), or (x, y, z, ...), optional
            What is wrong now, best its middle. The part around a click follows it, the larger the further the click
            is from the contour; what already has its label keeps it, and nothing out of its reach changes.

        Returns
        -------
        Segmentation
            A new result; this one stays as it is, as `previous` of the new one.

        Examples
        --------
        >>> import numpy as np
        >>> from evencut.segmentation import segment
        >>> rng = np.random.default_rng(0)
        >>> image = np.clip(rng.normal(0.2, 0.03, size=(40, 60)), 0, 1)
        >>> image[10:30, 10:25] += 0.6
        >>> image[10:30, 35:50] += 0.4
        >>> first = segment(image, clicks=[(17, 20, "object")])
        >>> second = first.refine(clicks=[(42, 20, "object")])
        >>> bool(first.mask[20, 42]), bool(second.mask[20, 42]), second.previous is first
        (False, True, True)
        """
        if self._state is None:
            raise ValueError("this segmentation cannot be refined; start from a box or clicks with segment().")
        if (scribbles is None) == (clicks is None):
            raise ValueError("give scribbles or clicks, one of the two.")
        if clicks is not None:
            return replace(self._state.with_clicks(clicks), previous=self)
        return replace(self._state.with_strokes(np.asarray(scribbles)), previous=self)

    def another(self, clicks: Iterable[Any]) -> Segmentation:
        """Another object of the same image, begun by clicks: what :func:`segment` finds from them, in less time.

        Parameters
        ----------
        clicks : list of (x, y, "object" or "background"), or (x, y, z, ...)
            As in :func:`segment`. This result must come from clicks, too: one from a box knows only its surroundings.

        Examples
        --------
        >>> import numpy as np
        >>> from evencut.segmentation import segment
        >>> rng = np.random.default_rng(0)
        >>> image = np.clip(rng.normal(0.2, 0.03, size=(40, 60)), 0, 1)
        >>> image[10:30, 10:25] += 0.6
        >>> image[10:30, 35:50] += 0.4
        >>> first = segment(image, clicks=[(17, 20, "object")])
        >>> second = first.another([(42, 20, "object")])
        >>> bool(second.mask[20, 17]), bool(second.mask[20, 42])
        (False, True)
        """
        if self._state is None:
            raise ValueError("this segmentation was not begun by clicks; use segment() with clicks.")
        return self._state.begun_anew(clicks)
