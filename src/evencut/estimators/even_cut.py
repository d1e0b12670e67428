"""The front door: the partition that candidates of different principles agree on, and into how many clusters."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from .. import _runtime
from .._runtime import single_threaded_blas
from ..affinity import AffinityLike
from ..criteria import PosedProblem, normalized_cut
from ..kernels import Kernel, SharedNeighbors
from ..neighbors import SparsePoints
from ..points import SCALES, PreparedPoints
from ..selection import neighborhood_sizes, select
from .clustering import Choice, Clustering, FitInput
from .fitting import explain_parameters
from .inputs import check_choice, check_count, check_metric, check_n_jobs, check_significance

if TYPE_CHECKING:
    from ..diagnosis import BiasReport


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
    Neither a kernel nor a criterion nor a bandwidth is set. To minimise one criterion on one kernel, use
    :class:`KernelClustering`.

    Parameters
    ----------
    n_clusters : int or "auto", default="auto"
        `"auto"` compares 2 to 160 clusters and takes the number on which the methods agree most, beyond what they would
        agree on by chance. It returns 1 if the data have no structure
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
        fitted ones; pairs that a sparse X does not store are as far as the path through its neighbours, or far apart if
        there is none. Or `"haversine"`
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
        NaN if there was nothing to compare (one cluster, or each point a cluster).
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
        """Expected adjusted Rand index with the true clusters."""
        return self.selection_.confidence

    def _check_parameters(self) -> None:
        check_count("n_clusters", self.n_clusters, auto=True)
        check_choice("scale", self.scale, SCALES)
        check_n_jobs(self.n_jobs)
        check_metric(self.metric)
        check_significance(self.significance)
        if self.significance is not None and not (self.min_size is None and self.max_size is None):
            raise ValueError("significance may join clusters beyond max_size; leave significance or the sizes out.")

    def _scaling(self, X: Any = None) -> str | None:
        # Copies are merged and points condensed in standardised columns; the systems compared start from there.
        return ("standard" if self._compares_systems(X) else None) if self.scale == "auto" else self.scale

    def _compares_systems(self, X: Any) -> bool:
        """Whether the columns may be in different units: not under another metric, nor if they are sparse."""
        is_sparse = sparse.issparse(X) or isinstance(X, SparsePoints)
        return self.scale == "auto" and self.metric == "euclidean" and not is_sparse

    def _max_points(self) -> int:
        n_clusters = 1 if isinstance(self.n_clusters, str) else self.n_clusters
        return max(_runtime.MOST_COMPARED, _runtime.POINTS_PER_CLUSTER * n_clusters)

    def _choose(self, prepared: PreparedPoints, inputs: FitInput, seed: int, min_clusters: int) -> Choice:
        scale = prepared.feature_scale if self._compares_systems(prepared.points) else None
        # Sums of products depend on the number of threads, and labels may depend on their last digits.
        with _all_cores() if inputs.on_device else nullcontext(), single_threaded_blas:
            selection = select(
                prepared.points,
                self.n_clusters,
                weights=prepared.weights,
                feature_scale=scale,
                min_clusters=min_clusters,
                unit=self.metric == "cosine",
                random_state=seed,
                n_jobs=self.n_jobs,
            )
        if inputs.links is not None:
            selection = inputs.links.rerank(selection, selection.n_clusters, prepared.point_of_row)
        graphs, labels = selection.graphs, selection.best.point_labels
        # Degrees are most even at the broadest scale: predict on that graph.
        size = max(neighborhood_sizes(len(graphs.weights), selection.n_clusters)[-1], 1)
        columns = slice(size + 1)
        affinity, weights = graphs.affinities([size])[0], graphs.weights
        cut = graphs.problems[size]["gap"] if size in graphs.problems else normalized_cut(affinity, weights)
        posed = PosedProblem(cut, normalized_cut, weights, np.ones(len(weights)), False)
        problem = {"criterion": "normalized_cut", "equalize": None, "max_iter": 100}
        selection = selection.of_rows(prepared.point_of_row)
        kernel = SharedNeighbors(n_neighbors=size)
        extension = kernel.extend_from(graphs.search, graphs.distances[:, columns], graphs.indices[:, columns])
        return Choice(
            kernel, affinity, extension, selection.n_clusters, problem, selection, labels, posed, graphs.system,
            graphs.search.X,
        )  # fmt: skip


def _all_cores() -> Any:
    """Points of a device are compared by the CPU on all cores unless `n_jobs` is set."""
    from joblib import parallel_config

    return parallel_config("threading", n_jobs=-1)


EvenCut.__init__ = explain_parameters(EvenCut.__init__)  # type: ignore[method-assign]


def diagnose(
    X: ArrayLike,
    labels: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    scale: str | None = "auto",
    kernel: str | Kernel | None = None,
    affinity: AffinityLike | None = None,
    metric: str = "euclidean",
    cures: bool = True,
    max_points: int = 20_000,
    random_state: int = 0,
    n_jobs: int | None = None,
) -> BiasReport:
    """Report whether a clustering is an artefact of density, which bias it has, why, and what cures it.

    It uses only the points and the labels: it estimates density and neighbour graph again, and tests whether every
    border between two clusters lies in a valley of the density. "mode isolation" is a dense piece cut out of a larger
    group (Breiman's bias), "sparse subset" a few sparse or isolated points that are split off, and "equal sizes" a
    cut through a group, typical of k-means and of large bandwidths. If a border is not in a valley, cures are tried and
    tested in the same way, and the report suggests one that is better. If none is, the verdict is "overlap": density
    cannot decide. "one body" means that no valley was detected, "unrelated" that the labels do not depend on the
    points. Fewer than 20 points are never called biased.

    Parameters
    ----------
    X : array or tensor of shape (n_samples, n_features), memory map, Dask array or frame, or RowBlocks
        The points that were clustered. If they are not in the memory of the CPU, a sample of about `max_points` rows is
        used.
    labels : array of shape (n_samples,)
        Their clusters: whole numbers or strings. -1 marks noise, which is not judged; the headline reports its share.
    sample_weight : array of shape (n_samples,), optional
        Counts a row as that many copies.
    scale : {"auto", "standard", None}, default="auto"
        Scaling of the columns, as in :class:`~evencut.KernelClustering`. If "auto" does not scale but the standard
        deviations differ by more than three times, scaling is the first cure tried. Repeated rows are one point with a
        weight; if their labels differ, the most frequent one counts. The report lists these steps.
    kernel : str or kernel object, optional
        The kernel that was used, to report the spread of its degrees; `KNN(10)` by default.
    affinity : array of shape (n_samples, n_samples), optional
        The affinity that was used, instead of `kernel`.
    metric : str, default="euclidean"
        As in :class:`evencut.EvenCut`. Sparse rows are judged along their 50 leading singular vectors, precomputed
        distances (of at most 5000 points) by classical scaling.
    cures : bool, default=True
        Whether to try cures. If False, the verdict depends on the borders alone and is never "overlap".
    max_points : int, default=20000
        Larger data are judged on a random sample of this size, and their smallest clusters on all points.
    random_state : int, default=0
        Of the sample.
    n_jobs : int or None, default=None
        Threads of the neighbour search.

    Returns
    -------
    BiasReport
        Print it; read `biased`, `verdict`, `clusters`, `cures` and `advice`; or write it with `to_html(path)`.

    Examples
    --------
    >>> import numpy as np
    >>> from evencut import diagnose
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(400, 2))
    >>> centre = np.linalg.norm(X, axis=1) < 0.5  # a dense piece of one body
    >>> diagnose(X, centre).verdict
    'mode isolation'
    >>> diagnose(X, X[:, 0] < 0).verdict  # cut in two, and no valley anywhere
    'one body'
    >>> diagnose(X, rng.permutation(np.repeat([0, 1], 200))).verdict  # labels in random order
    'unrelated'
    >>> two = np.vstack([X, X + 9])
    >>> diagnose(two, np.repeat(["left", "right"], 400)).biased
    False
    """
    from ..diagnosis import diagnose_labels

    return diagnose_labels(
        X,
        labels,
        cure=EvenCut(scale=scale, metric=metric, random_state=0) if cures else None,
        sample_weight=sample_weight,
        scale=scale,
        kernel=kernel,
        affinity=affinity,
        metric=metric,
        max_points=max_points,
        random_state=random_state,
        n_jobs=n_jobs,
    )
