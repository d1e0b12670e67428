"""The estimator for data beyond memory: choose landmarks, sum their graph over blocks, solve it, label the rows."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from ..affinity import as_affinity
from ..kernels import SharedNeighbors
from ..landmarks import LandmarkGraph, RowBlocks, solve_landmarks
from ..landmarks.blocks import is_lazy
from ..neighbors import SparsePoints
from ..selection import Selection, number_of_affinity
from ..solvers import Solution
from ..tensors import Floats, Ints, asarray_like, is_tensor, to_array
from .certainty import check_noise
from .devices import fit_landmark_tensor, many_pairs, tensors_too
from .fitting import whole_or_nothing
from .inputs import check_choice, check_count, check_problem, seed_from
from .landmark_certainty import LandmarkCertaintyMixin, measure_certainty
from .landmark_inputs import count_landmarks, rows_of, whole_masses
from .leaks import mixing_rates
from .partial_labels import check_partial, labels_of_landmarks, solve_steered
from .prediction import mean_separation
from .stream_fits import StreamMixin

__all__ = ["LandmarkClustering"]


@dataclass(eq=False, repr=False)
class LandmarkClustering(
    LandmarkCertaintyMixin,
    StreamMixin,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    ClusterMixin,
    BaseEstimator,
):
    r"""Kernel clustering with landmarks, for data larger than memory or spread over several machines.

    A row p is described by the weights :math:`B_{pj}` of its nearest landmarks j. The landmark graph

    .. math:: A = B^T B

    of a sample of up to 200 000 distinct rows (fewer above 167 columns) is clustered under a criterion such as the
    normalised cut (eq. 10). Each row gets the cluster with the most weight among its landmarks. The data are read in
    blocks: an array, a memory map, files, or a Dask collection. The labels depend neither on the blocks nor on the
    order of the rows.

    Landmarks are chosen by the density law (eq. 59), so that sparse regions get landmarks too.

    Parameters
    ----------
    n_clusters : int or "auto", default=8
        `"auto"` chooses the number on the landmark graph, as in :class:`KernelClustering`.
    n_landmarks : int or "auto", default="auto"
        Number of landmarks. `"auto"`: 30 times the square root of the number of rows, between 1000 and 10000 (3000 for
        more than 15 features), and at least 20 for each cluster.
    n_nearest : int, default=5
        Landmarks that each point is linked to.
    landmark_density : {"constant", "log", "identity"} or callable, default="constant"
        Density of the landmarks, as in :func:`evencut.affinity.density_law`: constant, or that of the data
        (`"identity"`), which loses sparse clusters.
    criterion : {"normalized_cut", "average_association", "average_cut"}, default="normalized_cut"
    equalize : {None, "weights", "exact"}, default=None
        Equalisation of the landmark graph, as in :class:`KernelClustering`.
    scale : {"auto", "standard", None}, default="auto"
        Scaling of the columns by their standard deviations in a sample, as in :func:`evencut.points.feature_scale`.
        `"auto"` scales if the columns clearly have different units, and never for cosine or sparse rows.
    metric : {"euclidean", "cosine"}, default="euclidean"
        `"cosine"` is Euclidean distance between rows of unit length.
    solver : str, default="auto"
    n_init : int, default=4
    max_iter : int, default=100
        Of the solver on the landmark graph, as in :class:`KernelClustering`.
    random_state : int, RandomState or None, default=None
        The same data and seed give the same labels, for any division of the rows into blocks.
    n_jobs : int or None, default=None
        Number of threads: each processes one block at a time. -1 uses all cores. Dask uses its own workers for the
        blocks.

    Attributes
    ----------
    labels_ : ndarray or Dask array of shape (n_samples,)
        Cluster of each row; a lazy Dask array for Dask input, and not set for files: use :meth:`predict_blocks`.
    probabilities_ : ndarray of shape (n_samples,)
        Probability that a row belongs to its cluster; only for rows in memory. Computed from `X` on first access.
    outlier_scores_ : ndarray of shape (n_samples,)
        From 0, typical of its cluster, to 1 far away; 0.5 at three standard deviations. As `probabilities_`.
    n_clusters_ : int
        Number of clusters.
    landmarks_ : ndarray of shape (n_landmarks, n_features)
    landmark_labels_ : ndarray of shape (n_landmarks,)
        Clusters of the landmarks.
    landmark_weights_ : ndarray of shape (n_landmarks,)
        Number of rows that each landmark represents, estimated from the sample.
    landmark_affinity_ : CSR array of shape (n_landmarks, n_landmarks)
        The landmark graph.
    attachment_ : Attachment
        Landmarks, their clusters and the weights that label a row.
    energy_ : float
        Value of the criterion on the landmark graph; lower is better.
    n_iter_ : int
        Sweeps of refinement on the landmark graph.
    feature_scale_ : ndarray of shape (n_features,)
        What each column was divided by.
    classes_ : ndarray
        Names of the clusters 0, 1, ...; only if the partial labels are names.
    stream_ : RowReservoir
        The sample of the rows passed to :meth:`partial_fit`.
    table_ : Preparation
        Print it to see how each column was prepared; only for tables with words, dates or missing values.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Only if the columns have names.

    See Also
    --------
    KernelClustering : the same criteria on the affinity of all points, in memory.

    Notes
    -----
    The weights :math:`B_{pj}` are rounded to multiples of :math:`2^{-15}`, so that their products add up without
    rounding: the graph does not depend on the order of the blocks. The sample consists of the distinct rows with the
    smallest hashes, each with its number of copies; :meth:`partial_fit` keeps the same sample.

    Examples
    --------
    >>> from evencut import LandmarkClustering
    >>> from evencut.datasets import make_clumped_moons
    >>> X, y = make_clumped_moons(5000, clump=0.5, random_state=0)
    >>> model = LandmarkClustering(2, n_landmarks=300, random_state=0).fit(X)
    >>> sorted(round(int((model.labels_ == k).sum()), -2) for k in (0, 1))
    [2500, 2500]
    """

    n_clusters: int | str = 8
    _: KW_ONLY
    n_landmarks: int | str = "auto"
    n_nearest: int = 5
    landmark_density: str | Callable[[Floats], ArrayLike] = "constant"
    criterion: str = "normalized_cut"
    equalize: str | None = None
    scale: str | None = "auto"
    metric: str = "euclidean"
    solver: str = "auto"
    n_init: int = 4
    max_iter: int = 100
    random_state: int | np.random.RandomState | None = None
    n_jobs: int | None = None

    @whole_or_nothing
    def fit(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> LandmarkClustering:
        """Cluster the rows.

        Parameters
        ----------
        X : array, tensor, memory map, sparse matrix, Dask array or frame, or RowBlocks
            Rows of numbers. Sparse rows of more than 1000 columns stay sparse, as do their landmarks; narrower ones are
            made dense a slice at a time. With a torch tensor, labels and other attributes are tensors on its device; on
            a GPU, landmarks are chosen and attached there.
        y : array or column of shape (n_samples,), optional
            Partial labels, as in :meth:`KernelClustering.fit`; not for Dask. A labelled row keeps its label, and so
            does the landmark nearest to it.
        sample_weight : array of shape (n_samples,), optional
            Counts a row as that many copies; not for Dask. A row of weight zero has no influence and is labelled like a
            new one. Whole numbers are summed exactly; others are rounded to 2^-31 of their sum.

        Returns
        -------
        self
        """
        self._check_parameters()
        if is_tensor(X):
            return fit_landmark_tensor(self, X, y, sample_weight)
        return self._fit_array(X, y, sample_weight)

    def fit_predict(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> Any:
        """Cluster the rows and return their labels; parameters as in :meth:`fit`."""
        return self.fit(X, y, sample_weight=sample_weight).labels_

    def _fit_array(self, X: Any, y: Any, sample_weight: ArrayLike | None) -> LandmarkClustering:
        rows = rows_of(self, X, reset=True)
        partial = check_partial(self, y, rows.n_rows)
        if partial is not None and is_lazy(X):
            raise TypeError("partial labels do not go with a Dask collection; pass an array, a memory map or files.")
        size = (rows.n_rows, rows.n_features)
        n_landmarks = count_landmarks(self.n_landmarks, self.n_clusters, *size, sparse.issparse(X))
        mass, mass_unit = whole_masses(sample_weight, X, rows)
        drawn = self._draw(rows, seed_from(self.random_state), mass)
        self._cluster_sample(drawn, n_landmarks, rows, partial, mass_unit)
        if is_lazy(X):
            self.labels_ = self._lazy_labels(rows)
        elif not isinstance(X, RowBlocks):
            self.labels_ = rows.filled(self.attachment_.predict)
            self._fitted_rows = rows
            if partial is not None:
                self._is_given = partial >= 0
                self.labels_[self._is_given] = partial[self._is_given]
        return self

    @tensors_too
    def predict(self, X: Any, noise: float | None = None) -> Any:
        """Clusters of rows; a lazy Dask array where `X` is lazy.

        Parameters
        ----------
        X : array, memory map, sparse matrix, Dask array or frame, or RowBlocks
        noise : float, optional
            Rows with an outlier score above it are labelled -1, as in :meth:`EvenCut.predict`; for rows that are not
            lazy.

        Returns
        -------
        ndarray or Dask array of shape (n_rows,)
        """
        check_is_fitted(self)
        check_noise(noise)
        if noise is not None and (is_tensor(X) or is_lazy(X)):
            raise TypeError("noise= is for rows in memory or in files; pass an array, on the CPU, or leave it out.")
        if is_tensor(X):
            return self.attachment_.predict(X)
        if is_lazy(X):
            return self._lazy_labels(rows_of(self, X, reset=False, count=False))
        rows = rows_of(self, X, reset=False)
        labels = rows.filled(self.attachment_.predict)
        return labels if noise is None else self._without_noise(rows, labels, noise)

    @tensors_too
    def transform(self, X: Any) -> Floats:
        """Distances to the clusters: one less the share of each cluster in the weights of a row's landmarks.

        Parameters
        ----------
        X : array, memory map, sparse matrix, Dask array or frame, or RowBlocks

        Returns
        -------
        ndarray of shape (n_rows, n_clusters)
        """
        check_is_fitted(self)
        return 1 - rows_of(self, X, reset=False).gathered(self.attachment_.shares)

    def score(self, X: Any, y: Any = None) -> float:
        """How connected and well separated the clusters are: :meth:`KernelClustering.score` on the landmark graph.

        Parameters
        ----------
        X : array, memory map, sparse matrix, Dask array or frame, or RowBlocks
        y : ignored

        Returns
        -------
        float
            Between -1 and 1; higher is better. Comparable across numbers of clusters.
        """
        away = to_array(self.transform(X))
        own, n_clusters = away.argmin(axis=1), self.n_clusters_
        labels, weights = to_array(self.landmark_labels_), to_array(self.landmark_weights_)
        return mean_separation(
            np.bincount(own, away.min(axis=1), n_clusters),
            np.bincount(own, minlength=n_clusters).astype(np.float64),
            np.bincount(labels, weights, n_clusters),
            mixing_rates(self.landmark_affinity_, labels, n_clusters),
            len(away),
        )

    @property
    def _fitted_points(self) -> Any:
        """The landmarks; None before a fit."""
        return getattr(getattr(self, "attachment_", None), "landmarks", None)

    def _runs_there(self, X: Any) -> bool:
        """Whether a model of arrays labels these tensors on their device."""
        dense = not isinstance(self._fitted_points, SparsePoints)
        return dense and self.metric == "euclidean" and many_pairs(len(X) * len(self._fitted_points))

    @property
    def _n_features_out(self) -> int:
        return self.n_clusters_

    def predict_blocks(self, X: Any, skip: Collection[int] = ()) -> Iterator[tuple[int, Ints]]:
        """Number and labels of each block of rows, as they are finished; blocks in `skip` are left out."""
        check_is_fitted(self)
        return rows_of(self, X, reset=False).results(self.attachment_.predict, skip)

    def _solve(self, graph: LandmarkGraph, seed: int, rows: Any, partial: Ints | None) -> Solution:
        """Cluster the landmarks, steered by partial labels of the rows, and keep what labels a row."""
        weights, labelled = graph.weights, graph.labelled
        if graph.are_all_points and self.n_nearest > 1:
            graph = self._graph_of_points(graph)
        n_clusters = self.n_clusters
        if isinstance(n_clusters, str):
            affinity = graph.used_affinity
            numbers = number_of_affinity(affinity, np.ones(affinity.shape[0]), seed)
            n_clusters = Selection.of_numbers(numbers, 1).n_clusters
            n_clusters = n_clusters if partial is None else max(n_clusters, int(partial.max()) + 1)
        how = {name: getattr(self, name) for name in ("criterion", "equalize", "solver", "n_init", "max_iter")}
        if partial is None:
            solution = solve_landmarks(graph, n_clusters, seed=seed, **how)
        else:
            held = labels_of_landmarks(partial, rows, graph, n_clusters)
            solution = solve_steered(graph.used_affinity, np.ones(len(held)), held, n_clusters, seed=seed, **how)[1]
        if self._earlier is not None:
            solution = replace(solution, labels=self._renumbered(labelled(solution.labels))[solution.labels])
        self._record(graph, weights, n_clusters, solution, labelled(solution.labels))
        return solution

    def _record(
        self,
        graph: LandmarkGraph,
        weights: Floats,
        n_clusters: int,
        solution: Solution,
        attachment: Any,
    ) -> None:
        """Keep what the fit has found, and what labels a row."""
        self._certainty = measure_certainty(graph, attachment)
        self._fitted_rows = self._judged = self._is_given = None
        self.attachment_ = attachment
        self.feature_scale_ = attachment.feature_scale
        places = attachment.landmarks
        is_sparse = isinstance(places, SparsePoints)
        self.landmarks_ = places.rows if is_sparse else places * asarray_like(places, self.feature_scale_)
        self.n_clusters_ = n_clusters
        self.landmark_labels_ = attachment.labels
        self.landmark_weights_ = weights
        self.landmark_affinity_ = graph.affinity
        self.energy_ = solution.energy
        self.n_iter_ = solution.n_iter

    def _graph_of_points(self, graph: LandmarkGraph) -> LandmarkGraph:
        """The kernel's graph where every distinct row is a landmark: rows that hang on one landmark link none."""
        counts = graph.weights
        affinity = SharedNeighbors().affinity(to_array(graph.attachment.landmarks), n_jobs=self.n_jobs)
        return LandmarkGraph(graph.attachment, as_affinity(affinity).rescaled(counts).entries, graph.pilot)

    def _lazy_labels(self, rows: Any) -> Any:
        from ..landmarks.dask import lazy_results

        return lazy_results(rows, self.attachment_.predict, np.int64)

    def _check_parameters(self) -> None:
        check_problem(self)
        check_count("n_landmarks", self.n_landmarks, auto=True)
        check_count("n_nearest", self.n_nearest)
        check_choice("metric", self.metric, ("euclidean", "cosine"))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        return tags
