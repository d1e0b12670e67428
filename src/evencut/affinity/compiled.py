"""Loops compiled by numba and kept on disk; where nothing can be kept they are compiled anew, with a warning."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, TypeVar

__all__ = ["compiled"]

_Function = TypeVar("_Function", bound=Callable[..., Any])


def compiled(function: _Function) -> _Function:
    """The function compiled when first called, without Python's lock.

    Compiled code is kept beside the source or in the user's cache folder. A folder that cannot be written, or a full
    disk, costs the time of compiling again and is no error.
    """
    from numba import njit

    try:
        loop = njit(cache=True, nogil=True)(function)
    except RuntimeError as error:
        if "cannot cache" not in str(error):
            raise
        _warn(str(error))
        return njit(nogil=True)(function)
    _forgive_a_full_disk(loop)
    return loop


def _forgive_a_full_disk(loop: Any) -> None:
    cache: Any = getattr(loop, "_cache", None)
    save = getattr(cache, "save_overload", None)
    if save is None:
        return

    def save_if_possible(*args: Any) -> None:
        try:
            save(*args)
        except OSError as error:
            _warn(str(error))

    cache.save_overload = save_if_possible


def _warn(reason: str) -> None:
    """Once, however many loops are meant."""
    global _warned
    if not _warned:
        _warned = True
        warnings.warn(
            f"compiled code cannot be kept ({reason}); it is compiled again in every session. Set NUMBA_CACHE_DIR to a "
            "folder that can be written to avoid this.",
            stacklevel=4,
        )


_warned = False
