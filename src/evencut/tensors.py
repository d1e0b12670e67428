"""Arrays of either kind, NumPy's and torch's: which one it is, the two ways across, and what both need.

Code for either kind takes its functions from `array_namespace` and the few below, in which the two kinds differ. All
that passes between a device and the memory of the CPU passes here, so that it can be counted. Arrays of other
libraries, such as CuPy and JAX, become one of the two at the entrance (`native`), and results become theirs.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from ._lazy import require

#: Arrays of NumPy as signatures name them: numbers of one type or of any, places in an array, and masks.
Floats: TypeAlias = NDArray[np.float64]
AnyFloats: TypeAlias = NDArray[np.floating]
Ints: TypeAlias = NDArray[np.int64]
AnyInts: TypeAlias = NDArray[np.integer]
Places: TypeAlias = NDArray[np.intp]
Mask: TypeAlias = NDArray[np.bool_]

_Function = TypeVar("_Function", bound=Callable[..., Any])

_counts: list[list[int]] = []


def is_tensor(X: Any) -> bool:
    """Whether `X` is a torch tensor; asked without importing torch.

    Examples
    --------
    >>> is_tensor([1.0])
    False
    """
    # While the library is being loaded it may lack the class.
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(X, getattr(torch, "Tensor", ()))


def is_foreign(X: Any) -> bool:
    """Whether `X` is an array of another library than NumPy and torch that shares its memory by DLPack.

    Examples
    --------
    >>> is_foreign([1.0]), is_foreign(np.zeros(1))
    (False, False)
    """
    if isinstance(X, np.ndarray | np.generic) or not hasattr(X, "__dlpack_device__") or is_tensor(X):
        return False
    return hasattr(_library(X), "from_dlpack")


def _library(X: Any) -> Any:
    """The module whose arrays are of the type of `X`."""
    if hasattr(X, "__array_namespace__"):
        return X.__array_namespace__()
    return sys.modules[type(X).__module__.partition(".")[0]]


def native(X: Any) -> Any:
    """An array of another library as an array, or as a tensor if it is on a device; anything else unchanged.

    Examples
    --------
    >>> native([1.0])
    [1.0]
    """
    if not is_foreign(X):
        return X
    in_memory_of_cpu = 1
    if int(X.__dlpack_device__()[0]) == in_memory_of_cpu:
        return np.from_dlpack(X)
    return require("torch", "Clustering arrays on a device", "gpu").from_dlpack(X)


def runs_on_device(X: Any) -> bool:
    """Whether the fused kernels take this tensor; one in the memory of the CPU counts as an array.

    Examples
    --------
    >>> import torch
    >>> runs_on_device(torch.zeros(1))
    False
    """
    return bool(X.is_cuda)


def array_namespace(X: Any) -> Any:
    """The module whose functions take `X`: torch for a tensor, NumPy for all else.

    Examples
    --------
    >>> array_namespace([1.0]).__name__
    'numpy'
    """
    if not is_tensor(X):
        return np
    import torch

    return torch


def cpu_tensors_as_arrays(function: _Function) -> _Function:
    """Let a function of arrays see tensors in CPU memory, and the arrays of other libraries, as arrays of NumPy."""

    @functools.wraps(function)
    def converted(X: Any, *args: Any, **options: Any) -> Any:
        if is_foreign(X):
            return result_like(X, converted(native(X), *args, **options))
        if not is_tensor(X) or runs_on_device(X):
            return function(X, *args, **options)
        args = tuple(to_array(value) if is_tensor(value) else value for value in args)
        options = {name: to_array(value) if is_tensor(value) else value for name, value in options.items()}
        return to_tensor(function(to_array(X), *args, **options), X)

    return converted  # type: ignore[return-value]


def to_array(tensor: Any) -> NDArray[Any]:
    """The values of a tensor as an array; of one that is in the memory of the CPU, without a copy.

    Anything else is taken for an array already. Half precision becomes single, since compiled loops know no other.

    Examples
    --------
    >>> to_array([1, 2])
    array([1, 2])
    """
    tensor = native(tensor)
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


def asarray_like(X: Any, values: Any) -> Any:
    """The values as an array of the kind of `X`, where `X` is.

    Examples
    --------
    >>> import numpy as np
    >>> asarray_like(np.zeros(1), [1, 2])
    array([1, 2])
    """
    return to_tensor(values, X) if is_tensor(X) else to_array(values)


def result_like(X: Any, result: Any) -> Any:
    """A result of the kind of X: a tensor on its device, or an array of its library; graphs become sparse tensors.

    Examples
    --------
    >>> import numpy as np
    >>> result_like(np.zeros(1), np.arange(2))
    array([0, 1])
    """
    if is_foreign(X):
        own = result_like(native(X), result)
        is_shared = is_tensor(own) or (isinstance(own, np.ndarray) and own.dtype.kind in "biuf")
        return _library(X).from_dlpack(own if is_tensor(own) else own.copy()) if is_shared else own
    if not is_tensor(X):
        return result
    if hasattr(result, "indptr"):
        return _sparse_tensor(result, X)
    if isinstance(result, np.ndarray) and result.dtype.kind in "biuf":
        return to_tensor(result, X)
    return result


def _sparse_tensor(graph: Any, like: Any) -> Any:
    import warnings

    import torch

    parts = (graph.indptr.astype(np.int64), graph.indices.astype(np.int64), graph.data)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Sparse", category=UserWarning)
        return torch.sparse_csr_tensor(*(to_tensor(each, like) for each in parts), size=graph.shape)


def in_memory(result: Any) -> Any:
    """The way back from :func:`result_like`: tensors as arrays, sparse ones as graphs, all else unchanged.

    Examples
    --------
    >>> in_memory("ok")
    'ok'
    """
    if not is_tensor(result) or result.layout == array_namespace(result).strided:
        return to_array(result) if is_tensor(result) else result
    from scipy import sparse

    parts = (to_array(each()) for each in (result.values, result.col_indices, result.crow_indices))
    return sparse.csr_array(tuple(parts), shape=tuple(result.shape))


def as_float64(X: Any) -> Any:
    """The values in double precision.

    Examples
    --------
    >>> as_float64([1, 2])
    array([1., 2.])
    """
    xp = array_namespace(X)
    return xp.asarray(X, dtype=xp.float64)


def arange_like(X: Any, count: int | None = None) -> Any:
    """The numbers from 0 of the rows of `X`, or so many, where `X` is.

    Examples
    --------
    >>> arange_like([5.0, 6.0])
    array([0, 1])
    """
    count = len(X) if count is None else count
    return array_namespace(X).arange(count, device=X.device) if is_tensor(X) else np.arange(count)


def stable_order(values: Any) -> Any:
    """The order in which the values rise; equal ones keep theirs.

    Examples
    --------
    >>> stable_order([2, 1, 2])
    array([1, 0, 2])
    """
    return values.argsort(stable=True) if is_tensor(values) else np.argsort(values, kind="stable")


def order_statistics(values: Any, *ranks: int) -> list[Any]:
    """The values of these ranks, from 0, in each column.

    Examples
    --------
    >>> order_statistics([[2, 0], [1, 3], [5, 4]], 0, 2)
    [array([1, 0]), array([5, 4])]
    """
    in_order = values.sort(dim=0).values if is_tensor(values) else np.partition(values, ranks, axis=0)
    return [in_order[rank] for rank in ranks]


def one_hot(labels: Any, n_labels: int, scale: Any = None) -> Any:
    """A table with a one, or the scale, in the column of each row's label.

    Examples
    --------
    >>> import numpy as np
    >>> one_hot(np.array([0, 1, 0]), 2)
    array([[1., 0.],
           [0., 1.],
           [1., 0.]])
    """
    table = as_float64(labels[:, None] == arange_like(labels, n_labels))
    return table if scale is None else table * scale[:, None]


def group_sums(table: Any, group: Any, n_groups: int, weights: Any = None) -> Any:
    """Sums of the entries or rows of each group in double precision, times weights, always in the same order.

    Examples
    --------
    >>> import numpy as np
    >>> group_sums(np.array([[1.0], [2.0], [4.0]]), np.array([0, 2, 0]), 3).ravel()
    array([5., 0., 2.])
    """
    if not is_tensor(table):
        columns = table.T if table.ndim > 1 else [table]
        weighted = columns if weights is None else (weights * column for column in columns)
        sums = [np.bincount(group, column, n_groups) for column in weighted]
        return (np.column_stack(sums) if table.ndim > 1 else sums[0]).astype(np.float64, copy=False)
    import torch

    lengths, order = torch.bincount(group, minlength=n_groups), stable_order(group)
    values = table[order].double()
    if weights is not None:
        values = values * weights[order].reshape(-1, *[1] * (table.ndim - 1))
    return torch.segment_reduce(values, "sum", lengths=lengths, axis=0, initial=0.0)


def group_min(values: Any, group: Any, n_groups: int) -> Any:
    """The smallest of the integers of each group, none of which is empty.

    Examples
    --------
    >>> import numpy as np
    >>> group_min(np.array([7, 3, 5]), np.array([0, 1, 0]), 2)
    array([5, 3])
    """
    xp = array_namespace(values)
    if xp is np:
        smallest = np.full(n_groups, np.iinfo(np.intp).max)
        np.minimum.at(smallest, group, values)
        return smallest
    smallest = xp.full((n_groups,), xp.iinfo(xp.int64).max, device=values.device)
    return smallest.scatter_reduce_(0, group, values, reduce="amin")


def group_max(values: Any, group: Any, n_groups: int) -> Any:
    """The largest of the values of each group, which are not negative; zero for an empty group.

    Examples
    --------
    >>> import numpy as np
    >>> group_max(np.array([7.0, 3.0, 5.0]), np.array([0, 2, 0]), 3)
    array([7., 0., 3.])
    """
    xp = array_namespace(values)
    if xp is np:
        largest = np.zeros(n_groups)
        np.maximum.at(largest, group, values)
        return largest
    largest = xp.zeros((n_groups,), dtype=values.dtype, device=values.device)
    return largest.scatter_reduce_(0, group.long(), values, reduce="amax")


def unique_first(keys: Any, axis: int | None = None) -> tuple[Any, Any]:
    """Where each different key, or row with `axis=0`, stands first, in the order of the keys; and the number of each.

    Examples
    --------
    >>> import numpy as np
    >>> unique_first(np.array([5, 2, 5]))
    (array([1, 0]), array([1, 0, 1]))
    """
    if not is_tensor(keys):
        _, first, number = np.unique(keys, axis=axis, return_index=True, return_inverse=True)
        return first, number.ravel()
    import torch

    unique, number = torch.unique(keys, dim=axis, return_inverse=True)
    return group_min(arange_like(keys), number, len(unique)), number


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
    crossed: list[int] = []
    _counts.append(crossed)
    try:
        yield crossed
    finally:
        _counts.remove(crossed)


def _note(tensor: Any) -> None:
    for crossed in _counts:
        crossed.append(tensor.numel() * tensor.element_size())
