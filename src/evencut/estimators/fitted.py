"""The methods of a fitted clustering: labels, probabilities and distances of new points, its tree, refits, reports."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ..affinity import Affinity, as_affinity
from ..neighbors.metrics import Metric
from ..points import PreparedPoints
from ..solvers import heaviest_first
from ..tensors import Floats, Ints, Mask, Places, is_foreign, is_tensor, native, result_like, to_array
from ..valley import Splits
from .certainty import N_NEAREST, Certainty, candidate_support, fit_certainty
from .fitting import accepts_tensors, device_is_faster, unchanged_on_failure
from .hierarchy import Hierarchy, evidence_of, hierarchy_of
from .inputs import check_count, check_noise, check_points
from .matching import keep_numbers, next_number
from .model import FittedModel

if TYPE_CHECKING:
    from ..diagnosis import BiasReport, Description


class FittedClustering(ClassNamePrefixFeaturesOutMixin, TransformerMixin):
    """The methods that need a fit in memory first."""

    n_clusters: Any
    metric: Metric
    labels_: Any
    n_clusters_: int
    fit: Any
    _scaling: Any
    _affinity: Any
    _model: FittedModel
    _prepared: PreparedPoints
    #: The rows of weight zero, scaled, and their clusters; None without any.
    _left_out: tuple[Any, Ints] | None
    #: The rows whose label was given; None without partial labels.
    _is_given: Mask | None
    #: The tree, its evidence and the certainty of the rows, computed when first needed.
    _derived: dict[str, Any]
    #: The number of each cluster, if an earlier fit has set it, and the first number that was never used.
    _numbers: Ints | None = None
    _next_number: int = 0
    #: The number of clusters that an automatic choice keeps unless the test of splits is against it.
    _usual_number: int | None = None

    @property
    def _fitted_points(self) -> Any:
        """The points that new ones are compared with; None before a fit."""
        return getattr(getattr(self, "_prepared", None), "points", None)

    def _predicts_on_device(self, X: Any) -> bool:
        """Whether a model of arrays labels these tensors on their device: if the kernel can, and it is faster."""
        takes_tensors = self.metric == "euclidean" and self._model.kernel.takes_tensors
        return takes_tensors and device_is_faster(len(X) * len(self._fitted_points))

    @property
    def _n_features_out(self) -> int:
        return self.n_clusters_

    @property
    def affinity_(self) -> Any:
        """The affinity of the kernel, before equalisation."""
        check_is_fitted(self)
        # The points are sorted: restore the order of their first rows.
        return result_like(self.labels_, as_affinity(self._affinity).submatrix(self._prepared.given_order).entries)

    @property
    def probabilities_(self) -> Any:
        """Probability of the cluster of each row."""
        _, probabilities, _ = self._certainty()
        return result_like(self.labels_, probabilities)

    @property
    def outlier_scores_(self) -> Any:
        """How far each row lies outside of its cluster, from 0 to 1."""
        _, _, scores = self._certainty()
        return result_like(self.labels_, scores)

    @property
    def tree_(self) -> Floats:
        """Merges from fine to coarse in the linkage format of scipy."""
        return self._tree()[0].linkage

    @property
    def leaf_of_row_(self) -> Any:
        """The leaf of `tree_` of each row."""
        return result_like(self.labels_, self._tree()[1])

    @property
    def evidence_(self) -> Splits:
        """The valley test (:mod:`evencut.valley`) of each join of `tree_`, corrected for all of them.

        Examples
        --------
        >>> import numpy as np
        >>> from evencut import EvenCut
        >>> X = np.concatenate([np.random.default_rng(0).normal(size=(60, 2)) + place for place in (0, 9)])
        >>> model = EvenCut(2, random_state=0).fit(X)
        >>> model.evidence_[-1].verdict, int(model.evidence_.is_real().sum())
        ('two populations', 1)
        """
        check_is_fitted(self)
        if not is_tensor(self._fitted_points) and self._model.kernel.is_pairwise:
            raise ValueError("evidence_ needs points, but the model was fitted on an affinity: use diagnose(X).splits.")
        hierarchy = self._tree()[0]
        if "evidence" not in self._derived:
            self._derived["evidence"] = evidence_of(self._prepared, hierarchy)
        return self._derived["evidence"]

    @property
    def cluster_ids_(self) -> Ints:
        """The number in `labels_` of each column of `predict_proba`; 0, 1, ... unless `refit` has kept others."""
        check_is_fitted(self)
        return np.arange(self.n_clusters_) if self._numbers is None else self._numbers.copy()

    @accepts_tensors
    def predict(self, X: Any, noise: float | None = None) -> Ints:
        """Clusters of new points.

        Parameters
        ----------
        X : array or tensor of shape (n_queries, n_features)
            New points; or, with a precomputed kernel, their affinities with the fitted points.
        noise : float, optional
            Points with an outlier score above it are labelled -1; 0.5 is three standard deviations outside; see
            `outlier_scores_` for the fitted rows. Without it every point has a cluster.

        Returns
        -------
        ndarray of shape (n_queries,)

        Examples
        --------
        >>> import numpy as np
        >>> from evencut import EvenCut
        >>> X = np.concatenate([np.random.default_rng(0).normal(size=(60, 2)) + place for place in (0, 9)])
        >>> EvenCut(2, random_state=0).fit(X).predict([[0.0, 0.0], [100.0, 100.0]], noise=0.5)[1]
        np.int64(-1)
        """
        check_noise(noise)
        model, X = self._check_new(X)
        labels = model.labels(X)
        if noise is not None:
            labels = np.where(self._scores(model, X, labels) > noise, -1, to_array(labels))
        return labels if self._numbers is None else np.append(self._numbers, -1)[labels]

    @accepts_tensors
    def predict_proba(self, X: Any) -> Floats:
        r"""Probability of each cluster for new points.

        .. math:: P_{pk} \propto \bigl(s_{pk}^{1-g} e_{pk}^{g}\bigr)^{\beta}

        :math:`s_{pk}` is the affinity-weighted mean, over the neighbours of p, of the neighbours' shares of cluster k.
        :math:`e_{pk}` is the support for cluster k among the other candidates (:math:`g = 0.3`; 0 if nothing was
        compared). The temperature :math:`1/\beta` maximises the likelihood of labels that had no part in s. Beyond
        three standard deviations from its cluster, the probabilities of a point approach equality.

        Parameters
        ----------
        X : array of shape (n_queries, n_features)
            As in :meth:`predict`.

        Returns
        -------
        ndarray of shape (n_queries, n_clusters)
            Rows sum to one. At a border the most probable cluster may differ from that of :meth:`predict`, which
            minimises the cost.

        Examples
        --------
        >>> import numpy as np
        >>> from evencut import EvenCut
        >>> X = np.concatenate([np.random.default_rng(0).normal(size=(60, 2)) + place for place in (0, 9)])
        >>> model = EvenCut(2, random_state=0).fit(X)
        >>> model.predict_proba([[0.0, 0.0], [100.0, 100.0]]).max(axis=1).round(1)
        array([1. , 0.5])
        """
        model, X = self._check_new(X)
        certainty = self._certainty()[0]
        return certainty.probabilities(model.averaged(X, certainty.support), self._scores(model, X, model.labels(X)))

    @accepts_tensors
    def transform(self, X: Any) -> Floats:
        r"""Squared distances to the clusters, in the feature space of the kernel.

        .. math:: -\frac{2 (M S_k)_p}{w_p w(S_k)} + \frac{M(S_k, S_k)}{w(S_k)^2}

        The squared length of the point itself, which is the same for all clusters, is omitted, so values can be
        negative. The smallest value in each row belongs to the cluster of :meth:`predict`. A point without affinities
        gets the values of the nearest fitted point.

        Parameters
        ----------
        X : array of shape (n_queries, n_features)
            Points; or, with a precomputed kernel, their affinities with the fitted points.

        Returns
        -------
        ndarray of shape (n_queries, n_clusters)

        Examples
        --------
        >>> from evencut import KernelKMeans
        >>> model = KernelKMeans(2, kernel="gaussian", random_state=0).fit([[0.0], [0.1], [3.0], [3.1]])
        >>> model.transform([[0.0], [3.0]]).argmin(axis=1)
        array([0, 1])
        """
        model, X = self._check_new(X)
        return model.distances(X)

    @accepts_tensors
    def score(self, X: Any, y: Any = None) -> float:
        r"""How connected and well separated the clusters are; comparable across kernels and numbers of clusters.

        .. math:: \frac1n \sum_p \frac{c_k - \ell_k}{c_k + \ell_k + 2\delta}, \qquad k = \text{the cluster of } p

        :math:`\ell_k` is the conductance of cluster k relative to that of a random subset of its size. It is compared
        with :math:`c_k = \sqrt{1 - \lambda_k}`, which bounds the conductance of the best cut through the cluster
        (Cheeger); :math:`\lambda_k` is the second eigenvalue of the random walk inside it, and :math:`\delta = 0.01`.
        The score is near 1 for connected, well-separated clusters, near 0 if a border is like a cut through a cluster,
        and above -1. To choose only the number of clusters, prefer `n_clusters="auto"`, which uses more
        evidence.

        Parameters
        ----------
        X : array of shape (n_queries, n_features)
            Points; or, with a precomputed kernel, their affinities with the fitted points.
        y : ignored

        Returns
        -------
        float

        Examples
        --------
        >>> from evencut import KernelKMeans
        >>> X = [[0.0], [0.1], [3.0], [3.1]]
        >>> round(KernelKMeans(2, kernel="gaussian", random_state=0).fit(X).score(X), 2)
        0.74
        """
        model, X = self._check_new(X)
        return model.separation(X, getattr(self, "_affinity", None))

    def cut(self, n_clusters: int) -> Ints:
        """Labels of the fitted rows for another number of clusters, without another fit.

        Parameters
        ----------
        n_clusters : int
            From 1 to the number of leaves, `len(tree_) + 1`.

        Returns
        -------
        ndarray of shape (n_samples,)
            Clusters numbered by falling weight; `labels_` for the number that was fitted.

        Examples
        --------
        >>> import numpy as np
        >>> from evencut import EvenCut
        >>> X = np.concatenate([np.random.default_rng(0).normal(size=(60, 2)) + place for place in (0, 9, 40)])
        >>> model = EvenCut(3, random_state=0).fit(X)
        >>> np.bincount(model.cut(2))
        array([120,  60])
        """
        check_count("n_clusters", n_clusters)
        hierarchy, leaves = self._tree()
        if n_clusters > hierarchy.n_leaves:
            raise ValueError(
                f"n_clusters={n_clusters} is more than the {hierarchy.n_leaves} leaves of the tree; fit for that many "
                "clusters."
            )
        if n_clusters == self.n_clusters_:
            fitted = native(self.labels_)
            return result_like(self.labels_, fitted.clone() if is_tensor(fitted) else fitted.copy())
        weight = np.bincount(leaves, minlength=hierarchy.n_leaves).astype(np.float64)
        labels: Any = heaviest_first(hierarchy.cut(n_clusters), weight)[leaves]
        if self._numbers is not None:
            labels = keep_numbers(self, self.labels_, labels, n_clusters)[0][labels]
        return result_like(self.labels_, labels)

    def refit(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None, **links: Any) -> Self:
        """Fit to new rows, or to old and new ones, and keep the number of every cluster that is still there.

        The earlier fit labels the rows of `X` first, -1 for rows more than three standard deviations outside; clusters
        of the new fit are then matched with these labels (:func:`evencut.match`). New clusters get numbers that were
        never used. With `n_clusters="auto"` the number changes only if the evidence does: more clusters than before are
        found only if the valley test shows all of their splits, and fewer only if it does not show all of the old ones.

        Parameters
        ----------
        X, y, sample_weight, **links
            As in :meth:`fit`. With partial labels, these decide the numbers.

        Returns
        -------
        self
            `changes_` reports the clusters that were kept, grown, shrunk, split, merged, born or gone; print it.

        Examples
        --------
        >>> import numpy as np
        >>> from evencut import EvenCut
        >>> rng = np.random.default_rng(0)
        >>> week1 = np.vstack([rng.normal(size=(90, 2)), rng.normal(size=(60, 2)) + 9])
        >>> week2 = np.vstack([rng.normal(size=(60, 2)), rng.normal(size=(95, 2)) + 9, rng.normal(size=(40, 2)) - 12])
        >>> model = EvenCut(random_state=0).fit(week1).refit(week2)
        >>> print(model.changes_)
        change  before  after  rows before  rows after  in common
        shrunk  0       0      90           60          58
        kept    1       1      60           95          92
        born    -       2      0            40          0
        """
        check_is_fitted(self)
        if any(is_tensor(rows) or is_foreign(rows) for rows in (X, self.labels_)):
            raise TypeError("refit is for arrays and frames; move the tensors to the CPU and pass them as arrays.")
        if self._model.kernel.is_pairwise:
            raise ValueError("refit needs points to compare with those of the earlier fit, not a precomputed affinity.")
        old = copy.copy(self)
        # Rows more than three standard deviations outside belong to no cluster of the earlier fit.
        earlier_labels = old.predict(X, noise=0.5)
        with unchanged_on_failure(self):
            self._usual_number = old.n_clusters_
            self.fit(X, y, sample_weight, **links)
            numbers, self.changes_ = keep_numbers(old, earlier_labels, self.labels_, self.n_clusters_)
            if self._is_given is None:
                self._set_numbers(old, numbers)
        self._usual_number = None
        return self

    def plot_selection(self, ax: Any = None) -> Any:
        """Draw the candidates of `selection_` and their scores.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            A new figure without it.

        Returns
        -------
        matplotlib Axes
        """
        from ..plotting import plot_selection

        check_is_fitted(self)
        if not hasattr(self, "selection_"):
            raise ValueError(
                f"nothing was selected: n_clusters={self.n_clusters!r} and the kernel were set; fit with "
                "n_clusters='auto', or use EvenCut."
            )
        return plot_selection(self.selection_, ax)

    def plot_tree(self, ax: Any = None) -> Any:
        """Draw the tree above the fitted clusters, and mark stable numbers of clusters.

        A number is stable if its highest conductance is far below that of one cluster more.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            A new figure without it.

        Returns
        -------
        matplotlib Axes
        """
        from ..plotting import plot_tree

        hierarchy, leaves = self._tree()
        rows = {"labels": to_array(self.labels_), "leaf_of_row": to_array(leaves)}
        return plot_tree(hierarchy.linkage, self.n_clusters_, hierarchy.stable, ax, **rows)

    def diagnose(self, X: ArrayLike | None = None, **options: Any) -> BiasReport:
        """Whether the fitted clustering is biased by density; see :func:`evencut.diagnose`.

        Parameters
        ----------
        X : array of shape (n_samples, n_features), optional
            The points, needed only if a precomputed affinity was fitted.
        **options
            Passed on to :func:`evencut.diagnose`.

        Returns
        -------
        BiasReport

        Examples
        --------
        >>> from evencut import EvenCut
        >>> from evencut.datasets import make_clumped_moons
        >>> X, _ = make_clumped_moons(600, clump=0.5, random_state=0)
        >>> EvenCut(n_clusters=2, random_state=0).fit(X).diagnose().verdict
        'ok'
        """
        from ..diagnosis import diagnose_fitted
        from .even_cut import EvenCut, diagnose

        check_is_fitted(self)
        if X is None and is_tensor(self._prepared.points):
            return diagnose(self._prepared.points, self._model.fitted_labels, **{"scale": None, **options})
        if X is None and self._model.kernel.is_pairwise:
            raise ValueError("the model was fitted on an affinity; pass the points themselves: diagnose(X).")
        if X is not None:
            options.setdefault("metric", self.metric)
            return diagnose(X, self.labels_, **options)
        options.setdefault("affinity", self._affinity)
        with_cures = options.pop("cures", True)
        cure = EvenCut(scale=self._scaling(), metric=self.metric, random_state=0) if with_cures else None
        if isinstance(self.n_clusters, str):
            options["agreement"] = getattr(self, "confidence_", None)
        return diagnose_fitted(self._prepared, self._model.fitted_labels, cure=cure, **options)

    def describe(self, X: Any, **options: Any) -> Description:
        """What each cluster is: size, typical rows, and the columns that distinguish it; see :func:`evencut.describe`.

        Parameters
        ----------
        X : frame or array of shape (n_samples, n_features)
            The fitted table in its own units, or other columns of the same rows.
        **options
            Passed on to :func:`evencut.describe`.

        Returns
        -------
        Description
            Typical rows are the medoids of the affinity: those whose walks end where the walks of all others do.

        Examples
        --------
        >>> import numpy as np
        >>> from evencut import EvenCut
        >>> X = np.concatenate([np.random.default_rng(0).normal(size=(60, 2)) + place for place in ([0, 0], [9, 0])])
        >>> description = EvenCut(2, random_state=0).fit(X).describe(X, names=["length", "width"])
        >>> [effect.column for effect in description.clusters[0].effects]
        ['length']
        """
        from ..diagnosis import describe

        check_is_fitted(self)
        labels = to_array(self.labels_)
        if not is_tensor(self._fitted_points) and getattr(self, "_affinity", None) is not None:
            options.setdefault("typical", self._medoids(labels))
        return describe(to_array(X) if is_tensor(X) or is_foreign(X) else X, labels, **options)

    def _medoids(self, labels: Ints) -> dict[Any, Places]:
        """The rows of each cluster, the most central points of its affinity first."""
        matrix, first_row = as_affinity(self._affinity), self._prepared.first_row
        medoids: dict[Any, Places] = {}
        for k in np.unique(labels):
            points = np.flatnonzero(labels[first_row] == k)
            if len(points):
                points = points[np.argsort(_eccentricity(matrix.submatrix(points)), kind="stable")]
            medoids[k.item()] = first_row[points]
        return medoids

    def _check_new(self, X: Any) -> tuple[FittedModel, Any]:
        """The model that labels new points, and these as it takes them."""
        check_is_fitted(self)
        model = self._model
        X = X if is_tensor(X) else check_points(self, X, model.kernel, reset=False)
        # Affinities given instead of points have no units.
        return model.on_device_of(X), X if model.kernel.is_pairwise else self._prepared.scaled(X)

    def _scores(self, model: FittedModel, X: Any, labels: Any) -> Floats:
        """Outlier scores of new points whose clusters are known."""
        return self._certainty()[0].outlier_scores(model.nearest_distances(X, N_NEAREST), to_array(labels))

    def _certainty(self) -> tuple[Certainty, Floats, Floats]:
        """The model of certainty; probabilities and outlier scores of the fitted rows."""
        check_is_fitted(self)
        if "certainty" not in self._derived:
            self._derived["certainty"] = self._fit_certainty()
        return self._derived["certainty"]

    def _fit_certainty(self) -> tuple[Certainty, Floats, Floats]:
        model, point_of_row = self._model, self._prepared.point_of_row
        labels, affinity = model.fitted_labels, as_affinity(self._affinity)
        distances = model.own_distances(affinity, N_NEAREST)
        selection = getattr(self, "selection_", None)
        of_candidates = candidate_support(selection, labels, self._prepared.weights)
        confidence = 1.0 if selection is None or of_candidates is None else selection.confidence
        certainty, support = fit_certainty(
            affinity, labels, model.point_scale, distances, labels, of_candidates, confidence
        )
        point_scores = certainty.outlier_scores(distances, labels)
        row_labels = to_array(self.labels_)
        if self._numbers is not None:
            order: Places = np.argsort(self._numbers)
            row_labels = order[np.searchsorted(self._numbers, row_labels, sorter=order)]
        probabilities = certainty.probabilities(support, point_scores)[point_of_row, row_labels]
        scores = point_scores[point_of_row]
        if self._left_out is not None:
            rows, (X, clusters) = np.flatnonzero(point_of_row < 0), self._left_out
            scores[rows] = certainty.outlier_scores(model.nearest_distances(X, N_NEAREST), clusters)
            of_clusters = certainty.probabilities(model.averaged(X, certainty.support), scores[rows])
            probabilities[rows] = of_clusters[np.arange(len(clusters)), clusters]
        if self._is_given is not None:
            probabilities = np.where(self._is_given, 1.0, probabilities)
        return certainty, probabilities, scores

    def _tree(self) -> tuple[Hierarchy, Ints]:
        """The tree, and the leaf of each row."""
        check_is_fitted(self)
        if is_tensor(self._fitted_points):
            raise NotImplementedError("a fit on a GPU has no tree; fit the points as an array, on the CPU.")
        if "tree" not in self._derived:
            prepared, model = self._prepared, self._model
            points = None if model.kernel.is_pairwise else prepared.points
            hierarchy = hierarchy_of(self._affinity, prepared.weights, model.fitted_labels, points=points)
            leaves = hierarchy.leaf_of_point[prepared.point_of_row]
            if self._left_out is not None:
                nearest = model.nearest_points(self._left_out[0])
                leaves[prepared.point_of_row < 0] = hierarchy.leaf_of_point[nearest]
            self._derived["tree"] = hierarchy, leaves
        return self._derived["tree"]

    def _set_numbers(self, old: Any, numbers: Ints) -> None:
        """Number the clusters as an earlier fit does; names of new ones are "new" and their number."""
        self._numbers = numbers
        self._next_number = max(next_number(old), int(numbers.max()) + 1)
        self.labels_ = numbers[self.labels_]
        if hasattr(old, "classes_"):
            names = list(old.classes_)
            self.classes_ = np.array(names + [f"new {number}" for number in range(len(names), self._next_number)])


def _eccentricity(inside: Affinity) -> Floats:
    """Distance of each point of a cluster from its mean, in coordinates from the ends of random walks.

    Points are near each other if their walks of 20 steps end at the same places, seen in 16 random projections.
    """
    coordinates = np.random.default_rng(0).normal(size=(inside.shape[0], 16))
    degree = np.maximum(inside.degrees(), np.finfo(float).tiny)[:, None]
    for _ in range(20):
        coordinates = np.asarray(inside @ coordinates, dtype=np.float64) / degree
    return np.asarray(((coordinates - coordinates.mean(axis=0)) ** 2).sum(axis=1))
