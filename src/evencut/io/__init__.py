"""Tables in and out of files: CSV, JSON, Excel, Parquet, Feather, NPY and NPZ, each format read and written once.

What is wrong with a file is a `TableError`: one sentence with the place and the cure.
"""

from .errors import TableError
from .gaps import MISSING
from .parts import OpenedFile, expand, open_file
from .preparation import Preparation, Table
from .reading import read_columns, read_labels, read_table
from .sources import READABLE, Source
from .vectors import as_rows, named_rows, prepared_rows
from .writing import WRITABLE, check_output_format, write_table, write_with_columns

__all__ = [
    "MISSING",
    "READABLE",
    "WRITABLE",
    "OpenedFile",
    "Preparation",
    "Source",
    "Table",
    "TableError",
    "as_rows",
    "check_output_format",
    "expand",
    "named_rows",
    "open_file",
    "prepared_rows",
    "read_columns",
    "read_labels",
    "read_table",
    "write_table",
    "write_with_columns",
]
