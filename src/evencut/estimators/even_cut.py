"""The front door: the partition that candidates of different principles agree on, and into how many clusters."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace
from typing import Any

from scipy import sparse
from sklearn.utils import Tags

from .. import _runtime
from .._runtime import single_threaded_blas
from ..criteria import PosedProblem
from ..kernels import Kernel, SharedNeighbors
from ..neighbors import SparsePoints
from ..points import SCALES, PreparedPoints
from ..selection import neighborhood_sizes, select
from ..solvers import Solution, heaviest_first
from ..tensors import Ints
from .clustering import Chosen, Clustering, explaining
from .constraints import Links
from .evidence import check_significance, real_clusters
from .hierarchy import hierarchy_of
from .inputs import check_choice, check_count, check_metric, check_n_jobs, scaling_of, tags_of_inputs
from .sizes import has_bounds

__all__ = ["EvenCut"]


@dataclass(eq=False, repr=False)
class EvenCut(Clustering):
    r"""The partition that methods of different kinds agree on most: a default with nothing to tune.

    Methods of six principles propose partitions :math:`P_i`, each in several coordinate systems (the columns as given,
    standardised, and as ranks): normalised cuts of shared-neighbour graphs, cuts of spanning trees, mixtures of
    Gaussians, centres (k-means and Ward's method), the same on rows smoothed over their neighbours, and k-means on
    leading eigenvectors. `EvenCut` returns the partition that the others agree with most:

    .. math:: \arg\max_i \sum_j v_j \max(\mathrm{ARI}(P_i, P_j), 0)^2

    The votes :math:`v_j` depend on the intrinsic dimension of the points: in the plane cuts and trees share them; as
    the dimension grows, cuts, centres, smoothed centres and eigenvectors get a quarter each. Mixtures get half of all
    votes if they predict points better than their neighbours do (:mod:`evencut.selection.propose` has the formulas).
    There is no kernel, criterion or bandwidth to set. To minimise one criterion on one kernel, use
    :class:`KernelClustering`.

    Parameters
    ----------
    n_clusters : int or "auto", default="auto"
        `"auto"` compares 2 to 160 clusters and takes the number on which the methods agree most, beyond what they would
        agree on by chance; it asks the same inside every cluster. It returns 1 if the data have no structure
        (:mod:`evencut.selection.number`).
    scale : {"auto", "standard", None}, default="auto"
        Coordinate systems that are compared. `"auto"`: the columns as given, divided by their standard deviations, and,
        from four columns on, as ranks (normal scores). If one column in ten or more has two values, as words have after
        encoding, there is one system instead: the principal components of more than the mean variance.
        `selection_.system` names the chosen one, and new points are transformed the same way. `"standard"`: only
        divided by the standard deviations. `None`: only as given.
    metric : str or callable, default="euclidean"
        `"cosine"`, for embeddings and TF-IDF rows, is the Euclidean distance between rows of unit length.
        `"precomputed"`: X holds the distances between all points, and at `predict` those of new points (rows) to the
        fitted ones; pairs that a sparse X does not store count as far apart. Or `"haversine"`
        (latitude and longitude in radians), `"manhattan"`, `"chebyshev"`, `"canberra"`, `"braycurtis"`,
        `"correlation"`, `"hamming"`, `"jaccard"`, `"dice"`, or a function from two rows to their distance, which is
        called for every pair. Unless the metric is Euclidean, `scale="auto"` means as given.
    min_size, max_size : float or None, default=None
        Limits on the rows of a cluster (on their weight, if rows have weights): hard bounds on `labels_`. Among the
        partitions within them, one near the consensus with a low normalised cut is returned.
    significance : float or None, default=None
        If set, 0.05 for example, clusters are cut only where a test shows a valley of the density between them, at this
        level for all splits together (:mod:`evencut.valley`); `n_clusters` is then the largest number.
    random_state : int, RandomState or None, default=None
        The same seed gives the same labels, for any `n_jobs`.
    n_jobs : int or None, default=None
        Threads of the neighbour searches and of the coordinate systems, which are compared side by side; -1 uses all
        cores.
    verbose : int, default=0
        1 reports the progress of the fit on stderr, as a bar on a terminal.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of each row; cluster 0 is the largest.
    n_clusters_ : int
        Number of clusters, set or chosen.
    confidence_ : float
        Expected adjusted Rand index with the true clusters, from 0 to 1, estimated from the agreement of the
        candidates; with `"auto"` it includes the doubt about the number (:func:`evencut.selection.vote.confidence`).
        NaN if there was nothing to compare (one cluster, or as many as points).
    selection_ : Selection
        The candidates that were compared, best first, their votes and agreement, and the numbers of clusters with their
        agreement beside that by chance; :meth:`plot_selection` draws them.
    probabilities_ : ndarray of shape (n_samples,)
        Probability that a row belongs to its cluster, as :meth:`predict_proba` but computed without the row itself; 1
        for rows whose label you passed as `y`.
    outlier_scores_ : ndarray of shape (n_samples,)
        0 for a row as close to others as is typical of its cluster, 0.5 at three standard deviations, up to 1 far away.
    feature_scale_ : ndarray of shape (n_features_in_,)
        What the columns were divided by.
    point_of_row_ : ndarray of shape (n_samples,)
        The point that represents each row. Equal rows are one point, and more than 5000 distinct points (or 20 for each
        cluster) are condensed to that many weighted centres. -1 for rows of weight zero.
    weights_ : ndarray of shape (n_points,)
        Sample weights, summed over the rows of a point.
    affinity_ : CSR array of shape (n_points, n_points)
        The shared-neighbour graph of the broadest scale, which labels new points; a copy.
    classes_ : ndarray
        Names of the clusters 0, 1, ...; only if the partial labels are names.
    tree_ : ndarray of shape (n_leaves - 1, 4)
        Hierarchy from many small groups through the clusters to one, in SciPy's linkage format. :meth:`cut` returns the
        labels of any level, :meth:`plot_tree` draws it.
    leaf_of_row_ : ndarray of shape (n_samples,)
        The leaf of `tree_` that contains each row.
    evidence_ : Splits
        The test of each join of `tree_`: is this split real? Print it.
    table_ : Preparation
        Print it to see how each column was prepared; only for tables with words, dates or missing values.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Only if the columns have names.

    Notes
    -----
    A row that occurs c times is one point of weight c. Neighbours are counted among distinct points, so copies do not
    fill a neighbourhood, and a sample weight means the same as repetition. Rows closer to each other than a thousandth
    of the distance to any other row count as copies. A row of weight zero has no influence; it is labelled afterwards,
    like a new point.

    New points go to the cluster of lowest cost under the bound of the Lloyd step of the normalised cut on `affinity_`,
    :math:`-2 (A S_k)_p / d(S_k) + d_p A(S_k, S_k)/d(S_k)^2`.

    Examples
    --------
    >>> from evencut import EvenCut
    >>> from evencut.datasets import make_clumped_moons
    >>> X, y = make_clumped_moons(600, clump=0.5, random_state=0)
    >>> model = EvenCut(random_state=0).fit(X)
    >>> model.n_clusters_, sorted(int(sum(model.labels_ == k)) for k in range(2))
    (2, [300, 300])
    """

    _: KW_ONLY
    significance: float | None = None

    @property
    def confidence_(self) -> float:
        """Adjusted Rand index with the truth that the agreement of all candidates lets expect."""
        return self.selection_.confidence

    def _check_parameters(self) -> None:
        check_count("n_clusters", self.n_clusters, auto=True)
        check_choice("scale", self.scale, SCALES)
        check_n_jobs(self.n_jobs)
        check_metric(self.metric)
        check_significance(self.significance)
        if self.significance is not None and has_bounds(self):
            raise ValueError("significance may join clusters beyond max_size; leave significance or the sizes out.")

    def _scaling(self, X: Any = None) -> str | None:
        # Copies are merged and points condensed at one deviation; the systems that are compared start from there.
        asked = scaling_of(self)
        return ("standard" if self._compares_systems(X) else None) if asked == "auto" else asked

    def _compares_systems(self, X: Any) -> bool:
        """Whether the columns may be in different units: not under another metric, nor where they are sparse."""
        return (
            scaling_of(self) == "auto"
            and self.metric == "euclidean"
            and not (sparse.issparse(X) or isinstance(X, SparsePoints))
        )

    def _most_points(self) -> int:
        n_clusters = 1 if isinstance(self.n_clusters, str) else self.n_clusters
        return max(_runtime.MOST_COMPARED, _runtime.POINTS_PER_CLUSTER * n_clusters)

    def _choose(
        self, prepared: PreparedPoints, kernel: Kernel | None, seed: int, least: int, links: Links | None
    ) -> Chosen:
        # Sums of products depend on the number of threads, and labels may depend on their last digits.
        with single_threaded_blas:
            selection = select(
                prepared.points,
                self.n_clusters,
                weights=prepared.weights,
                feature_scale=prepared.feature_scale if self._compares_systems(prepared.points) else None,
                min_clusters=least,
                unit=self.metric == "cosine",
                random_state=seed,
                n_jobs=self.n_jobs,
            )
        if links is not None:
            selection = links.judged(selection, selection.n_clusters, prepared.point_of_row)
        graphs, labels = selection.graphs, selection.best.point_labels
        # Degrees are most even at the broadest scale: the steadiest graph to predict on.
        size = max(neighborhood_sizes(graphs.n_points, selection.n_clusters)[-1], 1)
        near = slice(size + 1)
        kernel = SharedNeighbors(n_neighbors=size)
        extension = kernel.extend_from(graphs.search, graphs.distances[:, near], graphs.indices[:, near])
        solution = Solution(labels, 0.0, 1, (0.0,), True)
        return Chosen(
            kernel, graphs.affinity(size), extension, selection.n_clusters,
            selection.of_rows(prepared.point_of_row), solution, graphs.system,
        )

    def _keep_real(
        self, prepared: PreparedPoints, chosen: Chosen, solution: Solution, partial: Ints | None
    ) -> tuple[Chosen, Solution]:
        chosen, solution = super()._keep_real(prepared, chosen, solution, partial)
        if self.significance is None or chosen.n_clusters < 2:
            return chosen, solution
        if partial is not None:
            raise ValueError(
                f"significance={self.significance!r} may join clusters that partial labels keep apart; leave one out."
            )
        weights = prepared.weights
        tree = hierarchy_of(chosen.affinity, weights, solution.labels, 0, points=prepared.points)
        labels = heaviest_first(real_clusters(prepared, tree, solution.labels, self.significance), weights)
        return replace(chosen, n_clusters=int(labels.max()) + 1), replace(solution, labels=labels)

    def _problem(self) -> dict[str, Any]:
        return {"criterion": "normalized_cut", "equalize": None, "max_iter": 100}

    def _solve(self, posed: PosedProblem, chosen: Chosen, seed: int) -> Solution:
        assert chosen.solution is not None
        return chosen.solution

    def __sklearn_tags__(self) -> Tags:
        return tags_of_inputs(super().__sklearn_tags__(), None, self.metric)


EvenCut.__init__ = explaining(EvenCut.__init__)  # type: ignore[method-assign]
