"""A few worker processes, lent to one task at a time; cancelling a task kills its process, and a new one takes its
place. A process that dies takes only its task with it.

What a task needs again and again (points, a photo) is sent to a process once, and tasks go to a process that has it
where one is free.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import sys
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from contextlib import suppress
from multiprocessing.process import BaseProcess
from typing import Any

from .memory import TOOK_TOO_MUCH
from .refusals import Refused, TooLarge
from .worker import work

Progress = Callable[[str, float | None], None]

_KEPT = 6
_TRIES = 3
_PAUSE_S = 2.5


class WorkerDied(Refused):
    """The process of a task ended before its answer."""

    status = 500


class _Worker:
    """One process, its pipe, and what has been sent to it."""

    def __init__(self, context: Any):
        self.pipe, theirs = context.Pipe()
        self.process: BaseProcess = context.Process(target=work, args=(theirs,), daemon=True)
        self.process.start()
        theirs.close()
        self.kept: OrderedDict[str, None] = OrderedDict()

    def wait(self) -> bool:
        """Until the process can take tasks; False where it ended before. For a thread of its own."""
        try:
            return self.pipe.recv()[0] == "ready"
        except (EOFError, OSError):
            return False

    def ask(self, task: str, arguments: dict[str, Any], keep: Mapping[str, Any], progress: Progress) -> tuple:
        """Run a task and wait for its answer; for a thread of its own."""
        for key, value in keep.items():
            if key not in self.kept:
                self.pipe.send(("keep", key, value))
            self.kept[key] = None
            self.kept.move_to_end(key)
        while len(self.kept) > max(_KEPT, len(keep)):
            self.pipe.send(("drop", self.kept.popitem(last=False)[0]))
        self.pipe.send(("task", task, arguments))
        begun = False
        while True:
            try:
                kind, answer = self.pipe.recv()
            except (EOFError, OSError) as error:
                # One that ended while nobody used it has taken nothing with it: another can be asked.
                return ("died" if begun else "was dead"), error
            if kind == "begun":
                begun = True
            elif kind == "progress":
                progress(*answer)
            else:
                return kind, answer

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
            A name in `tasks.TASKS`.
        arguments : dict
        keep : mapping of str to object, optional
            What the process must hold, by keys that never mean anything else.
        progress : callable, optional
            Called with a step's name and the share done.
        quick : bool
            Whether it takes a moment only. The others never take the last process, so that these need not wait.
        """
        keep = keep or {}
        if quick:
            return await self._run(task, arguments, keep, progress)
        async with self._slow:
            return await self._run(task, arguments, keep, progress)

    async def _run(
        self, task: str, arguments: dict[str, Any], keep: Mapping[str, Any], progress: Progress | None
    ) -> tuple[Any, list[str]]:
        for _ in range(self._size):
            worker = await self._lend(keep)
            kind, value = await self._ask(worker, task, arguments, keep, progress)
            if kind not in ("died", "was dead"):
                await self._give_back(worker)
                break
            await self._replace(worker)
            if kind == "died":
                break
        if kind == "died" and worker.process.exitcode == TOOK_TOO_MUCH:
            raise TooLarge("reading this takes more than 1 GB of memory; use fewer rows or columns.")
        if kind in ("died", "was dead"):
            raise WorkerDied(
                "the process that worked on this ended before its answer; all else is as it was, try again."
            )
        if kind == "failed":
            raise value
        return value

    async def _ask(
        self,
        worker: _Worker,
        task: str,
        arguments: dict[str, Any],
        keep: Mapping[str, Any],
        progress: Progress | None,
    ) -> tuple:
        """What a process answers; it is ended where the task is cancelled."""
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[tuple] = loop.create_future()

        def on_progress(name: str, share: float | None) -> None:
            if progress is not None:
                loop.call_soon_threadsafe(progress, name, share)

        def settle(result: tuple) -> None:
            if not answer.done():
                answer.set_result(result)

        def ask() -> None:
            try:
                result = worker.ask(task, arguments, keep, on_progress)
            except (EOFError, OSError) as error:  # nothing could be sent to it
                result = ("was dead", error)
            except Exception as error:  # an argument that cannot be sent; the process itself is well
                result = ("failed", Refused(f"this is a bug in evencut: {error}", 500))
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(settle, result)

        threading.Thread(target=ask, daemon=True).start()
        try:
            return await answer
        except asyncio.CancelledError:
            await asyncio.shield(self._replace(worker))
            raise

    async def _lend(self, keep: Mapping[str, Any]) -> _Worker:
        async with self._changed:
            await self._changed.wait_for(lambda: bool(self._idle) or self._closed)
            if self._closed:
                raise Refused("the studio's processes have ended; start it again.", 503)
            # A process that holds what is needed; otherwise the one that was used longest ago.
            worker = max(self._idle, key=lambda idle: len(keep.keys() & idle.kept.keys()))
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
            # Whoever stopped the task need not wait until a new process is ready.
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


def _context() -> Any:
    """Processes copied from one that has imported everything already, where the system can; fresh ones elsewhere."""
    if sys.platform == "win32":
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["evencut.studio.tasks", "evencut.estimators"])
    return context
