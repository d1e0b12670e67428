"""Blocks that Dask holds: arrays and frames, on its threads or on the cluster of the current client.

Nothing but samples, sums and labels leaves the workers. This file is imported only when Dask is in use.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from functools import reduce
from operator import add
from typing import Any

import dask
import numpy as np

from .._runtime import one_line
from .blocks import Block, RowBlocks, Work, run_block


class DaskBlocks(RowBlocks):
    """A stream of blocks read by Dask's workers; `read` of a block is a Delayed or a function."""

    def results(self, work: Work, skip: Collection[int] = ()) -> Iterator[tuple[int, Any]]:
        """The number of each block and what `work` makes of it, in the order they are finished."""
        todo = [i for i in range(len(self.blocks)) if i not in skip]
        tasks = self._tasks(work, todo)
        client = current_client()
        with self._errors_explained(client):
            if client is None:
                yield from self._in_waves(todo, tasks)
            else:
                yield from self._as_completed(client, todo, tasks)

    def total(self, work: Work) -> Any:
        """The sum over all blocks, added up in a tree on the workers."""
        sums = self._tasks(work, range(len(self.blocks)))
        # Eight results at a time.
        while len(sums) > 1:
            sums = [dask.delayed(reduce, pure=False)(add, sums[i : i + 8]) for i in range(0, len(sums), 8)]
        client = current_client()
        with self._errors_explained(client):
            try:
                return dask.compute(sums[0])[0] if client is None else client.compute(sums[0]).result()
            except Exception as error:
                if _is_about_workers(client, error):
                    raise
                raise self._named(error, range(len(self.blocks))) from error

    def _tasks(self, work: Work, chosen: Sequence[int]) -> list[Any]:
        # The work (landmarks and all) travels once, not with each block.
        shared = dask.delayed(work, pure=False)
        run = dask.delayed(_run, pure=False)
        blocks = (self.blocks[i] for i in chosen)
        return [run(shared, b.name, b.first, b.n_rows, self.n_features, b.read) for b in blocks]

    def _in_waves(self, todo: Sequence[int], tasks: Sequence[Any]) -> Iterator[tuple[int, Any]]:
        step = 2 * (dask.system.CPU_COUNT or 1)
        for begin in range(0, len(todo), step):
            wave = todo[begin : begin + step]
            try:
                results = dask.compute(*tasks[begin : begin + step])
            except Exception as error:
                raise self._named(error, wave) from error
            yield from zip(wave, results)

    def _as_completed(self, client: Any, todo: Sequence[int], tasks: Sequence[Any]) -> Iterator[tuple[int, Any]]:
        from distributed import as_completed

        futures = client.compute(list(tasks))
        number = {future.key: i for i, future in zip(todo, futures)}
        finished = as_completed(futures)
        del futures
        for future in finished:
            try:
                result = future.result()
            except Exception as error:
                if _is_about_workers(client, error):
                    raise
                raise _unreadable(self.blocks[number[future.key]], error) from error
            yield number[future.key], result
            # Its memory on the worker is free once no future holds it.
            future.release()

    def _named(self, error: Exception, wave: Sequence[int]) -> Exception:
        """The error of one of several blocks, with the name of the block: found by reading them one by one."""
        for i in wave:
            if str(error).startswith(self.blocks[i].name):
                return error
        for i in wave:
            try:
                dask.compute(self._tasks(_count, [i])[0])
            except Exception as cause:
                return _unreadable(self.blocks[i], cause)
        return error

    @contextmanager
    def _errors_explained(self, client: Any) -> Iterator[None]:
        try:
            yield
        except Exception as error:
            if client is not None and _is_lost(client, error):
                raise ConnectionError(
                    f"the connection to the Dask scheduler at {client.scheduler.address} was lost; see whether it "
                    "still runs, and start again: blocks that were finished are not done again."
                ) from error
            if type(error).__name__ == "KilledWorker":
                raise RuntimeError(
                    f"Dask gave up on a block after its workers died several times ({one_line(error)}); if they ran "
                    "out of memory, use smaller chunks (X.rechunk, X.repartition) or fewer threads a worker."
                ) from error
            raise


def dask_blocks(X: Any, *, count: bool = True) -> DaskBlocks:
    """The partitions of a Dask frame, or the row chunks of a Dask array, as blocks.

    Where their lengths are not known they are counted, which reads the data once, unless `count` is false.
    """
    if not (hasattr(X, "ndim") and X.ndim == 2 and hasattr(X, "to_delayed")):
        raise ValueError(f"{type(X).__name__} must be a Dask array or frame with rows and columns.")
    if hasattr(X, "npartitions") and hasattr(X, "columns"):
        n_features, lengths = len(X.columns), [np.nan] * X.npartitions
        parts, word = X.to_delayed(), "partition"
    else:
        X = X.rechunk({1: -1}) if len(X.chunks[1]) > 1 else X
        n_features, lengths = X.shape[1], X.chunks[0]
        parts, word = X.to_delayed().ravel(), "chunk"
    names = [f"{word} {i}" for i in range(len(parts))]
    if count and np.isnan(lengths).any():
        unplaced = DaskBlocks([Block(*each) for each in zip(names, [0] * len(parts), [None] * len(parts), parts)],
                              n_features)  # fmt: skip
        counts = dict(unplaced.results(_count))
        lengths = [counts[i] for i in range(len(parts))]
    if np.isnan(lengths).any():
        return DaskBlocks([Block(name, 0, None, read) for name, read in zip(names, parts)], n_features)
    firsts = np.concatenate([[0], np.cumsum(lengths)]).astype(int).tolist()
    blocks = [Block(name, first, int(n), read) for name, first, n, read in zip(names, firsts, lengths, parts)]
    return DaskBlocks(blocks, n_features)


def lazy_results(blocks: DaskBlocks, work: Work, dtype: Any) -> Any:
    """What `work` makes of each block as one lazy, 1-D Dask array; nothing is computed."""
    import dask.array

    tasks = blocks._tasks(work, range(len(blocks.blocks)))
    lengths = [np.nan if block.n_rows is None else block.n_rows for block in blocks.blocks]
    parts = [dask.array.from_delayed(task, shape=(n,), dtype=dtype) for task, n in zip(tasks, lengths)]
    return dask.array.concatenate(parts, allow_unknown_chunksizes=True)


def current_client() -> Any:
    """The client of the cluster in use, or None."""
    try:
        from distributed import default_client
    except ModuleNotFoundError:
        return None
    try:
        return default_client()
    except ValueError:
        return None


def _run(work: Work, name: str, first: int, n_rows: int | None, n_features: int, data: Any) -> Any:
    return run_block(work, name, first, n_rows, n_features, data() if callable(data) else data)


def _count(rows: Any, first: int) -> int:
    return rows.shape[0]


def _unreadable(block: Block, error: Exception) -> Exception:
    """The error of a block with its name, unless it has it already or is not about the block."""
    if str(error).startswith(block.name) or isinstance(error, ModuleNotFoundError):
        return error
    return ValueError(f"{block.name} cannot be read ({one_line(error)}); repair it or leave it out.")


def _is_about_workers(client: Any, error: Exception) -> bool:
    """Whether an error says nothing of the block that was read."""
    return client is not None and (_is_lost(client, error) or type(error).__name__ == "KilledWorker")


def _is_lost(client: Any, error: Exception) -> bool:
    from asyncio import CancelledError
    from concurrent.futures import CancelledError as FutureCancelledError

    from distributed.comm import CommClosedError

    return client.status != "running" or isinstance(error, CancelledError | FutureCancelledError | CommClosedError)
