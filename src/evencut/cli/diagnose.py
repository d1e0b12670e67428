"""`evencut diagnose` and `evencut describe`: is a clustering an artefact of density, and what is each cluster.

The exit code of `diagnose` says so too.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from evencut.cli.console import UserError, as_user_errors, check_name, progress, say
from evencut.cli.options import (
    METRICS,
    MISSING,
    Columns,
    Decimal,
    Drop,
    Encoding,
    Header,
    Key,
    LabelColumn,
    Missing,
    Standardize,
    column_list,
    column_lists,
    one_of,
    print_notices,
    whole_number,
)
from evencut.cli.outputs import atomic_write, check_distinct, check_writable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from evencut.diagnosis import Description

_FAILED = 1
_SAMPLED = 20_000


def diagnose(
    data: Annotated[
        str,
        typer.Argument(metavar="DATA", help="Points, in any format of evencut cluster, one in each row; - reads CSV."),
    ],
    labels: Annotated[
        str | None,
        typer.Argument(
            metavar="LABELS",
            help="Clusters: one label for each row, a number or a word; -1 is noise. Or a folder of them. Without it, "
            "--label-column names a column of the points' file [label].",
        ),
    ] = None,
    html: Annotated[
        str | None, typer.Option(metavar="FILE", help="Also write the report, with pictures, to one HTML file.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON instead of a table.")] = False,
    columns: Columns = None,
    drop: Drop = None,
    label_column: LabelColumn = None,
    header: Header = None,
    key: Key = None,
    missing: Missing = MISSING[-1],
    decimal: Decimal = None,
    encoding: Encoding = None,
    standardize: Standardize = False,
    metric: Annotated[str, one_of("--metric", "How points are compared: ", METRICS)] = "euclidean",
) -> int:
    """Report whether a clustering is biased by density, how, and what cures it.

    Exit codes: 0, no bias was found (ok, overlap, one body, or too few points); 1, the clustering is biased, or
    its labels are unrelated to the points; 2, invalid input.
    """
    from evencut.diagnosis import UNRELATED
    from evencut.estimators import diagnose as diagnose_labels

    in_blocks = labels is not None and Path(labels).is_dir()
    if data == "-" and labels == "-":
        raise UserError("points and labels cannot both come from standard input; give one of them as a file.")
    check_distinct(points=data, labels=labels, html=html)
    if html is not None:
        check_writable(html)
    with progress() as step:
        step(f"reading {data}" + (f" and {labels}" if labels is not None else ""))
        column_names = column_list(columns)
        described: Description | None = None
        if in_blocks and labels is not None:
            if drop:
                raise UserError("--drop does not go with a folder of labels; name the columns to use with --columns.")
            points, codes = _sampled(data, labels, column_names)
        else:
            options: dict[str, Any] = {"columns": column_names, "drop": column_lists(drop), "header": header}
            options |= {"key": key, "decimal": decimal}
            where = (data, labels, label_column, encoding)
            points, codes, described = _read_both(*where, missing, options, html is not None)
        step(f"diagnosing {len(codes)} points in {points.shape[1]} dimensions")
        with as_user_errors():
            report = diagnose_labels(points, codes, scale="standard" if standardize else "auto", metric=metric)
        if html is not None:
            from evencut.diagnosis.html import page

            with atomic_write(html) as file:
                file.write(page(report, described).encode("utf-8"))
    print(json.dumps(report.to_dict(), indent=2, default=str) if as_json else report)
    if html is not None:
        say(f"wrote {html}")
    return _FAILED if report.biased or report.verdict == UNRELATED else 0


def _sampled(data: str, folder: str, columns: Sequence[str] | None) -> tuple[NDArray[Any], NDArray[Any]]:
    """Points and labels of a sample of files too big for memory, labelled block by block by `evencut cluster`."""
    from evencut.landmarks import open_files, sample

    with as_user_errors():
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
    from evencut.diagnosis import describe as describe_clusters
    from evencut.io import Source, read_columns, read_labels, read_table

    source = Source(data, keep=labels is None or described, encoding=encoding)
    inside = options["without"] = (label_column or "label") if labels is None else None
    # Asked now: a missing file of labels is told before the points are read.
    label_source = source if labels is None else Source(labels, encoding=encoding)
    table = read_table(source, missing=missing, **options)
    print_notices(table)
    codes = read_labels(label_source, inside or label_column, table.n_rows)
    if not described:
        return table.values, codes[table.rows], None
    return table.values, codes[table.rows], describe_clusters(read_columns(source, **options), codes)


def describe(
    data: Annotated[
        str, typer.Argument(metavar="DATA", help="The table, in any format of evencut cluster, in its own units.")
    ],
    labels: Annotated[
        str | None,
        typer.Argument(
            metavar="LABELS",
            help="Clusters: one label for each row; -1 is noise. Without it, --label-column names a column of the "
            "table [label].",
        ),
    ] = None,
    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Also write the effects as a table: .csv, .jsonl, .parquet, .feather.",
        ),
    ] = None,
    n_columns: Annotated[
        int,
        typer.Option(
            "--top", parser=whole_number("--top", 1), metavar="N", help="Most columns or words of each cluster."
        ),
    ] = 5,
    columns: Columns = None,
    drop: Drop = None,
    label_column: LabelColumn = None,
    header: Header = None,
    key: Key = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
) -> None:
    """Describe each cluster: its size, typical rows, and the columns that distinguish it.

    Rows are counted from 0, as in labels.csv without its header.
    """
    from evencut.diagnosis import describe as describe_clusters
    from evencut.io import Source, check_output_format, read_columns, read_labels, write_table

    if output is not None:
        check_name("--output", output.rsplit(".", 1)[-1], ("csv", "tsv", "jsonl", "parquet", "pq", "feather"))
        check_output_format(output)
        check_distinct(data=data, labels=labels, output=output)
        check_writable(output)
    source = Source(data, keep=labels is None, encoding=encoding)
    inside = (label_column or "label") if labels is None else None
    with progress() as step:
        step(f"reading {source.name}")
        table = read_columns(
            source, columns=column_list(columns), drop=column_lists(drop), without=inside, header=header, key=key,
            decimal=decimal,
        )  # fmt: skip
        n_rows = len(table[0].numbers)
        codes = read_labels(source if labels is None else labels, inside or label_column, n_rows)
        step("describing")
        with as_user_errors():
            description = describe_clusters(table, codes, n_columns=n_columns)
        if output is not None:
            with atomic_write(output) as file:
                write_table(file, output, description.to_columns())
    print(description)
