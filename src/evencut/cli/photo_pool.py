"""Photos on several processes, each of which finishes what it has in hand whatever becomes of the others.

The processes part from one that has loaded everything; a run that goes on with a folder waits for those of the last.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from importlib import import_module
from multiprocessing import get_all_start_methods, get_context, parent_process
from pathlib import Path
from typing import Any

from evencut.cli.console import say
from evencut.cli.errors import UserError

#: The photo, its prompts, where its mask goes, and the seed.
Task = tuple[str, list[dict[str, Any]], str, int]

#: What every process needs: loaded once, before the processes part.
_PRELOADED = ["evencut.cli.segment_folder", "evencut.cli.masks", "evencut.segmentation._maxflow_loops", "PIL.Image"]


class PhotoPool:
    """Processes that cut out photos; they part from this one when it is made.

    Parameters
    ----------
    cut_out : callable
        What to do with a task; returns what went wrong, or None.
    tasks : list
    jobs : int
        Processes, at most.
    """

    def __init__(self, cut_out: Callable[..., str | None], tasks: list[Task], jobs: int) -> None:
        self._jobs = jobs
        with warnings.catch_warnings():
            # Threads of libraries at rest do no harm to a copy of the process.
            warnings.simplefilter("ignore", DeprecationWarning)
            self._pool = ProcessPoolExecutor(min(jobs, len(tasks)), mp_context=_processes(), initializer=_begin)
            # Large photos first, so that no process is left with one at the end.
            order = sorted(tasks, key=lambda task: -os.path.getsize(task[0]))
            self._running = {self._pool.submit(_undisturbed, cut_out, task): task[0] for task in order}

    def finished(self) -> Iterator[tuple[str, str | None]]:
        """Names of photos as they are finished, with what went wrong or None."""
        try:
            for done in as_completed(self._running):
                yield self._running[done], done.result()
        except BrokenProcessPool as error:
            raise UserError(
                f"a process of --jobs {self._jobs} was killed, perhaps for lack of memory; finished "
                "photos are kept: run again with fewer jobs."
            ) from error
        finally:
            # On an interruption what has not begun is not begun.
            self._pool.shutdown(wait=False, cancel_futures=True)


@contextmanager
def only_run(record: Path) -> Iterator[None]:
    """Keep the folder of the record to this run and its processes, which hold on to it if this one is killed.

    Where files cannot be locked, nothing is kept.
    """
    try:
        import fcntl
    except ImportError:
        yield
        return
    with record.open("rb") as held:
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say(f"waiting for another run in {record.parent} to finish its photos")
            fcntl.flock(held, fcntl.LOCK_EX)
        except OSError:
            pass  # Some network disks know no locks.
        yield


def _processes() -> Any:
    """How to start processes: from a copy of this one with everything loaded, or from one that has loaded it once."""
    if sys.platform == "linux" and threading.active_count() == 1:
        for module in _PRELOADED:
            import_module(module)
        return get_context("fork")
    if "forkserver" not in get_all_start_methods():
        return get_context("spawn")
    context = get_context("forkserver")
    context.set_forkserver_preload(_PRELOADED)
    return context


#: Held while a photo is in hand.
_BUSY = threading.Lock()
#: Whether to leave as soon as none is.
_LEAVING = threading.Event()


def _begin() -> None:
    """Make a process deaf to what ends the others: it leaves when asked to, but finishes its photo first."""
    if hasattr(os, "setpgid"):
        os.setpgid(0, 0)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, _leave)

    def watch() -> None:
        parent = parent_process()
        if parent is not None:
            parent.join()
            with _BUSY:
                os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _leave(*_: Any) -> None:
    _LEAVING.set()
    if not _BUSY.locked():
        os._exit(1)


def _undisturbed(cut_out: Callable[..., str | None], task: Task) -> str | None:
    with _BUSY:
        error = cut_out(*task)
    if _LEAVING.is_set():
        os._exit(1)
    return error
