r"""Exact nearest neighbours: rough distances choose the candidates, exact ones rank them, and a bound proves it.

The fused kernel writes only the least rough distance of every 32 points. The K nearest points lie in the K groups
with the least minima, and a few more for rounding; their points are compared again by differences. Rough distances
are those between points rounded to fp16, so by the triangle inequality they are off by no more than the two
roundings. Rows for which that does not prove the result are searched again, among more groups, then with points of 22
bits, and in the end in float64.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import torch
from torch import Tensor

from . import naive
from .arrays import (
    DEEPEST,
    block_rows,
    check_tensor,
    halves,
    is_fused,
    launch_options,
    padded,
    power_of_two,
    same_device,
    split_operands,
    tile_width,
)

_GROUP = 32
_SUPER = 32
# Neighbours ranked in float64 beyond the K wanted.
_QUERY_UNIT = 256
_ROUNDED_AT_ONCE = 1 << 17
# Up to this many features, split operands fit in one tile: nearly float32 at the same cost.
_MOST_SPLIT = DEEPEST // 3


class _Attempt(NamedTuple):
    """A way of searching: points as one fp16 number or two, groups looked at beyond the K needed, and for how many.

    An attempt that changes little is left out where more than its share of the rows has no proof yet.
    """

    split: bool
    spare: int
    most: float = 1.0


# Among few points the products cost next to nothing and the ranking nearly all, so that little is ranked at first.
_FEW_POINTS = 1 << 15
_FIRST_AMONG_FEW = 2
_NARROW_ATTEMPTS = (_Attempt(True, 8), _Attempt(True, 48))
_WIDE_ATTEMPTS = (_Attempt(False, 8), _Attempt(False, 48, 0.25), _Attempt(True, 16), _Attempt(True, 64, 0.25))


class SearchTiles(NamedTuple):
    """Queries and points of a tile, the warps that share it, the loads that run ahead, and one flat loop or two."""

    rows: int
    columns: int
    warps: int
    stages: int
    flat: bool


#: Tiles for points of up to 64 features, and of more.
NARROW = SearchTiles(128, 128, 8, 3, True)
WIDE = SearchTiles(128, 256, 8, 3, False)


@dataclass(frozen=True, eq=False)
class _Rough:
    """Points rounded for the matrix units, and what the rounding cost."""

    points: Tensor
    half_norms: Tensor
    norms: Tensor
    lost: Tensor
    is_split: bool

    @cached_property
    def sorted_norms(self) -> Tensor:
        """The least that the norms can have been before rounding, in rising order."""
        return (self.norms - self.lost).sort().values

    @cached_property
    def worst_lost(self) -> Tensor:
        """The most that rounding took of any point up to that place in the order of norms."""
        return self.lost[(self.norms - self.lost).argsort()].cummax(dim=0).values


def nearest(
    X: Tensor, n_neighbors: int, queries: Tensor | None = None, *, tiles: SearchTiles | None = None
) -> tuple[Tensor, Tensor]:
    """Distances (float64) and indices (int64) of the nearest points of X, nearest first.

    Parameters
    ----------
    X : Tensor of shape (n, n_features)
    n_neighbors : int
        At most n.
    queries : Tensor of shape (m, n_features), optional
        X by default; a point then counts among its own neighbours, but need not come first where others coincide.
    tiles : SearchTiles, optional
        How the fused kernel is cut; chosen by the number of features without it.

    Examples
    --------
    >>> import torch
    >>> distances, indices = nearest(torch.tensor([[0.0], [1.0], [3.0]]), 2)
    >>> indices
    tensor([[0, 1],
            [1, 0],
            [2, 1]])
    """
    X = check_tensor(X)
    at = X if queries is None else check_tensor(queries, "queries").to(X.dtype)
    same_device(X=X, queries=at)
    if at.shape[1] != X.shape[1]:
        raise ValueError(f"queries have {at.shape[1]} features, but the points have {X.shape[1]}.")
    if not 1 <= n_neighbors <= len(X):
        raise ValueError(f"n_neighbors={n_neighbors} must be between 1 and the number of points, {len(X)}.")
    if not is_fused(X):
        return naive.nearest(X, n_neighbors, at)
    return _search(X, at, n_neighbors, tiles)


def nearest_to_points(X: Tensor, n_neighbors: int) -> tuple[Tensor, Tensor]:
    """Neighbours of the points themselves, each point first among its own, also where others coincide.

    Examples
    --------
    >>> import torch
    >>> nearest_to_points(torch.zeros(3, 1), 2)[1][:, 0]
    tensor([0, 1, 2])
    """
    distances, indices = nearest(X, min(n_neighbors, len(X)))
    own = torch.arange(len(X), device=X.device)
    is_own = indices == own[:, None]
    position = torch.where(is_own.any(dim=1), is_own.int().argmax(dim=1), indices.shape[1] - 1)[:, None]
    for table in (distances, indices):
        table.scatter_(1, position, table[:, :1].clone())
    indices[:, 0] = own
    distances[:, 0] = 0.0
    return distances, indices


def pair_distances(X: Tensor, Y: Tensor, left: Tensor, right: Tensor) -> Tensor:
    """Squared distances of the rows of X at `left` to those of Y at `right`, in float64.

    Examples
    --------
    >>> import torch
    >>> x = torch.tensor([[0.0], [2.0]])
    >>> pair_distances(x, x, torch.tensor([0]), torch.tensor([1]))
    tensor([4.], dtype=torch.float64)
    """
    if not is_fused(X):
        return naive.pair_distances(X, Y, left, right)
    from ._triton import pair_distances as fused

    squared = torch.empty(len(left), dtype=torch.float64, device=X.device)
    options = {"BLOCK_PAIRS": 16, "BLOCK_WIDTH": min(64, tile_width(X.shape[1])), **launch_options(X, 4, 2)}
    fused[(-(-len(left) // 16),)](
        X, Y, left, right, squared, len(left), X.shape[1], X.stride(0), Y.stride(0), **options
    )
    return squared


def _search(X: Tensor, at: Tensor, n_neighbors: int, tiles: SearchTiles | None) -> tuple[Tensor, Tensor]:
    """Attempts of rising cost, each for the rows that those before have not proved."""
    centre = X.mean(dim=0, dtype=torch.float64)
    largest = max(float((points - centre.to(points.dtype)).abs().max()) for points in _pieces(X, at))
    scale = power_of_two(largest, 1024.0)
    distances = torch.empty((len(at), n_neighbors), dtype=torch.float64, device=X.device)
    indices = torch.empty((len(at), n_neighbors), dtype=torch.int64, device=X.device)
    left: Tensor | None = None
    points: _Rough | None = None
    for attempt in _attempts(*X.shape):
        n_left = len(at) if left is None else len(left)
        if n_left > attempt.most * len(at):
            continue
        if points is None or points.is_split != attempt.split:
            n_super = -(-len(X) // (_GROUP * _SUPER))
            points = _rough(X, centre, scale, n_super * _GROUP * _SUPER, split=attempt.split, left=False)
        queries = at if left is None else at[left]
        result = _attempt(X, queries, points, (centre, scale), n_neighbors, attempt.spare, tiles)
        rows: Tensor | slice = slice(None) if left is None else left
        distances[rows], indices[rows], is_unsure = result
        unsure = is_unsure.nonzero()[:, 0]
        left = unsure if left is None else left[unsure]
        if not len(left):
            return distances, indices
    assert left is not None
    distances[left], indices[left] = naive.nearest(X, n_neighbors, at[left])
    return distances, indices


def _attempts(n_points: int, n_features: int) -> tuple[_Attempt, ...]:
    usual = _NARROW_ATTEMPTS if n_features <= _MOST_SPLIT else _WIDE_ATTEMPTS
    return (usual[0]._replace(spare=_FIRST_AMONG_FEW), *usual) if n_points <= _FEW_POINTS else usual


def _attempt(
    X: Tensor, at: Tensor, points: _Rough, units: tuple[Tensor, float], n_neighbors: int, spare: int,
    tiles: SearchTiles | None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Distances and indices found among the groups with the least minima, and the rows that they are not proved for."""
    tiles = tiles or (NARROW if points.points.shape[1] <= DEEPEST else WIDE)
    distances = torch.empty((len(at), n_neighbors), dtype=torch.float64, device=X.device)
    indices = torch.empty((len(at), n_neighbors), dtype=torch.int64, device=X.device)
    unsure = torch.empty(len(at), dtype=torch.bool, device=X.device)
    n_super = len(points.points) // (_GROUP * _SUPER)
    n_kept = n_neighbors + spare
    bytes_per_row = 4 * n_super * (_SUPER + 1) + n_kept * _GROUP * 40 + 2 * points.points.shape[1] + 24 * X.shape[1]
    step = block_rows(
        len(at), bytes_per_row, X.device, unit=_QUERY_UNIT, most=1 << 15, what="a search for neighbours"
    )
    for first in range(0, len(at), step):
        rows = slice(first, first + step)
        n_rows = -(-len(at[rows]) // _QUERY_UNIT) * _QUERY_UNIT
        queries = _rough(at[rows], *units, n_rows, split=points.is_split, left=True)
        groups, beyond = _least_groups(*_minima(queries, points, tiles), len(at[rows]), n_kept)
        indices[rows], squared = _rank(X, at[rows], groups, n_neighbors)
        distances[rows] = squared.sqrt()
        unsure[rows] = _unproved(queries, points, beyond, distances[rows, -1] * units[1], len(at[rows]))
    return distances, indices, unsure


def _pieces(X: Tensor, at: Tensor) -> tuple[Tensor, ...]:
    return (X,) if at is X else (X, at)


def _rough(points: Tensor, centre: Tensor, scale: float, n_rows: int, *, split: bool, left: bool) -> _Rough:
    """Operands of one side; padding is infinitely far."""
    n_features = points.shape[1]
    width = tile_width(3 * n_features if split else n_features)
    operand = torch.zeros((n_rows, width), dtype=torch.float16, device=points.device)
    half_norms, lost = torch.empty((2, len(points)), dtype=torch.float64, device=points.device)
    for first in range(0, len(points), _ROUNDED_AT_ONCE):
        rows = slice(first, min(first + _ROUNDED_AT_ONCE, len(points)))
        exact = (points[rows].double() - centre) * scale
        if split:
            high, low = halves(exact)
            rounded = high.double() + low.double()
            operand[rows] = split_operands(exact, len(exact), left=left)
        else:
            half = exact.to(torch.float16)
            rounded = half.double()
            operand[rows, :n_features] = half
        half_norms[rows] = 0.5 * (rounded * rounded).sum(dim=1)
        lost[rows] = torch.linalg.vector_norm(exact - rounded, dim=1)
    return _Rough(operand, padded(half_norms.float(), n_rows, float("inf")), (2 * half_norms).sqrt(), lost, split)


def _minima(queries: _Rough, points: _Rough, tiles: SearchTiles) -> tuple[Tensor, Tensor]:
    """Least rough half distances of each query, less half its squared norm, over groups and over super groups."""
    from ._triton import group_minima

    n_rows, width = queries.points.shape
    n_super = len(points.points) // (_GROUP * _SUPER)
    device = queries.points.device
    minima = torch.empty((n_rows, n_super, _SUPER), dtype=torch.float32, device=device)
    super_minima = torch.empty((n_rows, n_super), dtype=torch.float32, device=device)
    group_minima[(n_rows // tiles.rows, n_super)](
        queries.points, points.points, points.half_norms, minima, super_minima, n_super, WIDTH=width,
        BLOCK_ROWS=tiles.rows, BLOCK_COLUMNS=tiles.columns, BLOCK_WIDTH=min(width, DEEPEST), GROUP=_GROUP, SUPER=_SUPER,
        FLAT=tiles.flat, **launch_options(queries.points, tiles.warps, tiles.stages),
    )  # fmt: skip
    return minima, super_minima


def _least_groups(minima: Tensor, super_minima: Tensor, n_queries: int, n_kept: int) -> tuple[Tensor, Tensor]:
    """For each query the groups with the least minima, and the least minimum outside of them."""
    minima, super_minima = minima[:n_queries], super_minima[:n_queries]
    n_wide = min(n_kept, super_minima.shape[1])
    wide, beyond = _least(super_minima, n_wide)
    inside = minima.gather(1, wide[:, :, None].expand(-1, -1, _SUPER)).reshape(n_queries, n_wide * _SUPER)
    n_groups = min(n_kept + n_kept % 2, n_wide * _SUPER)
    chosen, left_out = _least(inside, n_groups)
    groups = wide.gather(1, chosen // _SUPER) * _SUPER + chosen % _SUPER
    return groups.to(torch.int32), torch.minimum(beyond, left_out)


def _least(table: Tensor, n_kept: int) -> tuple[Tensor, Tensor]:
    """Columns of the least entries of each row, and the least entry not among them (infinite where all are)."""
    n_asked = min(n_kept + 1, table.shape[1])
    values, columns = torch.topk(table, n_asked, dim=1, largest=False)
    if n_asked == n_kept:
        return columns, torch.full_like(values[:, 0], float("inf"))
    return columns[:, :n_kept], values[:, n_kept]


def _rank(X: Tensor, at: Tensor, groups: Tensor, n_neighbors: int) -> tuple[Tensor, Tensor]:
    """Indices and squared distances of the nearest points of the groups, by differences, the last step in float64."""
    from ._triton import candidate_distances

    n_queries, n_groups = groups.shape
    approximate = torch.empty((n_queries, n_groups * _GROUP), dtype=X.dtype, device=X.device)
    options = {"N_GROUPS": n_groups, "GROUP": _GROUP, "GROUPS_AT_ONCE": 2}
    width = min(64, tile_width(X.shape[1]))
    candidate_distances[(n_queries, n_groups // 2)](
        at, X, groups, approximate, len(X), X.shape[1], at.stride(0), X.stride(0),
        **options, BLOCK_WIDTH=width, **launch_options(X, 2, 2),
    )  # fmt: skip
    # A few more are ranked in float64 than are needed.
    n_ranked = min(n_neighbors + 4, n_groups * _GROUP, len(X))
    columns = torch.topk(approximate, n_ranked, dim=1, largest=False).indices
    candidates = groups.gather(1, columns // _GROUP).long() * _GROUP + columns % _GROUP
    # In order of their numbers, so that a stable sort breaks ties by number.
    candidates = candidates.sort(dim=1).values
    rows = torch.arange(n_queries, device=X.device).repeat_interleave(n_ranked)
    exact = pair_distances(at, X, rows, candidates.reshape(-1)).reshape(n_queries, n_ranked)
    squared, order = torch.sort(exact, dim=1, stable=True)
    return candidates.gather(1, order[:, :n_neighbors]), squared[:, :n_neighbors]


def _unproved(queries: _Rough, points: _Rough, beyond: Tensor, reach: Tensor, n_queries: int) -> Tensor:
    """Rows where a point outside the chosen groups might be as near as the K-th neighbour found, at `reach`."""
    norms, lost = queries.norms[:n_queries], queries.lost[:n_queries]
    # All points that near are at most this far from the centre, and the worst rounding among such points is known.
    farthest = norms + lost + reach
    by_norm = torch.searchsorted(points.sorted_norms, farthest, right=True) - 1
    theirs = torch.where(by_norm >= 0, points.worst_lost[by_norm.clamp(min=0)], 0.0)
    # Products are summed in float32, cut off rather than rounded, in steps of 16 features; no partial sum of products
    # is larger than the product of the norms. Halves of squared norms are rounded once, and added once.
    n_steps = queries.points.shape[1] // 16 + 4
    doubt = n_steps * 2.0**-21 * norms * farthest + 2.0**-21 * (norms + farthest) ** 2
    nearest_possible = (2 * (beyond.double() + 0.5 * norms**2) - doubt).clamp(min=0).sqrt()
    return (reach > 0) & ~(reach <= nearest_possible - lost - theirs)
