"""Points and values as the matrix units take them: centred, scaled by powers of two, and split into fp16 parts.

Two parts of 11 bits each carry nearly as much as a float32; three products of parts then make an inner product.
"""

from __future__ import annotations

import torch
from torch import Tensor

# Products of matrix units are this many features deep, or a power of two below it.
DEEPEST = 64


def power_of_two(largest: float, target: float) -> float:
    """The power of two that brings `largest` to between half of `target` and `target`: scaling by it is exact.

    Examples
    --------
    >>> power_of_two(3.0, 1024.0)
    256.0
    """
    if not largest > 0:
        return 1.0
    mantissa, exponent = torch.frexp(torch.tensor(target / largest, dtype=torch.float64))
    return float(2.0 ** (int(exponent) - 1)) if mantissa < 1 else float(2.0 ** int(exponent))


def halves(values: Tensor) -> tuple[Tensor, Tensor]:
    """The values as a sum of two fp16 tensors, to 22 bits.

    Examples
    --------
    >>> import torch
    >>> high, low = halves(torch.tensor([1.0 + 2**-15]))
    >>> float(high.double() + low.double() - 1) == 2**-15
    True
    """
    high = values.to(torch.float16)
    return high, (values - high.to(values.dtype)).to(torch.float16)


def tile_width(n_features: int) -> int:
    """The number of features an operand is padded to: 16, 32, or a multiple of 64.

    Examples
    --------
    >>> tile_width(3), tile_width(20), tile_width(100)
    (16, 32, 128)
    """
    if n_features <= 16:
        return 16
    return 32 if n_features <= 32 else -(-n_features // DEEPEST) * DEEPEST


def padded(table: Tensor, n_rows: int, fill: float = 0.0) -> Tensor:
    """The table with rows of `fill` added up to `n_rows`.

    Examples
    --------
    >>> import torch
    >>> padded(torch.ones(1, 2), 2).tolist()
    [[1.0, 1.0], [0.0, 0.0]]
    """
    whole = torch.full((n_rows, *table.shape[1:]), fill, dtype=table.dtype, device=table.device)
    whole[: len(table)] = table
    return whole


def split_operands(points: Tensor, n_rows: int, *, left: bool) -> Tensor:
    """Rows whose product with those of the other side is the inner product of the points, to about 22 bits.

    The left side is (high, high, low), the right one (high, low, high); what is left out is low times low.

    Examples
    --------
    >>> import torch
    >>> x = torch.tensor([[1.0 + 2**-14, 3.0]])
    >>> both = split_operands(x, 1, left=True).double() @ split_operands(x, 1, left=False).double().T
    >>> bool(abs(both[0, 0] - (x.double() ** 2).sum()) < 1e-8)
    True
    """
    high, low = halves(points)
    n_features = points.shape[1]
    width = tile_width(3 * n_features)
    whole = torch.zeros((n_rows, width), dtype=torch.float16, device=points.device)
    for place, part in enumerate((high, high, low) if left else (high, low, high)):
        whole[: len(points), place * n_features : (place + 1) * n_features] = part
    return whole
