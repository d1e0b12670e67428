"""What a user does to clusters by hand, as steps on labels and as the code that makes them again."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from .sent import Sent


class Merge(Sent):
    """Several clusters become one."""

    kind: Literal["merge"] = "merge"
    labels: list[int]

    def touched(self) -> list[int]:
        """The clusters it speaks of."""
        return self.labels

    def code(self) -> list[str]:
        """Lines that do it to `labels`."""
        return [
            f"labels[np.isin(labels, {self.labels})] = {self.labels[0]}",
            "kept = np.unique(labels[labels >= 0])",
            "labels = np.where(labels < 0, -1, np.searchsorted(kept, labels))",
        ]


class Split(Sent):
    """One cluster becomes two, by evencut on its points alone."""

    kind: Literal["split"] = "split"
    label: int

    def touched(self) -> list[int]:
        """The clusters it speaks of."""
        return [self.label]

    def code(self) -> list[str]:
        """Lines that do it to `labels` of the points `X`."""
        return [
            f"part = labels == {self.label}",
            "second = EvenCut(2, random_state=0).fit_predict(X[part]) == 1",
            f"labels[part] = np.where(second, labels.max() + 1, {self.label})",
        ]


Edit = Merge | Split


def edit_of(saved: dict) -> Edit:
    """An edit from its plain form."""
    return Merge(**saved) if saved.get("kind") == "merge" else Split(**saved)


def edited(labels: NDArray[np.int32], edit: Edit, X: NDArray[np.floating]) -> NDArray[np.int32]:
    """The labels after an edit; the steps are those of its code.

    Examples
    --------
    >>> edited(np.array([0, 1, 2, -1], dtype=np.int32), Merge(labels=[0, 1]), np.zeros((4, 1))).tolist()
    [0, 0, 1, -1]
    """
    labels = labels.copy()
    if isinstance(edit, Merge):
        labels[np.isin(labels, edit.labels)] = edit.labels[0]
        kept = np.unique(labels[labels >= 0])
        return np.where(labels < 0, -1, np.searchsorted(kept, labels)).astype(np.int32)
    from evencut import EvenCut

    part = labels == edit.label
    second = EvenCut(2, random_state=0).fit_predict(X[part]) == 1
    labels[part] = np.where(second, labels.max() + 1, edit.label)
    return labels
