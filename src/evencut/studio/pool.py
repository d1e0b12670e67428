"""A few worker processes, lent to one task at a time; cancelling a task kills its process, and a new one takes its
place. A process that dies takes only its task with it.

What a task needs again and again (points, a photo) is sent to a process once, and tasks go to a process that has it
where one is free.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import signal
import sys
import threading
import warnings
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext, suppress
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from operator import attrgetter
from pathlib import Path
from types import ModuleType
from typing import Any

from .options import RequestError, TooLarge


@contextmanager
def memory_for_upload(extra: int = 1 << 30) -> Iterator[None]:
    """Let the system refuse more memory than so much on top of what the process has.

    Counted is what may be written to: libraries reserve gigabytes of addresses that they never touch.
    """
    if sys.platform == "win32":
        with _job_of_windows(extra):
            yield
        return
    import resource

    status = Path("/proc/self/status")
    lines = status.read_text(encoding="ascii").splitlines() if status.exists() else []
    has = next((1024 * int(line.split()[1]) for line in lines if line.startswith("VmData")), None)
    if has is None:  # ru_maxrss is in bytes on macOS
        has = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    limits = resource.getrlimit(resource.RLIMIT_DATA)
    highest = limits[1] if limits[1] != resource.RLIM_INFINITY else has + extra
    resource.setrlimit(resource.RLIMIT_DATA, (min(has + extra, highest), limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, limits)


@contextmanager
def _job_of_windows(extra: int) -> Iterator[None]:
    """The same on Windows, by a job object that the process stays in."""
    import ctypes

    windows: Any = ctypes.windll  # type: ignore[attr-defined]
    kernel = windows.kernel32
    for name in ("CreateJobObjectW", "GetCurrentProcess"):
        getattr(kernel, name).restype = ctypes.c_void_p
    process = ctypes.c_void_p(kernel.GetCurrentProcess())
    usage = (ctypes.c_size_t * 11)()  # PROCESS_MEMORY_COUNTERS: the ninth size is what is committed
    windows.psapi.GetProcessMemoryInfo(process, ctypes.byref(usage), ctypes.sizeof(usage))
    job = ctypes.c_void_p(kernel.CreateJobObjectW(None, None))
    kernel.AssignProcessToJobObject(job, process)

    def limit(flags: int, n_bytes: int) -> None:
        # JOBOBJECT_EXTENDED_LIMIT_INFORMATION of 144 bytes: flags at 16, memory of a process at 112.
        information = (ctypes.c_char * 144)()
        ctypes.c_uint32.from_buffer(information, 16).value = flags
        ctypes.c_size_t.from_buffer(information, 112).value = n_bytes
        kernel.SetInformationJobObject(job, 9, ctypes.byref(information), 144)

    limit(0x100, usage[8] + extra)
    try:
        yield
    finally:
        limit(0, 0)


#: Takes the name of a step and the share that is done.
Progress = Callable[[str, float | None], None]

def work(pipe: Connection) -> None:
    """Serve tasks until the other end of the pipe is closed."""
    # Ctrl-C is the server's business: it closes the pipe.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    from threadpoolctl import threadpool_limits

    from . import tasks

    # Fits of a page are many and small; threads of linear algebra would only wait for each other.
    threadpool_limits(1)
    store: dict[str, Any] = {}
    with suppress(OSError):  # the studio was closed meanwhile: there is nothing to do
        pipe.send(("ready", None))
    while True:
        try:
            kind, *message = pipe.recv()
        except (EOFError, OSError):
            return
        if kind == "keep":
            store[message[0]] = message[1]
        elif kind == "drop":
            store.pop(message[0], None)
        else:
            task, arguments = message
            pipe.send(("begun", None))
            pipe.send(_answer(attrgetter(task)(tasks), store, arguments, lambda *step: pipe.send(("progress", step))))


def _answer(task: Callable[..., Any], store: dict[str, Any], arguments: dict[str, Any], tell: Progress) -> tuple:
    """The answer to send: done, or failed with what the user should know."""
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("default")
            result = task(store, arguments, tell)
        return "done", (result, list(dict.fromkeys(str(warning.message) for warning in caught)))
    except RequestError as refused:
        return "failed", refused
    except MemoryError:
        return "failed", TooLarge("this takes more memory than there is for it; take fewer rows, or a kernel like knn.")
    except (ValueError, TypeError) as error:
        return "failed", RequestError(" ".join(str(error).split()))
    except Exception as error:
        return "failed", RequestError(f"this is a bug in evencut: {type(error).__name__}: {error}", 500)


_KEPT = 6
_TRIES = 3
_PAUSE_S = 2.5


class _Worker:
    """One process, its pipe, and what has been sent to it."""

    def __init__(self, context: Any):
        self.pipe, theirs = context.Pipe()
        self.process: BaseProcess = context.Process(target=work, args=(theirs,), daemon=True)
        _start_without_main(self.process)
        theirs.close()
        self.kept: OrderedDict[str, None] = OrderedDict()

    def wait(self) -> bool:
        """Until the process can take tasks; False if it ended before. Blocks: run it in a thread."""
        try:
            return self.pipe.recv()[0] == "ready"
        except (EOFError, OSError):
            return False

    def ask(self, task: str, arguments: dict[str, Any], keep: Mapping[str, Any], progress: Progress) -> tuple:
        """Run a task and wait for its answer. Blocks: run it in a thread."""
        begun = False
        try:
            for key, value in keep.items():
                if key not in self.kept:
                    self.pipe.send(("keep", key, value))
                self.kept[key] = None
                self.kept.move_to_end(key)
            while len(self.kept) > max(_KEPT, len(keep)):
                self.pipe.send(("drop", self.kept.popitem(last=False)[0]))
            self.pipe.send(("task", task, arguments))
            while True:
                kind, content = self.pipe.recv()
                if kind == "progress":
                    progress(*content)
                elif kind == "begun":
                    begun = True
                else:
                    return kind, content
        except (EOFError, OSError) as error:
            # One that ended while it was idle has lost no work: another process can take the task.
            return ("died" if begun else "was dead"), error
        except Exception as error:  # an argument that cannot be sent; the process itself is well
            return "failed", RequestError(f"this is a bug in evencut: {error}", 500)

    def kill(self) -> None:
        """End the process now, whatever it does."""
        with suppress(Exception):
            self.process.kill()
        with suppress(Exception):
            self.process.join(5)
        with suppress(Exception):
            self.pipe.close()


class WorkerPool:
    """The processes of a studio.

    Parameters
    ----------
    size : int
        Number of processes.
    """

    def __init__(self, size: int):
        self._size = size
        self._context = _context()
        self._idle: list[_Worker] = []
        self._all: set[_Worker] = set()
        self._changed = asyncio.Condition()
        self._slow = asyncio.Semaphore(max(1, size - 1))
        self._closed = False
        self._adding: set[asyncio.Task[None]] = set()
        self._threads = ThreadPoolExecutor(size)

    async def start(self) -> None:
        """Start the processes; tasks may be given at once and wait until one is ready."""
        await self._add()
        # The first clusterings come now; the other processes must not take the processor from them.
        await asyncio.sleep(_PAUSE_S)
        for _ in range(self._size - 1):
            await self._add()

    async def close(self) -> None:
        """End all processes."""
        self._closed = True
        for task in self._adding:
            task.cancel()
        await asyncio.gather(*(asyncio.to_thread(worker.kill) for worker in list(self._all)))
        self._all.clear()
        self._idle.clear()
        self._threads.shutdown(wait=False)

    async def run(
        self,
        task: str,
        arguments: dict[str, Any],
        keep: Mapping[str, Any] | None = None,
        progress: Progress | None = None,
        quick: bool = False,
    ) -> tuple[Any, list[str]]:
        """The result of a task and the warnings it gave.

        Parameters
        ----------
        task : str
            Its module and name in `tasks`, such as "points.fit".
        arguments : dict
        keep : mapping of str to object, optional
            What the process must hold, by keys that never mean anything else.
        progress : callable, optional
            Called with a step's name and the share done.
        quick : bool
            Whether it takes a moment only. The others never take the last process, so that these need not wait.
        """
        loop = asyncio.get_running_loop()

        def on_progress(name: str, share: float | None) -> None:
            if progress is not None:
                loop.call_soon_threadsafe(progress, name, share)

        async with nullcontext() if quick else self._slow:
            for _ in range(self._size):
                worker = await self._lend(keep or {})
                work = (task, arguments, keep or {}, on_progress)
                try:
                    kind, value = await loop.run_in_executor(self._threads, worker.ask, *work)
                except asyncio.CancelledError:
                    await asyncio.shield(self._replace(worker))
                    raise
                if kind in ("done", "failed"):
                    await self._give_back(worker)
                    break
                await self._replace(worker)
                if kind == "died":
                    break
        if kind == "done":
            return value
        if kind == "failed":
            raise value
        if kind == "died" and ".read" in task and worker.process.exitcode == -signal.SIGABRT:
            raise TooLarge("reading this takes more than 1 GB of memory; use fewer rows or columns.")
        died = "the process that worked on this ended before its answer; all else is as it was, try again."
        raise RequestError(died, 500)

    async def _lend(self, keep: Mapping[str, Any]) -> _Worker:
        async with self._changed:
            await self._changed.wait_for(lambda: bool(self._idle) or self._closed)
            if self._closed:
                raise RequestError("the studio's processes have ended; start it again.", 503)
            # A process that holds what is needed, of several the one used last: what it made of it is there, too.
            # Otherwise the one that was used longest ago.
            held = [len(keep.keys() & idle.kept.keys()) for idle in self._idle]
            candidates = [idle for idle, number in zip(self._idle, held) if number == max(held)]
            worker = candidates[-1] if max(held) else candidates[0]
            self._idle.remove(worker)
            return worker

    async def _give_back(self, worker: _Worker) -> None:
        async with self._changed:
            self._idle.append(worker)
            self._changed.notify()

    async def _replace(self, worker: _Worker) -> None:
        self._all.discard(worker)
        await asyncio.to_thread(worker.kill)
        if not self._closed:
            # The user who stopped the task need not wait until a new process is ready.
            self._adding = {task for task in self._adding if not task.done()}
            self._adding.add(asyncio.create_task(self._add()))

    async def _add(self) -> None:
        for _ in range(_TRIES):
            try:
                worker = await asyncio.to_thread(_Worker, self._context)
            except OSError:
                # No process could be copied: its socket lies in a folder of too long a name, say. Start fresh ones.
                self._context = multiprocessing.get_context("spawn")
                continue
            self._all.add(worker)
            if await asyncio.to_thread(worker.wait):
                await self._give_back(worker)
                return
            self._all.discard(worker)
            await asyncio.to_thread(worker.kill)
        if not self._all:
            async with self._changed:
                self._closed = True
                self._changed.notify_all()


_starting = threading.Lock()


def _start_without_main(process: BaseProcess) -> None:
    """Start a process that does not import the user's script: without a guard it would open another studio."""
    with _starting:
        main = sys.modules["__main__"]
        sys.modules["__main__"] = ModuleType("__main__")
        try:
            process.start()
        finally:
            sys.modules["__main__"] = main


def _context() -> Any:
    """Processes copied from one that has imported everything already, where the system can; fresh ones elsewhere."""
    if sys.platform == "win32":
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["evencut.studio.tasks", "evencut.estimators"])
    return context
