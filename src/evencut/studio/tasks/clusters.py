"""Tasks on clusters that are there: change them by hand, and say what sets each apart."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evencut.diagnosis import describe as describe_clusters

from ...diagnosis.description import Description
from ...io import cells
from ..edits import edit_of, edited
from ..refusals import Refused
from ..sheets import Sheet, SheetColumn
from .points import rows_without_gaps

_TOLD = 4
_TYPICAL = 3
# A description of a sample is that of the table to a fraction of a deviation.
_MOST_ROWS = 50_000
_MOST_NAMES = 50


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


def describe(kept: dict[str, Any], arguments: dict[str, Any], tell: Any) -> dict[str, dict[str, Any]]:
    """For each cluster what sets it apart, in words, and its most typical rows."""
    told = description(kept[arguments["table"]], np.asarray(arguments["labels"]))
    return {
        str(cluster.label): {"told": [str(effect) for effect in cluster.effects], "typical": list(cluster.typical)}
        for cluster in told.clusters
    }


def description(table: Sheet, labels: NDArray[np.integer]) -> Description:
    """The clusters of a table in words: by all of its columns, in their own units, those of names too.

    Row numbers are left out, and so are columns of so many names that each is a row's own.
    """
    rows = np.flatnonzero(labels >= 0)
    if len(rows) > _MOST_ROWS:
        rows = np.sort(np.random.default_rng(0).choice(rows, _MOST_ROWS, replace=False))
    columns = [
        _column_of(column, rows)
        for column in table.columns
        if column.name not in table.row_numbers and len(column.names or ()) <= _MOST_NAMES
    ]
    told = describe_clusters(columns, labels[rows], n_columns=_TOLD, n_rows=_TYPICAL)
    # Places among the rows that were described are rows of the table.
    found = [replace(cluster, typical=tuple(rows[list(cluster.typical)].tolist())) for cluster in told.clusters]
    return Description(tuple(found))


def _column_of(column: SheetColumn, rows: NDArray[np.intp]) -> cells.Column:
    """Some rows of a column as the library knows it."""
    values = column.values[rows]
    if column.names is None:
        return cells.Column(column.name, values.astype(np.float64))
    words = {row: column.names[code] for row, code in enumerate(values.tolist()) if code >= 0}
    return cells.Column.of_words(column.name, words, np.full(len(rows), np.nan))
