r"""Sums of kernels, :math:`K(X, Y) V`, without the matrix K: for degrees, densities, Lloyd tables and equalisation.

The fused kernel works in blocks on the chip. Precision is the caller's choice: `"exact"` (relative error 1e-5),
`"fast"` (5e-3), which is enough for choosing clusters, or `"careful"`: exact also in rows of tiny affinities alone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from . import naive
from .arrays import (
    DEEPEST,
    check_tensor,
    halves,
    is_fused,
    launch_options,
    padded,
    power_of_two,
    same_device,
    split_operands,
)

#: The forms of the affinity: one bandwidth, the mean of the kernels of both points, or a geometric mean of bandwidths.
FORMS = ("gaussian", "mean", "product")
PRECISIONS = ("exact", "fast", "careful")

# Exponents are powers of two on the chip: exp(-d^2 / 2) is 2^(-d^2 * this).
_EXPONENT = 0.5 * naive.LOG2_E
# Up to this many features, differences of coordinates cost no more than the rest of an exact sum.
_MOST_DIRECT = 24
_PAD = 256


class Tiles(NamedTuple):
    """Rows and columns of a tile on the chip, the warps that share it, and the loads that run ahead.

    A limit of registers lets two blocks of eight warps share a multiprocessor, so that one works while the other waits.
    """

    rows: int
    columns: int
    warps: int
    stages: int
    registers: int | None = None


#: How each kind of sum is cut into tiles: by whether it takes differences, splits values, and sums one vector.
TILES = {
    "fast": Tiles(64, 128, 4, 3, 128),
    "split": Tiles(128, 128, 8, 3, 128),
    "wide": Tiles(128, 64, 8, 3),
    "direct": Tiles(64, 64, 4, 3, 128),
    "vector": Tiles(64, 64, 4, 3),
    "direct vector": Tiles(32, 32, 4, 3),
}


@dataclass(frozen=True, eq=False)
class _Side:
    """One side of the matrix: its points, bandwidths, and what the fused kernel reads of them."""

    points: Tensor
    bandwidth: Tensor
    scaled: Tensor
    rate: Tensor

    def block(self, index: Tensor | slice) -> _Side:
        return _Side(self.points[index], self.bandwidth[index], self.scaled[index], self.rate[index])

    def columns(self) -> tuple[Tensor, Tensor, Tensor]:
        """Coordinates feature by feature, and rates, padded; differences need no norms, for which rates stand in."""
        n_rows = _whole(len(self.scaled))
        rates = padded(self.rate, n_rows, 1.0)
        return padded(self.scaled, n_rows).T.contiguous(), rates, rates

    def operands(self, left: bool) -> tuple[Tensor, Tensor, Tensor]:
        """Operands of the inner product, squared norms, and rates, padded; the left side carries the factor of -2."""
        n_rows = _whole(len(self.scaled))
        points = -2 * self.scaled if left else self.scaled
        norms = (self.scaled.double() ** 2).sum(dim=1).float()
        operand = split_operands(points, n_rows, left=left)
        return operand, padded(norms, n_rows), padded(self.rate, n_rows, 1.0)


class KernelSums:
    r"""The matrix of affinities of the rows of X with those of Y, to be multiplied and never formed.

    .. math::
        K_{pq} = \exp\left(-\frac{d_{pq}^2}{2\sigma_p\sigma_q}\right) \text{ (product), or }
        \tfrac12\exp\left(-\frac{d_{pq}^2}{2\sigma_p^2}\right)
        + \tfrac12\exp\left(-\frac{d_{pq}^2}{2\sigma_q^2}\right) \text{ (mean)}

    Parameters
    ----------
    X : Tensor of shape (n, n_features)
    bandwidth : float or Tensor of shape (n,)
        One for all points, or one for each; with one for all, all forms are the Gaussian kernel.
    Y : Tensor of shape (m, n_features), optional
        X by default.
    y_bandwidth : float or Tensor of shape (m,), optional
        Needed with Y where bandwidths are given for each point.
    form : {"gaussian", "mean", "product"}

    Notes
    -----
    The fused kernel holds the affinities of a table of vectors as fp16 numbers with a common exponent: below 4e-9 they
    lose precision, and below 4e-12 they are zero. That is nothing beside the affinity of a point with itself, which
    is one. Sums against one vector are float32 throughout.

    Examples
    --------
    >>> import torch
    >>> sums = KernelSums(torch.tensor([[0.0], [1.0], [3.0]]), 1.0)
    >>> sums(torch.ones(3)).round(decimals=3)
    tensor([1.6180, 1.7420, 1.1460], dtype=torch.float64)
    """

    def __init__(
        self, X: Tensor, bandwidth: float | Tensor, *, Y: Tensor | None = None,
        y_bandwidth: float | Tensor | None = None, form: str = "gaussian",
    ):
        if form not in FORMS:
            raise ValueError(f"form={form!r} is not known; choose one of {FORMS}.")
        X = check_tensor(X)
        Y_ = X if Y is None else check_tensor(Y, "Y").to(X.dtype)
        same_device(X=X, Y=Y_, bandwidth=bandwidth if isinstance(bandwidth, Tensor) else None)
        if Y_.shape[1] != X.shape[1]:
            raise ValueError(f"Y has {Y_.shape[1]} features, but X has {X.shape[1]}.")
        one_for_all = not isinstance(bandwidth, Tensor) or bandwidth.ndim == 0
        if form == "gaussian" and not one_for_all:
            raise ValueError("form='gaussian' takes one bandwidth for all points; choose 'mean' or 'product'.")
        if Y is not None and y_bandwidth is None and not one_for_all:
            raise ValueError("Y needs its bandwidths too: give y_bandwidth.")
        sigma = _bandwidths(bandwidth, X)
        y_sigma = sigma if Y is None else _bandwidths(bandwidth if y_bandwidth is None else y_bandwidth, Y_)
        self.form = "gaussian" if one_for_all and y_bandwidth is None else form
        self.shape = (len(X), len(Y_))
        centre = Y_.mean(dim=0, dtype=torch.float64)
        unit = self._unit(Y_, centre, sigma)
        self._rows = self._side(X, centre, unit, sigma)
        self._columns = self._rows if Y is None else self._side(Y_, centre, unit, y_sigma)
        self._prepared: dict[str, tuple[Tensor, ...]] = {}

    def __call__(self, V: Tensor, precision: str = "exact", *, tiles: Tiles | None = None) -> Tensor:
        """K V, float64; V has one row for each row of Y, or is one vector."""
        if precision not in PRECISIONS:
            raise ValueError(f"precision={precision!r} is not known; choose one of {PRECISIONS}.")
        if V.shape[:1] != self.shape[1:]:
            raise ValueError(f"V has shape {tuple(V.shape)}; it needs one row for each of {self.shape[1]} points.")
        same_device(X=self._rows.points, V=V)
        table = V[:, None] if V.ndim == 1 else V
        if not is_fused(V):
            sums = self.in_float64(table)
        else:
            sums = self._fused(table, "exact" if precision == "careful" else precision, tiles)
            # Below this share of one full affinity the fused kernel lacks digits.
            weak = (sums.sum(dim=1) < 1e-6 * table.sum(dim=1).max()).nonzero()[:, 0] if precision == "careful" else ()
            if len(weak):
                sums[weak] = self.block(rows=weak).in_float64(table)
        return sums[:, 0] if V.ndim == 1 else sums

    def _fused(self, table: Tensor, precision: str, tiles: Tiles | None) -> Tensor:
        """The sums by the fused kernel; points beyond the range of fp16 numbers are left to float64."""
        direct = precision == "exact" and self._rows.points.shape[1] <= _MOST_DIRECT
        if not direct and len(self._far("columns", self._columns)):
            return self.in_float64(table)
        if table.shape[1] == 1:
            sums = self._fused_vector(table[:, 0], precision, tiles)[:, None]
        else:
            parts = table.split(64, dim=1)
            sums = torch.cat([self._fused_table(columns, precision, tiles) for columns in parts], dim=1)
        far = () if direct else self._far("rows", self._rows)
        if len(far):
            sums[far] = self.block(rows=far).in_float64(table)
        return sums

    def _far(self, name: str, side: _Side) -> Tensor:
        """Points too far out for operands of fp16 numbers."""
        if f"{name} far" not in self._prepared:
            # Twice a coordinate must be an fp16 number.
            far = side.scaled.abs().amax(dim=1) > 3e4
            self._prepared[f"{name} far"] = (far.nonzero()[:, 0],)
        return self._prepared[f"{name} far"][0]

    def in_float64(self, table: Tensor) -> Tensor:
        """K V in float64 throughout, by plain torch: for few rows whose affinities are tiny, and without a GPU.

        Examples
        --------
        >>> import torch
        >>> KernelSums(torch.tensor([[0.0], [2.0]]), 1.0).in_float64(torch.eye(2)).round(decimals=3)
        tensor([[1.0000, 0.1350],
                [0.1350, 1.0000]], dtype=torch.float64)
        """
        rows, columns = self._rows, self._columns
        form = "product" if self.form == "gaussian" else self.form
        return naive.kernel_sums(rows.points, columns.points, table, form, rows.bandwidth, columns.bandwidth)

    @property
    def device(self) -> torch.device:
        """Where the points are."""
        return self._rows.points.device

    @property
    def like(self) -> Tensor:
        """A tensor on the device."""
        return self._rows.points

    @property
    def bandwidth(self) -> Tensor:
        """The bandwidth of each row."""
        return self._rows.bandwidth

    def widened(self, factor: float) -> KernelSums:
        """The same kernel of the points with themselves at larger bandwidths.

        Examples
        --------
        >>> import torch
        >>> KernelSums(torch.tensor([[0.0], [2.0]]), 1.0).widened(2.0)(torch.ones(2)).round(decimals=3)
        tensor([1.6070, 1.6070], dtype=torch.float64)
        """
        sigma = self.bandwidth * factor
        return KernelSums(self.like, float(sigma[0]) if self.form == "gaussian" else sigma, form=self.form)

    def block(self, rows: Tensor | slice = slice(None), columns: Tensor | slice = slice(None)) -> KernelSums:
        """The same for some rows and columns of the matrix.

        Examples
        --------
        >>> import torch
        >>> KernelSums(torch.zeros(3, 1), 1.0).block(columns=torch.tensor([0, 2])).shape
        (3, 2)
        """
        some = KernelSums.__new__(KernelSums)
        some.form = self.form
        some._rows, some._columns = self._rows.block(rows), self._columns.block(columns)
        some.shape = (len(some._rows.points), len(some._columns.points))
        # Row operands are the costly ones to make; they are shared where all rows stay.
        all_rows = isinstance(rows, slice) and rows == slice(None)
        some._prepared = {name: made for name, made in self._prepared.items() if all_rows and name.startswith("rows")}
        return some

    def dense(self) -> Tensor:
        """The matrix itself in float64, for small parts.

        Examples
        --------
        >>> import torch
        >>> KernelSums(torch.zeros(2, 1), 1.0).dense()
        tensor([[1., 1.],
                [1., 1.]], dtype=torch.float64)
        """
        rows, columns = self._rows, self._columns
        squared = naive.squared_distances(rows.points, columns.points)
        form = "product" if self.form == "gaussian" else self.form
        return naive.affinities(squared, form, rows.bandwidth, columns.bandwidth)

    def _unit(self, Y: Tensor, centre: Tensor, sigma: Tensor) -> float:
        """What coordinates are multiplied by: so that exponents are powers of two, or that fp16 parts keep them."""
        if self.form == "gaussian":
            return math.sqrt(_EXPONENT) / float(sigma[0])
        return power_of_two(float((Y - centre.to(Y.dtype)).abs().max()), 64.0)

    def _side(self, points: Tensor, centre: Tensor, unit: float, sigma: Tensor) -> _Side:
        root = math.sqrt(_EXPONENT) / (sigma * unit)
        rate = root**2 if self.form == "mean" else root
        scaled = ((points.double() - centre) * unit).float()
        return _Side(points, sigma, scaled, rate.float())

    def _fused_vector(self, vector: Tensor, precision: str, tiles: Tiles | None) -> Tensor:
        direct = precision == "exact" and self._rows.points.shape[1] <= _MOST_DIRECT
        values = padded(vector.float(), _whole(len(vector)))
        tiles = tiles or TILES["direct vector" if direct else "vector"]
        return self._launch(values, values, 0, direct, False, tiles)

    def _fused_table(self, table: Tensor, precision: str, tiles: Tiles | None) -> Tensor:
        exact = precision == "exact"
        direct = exact and self._rows.points.shape[1] <= _MOST_DIRECT
        n_vectors = max(16, 1 << (table.shape[1] - 1).bit_length())
        largest = table.abs().amax(dim=0).clamp(min=torch.finfo(torch.float32).tiny).double()
        # Values are fp16 numbers up to 1024; small ones keep their precision over 2^24 of range.
        scale = torch.exp2(torch.floor(torch.log2(1024.0 / largest)))
        values = torch.zeros((_whole(len(table)), n_vectors), dtype=torch.float64, device=table.device)
        values[: len(table), : table.shape[1]] = table.double() * scale
        high, low = halves(values)
        wide = "wide" if 3 * self._rows.points.shape[1] > DEEPEST else ""
        tiles = tiles or TILES["direct" if direct else wide or ("split" if exact else "fast")]
        return self._launch(high, low, n_vectors, direct, exact, tiles)[:, : table.shape[1]] / scale

    def _launch(self, values: Tensor, low: Tensor, n_vectors: int, direct: bool, split: bool, tiles: Tiles) -> Tensor:
        """Run the fused kernel over all rows, its partial sums added up in float64."""
        from ._triton import kernel_sums

        kind = "columns" if direct else "operands"
        x_points, x_norms, x_rates = self._ready(f"rows {kind}", self._rows, direct, left=True)
        y_points, y_norms, y_rates = self._ready(f"columns {kind}", self._columns, direct, left=False)
        n_padded = _whole(self.shape[1])
        width = len(x_points) if direct else x_points.shape[1]
        n_blocks = _whole(self.shape[0]) // tiles.rows
        # Sums of more terms are split: each part is in float32, and the parts are added in float64.
        n_splits = max(-(-n_padded // (1 << 16)), min(1024 // n_blocks, n_padded // 1024), 1)
        per_split = _whole(-(-n_padded // n_splits))
        n_splits = -(-n_padded // per_split)
        sums = torch.empty((self.shape[0], max(n_vectors, 1)), dtype=torch.float64, device=values.device)
        step = max(1, (1 << 30) // (4 * n_splits * max(n_vectors, 1) * tiles.rows)) * tiles.rows
        for first in range(0, self.shape[0], step):
            n_rows = min(step, n_blocks * tiles.rows - first)
            partial = torch.empty((n_splits, n_rows, max(n_vectors, 1)), dtype=torch.float32, device=values.device)
            kernel_sums[(n_rows // tiles.rows, n_splits)](
                x_points[:, first:] if direct else x_points[first:], y_points, x_norms[first:], y_norms,
                x_rates[first:], y_rates, values, low, partial, x_points.stride(0), y_points.stride(0), n_padded,
                per_split, FORM=FORMS.index(self.form), DIRECT=direct, SPLIT=split, WIDTH=width, N_VECTORS=n_vectors,
                BLOCK_ROWS=tiles.rows, BLOCK_COLUMNS=tiles.columns, BLOCK_WIDTH=16 if direct else min(width, DEEPEST),
                **launch_options(values, tiles.warps, tiles.stages, registers=tiles.registers),
            )  # fmt: skip
            rows = slice(first, min(first + n_rows, self.shape[0]))
            sums[rows] = partial.sum(dim=0, dtype=torch.float64)[: rows.stop - first]
        return sums if n_vectors else sums[:, 0]

    def _ready(self, name: str, side: _Side, direct: bool, left: bool) -> tuple[Tensor, Tensor, Tensor]:
        if name not in self._prepared:
            self._prepared[name] = side.columns() if direct else side.operands(left)
        points, norms, rates = self._prepared[name]
        return points, norms, rates


def _bandwidths(bandwidth: float | Tensor, points: Tensor) -> Tensor:
    sigma = torch.as_tensor(bandwidth, dtype=torch.float64, device=points.device)
    if sigma.ndim > 1 or (sigma.ndim == 1 and len(sigma) != len(points)):
        raise ValueError(f"bandwidth has shape {tuple(sigma.shape)}; give one, or one for each of {len(points)}.")
    if not bool((torch.isfinite(sigma) & (sigma > 0)).all()):
        raise ValueError(f"bandwidths must be positive and finite, but the smallest is {float(sigma.min()):g}.")
    return sigma.expand(len(points)) if sigma.ndim == 0 else sigma


def _whole(n_rows: int) -> int:
    return -(-n_rows // _PAD) * _PAD
