"""Clicks at scale: photos of 12 megapixels, the memory they take, and whole folders on one process and on two."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks.photos import peak_memory
from reproduction.grabcut import read_photo

#: Photos are enlarged to so many pixels, then clicked on where the last answer is wrong.
LARGE_PIXELS = 12_000_000
LARGE_CLICKS = 6
FOLDER_TURNS = 3

#: The largest photo of the set from one click and corrected five times, for its memory.
CLICK_ON_ONE = """
import sys, warnings
from pathlib import Path
from benchmarks.click_methods import Evencut
from benchmarks.photos import worst_part
from reproduction.grabcut import read_photo
import numpy as np
warnings.simplefilter("ignore")
photo = read_photo(Path(sys.argv[1]), sys.argv[2])
method, mask = Evencut(photo.image), np.zeros(photo.truth.shape, dtype=bool)
for _ in range(6):
    _, x, y = worst_part(mask, photo.truth)
    mask = method.click(x, y, bool(photo.truth[y, x] == 255))
"""


def enlarged(image: np.ndarray, truth: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A photo and its truth at 12 megapixels, with the noise of a camera."""
    from PIL import Image

    scale = (LARGE_PIXELS / truth.size) ** 0.5
    size = round(truth.shape[1] * scale), round(truth.shape[0] * scale)
    large = np.asarray(Image.fromarray(image).resize(size, Image.Resampling.BICUBIC), dtype=np.float32)
    noise = np.random.default_rng(0).normal(0, 3, size=large.shape).astype(np.float32)
    marks = np.asarray(Image.fromarray(truth).resize(size, Image.Resampling.NEAREST))
    return np.clip(large + noise, 0, 255).astype(np.uint8), marks


def large_section(data: Path, names: list[str]) -> str:
    """CPU seconds of the first answer and of each click on large photos; memory of the largest of the set."""
    from benchmarks.click_methods import Evencut
    from benchmarks.click_robot import simulate

    first, later = [], []
    for name in names[:: max(1, len(names) // 3)][:3]:
        photo = read_photo(data, name)
        image, truth = enlarged(photo.image, photo.truth)
        curve = simulate(Evencut(image), truth, goal=1.0, most=LARGE_CLICKS)
        first.append(curve.seconds[0])
        later += curve.seconds[1:]
    largest = max(names, key=lambda name: read_photo(data, name).truth.size)
    height, width = read_photo(data, largest).truth.shape
    memory = peak_memory(CLICK_ON_ONE, [str(data), largest])
    lines = [
        "## Large photos and memory",
        f"Photos enlarged to {LARGE_PIXELS / 1e6:.0f} megapixels with noise, {LARGE_CLICKS} clicks each, CPU seconds:",
        f"first answer {np.median(first):.2f}, at most {max(first):.2f}; a click {np.median(later):.2f}, at most",
        f"{max(later):.2f}.",
        "",
        f"Peak memory of a process that cuts an object out of {width} x {height} pixels by six clicks:",
        f"{memory:.0f} MB.",
    ]
    return "\n".join(lines) + "\n"


def session_seconds(session: int) -> dict[str, float]:
    """CPU seconds so far of every process of a session, by its number; on Linux."""
    seconds = {}
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = entry.read_text().rpartition(")")[2].split()
        except OSError:
            continue  # It ended meanwhile.
        if int(fields[3]) == session:
            seconds[entry.parent.name] = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return seconds


def folder_run(data: Path, prompts: Path, out: Path, jobs: int) -> tuple[float, float, float]:
    """Wall and CPU seconds of `evencut segment-folder`, its processes included, and those that follow on each other.

    The processes part once everything is loaded: the command itself, then the busiest of them.
    """
    command = [sys.executable, "-m", "evencut", "segment-folder", str(prompts), "--jobs", str(jobs)]
    command += ["--photos", str(data / "grabcut" / "images"), "--out", str(out)]
    begin, spent = time.perf_counter(), {}
    # Its processes are not our children: they are watched while they live.
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True) as run:
        while run.poll() is None:
            spent.update(session_seconds(run.pid))
            time.sleep(0.05)
    if run.returncode:
        raise RuntimeError(f"{' '.join(command)} left with {run.returncode}.")
    wall, own = time.perf_counter() - begin, spent.pop(str(run.pid))
    return wall, own + sum(spent.values()), own + max(spent.values(), default=0.0)


def folder_section(data: Path, names: list[str]) -> str:
    """`segment-folder` over the photos with their boxes, on one process and on two."""
    with tempfile.TemporaryDirectory() as folder:
        prompts, single = Path(folder) / "prompts.csv", Path(folder) / "single.csv"
        rows = ["photo,x0,y0,x1,y1"]
        for name in names:
            photo = next((data / "grabcut" / "images").glob(f"{name}.*")).name
            rows.append(",".join([photo, *map(str, read_photo(data, name).box)]))
        prompts.write_text("\n".join(rows), encoding="utf-8")
        single.write_text("\n".join(rows[:2]), encoding="utf-8")
        _, start, _ = folder_run(data, single, Path(folder) / "masks0", 1)
        runs = [
            [folder_run(data, prompts, Path(folder) / f"masks{jobs}-{turn}", jobs) for jobs in (1, 2)]
            for turn in range(FOLDER_TURNS)
        ]
    # Others who share the cores only ever add to a time: the least is the nearest to the truth.
    (wall_1, cpu_1, path_1), (wall_2, cpu_2, path_2) = np.min(runs, axis=0)
    lines = [
        "## A folder of photos",
        f"`evencut segment-folder` over {len(names)} photos with a box each; a run of one photo, nearly all of it the",
        f"loading of libraries, takes {start:.1f} CPU s, and that part is not shared out. The least of "
        f"{FOLDER_TURNS} runs:",
        "",
        "| processes | wall s | CPU s | CPU s one after the other |",
        "|---|---|---|---|",
        f"| 1 | {wall_1:.1f} | {cpu_1:.1f} | {path_1:.1f} |",
        f"| 2 | {wall_2:.1f} | {cpu_2:.1f} | {path_2:.1f} |",
        "",
        "The last column is what a run takes on cores that are free: the loading, then the busiest process.",
        f"By it two processes are {path_1 / path_2:.2f} times as quick, by the clock {wall_1 / wall_2:.2f} times "
        f"({os.cpu_count()} cores, load {os.getloadavg()[0]:.0f} while measured).",
        "",
        "Where the run, or one of its processes, is killed, the others finish the photo they have in hand and the next",
        "run waits for them: it repeats at most one photo. Processes killed one by one cost a photo each.",
    ]
    return "\n".join(lines) + "\n"
