"""What a user without fused kernels would run on a GPU: pykeops or cupy where they are, else the same idea in torch.

The idea is that of KeOps: the matrix of all pairs is reduced tile by tile and never formed.
"""

from __future__ import annotations

import importlib.util

import torch

# A tile of float32 numbers that stays in the cache of the chip.
TILE = 2048


def peer_sums(device):
    """Names of peers that multiply a Gaussian kernel of bandwidth 1, each with a function of X, Y and V."""
    yield "tiled reduction in torch", lambda X, Y, V: tiled_sums(X, Y, V, gaussian_tile)
    if importlib.util.find_spec("pykeops"):
        yield "pykeops", _keops_sums
    if importlib.util.find_spec("cupy"):
        yield "tiled reduction in cupy", _cupy_sums
    if device.type == "cuda":
        tile = torch.compile(gaussian_tile)
        yield "tiled reduction by torch.compile", lambda X, Y, V: tiled_sums(X, Y, V, tile)


def peer_neighbours():
    """The name of a peer that finds nearest points, and a function of the points, their number and the queries."""
    if importlib.util.find_spec("pykeops"):
        return "pykeops", _keops_neighbours
    return "tiled running top-k, torch", tiled_neighbours


def tiled_sums(X, Y, V, tile):
    """K(X, Y) V, one tile of the matrix at a time."""
    sums = torch.zeros(len(X), V.shape[1], device=X.device)
    for rows in range(0, len(X), TILE):
        total = sums[rows : rows + TILE]
        for columns in range(0, len(Y), TILE):
            total += tile(X[rows : rows + TILE], Y[columns : columns + TILE], V[columns : columns + TILE])
    return sums


def gaussian_tile(x, y, v):
    """One tile of the matrix, multiplied."""
    squared = (x * x).sum(dim=1)[:, None] + (y * y).sum(dim=1) - 2 * (x @ y.T)
    return torch.exp(-0.5 * squared) @ v


def tiled_neighbours(points, n_neighbors, queries):
    """Squared distances less the query's own square, and indices, by a running top-k over tiles of points."""
    best = torch.full((len(queries), n_neighbors), torch.inf, device=points.device)
    found = torch.zeros((len(queries), n_neighbors), dtype=torch.int64, device=points.device)
    n_columns = 16 * TILE
    for first in range(0, len(points), n_columns):
        some = points[first : first + n_columns]
        away = torch.addmm((some * some).sum(dim=1), queries, some.T, alpha=-2)
        near, places = torch.topk(away, min(n_neighbors, len(some)), largest=False)
        both = torch.topk(torch.cat([best, near], dim=1), n_neighbors, largest=False)
        found = torch.cat([found, places + first], dim=1).gather(1, both.indices)
        best = both.values
    return best, found


def _keops_sums(X, Y, V):
    from pykeops.torch import LazyTensor

    rows, columns = LazyTensor(X[:, None]), LazyTensor(Y[None])
    return (-0.5 * ((rows - columns) ** 2).sum(-1)).exp() @ V


def _keops_neighbours(points, n_neighbors, queries):
    from pykeops.torch import LazyTensor

    squared = ((LazyTensor(queries[:, None]) - LazyTensor(points[None])) ** 2).sum(-1)
    return squared.Kmin_argKmin(n_neighbors, dim=1)


def _cupy_sums(X, Y, V):
    import cupy

    def tile(x, y, v):
        x, y, v = (cupy.from_dlpack(part.contiguous()) for part in (x, y, v))
        squared = (x * x).sum(axis=1)[:, None] + (y * y).sum(axis=1) - 2 * (x @ y.T)
        return torch.from_dlpack(cupy.exp(-0.5 * squared) @ v)

    return tiled_sums(X, Y, V, tile)
