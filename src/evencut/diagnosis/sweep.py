"""Is there any fixed bandwidth that works here? The paper's picture of biases over the range of sigma."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array, check_random_state

from .._runtime import step
from ..affinity import knn_radius
from ..criteria import CRITERIA
from ..kernels import Gaussian
from ..solvers import Solution, solve
from ..tensors import AnyFloats, Floats, Ints
from .diagnose import diagnose_labels
from .verdicts import EQUAL_SIZES, MODE_ISOLATION, OK, SPARSE_SUBSET


@dataclass(frozen=True, eq=False)
class SweepRow:
    """Result of one bandwidth.

    Attributes
    ----------
    bandwidth : float
    sizes : ndarray
        Points of the clusters, largest first.
    energy : float
        Of the criterion; comparable only within one bandwidth.
    stability : float
        Mean adjusted Rand index between clusterings of random subsamples, on the points they share.
    verdict : str
    confidence : float
    p_value : float
        Largest corrected p value among the splits (:mod:`evencut.valley`); NaN if the test cannot say.
    labels : ndarray of shape (n_samples,)
    """

    bandwidth: float
    sizes: Ints
    energy: float
    stability: float
    verdict: str
    confidence: float
    p_value: float
    labels: Ints


@dataclass(frozen=True, eq=False)
class BandwidthSweep:
    """Clusterings over a range of fixed bandwidths; see :func:`evencut.bandwidth_sweep`.

    Attributes
    ----------
    rows : list of SweepRow
        By rising bandwidth.
    criterion : str
    n_points : int
        Points used; `n_given` were given.
    n_given : int
    """

    rows: list[SweepRow]
    criterion: str
    n_points: int
    n_given: int

    def _working(self) -> list[SweepRow]:
        return [row for row in self.rows if row.verdict == OK and not row.p_value * len(self.rows) > 0.05]

    @property
    def working(self) -> list[float]:
        """Bandwidths whose clustering is not biased and whose splits are real, corrected for all bandwidths tried."""
        return [row.bandwidth for row in self._working()]

    @property
    def best(self) -> SweepRow | None:
        """The most stable row that is not biased; None if every bandwidth fails."""
        return max(self._working(), key=lambda row: row.stability, default=None)

    def __str__(self) -> str:
        """A table and the answer."""
        lines = [f"{'sigma':>10}  {'stability':>9}  {'verdict':<22}  sizes"]
        for row in self.rows:
            verdict = f"{row.verdict} ({row.confidence:.0%})"
            sizes = " ".join(map(str, row.sizes))
            lines.append(f"{row.bandwidth:10.4g}  {row.stability:9.2f}  {verdict:<22}  {sizes}")
        return "\n".join([*lines, "", self.answer()])

    def answer(self) -> str:
        """Whether any fixed sigma works here, in a sentence."""
        name = self.criterion.replace("_", " ")
        best = self.best
        if best is None:
            return f"No fixed bandwidth works here for {name}: use an adaptive kernel, such as kernel='knn'."
        return (
            f"{len(self.working)} of {len(self.rows)} bandwidths work here for {name}; "
            f"the most stable is {best.bandwidth:.4g} (agreement {best.stability:.2f})."
        )

    def plot(self, ax: Any = None) -> Any:
        """Shares of the clusters and stability over sigma, on the colour of the verdict; returns the axes."""
        from ..plotting.clusters import axes_for

        ax = axes_for(ax, (7, 3.8))
        colours = {OK: "#009e73", MODE_ISOLATION: "#d55e00", SPARSE_SUBSET: "#cc79a7", EQUAL_SIZES: "#56b4e9"}
        # Behind coloured bands the bars themselves are greys, darkest for the largest cluster.
        greys = ("#3b4754", "#6b7885", "#98a3ae", "#bcc5cd", "#d8dee3", "#e8ecef")
        place, verdicts = np.arange(len(self.rows)), [row.verdict for row in self.rows]
        for at, row in zip(place, self.rows):
            name = row.verdict if verdicts.index(row.verdict) == at else None
            ax.axvspan(at - 0.5, at + 0.5, color=colours.get(row.verdict, "#8c8c8c"), alpha=0.45, lw=0, label=name)
            shares = row.sizes / row.sizes.sum()
            for k, (share, bottom) in enumerate(zip(shares, np.cumsum(shares) - shares)):
                ax.bar(at, share, 0.5, bottom, color=greys[min(k, 5)], edgecolor="white", linewidth=0.8)
        ax.plot(place, [row.stability for row in self.rows], "o-", color="black", mfc="white", ms=5, label="stability")
        ax.set_xticks(place, [f"{row.bandwidth:.2g}" for row in self.rows])
        ax.set(xlabel="bandwidth sigma", ylabel="share of each cluster", xlim=(-0.5, len(place) - 0.5), ylim=(0, 1.02))
        ax.set_title(self.answer().split(":")[0].split(";")[0], fontsize=10)
        ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.2), ncols=5, frameon=False, fontsize=9)
        return ax


def bandwidth_sweep(
    X: ArrayLike,
    n_clusters: int,
    *,
    criterion: str = "average_association",
    bandwidths: ArrayLike | None = None,
    n_resamples: int = 3,
    max_points: int = 1500,
    random_state: int | np.random.RandomState | None = None,
    n_jobs: int | None = None,
) -> BandwidthSweep:
    """Cluster with a fixed Gaussian kernel over a range of bandwidths, and diagnose each result.

    The paper's figure "biases over the range of bandwidth" for your data: small sigma isolates modes (or, for
    normalised cut, sparse subsets), large sigma behaves like k-means, and no sigma between may work.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
    n_clusters : int
    criterion : {"average_association", "normalized_cut", "average_cut"}, default="average_association"
    bandwidths : array, optional
        Sigmas to try; by default twelve from half the median distance to the fifth neighbour to the diameter.
    n_resamples : int, default=3
        Random subsamples of four fifths of the points, for stability.
    max_points : int, default=1500
        Larger data are sampled at random, because the kernel is dense; `n_points` is the number used.
    random_state : int, RandomState or None, default=None
    n_jobs : int or None, default=None

    Returns
    -------
    BandwidthSweep
        Print it, read `rows`, `best` and `answer()`, or `plot()`.

    Examples
    --------
    >>> import numpy as np
    >>> from evencut import bandwidth_sweep
    >>> rng = np.random.default_rng(0)
    >>> X = np.vstack([rng.normal(size=(80, 2)), rng.normal(size=(80, 2)) + 9])
    >>> sweep = bandwidth_sweep(X, 2, bandwidths=[1.0, 3.0], random_state=0)
    >>> [row.verdict for row in sweep.rows]
    ['ok', 'ok']
    """
    rng = check_random_state(random_state)
    points: Floats = check_array(X, dtype=np.float64, ensure_min_samples=10, input_name="X")
    n_given = len(points)
    if n_given > max_points:
        points = points[np.sort(rng.choice(n_given, max_points, replace=False))]
    if bandwidths is None:
        bandwidths = np.geomspace(*bandwidth_range(points), 12)
    sigmas = np.sort(np.ravel(np.asarray(bandwidths, float)))
    if not len(sigmas) or not (np.isfinite(sigmas).all() and (sigmas > 0).all()):
        raise ValueError(f"bandwidths={bandwidths!r} must be positive, finite numbers, at least one.")
    if n_clusters < 2:
        raise ValueError(f"n_clusters={n_clusters!r} must be at least 2: a bias shows in the borders between clusters.")
    seed = int(rng.randint(2**31 - 1))
    size = max(n_clusters, int(0.8 * len(points)))
    parts = [np.sort(rng.choice(len(points), size, replace=False)) for _ in range(max(2, n_resamples))]

    def solved(X: Floats, sigma: float) -> Solution:
        return solve(CRITERIA[criterion](Gaussian(sigma).affinity(X)), n_clusters, random_state=seed)

    rows = []
    for number, sigma in enumerate(sigmas.tolist(), 1):
        step(f"bandwidth {sigma:.3g}", number, len(sigmas))
        solution = solved(points, sigma)
        labels, energy = solution.labels, solution.energy
        report = diagnose_labels(points, labels, scale=None, n_jobs=n_jobs)
        sizes = np.sort(np.bincount(labels, minlength=n_clusters))[::-1]
        stability = _agreement(parts, [solved(points[sample], sigma).labels for sample in parts])
        p_value = max((split.adjusted for split in report.splits), default=float("nan"))
        rows.append(SweepRow(sigma, sizes, energy, stability, report.verdict, report.confidence, p_value, labels))
    return BandwidthSweep(rows, criterion, len(points), n_given)


def bandwidth_range(X: AnyFloats) -> tuple[float, float]:
    """The range of useful bandwidths: from half the distance to near neighbours to the diameter.

    Examples
    --------
    >>> bandwidth_range(np.arange(20.0)[:, None])
    (1.5, 19.0)
    """
    smallest = 0.5 * float(np.median(knn_radius(X, 5)))
    diameter = float(np.linalg.norm(X.max(axis=0) - X.min(axis=0)))
    return smallest, max(diameter, 2 * smallest)


def _agreement(parts: list[NDArray], labellings: list[NDArray]) -> float:
    """Mean adjusted Rand index of the pairs of labellings, each on the points both have seen."""
    from sklearn.metrics import adjusted_rand_score

    scores = []
    for (a, first), (b, second) in combinations(zip(parts, labellings), 2):
        _, in_a, in_b = np.intersect1d(a, b, assume_unique=True, return_indices=True)
        scores.append(adjusted_rand_score(first[in_a], second[in_b]))
    return float(np.mean(scores))
