"""Tasks on clusters that are there: change them by hand, and say what sets each apart."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evencut import bandwidth_sweep, diagnose
from evencut.diagnosis import describe as describe_clusters

from ...diagnosis.description import Description
from ...diagnosis.html import fragment
from ..methods import cure_of, edit_of, edited
from ..options import RequestError
from ..tables import Sheet
from .points import plain, points_of

_TOLD = 4
_TYPICAL = 3
# A description of a sample is that of the table to a fraction of a deviation.
_MOST_ROWS = 50_000
_MOST_NAMES = 50


def edit(kept: dict[str, Any], arguments: dict[str, Any], tell: Any) -> NDArray[np.int32]:
    """The labels after clusters were merged or split; rows with gaps stay -1."""
    X, complete = points_of(kept, arguments)
    labels = np.asarray(arguments["labels"])
    change = edit_of(arguments["edit"])
    if change.kind == "split" and (labels[complete] == change.label).sum() < 4:
        raise RequestError(f"cluster {change.label} has fewer than 4 points; it cannot be split.")
    found = labels.copy()
    found[complete] = edited(labels[complete].astype(np.int32), change, X)
    return found


def describe(kept: dict[str, Any], arguments: dict[str, Any], tell: Any) -> dict[str, dict[str, Any]]:
    """For each cluster what sets it apart, in words, and its most typical rows."""
    told = description(kept[arguments["table"]], np.asarray(arguments["labels"]))
    return {
        str(cluster.label): {
            "told": [str(effect) for effect in cluster.effects],
            "effects": [{"text": str(effect), "effect": round(effect.effect, 3)} for effect in cluster.effects],
            "typical": list(cluster.typical),
        }
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
        column.as_read(rows)
        for column in table.columns
        if column.name not in table.row_numbers and len(column.names or ()) <= _MOST_NAMES
    ]
    told = describe_clusters(columns, labels[rows], n_columns=_TOLD, n_rows=_TYPICAL)
    # Places among the rows that were described are rows of the table.
    found = [replace(cluster, typical=tuple(rows[list(cluster.typical)].tolist())) for cluster in told.clusters]
    return Description(tuple(found))


_RANGE_SAMPLE = 2000
_FEWEST_ROWS = 3
_STEPS = 12
_SWEPT = 800


def diagnose_labels(kept: dict[str, Any], arguments: dict[str, Any], tell: Any) -> dict[str, Any]:
    """The verdict on a labelling: its report in plain types, as HTML, and the method that cures it."""
    X, complete = points_of(kept, arguments)
    tell("looking at every border", None)
    labels = np.asarray(arguments["labels"])[complete]
    if len(np.unique(labels[labels >= 0])) < 2:
        raise RequestError("there is one cluster only; a bias shows in borders between clusters: ask for 2 or more.")
    if arguments.get("names"):  # a page to hand on calls the clusters what the user calls them
        called = np.append([arguments["names"].get(label, str(label)) for label in range(labels.max() + 1)], "-1")
        told = description(kept[arguments["table"]], np.asarray(arguments["labels"]))
        named = [replace(one, label=called[one.label]) for one in told.clusters]
        inside = labels >= 0
        report = diagnose(X[inside], called[labels[inside]], scale=arguments["scale"])
        return {"html": fragment(report, Description(tuple(named)))}
    report = diagnose(X, labels, scale=arguments["scale"])
    cure = next((cure_of(cure.model) for cure in report.cures if cure.offered), None)
    return {
        "report": plain(report.to_dict()),
        "headline": report.headline(),
        "summary": report.summary(),
        "profiles": _profiles(report),
        "cure": None if cure is None else cure.model_dump(),
    }


def _profiles(report: Any) -> list[Any]:
    """Log densities across each border, outside first; None where a cluster has no border."""
    found = []
    for profile in report.pictures.profiles:
        found.append(None if profile is None else [np.asarray(side, dtype=float).tolist() for side in profile])
    return plain(found)


def bandwidths(kept: dict[str, Any], arguments: dict[str, Any], tell: Any) -> tuple[float, float]:
    """The range of bandwidths of some columns, which must have enough rows without gaps."""
    table: Sheet = kept[arguments["table"]]
    for column in map(table.column, arguments["columns"]):
        if column.refused:
            raise RequestError(f"column {column.name!r} cannot be clustered by: {column.refused}.")
    mixed = any(table.column(name).holds != "numbers" for name in arguments["columns"])
    if mixed or arguments.get("counts") or arguments.get("missing", "drop") != "drop":
        X, complete = points_of(kept, arguments)
        if len(X) < _FEWEST_ROWS:
            raise RequestError(f"only {len(X)} rows have a value in every column chosen; choose others.")
        return _bandwidth_range(X[_some(len(X))])
    complete = np.ones(table.n_rows, dtype=bool)
    for name in arguments["columns"]:
        complete &= np.isfinite(table.column(name).values)
    rows = np.flatnonzero(complete)
    if len(rows) < _FEWEST_ROWS:
        raise RequestError(f"only {len(rows)} rows have a value in every column chosen; choose others.")
    # Of a large table some rows are put together, never all.
    return _bandwidth_range(table.numbers(arguments["columns"], rows[_some(len(rows))]))


def _bandwidth_range(X: NDArray[np.floating]) -> tuple[float, float]:
    """The bandwidths worth trying: from half the distance to near neighbours to the diameter.

    Examples
    --------
    >>> low, high = _bandwidth_range(np.arange(20.0)[:, None])
    >>> low < 3 < high
    True
    """
    from scipy.spatial import cKDTree

    sample = X[_some(len(X))]
    near = cKDTree(sample).query(sample, k=[min(6, len(sample))])[0][:, 0]
    diameter = float(np.linalg.norm(sample.max(axis=0) - sample.min(axis=0))) or 1.0
    low = 0.5 * float(np.median(near))
    low = max(low, 1e-4 * diameter)
    return low, max(diameter, 2 * low)


def _some(n_rows: int) -> NDArray[np.intp] | slice:
    """Rows that show the range of bandwidths."""
    if n_rows <= _RANGE_SAMPLE:
        return slice(None)
    return np.random.default_rng(0).choice(n_rows, _RANGE_SAMPLE, replace=False)


def sweep(kept: dict[str, Any], arguments: dict[str, Any], tell: Any) -> dict[str, Any]:
    """Clusterings with a fixed Gaussian kernel over a range of bandwidths, each diagnosed."""
    X, _ = points_of(kept, arguments)
    low, high = _bandwidth_range(X)
    sigmas = np.geomspace(low, high, _STEPS)
    rows: list[Any] = []
    how = {"criterion": arguments["criterion"], "random_state": arguments["seed"], "max_points": _SWEPT}
    for number, sigma in enumerate(sigmas):
        tell(f"bandwidth {sigma:.3g}, {number + 1} of {_STEPS}", number / _STEPS)
        # One bandwidth at a time, so that the page can show how far it is; the draws are those of a single call.
        found = bandwidth_sweep(X, arguments["n_clusters"], bandwidths=[sigma], **how)
        rows.extend(found.rows)
    whole = type(found)(rows, found.criterion, found.n_points, found.n_given)
    return {
        "answer": whole.answer(),
        "n_points": whole.n_points,
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
            for row in rows
        ],
    }
