"""What a fitted clustering answers: clusters of new points, its affinity, what it was chosen from, its diagnosis."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from ..affinity import Affinity, as_affinity
from ..neighbors.metrics import Metric
from ..tensors import Floats, Ints, Places, is_tensor, result_like, to_array
from .certainty import CertaintyMixin, check_noise
from .devices import many_pairs, tensors_too
from .tree import TreeMixin

if TYPE_CHECKING:
    from ..diagnosis import BiasReport, Description

# Steps of the walks that tell which points are the medoids of a cluster, and random projections of where they end.
_WALK = 20
_PROJECTIONS = 16


class FittedClustering(CertaintyMixin, TreeMixin):
    """The methods of an estimator that need a fit first."""

    n_clusters: Any
    metric: Metric
    scale: str | None

    @abstractmethod
    def _scaling(self, X: Any = None) -> str | None:
        """The scaling of the columns that `scale` stands for, as :func:`evencut.points.prepare_points` knows it."""

    @property
    def _fitted_points(self) -> Any:
        """The points that new ones are compared with; None before a fit."""
        return getattr(getattr(self, "_prepared", None), "points", None)

    def _runs_there(self, X: Any) -> bool:
        """Whether a model of arrays labels these tensors on their device: where the kernel can, and it is quicker."""
        kernel = self._prediction.kernel
        return self.metric == "euclidean" and kernel.takes_tensors and many_pairs(len(X) * len(self._fitted_points))

    @property
    def affinity_(self) -> Any:
        """The affinity of the kernel, before equalisation."""
        check_is_fitted(self)
        # The points are kept in an order of their own; the affinity is brought back from it when asked for.
        return result_like(self.labels_, as_affinity(self._affinity).submatrix(self._prepared.given_order).entries)

    @tensors_too
    def predict(self, X: Any, noise: float | None = None) -> Ints:
        """Clusters of new points.

        Parameters
        ----------
        X : array or tensor of shape (n_queries, n_features)
            New points; or, with a precomputed kernel, their affinities with the fitted points.
        noise : float, optional
            Points with an outlier score above it are labelled -1; 0.5 is three deviations outside, and
            `outlier_scores_` shows what the fitted rows have. Without it every point has a cluster.

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
        prediction, X = self._ready(X)
        labels = prediction.labels(X)
        labels = labels if noise is None else np.where(self._scores(X, labels) > noise, -1, labels)
        return self._numbered(labels)

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

    def diagnose(self, X: ArrayLike | None = None, **options: Any) -> BiasReport:
        """Whether the fitted clustering is biased by density; see :func:`evencut.diagnose`.

        Parameters
        ----------
        X : array of shape (n_samples, n_features), optional
            The points, needed only where a precomputed affinity was fitted.
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
        from .diagnosing import diagnose
        from .even_cut import EvenCut

        check_is_fitted(self)
        if X is None and is_tensor(self._prepared.points):
            return diagnose(self._prepared.points, self._prediction.fitted_labels, **{"scale": None, **options})
        if X is None and self._prediction.kernel.is_pairwise:
            raise ValueError("the model was fitted on an affinity; pass the points themselves: diagnose(X).")
        if X is not None:
            options.setdefault("metric", self.metric)
            return diagnose(X, self.labels_, **options)
        options.setdefault("affinity", self._affinity)
        tries = options.pop("cures", True)
        cure = EvenCut(scale=self._scaling(), metric=self.metric, random_state=0) if tries else None
        return diagnose_fitted(self._prepared, self._prediction.fitted_labels, cure=cure, **options)

    def describe(self, X: Any, **options: Any) -> Description:
        """What each cluster is: size, typical rows, and the columns that set it apart; see :func:`evencut.describe`.

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
        labels = to_array(self.labels_) if is_tensor(self.labels_) else self.labels_
        if not is_tensor(self._fitted_points) and getattr(self, "_affinity", None) is not None:
            options.setdefault("typical", self._medoids(labels))
        return describe(to_array(X) if is_tensor(X) else X, labels, **options)

    def _medoids(self, labels: Ints) -> dict[Any, Places]:
        """The rows of each cluster, the most central points of its affinity first."""
        matrix, first_row = as_affinity(self._affinity), self._prepared.first_row
        found: dict[Any, Places] = {}
        for k in np.unique(labels):
            points = np.flatnonzero(labels[first_row] == k)
            central = np.argsort(_off_centre(matrix.submatrix(points)), kind="stable") if len(points) else points
            found[k.item()] = first_row[points[central]]
        return found


def _off_centre(inside: Affinity) -> Floats:
    """How far each point of a cluster is from its middle, where points are near whose walks end at the same places."""
    places = np.random.default_rng(0).normal(size=(inside.shape[0], _PROJECTIONS))
    degree = np.maximum(inside.degrees(), np.finfo(float).tiny)[:, None]
    for _ in range(_WALK):
        places = np.asarray(inside @ places, dtype=np.float64) / degree
    return np.asarray(((places - places.mean(axis=0)) ** 2).sum(axis=1))
