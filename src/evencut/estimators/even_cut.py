"""The front door: the partition that candidates of different principles agree on, and into how many clusters."""

from __future__ import annotations

from functools import partial
from typing import Any

from scipy import sparse
from sklearn.utils import Tags

from ..affinity import SCALES, PreparedPoints, SparsePoints, limits
from ..affinity.products import ONE_THREAD
from ..criteria import PosedProblem
from ..kernels import Kernel
from ..selection import select
from ..solvers import Solution
from .clustering import Chosen, Clustering
from .constraints import Links
from .inputs import check_choice, check_count, check_metric, check_n_jobs, scaling_of, tags_of_inputs

__all__ = ["EvenCut"]


class EvenCut(Clustering):
    r"""Clusters that candidates of different principles agree on, without a preference for a size or a density.

    Normalised cuts of shared-neighbour graphs at several scales, cuts of spanning trees, and clusters around centres
    (k-means, Ward's, mixtures of Gaussians) propose partitions :math:`P_i`, each in several coordinate systems: the
    columns as given, at one deviation each, and in ranks. The one that all agree with most is taken:

    .. math:: \arg\max_i \sum_j v_j \max(\mathrm{ARI}(P_i, P_j), 0)^3

    Half of the votes are those of the cuts, two fifths beside centres. The others go to centres as far as a mixture
    predicts points better than their neighbours do, and more in many dimensions, and to trees otherwise
    (:mod:`evencut.selection.centres` has the formula).
    There is no kernel, criterion or bandwidth to set; to minimise one criterion on one kernel use
    :class:`KernelClustering`.

    Parameters
    ----------
    n_clusters : int or "auto", default="auto"
        `"auto"` takes the number from 2 to 64 whose worst cluster leaks least against one cluster more, and that
        trees agree with; 1 where there is no structure (:mod:`evencut.selection`).
    scale : {"auto", "standard", None}, default="auto"
        Coordinate systems in which candidates are found. `"auto"`: the columns as given, at one deviation each, and in
        ranks (normal scores; from four columns on); `selection_` tells which one was taken, and new points follow it.
        `"standard"`: only at one deviation. `None`: only as given.
    metric : str or callable, default="euclidean"
        `"cosine"` is Euclidean distance between rows of unit length, exactly: what embeddings and TF-IDF rows are
        compared by. `"precomputed"`: X holds the distances between all points, at `predict` those of new points
        (rows) to the fitted ones; sparse ones are a neighbour graph, and what is not stored is far. Or `"haversine"`
        (latitude and longitude in radians), `"manhattan"`, `"chebyshev"`, `"canberra"`, `"braycurtis"`,
        `"correlation"`, `"hamming"`, `"jaccard"`, `"dice"`, or a function from two rows to their distance, which is
        called for every pair. `scale="auto"` means as given unless it is Euclidean.
    random_state : int, RandomState or None, default=None
        The same seed gives the same labels, whatever `n_jobs`.
    n_jobs : int or None, default=None
        Threads of the neighbour searches and of the coordinate systems, which are compared side by side; -1 uses all
        cores.
    verbose : int, default=0
        1 reports the progress of the fit on stderr, as a bar on a terminal.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Clusters, numbered by falling weight.
    n_clusters_ : int
        Number of clusters, set or chosen.
    confidence_ : float
        Adjusted Rand index with the truth that so much agreement lets expect, from 0 to 1
        (:mod:`evencut.selection.consensus`); not a number where there was nothing to compare (one cluster, or as many
        as points).
    selection_ : Selection
        The candidates that were compared, best first, and the numbers of clusters; :meth:`plot_selection` draws them.
    probabilities_ : ndarray of shape (n_samples,)
        Probability of the row's own cluster, as :meth:`predict_proba` gives it to new points, but computed
        without the row itself; 1 where the label was given.
    outlier_scores_ : ndarray of shape (n_samples,)
        From 0, as near to others as is typical of the cluster, to 1 far outside; 0.5 at three deviations.
    feature_scale_ : ndarray of shape (n_features_in_,)
        What the columns were divided by.
    point_of_row_ : ndarray of shape (n_samples,)
        The point that each row became: rows that are equal are one point, and more than 5000 distinct points (or 20 a
        cluster) are condensed to so many weighted centres; -1 for rows of weight zero.
    weights_ : ndarray of shape (n_points,)
        Sample weights, summed over the rows of a point.
    affinity_ : CSR array of shape (n_points, n_points)
        The shared-neighbour graph of the broadest scale, by which new points are labelled; a copy.
    classes_ : ndarray
        The names of clusters 0, 1, ... of `labels_`; only where the partial labels are names.
    tree_ : ndarray of shape (n_leaves - 1, 4)
        Merges from fine parts to the clusters and on to one, in the linkage format of scipy; :meth:`cut` gives the
        labels of any level, :meth:`plot_tree` draws it.
    leaf_of_row_ : ndarray of shape (n_samples,)
        The leaf of `tree_` that each row is in.
    table_ : Preparation
        What was done to each column, to print; only for tables with words, dates or gaps.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Only where the columns have names.

    Notes
    -----
    A row that occurs c times is one point of weight c: neighbours are counted among distinct points, so that copies do
    not fill a neighbourhood, and a sample weight means the same as repetition. Near-copies, nearer to each other than a
    thousandth of the distance to anyone else, are copies too. A weight of zero leaves a row out of the fit; it is
    labelled afterwards as a new point would be.

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
        return max(limits.MOST_COMPARED, limits.POINTS_PER_CLUSTER * n_clusters)

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
