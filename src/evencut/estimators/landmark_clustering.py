"""The estimator for data beyond memory: choose landmarks, sum their graph over blocks, solve it, label the rows."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_is_fitted

from ..affinity import as_affinity
from ..kernels import SharedNeighbors
from ..landmarks import (
    Attachment,
    LandmarkGraph,
    RowBlocks,
    RowReservoir,
    default_landmarks,
    draw_rows,
    landmark_graph,
    sample_rows,
)
from ..landmarks.blocks import is_lazy
from ..neighbors import SparsePoints
from ..selection import Selection, number_of_affinity
from ..solvers import Solution
from ..tensors import Floats, Ints, asarray_like, is_foreign, is_tensor, result_like, runs_on_device, to_array
from .fitting import (
    accepts_tensors,
    atomic_fit,
    device_is_faster,
    results_like,
    unchanged_on_failure,
    warn_of_early_stop,
)
from .inputs import check_choice, check_count, check_noise, check_partial, check_problem, problem_of, scaling_of
from .landmark_inputs import (
    count_landmarks,
    measure_certainty,
    measure_rows,
    row_probabilities,
    rows_of,
    score_rows,
    whole_masses,
)
from .matching import match_codes
from .model import mean_separation, mixing_rates
from .supervision import labels_of_landmarks, solve_with_labels


@dataclass(eq=False, repr=False)
class LandmarkClustering(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, BaseEstimator):
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

    #: The rows of the fit, until their probabilities and outlier scores are computed, and these.
    _fitted_rows = None  # type: RowBlocks | None
    _of_rows = None  # type: tuple[Floats, Floats] | None
    #: The rows whose label was given.
    _is_given = None  # type: Any

    @atomic_fit
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
            X, y = self._tensor_or_array(X, y, sample_weight)
        rows = rows_of(self, X, reset=True)
        known = check_partial(self, y, rows.n_rows)
        if known is not None and is_lazy(X):
            raise TypeError("partial labels do not go with a Dask collection; pass an array, a memory map or files.")
        size = (rows.n_rows, rows.n_features)
        n_landmarks = count_landmarks(self.n_landmarks, self.n_clusters, *size, sparse.issparse(X))
        mass, mass_unit = whole_masses(sample_weight, X, rows)
        self._cluster(self._sample(rows, self._new_seed(), mass), n_landmarks, rows, known, mass_unit)
        if is_lazy(X):
            self.labels_ = self._lazy_labels(rows)
        elif not isinstance(X, RowBlocks):
            self.labels_, self._fitted_rows = rows.filled(self.attachment_.predict), rows
            if known is not None:
                self._is_given = known >= 0
                self.labels_[self._is_given] = known[self._is_given]
        return self

    def fit_predict(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> Any:
        """Cluster the rows and return their labels; parameters as in :meth:`fit`."""
        return self.fit(X, y, sample_weight=sample_weight).labels_

    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Add one batch of a stream; memory does not grow with their number.

        The model is that of a sample of all rows so far, the distinct ones whose values have the smallest hashes.
        :meth:`fit` keeps the same sample: the batches may come in any order and of any size, and the model is that of
        one fit to all rows. `stream_.n_seen` counts the rows; `labels_` are those of
        the batch. Clusters keep the numbers that they had after the batches before.

        Parameters
        ----------
        X : array, frame, sparse matrix or RowBlocks of shape (n_rows, n_features)
            The first batch must hold as many distinct rows as there are clusters.
        y : ignored

        Returns
        -------
        self

        Examples
        --------
        >>> from evencut import LandmarkClustering
        >>> from sklearn.datasets import make_blobs
        >>> from sklearn.metrics import adjusted_rand_score
        >>> X, _ = make_blobs(3000, centers=5, random_state=0)
        >>> model = LandmarkClustering(5, random_state=0)
        >>> for batch in (X[2000:], X[:1000], X[1000:2000]):
        ...     _ = model.partial_fit(batch)
        >>> adjusted_rand_score(model.predict(X), LandmarkClustering(5, random_state=0).fit_predict(X))
        1.0
        """
        self._check_parameters()
        with unchanged_on_failure(self):
            previous: RowReservoir | None = getattr(self, "stream_", None)
            earlier = None if previous is None else self.attachment_
            rows = rows_of(self, to_array(X) if is_tensor(X) or is_foreign(X) else X, reset=previous is None)
            stream = self._sample(rows, self._new_seed() if previous is None else previous.seed)
            stream = stream if previous is None else previous + stream
            n_landmarks, size = self.n_landmarks, (stream.n_seen, rows.n_features)
            if isinstance(n_landmarks, str):
                n_landmarks = count_landmarks(n_landmarks, self.n_clusters, *size, False)
            self._cluster(stream, min(n_landmarks, stream.n_seen), earlier=earlier)
            self.stream_, self._fitted_rows = stream, rows
            self.labels_ = rows.filled(self.attachment_.predict)
            results_like(self, X)
        return self

    @accepts_tensors
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
        if noise is None:
            return labels
        return np.where(rows.gathered(partial(score_rows, self.attachment_, self._certainty)) > noise, -1, labels)

    @accepts_tensors
    def predict_proba(self, X: Any) -> Floats:
        r"""Probability of each cluster for rows, from their landmarks.

        .. math:: P_{pk} \propto \Bigl(\sum_j B_{pj} s_{jk}\Bigr)^{\beta}

        with :math:`s_{jk}` the share of the links of landmark j in cluster k, and :math:`\beta` as in
        :meth:`EvenCut.predict_proba`. Beyond three standard deviations from its landmarks, the probabilities of a row
        approach equality.

        Parameters
        ----------
        X : array, memory map, sparse matrix, Dask array or frame, or RowBlocks

        Returns
        -------
        ndarray of shape (n_rows, n_clusters)
            Rows sum to one.

        Examples
        --------
        >>> from evencut import LandmarkClustering
        >>> from sklearn.datasets import make_blobs
        >>> X, _ = make_blobs(3000, centers=[[0, 0], [9, 0]], random_state=0)
        >>> model = LandmarkClustering(2, n_landmarks=100, random_state=0).fit(X)
        >>> model.predict_proba([[0.0, 0.0], [500.0, 500.0]]).max(axis=1).round(1)
        array([1. , 0.5])
        """
        check_is_fitted(self)
        return rows_of(self, X, reset=False).gathered(partial(row_probabilities, self.attachment_, self._certainty))

    @accepts_tensors
    def transform(self, X: Any) -> Floats:
        """Distances to the clusters: 1 minus the share of each cluster in the weights of a row's landmarks.

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
        distances = to_array(self.transform(X))
        own, n_clusters = distances.argmin(axis=1), self.n_clusters_
        labels, weights = to_array(self.landmark_labels_), to_array(self.landmark_weights_)
        return mean_separation(
            np.bincount(own, distances.min(axis=1), n_clusters),
            np.bincount(own, minlength=n_clusters).astype(np.float64),
            np.bincount(labels, weights, n_clusters),
            mixing_rates(self.landmark_affinity_, labels, n_clusters),
            len(distances),
        )

    def predict_blocks(self, X: Any, skip: Collection[int] = ()) -> Iterator[tuple[int, Ints]]:
        """Number and labels of each block of rows, when it is finished; blocks in `skip` are left out."""
        check_is_fitted(self)
        return rows_of(self, X, reset=False).results(self.attachment_.predict, skip)

    @property
    def probabilities_(self) -> Any:
        """Probability of the cluster of each row."""
        probabilities, _ = self._row_certainty()
        return result_like(self.labels_, probabilities)

    @property
    def outlier_scores_(self) -> Any:
        """How far each row lies outside of its cluster, from 0 to 1."""
        _, scores = self._row_certainty()
        return result_like(self.labels_, scores)

    @property
    def _fitted_points(self) -> Any:
        """The landmarks; None before a fit."""
        return getattr(getattr(self, "attachment_", None), "landmarks", None)

    def _predicts_on_device(self, X: Any) -> bool:
        """Whether a model of arrays labels these tensors on their device."""
        dense = not isinstance(self._fitted_points, SparsePoints)
        return dense and self.metric == "euclidean" and device_is_faster(len(X) * len(self._fitted_points))

    @property
    def _n_features_out(self) -> int:
        return self.n_clusters_

    def _tensor_or_array(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, Any]:
        """The tensor, if the fit runs on its device, else its values as an array; and the labels as an array."""
        from ..gpu.arrays import check_tensor

        X, y = check_tensor(X), to_array(y) if is_tensor(y) else y
        is_plain = sample_weight is None and self.metric == "euclidean"
        stays = is_plain and runs_on_device(X) and check_partial(self, y, len(X)) is None
        return X if stays else to_array(X), y

    def _new_seed(self) -> int:
        return int(check_random_state(self.random_state).randint(2**31 - 1))

    @property
    def _has_unit_rows(self) -> bool:
        """Whether rows are sampled at unit length: not where columns are scaled before."""
        return self.metric == "cosine" and self.scale != "standard"

    def _sample(self, rows: RowBlocks, seed: int, mass: Ints | None = None) -> RowReservoir:
        """The sample of the rows, of a size that does not depend on how many there are."""
        n_clusters = 1 if isinstance(self.n_clusters, str) else self.n_clusters
        n_landmarks = self.n_landmarks
        if isinstance(n_landmarks, str):
            # Those of a million rows, which have the most.
            n_landmarks = default_landmarks(10**6, rows.n_features, n_clusters)
        return draw_rows(rows, sample_rows(n_landmarks, rows.n_features), seed, mass, self._has_unit_rows)

    def _cluster(
        self,
        sample: RowReservoir,
        n_landmarks: int,
        rows: RowBlocks | None = None,
        known: Ints | None = None,
        mass_unit: float = 1.0,
        earlier: Attachment | None = None,
    ) -> None:
        """Cluster a sample, with the known labels of rows or the numbers of an earlier model; record the model."""
        unit: dict[str, Any] = {"metric": self.metric, "unit": self._has_unit_rows, "mass_unit": mass_unit}
        graph = landmark_graph(
            sample, n_landmarks, n_nearest=self.n_nearest, density=self.landmark_density, scale=scaling_of(self),
            n_jobs=self.n_jobs, **unit,
        )  # fmt: skip
        n_found, n_clusters = len(graph.attachment.landmarks), self.n_clusters
        if not isinstance(n_clusters, str) and n_found < n_clusters:
            raise ValueError(
                f"n_clusters={n_clusters} is more than the {n_found} distinct points found for landmarks; ask for at "
                f"most {n_found} clusters."
            )
        weights, labelled = graph.weights, graph.labelled
        if graph.are_all_points and self.n_nearest > 1:
            graph = self._graph_of_points(graph)
        affinity = graph.used_affinity
        ones = np.ones(affinity.shape[0])
        if isinstance(n_clusters, str):
            n_clusters = Selection.of_numbers(number_of_affinity(affinity, ones, sample.seed), 1).n_clusters
            n_clusters = n_clusters if known is None else max(n_clusters, int(known.max()) + 1)
        held = None if known is None or rows is None else labels_of_landmarks(known, rows, graph, n_clusters)
        _, solution = solve_with_labels(affinity, ones, held, n_clusters, seed=sample.seed, **problem_of(self))
        attachment = labelled(solution.labels)
        if earlier is not None:
            attachment = labelled(_numbers_kept(attachment, earlier)[solution.labels])
        warn_of_early_stop(solution.converged, f"max_iter={self.max_iter} sweeps of refinement")
        self._record(graph, weights, n_clusters, solution, attachment)

    def _record(
        self, graph: LandmarkGraph, weights: Floats, n_clusters: int, solution: Solution, attachment: Attachment
    ) -> None:
        self._certainty = measure_certainty(graph, attachment)
        self._fitted_rows = self._of_rows = self._is_given = None
        self.attachment_, self.feature_scale_ = attachment, attachment.feature_scale
        self.landmarks_, self.landmark_labels_ = _unscaled_landmarks(attachment), attachment.labels
        self.landmark_weights_, self.landmark_affinity_ = weights, graph.affinity
        self.n_clusters_, self.energy_, self.n_iter_ = n_clusters, solution.energy, solution.n_iter

    def _graph_of_points(self, graph: LandmarkGraph) -> LandmarkGraph:
        """The graph of shared neighbours, if every distinct row is a landmark: a row of one landmark links none."""
        counts = graph.weights
        affinity = SharedNeighbors().affinity(to_array(graph.attachment.landmarks), n_jobs=self.n_jobs)
        return LandmarkGraph(graph.attachment, as_affinity(affinity).rescaled(counts).entries, graph.pilot)

    def _row_certainty(self) -> tuple[Floats, Floats]:
        """Probabilities and outlier scores of the fitted rows."""
        check_is_fitted(self)
        if self._of_rows is None:
            if self._fitted_rows is None:
                raise AttributeError(
                    "rows of files, Dask collections and streams are not kept; use predict_proba(X) for any rows."
                )
            columns = self._fitted_rows.gathered(partial(measure_rows, self.attachment_, self._certainty))
            probabilities, scores = columns.T.copy()
            if self._is_given is not None:
                probabilities = np.where(self._is_given, 1.0, probabilities)
            self._of_rows, self._fitted_rows = (probabilities, scores), None
        return self._of_rows

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


def _unscaled_landmarks(attachment: Attachment) -> Any:
    landmarks = attachment.landmarks
    if isinstance(landmarks, SparsePoints):
        return landmarks.rows
    return landmarks * asarray_like(landmarks, attachment.feature_scale)


def _numbers_kept(attachment: Attachment, earlier: Attachment) -> Ints:
    """The number of each cluster of landmarks: that after the batch before, if it still exists.

    Numbers run from 0 to the number of clusters, so that one is used again if its cluster is gone.
    """
    assert attachment.labels is not None and earlier.labels is not None
    labels, old_labels = attachment.labels, earlier.predict(_unscaled_landmarks(attachment))
    n_old, n_clusters = int(earlier.labels.max()) + 1, int(labels.max()) + 1
    counts = np.bincount(old_labels, minlength=n_old), np.bincount(labels, minlength=n_clusters)
    same = match_codes(old_labels, labels, list(range(n_old)), list(range(n_clusters)), *counts).same
    number = {new: old for new, old in same.items() if old < n_clusters}
    unused = iter(sorted(set(range(n_clusters)) - set(number.values())))
    return np.array([number[k] if k in number else next(unused) for k in range(n_clusters)])
