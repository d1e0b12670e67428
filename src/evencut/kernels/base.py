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
from ..affinity import AffinityLike, as_affinity, check_affinity, check_entries
from ..points.prepare import PreparedPoints, check_weights, unmerged_points
from ..tensors import AnyFloats, Floats

Points = AnyFloats
Extension = Callable[[Points], AffinityLike]
_Method = TypeVar("_Method", bound=Callable[..., Any])
# What rounding leaves of a distance of zero or of a triangle.
_ROUNDING = 1e-6


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
    minimum, maximum : float
        The range of numbers that it takes.
    whole : bool
        Whether only integers.
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
    minimum: float
    maximum: float
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
        if not self.minimum <= number <= self.maximum:
            kind = "a whole number" if self.whole else "a number"
            rules = "".join(f", {rule}" for rule in self.rules)
            raise ValueError(f"{self.name}={text} must be {kind} from {self.minimum:g} to {self.maximum:g}{rules}.")
        return number


NEIGHBORS = KernelParameter(
    "n_neighbors", "Neighbours", "How many nearest points make a point's neighbourhood.", 1, 100_000, whole=True
)
BANDWIDTH = KernelParameter(
    "bandwidth", "Bandwidth", "Distance up to which points count as similar.", 1e-100, 1e100,
    rules=("scott", "silverman", "median"),
)  # fmt: skip


class Kernel(BaseEstimator):
    """A map from points to a symmetric affinity."""

    #: What a form calls it.
    title = ""

    #: What a form, the command or a recipe can set; other parameters of the constructor are for Python alone.
    settings: ClassVar[tuple[KernelParameter, ...]] = ()

    #: Whether an affinity is given in place of points.
    is_pairwise = False

    #: Whether lengths have a unit, so that points must not be rescaled.
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

        A subclass that overrides a method marks it again.
        """
        return all(hasattr(method, "for_tensors") for method in (type(self).affinity, type(self).extend))

    @property
    def is_tied_to_rows(self) -> bool:
        """Whether a parameter holds a value for each row, so that rows must stay unchanged."""
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

        Most kernels search neighbours among distinct points and need no weights. An extension that is missing is made
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
        """Both from one search; a subclass that overrides the affinity uses that."""
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
        sample = X[:: -(-len(X) // 1000)]
        return float(np.median(sample.distances(sample)[np.triu_indices(len(sample), 1)])) or 1.0


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
        check_entries(affinity, what)
    return affinity, extension


def check_neighbors(kernel: Any, n_points: int, itself: int = 0) -> None:
    """Raise unless `n_neighbors` is an integer of at least one; warn if there are fewer points.

    A default adapts to few points without a warning. `itself` is one if a point counts among its own neighbours.
    """
    n_neighbors = kernel.n_neighbors
    if not isinstance(n_neighbors, Integral) or isinstance(n_neighbors, bool) or n_neighbors < 1:
        raise ValueError(f"n_neighbors={n_neighbors!r} must be a whole number of at least 1.")
    n_others = n_points - 1 + itself
    parameter = inspect.signature(type(kernel)).parameters.get("n_neighbors")
    default = parameter.default if parameter is not None and isinstance(parameter.default, int) else 0
    if int(n_neighbors) > max(n_others, default):
        warn_user(
            f"n_neighbors={n_neighbors} of {type(kernel).__name__} is more than there are among {n_points} distinct "
            f"points: every point is a neighbour of all others; give at most {n_others}.",
        )


def exp_half(squared: AnyFloats) -> AnyFloats:
    """The Gaussian exp(-x/2) of squared distances, in place."""
    squared *= -0.5
    return np.exp(squared, out=squared)


def prepare_affinity(affinity: Any, weights: Floats) -> PreparedPoints:
    """The rows and columns of positive weight of an affinity given in place of points; it is never scaled.

    Examples
    --------
    >>> import numpy as np
    >>> prepare_affinity(np.eye(3), np.array([1.0, 0.0, 1.0])).points.shape
    (2, 2)
    """
    weights = check_weights(weights, affinity.shape[0])
    positive = np.flatnonzero(weights > 0)
    points = affinity if len(positive) == len(weights) else as_affinity(affinity).submatrix(positive).entries
    return unmerged_points(points, weights, positive, np.ones(affinity.shape[1]), "euclidean")


class Precomputed(Kernel):
    """Use a given affinity instead of points: a square, symmetric array or sparse matrix.

    An array that looks like distances, zero on the diagonal and with no side of a triangle longer than the other two
    together, is taken as it is, with a warning: distances go with `metric="precomputed"`.

    Examples
    --------
    >>> import numpy as np
    >>> Precomputed().affinity(np.eye(2))
    array([[1., 0.],
           [0., 1.]])
    """

    is_pairwise = True

    def affinity(self, X: Any, *, n_jobs: int | None = None) -> AffinityLike:
        """The matrix given, checked and in canonical form."""
        affinity = check_affinity(X)
        if isinstance(affinity, np.ndarray) and _looks_like_distances(affinity):
            warn_user(
                "the matrix given as kernel='precomputed' looks like distances: its diagonal is zero, and other "
                "entries grow as distances do, while an affinity is largest where points are near; if they are "
                "distances, use metric='precomputed' instead.",
            )
        return affinity

    def extend(self, X: Any, *, n_jobs: int | None = None) -> Extension:
        """New rows are used unchanged: one row for each new point, one column for each fitted point."""
        return _unchanged


def _looks_like_distances(affinity: AnyFloats) -> bool:
    """Whether entries are zero between a point and itself only, and keep to the triangle inequality, or their roots do.

    A sample of 40 evenly spaced points is examined. Affinities without a diagonal fail: similar points have large ones,
    and each of them small ones with a distant third. Entries that are all equal do not decide.
    """
    if len(affinity) < 3 or np.abs(affinity.diagonal()).max() > _ROUNDING * np.abs(affinity[0]).max():
        return False
    sample = np.unique(np.linspace(0, len(affinity) - 1, 40).astype(int))
    table = affinity[np.ix_(sample, sample)].astype(np.float64)
    pairs = table[~np.eye(len(sample), dtype=bool)]
    if not pairs.min() > 0 or np.ptp(pairs) <= _ROUNDING * pairs.max():
        return False
    np.fill_diagonal(table, 0.0)
    return any(_keeps_to_triangles(lengths) for lengths in (table, np.sqrt(table)))


def _keeps_to_triangles(lengths: Floats) -> bool:
    detours = (lengths[:, :, None] + lengths[None, :, :]).min(axis=1)
    return bool((lengths <= detours * (1 + _ROUNDING)).all())


def _unchanged(rows: Any) -> Any:
    return rows
