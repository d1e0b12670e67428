"""What every kernel is: a map from points to a symmetric affinity, and from new points to rows of it."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from .affinity import Affinity

__all__ = ["Extension", "Kernel", "Points"]

Points = NDArray[np.floating]
Extension = Callable[[Points], Affinity]


class Kernel(BaseEstimator):
    """A map from points to a symmetric affinity."""

    #: Whether only neighbours have an affinity, so that it is a sparse graph.
    is_graph = False

    @abstractmethod
    def affinity(self, X: Points, *, n_jobs: int | None = None) -> Affinity:
        """The symmetric affinity of the points with each other."""

    @abstractmethod
    def extend(self, X: Points, *, n_jobs: int | None = None) -> Extension:
        """A function from new points to the rows of their affinities with `X`."""
