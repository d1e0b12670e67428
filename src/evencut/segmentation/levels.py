"""What is known at every size of an image: made once, and changed in a few pixels of each size by a click."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from .clicks import Click, footprint
from .constraints import halve_known
from .grid import Labels, Mask, Slices, Steps, rim_of, scaled
from .images import halve


@dataclass(frozen=True, eq=False)
class KnownLevels:
    """Known labels at full size, half of it, and so on.

    Parameters
    ----------
    known : tuple of ndarray of int
        Codes of known labels, -1 elsewhere; from full size on.
    outside : tuple of (ndarray of bool or None)
        What lies outside a hard box, at every size.
    n_labels : int
    steps : tuple of tuple of int
        How many times smaller each size is than the one before, along each axis.
    spacing : tuple of float, optional
        Length of a voxel along each axis at full size, in units of the finest.

    Examples
    --------
    >>> import numpy as np
    >>> levels = KnownLevels((np.full((2, 4), -1),), (None,), 2).deepened([(2, 2)]).with_click(Click((0, 3), True))
    >>> [level.tolist() for level in levels.known]
    [[[-1, -1, -1, 1], [-1, -1, -1, -1]], [[-1, 1]]]
    """

    known: tuple[Labels, ...]
    outside: tuple[Mask | None, ...]
    n_labels: int
    steps: tuple[Steps, ...] = ()
    spacing: tuple[float, ...] | None = None

    def deepened(self, steps: Sequence[Steps]) -> KnownLevels:
        """The same at all the sizes that the steps lead to."""
        known, outside = list(self.known), list(self.outside)
        for step in steps[len(known) - 1 :]:
            last = outside[-1]
            known.append(halve_known(known[-1], self.n_labels, last, step))
            outside.append(None if last is None else halve(last, step) >= 0.5)
        return replace(self, known=tuple(known), outside=tuple(outside), steps=tuple(steps))

    def with_click(self, click: Click) -> KnownLevels:
        """The same after a click, which overrules what was known under it."""
        window, disc = footprint(click, self.known[0].shape, self.spacing)
        known = [self.known[0].copy()]
        known[0][window][disc] = click.code
        for level in range(1, len(self.known)):
            step = self.steps[level - 1]
            window = _smaller(window, step)
            finer = scaled(window, step)
            last = self.outside[level - 1]
            known.append(self.known[level].copy())
            known[level][window] = halve_known(
                known[level - 1][finer], self.n_labels, None if last is None else last[finer], step
            )
        return replace(self, known=tuple(known))

    def with_rim(self) -> tuple[Labels, ...]:
        """The known labels with the outermost pixels for background where nothing else is known of them."""
        levels = tuple(known.copy() for known in self.known)
        for known in levels:
            known[rim_of(known.shape) & (known < 0)] = 0
        return levels


def _smaller(window: Slices, step: Steps) -> Slices:
    return tuple(slice(part.start // times, -(-part.stop // times)) for part, times in zip(window, step))
