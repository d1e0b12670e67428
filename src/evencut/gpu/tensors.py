"""The border between tensors and arrays: what is a tensor, asked without torch, and the two ways across.

Everything that passes between a device and the memory of the CPU passes here, so that it can be counted.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["count_copies", "is_tensor", "to_array", "to_tensor"]

_counts: list[list[int]] = []


def is_tensor(X: Any) -> bool:
    """Whether `X` is a torch tensor; asked without importing torch.

    Examples
    --------
    >>> is_tensor([1.0])
    False
    """
    return any(cls.__name__ == "Tensor" and cls.__module__.partition(".")[0] == "torch" for cls in type(X).__mro__)


def to_array(tensor: Any) -> NDArray[Any]:
    """The values of a tensor as an array; of one that is in the memory of the CPU, without a copy.

    Anything else is taken for an array already. Half precision becomes single, since compiled loops know no other.

    Examples
    --------
    >>> to_array([1, 2])
    array([1, 2])
    """
    if not is_tensor(tensor):
        return np.asarray(tensor)
    tensor = tensor.detach()
    if tensor.is_floating_point() and tensor.element_size() < 4:
        tensor = tensor.float()
    _note(tensor)
    return np.asarray(tensor.cpu().numpy())


def to_tensor(array: Any, like: Any) -> Any:
    """The values of an array as a tensor on the device of `like`; a tensor is returned as it is.

    Examples
    --------
    >>> import torch
    >>> to_tensor([1, 2], torch.zeros(1))
    tensor([1, 2])
    """
    if is_tensor(array):
        return array
    import torch

    values = np.ascontiguousarray(array)
    # Torch shares memory with the array, and may not share what must not be written to.
    tensor = torch.from_numpy(values if values.flags.writeable else values.copy()).to(like.device)
    _note(tensor)
    return tensor


@contextmanager
def count_copies() -> Iterator[list[int]]:
    """The bytes of everything that crosses the border while it is open, one number a crossing.

    Tensors that are in the memory of the CPU count as well, though nothing is copied for them: what crosses is the same
    on every device.

    Examples
    --------
    >>> import torch
    >>> with count_copies() as bytes_copied:
    ...     array = to_array(torch.zeros(3, dtype=torch.float64))
    >>> bytes_copied
    [24]
    """
    found: list[int] = []
    _counts.append(found)
    try:
        yield found
    finally:
        _counts.remove(found)


def _note(tensor: Any) -> None:
    for found in _counts:
        found.append(tensor.numel() * tensor.element_size())
