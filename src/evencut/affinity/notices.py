"""Warnings at the user's own line, however deep in the package their cause is met."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

_PACKAGE = str(Path(__file__).parent.parent)


def warn_user(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the first line outside the package that led here.

    Examples
    --------
    >>> import warnings
    >>> with warnings.catch_warnings(record=True) as told:
    ...     warnings.simplefilter("always")
    ...     warn_user("look here")
    >>> str(told[0].message)
    'look here'
    """
    level = 2
    frame = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame, level = frame.f_back, level + 1  # type: ignore[assignment]
    warnings.warn(message, category, stacklevel=level if frame is not None else 2)
