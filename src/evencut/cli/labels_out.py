"""Labels on their way out: one a row of the input, alone or beside its columns, and the last word about them."""

from __future__ import annotations

import sys
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from evencut.cli.outputs import whole_file
from evencut.io import Source, Table, write_table, write_with_column

__all__ = ["cluster_sizes", "sizes_in_words", "write_labels"]

# More clusters than this are summed up: a line should fit on a screen.
_MOST_SIZES = 12


def write_labels(
    output: str,
    labels: NDArray[Any],
    *,
    source: Source | None = None,
    table: Table | None = None,
    header: bool | None = None,
    key: str | None = None,
) -> None:
    """Write labels to a file, or to standard output if it is `-`.

    Parameters
    ----------
    output : str
    labels : ndarray of shape (n_points,)
    source : Source, optional
        Where the points came from, where their rows are to be written too.
    table : Table, optional
        The points; rows that were left out get the label -1.
    header, key
        How the source was read.
    """
    everywhere = labels if table is None else table.for_all_rows(labels)

    def write(file: IO[bytes]) -> None:
        if source is None:
            write_table(file, output, {"label": everywhere})
        else:
            write_with_column(file, output, source, "label", everywhere, header=header, key=key)

    if output == "-":
        write(sys.stdout.buffer)
        sys.stdout.flush()
        return
    with whole_file(output) as file:
        write(file)


def cluster_sizes(labels: NDArray[Any]) -> str:
    """The sizes of the clusters, in a few words however many there are.

    Examples
    --------
    >>> cluster_sizes(np.array([0, 0, 1]))
    'clusters of 2, 1'
    >>> cluster_sizes(np.arange(300) % 149)
    '149 clusters of 2 to 3 points (half of them have at most 2)'
    """
    return sizes_in_words(np.bincount(labels[labels >= 0]))


def sizes_in_words(sizes: NDArray[Any]) -> str:
    """The same from the sizes."""
    if len(sizes) <= _MOST_SIZES:
        return f"clusters of {', '.join(map(str, sizes))}"
    half = int(np.median(sizes))
    return f"{len(sizes)} clusters of {sizes.min()} to {sizes.max()} points (half of them have at most {half})"
