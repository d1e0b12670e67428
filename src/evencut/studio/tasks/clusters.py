"""Tasks on clusters that are there: change them by hand, and say what sets each apart."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evencut import bandwidth_sweep, diagnose
from evencut.diagnosis import describe as describe_clusters

from ..._runtime import on_progress
from ...diagnosis.description import Description
from ...diagnosis.html import fragment
from ...diagnosis.sweep import bandwidth_range
from ..methods import Edit, Split, cure_of, edited
from ..options import RequestError
from ..tables import Sheet
from .points import plain, points_of

_TOLD = 4
_TYPICAL = 3
# A description of a sample is that of the table to a fraction of a deviation.
_MOST_ROWS = 50_000
_MOST_NAMES = 50


def edit(store: dict[str, Any], arguments: dict[str, Any], tell: Any) -> NDArray[np.int32]:
    """The labels after clusters were merged or split; rows with gaps stay -1."""
    X, complete = points_of(store, arguments)
    labels = np.asarray(arguments["labels"])
    change: Edit = arguments["edit"]
    if isinstance(change, Split) and (labels[complete] == change.label).sum() < 4:
        raise RequestError(f"cluster {change.label} has fewer than 4 points; it cannot be split.")
    result = labels.copy()
    result[complete] = edited(labels[complete].astype(np.int32), change, X)
    return result


def describe(store: dict[str, Any], arguments: dict[str, Any], tell: Any) -> dict[str, dict[str, Any]]:
    """For each cluster what sets it apart, in words, and its most typical rows."""
    told_apart = description(store[arguments["table"]], np.asarray(arguments["labels"]))
    return {
        str(cluster.label): {
            "told": [str(effect) for effect in cluster.effects],
            "effects": [{"text": str(effect), "effect": round(effect.effect, 3)} for effect in cluster.effects],
            "typical": list(cluster.typical),
        }
        for cluster in told_apart.clusters
    }


def description(table: Sheet, labels: NDArray[np.integer]) -> Description:
    """The clusters of a table in words: by all of its columns, in their own units, those of names too.

    Row numbers are left out, and so are columns of so many names that each is a row's own.
    """
    rows = np.flatnonzero(labels >= 0)
    if len(rows) > _MOST_ROWS:
        rows = np.sort(np.random.default_rng(0).choice(rows, _MOST_ROWS, replace=False))
    columns = [
        column.as_read(rows)
        for column in table.columns
        if column.name not in table.row_numbers and len(column.names or ()) <= _MOST_NAMES
    ]
    described = describe_clusters(columns, labels[rows], n_columns=_TOLD, n_rows=_TYPICAL)
    # Places among the rows that were described are rows of the table.
    clusters = [replace(cluster, typical=tuple(rows[list(cluster.typical)].tolist())) for cluster in described.clusters]
    return Description(tuple(clusters))


_RANGE_SAMPLE = 2000
_FEWEST_ROWS = 3
_STEPS = 12
_SWEPT = 800


def diagnose_labels(store: dict[str, Any], arguments: dict[str, Any], tell: Any) -> dict[str, Any]:
    """The verdict on a labelling: its report in plain types, as HTML, and the method that cures it."""
    X, complete = points_of(store, arguments)
    tell("looking at every border", None)
    labels = np.asarray(arguments["labels"])[complete]
    if len(np.unique(labels[labels >= 0])) < 2:
        raise RequestError("there is one cluster only; a bias shows in borders between clusters: ask for 2 or more.")
    if arguments.get("names"):  # a page to hand on calls the clusters what the user calls them
        called = np.append([arguments["names"].get(label, str(label)) for label in range(labels.max() + 1)], "-1")
        described = description(store[arguments["table"]], np.asarray(arguments["labels"]))
        named = [replace(cluster, label=called[cluster.label]) for cluster in described.clusters]
        inside = labels >= 0
        report = diagnose(X[inside], called[labels[inside]], scale=arguments["scale"])
        return {"html": fragment(report, Description(tuple(named)))}
    report = diagnose(X, labels, scale=arguments["scale"])
    cure = next((cure_of(cure.model) for cure in report.cures if cure.offered), None)
    return {
        "report": plain(report.to_dict()),
        "headline": report.headline(),
        "summary": report.summary(),
        # Log densities across each border, outside first; None for a cluster without a border.
        "profiles": plain(report.pictures.profiles),
        "cure": None if cure is None else cure.model_dump(),
    }


def bandwidths(store: dict[str, Any], arguments: dict[str, Any], tell: Any) -> tuple[float, float]:
    """The range of bandwidths of some columns, which must have enough rows without gaps."""
    table: Sheet = store[arguments["table"]]
    for column in map(table.column, arguments["columns"]):
        if column.refused:
            raise RequestError(f"column {column.name!r} cannot be clustered by: {column.refused}.")
    X, _ = points_of(store, arguments)
    if len(X) < _FEWEST_ROWS:
        raise RequestError(f"only {len(X)} rows have a value in every column chosen; choose others.")
    return _bandwidth_range(X)


def _bandwidth_range(X: NDArray[np.floating]) -> tuple[float, float]:
    """The range of useful bandwidths: from half the distance to near neighbours to the diameter.

    Examples
    --------
    >>> low, high = _bandwidth_range(np.arange(20.0)[:, None])
    >>> low < 3 < high
    True
    """
    if len(X) > _RANGE_SAMPLE:
        X = X[np.random.default_rng(0).choice(len(X), _RANGE_SAMPLE, replace=False)]
    low, high = bandwidth_range(X)
    return max(low, 1e-4 * high), high


def sweep(store: dict[str, Any], arguments: dict[str, Any], tell: Any) -> dict[str, Any]:
    """Clusterings with a fixed Gaussian kernel over a range of bandwidths, each diagnosed."""
    X, _ = points_of(store, arguments)
    low, high = _bandwidth_range(X)
    sigmas = np.geomspace(low, high, _STEPS)
    options = {"criterion": arguments["criterion"], "random_state": arguments["seed"], "max_points": _SWEPT}
    with on_progress(lambda name, number, total: tell(f"{name}, {number} of {total}", (number - 1) / total)):
        swept = bandwidth_sweep(X, arguments["n_clusters"], bandwidths=sigmas, **options)
    return {
        "answer": swept.answer(),
        "n_points": swept.n_points,
        "criterion": arguments["criterion"],
        "n_clusters": arguments["n_clusters"],
        "rows": [
            {
                "bandwidth": row.bandwidth,
                "shares": (row.sizes / row.sizes.sum()).tolist(),
                "stability": plain(row.stability),
                "verdict": row.verdict,
                "confidence": plain(row.confidence),
            }
            for row in swept.rows
        ],
    }
