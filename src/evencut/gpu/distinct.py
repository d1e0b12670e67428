"""Rows that belong together, on their device: equal ones found by a hash, and sums over the rows of each group.

Sums come in the same order every time, so that the same table gives the same bits.
"""

from __future__ import annotations

import torch
from torch import Tensor

__all__ = ["column_moments", "distinct_rows", "group_sums", "row_hashes"]

_ROWS_AT_ONCE = 1 << 16
# Overflow wraps around, which is what a hash wants.
_FACTOR = 0x9E3779B97F4A7C15 - 2**64
_SHIFT = 29


def distinct_rows(X: Tensor) -> tuple[Tensor, Tensor]:
    """The first row of each kind, in rising order, and the kind of each row.

    Examples
    --------
    >>> import torch
    >>> distinct_rows(torch.tensor([[1.0], [5.0], [1.0], [-0.0], [0.0]]))
    (tensor([0, 1, 3]), tensor([0, 1, 0, 2, 2]))
    """
    _, kind = torch.unique(row_hashes(X), return_inverse=True)
    first = _first_of_each(kind)
    if not _all_equal(X, first[kind]):
        _, kind = torch.unique(X, dim=0, return_inverse=True)
        first = _first_of_each(kind)
    order = first.argsort()
    rank = torch.empty_like(order)
    rank[order] = torch.arange(len(order), device=X.device)
    return first[order], rank[kind]


def column_moments(X: Tensor, weights: Tensor) -> tuple[Tensor, Tensor]:
    """Weighted means and variances of the columns in float64, a block of rows at a time.

    Examples
    --------
    >>> import torch
    >>> column_moments(torch.tensor([[0.0], [2.0]]), torch.ones(2))
    (tensor([1.], dtype=torch.float64), tensor([1.], dtype=torch.float64))
    """
    share = weights.double() / weights.double().sum()
    mean, variance = torch.zeros((2, X.shape[1]), dtype=torch.float64, device=X.device)
    for rows, part in zip(X.split(_ROWS_AT_ONCE), share.split(_ROWS_AT_ONCE)):
        mean += part @ rows.double()
    for rows, part in zip(X.split(_ROWS_AT_ONCE), share.split(_ROWS_AT_ONCE)):
        variance += part @ (rows.double() - mean) ** 2
    return mean, variance


def group_sums(table: Tensor, group: Tensor, n_groups: int) -> Tensor:
    """Sums of the rows of each group in float64.

    Examples
    --------
    >>> import torch
    >>> group_sums(torch.tensor([[1.0], [2.0], [4.0]]), torch.tensor([0, 2, 0]), 3).tolist()
    [[5.0], [0.0], [2.0]]
    """
    order = group.argsort(stable=True)
    lengths = torch.bincount(group, minlength=n_groups)
    return torch.segment_reduce(table[order].double(), "sum", lengths=lengths, axis=0, initial=0.0)


def row_hashes(X: Tensor) -> Tensor:
    """One 64-bit number a row, from its values.

    Examples
    --------
    >>> import torch
    >>> hashes = row_hashes(torch.tensor([[0.0, 1.0], [1.0, 0.0], [0.0, 1.0]]))
    >>> bool(hashes[0] == hashes[2] != hashes[1])
    True
    """
    total = torch.zeros(len(X), dtype=torch.int64, device=X.device)
    for first in range(0, len(X), _ROWS_AT_ONCE):
        # Adding zero makes the two zeros one; single precision holds no more than double.
        bits = (X[first : first + _ROWS_AT_ONCE].double() + 0.0).view(torch.int64)
        mixed = bits * _FACTOR
        mixed = (mixed ^ (mixed >> _SHIFT)) * _odd_numbers(X.shape[1], X.device)
        total[first : first + _ROWS_AT_ONCE] = (mixed ^ (mixed >> _SHIFT)).sum(dim=1)
    return total


def _odd_numbers(count: int, device: torch.device) -> Tensor:
    """A different odd number for each column, so that columns cannot be exchanged."""
    place = torch.arange(1, count + 1, dtype=torch.int64, device=device)
    return (place * _FACTOR) ^ ((place * _FACTOR) >> _SHIFT) | 1


def _first_of_each(kind: Tensor) -> Tensor:
    n_kinds = int(kind.max()) + 1
    first = torch.full((n_kinds,), len(kind), dtype=torch.int64, device=kind.device)
    return first.scatter_reduce_(0, kind, torch.arange(len(kind), device=kind.device), reduce="amin")


def _all_equal(X: Tensor, representative: Tensor) -> bool:
    same = torch.ones((), dtype=torch.bool, device=X.device)
    for first in range(0, len(X), _ROWS_AT_ONCE):
        rows = slice(first, first + _ROWS_AT_ONCE)
        same &= (X[rows] == X[representative[rows]]).all()
    return bool(same)
