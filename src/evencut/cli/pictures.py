"""Pictures to files, whole or not at all; whether that can work is asked before the work begins."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from evencut.cli.errors import UserError
from evencut.cli.outputs import check_writable, whole_file

_FORMATS = (".png", ".pdf", ".svg", ".jpg", ".jpeg", ".webp")


def check_picture(path: str | Path) -> None:
    """Raise a `UserError` unless a picture can be drawn and written to `path`."""
    from evencut.plotting import require_matplotlib

    if Path(path).suffix.lower() not in _FORMATS:
        raise UserError(f"cannot draw {path}: its name must end in one of {', '.join(_FORMATS)}.")
    require_matplotlib()
    check_writable(path)


def save_figure(figure: Any, path: str | Path, dpi: int = 120) -> None:
    """Write a matplotlib figure in the format the suffix of `path` names."""
    with whole_file(path) as file:
        figure.savefig(file, format=Path(path).suffix[1:].lower(), dpi=dpi)
