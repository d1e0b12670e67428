"""What the two benchmarks of photos share: their options, where a user would correct, honest tuning, and the page.

Used by `benchmarks.segmentation` (errors from boxes) and `benchmarks.clicks` (clicks to a cut-out).
"""

from __future__ import annotations

import argparse
import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
from scipy.ndimage import distance_transform_edt, label

from evencut.paper.grabcut import find_photos

#: Photos to choose constants on and photos to judge them on: every other one, and the reverse.
HALVES = {"even": slice(0, None, 2), "odd": slice(1, None, 2)}


def photo_parser(purpose: str, parts: tuple[str, ...]) -> argparse.ArgumentParser:
    """The options that every benchmark of photos has."""
    parser = argparse.ArgumentParser(description=purpose)
    parser.add_argument("--data", default=os.environ.get("EVENCUT_DATA"), help="folder that holds grabcut/")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--subset", type=int, help="only every n-th photo, for a quick look")
    parser.add_argument("--part", choices=("all", *parts), default="all")
    parser.add_argument("--kept", help="folder of what was measured, so that a stopped run goes on")
    return parser


def chosen_photos(parser: argparse.ArgumentParser, options: argparse.Namespace) -> tuple[Path, list[str]]:
    """The folder of the data and the names of the photos asked for."""
    if not options.data:
        parser.error("name the folder that holds grabcut/ with --data or EVENCUT_DATA")
    return Path(options.data), find_photos(Path(options.data))[:: options.subset or 1]


def kept(measure: Callable, folder: str | None, data: Path, name: str):
    """What an earlier run found for this photo, or a measurement that later runs will find."""
    place = None if folder is None else Path(folder) / f"{measure.__name__}-{name}.pickle"
    if place is not None and place.exists():
        return pickle.loads(place.read_bytes())
    found = measure(data, name)
    if place is not None:
        place.parent.mkdir(parents=True, exist_ok=True)
        draft = place.with_suffix(".part")
        draft.write_bytes(pickle.dumps(found))
        draft.replace(place)
    return found


def worst_part(mask: np.ndarray, truth: np.ndarray) -> tuple[np.ndarray, int, int] | None:
    """The largest wrong region, and the column and row of its deepest point; None where nothing is wrong."""
    parts, n_parts = label((mask != (truth == 255)) & (truth != 128))
    if not n_parts:
        return None
    sizes = np.bincount(parts.ravel())
    sizes[0] = 0
    worst = parts == sizes.argmax()
    depth = distance_transform_edt(np.pad(worst, 1))[1:-1, 1:-1]
    y, x = np.unravel_index(int(depth.argmax()), depth.shape)
    return worst, int(x), int(y)


def cross_tuned(found: np.ndarray, names: list[str], default: int, digits: int = 2) -> list[str]:
    """Rows of a table: for each half the setting chosen on the other half, and what it, the default and the best do.

    Parameters
    ----------
    found : ndarray of shape (n_photos, n_settings)
        What is to be small.
    names : list of str
        Of the settings.
    default : int
    """
    rows = []
    for judged, other in (("even", "odd"), ("odd", "even")):
        chosen = int(found[HALVES[other]].mean(axis=0).argmin())
        here = found[HALVES[judged]].mean(axis=0)
        numbers = " | ".join(f"{value:.{digits}f}" for value in (here[chosen], here[default], here.min()))
        rows.append(f"| {judged} photos | {names[chosen]} | {numbers} |")
    return rows


def listed(names: list[str], found: np.ndarray) -> str:
    """All settings with their means over all photos."""
    return "All photos: " + "; ".join(f"{name}: {mean:.2f}" for name, mean in zip(names, found.mean(axis=0))) + "."


#: The peak of this program alone: what `resource` tells includes the process that started it.
PRINT_PEAK = """
from pathlib import Path
print(next(line.split()[1] for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM")))
"""


def peak_memory(code: str, arguments: list[str]) -> float:
    """Peak resident memory in MB of a fresh process that runs the code; on Linux."""
    done = subprocess.run(
        [sys.executable, "-c", code + PRINT_PEAK, *arguments], capture_output=True, text=True, check=True
    )
    return int(done.stdout.split()[-1]) / 1024
