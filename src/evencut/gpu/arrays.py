"""What comes in and what fits: tensors are checked once at the door, and work is cut into blocks before it starts."""

from __future__ import annotations

import os

import torch
from torch import Tensor

# Products of matrix units are this many features deep, or a power of two below it.
DEEPEST = 64


def check_tensor(X: Tensor, name: str = "X") -> Tensor:
    """Points as a finite, contiguous 2-D tensor of float32 or float64 that needs no gradient.

    Half precision and whole numbers become float32; gradients do not pass through a clustering and are dropped.

    Examples
    --------
    >>> import torch
    >>> check_tensor(torch.tensor([[1, 2]])).dtype
    torch.float32
    """
    if not isinstance(X, Tensor):
        raise TypeError(f"{name} is a {type(X).__name__}, not a torch tensor; pass arrays to the estimators instead.")
    if X.ndim != 2:
        raise ValueError(f"{name} must be 2-D (n_samples, n_features), but the tensor has shape {tuple(X.shape)}.")
    if X.is_complex() or X.layout != torch.strided:
        raise TypeError(f"{name} is {X.dtype} with layout {X.layout}; give a dense tensor of real numbers.")
    if not X.shape[0] or not X.shape[1]:
        raise ValueError(f"{name} has shape {tuple(X.shape)}; at least one point of one feature is needed.")
    X = X.detach()
    if X.dtype not in (torch.float32, torch.float64):
        X = X.to(torch.float32)
    X = X.contiguous()
    bad = ~torch.isfinite(X.sum(dtype=torch.float64))
    # A sum is one pass without a mask in memory; only where it is not finite are the entries looked at.
    if bool(bad):
        wrong = (~torch.isfinite(X)).any(dim=1).nonzero()
        if len(wrong):
            raise ValueError(f"{name} has NaN or infinity, first in row {int(wrong[0])}; fill in or drop such rows.")
    return X


def same_device(**tensors: Tensor | None) -> torch.device:
    """The one device of all the tensors given.

    Examples
    --------
    >>> import torch
    >>> same_device(X=torch.ones(1), weights=None)
    device(type='cpu')
    """
    devices = {name: tensor.device for name, tensor in tensors.items() if tensor is not None}
    if len(set(devices.values())) > 1:
        located = ", ".join(f"{name} is on {device}" for name, device in devices.items())
        raise ValueError(f"all tensors must be on one device, but {located}; move them with .to(device).")
    return next(iter(devices.values()))


def is_fused(X: Tensor) -> bool:
    """Whether the fused kernels run for this tensor: on CUDA, or anywhere under Triton's interpreter.

    Examples
    --------
    >>> import torch
    >>> is_fused(torch.ones(1)) == (os.environ.get("TRITON_INTERPRET") == "1")
    True
    """
    return X.is_cuda or os.environ.get("TRITON_INTERPRET") == "1"


def launch_options(X: Tensor, warps: int, stages: int, *, registers: int | None = None) -> dict[str, int]:
    """How a fused kernel is compiled; the interpreter compiles nothing and takes no limit of registers.

    Examples
    --------
    >>> import torch
    >>> launch_options(torch.ones(1), 4, 3, registers=128)
    {'num_warps': 4, 'num_stages': 3}
    """
    options = {"num_warps": warps, "num_stages": stages}
    return {**options, "maxnreg": registers} if X.is_cuda and registers else options


def free_bytes(device: torch.device) -> int:
    """Bytes of the device's memory that a fit may use now, what torch holds in reserve included.

    Examples
    --------
    >>> import torch
    >>> free_bytes(torch.device("cpu")) > 0
    True
    """
    if device.type != "cuda":
        # Plain torch on the CPU shares the memory with everything else.
        return 1 << 28
    free, _ = torch.cuda.mem_get_info(device)
    return int(free) + torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)


def check_memory(n_bytes: float, device: torch.device, what: str) -> None:
    """Raise where a fit is known to need more memory than the device has left.

    Examples
    --------
    >>> import torch
    >>> check_memory(1000, torch.device("cpu"), "a fit")
    """
    free = free_bytes(device)
    if n_bytes > free:
        raise MemoryError(
            f"{what} needs about {n_bytes / 2**30:.2f} GiB of {device}, but only {free / 2**30:.2f} GiB are free; free "
            "memory there, pass fewer points, or use LandmarkClustering, which reads arrays in blocks."
        )


def block_rows(
    n_rows: int, bytes_per_row: int, device: torch.device, *, unit: int = 1, most: int | None = None, what: str = "work"
) -> int:
    """How many rows to take at a time, a multiple of `unit`; raises where not even one unit fits.

    Examples
    --------
    >>> import torch
    >>> block_rows(1000, 8, torch.device("cpu"), unit=256)
    1024
    """
    budget = int(0.4 * free_bytes(device))
    fitting = budget // max(bytes_per_row, 1) // unit * unit
    if fitting < unit:
        raise MemoryError(
            f"{what} needs {unit * bytes_per_row / 2**30:.2f} GiB for its smallest block, but only "
            f"{budget / 2**30:.2f} GiB of {device} may be used; free memory there or pass fewer points."
        )
    rows = min(fitting, -(-n_rows // unit) * unit)
    return rows if most is None else max(unit, min(rows, most // unit * unit))


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
    filled = torch.full((n_rows, *table.shape[1:]), fill, dtype=table.dtype, device=table.device)
    filled[: len(table)] = table
    return filled


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
    filled = torch.zeros((n_rows, width), dtype=torch.float16, device=points.device)
    for place, operand in enumerate((high, high, low) if left else (high, low, high)):
        filled[: len(points), place * n_features : (place + 1) * n_features] = operand
    return filled
