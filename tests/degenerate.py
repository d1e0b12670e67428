"""Every metric, kernel and estimator on tables that distances fail on; run as a program, the fits it is told by number.

A fit may end its process, so that the test runs this file in children: a line before each fit, and one after it. A
failure is repeated by `python tests/degenerate.py NUMBER`, outside of pytest.
"""

from __future__ import annotations

import itertools
import json
import sys
import warnings
from typing import Any, NamedTuple

import numpy as np

from evencut import (
    DominantSets,
    EvenCut,
    KernelClustering,
    KernelKMeans,
    LandmarkClustering,
    NormalizedCut,
    ProbabilisticKMeans,
    diagnose,
)
from evencut.kernels import KERNELS
from evencut.neighbors import METRICS

__all__ = ["N_COMBINATIONS", "TABLES", "describe", "fit_number"]

_OF_KERNELS = {"KernelClustering": KernelClustering, "NormalizedCut": NormalizedCut, "KernelKMeans": KernelKMeans}


class Case(NamedTuple):
    """An estimator (or the diagnosis), its kernel or model, and its metric."""

    estimator: str
    kernel: str
    metric: str


_CASES = [
    *itertools.starmap(Case, itertools.product(_OF_KERNELS, KERNELS, METRICS)),
    *itertools.starmap(Case, itertools.product(["DominantSets", "diagnose"], KERNELS, METRICS)),
    *itertools.starmap(Case, itertools.product(["EvenCut", "LandmarkClustering"], ["none"], METRICS)),
    *itertools.starmap(Case, itertools.product(["ProbabilisticKMeans"], ["gaussian", "histogram"], ["euclidean"])),
]
#: So many fits try each combination once.
N_COMBINATIONS = len(_CASES)


def _blobs(rng: np.random.Generator, n_rows: int, n_columns: int) -> np.ndarray:
    return rng.normal(size=(n_rows, n_columns)) + 6 * rng.integers(0, 3, size=(n_rows, 1))


def _some(rng: np.random.Generator, n_rows: int) -> np.ndarray:
    return rng.choice(n_rows, size=rng.integers(1, max(2, n_rows // 3)), replace=False)


def _with_rows(make: Any) -> Any:
    """Blobs in which some rows are replaced."""

    def table(rng: np.random.Generator, n_rows: int, n_columns: int) -> np.ndarray:
        X = _blobs(rng, n_rows, n_columns)
        rows = _some(rng, n_rows)
        X[rows] = make(rng, X[rows])
        return X

    return table


def _times(factor: float) -> Any:
    return lambda rng, n, d: _blobs(rng, n, d) * factor


def _two_values(rng: np.random.Generator, n_rows: int, n_columns: int) -> np.ndarray:
    pair = rng.choice([0.0, 1.0, -1.0, 1e-300, 1e300, 5e-324, 1e308, -1e308], size=2, replace=False)
    return pair[rng.integers(0, 2, size=(n_rows, n_columns))]


#: Tables of so many rows and columns, by what is wrong with them.
TABLES: dict[str, Any] = {
    "blobs": _blobs,
    "constant rows": _with_rows(lambda rng, rows: np.ones_like(rows) * rng.normal(size=(len(rows), 1))),
    "zero rows": _with_rows(lambda rng, rows: np.zeros_like(rows)),
    "opposite rows": lambda rng, n, d: _blobs(rng, n, d) * rng.choice([-1.0, 1.0], size=(n, 1)),
    "mirrored": lambda rng, n, d: np.concatenate([half := _blobs(rng, -(-n // 2), d), -half])[:n],
    "one row repeated": _with_rows(lambda rng, rows: np.broadcast_to(rows[0], rows.shape)),
    "copies of few": lambda rng, n, d: _blobs(rng, n, d)[rng.integers(0, max(1, n // 6), size=n)],
    "all equal": lambda rng, n, d: np.full((n, d), rng.choice([0.0, 1.0, 0.1, 1e300, 1e-300])),
    "two values": _two_values,
    "times 1e300": _times(1e300),
    "times 1e307": _times(1e307),
    "times 1e160": _times(1e160),
    "times 1e-160": _times(1e-160),
    "times 1e-300": _times(1e-300),
    "subnormal": lambda rng, n, d: rng.integers(-9, 10, size=(n, d)) * 5e-324,
    "both ends": lambda rng, n, d: rng.choice([-1e300, 1e300, 1.7e308, -1.7e308], size=(n, d)),
    "mixed magnitudes": lambda rng, n, d: _blobs(rng, n, d) * 10.0 ** rng.integers(-300, 300, size=(n, 1)),
    "mixed columns": lambda rng, n, d: _blobs(rng, n, d) * 10.0 ** rng.integers(-300, 300, size=(1, d)),
    "one far row": _with_rows(lambda rng, rows: rows * 10.0 ** rng.integers(3, 300)),
    "whole numbers": lambda rng, n, d: rng.integers(0, 3, size=(n, d)).astype(float),
    "almost constant": lambda rng, n, d: 1 + 1e-16 * rng.integers(-9, 10, size=(n, d)),
}


def _square(rng: np.random.Generator, X: np.ndarray) -> np.ndarray:
    """Something symmetric of the size of the table's values: distances or affinities, as bad as they are."""
    half = np.abs(X[:, :1] - X[:, :1].T) if rng.integers(2) else np.abs(X[:, :1] * 0.5 + X[:, :1].T * 0.5)
    if rng.integers(2):
        np.fill_diagonal(half, 0.0)
    return half


def _draw(number: int) -> tuple[Case, str, np.ndarray, dict[str, Any]]:
    """The combination, what is wrong with the table, the table, and further parameters."""
    # A stride that meets every combination once, and any few hundred numbers in a row all kinds of them.
    case = _CASES[number * 7919 % N_COMBINATIONS]
    rng = np.random.default_rng([24, number])
    kind = str(rng.choice(list(TABLES)))
    n_rows, n_columns = int(rng.integers(2, 70)), int(rng.choice([1, 2, 3, 5, 20]))
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        X = TABLES[kind](rng, n_rows, n_columns)
        if "precomputed" in (case.kernel, case.metric):
            X = _square(rng, X)
        X = np.clip(np.nan_to_num(X), -1.7e308, 1.7e308)
        if rng.integers(5) == 0:
            X = np.clip(X, -3e38, 3e38).astype(np.float32)
    how: dict[str, Any] = {"n_clusters": int(rng.integers(1, 5))}
    if case.estimator in _OF_KERNELS:
        how["equalize"] = (None, None, "weights", "exact")[rng.integers(4)]
    if case.estimator in ("EvenCut", *_OF_KERNELS):
        how["scale"] = ("auto", "auto", "standard")[rng.integers(3)]
        if rng.integers(4) == 0:
            how["n_clusters"] = "auto"
    return case, kind, X, how


def describe(number: int) -> str:
    """What a fit is, in one line."""
    case, kind, X, how = _draw(number)
    return f"{number}: {case.estimator}, kernel {case.kernel}, metric {case.metric}, {kind} {X.shape} {X.dtype}, {how}"


def _check_labels(labels: Any, n_rows: int, n_clusters: int | None) -> None:
    labels = np.asarray(labels)
    assert labels.shape == (n_rows,), f"labels of shape {labels.shape}"
    if n_clusters is not None:
        names = np.unique(labels).tolist()
        assert names == list(range(n_clusters)), f"labels {names}, but {n_clusters} clusters"


def _fit(case: Case, X: np.ndarray, how: dict[str, Any]) -> None:
    """One fit and its predictions: an answer of the right form, or a ValueError."""
    if case.estimator == "diagnose":
        labels = np.arange(len(X)) % how["n_clusters"]
        report = diagnose(X, labels, kernel=case.kernel, metric=case.metric, cures=False)
        assert 0 <= report.confidence <= 1 and report.verdict in str(report)
        return
    if case.estimator == "ProbabilisticKMeans":
        model: Any = ProbabilisticKMeans(model=case.kernel, n_init=2, random_state=0, **how)
    elif case.estimator == "DominantSets":
        model = DominantSets(kernel=case.kernel, metric=case.metric, max_iter=200, random_state=0, **how)
    elif case.estimator == "EvenCut":
        model = EvenCut(metric=case.metric, random_state=0, **how)
    elif case.estimator == "LandmarkClustering":
        model = LandmarkClustering(metric=case.metric, n_landmarks=20, random_state=0, **how)
    else:
        model = _OF_KERNELS[case.estimator](kernel=case.kernel, metric=case.metric, n_init=2, random_state=0, **how)
    before = X.copy()
    model.fit(X)
    np.testing.assert_array_equal(X, before)
    n_clusters = getattr(model, "n_clusters_", None)
    _check_labels(model.labels_, len(X), n_clusters)
    assert np.isfinite(getattr(model, "energy_", 0.0)), f"energy {model.energy_}"
    if case.estimator != "DominantSets":
        again = np.asarray(model.predict(X))
        assert again.shape == (len(X),) and 0 <= again.min() and again.max() <= model.labels_.max()
    if hasattr(model, "transform"):
        assert not np.isnan(model.transform(X)).any(), "transform gives NaN"


def fit_number(number: int) -> str:
    """What became of a fit: `"answered"`, `"refused"`, or what is wrong."""
    case, _, X, how = _draw(number)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            _fit(case, X, how)
        except ValueError as error:
            return "refused" if len(str(error)) > 20 else f"ValueError says nothing: {error}"
        except Exception as error:
            return f"{type(error).__name__}: {error}"
    return "answered"


if __name__ == "__main__":
    for place in sys.argv[1:] or json.load(sys.stdin):
        print(json.dumps([int(place), None]), flush=True)
        print(json.dumps([int(place), fit_number(int(place))]), flush=True)
