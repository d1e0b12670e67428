"""`evencut predict model.skops new.csv -o labels.csv`: clusters of new points, by a saved model."""

from __future__ import annotations

from typing import Annotated

import typer

from evencut.cli.console import progress, say
from evencut.cli.errors import check_name, library_errors_are_the_users
from evencut.cli.labels_out import cluster_sizes, write_labels
from evencut.cli.model_files import load_model
from evencut.cli.outputs import check_distinct, check_writable
from evencut.cli.table_options import Decimal, Encoding, Header, Key, Missing, tell
from evencut.io import MISSING, Source, check_output_format, read_table

__all__ = ["predict"]


def predict(
    model: Annotated[str, typer.Argument(metavar="MODEL.skops", help="What evencut cluster --save wrote.")],
    file: Annotated[
        str, typer.Argument(help="New points, in any format of evencut cluster; columns are found by name.")
    ],
    output: Annotated[
        str,
        typer.Option(
            "--output", "-o", help="Labels, as .csv, .jsonl, .npy, .parquet or .feather; - is standard output."
        ),
    ] = "-",
    append: Annotated[
        bool, typer.Option("--append", help="Write the rows of the input with their labels, not labels alone.")
    ] = False,
    header: Header = None,
    key: Key = None,
    missing: Missing = MISSING[0],
    decimal: Decimal = None,
    encoding: Encoding = None,
) -> None:
    """Give new points to the clusters of a saved model."""
    check_name("--missing", missing, MISSING)
    source = Source(file, keep=append, encoding=encoding)
    check_output_format(output)
    check_distinct(model=model, input=file, output=output)
    if output != "-":
        check_writable(output)
    with progress() as step:
        step(f"reading {model}")
        saved = load_model(model)
        step(f"reading {source.name}")
        table = read_table(
            source, header=header, key=key, missing=missing, decimal=decimal, like=saved.preparation
        )
        tell(table)
        step(f"labelling {len(table.values)} points")
        with library_errors_are_the_users():
            labels = saved.model.predict(table.values)
        write_labels(output, labels, source=source if append else None, table=table, header=header, key=key)
    say(f"{len(labels)} points, {cluster_sizes(labels)}" + (f"; wrote {output}" if output != "-" else ""))
