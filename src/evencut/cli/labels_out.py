"""Labels on their way out: one a row of the input, alone or beside its columns, and the last word about them."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from evencut.cli.outputs import whole_file
from evencut.io import Source, Table, write_table, write_with_columns

# More clusters than this are summed up: a line should fit on a screen.
_MOST_SIZES = 12


def write_labels(
    output: str,
    labels: NDArray[Any],
    *,
    sources: Sequence[Source] = (),
    table: Table | None = None,
    header: bool | None = None,
    key: str | None = None,
) -> None:
    """Write labels to a file, or to standard output if it is `-`.

    Parameters
    ----------
    output : str
    labels : ndarray of shape (n_points,)
    sources : sequence of Source
        Where the points came from, where their rows are to be written too.
    table : Table, optional
        The points; rows that were left out get the label -1, and those of several files their file and row.
    header, key
        How the source was read.
    """
    columns = {"label": labels} if table is None else {**table.origins(), "label": table.for_all_rows(labels)}
    if output.lower().endswith(".npy"):
        # An array holds numbers only: labels, in the order of the files.
        columns = {"label": columns["label"]}

    def write(file: IO[bytes]) -> None:
        if sources:
            write_with_columns(file, output, sources, columns, header=header, key=key)
        else:
            write_table(file, output, columns)

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
