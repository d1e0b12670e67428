"""Tables in and out of files: CSV, JSON, Excel, Parquet, Feather, AnnData, NPY and NPZ; each has one reader and writer.

What is wrong with a file is a `TableError`: one sentence with the place and the cure.
"""

from typing import TYPE_CHECKING

from .._lazy import lazy_names

if TYPE_CHECKING:
    from .columns import Column
    from .encode import MISSING, Preparation, Table, binary_columns, donor_rows, filled_rows
    from .files import READABLE, Source, TableError, kind_and_compression
    from .in_memory import as_rows, prepared_rows
    from .parts import OpenedFile, expand, open_file
    from .read import read_columns, read_labels, read_table
    from .write import WRITABLE, check_output_format, write_table, write_with_columns

__all__ = [
    "MISSING", "READABLE", "WRITABLE", "Column", "OpenedFile", "Preparation", "Source", "Table", "TableError",
    "as_rows", "binary_columns", "check_output_format", "donor_rows", "expand", "filled_rows", "kind_and_compression",
    "open_file", "prepared_rows", "read_columns", "read_labels", "read_table", "write_table", "write_with_columns",
]  # fmt: skip

__getattr__, __dir__ = lazy_names(
    __name__,
    columns="Column",
    encode="MISSING Preparation Table binary_columns donor_rows filled_rows",
    files="READABLE Source TableError kind_and_compression",
    in_memory="as_rows prepared_rows",
    parts="OpenedFile expand open_file",
    read="read_columns read_labels read_table",
    write="WRITABLE check_output_format write_table write_with_columns",
)
