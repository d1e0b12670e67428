"""What a newcomer waits for: CPU seconds of new processes with empty caches, the wheel in an empty environment.

    python -m benchmarks first_answer [WHEEL]

Without a wheel one is built from this folder. Peers are measured in the same run, each in an environment of its own,
and the page says which the package index does not have. The record is `records/first_answer.json`, the page
`FIRST_ANSWER.md`.
"""

from __future__ import annotations

import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from .records import publish, stamp
from .studio import FLAGS, Server, chromium

__all__ = ["main"]

ROOT = Path(__file__).parents[1]
RUNS = 5
#: A process that takes so many seconds is not asked again: the others say how much they vary.
LONG = 10.0
POINTS = "import numpy as np; X = np.random.default_rng(0).normal(size=(300, 2)) + np.arange(300)[:, None] // 100 * 5; "
PHOTO = (
    "import numpy as np; image = np.zeros((240, 320, 3)); image[60:160, 80:200] = (0.8, 0.3, 0.2); "
    "image += np.random.default_rng(0).normal(scale=0.03, size=image.shape); "
)
FIT = "from evencut import EvenCut; EvenCut(3, random_state=0).fit(X)"
#: What is measured of evencut and scikit-learn, in turn: a name, and code or the arguments of the command.
OURS: dict[str, str | list[str]] = {
    "base": "import sklearn.base",
    "import": "from evencut import EvenCut",
    "fit": POINTS + FIT,
    "sklearn": POINTS + "from sklearn.cluster import HDBSCAN; HDBSCAN(copy=True).fit(X)",
    "command": ["cluster", "points.csv", "-k", "3", "-o", "labels.csv"],
    "click": PHOTO + "from evencut.segmentation import segment; segment(image, clicks=[(110, 140, 'object')])",
}
#: Prints its own seconds.
SECOND = (
    POINTS + FIT + "; import time; start = time.process_time(); EvenCut(3, random_state=0).fit(X); "
    "print(time.process_time() - start)"
)
#: Import and first fit of packages that get an environment of their own.
PEERS = {
    "hdbscan": POINTS + "from hdbscan import HDBSCAN; HDBSCAN().fit(X)",
    "umap-learn": POINTS + "from umap import UMAP; UMAP().fit(X)",
    "fast-hdbscan": POINTS + "from fast_hdbscan import HDBSCAN; HDBSCAN().fit(X)",
}


def main(arguments: list[str]) -> None:
    """Make the environments, measure, and keep the tables."""
    # What is measured is the tree as it is now, when the wheel is built.
    measured = stamp()
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        before = cpu_seconds()
        wheel = Path(arguments[0]).resolve() if arguments else build_wheel(folder / "wheel")
        compiling = None if arguments else cpu_seconds() - before
        core = needed(environment(folder / "core", str(wheel)), wheel)
        size = size_of(core)
        whole = needed(environment(folder / "whole", f"{wheel}[cli,vision,studio]"), wheel)
        (folder / "points.csv").write_text(table_of_points(), encoding="utf-8")
        seconds = in_turn(whole, folder)
        second = statistics.median(float(run(whole, SECOND, folder)[1]) for _ in range(RUNS))
        paint = first_paint(whole, folder)
        clone = fresh_clone(folder / "clone")
        rows = rows_of(seconds, second) + [
            ["studio: command to first paint (wall)", paint, "3"],
            ["installed size with dependencies of the core, MB", f"{size:.0f}", "300"],
            ["fresh clone, `make run` (wall, downloads cached)", clone, "60"],
            ["the wheel built: all loops translated and compiled", shown(compiling, ".0f"), "60"],
        ]
        peers = [["scikit-learn's HDBSCAN", shown(seconds["sklearn"])], ["**evencut**", shown(seconds["fit"])]]
        peers += [[name, peer_seconds(name, code, folder)] for name, code in PEERS.items()]
    publish("first_answer", {"first answer": page_of(rows, peers)}, measured=measured)


def rows_of(seconds: dict[str, float], second: float) -> list[list[str]]:
    """What is asked, beside what was measured in CPU seconds."""
    limit = 1.2 * seconds["sklearn"]
    return [
        ["import of an estimator, beyond `sklearn.base`", shown(seconds["import"] - seconds["base"]), "0.15"],
        ["import, then the first default fit of 300 points", shown(seconds["fit"]), f"{limit:.2f}: 1.2 times HDBSCAN"],
        ["second fit of 300 points", shown(second, ".3f"), "0.03"],
        ["`evencut cluster` on 300 rows, whole process", shown(seconds["command"]), "2.5"],
        ["first click on a photo, new process", shown(seconds["click"]), "1.5"],
    ]


def page_of(rows: list[list[str]], peers: list[list[str]]) -> str:
    """The page: both tables, and how they were measured."""
    return (
        "# The first answer\n\nCPU seconds of new processes with empty caches and one thread, the wheel installed in "
        f"an empty environment: medians of {RUNS}, taken in turn, and one process where it takes more than {LONG:.0f} "
        f"s. Load of the processor at the end of the run: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores; what is "
        "marked as wall time grows with it.\n\n"
        "| | measured | target |\n|---|---|---|\n"
        + "".join(f"| {' | '.join(row)} |\n" for row in rows)
        + "\n## Import and first fit, beside others\n\n| | CPU s |\n|---|---|\n"
        + "".join(f"| {' | '.join(row)} |\n" for row in peers)
    )


def shown(value: float | None, form: str = ".2f") -> str:
    return "–" if value is None else format(value, form)


# ---- environments


def build_wheel(folder: Path) -> Path:
    """A wheel of this folder, by the tools of this environment."""
    path = str(Path(sys.executable).parent) + os.pathsep + os.environ["PATH"]
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "-w", str(folder)]
    subprocess.run([*command, str(ROOT)], check=True, env=os.environ | {"PATH": path})
    (wheel,) = folder.glob("*.whl")
    return wheel


def environment(folder: Path, *packages: str) -> Path | None:
    """A new environment with some packages; None where they cannot be had."""
    print(f"installing {', '.join(Path(package).name for package in packages)}", flush=True)
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    command = [folder / "bin" / "python", "-m", "pip", "install", "--quiet", *packages]
    installed = subprocess.run(command, capture_output=True, env=bare())
    return folder if installed.returncode == 0 else None


def needed(place: Path | None, wheel: Path) -> Path:
    if place is None:
        sys.exit(f"{wheel} could not be installed in an empty environment")
    return place


def bare(**variables: str) -> dict[str, str]:
    """The variables of a process that sees neither this environment nor any cache."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL"))}
    return kept | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"} | variables


def size_of(folder: Path) -> float:
    """Megabytes of what is installed, pip apart."""
    files = (path for path in (folder / "lib").rglob("*") if path.is_file() and "pip" not in path.parts)
    return sum(path.stat().st_size for path in files if not path.is_symlink()) / 1e6


def table_of_points() -> str:
    names: dict[str, object] = {}
    exec(POINTS, names)
    return "x,y\n" + "\n".join(f"{x},{y}" for x, y in names["X"])  # type: ignore[attr-defined]


# ---- measuring


def cpu_seconds() -> float:
    """CPU seconds of all processes that were started here and have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def run(place: Path, what: str | list[str], folder: Path) -> tuple[float, str]:
    """CPU seconds of a new process with empty caches, and what it printed."""
    program = [place / "bin" / "python", "-c", what] if isinstance(what, str) else [place / "bin" / "evencut", *what]
    with tempfile.TemporaryDirectory() as empty:
        caches = bare(HOME=empty, XDG_CACHE_HOME=empty, NUMBA_CACHE_DIR=empty)
        before = cpu_seconds()
        done = subprocess.run(program, check=True, capture_output=True, text=True, cwd=folder, env=caches)
        return cpu_seconds() - before, done.stdout


def in_turn(place: Path, folder: Path) -> dict[str, float]:
    """Medians; every round asks all, so that a busy moment meets all alike. The first only fills the disk's cache."""
    rounds = [{name: run(place, what, folder)[0] for name, what in OURS.items()} for _ in range(RUNS + 1)][1:]
    medians = {name: statistics.median(one[name] for one in rounds) for name in OURS}
    print(medians, flush=True)
    return medians


def peer_seconds(package: str, code: str, folder: Path) -> str:
    """The same of a peer, or why not; one with a long first fit is asked once."""
    place = environment(folder / package, package)
    if place is None:
        return "not in the package index"
    run(place, "import numpy, scipy, sklearn.base", folder)
    taken = [run(place, code, folder)[0]]
    while len(taken) < RUNS and taken[0] < LONG:
        taken.append(run(place, code, folder)[0])
    shutil.rmtree(place)
    print(package, taken, flush=True)
    return f"{statistics.median(taken):.2f}"


def first_paint(place: Path, folder: Path) -> str:
    """Seconds from the command to what the browser, which runs already, paints first."""
    from playwright.sync_api import sync_playwright

    painted = "() => performance.getEntriesByName('first-contentful-paint').length > 0"
    taken = []
    for _ in range(3):
        with sync_playwright() as driver:
            browser = driver.chromium.launch(executable_path=chromium(), args=list(FLAGS))
            page = browser.new_page()
            start = time.perf_counter()
            server = Server(folder, str(place / "bin" / "python"))
            try:
                page.goto(server.address)
                page.wait_for_function(painted)
                taken.append(time.perf_counter() - start)
            finally:
                server.close()
                browser.close()
    print("studio", taken, flush=True)
    return f"{statistics.median(taken):.1f}"


def fresh_clone(folder: Path) -> str:
    """Seconds of `make run` in a clone of what is committed, and its CPU seconds."""
    subprocess.run(["git", "clone", "--quiet", str(ROOT), str(folder)], check=True)
    before, start = cpu_seconds(), time.perf_counter()
    subprocess.run(["make", "run"], cwd=folder, check=True, capture_output=True, env=bare())
    wall, cpu = time.perf_counter() - start, cpu_seconds() - before
    print("make run", wall, cpu, flush=True)
    return f"{wall:.0f} (CPU {cpu:.0f})"
