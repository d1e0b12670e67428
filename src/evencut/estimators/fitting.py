"""How far a long fit has come, told on stderr, and what is left of it when it is stopped: nothing half-fitted."""

from __future__ import annotations

import functools
import sys
import time
from collections.abc import Callable
from typing import Any, TypeVar

from sklearn.exceptions import ConvergenceWarning

from .._runtime import on_progress, warn_user
from ..solvers import Solution

_Fit = TypeVar("_Fit", bound=Callable[..., Any])
_WIDTH = 20


class _Report:
    """A bar that moves on a terminal, one line a step elsewhere."""

    def __init__(self) -> None:
        self._start = time.perf_counter()
        self._terminal = sys.stderr.isatty()

    def __call__(self, name: str, number: int, total: int) -> None:
        """Tell that step `number` of `total` begins."""
        done = _WIDTH * (number - 1) // total
        bar = "#" * done + "-" * (_WIDTH - done)
        self._tell(f"[{bar}] {number}/{total} {name}")

    def close(self) -> None:
        """Tell that all is done."""
        self._tell(f"[{'#' * _WIDTH}] done", last=True)

    def _tell(self, text: str, last: bool = False) -> None:
        text = f"{text} ({time.perf_counter() - self._start:.1f} s)"
        end = "\n" if last or not self._terminal else ""
        print(f"\r\x1b[K{text}" if self._terminal else text, end=end, file=sys.stderr, flush=True)


def whole_or_nothing(fit: _Fit) -> _Fit:
    """Make `fit` all or nothing; with `verbose` it tells its progress.

    Where it fails, the estimator is again what it was before: unfitted, or as an earlier fit has left it. Stopped
    by Ctrl-C it is unfitted. Nothing of an earlier fit is left after a new one.
    """

    @functools.wraps(fit)
    def guarded(self: Any, *args: Any, **options: Any) -> Any:
        before = dict(vars(self))
        _forget(self)
        try:
            if not getattr(self, "verbose", 0):
                return fit(self, *args, **options)
            report = _Report()
            with on_progress(report):
                fitted = fit(self, *args, **options)
            report.close()
            return fitted
        except Exception:
            vars(self).clear()
            vars(self).update(before)
            raise
        except BaseException:
            _forget(self)
            raise

    return guarded  # type: ignore[return-value]


def warn_of_early_stop(solution: Solution, max_iter: int) -> None:
    """Warn, at the line that called `fit`, where a solution was cut short."""
    if not solution.converged:
        warn_user(
            f"points still moved after max_iter={max_iter} sweeps of refinement; raise max_iter.",
            ConvergenceWarning,
        )


def _forget(estimator: Any) -> None:
    """Drop what an earlier fit has set: names that end with an underscore."""
    for name in [name for name in vars(estimator) if name.endswith("_")]:
        delattr(estimator, name)
