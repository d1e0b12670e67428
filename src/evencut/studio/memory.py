"""How much memory reading a file of strangers may take: one gigabyte more than the process has.

Where the system has limits (Linux, macOS), more is refused as it is asked for. Windows has none of that kind: there a
thread looks at the process and ends it, which costs the task and nothing else.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["memory_for_upload"]

_MOST = 1 << 30
_LOOK_S = 0.05


@contextmanager
def memory_for_upload() -> Iterator[None]:
    """Bound what is taken inside; more is a MemoryError, or the end of the process."""
    if sys.platform == "win32":
        with _watched(_resident_on_windows() + _MOST):
            yield
        return
    import resource

    kind = resource.RLIMIT_AS
    soft, hard = resource.getrlimit(kind)
    limit = _address_space() + _MOST
    if soft != resource.RLIM_INFINITY:
        limit = min(limit, soft)
    try:
        resource.setrlimit(kind, (limit, hard))
    except (ValueError, OSError):  # a system that knows the limit but does not let it be set
        yield
        return
    try:
        yield
    finally:
        resource.setrlimit(kind, (soft, hard))


def _address_space() -> int:
    """Bytes of addresses this process has now; a generous guess where the system does not tell."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 8 << 30


@contextmanager
def _watched(most: int) -> Iterator[None]:
    done = threading.Event()

    def look() -> None:
        while not done.wait(_LOOK_S):
            if _resident_on_windows() > most:
                os._exit(1)

    threading.Thread(target=look, daemon=True).start()
    try:
        yield
    finally:
        done.set()


def _resident_on_windows() -> int:
    """Bytes that this process has committed, as Windows counts them."""
    import ctypes
    from ctypes import wintypes

    class _Counters(ctypes.Structure):
        _fields_ = [
            ("cb", wintypes.DWORD),
            ("PageFaultCount", wintypes.DWORD),
            *(
                (name, ctypes.c_size_t)
                for name in (
                    "PeakWorkingSetSize",
                    "WorkingSetSize",
                    "QuotaPeakPagedPoolUsage",
                    "QuotaPagedPoolUsage",
                    "QuotaPeakNonPagedPoolUsage",
                    "QuotaNonPagedPoolUsage",
                    "PagefileUsage",
                    "PeakPagefileUsage",
                )
            ),
        ]

    counters = _Counters()
    counters.cb = ctypes.sizeof(counters)
    windows = ctypes.windll  # type: ignore[attr-defined]
    handle = windows.kernel32.GetCurrentProcess()
    windows.psapi.GetProcessMemoryInfo(handle, ctypes.byref(counters), counters.cb)
    return int(counters.PagefileUsage)
