"""`evencut diagnose` and `evencut describe`: is a clustering an artefact of density, and what is each cluster.

The exit code of `diagnose` says so too.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from evencut.cli import options
from evencut.cli.console import UserError, as_user_errors, check_name, progress, say
from evencut.cli.options import METRICS, MISSING, number_of, one_of
from evencut.cli.outputs import atomic_write, check_distinct, check_writable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from evencut.diagnosis import Description
    from evencut.io import Source

_FAILED = 1
_SAMPLED = 20_000

Labels = Annotated[
    str | None,
    Argument(
        metavar="LABELS",
        help="Clusters: one label for each row, a number or a word; -1 is noise. Or, to diagnose, a folder of them. "
        "Without it, --label-column names a column of the table [label].",
    ),
]


def diagnose(
    data: Annotated[
        str, Argument(metavar="DATA", help="Points, in any format of evencut cluster, one in each row; - reads CSV.")
    ],
    labels: Labels = None,
    html: Annotated[
        str | None, Option(metavar="FILE", help="Also write the report, with pictures, to one HTML file.")
    ] = None,
    as_json: Annotated[bool, Option("--json", help="Print the report as JSON instead of a table.")] = False,
    columns: options.Columns = None,
    drop: options.Drop = None,
    label_column: options.LabelColumn = None,
    header: options.Header = None,
    key: options.Key = None,
    missing: options.Missing = MISSING[-1],
    decimal: options.Decimal = None,
    encoding: options.Encoding = None,
    standardize: options.Standardize = False,
    metric: Annotated[str, one_of("--metric", "How points are compared: ", METRICS)] = "euclidean",
) -> int:
    """Report whether a clustering is biased by density, how, and what cures it.

    Exit codes: 0, no bias was found (ok, overlap, one body, or too few points); 1, the clustering is biased, or
    its labels are unrelated to the points; 2, invalid input.
    """
    from evencut.diagnosis import UNRELATED
    from evencut.diagnosis import describe as describe_clusters
    from evencut.estimators import diagnose as diagnose_labels
    from evencut.io import read_columns, read_labels, read_table

    if data == "-" and labels == "-":
        raise UserError("points and labels cannot both come from standard input; give one of them as a file.")
    check_distinct(points=data, labels=labels, html=html)
    if html is not None:
        check_writable(html)
    with progress() as step:
        step(f"reading {data}" + (f" and {labels}" if labels is not None else ""))
        description: Description | None = None
        if labels is not None and Path(labels).is_dir():
            if drop:
                raise UserError("--drop does not go with a folder of labels; name the columns to use with --columns.")
            points, codes = _sampled(data, labels, options.column_list(columns))
        else:
            source, label_source, inside = _sources(data, labels, label_column, encoding, keep=html is not None)
            chosen: dict[str, Any] = {"columns": options.column_list(columns), "drop": options.column_lists(drop)}
            chosen |= {"without": inside, "header": header, "key": key, "decimal": decimal}
            table = read_table(source, missing=missing, **chosen)
            options.print_notices(table)
            codes = read_labels(label_source, inside or label_column, table.n_rows)
            if html is not None:
                description = describe_clusters(read_columns(source, **chosen), codes)
            # Rows left out have no label either.
            points, codes = table.values, codes[table.rows]
        step(f"diagnosing {len(codes)} points in {points.shape[1]} dimensions")
        with as_user_errors():
            report = diagnose_labels(points, codes, scale="standard" if standardize else "auto", metric=metric)
        if html is not None:
            from evencut.diagnosis.html import page

            with atomic_write(html) as file:
                file.write(page(report, description).encode("utf-8"))
    print(json.dumps(report.to_dict(), indent=2, default=str) if as_json else report)
    if html is not None:
        say(f"wrote {html}")
    return _FAILED if report.biased or report.verdict == UNRELATED else 0


def _sampled(data: str, folder: str, columns: Sequence[str] | None) -> tuple[NDArray[Any], NDArray[Any]]:
    """Points and labels of a sample of files too big for memory, labelled in blocks by `evencut cluster`."""
    from evencut.landmarks import open_files, sample

    with as_user_errors():
        return sample(open_files(data, columns=columns), open_files(f"{folder}/part-*.parquet"), n_samples=_SAMPLED)


def _sources(
    data: str, labels: str | None, label_column: str | None, encoding: str | None, keep: bool = False
) -> tuple[Source, Source, str | None]:
    """The points, their labels, and where both are in one file the column of labels; a missing file is reported."""
    from evencut.io import Source

    points = Source(data, keep=keep or labels is None, encoding=encoding)
    if labels is None:
        return points, points, label_column or "label"
    return points, Source(labels, encoding=encoding), None


def describe(
    data: Annotated[
        str, Argument(metavar="DATA", help="The table, in any format of evencut cluster, in its own units.")
    ],
    labels: Labels = None,
    output: Annotated[
        str | None,
        Option("--output", "-o", metavar="FILE", help="Also write the effects: .csv, .jsonl, .parquet or .feather."),
    ] = None,
    top: Annotated[int, number_of("--top", 1, "The largest number of columns or words of each cluster.")] = 5,
    columns: options.Columns = None,
    drop: options.Drop = None,
    label_column: options.LabelColumn = None,
    header: options.Header = None,
    key: options.Key = None,
    decimal: options.Decimal = None,
    encoding: options.Encoding = None,
) -> None:
    """Describe each cluster: its size, typical rows, and the columns that distinguish it.

    Rows are counted from 0, as in labels.csv without its header.
    """
    from evencut.diagnosis import describe as describe_clusters
    from evencut.io import check_output_format, read_columns, read_labels, write_table

    if output is not None:
        check_name("--output", output.rsplit(".", 1)[-1], ("csv", "tsv", "jsonl", "parquet", "pq", "feather"))
        check_output_format(output)
        check_distinct(data=data, labels=labels, output=output)
        check_writable(output)
    source, label_source, inside = _sources(data, labels, label_column, encoding)
    with progress() as step:
        step(f"reading {source.name}")
        table = read_columns(
            source, columns=options.column_list(columns), drop=options.column_lists(drop), without=inside,
            header=header, key=key, decimal=decimal,
        )  # fmt: skip
        codes = read_labels(label_source, inside or label_column, len(table[0].numbers))
        step("describing")
        with as_user_errors():
            description = describe_clusters(table, codes, n_columns=top)
        if output is not None:
            with atomic_write(output) as file:
                write_table(file, output, description.to_columns())
    print(description)
