"""Tables in and out of files: CSV, JSON, Excel, Parquet, Feather, NPY and NPZ, each format read and written once.

What is wrong with a file is a `TableError`: one sentence with the place and the cure.
"""

from typing import TYPE_CHECKING

from .._lazy import on_demand

if TYPE_CHECKING:
    from .cells import Column
    from .errors import TableError
    from .gaps import MISSING
    from .parts import OpenedFile, expand, open_file
    from .preparation import Preparation, Table
    from .reading import read_columns, read_labels, read_table
    from .sources import READABLE, Source, kind_and_compression
    from .vectors import as_rows, prepared_rows
    from .writing import WRITABLE, check_output_format, write_table, write_with_columns

__all__ = [
    "MISSING", "READABLE", "WRITABLE", "Column", "OpenedFile", "Preparation", "Source", "Table", "TableError",
    "as_rows", "check_output_format", "expand", "kind_and_compression", "open_file", "prepared_rows",
    "read_columns", "read_labels", "read_table", "write_table", "write_with_columns",
]  # fmt: skip

__getattr__, __dir__ = on_demand(
    __name__,
    cells="Column",
    errors="TableError",
    gaps="MISSING",
    parts="OpenedFile expand open_file",
    preparation="Preparation Table",
    reading="read_columns read_labels read_table",
    sources="READABLE Source kind_and_compression",
    vectors="as_rows prepared_rows",
    writing="WRITABLE check_output_format write_table write_with_columns",
)
