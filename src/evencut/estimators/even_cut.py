"""The front door: the partition that candidates of different principles agree on, and into how many clusters."""

from __future__ import annotations

from functools import partial
from typing import Any

from scipy import sparse
from sklearn.utils import Tags

from .. import _runtime
from .._runtime import ONE_THREAD
from ..criteria import PosedProblem
from ..kernels import Kernel
from ..neighbors import SparsePoints
from ..points import SCALES, PreparedPoints
from ..selection import select
from ..solvers import Solution
from .clustering import Chosen, Clustering
from .constraints import Links
from .inputs import check_choice, check_count, check_metric, check_n_jobs, scaling_of, tags_of_inputs

__all__ = ["EvenCut"]


class EvenCut(Clustering):
    r"""The partition that methods of different kinds agree on most: a default with nothing to tune.

    Normalised cuts of shared-neighbour graphs at several scales, cuts of spanning trees, and centre-based models
    (k-means, Ward's method, Gaussian mixtures) propose partitions :math:`P_i`, each in several coordinate systems: the
    columns as given, standardised, and as ranks. `EvenCut` returns the one that the others agree with most:

    .. math:: \arg\max_i \sum_j v_j \max(\mathrm{ARI}(P_i, P_j), 0)^3

    The weights :math:`v_j` give half of the votes to the cuts, or two fifths if centre-based models vote too. Those
    models vote if a Gaussian mixture predicts held-out points better than their neighbours do, and in many dimensions;
    otherwise the trees do (:mod:`evencut.selection.centres` has the formula).
    There is no kernel, criterion or bandwidth to set. To minimise one criterion on one kernel, use
    :class:`KernelClustering`.

    Parameters
    ----------
    n_clusters : int or "auto", default="auto"
        `"auto"` compares 2 to 64 clusters by conductance, by agreement, and by how well so many Gaussians explain the
        points. It returns 1 if the data have no structure (:mod:`evencut.selection`).
    scale : {"auto", "standard", None}, default="auto"
        Coordinate systems that are compared. `"auto"`: the columns as given, divided by their standard deviations, and,
        from four columns on, as ranks (normal scores); `selection_.system` names the chosen one, and new points are
        transformed the same way. `"standard"`: only divided by the standard deviations. `None`: only as given.
    metric : str or callable, default="euclidean"
        `"cosine"`, for embeddings and TF-IDF rows, is the Euclidean distance between rows of unit length.
        `"precomputed"`: X holds the distances between all points, and at `predict` those of new points (rows) to the
        fitted ones; pairs that a sparse X does not store count as far apart. Or `"haversine"`
        (latitude and longitude in radians), `"manhattan"`, `"chebyshev"`, `"canberra"`, `"braycurtis"`,
        `"correlation"`, `"hamming"`, `"jaccard"`, `"dice"`, or a function from two rows to their distance, which is
        called for every pair. Unless the metric is Euclidean, `scale="auto"` means as given.
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
        Expected adjusted Rand index with the true clusters, from 0 to 1, estimated from the agreement of the candidates
        (:mod:`evencut.selection.consensus`); NaN if there was nothing to compare (one cluster, or as many as points).
    selection_ : Selection
        The candidates that were compared, best first, and the numbers of clusters; :meth:`plot_selection` draws them.
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

    @property
    def confidence_(self) -> float:
        """Adjusted Rand index with the truth that the agreement of all candidates lets expect."""
        return self.selection_.confidence

    def _check_parameters(self) -> None:
        check_count("n_clusters", self.n_clusters, auto=True)
        check_choice("scale", self.scale, SCALES)
        check_n_jobs(self.n_jobs)
        check_metric(self.metric)

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
        # Sums of products hang on the number of threads, and labels may hang on their last digits.
        with ONE_THREAD:
            picked = select(
                prepared.points,
                self.n_clusters,
                units=prepared.feature_scale if self._compares_systems(prepared.points) else None,
                least=least,
                judge=None if links is None else partial(links.judged, of_row=prepared.of_row),
                weights=prepared.weights,
                random_state=seed,
                n_jobs=self.n_jobs,
            )
        return Chosen(
            picked.kernel,
            picked.affinity,
            picked.extension,
            picked.n_clusters,
            picked.selection,
            picked.solution,
            picked.system,
        )

    def _problem(self) -> dict[str, Any]:
        return {"criterion": "normalized_cut", "equalize": None, "max_iter": 100}

    def _solve(self, posed: PosedProblem, chosen: Chosen, seed: int) -> Solution:
        assert chosen.solution is not None
        return chosen.solution

    def __sklearn_tags__(self) -> Tags:
        return tags_of_inputs(super().__sklearn_tags__(), None, self.metric)
