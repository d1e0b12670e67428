"""What every kernel is: a map from points to a symmetric affinity, and from new points to rows of it."""

from __future__ import annotations

import inspect
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator

from .._runtime import warn_user
from ..affinity import AffinityLike, as_affinity, check_affinity
from ..neighbors import check_entries
from ..points.prepare import PreparedPoints, unmerged_points
from ..tensors import AnyFloats, Floats

Points = AnyFloats
Extension = Callable[[Points], AffinityLike]
_Method = TypeVar("_Method", bound=Callable[..., Any])


def for_tensors(method: _Method) -> _Method:
    """Mark a method of a kernel that accepts tensors as well as arrays.

    Examples
    --------
    >>> from evencut.kernels import Gaussian, Geodesic
    >>> Gaussian().takes_tensors, Geodesic().takes_tensors
    (True, False)
    """
    method.for_tensors = True  # type: ignore[attr-defined]
    return method


@dataclass(frozen=True)
class KernelParameter:
    """A parameter of a kernel that the command line and the studio can set.

    Parameters
    ----------
    name : str
        Its name in the constructor.
    title, hint : str
        What a form calls it, and a sentence on what it does.
    least, most : float
        The range of numbers that it takes.
    whole : bool
        Whether only whole numbers.
    rules : tuple of str
        Names it takes instead of a number.

    Examples
    --------
    >>> NEIGHBORS.read("12"), BANDWIDTH.read("scott"), BANDWIDTH.read("0.5")
    (12, 'scott', 0.5)
    """

    name: str
    title: str
    hint: str
    least: float
    most: float
    whole: bool = False
    rules: tuple[str, ...] = ()

    def read(self, text: str) -> float | str:
        """The value that a text stands for; raises for one that the parameter does not take."""
        if text in self.rules:
            return text
        try:
            number = int(text) if self.whole else float(text)
        except ValueError:
            number = float("nan")
        if not self.least <= number <= self.most:
            kind = "a whole number" if self.whole else "a number"
            rules = "".join(f", {rule}" for rule in self.rules)
            raise ValueError(f"{self.name}={text} must be {kind} from {self.least:g} to {self.most:g}{rules}.")
        return number


NEIGHBORS = KernelParameter(
    "n_neighbors", "Neighbours", "How many nearest points make a point's neighbourhood.", 1, 100_000, whole=True
)
BANDWIDTH = KernelParameter(
    "bandwidth",
    "Bandwidth",
    "Distance up to which points count as similar.",
    1e-100,
    1e100,
    rules=("scott", "silverman", "median"),
)


class Kernel(BaseEstimator):
    """A map from points to a symmetric affinity."""

    #: What a form calls it.
    title = ""

    #: What a form, the command or a recipe can set; other parameters of the constructor are for Python alone.
    settings: ClassVar[tuple[KernelParameter, ...]] = ()

    #: Whether an affinity is given in place of points.
    is_pairwise = False

    #: Whether lengths have a meaning of their own, so that points must not be rescaled.
    has_units = False

    #: Whether only neighbours have an affinity, so that it is a sparse graph.
    is_graph = False

    @property
    def needs_coordinates(self) -> bool:
        """Whether points must be rows of one array under Euclidean distance; most need distances only."""
        return False

    @property
    def takes_tensors(self) -> bool:
        """Whether points on a device are clustered there: both methods are marked by :func:`for_tensors`.

        A subclass with a method of its own marks it anew.
        """
        return all(hasattr(method, "for_tensors") for method in (type(self).affinity, type(self).extend))

    @property
    def is_tied_to_rows(self) -> bool:
        """Whether a parameter holds a value for each row, so that rows must stay as they are."""
        return False

    @abstractmethod
    def affinity(self, X: Points, *, n_jobs: int | None = None) -> AffinityLike:
        """The symmetric affinity of the points with each other."""

    @abstractmethod
    def extend(self, X: Points, *, n_jobs: int | None = None) -> Extension:
        """A function from new points to the rows of their affinities with `X`; one that can be pickled is kept."""

    def affinity_and_extension(
        self, X: Points, *, weights: Floats | None = None, n_jobs: int | None = None
    ) -> tuple[AffinityLike, Extension | None]:
        """The affinity of points of these weights, and the extension where it comes with it at no cost.

        Most kernels take neighbours among distinct points and need no weights. Where there is no extension, it is made
        when first needed.
        """
        return self.affinity(X, n_jobs=n_jobs), None


class NeighborKernel(Kernel):
    """A sparse kernel of neighbours: one search gives the affinity and the extension."""

    settings = (NEIGHBORS,)
    is_graph = True

    @abstractmethod
    def _both(self, X: Points, n_jobs: int | None) -> tuple[AffinityLike, Extension]:
        """The affinity and the extension."""

    @for_tensors
    def affinity(self, X: Points, *, n_jobs: int | None = None) -> AffinityLike:
        """The sparse affinity of the graph of neighbours."""
        return self._both(X, n_jobs)[0]

    def affinity_and_extension(
        self, X: Points, *, weights: Floats | None = None, n_jobs: int | None = None
    ) -> tuple[AffinityLike, Extension | None]:
        """Both from one search; a subclass with an affinity of its own keeps to it."""
        if type(self).affinity is not NeighborKernel.affinity:
            return super().affinity_and_extension(X, n_jobs=n_jobs)
        return self._both(X, n_jobs)


@dataclass(eq=False, repr=False)
class FixedBandwidth(Kernel):
    """A kernel of one bandwidth for all points: a length, one a feature, a matrix, or a rule that follows the data."""

    settings = (BANDWIDTH,)

    bandwidth: float | str | ArrayLike = "scott"
    memory: float | None = None

    @property
    def has_units(self) -> bool:  # type: ignore[override]
        """A number is a length; a rule follows the data."""
        return not isinstance(self.bandwidth, str)

    @property
    def needs_coordinates(self) -> bool:
        """One length, given or the median distance, is all that distances need."""
        is_median = isinstance(self.bandwidth, str) and self.bandwidth == "median"
        return not is_median and np.ndim(self.bandwidth) + isinstance(self.bandwidth, str) > 0

    def _length(self, X: Any) -> float:
        """The bandwidth as one length, for points that are known by their distances."""
        if not isinstance(self.bandwidth, str):
            if not self.bandwidth > 0:  # type: ignore[operator]
                raise ValueError(f"bandwidth={self.bandwidth!r} must be positive and finite.")
            return float(self.bandwidth)  # type: ignore[arg-type]
        some = X[:: -(-len(X) // 1000)]
        found = some.distances(some)
        return float(np.median(found[np.triu_indices(len(some), 1)])) or 1.0


def affinity_of(
    kernel: Kernel, X: Any, *, weights: Floats | None = None, n_jobs: int | None = None
) -> tuple[AffinityLike, Extension | None]:
    """The affinity of a kernel, after checking that it is a finite, symmetric matrix.

    Kernels of this package are symmetric by construction; those of users are looked at.

    Examples
    --------
    >>> import numpy as np
    >>> from evencut.kernels import KNN
    >>> affinity_of(KNN(2), np.array([[0.0], [1.0], [3.0]]))[0].shape
    (3, 3)
    """
    affinity, extension = kernel.affinity_and_extension(X, weights=weights, n_jobs=n_jobs)
    what = f"the affinity of {kernel!r}"
    if not type(kernel).affinity.__module__.startswith(f"{__package__}."):
        affinity = check_affinity(affinity, what)
        if affinity.shape[0] != X.shape[0]:
            raise ValueError(f"{what} has {affinity.shape[0]} rows for {X.shape[0]} points; give one for each point.")
    else:
        check_entries(as_affinity(affinity), what)
    return affinity, extension


def check_neighbors(kernel: Any, n_points: int, itself: int = 0) -> None:
    """Raise unless `n_neighbors` is a whole number of at least one; warn where there are not so many points.

    A default adapts to few points in silence, a number of one's own does not. `itself` is one where a point counts
    among its own neighbours.
    """
    n_neighbors = kernel.n_neighbors
    if not isinstance(n_neighbors, Integral) or isinstance(n_neighbors, bool) or n_neighbors < 1:
        raise ValueError(f"n_neighbors={n_neighbors!r} must be a whole number of at least 1.")
    most = n_points - 1 + itself
    parameter = inspect.signature(type(kernel)).parameters.get("n_neighbors")
    usual = parameter.default if parameter is not None and isinstance(parameter.default, int) else 0
    if int(n_neighbors) > max(most, usual):
        warn_user(
            f"n_neighbors={n_neighbors} of {type(kernel).__name__} is more than there are among {n_points} distinct "
            f"points: every point is a neighbour of all others; give at most {most}.",
        )


def exp_half(squared: AnyFloats) -> AnyFloats:
    """The Gaussian exp(-x/2) of squared distances, in place."""
    squared *= -0.5
    return np.exp(squared, out=squared)


def matrix_per_point(matrices: ArrayLike, X: Points, name: str) -> Floats:
    """The matrices given, one positive definite one for each point."""
    matrices = np.asarray(matrices, dtype=np.float64)
    n_samples, n_features = X.shape
    if matrices.shape != (n_samples, n_features, n_features):
        raise ValueError(
            f"{name} has shape {matrices.shape}; {n_samples} points with {n_features} features "
            f"need ({n_samples}, {n_features}, {n_features})."
        )
    if not np.isfinite(matrices).all() or np.linalg.eigvalsh(matrices).min() <= 0:
        raise ValueError(f"{name} must hold symmetric positive definite matrices.")
    return matrices


def prepare_affinity(affinity: Any, weights: Floats) -> PreparedPoints:
    """The rows and columns of positive weight of an affinity given in place of points; it is never scaled.

    Examples
    --------
    >>> import numpy as np
    >>> prepare_affinity(np.eye(3), np.array([1.0, 0.0, 1.0])).points.shape
    (2, 2)
    """
    kept = np.flatnonzero(weights > 0)
    points = affinity if len(kept) == len(weights) else as_affinity(affinity).among(kept).entries
    return unmerged_points(points, weights, kept, np.ones(affinity.shape[1]), "euclidean")
