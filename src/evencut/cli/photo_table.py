"""Table 1 of the paper from the command line: a bar with the time left, then the table; can be stopped and resumed."""

from __future__ import annotations

from pathlib import Path

from evencut.cli.console import counted, say
from evencut.cli.errors import UserError, library_errors_are_the_users

__all__ = ["make_table1"]


def make_table1(data: Path | None, out: Path, jobs: int = 1, subset: int | None = None, resume: bool = True) -> None:
    """Fill the table, print it, and say where the rows and the contact sheet are.

    Parameters
    ----------
    data : Path or None
        Folder that holds `grabcut/`.
    out : Path
    jobs, subset, resume
        As in :func:`evencut.paper.table1.run`.
    """
    from evencut.paper import table1

    if data is None:
        raise UserError("table1 needs grabcut/boxes.csv; give the data folder with --data or EVENCUT_DATA.")
    try:
        with library_errors_are_the_users(), counted("photos", total=None) as advance:
            errors = table1.run(data, out, jobs=jobs, subset=subset, resume=resume, advance=advance)
    except FileNotFoundError as error:
        raise UserError(str(error)) from error
    except KeyboardInterrupt:
        say(f"stopped; the finished photos are in {out / 'table1.csv'}, and the same command goes on from there")
        raise
    print(table1.format_table(errors), end="")
    say(f"wrote {out / 'table1.csv'}, {out / 'table1.md'} and {out / 'table1.png'}")
