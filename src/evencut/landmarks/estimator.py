"""The estimator for data beyond memory: choose landmarks, sum their graph over blocks, solve it, label the rows."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from ..affinity import Affinity, degrees
from ..clustering import KernelClustering
from ..neighbors import MAX_TREE_FEATURES, kneighbors
from ..scaling import SCALES, feature_scale
from ..validation import check_choice, check_count
from .attachment import Attachment, whole_graph
from .blocks import RowBlocks, is_lazy, row_blocks
from .choosing import RowSample, choose_landmarks

__all__ = ["LandmarkClustering"]

# The pilot sample has so many rows for each landmark, enough for a density at the landmarks' own scale, and no
# fewer than so many in all: a cluster of one row in a thousand then shows up in it.
_PILOT_ROWS = 20
_LEAST_PILOT_ROWS = 20_000
_MOST_LANDMARKS = 10_000
# Without a tree to find the nearest one by, each landmark costs.
_MOST_WITHOUT_TREE = 3000
_MOST_LANDMARK_ENTRIES = 50_000_000


class LandmarkClustering(ClusterMixin, BaseEstimator):
    r"""Kernel clustering without density bias for data that do not fit in memory, or on one machine.

    A point p is described by the weights :math:`B_{pj}` of its nearest landmarks j, and what is clustered is the
    landmark graph

    .. math:: A = B^T B = \sum_{\text{blocks}} B_b^T B_b

    under a criterion such as the normalised cut (eq. NC). A row takes the cluster with the most weight among its
    landmarks. Every pass over the data is a sum over blocks of rows: the data may be an array in memory, a memory
    map, or a Dask collection spread over a cluster, and the labels are the same.

    Landmarks are chosen by the density law (eq. adaptive_sigma), so that sparse regions have theirs too.

    Parameters
    ----------
    n_clusters : int or "auto", default=8
        `"auto"` reads the number off the landmark graph, as in :class:`KernelClustering`.
    n_landmarks : int or "auto", default="auto"
        Number of landmarks. `"auto"`: 30 times the square root of the number of rows, but between 1000 and 10000
        (3000 for more than 15 features), and 20 a cluster.
    n_nearest : int, default=5
        Landmarks that each point hangs on.
    landmark_density : {"constant", "log", "identity"} or callable, default="constant"
        The density wanted of the landmarks, as in :func:`evencut.equalization.density_law`: even, or
        (`"identity"`) that of the data, by which sparse clusters are lost.
    criterion : {"normalized_cut", "average_association", "average_cut"}, default="normalized_cut"
    equalize : {None, "weights", "exact"}, default=None
        Equalisation of the landmark graph, as in :class:`KernelClustering`.
    scale : {"auto", "standard", None}, default="auto"
        Scaling of the columns by their deviations in a sample, as in :func:`evencut.scaling.feature_scale`:
        `"auto"` where they are plainly in different units.
    solver : str, default="auto"
    n_init : int, default=4
    max_iter : int, default=100
        Of the solver on the landmark graph, as in :class:`KernelClustering`.
    random_state : int, RandomState or None, default=None
        The same data and seed give the same labels, however the rows are cut into blocks and whoever reads them.
    n_jobs : int or None, default=None
        Blocks handled at a time on this machine, one a thread, and threads that choose the landmarks; -1 takes all
        cores. Dask uses its own workers for the blocks.

    Attributes
    ----------
    labels_ : ndarray or Dask array of shape (n_samples,)
        Clusters of the rows; lazy where the data are, missing where they are files.
    n_clusters_ : int
        Number of clusters.
    landmarks_ : ndarray of shape (n_landmarks, n_features)
    landmark_labels_ : ndarray of shape (n_landmarks,)
        Clusters of the landmarks.
    landmark_weights_ : ndarray of shape (n_landmarks,)
        How many rows each landmark stands for.
    landmark_affinity_ : CSR array of shape (n_landmarks, n_landmarks)
        The landmark graph.
    attachment_ : Attachment
        What labels a row: landmarks, their clusters, and the weights between.
    energy_ : float
        Value of the criterion on the landmark graph; lower is better.
    n_iter_ : int
        Sweeps of refinement on the landmark graph.
    feature_scale_ : ndarray of shape (n_features,)
        What each column was divided by.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Only where the columns have names.

    See Also
    --------
    KernelClustering : the same criteria on the affinity of all points, in memory.

    Notes
    -----
    The weights :math:`B_{pj}` are rounded to multiples of :math:`2^{-15}`, so that their products add up without
    rounding: the graph is the same in whatever order blocks are added. Rows are sampled by a hash of their number.

    Examples
    --------
    >>> from evencut import LandmarkClustering
    >>> from evencut.datasets import make_clumped_moons
    >>> X, y = make_clumped_moons(5000, clump=0.5, random_state=0)
    >>> model = LandmarkClustering(2, n_landmarks=300, random_state=0).fit(X)
    >>> sorted(round(int((model.labels_ == k).sum()), -2) for k in (0, 1))
    [2500, 2500]
    """

    def __init__(
        self,
        n_clusters: int | str = 8,
        *,
        n_landmarks: int | str = "auto",
        n_nearest: int = 5,
        landmark_density: str | Callable[[NDArray[np.float64]], ArrayLike] = "constant",
        criterion: str = "normalized_cut",
        equalize: str | None = None,
        scale: str | None = "auto",
        solver: str = "auto",
        n_init: int = 4,
        max_iter: int = 100,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
    ):
        self.n_clusters = n_clusters
        self.n_landmarks = n_landmarks
        self.n_nearest = n_nearest
        self.landmark_density = landmark_density
        self.criterion = criterion
        self.equalize = equalize
        self.scale = scale
        self.solver = solver
        self.n_init = n_init
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None) -> LandmarkClustering:
        """Cluster the rows.

        Parameters
        ----------
        X : array, memory map, sparse matrix, Dask array or frame, or RowBlocks
            Rows of numbers. Sparse rows are made dense a slice at a time.
        y : ignored

        Returns
        -------
        self
        """
        self._check_parameters()
        rows = self._rows(X, reset=True)
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        n_landmarks = self._count_landmarks(rows.n_rows, rows.n_features)
        n_pilot = max(_PILOT_ROWS * n_landmarks, _LEAST_PILOT_ROWS)
        pilot = rows.gathered(RowSample.of(n_pilot, rows.n_rows, seed))
        self.feature_scale_ = feature_scale(pilot, self.scale)
        pilot = pilot / self.feature_scale_
        rng = np.random.default_rng(seed)
        landmarks = choose_landmarks(pilot, n_landmarks, self.landmark_density, rng, self.n_jobs)
        if not isinstance(self.n_clusters, str) and len(landmarks) < self.n_clusters:
            raise ValueError(
                f"n_clusters={self.n_clusters} is more than the {len(landmarks)} distinct points found for "
                f"landmarks; ask for at most {len(landmarks)} clusters."
            )
        attachment = Attachment.to(landmarks, self.n_nearest, self.feature_scale_)
        graph = whole_graph(rows.total(attachment.graph))
        self._solve(attachment, graph, seed)
        if is_lazy(X):
            self.labels_ = self._lazy_labels(rows)
        elif not isinstance(X, RowBlocks):
            self.labels_ = rows.filled(self.attachment_.predict)
        return self

    def predict(self, X: Any) -> Any:
        """Clusters of rows; a lazy Dask array where `X` is lazy.

        Parameters
        ----------
        X : array, memory map, sparse matrix, Dask array or frame, or RowBlocks

        Returns
        -------
        ndarray or Dask array of shape (n_rows,)
        """
        check_is_fitted(self)
        if is_lazy(X):
            return self._lazy_labels(self._rows(X, reset=False, count=False))
        return self._rows(X, reset=False).filled(self.attachment_.predict)

    def predict_blocks(self, X: Any, skip: Collection[int] = ()) -> Iterator[tuple[int, NDArray[np.int64]]]:
        """Number and labels of each block of rows, as they are finished; blocks in `skip` are left out."""
        check_is_fitted(self)
        return self._rows(X, reset=False).results(self.attachment_.predict, skip)

    def _solve(self, attachment: Attachment, graph: Affinity, seed: int) -> None:
        """Cluster the landmarks that points hang on; the others, if any, go with the nearest of those."""
        weights = degrees(graph)
        used = np.flatnonzero(weights > 0)
        solved = self._solver().set_params(random_state=seed).fit(graph[used][:, used])
        landmarks = attachment.landmarks
        nearest = kneighbors(landmarks[used], 1, at=landmarks)[1][:, 0]
        labels = solved.labels_[nearest]
        labels[used] = solved.labels_
        self.attachment_ = attachment.labelled(labels)
        self.landmarks_ = landmarks * self.feature_scale_
        self.n_clusters_ = solved.n_clusters_
        self.landmark_labels_ = labels
        self.landmark_weights_ = weights
        self.landmark_affinity_ = graph
        self.energy_ = solved.energy_
        self.n_iter_ = solved.n_iter_

    def _lazy_labels(self, rows: Any) -> Any:
        from .lazy import lazy_results

        return lazy_results(rows, self.attachment_.predict, np.int64)

    def _rows(self, X: Any, *, reset: bool, count: bool = True) -> RowBlocks:
        """The data as blocks, once their columns are those expected; the values are checked block by block."""
        if isinstance(X, RowBlocks):
            if reset:
                self.n_features_in_ = X.n_features
            elif X.n_features != self.n_features_in_:
                raise ValueError(f"X has {X.n_features} features, but {self.n_features_in_} were fitted.")
            return X
        if is_lazy(X):
            from .lazy import dask_blocks

            rows: RowBlocks = dask_blocks(X, count=count)
            validate_data(self, X._meta if hasattr(X, "columns") else X, reset=reset, skip_check_array=True)
            return rows
        X = validate_data(
            self,
            X,
            reset=reset,
            accept_sparse="csr",
            dtype="numeric",
            ensure_all_finite=False,
            ensure_min_samples=2 if reset else 1,
        )
        return row_blocks(X, self.n_jobs)

    def _solver(self) -> KernelClustering:
        """What clusters the landmark graph."""
        names = ("criterion", "equalize", "solver", "n_init", "max_iter")
        return KernelClustering(
            self.n_clusters, kernel="precomputed", **{name: getattr(self, name) for name in names}
        )

    def _count_landmarks(self, n_rows: int, n_features: int) -> int:
        is_auto = isinstance(self.n_landmarks, str)
        n_clusters = 1 if isinstance(self.n_clusters, str) else self.n_clusters
        most = _MOST_LANDMARKS if n_features <= MAX_TREE_FEATURES else _MOST_WITHOUT_TREE
        usual = max(min(max(30 * math.isqrt(n_rows), 1000), most), 20 * n_clusters)
        n_landmarks = min(usual, n_rows) if is_auto else int(self.n_landmarks)
        if n_landmarks > n_rows:
            raise ValueError(
                f"n_landmarks={n_landmarks} is more than the {n_rows} rows given; ask for at most {n_rows}, "
                "or leave it to 'auto'."
            )
        if n_landmarks < n_clusters:
            raise ValueError(
                f"n_clusters={n_clusters} is more than the {n_landmarks} landmarks; ask for fewer clusters"
                f"{'' if is_auto else ' or more landmarks'}."
            )
        if n_landmarks * n_features > _MOST_LANDMARK_ENTRIES:
            raise ValueError(
                f"{n_landmarks} landmarks of {n_features} features are too many numbers; reduce the features first "
                "(sklearn.decomposition.TruncatedSVD takes sparse rows) or ask for fewer landmarks."
            )
        return n_landmarks

    def _check_parameters(self) -> None:
        check_count("n_nearest", self.n_nearest)
        check_count("n_landmarks", self.n_landmarks, auto=True)
        check_choice("scale", self.scale, SCALES)
        # The others are checked by the estimator that solves the landmark graph, before any data are read.
        self._solver()._check_parameters()

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
