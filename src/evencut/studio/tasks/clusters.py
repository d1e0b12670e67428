"""Tasks on clusters that are there: change them by hand, and say what tells each apart."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..edits import edit_of, edited
from ..refusals import Refused
from .points import rows_without_gaps

__all__ = ["describe", "edit"]

_TOLD = 3


def edit(kept: dict[str, Any], arguments: dict[str, Any], tell: Any) -> NDArray[np.int32]:
    """The labels after clusters were merged or split; rows with gaps stay -1."""
    X, complete = rows_without_gaps(kept[arguments["table"]], arguments["columns"])
    labels = np.asarray(arguments["labels"])
    change = edit_of(arguments["edit"])
    if change.kind == "split" and (labels[complete] == change.label).sum() < 4:
        raise Refused(f"cluster {change.label} has fewer than 4 points; it cannot be split.")
    found = labels.copy()
    found[complete] = edited(labels[complete].astype(np.int32), change, X)
    return found


def describe(kept: dict[str, Any], arguments: dict[str, Any], tell: Any) -> dict[str, list[dict[str, Any]]]:
    """For each cluster the columns whose means lie farthest from those of all points, in deviations."""
    X, complete = rows_without_gaps(kept[arguments["table"]], arguments["columns"])
    labels = np.asarray(arguments["labels"])[complete]
    overall, spread = X.mean(axis=0), X.std(axis=0)
    told = {}
    for label in np.unique(labels[labels >= 0]).tolist():
        means = X[labels == label].mean(axis=0)
        far = np.abs(means - overall) / np.where(spread > 0, spread, np.inf)
        order = np.argsort(-far, kind="stable")[:_TOLD]
        told[str(label)] = [
            {"column": arguments["columns"][i], "mean": float(means[i]), "overall": float(overall[i])} for i in order
        ]
    return told
