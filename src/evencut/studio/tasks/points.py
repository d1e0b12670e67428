"""Tasks on points: read a table, lay it out in the plane, estimate densities, cluster."""

from __future__ import annotations

import time
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evencut.affinity import scott_bandwidth, silverman_bandwidth
from evencut.points import feature_scale

from ...io.columns import Frame
from ...io.encode import prepare
from ..methods import Method, estimator, fit_labels, load_points, scaled
from ..options import Limits, RequestError
from ..pool import memory_for_upload
from ..tables import Reading, Sheet, read_sheet

_REFERENCE = 20_000
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


def points_of(kept: dict[str, Any], arguments: dict[str, Any]) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """The points that columns of a table make, and which rows these are: gaps are left out or filled as was chosen.

    Words and dates become numbers as `evencut.io.read_table` makes them; counts are log-normalised.
    """
    X, complete = _numbers_of(kept[arguments["table"]], arguments)
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
        there = np.zeros(table.n_rows, dtype=bool)
        there[points.rows] = True
        return points.values, there
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
        X, complete = points_of(kept, arguments)
        title, most, embed = EMBEDDINGS[arguments["axes"]]
        if len(X) > most:
            raise RequestError(f"{title} is for at most {most} rows; these are {len(X)}. Take principal components.")
        tell(title, None)
        flat = np.full((table.n_rows, 2), np.nan)
        flat[complete] = embed(_scaled(X))
        names = [f"{title} 1", f"{title} 2"]
    elif arguments["axes"] == "pca":
        X, complete = points_of(kept, arguments)
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
    X, complete = points_of(kept, arguments)
    tell("densities", None)
    n_neighbors = min(10, len(X) - 1)
    if X.shape[1] <= 12:
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
    X, complete = points_of(kept, arguments)
    codes, fixed = _held_codes(X, complete, arguments, method.n_clusters)
    start = time.perf_counter()
    tell("clustering", 0.0)
    labels, model = fit_labels(method, X, codes)
    seconds = time.perf_counter() - start
    found = np.full(table.n_rows, -1, dtype=np.int32)
    found[complete] = labels
    sampled = method.is_sampled(len(X))
    return {
        "labels": found,
        "held": None if codes is None else _of_all_rows(codes, complete),
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
            "true_agreement": _true_agreement(table, found, complete),
            "islands": split_islands(X, labels),
        },
    }


def agreement(kept: dict[str, Any], arguments: dict[str, Any], tell: Any) -> float | None:
    """How far labels agree with the truth of an example; None where it is not known."""
    return _true_agreement(kept[arguments["table"]], arguments["labels"], slice(None))


def _true_agreement(table: Sheet, labels: NDArray[np.int32], rows: NDArray[np.bool_] | slice) -> float | None:
    """The adjusted Rand index over some rows."""
    from sklearn.metrics import adjusted_rand_score

    truth = next((c for c in table.columns if c.name == "true" and c.names is not None), None)
    return None if truth is None else float(adjusted_rand_score(truth.values[rows], labels[rows]))


def _of_all_rows(codes: NDArray[np.int64], complete: NDArray[np.bool_]) -> NDArray[np.int64]:
    held = np.full(len(complete), -1, dtype=np.int64)
    held[complete] = codes
    return held


def split_islands(X: NDArray[Any], labels: NDArray[np.integer]) -> list[list[int]]:
    """Clusters that hold several islands: pieces of a tenth of it and more with no neighbours in common.

    Each as its label and its number of islands; on a sample where there are many rows.

    Examples
    --------
    >>> X = np.vstack([np.random.default_rng(0).normal(size=(50, 2)) + 30 * place for place in range(3)])
    >>> split_islands(X, np.repeat([0, 0, 1], 50))
    [[0, 2]]
    """
    from scipy.sparse import csgraph
    from sklearn.neighbors import kneighbors_graph

    rows = (
        np.arange(len(X)) if len(X) <= 5000 else np.sort(np.random.default_rng(0).choice(len(X), 5000, replace=False))
    )
    rows = rows[labels[rows] >= 0]
    if len(rows) < 20:
        return []
    spread = _scaled(X[rows])
    graph = kneighbors_graph(spread, min(10, len(rows) - 1))
    _, island = csgraph.connected_components(graph, directed=False)
    found = []
    for label in np.unique(labels[rows]).tolist():
        sizes = np.bincount(island[labels[rows] == label])
        n_islands = int((sizes >= max(10, 0.1 * sizes.sum())).sum())
        if n_islands > 1:
            found.append([label, n_islands])
    return found


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


def _held_codes(
    X: NDArray[Any], complete: NDArray[np.bool_], arguments: dict[str, Any], n_clusters: int | str
) -> tuple[NDArray[np.int64] | None, NDArray[np.int64]]:
    """Partial labels from 0 for a fit (-1: none), and the numbers of the clusters that they stand for.

    With a clustering of before, some rows deep inside each of its clusters are held as well, so that a correction
    moves what it speaks of and not the clusters themselves.
    """
    held, before = arguments["held"], arguments["before"]
    if held is None:
        return None, np.empty(0, dtype=np.int64)
    held = held[complete]
    if before is not None:
        for rows in _inner_rows(X, before[complete], held):
            held[rows] = before[complete][rows]
    fixed = np.unique(held[held >= 0])
    if n_clusters != "auto" and len(fixed) > int(n_clusters):
        raise RequestError(
            f"the corrections speak of {len(fixed)} clusters, but {n_clusters} are asked for; raise the number."
        )
    return np.where(held >= 0, np.searchsorted(fixed, held), -1), fixed


def _inner_rows(X: NDArray[Any], labels: NDArray[np.integer], held: NDArray[np.int64]) -> list[NDArray[np.intp]]:
    """Of each cluster up to 30 rows whose neighbours are all in it and not corrected, evenly chosen."""
    from sklearn.neighbors import NearestNeighbors

    sample = np.flatnonzero((labels >= 0) & (held < 0))
    if len(sample) > 10_000:
        sample = np.sort(np.random.default_rng(0).choice(sample, 10_000, replace=False))
    spread = X / feature_scale(X, "auto")
    near = NearestNeighbors(n_neighbors=min(8, len(X))).fit(spread).kneighbors(spread[sample])[1]
    inner = ((labels[near] == labels[sample, None]) & (held[near] < 0)).mean(axis=1)
    found = []
    for label in np.unique(labels[sample]):
        rows, depth = sample[labels[sample] == label], inner[labels[sample] == label]
        deepest = rows[depth == depth.max()]
        found.append(deepest[np.unique(np.linspace(0, len(deepest) - 1, 30).astype(int))])
    return found


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


# A Gaussian kernel of so many points is clustered in some 20 ms, which leaves room for ten pictures a second.
_SAMPLE, _ALL = 400, 500
#: In place of a sample's point: the row has gaps and follows none.
NOBODY = -1


def _kept_sample(kept: dict[str, Any], arguments: dict[str, Any]) -> tuple[NDArray[Any], NDArray[np.int16]]:
    """The sample's points, and for each row of the table the sample's point nearest to it."""
    key = (arguments["table"], tuple(arguments["columns"]), arguments.get("missing"), arguments.get("counts"))
    if kept.get("sample", (None,))[0] != key:
        X, complete = points_of(kept, arguments)
        rng = np.random.default_rng(0)
        chosen = np.arange(len(X)) if len(X) <= _ALL else np.sort(rng.choice(len(X), _SAMPLE, replace=False))
        nearest = np.full(len(complete), NOBODY, dtype=np.int16)
        nearest[complete] = _nearest(X, X[chosen])
        kept["sample"] = (key, X[chosen], nearest)
    _, some, nearest = kept["sample"]
    return some, nearest


def _nearest(X: NDArray[Any], some: NDArray[Any]) -> NDArray[np.int16]:
    """The place in `some` of the point nearest to each row, on the scale of a fit."""
    spread = feature_scale(some, "auto")
    if X.shape[1] <= 16:
        from scipy.spatial import cKDTree

        return cKDTree(some / spread).query(X / spread)[1].astype(np.int16)
    from sklearn.metrics import pairwise_distances_argmin

    return pairwise_distances_argmin(X / spread, some / spread).astype(np.int16)


def sample(kept: dict[str, Any], arguments: dict[str, Any], tell: Any) -> NDArray[np.int16]:
    """For each row, the place of the sample's point it follows."""
    return _kept_sample(kept, arguments)[1]


def preview(kept: dict[str, Any], arguments: dict[str, Any], tell: Any) -> NDArray[np.int32]:
    """Labels of the sample by a method."""
    some, _ = _kept_sample(kept, arguments)
    method = Method(**arguments["method"])
    model = estimator(method)
    if method.tool == "kernel":
        # A third of the time, and energies within a thousandth of the best of all solvers.
        model.set_params(solver="multilevel", n_init=1)
    return np.asarray(model.fit(scaled(method, some)).labels_, dtype=np.int32)


def neighbors(kept: dict[str, Any], arguments: dict[str, Any], tell: Any) -> list[int]:
    """The rows nearest to one row, nearest first; none where it has gaps."""
    X, complete = points_of(kept, arguments)
    if not complete[arguments["row"]]:
        return []
    rows = np.flatnonzero(complete)
    scaled = X / feature_scale(X, "auto")
    far = ((scaled - scaled[np.searchsorted(rows, arguments["row"])]) ** 2).sum(axis=1)
    order = np.argsort(far, kind="stable")[:9]
    return [int(row) for row in rows[order] if row != arguments["row"]][:8]
