"""The hierarchy of a fitted clustering: its tree, other numbers of clusters without another fit, and a picture."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..solvers import heaviest_first
from ..tensors import Floats, Ints, is_tensor, to_array
from ..valley import Splits
from .certainty import FitState
from .devices import result_like
from .evidence import evidence_of
from .hierarchy import Hierarchy, hierarchy_of
from .inputs import check_count


class TreeMixin(FitState):
    """`tree_`, `leaf_of_row_`, `cut` and `plot_tree` of an estimator that clusters points in memory."""

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
        if not is_tensor(self._fitted_points) and self._prediction.kernel.is_pairwise:
            raise ValueError("evidence_ needs points, but the model was fitted on an affinity: use diagnose(X).splits.")
        hierarchy = self._tree()[0]
        if "evidence" not in self._derived:
            self._derived["evidence"] = evidence_of(self._prepared, hierarchy)
        return self._derived["evidence"]

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
                f"n_clusters={n_clusters} is more than the {hierarchy.n_leaves} leaves of the tree; fit for so many "
                "clusters."
            )
        if n_clusters == self.n_clusters_:
            return self.labels_.clone() if hasattr(self.labels_, "clone") else self.labels_.copy()
        of_leaf = hierarchy.cut(n_clusters)
        weight = np.bincount(leaves, minlength=hierarchy.n_leaves).astype(np.float64)
        return result_like(self.labels_, self._cut_numbered(heaviest_first(of_leaf, weight)[leaves]))

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

    def _tree(self) -> tuple[Hierarchy, Ints]:
        check_is_fitted(self)
        if is_tensor(self._fitted_points):
            raise NotImplementedError("a fit on a GPU has no tree; fit the points as an array, on the CPU.")
        if "tree" not in self._derived:
            prepared = self._prepared
            # The same tree whenever it is asked for.
            points = None if self._prediction.kernel.is_pairwise else prepared.points
            hierarchy = hierarchy_of(
                self._affinity, prepared.weights, self._prediction.fitted_labels, 0, points=points
            )
            leaves = hierarchy.leaf_of_point[prepared.point_of_row]
            places = np.flatnonzero(prepared.point_of_row < 0)
            if places.size:
                leaves[places] = hierarchy.leaf_of_point[self._prediction.nearest_points(self._left_out[0])]
            self._derived["tree"] = hierarchy, leaves
        return self._derived["tree"]
