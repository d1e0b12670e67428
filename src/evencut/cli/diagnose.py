"""`evencut diagnose points.csv labels.csv`: is this clustering an artefact of density? Leaves with 0, or 1 if it is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer
from numpy.typing import NDArray

from evencut.cli.console import progress, say
from evencut.cli.errors import UserError, library_errors_are_the_users
from evencut.cli.outputs import check_distinct, check_writable, whole_file
from evencut.diagnosis import diagnose as diagnose_labels
from evencut.io import Source, read_labels, read_table
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
        Source(data)
        Source(labels)
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
            names = read_labels(labels, label_column, len(points))
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
