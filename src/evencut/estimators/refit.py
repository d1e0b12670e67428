"""Fit again without losing which cluster is which."""

from __future__ import annotations

import copy
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from ..tensors import Ints, is_tensor
from .matching import Matching, match_codes

__all__ = ["RefitMixin", "identities"]

# Rows with a higher outlier score, three standard deviations outside, belong to no cluster of the earlier fit.
_OUTSIDE = 0.5


class RefitMixin:
    """`refit`, and the numbers that clusters keep through it."""

    labels_: Any
    n_clusters_: int
    fit: Any
    predict: Any
    _prediction: Any
    _is_given: Any
    #: The number of each cluster where an earlier fit has set it, and the first number that was never used.
    _numbers: Ints | None
    _next_number: int
    #: The number of clusters that an automatic choice keeps unless the test of splits is against it.
    _usual_number: int | None = None

    @property
    def cluster_ids_(self) -> Ints:
        """The number in `labels_` of each column of `predict_proba`; 0, 1, ... unless `refit` has kept numbers."""
        check_is_fitted(self)
        numbers = getattr(self, "_numbers", None)
        return np.arange(self.n_clusters_) if numbers is None else numbers.copy()

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
        if is_tensor(X) or is_tensor(self.labels_):
            raise TypeError("refit is for arrays and frames; move the tensors to the CPU and pass them as arrays.")
        if self._prediction.kernel.is_pairwise:
            raise ValueError("refit needs points to compare with those of the earlier fit, not a precomputed affinity.")
        old, kept = copy.copy(self), dict(vars(self))
        before = old.predict(X, noise=_OUTSIDE)
        try:
            self._usual_number = old.n_clusters_
            self.fit(X, y, sample_weight, **links)
            after = self.labels_
            numbers, changes = identities(old, before, after, self.n_clusters_)
            if self._is_given is None:
                self._set_numbers(old, numbers)
            self.changes_ = changes
        except BaseException:
            vars(self).clear()
            vars(self).update(kept)
            raise
        self._usual_number = None
        return self

    def _cut_numbered(self, labels: Any) -> Any:
        """Labels of another level of the tree, with the number of the fitted cluster that each continues."""
        if getattr(self, "_numbers", None) is None:
            return labels
        return identities(self, self.labels_, labels, int(labels.max()) + 1)[0][labels]

    def _set_numbers(self, old: Any, numbers: Ints) -> None:
        self._numbers = numbers
        self._next_number = max(_next_number(old), int(numbers.max()) + 1)
        self.labels_ = numbers[self.labels_]
        if hasattr(old, "classes_"):
            names = list(old.classes_)
            names += [f"new {number}" for number in range(len(names), self._next_number)]
            self.classes_ = np.array(names)

    def _numbered(self, labels: Any) -> Any:
        """Cluster numbers as users see them; -1 stays."""
        numbers = getattr(self, "_numbers", None)
        return labels if numbers is None else np.append(numbers, -1)[labels]

    def _codes(self, labels: Any) -> Any:
        """Positions of clusters, from their numbers."""
        numbers = getattr(self, "_numbers", None)
        if numbers is None:
            return labels
        order = np.argsort(numbers)
        return order[np.searchsorted(numbers, labels, sorter=order)]


def identities(old: Any, before: Ints, after: Ints, n_clusters: int) -> tuple[Ints, Matching]:
    """The number of each new cluster, given the labels that an earlier model has for the same rows, and the changes."""
    numbers = old.cluster_ids_
    place = np.full(int(numbers.max()) + 2, -1)
    place[numbers] = np.arange(len(numbers))
    codes, fitted = place[before], place[np.asarray(old.labels_)]
    sizes = np.bincount(fitted[fitted >= 0], minlength=len(numbers)), np.bincount(after, minlength=n_clusters)
    same = match_codes(codes, after, list(range(len(numbers))), list(range(n_clusters)), *sizes).same
    unused = _next_number(old)
    new = np.array([numbers[same[k]] if k in same else -1 for k in range(n_clusters)], dtype=np.int64)
    new[new < 0] = unused + np.arange((new < 0).sum())
    return new, match_codes(codes, after, numbers.tolist(), new.tolist(), *sizes)


def _next_number(model: Any) -> int:
    return max(int(getattr(model, "_next_number", 0)), int(model.cluster_ids_.max()) + 1)
