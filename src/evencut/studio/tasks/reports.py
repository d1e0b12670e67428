"""Tasks that judge: the diagnosis of a labelling with its cure, and the sweep over bandwidths."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from evencut import bandwidth_sweep, diagnose

from ...diagnosis.html import fragment
from ..cures import cure_of
from ..refusals import Refused
from .clusters import description
from .points import plain, rows_without_gaps

__all__ = ["bandwidth_range", "diagnose_labels", "sweep"]

_RANGE_SAMPLE = 2000
_STEPS = 12
_SWEPT = 800


def diagnose_labels(kept: dict[str, Any], arguments: dict[str, Any], tell: Any) -> dict[str, Any]:
    """The verdict on a labelling: its report in plain types, as HTML, and the method that cures it."""
    X, complete = rows_without_gaps(kept[arguments["table"]], arguments["columns"])
    tell("looking at every border", None)
    labels = np.asarray(arguments["labels"])[complete]
    if len(np.unique(labels[labels >= 0])) < 2:
        raise Refused("there is one cluster only; a bias shows in the borders between clusters, so ask for at least 2.")
    report = diagnose(X, labels, scale=arguments["scale"])
    cure = next((cure_of(cure.model) for cure in report.cures if cure.offered), None)
    return {
        "report": plain(report.to_dict()),
        "headline": report.headline(),
        "summary": report.summary(),
        "profiles": _profiles(report),
        "cure": None if cure is None else cure.model_dump(),
        "html": fragment(report, description(kept[arguments["table"]], np.asarray(arguments["labels"]))),
    }


def _profiles(report: Any) -> list[Any]:
    """Log densities across each border, outside first; None where a cluster has no border."""
    found = []
    for profile in report.pictures.profiles:
        found.append(None if profile is None else [np.asarray(side, dtype=float).tolist() for side in profile])
    return plain(found)


def bandwidth_range(X: NDArray[np.float64]) -> tuple[float, float]:
    """The bandwidths worth trying: from half the distance to near neighbours to the diameter.

    Examples
    --------
    >>> low, high = bandwidth_range(np.arange(20.0)[:, None])
    >>> low < 3 < high
    True
    """
    from scipy.spatial import cKDTree

    rng = np.random.default_rng(0)
    sample = X if len(X) <= _RANGE_SAMPLE else X[rng.choice(len(X), _RANGE_SAMPLE, replace=False)]
    near = cKDTree(sample).query(sample, k=[min(6, len(sample))])[0][:, 0]
    diameter = float(np.linalg.norm(sample.max(axis=0) - sample.min(axis=0))) or 1.0
    low = 0.5 * float(np.median(near))
    low = max(low, 1e-4 * diameter)
    return low, max(diameter, 2 * low)


def sweep(kept: dict[str, Any], arguments: dict[str, Any], tell: Any) -> dict[str, Any]:
    """Clusterings with a fixed Gaussian kernel over a range of bandwidths, each diagnosed."""
    X, _ = rows_without_gaps(kept[arguments["table"]], arguments["columns"])
    low, high = bandwidth_range(X)
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
