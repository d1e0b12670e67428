"""The sizes an image or volume is worked on at: each is the one before halved along its finest axes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .grid import Shape, Steps

#: The contour of larger volumes is found at half their size, or less; that of photos never.
MOST_DRAWN = 20_000_000

#: An axis is halved with the finest one unless its voxels are longer by more than this.
_ABOUT_EQUAL = 2**0.5


@dataclass(frozen=True)
class Sizes:
    """Shapes and lengths of voxels, from full size on.

    Parameters
    ----------
    shapes : tuple of tuple of int
    spacings : tuple of tuple of float
        Length of a voxel along each axis, in units of the finest axis at full size.
    steps : tuple of tuple of int
        How many times smaller the next size is, along each axis.

    Examples
    --------
    >>> Sizes.of((4, 64, 64), (4.0, 1.0, 1.0), most=1100).shapes
    ((4, 64, 64), (4, 32, 32), (4, 16, 16))
    """

    shapes: tuple[Shape, ...]
    spacings: tuple[tuple[float, ...], ...]
    steps: tuple[Steps, ...]

    @classmethod
    def of(cls, shape: Shape, spacing: tuple[float, ...], most: int) -> Sizes:
        """The sizes from `shape` down to the first of at most so many voxels."""
        shapes, spacings, steps = [shape], [tuple(side / min(spacing) for side in spacing)], []
        while np.prod(shapes[-1], dtype=float) > most:
            finest = min(side for side, size in zip(spacings[-1], shapes[-1]) if size > 1)
            step = tuple(2 if side <= _ABOUT_EQUAL * finest else 1 for side in spacings[-1])
            steps.append(step)
            shapes.append(tuple(-(-size // times) for size, times in zip(shapes[-1], step)))
            spacings.append(tuple(side * times for side, times in zip(spacings[-1], step)))
        return cls(tuple(shapes), tuple(spacings), tuple(steps))

    def is_drawn(self, level: int) -> bool:
        """Whether the contour is found anew at this size, and not only enlarged from the next."""
        return len(self.shapes[level]) < 3 or np.prod(self.shapes[level], dtype=float) <= MOST_DRAWN

    def factor(self, level: int = 0) -> Steps:
        """How many times smaller the last size is than the one at `level`, along each axis."""
        return tuple(int(np.prod(along)) for along in zip(*self.steps[level:])) or (1,) * len(self.shapes[0])
