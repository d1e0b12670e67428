"""Threads, free memory, sizes that count as large, warnings at the caller's line, progress, and words for errors."""

from __future__ import annotations

import errno
import os
import shutil
import sys
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import partial
from pathlib import Path
from typing import IO, Any

#: Above it points are put in an order that keeps neighbours near in memory, and graphs are refined along the borders
#: of their clusters only.
MANY_POINTS = 20_000
#: The default clusters up to so many points; more are condensed to so many centres, or to so many for each cluster.
MOST_COMPARED = 5000
POINTS_PER_CLUSTER = 20
_listener: ContextVar[Callable[[str, int, int], None] | None] = ContextVar("evencut_progress", default=None)
_counter: ContextVar[Callable[[int], None] | None] = ContextVar("evencut_progress_parts", default=None)


def n_threads(n_jobs: int | None) -> int:
    """Threads for a number of jobs as scikit-learn counts them; more than cores would only wait for each other.

    Examples
    --------
    >>> n_threads(None)
    1
    """
    from joblib import effective_n_jobs

    return max(1, min(effective_n_jobs(n_jobs), os.cpu_count() or 1))


class _SingleThreadedBlas:
    """Matrix products on one thread while this is entered, by any thread of ours: the first enters, the last leaves."""

    def __init__(self) -> None:
        self._lock, self._n_entered = threading.Lock(), 0
        self._loaded: list[bool] = []
        self._libraries: Any = None
        self._limits: Any = None

    def __enter__(self) -> None:
        with self._lock:
            if self._n_entered == 0:
                self._limits = self._controller().limit(limits=1)
            self._n_entered += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._n_entered -= 1
            if self._n_entered == 0:
                self._limits.restore_original_limits()

    def _controller(self) -> Any:
        # Looking for libraries takes longer than a small search, so it is done again only when one of these is new.
        loaded = [name in sys.modules for name in ("scipy.linalg", "sklearn", "torch", "numba", "faiss")]
        if loaded != self._loaded:
            from threadpoolctl import ThreadpoolController

            self._loaded, self._libraries = loaded, ThreadpoolController()
        return self._libraries

    def start_worker(self, n_threads: int) -> None:
        """Limit a thread of a pool: its loops run alone, and `n_jobs=None` means `n_threads` inside it."""
        from joblib import parallel_config

        self._libraries.limit(limits=1, user_api="openmp")
        parallel_config("threading", n_jobs=n_threads)


#: Enter it around several searches, so that the libraries of products are looked for once.
single_threaded_blas = _SingleThreadedBlas()


def in_threads(work: Callable[[Any], Any], tasks: Iterable[Any], n_threads: int) -> list[Any]:
    """What `work` makes of each task, in order; every product on one thread, so that sums do not depend on them."""
    with single_threaded_blas:
        if n_threads == 1:
            return [work(task) for task in tasks]
        tasks = list(tasks)
        start = partial(single_threaded_blas.start_worker, max(1, n_threads // max(1, len(tasks))))
        with ThreadPoolExecutor(n_threads, initializer=start) as pool:
            return list(pool.map(work, tasks))


def fits_in_memory(n_points: int, dtype: Any, memory: float | None = None) -> bool:
    """Whether an affinity of all pairs stays within `memory` bytes, by default a quarter of the free memory.

    Examples
    --------
    >>> fits_in_memory(1000, float, memory=8e6), fits_in_memory(1000, float, memory=7e6)
    (True, False)
    """
    import numpy as np  # here: the command reports errors before it loads libraries of numbers

    if memory is None:
        memory = 0.25 * free_memory()
    elif not memory >= 0:
        raise ValueError(f"memory={memory!r} must be a number of bytes, or None for a quarter of the free memory.")
    return n_points * n_points * np.dtype(dtype).itemsize <= memory


def keeps_in_memory(n_points: int, dtype: Any, memory: float | None = None) -> bool:
    """Whether all pairs are kept; raises where computing them again and again would take minutes, unless asked for.

    Examples
    --------
    >>> keeps_in_memory(1000, float)
    True
    """
    if fits_in_memory(n_points, dtype, memory):
        return True
    # A fit with all pairs of more points takes more than a minute on one core.
    if memory is None and n_points > 25_000:
        raise ValueError(
            f"a kernel of all pairs of {n_points} points does not fit in memory, and computing its {n_points**2:.1g} "
            "entries for every step takes minutes; use kernel='knn', or LandmarkClustering, or put the points on a "
            "GPU. To compute them anyway, give the kernel a memory in bytes."
        )
    return False


def free_memory() -> int:
    """Free memory in bytes, within the limit of a container.

    Examples
    --------
    >>> free_memory() > 0
    True
    """
    free = _system_memory()
    limit, used = _number(Path("/sys/fs/cgroup/memory.max")), _number(Path("/sys/fs/cgroup/memory.current"))
    if limit is not None and used is not None:
        free = min(free, max(limit - used, 0))
    return free


def _system_memory() -> int:
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    try:
        # Elsewhere count half of what is built in: the rest is in use, or may be.
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    except (AttributeError, ValueError, OSError):
        return 4 << 30


def _number(path: Path) -> int | None:
    try:
        return int(path.read_text())
    except (OSError, ValueError):
        return None


def warn_user(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the first line outside the package that led here.

    Examples
    --------
    >>> import warnings
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     warn_user("look here")
    >>> str(caught[0].message)
    'look here'
    """
    package = str(Path(__file__).parent)
    level = 2
    frame = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(package):
        frame, level = frame.f_back, level + 1  # type: ignore[assignment]
    warnings.warn(message, category, stacklevel=level if frame is not None else 2)


def one_line(error: BaseException) -> str:
    """The message of an error on one line.

    Examples
    --------
    >>> one_line(ValueError("two\\nlines"))
    'two lines'
    """
    return " ".join(str(error).split()) or type(error).__name__


@contextmanager
def atomic_write(path: str | Path) -> Iterator[IO[bytes]]:
    """Open a file for writing that replaces `path` only if the block ends without an error.

    Devices and pipes are written directly.
    """
    target = Path(os.path.realpath(path))
    draft = target if target.exists() and not target.is_file() else draft_of(target)
    if not target.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "its folder does not exist", str(path))
    try:
        with draft.open("wb" if draft is target else "xb") as file:
            yield file
        if draft is not target:
            if target.exists():
                shutil.copymode(target, draft)
            draft.replace(target)
    finally:
        if draft is not target:
            with suppress(OSError):
                draft.unlink()


def draft_of(target: Path) -> Path:
    """The file beside `target` that is written first.

    Examples
    --------
    >>> draft_of(Path("labels.csv")).name.startswith(".labels.csv.")
    True
    """
    return target.with_name(f".{target.name}.{os.getpid()}.part")


def some(names: list[str], max_names: int = 6) -> str:
    """The first few names of many.

    Examples
    --------
    >>> some(["x", "y", "z"], 2)
    'x, y, ...'
    """
    return ", ".join(names[:max_names]) + (", ..." if len(names) > max_names else "")


def counted(n: int, what: str) -> str:
    """A number of things in words.

    Examples
    --------
    >>> counted(1, "row"), counted(2, "row")
    ('1 row', '2 rows')
    """
    return f"{n} {what}{'' if n == 1 else 's'}"


@contextmanager
def on_progress(listener: Callable[[str, int, int], None]) -> Iterator[None]:
    """Report every step that begins while this is open to `listener(name, number, total)`, and to it alone.

    Examples
    --------
    >>> with on_progress(lambda name, number, total: print(f"{number} of {total}: {name}")):
    ...     step("neighbours", 1, 3)
    1 of 3: neighbours
    """
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


def step(name: str, number: int, total: int) -> None:
    """Report that step `number` of `total` begins.

    Examples
    --------
    >>> step("neighbours", 1, 3)
    """
    if listener := _listener.get():
        listener(name, number, total)


@contextmanager
def counted_step(name: str, first: int, last: int, total: int, n_parts: int) -> Iterator[None]:
    """Spread the steps from `first` to before `last` over about `n_parts` calls of :func:`part_of_step`.

    Examples
    --------
    >>> with on_progress(lambda name, number, total: print(f"{number} of {total}: {name}")):
    ...     with counted_step("numbers", 2, 4, 9, n_parts=4):
    ...         for _ in range(5):
    ...             part_of_step()
    2 of 9: numbers
    3 of 9: numbers
    """
    done, reported = 0, 0

    def count(n: int) -> None:
        nonlocal done, reported
        number = min(first + done * (last - first) // n_parts, last - 1)
        if number > reported:
            step(name, number, total)
        done, reported = done + n, number

    token = _counter.set(count)
    try:
        yield
    finally:
        _counter.reset(token)


def part_of_step(n: int = 1) -> None:
    """Report that `n` parts of a counted step begin.

    Examples
    --------
    >>> part_of_step()
    """
    if count := _counter.get():
        count(n)
