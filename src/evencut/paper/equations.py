"""The numbered equations of the paper, each checked by numbers: both sides compared, or an approximation measured."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ..plotting import make_figure
from .draw import BLUE, GREEN, GREY, ORANGE, heading
from .equation_table import Checked, Equation, equations
from .frame import Claim, Figure

__all__ = ["make"]

# Errors of identities are drawn no lower than this.
_FLOOR = 1e-17


def make(data: Path | None = None, small: bool = False) -> Figure:
    """Check all equations; no data needed."""
    found = [(one, one.check()) for one in equations()]
    picture, ax = make_figure(size=(12, 3.6))
    _draw(ax, found)
    return Figure(
        "equations",
        "The numbered equations",
        "How far the two sides of each equation are apart on made-up data. Identities (blue) are exact up to rounding, "
        "bounds (green) are never violated, approximations (orange) are as near as the bar allows.",
        picture,
        [_claim(one, checked) for one, checked in found],
        {
            "equations": [
                {"number": one.number, "says": one.says, "functions": list(one.functions), "error": checked.error}
                for one, checked in found
            ]
        },
    )


def _claim(one: Equation, checked: Checked) -> Claim:
    return Claim.judge(one.says, str(checked), checked.holds, at=f"eq. {one.number}")


def _draw(ax: Any, found: list[tuple[Equation, Checked]]) -> None:
    number = np.array([one.number for one, _ in found])
    error = np.array([max(checked.error, _FLOOR) for _, checked in found])
    limit = np.array([max(checked.limit, _FLOOR) for _, checked in found])
    is_bound = np.array(["violation" in checked.what for _, checked in found])
    is_near = limit > 1e-4
    ax.vlines(number, _FLOOR, limit, color=GREY, lw=4, alpha=0.25)
    for chosen, color, name in (
        (~is_bound & ~is_near, BLUE, "identity"),
        (is_bound, GREEN, "bound"),
        (is_near, ORANGE, "approximation"),
    ):
        ax.plot(number[chosen], error[chosen], "o", color=color, ms=5, label=name)
    ax.set(yscale="log", ylim=(_FLOOR / 3, 3), xlim=(0, number.max() + 1), xlabel="number of the equation")
    ax.set_ylabel("error (bar: what is allowed)")
    ax.legend(fontsize=9, ncols=3, loc="upper left")
    heading(ax, f"{len(found)} numbered equations")
