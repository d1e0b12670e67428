"""Any table of rows as one stream of blocks with global row numbers: arrays, memory maps, sparse rows, files, Dask.

A pass over the data is a function of one block; the caller never sees where the blocks come from.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import zip_longest
from operator import getitem
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .._runtime import n_threads, some
from ..io.files import TableError
from ..io.parts import expand, open_file
from ..neighbors.metrics import where_not_finite
from ..tensors import Ints, Places, array_namespace, asarray_like, is_tensor, to_array

#: A pass: from the rows of a block and the number of its first row to a result.
Work = Callable[[Any, int], Any]
_ROWS_PER_BLOCK = 2**17


@dataclass(frozen=True)
class RowSample:
    """The rows whose hash is below a threshold: each of `n_rows` with probability about `n_wanted / n_rows`.

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.arange(1000.0)[:, None]
    >>> draw = RowSample.of(100, 1000, seed=0)
    >>> whole = draw(rows, 0)
    >>> halves = np.vstack([draw(rows[:300], 0), draw(rows[300:], 300)])
    >>> bool((whole == halves).all())
    True
    """

    threshold: int
    seed: int

    @classmethod
    def of(cls, n_wanted: int, n_rows: int, seed: int) -> RowSample:
        """A sample of about `n_wanted` of `n_rows` rows, or all of them."""
        return cls(2**64 if n_wanted >= n_rows else (n_wanted << 64) // n_rows, seed)

    def __call__(self, rows: Any, first: int) -> Any:
        """Those of the rows that belong to the sample; `first` is the number of the first row."""
        indices = self.places(rows.shape[0], first)
        if is_tensor(rows):
            return rows[asarray_like(rows, indices)]
        selected = rows[indices]
        if sparse.issparse(selected):
            return selected if is_wide(rows) else selected.toarray()
        return np.array(selected)

    def places(self, n_rows: int, first: int) -> Places:
        """Which of `n_rows` rows from number `first` on belong to the sample."""
        if self.threshold >= 2**64:
            return np.arange(n_rows)
        # A 64-bit number for each row number, even and unrelated to its neighbours'.
        hashes = mix(np.arange(first, first + n_rows), self.seed).view(np.uint64)
        return np.flatnonzero(hashes < np.uint64(self.threshold))


def is_wide(rows: Any) -> bool:
    """Whether rows have so many columns that sparse ones stay sparse."""
    # Thousands of dense landmarks with more columns would not fit in memory.
    return bool(rows.shape[1] > 1000)


def mix(numbers: Any, seed: int) -> Any:
    """Signed numbers whose every bit depends on every bit of those given and of the seed (as splitmix64 ends)."""
    numbers = (numbers + _signed(seed * 0xD1342543DE82EF95 + 1)) * _signed(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        # A shift of signed numbers brings their sign along, which the mask takes away.
        numbers = (numbers ^ (numbers >> shift & 2 ** (64 - shift) - 1)) * _signed(factor)
    return numbers ^ (numbers >> 31 & 2**33 - 1)


def _signed(number: int) -> int:
    return (number + 2**63) % 2**64 - 2**63


@dataclass(frozen=True)
class Block:
    """Consecutive rows, and how to read them.

    Parameters
    ----------
    name : str
        What errors call it.
    first : int
        Number of its first row among all rows.
    n_rows : int or None
        None where it is not known before the block is read.
    read : callable or Delayed
        Gives the rows.
    """

    name: str
    first: int
    n_rows: int | None
    read: Any


class RowBlocks:
    """A stream of blocks, read on one machine with one block for each thread.

    Parameters
    ----------
    blocks : sequence of Block
    n_features : int
    n_jobs : int or None
        Blocks read at a time; -1 uses all cores.
    """

    def __init__(self, blocks: Sequence[Block], n_features: int, n_jobs: int | None = None):
        self.blocks = tuple(blocks)
        self.n_features = n_features
        self.n_jobs = n_jobs

    @property
    def n_rows(self) -> int:
        """Number of rows of all blocks."""
        return sum(block.n_rows or 0 for block in self.blocks)

    def results(self, work: Work, skip: Collection[int] = ()) -> Iterator[tuple[int, Any]]:
        """The number of each block and what `work` makes of it, in any order; blocks in `skip` are left out."""
        todo = [i for i in range(len(self.blocks)) if i not in skip]
        n_workers = min(n_threads(self.n_jobs), max(len(todo), 1))
        if n_workers == 1:
            yield from ((i, self._run(work, i)) for i in todo)
            return
        n_ahead = 2 * n_workers
        with ThreadPoolExecutor(n_workers) as pool:
            # Each result frees a place for another block: threads read ahead, and results do not pile up.
            waiting = {i: pool.submit(self._run, work, i) for i in todo[:n_ahead]}
            try:
                for i, upcoming in zip_longest(todo, todo[n_ahead:]):
                    result = waiting.pop(i).result()
                    if upcoming is not None:
                        waiting[upcoming] = pool.submit(self._run, work, upcoming)
                    yield i, result
            finally:
                for future in waiting.values():
                    future.cancel()

    def total(self, work: Work) -> Any:
        """The sum of what `work` makes of each block. It must not depend on the order: whole numbers."""
        total = None
        for _, result in self.results(work):
            total = result if total is None else total + result
        return total

    def gathered(self, work: Work) -> Any:
        """What `work` makes of each block, stacked in the order of the rows; sparse rows stay sparse."""
        results = dict(self.results(work))
        return stacked([results[i] for i in range(len(self.blocks))])

    def filled(self, work: Work) -> Ints:
        """One number for each row from `work`."""
        numbers = np.empty(self.n_rows, dtype=np.int64)
        for i, result in self.results(work):
            numbers[self.blocks[i].first : self.blocks[i].first + len(result)] = to_array(result)
        return numbers

    def _run(self, work: Work, i: int) -> Any:
        block = self.blocks[i]
        return run_block(work, block.name, block.first, block.n_rows, self.n_features, block.read())


def stacked(parts: Sequence[Any]) -> Any:
    """Rows of several parts as one; sparse ones stay sparse."""
    if sparse.issparse(parts[0]):
        return sparse.vstack(parts).tocsr()
    return array_namespace(parts[0]).concatenate(parts)


def run_block(work: Work, name: str, first: int, n_rows: int | None, n_features: int, data: Any) -> Any:
    """Check the rows of a block, then do the work on them."""
    rows = _checked(data, name, n_features)
    if n_rows is not None and rows.shape[0] != n_rows:
        raise ValueError(
            f"{name} has {rows.shape[0]} rows, but {n_rows} were announced; the data changed while they were "
            "read, or the chunk sizes of a Dask array are wrong (X.compute_chunk_sizes() finds the right ones)."
        )
    return work(rows, first)


def row_blocks(X: Any, n_jobs: int | None = None) -> RowBlocks:
    """A table of any kind as a stream of blocks.

    Parameters
    ----------
    X : array, tensor, memory map, sparse matrix, Dask array, Dask frame or RowBlocks
        A tensor that was checked is one block.
    n_jobs : int, optional
        Threads for what is read on this machine.

    Examples
    --------
    >>> import numpy as np
    >>> row_blocks(np.zeros((5, 2))).n_rows
    5
    """
    if isinstance(X, RowBlocks):
        return X
    if is_lazy(X):
        from .dask import dask_blocks

        return dask_blocks(X)
    if is_tensor(X):
        return RowBlocks([Block("X", 0, len(X), partial(getitem, X, slice(None)))], X.shape[1])
    rows = sparse.csr_array(X) if sparse.issparse(X) else np.asarray(X)
    if rows.ndim != 2:
        raise ValueError(f"rows must be a 2-D array (n_rows, n_features), but the array has shape {rows.shape}.")
    blocks = []
    for first in range(0, rows.shape[0], _ROWS_PER_BLOCK):
        last = min(first + _ROWS_PER_BLOCK, rows.shape[0])
        name = f"X (rows {first} to {last - 1})"
        blocks.append(Block(name, first, last - first, partial(getitem, rows, slice(first, last))))
    return RowBlocks(blocks, rows.shape[1], n_jobs)


def is_lazy(X: Any) -> bool:
    """Whether `X` is a Dask collection; asked without importing Dask."""
    return callable(getattr(X, "__dask_graph__", None)) and X.__dask_graph__() is not None


def sample(X: Any, labels: Any = None, *, n_samples: int = 5000, random_state: int = 0) -> tuple[NDArray[Any], Any]:
    """About `n_samples` rows of a table of any size, with their labels, as plain arrays.

    The same rows come whatever the blocks. For example, `diagnose(*sample(X, model.labels_))` looks for
    density bias in a clustering of more points than fit in memory.

    Parameters
    ----------
    X : array, memory map, sparse matrix, Dask array or frame, or RowBlocks
    labels : array or Dask array of shape (n_rows,), or RowBlocks of one column, optional
    n_samples : int
    random_state : int

    Examples
    --------
    >>> import numpy as np
    >>> X, y = sample(np.arange(20000.0).reshape(-1, 2), np.arange(10000), n_samples=100)
    >>> bool((X[:, 0] == 2 * y).all())
    True
    """
    rows = row_blocks(X)
    draw = RowSample.of(n_samples, rows.n_rows, random_state)
    points = rows.gathered(draw)
    if labels is None:
        return points, None
    if is_lazy(labels):
        labels = row_blocks(labels[:, None])
    n_labels = labels.n_rows if isinstance(labels, RowBlocks) else len(labels)
    if n_labels != rows.n_rows:
        raise ValueError(f"labels has {n_labels} entries, but X has {rows.n_rows} rows; give one label for each row.")
    if isinstance(labels, RowBlocks):
        return points, labels.gathered(draw)[:, 0]
    return points, np.asarray(labels)[draw.places(n_labels, 0)]


def _checked(data: Any, name: str, n_features: int) -> Any:
    """The rows of a block as finite numbers; an error that names the block otherwise."""
    if is_tensor(data):
        return data
    columns = getattr(data, "columns", None)
    rows = data.tocsr() if sparse.issparse(data) else _numbers(data, name)
    if rows.ndim != 2 or rows.shape[1] != n_features:
        has = f"{rows.shape[1]} columns" if rows.ndim == 2 else f"shape {rows.shape}"
        raise ValueError(f"{name} has {has}, but {n_features} columns are expected; give every block the same ones.")
    if not rows.shape[0]:
        raise ValueError(
            f"{name} is empty; leave empty blocks out (a Dask frame: X.repartition(npartitions=...) merges them)."
        )
    values: Any = rows.data if sparse.issparse(rows) else rows
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        raise ValueError(where_not_finite(rows, name, columns, "its row"))
    return rows


def _numbers(data: Any, name: str) -> NDArray[Any]:
    if hasattr(data, "dtypes") and hasattr(data, "columns"):
        for column, dtype in data.dtypes.items():
            if getattr(dtype, "kind", "O") not in "biuf":
                raise ValueError(_not_numbers(f"{name}: column {column!r}", dtype))
        extended = any(not isinstance(dtype, np.dtype) for dtype in data.dtypes)
        return data.to_numpy(dtype=np.float64, na_value=np.nan) if extended else data.to_numpy()
    rows = np.asarray(data)
    if rows.dtype.kind not in "biuf":
        raise ValueError(_not_numbers(name, rows.dtype))
    return rows


def _not_numbers(what: str, dtype: Any) -> str:
    return f"{what} holds {dtype}, not numbers; leave text out or turn it into numbers first."


def open_files(
    pattern: str | Path | Sequence[str | Path],
    *,
    columns: Sequence[str] | None = None,
    n_jobs: int | None = None,
) -> RowBlocks:
    """Parquet or NPY files as one stream of row blocks, in the order of their names.

    Only the heads of the files are read here; the rows are read in blocks.

    Parameters
    ----------
    pattern : str, path or sequence of them
        Names of files, with `*` and `?` for what may vary.
    columns : sequence of str, optional
        Columns of Parquet files to use, by name, by number from 1, or as ranges of numbers such as `2-5`.
    n_jobs : int, optional
        Blocks read at a time.

    Examples
    --------
    >>> import numpy as np, tempfile, os
    >>> from evencut import LandmarkClustering
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for part in range(2):
    ...         np.save(os.path.join(folder, f"{part}.npy"), np.random.default_rng(part).normal(size=(50, 2)))
    ...     rows = open_files(os.path.join(folder, "*.npy"))
    ...     model = LandmarkClustering(2, random_state=0).fit(rows)
    >>> rows.n_rows
    100
    """
    blocks: list[Block] = []
    names: list[str] | None = None
    first_path = None
    for path in expand(pattern):
        opened = open_file(path, columns)
        if names is None:
            names, first_path = opened.names, path
        elif opened.names != names:
            raise TableError(
                f"{path} has {len(opened.names)} columns ({some(opened.names)}), but {first_path} has {len(names)} "
                f"({some(names)}); give files with the same columns, or choose some with columns=."
            )
        first = blocks[-1].first + (blocks[-1].n_rows or 0) if blocks else 0
        for rows, n_rows in opened.parts:
            blocks.append(Block(f"{path} ({rows.words()})", first, n_rows, rows))
            first += n_rows
    return RowBlocks(blocks, len(names or ()), n_jobs)
