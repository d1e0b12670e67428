"""The figures and tables of "Kernel clustering: density biases and solutions", made again and judged.

One small module each; `make(NAME)` runs one. To add a figure, write `paper/NAME.py` with a function
`make(data, small)` that returns a `Figure`, and add its name to `FIGURES`.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

from .frame import Claim, DataMissing, Figure

__all__ = ["FIGURES", "Claim", "DataMissing", "Figure", "make"]

#: The figures and tables in the order of the paper; `NAME` is made by `evencut.paper.NAME`.
FIGURES = (
    "fig1",
    "fig2",
    "bandwidth",
    "entropy",
    "breiman",
    "clusters",
    "dominant",
    "labelme",
    "weights",
    "sigma",
    "riemann",
    "normalized",
    "adaptive",
    "nash",
    "mds",
    "grabcut",
    "table1",
    "photo_bandwidth",
    "photo_weight",
    "ncut",
    "pairs",
    "inversion",
    "degrees",
    "equivalence",
    "cheeger",
    "minima",
    "equations",
)

# Where the figure is not the module of its name.
_MODULES = {"grabcut": "grabcut_figure", "table1": "table1_figure"}


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
        Of `table1`: `folder`, where finished photos are kept. Of it, `photo_bandwidth` and `photo_weight`:
        `subset`, how many photos to take.

    Returns
    -------
    Figure

    Examples
    --------
    >>> from evencut.paper import make
    >>> make("degrees", small=True).verdict
    'pass'
    """
    if name not in FIGURES:
        raise ValueError(f"figure {name!r} is not known; choose one of {', '.join(FIGURES)}.")
    return import_module(f".{_MODULES.get(name, name)}", __name__).make(data=data, small=small, **options)
