"""Whether a loop may run as plain Python: only where a variable asks for it, since it takes a thousand times longer."""

from __future__ import annotations

import os

__all__ = ["refuse_unless_compiled"]

VARIABLE = "EVENCUT_INTERPRETED"


def refuse_unless_compiled(file: str) -> None:
    """Raise if the module in `file` is Python source and nobody has asked for that."""
    if file.endswith(".py") and os.environ.get(VARIABLE, "0") in ("", "0"):
        raise ImportError(
            f"{file} was not compiled, and takes a thousand times longer as it stands. Install evencut (in its folder: "
            f"make run, or pip install .), or set {VARIABLE}=1 to step through it with a debugger, which needs Cython."
        )
