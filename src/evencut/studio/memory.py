"""How much memory reading a file of strangers may take: one gigabyte more than the process has.

A thread looks at the process while it reads and ends it when it takes more, on every system alike; that costs the task
and nothing else. Limits of the system are no use here: libraries reserve gigabytes that they never touch, and abort
where a limit counts these.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

#: The code with which a process ends that took too much.
TOOK_TOO_MUCH = 77
_MOST = 1 << 30
_LOOK_S = 0.02


@contextmanager
def memory_for_upload(most: int = _MOST) -> Iterator[None]:
    """End the process where more is taken inside."""
    limit = _resident() + most
    done = threading.Event()

    def look() -> None:
        while not done.wait(_LOOK_S):
            if _resident() > limit:
                os._exit(TOOK_TOO_MUCH)

    threading.Thread(target=look, daemon=True).start()
    try:
        yield
    finally:
        done.set()


def _resident() -> int:
    """Bytes of memory that this process holds."""
    if sys.platform == "win32":
        return _resident_on_windows()
    statm = Path("/proc/self/statm")
    if statm.exists():
        return int(statm.read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # the most so far; bytes on macOS


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
