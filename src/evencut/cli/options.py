"""Options that several commands share, read so that a wrong value is named together with what would be right."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterable, Sequence
from glob import glob, has_magic
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Option
from typer.core import TyperCommand

from evencut.cli.console import UserError, check_name, say

if TYPE_CHECKING:
    from evencut.io import Source, Table

CPU = "cpu"

# The names that options take, so that help and completion load no library; those of a registry may grow.
METRICS = (
    *("euclidean", "cosine", "precomputed", "manhattan", "chebyshev", "canberra", "braycurtis", "correlation"),
    *("haversine", "hamming", "jaccard", "dice", "l1", "l2", "cityblock"),
)
CRITERIA = ("average_association", "normalized_cut", "average_cut")
KERNELS = (
    *("shared_neighbors", "knn", "gaussian", "disc", "adaptive_gaussian", "local_scaling", "geodesic", "precomputed"),
)
SOLVERS = ("auto", "spectral", "multilevel", "lloyd")
MISSING = ("error", "drop", "mean", "neighbors")
EQUALIZE = ("none", "weights", "exact")
_TYPE = re.compile(r" <[\w\[\]]+>(\.\.\.)?$")
_CUDA = re.compile(r"cuda(:\d+)?")


class PlainHelp(TyperCommand):
    """A command whose help names arguments without the types of Python."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """The two lists of arguments and options."""
        for kind, title in (("argument", "Arguments"), ("option", "Options")):
            parameters = [option for option in self.get_params(ctx) if option.param_type_name == kind]
            records = [record for option in parameters if (record := option.get_help_record(ctx)) is not None]
            if records:
                with formatter.section(title):
                    formatter.write_dl([(_TYPE.sub("", term), text) for term, text in records])


def whole_number(option: str, smallest: int, largest: int | None = None) -> Callable[[str], int]:
    """A parser of whole numbers for `option`.

    Examples
    --------
    >>> whole_number("-k", 1)("3")
    3
    >>> whole_number("-k", 1)("0")
    Traceback (most recent call last):
    evencut.cli.console.UserError: -k 0 is out of range; give a whole number of at least 1.
    """
    span = f"at least {smallest}" if largest is None else f"{smallest} to {largest}"

    def parse(text: str) -> int:
        try:
            number = int(text)
        except ValueError:
            raise UserError(f"{option} {text} is not a whole number; give one of {span}.") from None
        if number < smallest or (largest is not None and number > largest):
            raise UserError(f"{option} {text} is out of range; give a whole number of {span}.")
        return number

    return parse


def whole_number_or_auto(option: str) -> Callable[[str], int | str]:
    """A parser of whole numbers from 1 for `option` that also takes the word auto.

    Examples
    --------
    >>> whole_number_or_auto("-k")("auto"), whole_number_or_auto("-k")("3")
    ('auto', 3)
    """
    number = whole_number(option, 1)
    return lambda text: text if text == "auto" else number(text)


def number_or_name(text: str) -> float | str:
    """A number where the text is one, the text itself otherwise.

    Examples
    --------
    >>> number_or_name("0.5"), number_or_name("scott")
    (0.5, 'scott')
    """
    try:
        return float(text)
    except ValueError:
        return text


def one_of(
    option: str, prefix: str, known: Iterable[str], suffix: str = "", metavar: str = "NAME", registry: str = ""
) -> Any:
    """An option that takes one of some names, which its help line lists and a shell completes.

    A name that is not among them is looked up in `registry`, such as "kernels.KERNELS", which others may extend.
    """

    def parse(text: str) -> str:
        names_now = known
        if text not in known and registry:
            module, _, name = registry.partition(".")
            names_now = getattr(import_module(f"evencut.{module}"), name)
        check_name(option, text, names_now)
        return text

    def complete(incomplete: str) -> list[str]:
        return [name for name in known if name.startswith(incomplete)]

    *first_names, last = known
    about = f"{prefix}{', '.join(first_names)} or {last}.{suffix}"
    return Option(parser=parse, metavar=metavar, help=about, autocompletion=complete)


def number_of(option: str, smallest: int, about: str, largest: int | None = None, metavar: str = "N") -> Any:
    """An option that takes a whole number."""
    return Option(parser=whole_number(option, smallest, largest), metavar=metavar, help=about)


Seed = Annotated[int, number_of("--seed", 0, "The same seed gives the same result.", 2**32 - 1)]
Output = Annotated[
    str,
    Option(
        "--output", "-o", metavar="FILE",
        help="Labels, as .csv, .jsonl, .npy, .parquet or .feather (of landmarks, or a folder); - is standard output.",
    ),
]
Append = Annotated[bool, Option("--append", help="Write the rows of the input with their labels, not labels alone.")]
LabelColumn = Annotated[
    str | None, Option(metavar="NAME", help="Column of the labels: its name, or its number from 1 [the only one].")
]
Columns = Annotated[
    str | None, Option(metavar="NAMES", help="Columns to use: names, numbers from 1, or ranges, like x,3,5-8 [all].")
]
Drop = Annotated[
    list[str] | None, Option(metavar="NAMES", help="Columns to leave out, like --columns; may be repeated.")
]
Header = Annotated[bool | None, Option("--header/--no-header", help="Line 1 of a CSV names the columns [detected].")]
Key = Annotated[str | None, Option(metavar="NAME", help="Array of an NPZ file to use.")]
_ABOUT_MISSING = (
    "Missing values (empty, NA, ?): refuse them, leave their rows out (label -1), or fill in the mean, of all rows or "
    "of the ten nearest: "
)
Missing = Annotated[str, one_of("--missing", _ABOUT_MISSING, MISSING, metavar="|".join(MISSING))]
Decimal = Annotated[str | None, Option(metavar=".|,", help="Decimal mark of a CSV [detected].")]
Encoding = Annotated[
    str | None, Option(metavar="NAME", help="Encoding of the text: latin-1, cp1252 and so on [utf-8, or as marked].")
]
Standardize = Annotated[bool, Option("--standardize", help="Scale columns to mean 0 and standard deviation 1.")]


def check_device(device: str) -> None:
    """Raise, before anything is read, for a device that is not there.

    Examples
    --------
    >>> check_device("cpu")
    >>> check_device("tpu")
    Traceback (most recent call last):
    evencut.cli.console.UserError: --device tpu is not known; choose cpu, cuda, or cuda:1 for the second GPU.
    """
    if device == CPU:
        return
    if not _CUDA.fullmatch(device):
        raise UserError(f"--device {device} is not known; choose cpu, cuda, or cuda:1 for the second GPU.")
    if find_spec("torch") is None:
        raise UserError(f"--device {device} needs torch, which is not installed: pip install 'evencut[gpu]'.")
    import torch

    n_devices = torch.cuda.device_count() if torch.cuda.is_available() else 0
    number = int(device.partition(":")[2] or 0)
    if number >= n_devices:
        available = f"only {n_devices} GPU{'' if n_devices == 1 else 's'}" if n_devices else "no GPU"
        raise UserError(f"--device {device} is not there: torch finds {available}; use --device cpu.")


def on_device(X: Any, device: str) -> Any:
    """The points where they are to be clustered: an array for the CPU, a tensor elsewhere."""
    if device == CPU:
        return X
    import torch

    return torch.as_tensor(X).to(device)


def column_lists(columns: Sequence[str] | None) -> list[str]:
    """The columns of an option that may be repeated."""
    return [name for names in columns or () for name in column_list(names) or ()]


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


def read_points(step: Callable[[str], None], sources: Sequence[Source], **chosen: Any) -> Table:
    """The points of all sources, as :func:`evencut.io.read_table` reads them; its notices are printed."""
    from evencut.io import read_table

    step(f"reading {sources[0].name if len(sources) == 1 else f'{len(sources)} files'}")
    table = read_table(sources, **chosen)
    print_notices(table)
    return table


def print_notices(table: Table) -> None:
    """Say what was done to the file on the way to numbers."""
    for notice in table.notices:
        say(f"warning: {notice}" if notice in table.warnings else notice)
