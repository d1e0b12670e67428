"""`evencut predict model.skops new.csv -o labels.csv`: clusters of new points, by a saved model."""

from __future__ import annotations

from typing import Annotated

import typer

from evencut.cli import table_options as tables
from evencut.cli.console import progress, say
from evencut.cli.errors import library_errors_are_the_users
from evencut.cli.labels_out import cluster_sizes, write_labels
from evencut.cli.model_files import load_model
from evencut.cli.outputs import check_distinct, check_writable
from evencut.io import MISSING, check_output_format, read_table


def predict(
    model: Annotated[str, typer.Argument(metavar="MODEL.skops", help="What evencut cluster --save wrote.")],
    files: Annotated[
        list[str], typer.Argument(help="New points, in any format of evencut cluster; columns are found by name.")
    ],
    output: Annotated[
        str,
        typer.Option(
            "--output", "-o", help="Labels, as .csv, .jsonl, .npy, .parquet or .feather; - is standard output."
        ),
    ] = "-",
    append: tables.Append = False,
    header: tables.Header = None,
    key: tables.Key = None,
    missing: tables.Missing = MISSING[0],
    decimal: tables.Decimal = None,
    encoding: tables.Encoding = None,
) -> None:
    """Assign new points to the clusters of a saved model."""
    files = tables.file_names(files)
    sources = tables.open_sources(files, keep=append, encoding=encoding)
    check_output_format(output)
    for source in sources:
        check_distinct(model=model, input=source.path, output=output)
    if output != "-":
        check_writable(output)
    with progress() as step:
        step(f"reading {model}")
        saved = load_model(model)
        step(f"reading {tables.names_of(sources)}")
        table = read_table(
            sources, header=header, key=key, missing=missing, decimal=decimal, like=saved.preparation
        )
        tables.tell(table)
        step(f"labelling {len(table.values)} points")
        with library_errors_are_the_users():
            labels = saved.model.predict(table.values)
        write_labels(output, labels, sources=sources if append else (), table=table, header=header, key=key)
    say(f"{len(labels)} points, {cluster_sizes(labels)}" + (f"; wrote {output}" if output != "-" else ""))
