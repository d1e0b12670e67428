"""Tasks on points: read a table, lay it out in the plane, estimate densities, cluster."""

from __future__ import annotations

import time
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evencut.affinity import scott_bandwidth, silverman_bandwidth
from evencut.points import feature_scale

from ..examples import load_points
from ..memory import memory_for_upload
from ..methods import Method, fit_labels
from ..options import Limits
from ..refusals import Refused
from ..sessions import sizes_of
from ..sheets import Reading, Sheet, read_sheet

__all__ = ["EMBEDDINGS", "agreement", "density", "example", "fit", "plane", "read", "rows_without_gaps"]

_NEIGHBORS = 10
_REFERENCE = 20_000
_TREE_DIMENSION = 12
_PCA_SAMPLE = 50_000
_LISTED = 40


def read(kept: dict[str, Any], arguments: dict[str, Any], tell: Any) -> Sheet:
    """A table from the bytes of a file."""
    tell("reading the table", None)
    limits = Limits(**arguments["limits"])
    with memory_for_upload():
        return read_sheet(arguments["data"], arguments["name"], limits, Reading(**arguments["reading"]))


def example(kept: dict[str, Any], arguments: dict[str, Any], tell: Any) -> Sheet:
    """An embedded set of points."""
    return load_points(arguments["name"])


def rows_without_gaps(table: Sheet, columns: list[str]) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """The numbers of the complete rows, and which rows these are."""
    X = table.numbers(columns)
    complete = np.ones(len(X), dtype=bool)
    for column in X.T:
        complete &= np.isfinite(column)
    # A copy of a large table is made where rows are left out only.
    return X if complete.all() else X[complete], complete


def plane(kept: dict[str, Any], arguments: dict[str, Any], tell: Any) -> dict[str, Any]:
    """Places of the points for drawing, in [-1, 1] with one scale for all axes where they are alike.

    Rows with gaps are put at NaN. The answer holds `places` (float32, the axes in turn) and, for each axis, the value
    at its middle and the value of one unit.
    """
    table: Sheet = kept[arguments["table"]]
    if isinstance(arguments["axes"], str) and arguments["axes"] in EMBEDDINGS:
        X, complete = rows_without_gaps(table, arguments["columns"])
        title, most, embed = EMBEDDINGS[arguments["axes"]]
        if len(X) > most:
            raise Refused(f"{title} is for at most {most} rows here; these are {len(X)}. Take principal components.")
        tell(title, None)
        flat = np.full((table.n_rows, 2), np.nan)
        flat[complete] = embed(_scaled(X))
        names = [f"{title} 1", f"{title} 2"]
    elif arguments["axes"] == "pca":
        X, complete = rows_without_gaps(table, arguments["columns"])
        tell("principal components", None)
        n_axes = arguments["n_axes"]
        flat = np.full((table.n_rows, n_axes), np.nan)
        flat[complete] = _leading_components(X, n_axes)
        names = [f"component {i + 1}" for i in range(n_axes)]
    else:
        names = list(arguments["axes"])
        flat = table.numbers(names).astype(np.float64)
    low, high = _range(flat)
    span = np.where(high > low, high - low, 1.0)
    # One unit for both axes keeps distances true; columns of different units each fill their own axis.
    alike = span.max() <= 8 * span.min() or len(span) > 2
    unit = np.full(len(span), span.max() / 2) if alike else span / 2
    middle = (low + high) / 2
    places = ((flat - middle) / unit).astype(np.float32)
    return {"places": places.ravel(), "middle": middle.tolist(), "unit": unit.tolist(), "names": names}


def _scaled(X: NDArray[Any]) -> NDArray[np.float64]:
    """Columns on the scale of a fit."""
    return ((X - X.mean(axis=0)) / feature_scale(X, "auto")).astype(np.float64)


def _tsne(X: NDArray[np.float64]) -> NDArray[np.float64]:
    from sklearn.manifold import TSNE

    return TSNE(perplexity=min(30.0, (len(X) - 1) / 3), init="pca", random_state=0).fit_transform(X)


def _umap(X: NDArray[np.float64]) -> NDArray[np.float64]:
    from umap import UMAP

    return UMAP(random_state=0).fit_transform(X)


#: Embeddings in the plane: what they are called, for how many rows, and the function.
EMBEDDINGS = {"tsne": ("t-SNE", 5_000, _tsne), "umap": ("UMAP", 50_000, _umap)}


def _range(flat: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    known = np.where(np.isfinite(flat), flat, np.nan)
    if not np.isfinite(known).any():
        return np.zeros(flat.shape[1]), np.zeros(flat.shape[1])
    return np.nan_to_num(np.nanmin(known, axis=0)), np.nan_to_num(np.nanmax(known, axis=0))


def _leading_components(X: NDArray[np.float64], n_axes: int) -> NDArray[np.float64]:
    """The directions of largest variance, found on a sample where there are many points."""
    if X.shape[1] < n_axes:
        thickness = 0.1 * np.ptp(X, axis=0).max() if X.shape[1] == 1 else 0.0
        jitter = np.random.default_rng(0).uniform(-1, 1, (len(X), n_axes - X.shape[1])) * thickness
        return np.column_stack([X, jitter])
    sample = X if len(X) <= _PCA_SAMPLE else X[np.random.default_rng(0).choice(len(X), _PCA_SAMPLE, replace=False)]
    sample = sample.astype(np.float64)
    # The scale of a fit and of a diagnosis: what is drawn apart is what they see apart.
    scale = feature_scale(sample, "auto")
    centre = sample.mean(axis=0)
    values, vectors = np.linalg.eigh(np.atleast_2d(np.cov(((sample - centre) / scale).T)))
    leading = vectors[:, np.argsort(values)[::-1][:n_axes]]
    # The sign of an eigenvector is arbitrary; fix it, so that the same data lie the same way.
    leading = leading * np.where(np.take_along_axis(leading, np.abs(leading).argmax(axis=0)[None], 0) < 0, -1, 1)
    # Some rows at a time: copies of a whole table would take more memory than it.
    parts = (X[begin : begin + _PCA_SAMPLE].astype(np.float64) for begin in range(0, len(X), _PCA_SAMPLE))
    return np.concatenate([((part - centre) / scale) @ leading for part in parts])


def density(kept: dict[str, Any], arguments: dict[str, Any], tell: Any) -> NDArray[np.float32]:
    """Log density of each row up to a constant, from the distance to its tenth neighbour; NaN for rows with gaps."""
    from scipy.spatial import cKDTree
    from sklearn.neighbors import NearestNeighbors

    table: Sheet = kept[arguments["table"]]
    X, complete = rows_without_gaps(table, arguments["columns"])
    tell("densities", None)
    n_neighbors = min(_NEIGHBORS, len(X) - 1)
    if X.shape[1] <= _TREE_DIMENSION:
        radius = cKDTree(X).query(X, k=[n_neighbors + 1])[0][:, 0]
    else:
        # Far from a tree's reach, distances to a sample say as much about the order of densities.
        rng = np.random.default_rng(0)
        reference = X if len(X) <= _REFERENCE else X[rng.choice(len(X), _REFERENCE, replace=False)]
        radius = NearestNeighbors(n_neighbors=n_neighbors + 1).fit(reference).kneighbors(X)[0][:, -1]
    smallest = radius[radius > 0].min(initial=1.0)
    values = np.full(table.n_rows, np.nan, dtype=np.float32)
    values[complete] = -np.log(np.maximum(radius, smallest))
    return values


def fit(kept: dict[str, Any], arguments: dict[str, Any], tell: Any) -> dict[str, Any]:
    """Cluster the complete rows: labels (-1 for the others and for noise), and what the fit tells about itself."""
    table: Sheet = kept[arguments["table"]]
    method = Method(**arguments["method"])
    X, complete = rows_without_gaps(table, arguments["columns"])
    held = arguments["held"]
    if held is not None:
        _check_held(held, method.n_clusters)
        held = held[complete]
    start = time.perf_counter()
    tell("clustering", 0.0)
    labels, model = fit_labels(method, X, held)
    seconds = time.perf_counter() - start
    found = np.full(table.n_rows, -1, dtype=np.int32)
    found[complete] = labels
    sampled = method.is_sampled(len(X))
    return {
        "labels": found,
        "values": {} if sampled else _values(model, complete),
        "facts": {
            "seconds": seconds,
            "energy": plain(getattr(model, "energy_", None)),
            **sizes_of(labels),
            "n_missing": int((~complete).sum()),
            "n_fitted": len(model.labels_) if sampled else len(X),
            "bandwidth": _bandwidth_used(method, X),
            "confidence": plain(getattr(getattr(model, "selection_", None), "confidence", None)),
            "selection": _selection(getattr(model, "selection_", None)),
            "true_agreement": _true_agreement(table, found),
        },
    }


def agreement(kept: dict[str, Any], arguments: dict[str, Any], tell: Any) -> float | None:
    """How far labels agree with the truth of an example; None where it is not known."""
    return _true_agreement(kept[arguments["table"]], arguments["labels"])


def _true_agreement(table: Sheet, labels: NDArray[np.int32]) -> float | None:
    """The adjusted Rand index."""
    from sklearn.metrics import adjusted_rand_score

    truth = next((c for c in table.columns if c.name == "true" and c.names is not None), None)
    return None if truth is None else float(adjusted_rand_score(truth.values, labels))


def _values(model: Any, complete: NDArray[np.bool_]) -> dict[str, NDArray[np.float32]]:
    """A number a row, for colours: degrees of the affinity, and probabilities where the fit knows them."""
    found = {}
    for name, attribute in (("degrees", "degrees_"), ("probability", "probabilities_")):
        given = getattr(model, attribute, None)
        if given is not None and len(given) == complete.sum():
            values = np.full(len(complete), np.nan, dtype=np.float32)
            values[complete] = given
            found[name] = values
    return found


def _check_held(held: NDArray[np.int64], n_clusters: int | str) -> None:
    """Raise unless a fit with so many clusters can keep these labels."""
    if n_clusters != "auto" and held.max() >= int(n_clusters):
        raise Refused(
            f"a correction speaks of cluster {held.max()}, but {n_clusters} clusters (0 to {int(n_clusters) - 1}) are "
            "asked for; raise the number of clusters."
        )


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
        return {str(key): plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, float):
        return value if np.isfinite(value) else None
    return value if value is None or isinstance(value, int) else str(value)
