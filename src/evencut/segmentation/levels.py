"""What is known at every size of an image: made once, and changed in a few pixels of each size by a click."""

from __future__ import annotations

from dataclasses import dataclass

from .clicks import Click, footprint
from .constraints import halve_known
from .grid import Labels, Mask, Slices, scaled
from .images import halve

__all__ = ["KnownLevels"]


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

    Examples
    --------
    >>> import numpy as np
    >>> levels = KnownLevels((np.full((2, 4), -1),), (None,), 2).deepened(2).with_click(Click(3, 0, True))
    >>> [level.tolist() for level in levels.known]
    [[[-1, -1, -1, 1], [-1, -1, -1, -1]], [[-1, 1]]]
    """

    known: tuple[Labels, ...]
    outside: tuple[Mask | None, ...]
    n_labels: int

    def deepened(self, n_levels: int) -> KnownLevels:
        """The same with as many sizes as asked for."""
        known, outside = list(self.known), list(self.outside)
        while len(known) < n_levels:
            last = outside[-1]
            known.append(halve_known(known[-1], self.n_labels, last))
            outside.append(None if last is None else halve(last) >= 0.5)
        return KnownLevels(tuple(known), tuple(outside), self.n_labels)

    def with_click(self, click: Click) -> KnownLevels:
        """The same after a click, which overrules what was known under it."""
        window, disc = footprint(click, self.known[0].shape)
        known = [self.known[0].copy()]
        known[0][window][disc] = click.code
        for level in range(1, len(self.known)):
            window = _halved(window)
            finer = scaled(window, 2)
            last = self.outside[level - 1]
            known.append(self.known[level].copy())
            known[level][window] = halve_known(
                known[level - 1][finer], self.n_labels, None if last is None else last[finer]
            )
        return KnownLevels(tuple(known), self.outside, self.n_labels)

    def with_rim(self) -> tuple[Labels, ...]:
        """The known labels with the outermost pixels for background where nothing else is known of them."""
        levels = tuple(known.copy() for known in self.known)
        for known in levels:
            for rim in (known[0], known[-1], known[:, 0], known[:, -1]):
                rim[rim < 0] = 0
        return levels


def _halved(window: Slices) -> Slices:
    rows, columns = (slice(part.start // 2, (part.stop + 1) // 2) for part in window)
    return rows, columns
