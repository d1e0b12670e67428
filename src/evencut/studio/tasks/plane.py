"""Where points are drawn: along columns, along principal components, or on a map that keeps neighbours together."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from evencut.neighbors import kneighbors
from evencut.points import feature_scale

from ..options import RequestError
from ..tables import Sheet
from .points import on_all_rows, points_of

Floats = NDArray[np.floating]

_PCA_SAMPLE = 50_000
_MAPPED, _COMPONENTS, _NEIGHBORS, _STEPS, _PUSHED = 4_000, 50, 15, 200, 5


def plane(store: dict[str, Any], arguments: dict[str, Any], tell: Any) -> dict[str, Any]:
    """Places of the points for drawing, in [-1, 1] with one scale for all axes where they are alike.

    Rows with gaps are put at NaN. The answer holds `places` (float32, the axes in turn) and, for each axis, the value
    at its middle and the value of one unit.
    """
    table: Sheet = store[arguments["table"]]
    axes, n_axes = arguments["axes"], arguments.get("n_axes", 2)
    if isinstance(axes, str):
        X, complete = points_of(store, arguments)
        title, limit, project = PROJECTIONS[axes]
        if len(X) > limit:
            raise RequestError(f"{title} is for at most {limit} rows; these are {len(X)}. Take the map.")
        tell("reading the columns", None)
        flat = np.full((table.n_rows, n_axes), np.nan)
        flat[complete] = project(X, n_axes, tell)
        names = [f"{title} {i + 1}" for i in range(n_axes)]
    else:
        names = list(axes)
        flat = table.numbers(names).astype(np.float64)
    known = np.where(np.isfinite(flat), flat, np.nan)
    low, high = np.nan_to_num(np.fmin.reduce(known)), np.nan_to_num(np.fmax.reduce(known))
    span = np.where(high > low, high - low, 1.0)
    # One unit for both axes keeps distances true; columns of different units each fill their own axis.
    equal_units = span.max() <= 8 * span.min() or len(span) > 2
    unit = np.full(len(span), span.max() / 2) if equal_units else span / 2
    middle = (low + high) / 2
    positions = ((flat - middle) / unit).astype(np.float32)
    return {"places": positions.ravel(), "middle": middle.tolist(), "unit": unit.tolist(), "names": names}


def _components(X: Floats, n_axes: int, tell: Any = None) -> Floats:
    """The directions of largest variance, estimated on a sample if there are many points."""
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
    blocks = (X[begin : begin + _PCA_SAMPLE].astype(np.float64) for begin in range(0, len(X), _PCA_SAMPLE))
    return np.concatenate([((block - centre) / scale) @ leading for block in blocks])


def _map(X: Floats, n_axes: int, tell: Any) -> Floats:
    """A map of a sample; the other points lie between the three of it that are nearest to them."""
    rows = _components(X, min(_COMPONENTS, X.shape[1]))
    if len(rows) <= _MAPPED:
        return map_of(rows, n_axes, tell)
    sample = np.sort(np.random.default_rng(0).choice(len(rows), _MAPPED, replace=False))
    positions = map_of(rows[sample], n_axes, tell)
    tell("placing the other rows", None)
    distances, neighbors = kneighbors(rows[sample], 3, at=rows)
    weights = 1 / np.maximum(distances, 1e-12 * max(float(distances.max()), 1e-12))
    return np.einsum("ij,ijk->ik", weights / weights.sum(axis=1, keepdims=True), positions[neighbors])


def map_of(rows: Floats, n_axes: int = 2, tell: Any = lambda *step: None) -> Floats:
    """Places at which neighbours are near each other: they attract, random others repel, as in UMAP.

    Examples
    --------
    >>> rows = np.random.default_rng(0).normal(size=(60, 5)) + 20 * (np.arange(60) % 2)[:, None]
    >>> places = map_of(rows)
    >>> bool(abs(places[::2].mean(axis=0) - places[1::2].mean(axis=0)).max() > 3 * places[::2].std())
    True
    """
    rng, n = np.random.default_rng(0), len(rows)
    if n < 3:
        return np.zeros((n, n_axes)) + np.arange(n)[:, None]
    distances, neighbors = kneighbors(rows, min(_NEIGHBORS + 1, n))
    beyond = distances[:, 1:] - distances[:, 1:2]
    weights = np.exp(-beyond / np.maximum(beyond.mean(axis=1, keepdims=True), 1e-12)).ravel()
    first, second = np.repeat(np.arange(n), neighbors.shape[1] - 1), neighbors[:, 1:].ravel()
    first, second = np.concatenate([first, second]), np.concatenate([second, first])
    weights = np.concatenate([weights, weights])
    degrees = np.bincount(first, weights, n)[:, None]
    positions = _components(rows, n_axes)
    positions = 3 * positions / max(float(positions.std()), 1e-12)
    for step in range(_STEPS):
        if step % 10 == 0:
            tell("placing the rows", step / _STEPS)
        apart = positions[first] - positions[second]
        pull = apart * (-2 * weights / (1 + (apart**2).sum(axis=1)))[:, None]
        pulled = np.column_stack([np.bincount(first, axis, n) for axis in pull.T]) / degrees
        apart = positions[:, None] - positions[rng.integers(0, n, (n, _PUSHED))]
        squared = (apart**2).sum(axis=2, keepdims=True)
        pushed = np.clip(2 * apart / ((0.01 + squared) * (1 + squared)), -4, 4).mean(axis=1)
        positions = positions + (1 - step / _STEPS) * np.clip(pulled + pushed, -4, 4)
    return positions


def _tsne(X: Floats, n_axes: int, tell: Any) -> Floats:
    from sklearn.manifold import TSNE

    perplexity = min(30.0, (len(X) - 1) / 3)
    return TSNE(n_axes, perplexity=perplexity, init="pca", random_state=0).fit_transform(_centred(X))


def _umap(X: Floats, n_axes: int, tell: Any) -> Floats:
    from umap import UMAP

    return UMAP(n_components=n_axes, random_state=0).fit_transform(_centred(X))


def _centred(X: Floats) -> Floats:
    """Columns on the scale of a fit."""
    return ((X - X.mean(axis=0)) / feature_scale(X, "auto")).astype(np.float64)


#: Projections: title, largest number of rows, and function.
PROJECTIONS = {
    "pca": ("component", np.inf, _components),
    "map": ("map", np.inf, _map),
    "tsne": ("t-SNE", 5_000, _tsne),
    "umap": ("UMAP", 50_000, _umap),
}


def density(store: dict[str, Any], arguments: dict[str, Any], tell: Any) -> NDArray[np.float32]:
    """Log density of each row up to a constant, from the distance to its tenth neighbour; NaN for rows with gaps."""
    X, complete = points_of(store, arguments)
    radius = kneighbors(X, min(11, len(X)))[0][:, -1]
    smallest = radius[radius > 0].min(initial=1.0)
    return on_all_rows(-np.log(np.maximum(radius, smallest)).astype(np.float32), complete, np.nan)
