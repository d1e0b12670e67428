"""What a newcomer waits for: CPU seconds of new processes with empty caches, the wheel in an empty environment.

    python -m benchmarks first_answer [WHEEL]

Without a wheel one is built from this folder. Peers are measured in the same run, each in an environment of its own,
and left out where the package index does not have them. Every number is the median of three processes. The record is
`records/first_answer.json`, the page `FIRST_ANSWER.md`.
"""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from .records import publish

__all__ = ["main"]

ROOT = Path(__file__).parents[1]
RUNS = 3
POINTS = "import numpy as np; X = np.random.default_rng(0).normal(size=(300, 2)) + np.arange(300)[:, None] // 100 * 5; "
PHOTO = (
    "import numpy as np; image = np.zeros((240, 320, 3)); image[60:160, 80:200] = (0.8, 0.3, 0.2); "
    "image += np.random.default_rng(0).normal(scale=0.03, size=image.shape); "
)
FIT = "from evencut import EvenCut; EvenCut(3, random_state=0).fit(X)"
#: What is measured of evencut: a name, and code or the arguments of the command.
OURS: dict[str, str | list[str]] = {
    "import sklearn.base": "import sklearn.base",
    "import of an estimator": "from evencut import EvenCut",
    "import and first fit of 300 points": POINTS + FIT,
    "the same and a second fit": POINTS + FIT + "; EvenCut(3, random_state=0).fit(X)",
    "evencut cluster on 300 rows": ["cluster", "points.csv", "-k", "3", "-o", "labels.csv"],
    "first click on a photo": PHOTO
    + "from evencut.segmentation import segment; segment(image, clicks=[(110, 140, 'object')])",
    "scikit-learn: import and fit of HDBSCAN": POINTS
    + "from sklearn.cluster import HDBSCAN; HDBSCAN(copy=True).fit(X)",
}
#: The same of packages with an environment of their own.
PEERS = {
    "fast-hdbscan": POINTS + "from fast_hdbscan import HDBSCAN; HDBSCAN().fit(X)",
    "umap-learn": POINTS + "from umap import UMAP; UMAP().fit(X)",
    "hdbscan": POINTS + "from hdbscan import HDBSCAN; HDBSCAN().fit(X)",
}


def main(arguments: list[str]) -> None:
    """Make the environments, measure, and keep the table."""
    rows: list[str] = []
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        wheel = Path(arguments[0]).resolve() if arguments else build_wheel(folder / "wheel")
        core = environment(folder / "core", str(wheel))
        if core is None:
            sys.exit(f"{wheel} could not be installed in an empty environment")
        size = size_of(core)
        (folder / "points.csv").write_text(table_of_points(), encoding="utf-8")
        whole = environment(folder / "whole", f"{wheel}[cli,vision]")
        for name, what in OURS.items():
            rows.append(row_of(name, whole, what, folder))
        for package, code in PEERS.items():
            place = environment(folder / package, package)
            rows.append(row_of(f"{package}: import and first fit", place, code, folder))
    publish("first_answer", {"first answer": page_of(size, rows)})


def page_of(size: float, rows: list[str]) -> str:
    """The page: the table, and what stands beside it."""
    return (
        "# The first answer\n\nCPU seconds of new processes with empty caches and one thread, the wheel installed in "
        f"an empty environment: medians of {RUNS}. The core with what it needs takes {size:.0f} MB.\n\n"
        "| | CPU s |\n|---|---|\n" + "\n".join(rows) + "\n"
    )


def build_wheel(folder: Path) -> Path:
    """A wheel of this folder, by the tools of this environment."""
    path = str(Path(sys.executable).parent) + os.pathsep + os.environ["PATH"]
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "-w", str(folder)]
    subprocess.run([*command, str(ROOT)], check=True, env=os.environ | {"PATH": path})
    (wheel,) = folder.glob("*.whl")
    return wheel


def environment(folder: Path, *packages: str) -> Path | None:
    """A new environment with some packages; None where they cannot be had."""
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    command = [folder / "bin" / "python", "-m", "pip", "install", "--quiet", *packages]
    installed = subprocess.run(command, capture_output=True, env=bare())
    return folder if installed.returncode == 0 else None


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


def row_of(name: str, place: Path | None, what: str | list[str], folder: Path) -> str:
    """A row: the median of the CPU seconds of a few processes."""
    if place is None:
        return f"| {name} | not to be had |"
    program = [place / "bin" / "python", "-c", what] if isinstance(what, str) else [place / "bin" / "evencut", *what]
    seconds = []
    for _ in range(RUNS):
        with tempfile.TemporaryDirectory() as empty:
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            caches = bare(HOME=empty, XDG_CACHE_HOME=empty, NUMBA_CACHE_DIR=empty)
            subprocess.run(program, check=True, capture_output=True, cwd=folder, env=caches)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            seconds.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    row = f"| {name} | {statistics.median(seconds):.2f} |"
    print(row, flush=True)
    return row
