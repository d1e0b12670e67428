"""`evencut diagnose points.csv labels.csv`: is this clustering an artefact of density? The exit code says so too."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from numpy.typing import NDArray

from evencut.cli import table_options as tables
from evencut.cli.console import progress, say
from evencut.cli.errors import UserError, library_errors_are_the_users
from evencut.cli.options import one_of
from evencut.cli.outputs import check_distinct, check_writable, whole_file
from evencut.diagnosis import UNRELATED, Description, describe
from evencut.estimators import diagnose as diagnose_labels
from evencut.io import MISSING, Source, read_columns, read_labels, read_table
from evencut.landmarks import open_files, sample
from evencut.neighbors import METRICS

_FAILED = 1
_SAMPLED = 20_000


def diagnose(
    data: Annotated[
        str, typer.Argument(help="Points, in any format of evencut cluster, one in each row; - reads CSV.")
    ],
    labels: Annotated[
        str | None,
        typer.Argument(
            help="Clusters: one label for each row, a number or a word; -1 is noise. Or a folder of them. Without it, "
            "--label-column names a column of the points' file [label].",
        ),
    ] = None,
    html: Annotated[str | None, typer.Option(help="Also write the report, with pictures, to one HTML file.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON instead of a table.")] = False,
    columns: tables.Columns = None,
    label_column: tables.LabelColumn = None,
    header: tables.Header = None,
    key: tables.Key = None,
    missing: tables.Missing = MISSING[0],
    decimal: tables.Decimal = None,
    encoding: tables.Encoding = None,
    standardize: tables.Standardize = False,
    metric: Annotated[str, one_of("--metric", "How points are compared: ", METRICS)] = "euclidean",
) -> int:
    """Report whether a clustering is biased by density, how, and what cures it.

    Exit codes: 0, no bias was found (ok, overlap, one body, or too few points); 1, the clustering is biased, or
    its labels are unrelated to the points; 2, invalid input.
    """
    in_blocks = labels is not None and Path(labels).is_dir()
    if data == "-" and labels == "-":
        raise UserError("points and labels cannot both come from standard input; give one of them as a file.")
    check_distinct(points=data, labels=labels, html=html)
    if html is not None:
        check_writable(html)
    with progress() as step:
        step(f"reading {data}" + (f" and {labels}" if labels is not None else ""))
        asked = tables.column_list(columns)
        described: Description | None = None
        if in_blocks and labels is not None:
            points, codes = _sampled(data, labels, asked)
        else:
            options: dict[str, Any] = {"columns": asked, "header": header, "key": key, "decimal": decimal}
            where = (data, labels, label_column, encoding)
            points, codes, described = _read_both(*where, missing, options, html is not None)
        step(f"diagnosing {len(codes)} points in {points.shape[1]} dimensions")
        with library_errors_are_the_users():
            report = diagnose_labels(points, codes, scale="standard" if standardize else "auto", metric=metric)
        if html is not None:
            from evencut.diagnosis.html import page

            with whole_file(html) as file:
                file.write(page(report, described).encode("utf-8"))
    print(json.dumps(report.to_dict(), indent=2, default=str) if as_json else report)
    if html is not None:
        say(f"wrote {html}")
    return _FAILED if report.biased or report.verdict == UNRELATED else 0


def _sampled(data: str, folder: str, columns: Sequence[str] | None) -> tuple[NDArray[Any], NDArray[Any]]:
    """Points and labels of a sample of files too big for memory, labelled block by block by `evencut cluster`."""
    with library_errors_are_the_users():
        return sample(open_files(data, columns=columns), open_files(f"{folder}/part-*.parquet"), n_samples=_SAMPLED)


def _read_both(
    data: str,
    labels: str | None,
    label_column: str | None,
    encoding: str | None,
    missing: str,
    options: dict[str, Any],
    described: bool,
) -> tuple[NDArray[Any], NDArray[Any], Description | None]:
    """Points, their labels and what these are, from two files or from one; rows left out have no label either."""
    source = Source(data, keep=labels is None or described, encoding=encoding)
    inside = options["without"] = (label_column or "label") if labels is None else None
    # Asked now: a missing file of labels is told before the points are read.
    label_source = source if labels is None else Source(labels, encoding=encoding)
    table = read_table(source, missing=missing, **options)
    tables.tell(table)
    codes = read_labels(label_source, inside or label_column, table.n_rows)
    if not described:
        return table.values, codes[table.rows], None
    return table.values, codes[table.rows], describe(read_columns(source, **options), codes)
