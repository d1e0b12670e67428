"""Tasks on points: read a table, cluster it, and answer while the user moves."""

from __future__ import annotations

import time
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evencut.affinity import scott_bandwidth, silverman_bandwidth
from evencut.neighbors import kneighbors, neighbor_graph
from evencut.points import feature_scale

from ..._runtime import on_progress
from ...io.columns import Frame
from ...io.encode import prepare
from ..methods import Method, estimator, fit_labels, load_points, scaled
from ..options import RequestError
from ..pool import memory_for_upload
from ..sessions import keep_numbers
from ..tables import Sheet, read_sheet

_LISTED = 40
_SAMPLED = 5_000


def read(store: dict[str, Any], arguments: dict[str, Any], tell: Any) -> Sheet:
    """A table from the bytes of a file."""
    tell("reading the table", None)
    with memory_for_upload():
        return read_sheet(arguments["data"], arguments["name"], arguments["limits"], arguments["reading"])


def example(store: dict[str, Any], arguments: dict[str, Any], tell: Any) -> Sheet:
    """An embedded set of points."""
    return load_points(arguments["name"])


def points_of(store: dict[str, Any], arguments: dict[str, Any]) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """The points that columns of a table make, and which rows these are: gaps are left out or filled as was chosen.

    Words and dates become numbers as `evencut.io.read_table` makes them; counts are log-normalised.
    """
    X, complete = _numbers_of(store[arguments["table"]], arguments)
    if not arguments.get("counts"):
        return X, complete
    if X.min(initial=0.0) < 0:
        raise RequestError(f"counts are 0 and more, and these columns hold {X.min():.3g}; do not log-normalise them.")
    totals = X.sum(axis=1, keepdims=True)
    return np.log1p(X / np.where(totals > 0, totals, 1) * np.median(totals)), complete


def _numbers_of(table: Sheet, arguments: dict[str, Any]) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    columns, missing = arguments["columns"], arguments.get("missing", "drop")
    if missing != "drop" or any(table.column(name).holds != "numbers" for name in columns):
        frame = Frame(table.source["name"], [table.column(name).as_read() for name in columns])
        points = prepare(frame, missing)
        complete = np.zeros(table.n_rows, dtype=bool)
        complete[points.rows] = True
        return points.values, complete
    X = table.numbers(columns)
    complete = np.ones(len(X), dtype=bool)
    for column in X.T:
        complete &= np.isfinite(column)
    # A copy of a large table is made where rows are left out only.
    return X if complete.all() else X[complete], complete


def fit(store: dict[str, Any], arguments: dict[str, Any], tell: Any) -> dict[str, Any]:
    """Cluster the complete rows: labels (-1 for the others and for noise), and what the fit tells about itself."""
    table: Sheet = store[arguments["table"]]
    method = Method(**arguments["method"])
    X, complete = points_of(store, arguments)
    codes, fixed = _held_codes(X, complete, arguments, method.n_clusters)
    positions = arguments.get("places")
    start = time.perf_counter()
    tell("clustering", 0.0)
    with on_progress(lambda name, number, total: tell(name, (number - 1) / total)):
        labels, model = fit_labels(method, X, codes)
    seconds = time.perf_counter() - start
    all_labels = on_all_rows(labels.astype(np.int32), complete, -1)
    sampled = method.is_sampled(len(X))
    return {
        "labels": all_labels,
        "held": None if codes is None else on_all_rows(codes, complete, -1),
        "fixed": fixed.tolist(),
        "values": {} if sampled else _values(model, complete),
        "facts": {
            "seconds": seconds,
            "energy": plain(getattr(model, "energy_", None)),
            "n_missing": int((~complete).sum()),
            "n_fitted": len(model.labels_) if sampled else len(X),
            "bandwidth": _bandwidth_used(method, X),
            "confidence": plain(getattr(getattr(model, "selection_", None), "confidence", None)),
            "selection": _selection(getattr(model, "selection_", None)),
            "true_agreement": _true_agreement(table, all_labels, complete),
            # Where there is a map, islands are those that it shows.
            "islands": split_islands(X if positions is None else positions[complete], labels),
        },
    }


def agreement(store: dict[str, Any], arguments: dict[str, Any], tell: Any) -> float | None:
    """How far labels agree with the truth of an example; None where it is not known."""
    return _true_agreement(store[arguments["table"]], arguments["labels"], slice(None))


def _true_agreement(table: Sheet, labels: NDArray[np.int32], rows: NDArray[np.bool_] | slice) -> float | None:
    """The adjusted Rand index over some rows."""
    from sklearn.metrics import adjusted_rand_score

    truth = next((c for c in table.columns if c.name == "true" and c.names is not None), None)
    return None if truth is None else float(adjusted_rand_score(truth.values[rows], labels[rows]))


def on_all_rows(values: NDArray[Any], complete: NDArray[np.bool_], gap: float) -> NDArray[Any]:
    """Values of the complete rows on all rows, a mark on those with gaps."""
    spread = np.full(len(complete), gap, dtype=values.dtype)
    spread[complete] = values
    return spread


def split_islands(X: NDArray[Any], labels: NDArray[np.integer]) -> list[list[int]]:
    """Clusters that hold several islands: pieces of a tenth of it and more without common neighbours.

    Each as its label and its number of islands; on a sample where there are many rows.

    Examples
    --------
    >>> X = np.vstack([np.random.default_rng(0).normal(size=(50, 2)) + 30 * place for place in range(3)])
    >>> split_islands(X, np.repeat([0, 0, 1], 50))
    [[0, 2]]
    """
    from scipy.sparse.csgraph import connected_components

    rows = np.flatnonzero(labels >= 0)
    if len(rows) > _SAMPLED:
        rows = np.sort(np.random.default_rng(0).choice(rows, _SAMPLED, replace=False))
    # Copies of one row would be each other's only neighbours.
    different, place = np.unique(X[rows], axis=0, return_inverse=True)
    if len(different) < 20:
        return []
    neighbors = kneighbors(different / feature_scale(different, "auto"), 11)[1]
    island = connected_components(neighbor_graph(neighbors, "union"), directed=False)[1][place.ravel()]
    split = []
    for label in np.unique(labels[rows]).tolist():
        sizes = np.bincount(island[labels[rows] == label])
        n_islands = int((sizes >= max(10, 0.1 * sizes.sum())).sum())
        if n_islands > 1:
            split.append([label, n_islands])
    return split


def _values(model: Any, complete: NDArray[np.bool_]) -> dict[str, NDArray[np.float32]]:
    """A number a row, for colours: degrees of the affinity, and probabilities where the fit knows them."""
    known = {"degrees": getattr(model, "degrees_", None), "probability": getattr(model, "probabilities_", None)}
    return {
        name: on_all_rows(np.asarray(values, dtype=np.float32), complete, np.nan)
        for name, values in known.items()
        if values is not None and len(values) == complete.sum()
    }


def _held_codes(
    X: NDArray[Any], complete: NDArray[np.bool_], arguments: dict[str, Any], n_clusters: int | str
) -> tuple[NDArray[np.int64] | None, NDArray[np.int64]]:
    """Partial labels from 0 for a fit (-1: none), and the numbers of the clusters that they stand for.

    With a clustering of before, some rows deep inside each of its clusters are held as well, so that a correction
    moves what it speaks of and not the clusters themselves.
    """
    held, earlier = arguments["held"], arguments["before"]
    if held is None:
        return None, np.empty(0, dtype=np.int64)
    held = held[complete]
    if earlier is not None:
        for rows in _inner_rows(X, earlier[complete], held):
            held[rows] = earlier[complete][rows]
    fixed = np.unique(held[held >= 0])
    if n_clusters != "auto" and len(fixed) > int(n_clusters):
        raise RequestError(
            f"the corrections speak of {len(fixed)} clusters, but {n_clusters} are requested; raise the number."
        )
    return np.where(held >= 0, np.searchsorted(fixed, held), -1), fixed


def _inner_rows(X: NDArray[Any], labels: NDArray[np.integer], held: NDArray[np.int64]) -> list[NDArray[np.intp]]:
    """Of each cluster up to 30 rows whose neighbours are all in it and not corrected, evenly chosen."""
    sample = np.flatnonzero((labels >= 0) & (held < 0))
    if len(sample) > 2 * _SAMPLED:
        sample = np.sort(np.random.default_rng(0).choice(sample, 2 * _SAMPLED, replace=False))
    spread = X / feature_scale(X, "auto")
    neighbors = kneighbors(spread, min(8, len(X)), at=spread[sample])[1]
    inner = ((labels[neighbors] == labels[sample, None]) & (held[neighbors] < 0)).mean(axis=1)
    inner_rows = []
    for label in np.unique(labels[sample]):
        rows, depth = sample[labels[sample] == label], inner[labels[sample] == label]
        deepest = rows[depth == depth.max()]
        inner_rows.append(deepest[np.unique(np.linspace(0, len(deepest) - 1, 30).astype(int))])
    return inner_rows


def _bandwidth_used(method: Method, X: NDArray[np.float64]) -> float | None:
    """The mean sigma of a Gaussian kernel, so that the slider can stand where a rule has put it."""
    if method.tool != "kernel" or method.kernel != "gaussian":
        return None
    bandwidth = method.parameters.get("bandwidth", "scott")
    rules = {"scott": scott_bandwidth, "silverman": silverman_bandwidth}
    if isinstance(bandwidth, str):
        return float(np.mean(rules[bandwidth](X))) if bandwidth in rules else None
    return bandwidth


def _selection(selection: Any) -> list[dict[str, Any]]:
    """The tables of what an automatic choice has compared, whatever its columns are."""
    tables = []
    for name in ("candidates", "numbers"):
        rows = [_fields(row) for row in (getattr(selection, name, None) or ())[:_LISTED]]
        consensus = getattr(selection, "consensus", ()) if name == "candidates" else ()
        shares = [{"consensus": plain(share)} for share in consensus] + [{}] * len(rows)
        rows = [row | share for row, share in zip(rows, shares) if row]
        if rows:
            tables.append({"name": name, "columns": list(rows[0]), "rows": [list(row.values()) for row in rows]})
    return tables


def _fields(row: Any) -> dict[str, Any]:
    """The fields of a record (a dataclass or a named tuple) that are words or finite numbers."""
    names = [field.name for field in fields(row)] if is_dataclass(row) else row._fields
    values = {name: getattr(row, name) for name in names}
    simple = (str, int, float, np.number, type(None))
    return {name: plain(value) for name, value in values.items() if isinstance(value, simple)}


def plain(value: Any) -> Any:
    """Plain Python types, with None for what JSON cannot say."""
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, float):
        return value if np.isfinite(value) else None
    return value if value is None or isinstance(value, int) else str(value)


# A Gaussian kernel of so many points is clustered in some 20 ms, which leaves room for ten pictures a second.
_SAMPLE, _ALL = 400, 500
#: In place of a sample's point: the row has gaps and follows none.
NOBODY = -1


def _kept_sample(store: dict[str, Any], arguments: dict[str, Any]) -> tuple[NDArray[Any], NDArray[np.int16]]:
    """The sample's points, and for each row of the table the sample's point nearest to it."""
    key = (arguments["table"], tuple(arguments["columns"]), arguments.get("missing"), arguments.get("counts"))
    if store.get("sample", (None,))[0] != key:
        X, complete = points_of(store, arguments)
        rng = np.random.default_rng(0)
        chosen = np.arange(len(X)) if len(X) <= _ALL else np.sort(rng.choice(len(X), _SAMPLE, replace=False))
        nearest = np.full(len(complete), NOBODY, dtype=np.int16)
        scale = feature_scale(X[chosen], "auto")
        nearest[complete] = kneighbors(X[chosen] / scale, 1, at=X / scale)[1][:, 0]
        store["sample"] = (key, X[chosen], nearest)
    _, some, nearest = store["sample"]
    return some, nearest


def sample(store: dict[str, Any], arguments: dict[str, Any], tell: Any) -> NDArray[np.int16]:
    """For each row, the place of the sample's point it follows."""
    return _kept_sample(store, arguments)[1]


def preview(store: dict[str, Any], arguments: dict[str, Any], tell: Any) -> NDArray[np.int32]:
    """Labels of the sample by a method; clusters that continue those of `before` keep their numbers."""
    some, _ = _kept_sample(store, arguments)
    method = Method(**arguments["method"])
    model = estimator(method)
    if method.tool == "kernel":
        # A third of the time, and energies within a thousandth of the best of all solvers.
        model.set_params(solver="multilevel", n_init=1)
    labels = np.asarray(model.fit(scaled(method, some)).labels_, dtype=np.int32)
    earlier = np.array(arguments["before"], dtype=np.int32)
    numbers = keep_numbers(labels, [earlier] if len(earlier) == len(labels) else [])
    return np.append(numbers, -1)[labels].astype(np.int32)


def neighbors(store: dict[str, Any], arguments: dict[str, Any], tell: Any) -> list[int]:
    """The rows nearest to one row, nearest first; none where it has gaps."""
    X, complete = points_of(store, arguments)
    rows, row = np.flatnonzero(complete), arguments["row"]
    if not complete[row]:
        return []
    spread = X / feature_scale(X, "auto")
    nearest = kneighbors(spread, min(9, len(X)), at=spread[[np.searchsorted(rows, row)]], method="exact")[1][0]
    return [int(other) for other in rows[nearest] if other != row][:8]
