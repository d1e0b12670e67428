"""The figures and tables of "Kernel clustering: density biases and solutions", made again and judged.

`make(NAME)` makes one. What each is called, shows and claims stands in `claims.toml`; the function that its `made_by`
names measures, hands its numbers to a :class:`~reproduction.frame.Run`, and returns a picture. To add a figure, write
both.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

from .frame import TEXTS, Claim, DataMissing, Figure, Run, Verdict

__all__ = ["FIGURES", "Claim", "DataMissing", "Figure", "Verdict", "make"]

#: The figures and tables in the order of the paper.
FIGURES = tuple(TEXTS)


def make(name: str, *, data: Path | None = None, small: bool = False, **options: Any) -> Figure:
    """Make a figure or table of the paper.

    Parameters
    ----------
    name : str
        One of `FIGURES`.
    data : Path, optional
        Folder with the real data some need; they raise `DataMissing` without it.
    small : bool, default=False
        Fewer points and coarser sweeps: the same claims in a fraction of the time.
    **options
        Of `table1`, `photo_bandwidth` and `photo_weight`: `folder`, where finished photos are kept, and `subset`, how
        many photos to take.

    Returns
    -------
    Figure

    Examples
    --------
    >>> from reproduction import make
    >>> make("degrees", small=True).verdict
    'pass'
    """
    if name not in TEXTS:
        raise ValueError(f"figure {name!r} is not known; choose one of {', '.join(FIGURES)}.")
    module, function = TEXTS[name]["made_by"].split(".")
    run = Run(name, data, small)
    return run.figure(getattr(import_module(f".{module}", __name__), function)(run, **options))
