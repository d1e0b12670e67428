"""`evencut diagnose points.csv labels.csv`: is this clustering an artefact of density? Leaves with 0, or 1 if it is."""

from __future__ import annotations

import csv
import json
import sys
import zipfile
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray

from evencut.cli.console import progress, say
from evencut.cli.errors import UserError, library_errors_are_the_users, one_line
from evencut.cli.outputs import check_distinct, check_writable, whole_file
from evencut.cli.tables import check_readable, read_table
from evencut.diagnosis import diagnose as diagnose_labels
from evencut.landmarks import open_files, sample

__all__ = ["diagnose"]

_BIASED = 1
_SAMPLED = 20_000


def diagnose(
    data: Annotated[str, typer.Argument(help="Points: CSV, Parquet, NPY or NPZ, one row a point; - reads CSV.")],
    labels: Annotated[
        str, typer.Argument(help="Clusters: one label a point, numbers or words, -1 is noise; or a folder of them.")
    ],
    html: Annotated[str | None, typer.Option(help="Also write the report, with pictures, to one HTML file.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON instead of a table.")] = False,
    columns: Annotated[str | None, typer.Option(help="Columns of the points to use: names, or numbers from 1.")] = None,
    label_column: Annotated[
        str | None, typer.Option(help="Column of the labels: its name, or its number from 1 [the only one].")
    ] = None,
    header: Annotated[
        bool | None, typer.Option("--header/--no-header", help="Line 1 of the points names the columns [found out].")
    ] = None,
    key: Annotated[str | None, typer.Option(help="Array of an NPZ file of points to use.")] = None,
) -> int:
    """Say whether a clustering is biased by density, how, and what cures it."""
    in_blocks = Path(labels).is_dir()
    if not in_blocks:
        check_readable(data)
        check_readable(labels)
    if data == "-" and labels == "-":
        raise UserError("points and labels cannot both come from standard input; give one of them as a file.")
    check_distinct(points=data, labels=labels, html=html)
    if html is not None:
        check_writable(html)
    with progress() as step:
        step(f"reading {data} and {labels}")
        asked = None if columns is None else columns.split(",")
        if in_blocks:
            points, names = _sampled(data, labels, asked)
        else:
            points = read_table(data, columns=asked, header=header, key=key).values
            names = _read_labels(labels, label_column, len(points))
        step(f"diagnosing {len(names)} points in {points.shape[1]} dimensions")
        with library_errors_are_the_users():
            report = diagnose_labels(points, names)
        if html is not None:
            from evencut.diagnosis.html import page

            with whole_file(html) as file:
                file.write(page(report).encode("utf-8"))
    print(json.dumps(report.to_dict(), indent=2, default=str) if as_json else report)
    if html is not None:
        say(f"wrote {html}")
    return _BIASED if report.biased else 0


def _sampled(data: str, folder: str, columns: list[str] | None) -> tuple[NDArray[Any], NDArray[Any]]:
    """Points and labels of a sample of files too big for memory, labelled block by block by `evencut cluster`."""
    with library_errors_are_the_users():
        return sample(open_files(data, columns=columns), open_files(f"{folder}/part-*.parquet"), n_samples=_SAMPLED)


def _read_labels(source: str, column: str | None, n_points: int) -> NDArray[Any]:
    """One label a point from a file of any kind that points may come in."""
    suffix = check_readable(source)
    try:
        if suffix in (".npy", ".npz"):
            names = _from_numpy(source, column)
        elif suffix in (".parquet", ".pq"):
            names = _from_parquet(source, column)
        else:
            names = _from_csv(source, column, n_points)
    except UnicodeDecodeError as error:
        raise UserError(f"{source} is not text in UTF-8 ({one_line(error)}); save it as UTF-8.") from error
    except OSError as error:
        raise UserError(f"cannot read {source}: {error.strerror or one_line(error)}.") from error
    if len(names) != n_points:
        raise UserError(f"{source} holds {len(names)} labels, but there are {n_points} points; give one a point.")
    return _numbers_where_they_are(names)


def _from_numpy(source: str, column: str | None) -> NDArray[Any]:
    try:
        loaded = np.load(source, allow_pickle=False)
        if not isinstance(loaded, np.ndarray):
            with loaded:
                loaded = loaded[_choose(column, loaded.files, source)]
    except (ValueError, EOFError, zipfile.BadZipFile) as error:
        raise UserError(f"{source} is not a NumPy file of labels ({one_line(error)}).") from error
    if loaded.ndim != 1:
        raise UserError(f"{source} has shape {loaded.shape}; labels must be one row of values, one a point.")
    return loaded


def _from_parquet(source: str, column: str | None) -> NDArray[Any]:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise UserError('Parquet files need pyarrow: pip install "evencut[cli]".') from error
    try:
        table = pyarrow.parquet.read_table(source)
    except pyarrow.ArrowException as error:
        raise UserError(f"{source} is not a Parquet file that can be read ({one_line(error)}).") from error
    values = table.column(_choose(column, table.column_names, source))
    if values.null_count:
        raise UserError(f"{source} has {values.null_count} empty labels; mark noise with -1.")
    return np.array(values.to_pylist())


def _from_csv(source: str, column: str | None, n_points: int) -> NDArray[Any]:
    """Cells of the column of labels; a first line too many is the header."""
    if source == "-":
        text = sys.stdin.buffer.read().decode("utf-8-sig")
    else:
        text = Path(source).read_text(encoding="utf-8-sig")
    lines = [line for line in text.splitlines() if line.strip()]
    separator = next((mark for mark in ",;\t|" if lines and mark in lines[0]), ",")
    rows = [[cell.strip() for cell in row] for row in csv.reader(lines, delimiter=separator)]
    heads = [str(i + 1) for i in range(len(rows[0]))] if rows else []
    if len(rows) == n_points + 1:
        heads, rows = rows[0], rows[1:]
    if not heads:
        raise UserError(f"{source} is empty; give one label a line.")
    place = heads.index(_choose(column, heads, source))
    short = next((i for i, row in enumerate(rows) if len(row) <= place or not row[place]), None)
    if short is not None:
        raise UserError(f"{source}: row {short + 1} has no label; mark noise with -1.")
    return np.array([row[place] for row in rows])


def _choose(asked: str | None, names: list[str], source: str) -> str:
    if asked is None:
        if len(names) == 1:
            return names[0]
        if "label" in names:
            return "label"
        raise UserError(f"{source} has columns {', '.join(names)}; say which holds the labels with --label-column.")
    if asked in names:
        return asked
    if asked.isdigit() and 1 <= int(asked) <= len(names):
        return names[int(asked) - 1]
    raise UserError(f"--label-column {asked} is not in {source}; it has {', '.join(names)}.")


def _numbers_where_they_are(names: NDArray[Any]) -> NDArray[Any]:
    """Whole numbers that came as text, so that -1 is noise and 2 comes before 10."""
    try:
        numbers = names.astype(np.float64)
    except (ValueError, TypeError):
        return names
    whole = np.isfinite(numbers).all() and (numbers == np.round(numbers)).all()
    return numbers.astype(np.int64) if whole else numbers
