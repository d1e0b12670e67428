"""Files bigger than memory as one stream of blocks: the parts of each file, with row numbers that run through."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from .._runtime import some
from ..io.errors import TableError
from ..io.parts import expand, open_file
from .blocks import Block, RowBlocks

__all__ = ["open_files"]


def open_files(
    pattern: str | Path | Sequence[str | Path],
    *,
    columns: Sequence[str] | None = None,
    n_jobs: int | None = None,
) -> RowBlocks:
    """Parquet or NPY files as one stream of row blocks, in the order of their names.

    Only the heads of the files are read here; the rows are read block by block.

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
        for part, n_rows in opened.parts:
            blocks.append(Block(f"{path} ({part.words()})", first, n_rows, part))
            first += n_rows
    return RowBlocks(blocks, len(names or ()), n_jobs)
