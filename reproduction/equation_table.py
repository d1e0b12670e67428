"""The table of the paper's numbered equations: what each says, the functions that state it, and a check that it holds.

Numbers are those of the printed paper. The function `eq_N` says what an equation says, checks it, and returns how far
the two sides are apart and how far they may be; `claims.toml` lists the public functions that state it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from evencut.affinity import as_affinity
from evencut.kernels import Kernel
from evencut.plotting import make_figure
from evencut.tensors import AnyFloats, Floats, Ints

from .draw import BLUE, GREEN, GREY, ORANGE, heading
from .frame import EQUATIONS, Claim, Run, Verdict

#: Numbered equations of the paper.
N_EQUATIONS = 68
# Errors of identities are drawn no lower than this.
_FLOOR = 1e-17

_PARTS = ("equations_kernel", "equations_gini", "equations_adaptive", "equations_inversion")
#: What rounding may do to sums of a few thousand terms.
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Checked:
    """What a check has measured: `error`, which is what, and how much of it is allowed."""

    error: float
    limit: float
    what: str

    @property
    def holds(self) -> bool:
        """Whether the error is within its limit."""
        return bool(self.error <= self.limit)

    def __str__(self) -> str:
        return f"{self.what} {self.error:.1e} (at most {self.limit:.0e})"


@dataclass(frozen=True)
class Equation:
    """A numbered equation: its check, the functions below `evencut` that state it, and whether it defines a term."""

    number: int
    check: Callable[[], Checked]
    functions: list[str]
    defines: bool = False

    @property
    def says(self) -> str:
        """The statement in our words: the first line of its check."""
        return str(self.check.__doc__)


def equations() -> list[Equation]:
    """All numbered equations in their order.

    Examples
    --------
    >>> equations()[8].says
    'Average association takes any affinity as its kernel.'
    """
    checks: dict[str, Any] = {}
    for part in _PARTS:
        checks |= vars(import_module(f".{part}", __package__))
    return [Equation(int(number), checks[f"eq_{number}"], **about) for number, about in EQUATIONS.items()]


def differ(
    left: ArrayLike, right: ArrayLike, limit: float = _ROUNDING, what: str = "relative difference of both sides"
) -> Checked:
    """Largest difference of the two sides, over the largest value of either.

    Examples
    --------
    >>> differ([1.0, 2.0], [1.0, 2.0]).holds
    True
    """
    left, right = np.asarray(left, dtype=np.float64), np.asarray(right, dtype=np.float64)
    unit = max(float(np.abs(left).max()), float(np.abs(right).max()), np.finfo(float).tiny)
    return Checked(float(np.abs(left - right).max()) / unit, limit, what)


def exceed(smaller: ArrayLike, larger: ArrayLike, what: str = "largest violation, relative") -> Checked:
    """By how much what should be the smaller side exceeds the larger one, over the latter's size; 0 where it holds.

    Examples
    --------
    >>> exceed([1.0, 2.0], 3.0).error
    0.0
    """
    larger = np.asarray(larger, dtype=np.float64)
    over = np.max(np.asarray(smaller, dtype=np.float64) - larger) / np.abs(larger).max()
    return Checked(max(0.0, float(over)), _ROUNDING, what)


def matrix_of(kernel: Kernel, X: AnyFloats) -> Floats:
    """All entries of a kernel's affinity.

    Examples
    --------
    >>> from evencut.kernels import KNN
    >>> matrix_of(KNN(1), np.array([[0.0], [1.0]]))
    array([[1., 0.],
           [0., 1.]])
    """
    return np.asarray(as_affinity(kernel.affinity(X)).part(slice(None)), dtype=np.float64)


def check_all(run: Run) -> Any:
    """Every equation, checked by numbers: both sides compared, or an approximation measured."""
    checked = [(one, one.check()) for one in equations()]
    run.claims = {
        "equations": [Claim(one.says, Verdict.of(str(c), c.holds), at=f"eq. {one.number}") for one, c in checked]
    }
    for one, c in checked:
        functions = [f"evencut.{name}" for name in one.functions]
        numbers = {"number": one.number, "defines": one.defines, "functions": functions, "error": c.error}
        run.numbers.setdefault("equations", []).append(numbers)
    picture, ax = make_figure(size=(12, 3.6))
    number = np.array([one.number for one, _ in checked])
    error, limit = (np.maximum([getattr(c, key) for _, c in checked], _FLOOR) for key in ("error", "limit"))
    is_bound, is_near = np.array(["violation" in c.what for _, c in checked]), limit > 1e-4
    ax.vlines(number, _FLOOR, limit, color=GREY, lw=4, alpha=0.25)
    kinds = ((~is_bound & ~is_near, BLUE, "identity"), (is_bound, GREEN, "bound"), (is_near, ORANGE, "approximation"))
    for chosen, color, name in kinds:
        ax.plot(number[chosen], error[chosen], "o", color=color, ms=5, label=name)
    ax.legend(fontsize=9, ncols=3, loc="upper left")
    words = {"xlabel": "number of the equation", "ylabel": "error (bar: what is allowed)"}
    limits = {"xlim": (0, number.max() + 1), "ylim": (_FLOOR / 3, 3)}
    heading(ax, f"{len(checked)} numbered equations", yscale="log", **words, **limits)
    return picture


def points(n_samples: int = 60) -> tuple[Floats, Ints, Ints]:
    """Points of the plane, and clusters and whole weights that have nothing to do with them."""
    rng = np.random.default_rng(0)
    return rng.normal(size=(n_samples, 2)), rng.integers(0, 3, n_samples), rng.integers(1, 5, n_samples)


#: What most equations are checked on: points, clusters, whole weights.
POINTS, LABELS, WEIGHTS = points()
