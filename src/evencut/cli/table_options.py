"""The options that say how a table is read, the same for every command that reads one."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from glob import glob, has_magic
from pathlib import Path
from typing import Annotated

import typer

from evencut.cli.console import say
from evencut.cli.errors import UserError
from evencut.cli.options import one_of
from evencut.io import MISSING, Source, Table

Append = Annotated[
    bool, typer.Option("--append", help="Write the rows of the input with their labels, not labels alone.")
]
LabelColumn = Annotated[
    str | None, typer.Option(help="Column of the labels: its name, or its number from 1 [the only one].")
]
Columns = Annotated[
    str | None, typer.Option(help="Columns to use: names, numbers from 1, or ranges, like x,3,5-8 [all].")
]
Header = Annotated[
    bool | None, typer.Option("--header/--no-header", help="Line 1 of a CSV names the columns [detected].")
]
Key = Annotated[str | None, typer.Option(help="Array of an NPZ file to use.")]
Missing = Annotated[
    str,
    one_of(
        "--missing",
        "Missing values (empty, NA, ?): refuse them, leave their rows out (label -1), or fill in the mean, of all rows "
        "or of the ten nearest: ",
        MISSING,
        metavar="|".join(MISSING),
    ),
]
Decimal = Annotated[str | None, typer.Option(metavar=".|,", help="Decimal mark of a CSV [detected].")]
Encoding = Annotated[
    str | None, typer.Option(help="Encoding of the text: latin-1, cp1252 and so on [utf-8, or as marked].")
]
Standardize = Annotated[bool, typer.Option("--standardize", help="Scale columns to mean 0 and standard deviation 1.")]


def column_list(columns: str | None) -> Sequence[str] | None:
    """The columns asked for, one by one; a name that holds a comma stands in quotes.

    Examples
    --------
    >>> column_list('x,3,5-8'), column_list('"a, b",c')
    (['x', '3', '5-8'], ['a, b', 'c'])
    """
    return None if columns is None else next(csv.reader([columns], skipinitialspace=True), [])


def file_names(files: Sequence[str]) -> list[str]:
    """The files meant, those of a pattern in the order of their names; standard input comes alone."""
    named: list[str] = []
    for file in files:
        matches = sorted(glob(file)) if has_magic(file) and not Path(file).exists() else [file]
        if not matches:
            raise UserError(f"no file matches {file}; check the folder and the name.")
        named.extend(matches)
    repeated = next((name for name in named if named.count(name) > 1), None)
    if repeated is not None:
        raise UserError(f"{repeated} was named twice; name each file once.")
    if "-" in named and len(named) > 1:
        raise UserError("standard input comes alone; save it to a file beside the others.")
    return named


def open_sources(files: Sequence[str], keep: bool = False, encoding: str | None = None) -> list[Source]:
    """The files as sources of one table."""
    return [Source(name, keep=keep, encoding=encoding) for name in files]


def names_of(sources: Sequence[Source]) -> str:
    """What to call the files while they are read."""
    return sources[0].name if len(sources) == 1 else f"{len(sources)} files"


def tell(table: Table) -> None:
    """Say what was done to the file on the way to numbers."""
    for notice in table.notices:
        say(notice)
