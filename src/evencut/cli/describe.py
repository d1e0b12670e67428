"""`evencut describe points.csv labels.csv`: what each cluster is, in the columns and units of the table."""

from __future__ import annotations

from typing import Annotated

import typer

from evencut.cli import table_options as tables
from evencut.cli.console import progress
from evencut.cli.errors import check_name, library_errors_are_the_users
from evencut.cli.outputs import check_distinct, check_writable, whole_file
from evencut.diagnosis import describe as describe_clusters
from evencut.io import Source, check_output_format, read_columns, read_labels, write_table


def describe(
    data: Annotated[str, typer.Argument(help="The table, in any format of evencut cluster, in its own units.")],
    labels: Annotated[
        str | None,
        typer.Argument(
            help="Clusters: one label for each row; -1 is noise. Without it, --label-column names a column of the "
            "table [label].",
        ),
    ] = None,
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", help="Also write the effects as a table: .csv, .jsonl, .parquet, .feather."),
    ] = None,
    n_columns: Annotated[int, typer.Option("--top", min=1, help="Most columns or words of each cluster.")] = 5,
    columns: tables.Columns = None,
    label_column: tables.LabelColumn = None,
    header: tables.Header = None,
    key: tables.Key = None,
    decimal: tables.Decimal = None,
    encoding: tables.Encoding = None,
) -> None:
    """Describe each cluster: its size, typical rows (counted from 0), and the columns that distinguish it."""
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
            source, columns=tables.column_list(columns), without=inside, header=header, key=key, decimal=decimal
        )
        n_rows = len(table[0].numbers)
        codes = read_labels(source if labels is None else labels, inside or label_column, n_rows)
        step("describing")
        with library_errors_are_the_users():
            told = describe_clusters(table, codes, n_columns=n_columns)
        if output is not None:
            with whole_file(output) as file:
                write_table(file, output, told.to_columns())
    print(told)
