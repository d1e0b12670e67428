"""Compiled loops: all are compiled, none runs as Python unasked, their examples run, other threads go on."""

import doctest
import importlib
import os
import subprocess
import sys
import threading
import time
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

import numpy as np
import pytest

import evencut

SOURCE = Path(evencut.__file__).parent
LOOPS = sorted(SOURCE.rglob("_*loops.py"))


def name_of(path):
    return ".".join(("evencut", *path.relative_to(SOURCE).with_suffix("").parts))


@pytest.mark.parametrize("path", LOOPS, ids=name_of)
def test_what_is_imported_is_the_compiled_twin(path):
    module = importlib.import_module(name_of(path))
    assert module.__file__.endswith(tuple(EXTENSION_SUFFIXES)), f"{module.__file__}: list it in meson.build"


def test_the_examples_of_compiled_modules_run():
    """pytest passes them over, since their file is not the source; by name they are found, and none is missed."""
    written = sum(path.read_text(encoding="utf-8").count(">>> ") for path in LOOPS)
    runner = doctest.DocTestRunner()
    for path in LOOPS:
        for test in doctest.DocTestFinder().find(importlib.import_module(name_of(path))):
            # Cython keeps the examples of functions a second time.
            if ".__test__." not in test.name:
                runner.run(test)
    assert runner.failures == 0
    assert runner.tries == written > 0


def run_source(code, **variables):
    """Run code with the package imported from its sources alone, as from a checkout that nobody has installed."""
    bare = {key: value for key, value in os.environ.items() if key != "EVENCUT_INTERPRETED"}
    script = (
        "import sys\n"
        "sys.meta_path = [finder for finder in sys.meta_path if 'esonpy' not in type(finder).__name__]\n"
        f"sys.path.insert(0, {str(SOURCE.parent)!r})\n" + code
    )
    command = [sys.executable, "-c", script]
    return subprocess.run(command, capture_output=True, text=True, env=bare | variables)


LISTS = (
    "import numpy as np\n"
    "from evencut.neighbors._nearest_loops import sort_pairs\n"
    "distances, indices = np.array([[2.0, 1.0, 1.0]]), np.array([[0, 2, 1]])\n"
    "sort_pairs(distances, indices)\n"
    "print(indices.tolist())\n"
)


def test_a_loop_that_was_not_compiled_is_refused_with_the_cure():
    answer = run_source(LISTS)
    last = answer.stderr.strip().splitlines()[-1]
    assert last.startswith("ImportError") and "pip install ." in last and "EVENCUT_INTERPRETED=1" in last


def test_a_variable_lets_loops_run_as_python():
    pytest.importorskip("Cython")
    answer = run_source(LISTS, EVENCUT_INTERPRETED="1")
    assert answer.stdout.strip() == "[[1, 2, 0]]", answer.stderr


def test_loops_leave_the_lock_to_other_threads():
    """While a thread is inside a loop this one goes on; with the lock held it could not before the loop has ended."""
    from evencut.neighbors._nearest_loops import keep_nearest

    scores, offsets, rows = np.random.default_rng(0).normal(size=(500, 20_000)), np.zeros(20_000), np.arange(500)
    best, indices = np.full((500, 10), np.inf), np.full((500, 10), -1, dtype=np.int64)
    ended = threading.Event()

    def work():
        keep_nearest(scores, offsets, 0, rows, best, indices)
        ended.set()

    before = sys.getswitchinterval()
    sys.setswitchinterval(1000)  # a thread that holds the lock keeps it
    try:
        thread = threading.Thread(target=work)
        thread.start()
        went_on = not ended.is_set()
        thread.join()
    finally:
        sys.setswitchinterval(before)
    assert went_on


@pytest.mark.skipif(not os.environ.get("EVENCUT_BOUNDS"), reason="make fuzz BOUNDS=1 checks every index")
def test_an_index_outside_its_array_raises_where_bounds_are_checked():
    """In a loop, and in one that another calls without the lock: an error is neither lost nor printed aside."""
    from evencut.neighbors._nearest_loops import pair_distances
    from evencut.segmentation._maxflow_loops import maximum_flow

    with pytest.raises(IndexError):
        pair_distances(np.zeros((1, 1)), np.zeros((1, 1)), np.array([[7]]), np.empty((1, 1)))
    excess, offsets = np.array([0.0, 1.0, 0.0]), np.array([-1, 9, 9, 9, 9, 9, 9, 1])
    with pytest.raises(IndexError):
        maximum_flow(np.ones((3, 8)), excess, offsets, np.zeros(3, dtype=np.int8))


@pytest.mark.skipif(bool(os.environ.get("EVENCUT_BOUNDS")), reason="a checked index can raise, which is looked for")
def test_calls_inside_a_loop_need_no_lock():
    """While this thread keeps Python's lock another pushes flow along many paths, each by several calls."""
    from evencut.segmentation._maxflow_loops import maximum_flow

    width = 1500
    residual, excess = np.ones((width * width, 8)), np.zeros(width * width)
    offsets = np.array([dy * width + dx for dy in (-1, 0, 1) for dx in (-1, 0, 1) if dy or dx])
    grid = excess.reshape(width, width)
    grid[2:-2:5, 1:-2:5], grid[2:-2:5, 3:-1:5] = 1.0, -1.0  # no neighbours: only a search finds the ways
    first, last = np.flatnonzero(excess)[[0, -1]]
    thread = threading.Thread(target=maximum_flow, args=(residual, excess, offsets, np.zeros(excess.size, np.int8)))
    before = sys.getswitchinterval()
    sys.setswitchinterval(1000)  # a thread that holds the lock keeps it
    try:
        thread.start()
        until = time.monotonic() + 20
        while excess[first] > 0.0 and time.monotonic() < until:
            time.sleep(0)  # gives the lock away: the search needs it for its arrays, before it begins
        while excess[last] < 0.0 and time.monotonic() < until:
            pass
        arrived = excess[last]
    finally:
        sys.setswitchinterval(before)
        thread.join()
    assert arrived == 0.0
