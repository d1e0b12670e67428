"""How sure a verdict is: of those given with 0.9, nine of ten are right.

The numbers are rates, or logistic curves, measured on the tuning half of the labelled public sets by seven methods
(`benchmarks/diagnosis_trust.py`); the other half judges them. A bias is right where the reference labels disagree with
the clustering, ok and overlap where it agrees with them or nothing better is known.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .chance import FEWEST_JUDGED
from .report import TriedCure
from .verdicts import OK, ONE_BODY, OVERLAP, UNRELATED

# Of a bias: a cure is offered; one is better but not offered; none is better; none was tried.
_OFFERED, _BETTER, _HELPLESS, _UNTRIED = 0.98, 0.93, 0.94, 0.82
# Of ok: offset, and slope over how clear its least clear border is.
_OK = (2.39, 0.88)
# Of overlap, and of one body, which is too rare in the sets for a curve of its own: offset, slope over
# how clearly a border has no valley, and what it adds that the cure draws it again.
_OVERLAP, _AGAIN = (4.54, -5.00), 0.32


def calibrated(verdict: str, clarity: float, cures: Sequence[TriedCure], n_points: int) -> float:
    """The confidence of a verdict whose borders are so clear (0.5 to 1), after these cures were tried.

    Examples
    --------
    >>> round(calibrated("ok", 1.0, [], 500), 2)
    0.96
    """
    if n_points < FEWEST_JUDGED:
        return 0.5
    if verdict == UNRELATED:
        return clarity
    if verdict == OK:
        return _logistic(_OK[0] + _OK[1] * clarity)
    if verdict in (OVERLAP, ONE_BODY):
        again = _AGAIN if cures and not any(cure.moved for cure in cures) else 0.0
        return _logistic(_OVERLAP[0] + _OVERLAP[1] * clarity + again)
    if not cures:
        return _UNTRIED
    if any(cure.offered for cure in cures):
        return _OFFERED
    return _BETTER if any(cure.better for cure in cures) else _HELPLESS


def _logistic(score: float) -> float:
    return float(1 / (1 + np.exp(-score)))
