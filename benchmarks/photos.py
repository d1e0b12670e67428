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

from evencut.segmentation import read_image
from reproduction.grabcut import Photo, find_photos, read_photo

#: Photos to choose constants on and photos to judge them on: every other one, and the reverse.
HALVES = {"even": slice(0, None, 2), "odd": slice(1, None, 2)}

#: How far the boxes of the second set are from the object, as a share of its size: the median of the first set's.
_LOOSE = 0.05
_SECOND = "berkeley-"


def find_second_set(data: Path) -> list[str]:
    """Names of the harder photos, in the folder `berkeley`; none where it is not."""
    return sorted(f"{_SECOND}{path.stem}" for path in (data / "berkeley" / "images").glob("*.jpg"))


def set_of(name: str) -> str:
    """The set a photo belongs to, as pages call it."""
    return "Berkeley" if name.startswith(_SECOND) else "GrabCut"


def read_any(data: Path, name: str) -> Photo:
    """A photo of either set; boxes of the second are those of the truth, a twentieth larger on each side."""
    if set_of(name) == "GrabCut":
        return read_photo(data, name)
    stem = name.removeprefix(_SECOND)
    image = read_image(data / "berkeley" / "images" / f"{stem}.jpg")[..., :3].astype(np.uint8)
    mask = read_image(data / "berkeley" / "masks" / f"{stem}.png")
    truth = np.where((mask if mask.ndim == 2 else mask[..., 0]) > 127, 255, 0).astype(np.uint8)
    first, last = zip(*((int(axis.min()), int(axis.max()) + 1) for axis in np.nonzero(truth)))
    margins = [round(_LOOSE * (end - begin)) for begin, end in zip(first, last)]
    y0, x0 = (max(0, begin - margin) for begin, margin in zip(first, margins))
    y1, x1 = (min(size, end + margin) for end, margin, size in zip(last, margins, truth.shape))
    box = (1, 1, x1 - 1, y1 - 1) if (y0, x0, y1, x1) == (0, 0, *truth.shape) else (x0, y0, x1, y1)
    return Photo(name, image, truth, box)


def halves_of(data: Path, names: list[str]) -> np.ndarray:
    """0 for photos that constants are chosen on, 1 for those they are judged on.

    Every other photo of each set; photos that both sets hold are in the same half of both.
    """
    first = find_photos(data)
    others = [name for name in find_second_set(data) if name.removeprefix(_SECOND) not in first]
    place = {name: i % 2 for some in (first, others) for i, name in enumerate(some)}
    return np.array([place.get(name, place.get(name.removeprefix(_SECOND))) for name in names])


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


def cross_tuned(
    found: np.ndarray, names: list[str], default: int, digits: int = 2, halves: dict | None = None
) -> list[str]:
    """Rows of a table: for each half the setting chosen on the other half, and what it, the default and the best do.

    Parameters
    ----------
    found : ndarray of shape (n_photos, n_settings)
        What is to be small.
    names : list of str
        Of the settings.
    default : int
    halves : dict of str to index, optional
        The photos of each half, by default every other one.
    """
    halves = HALVES if halves is None else halves
    rows = []
    for judged, other in (("even", "odd"), ("odd", "even")):
        chosen = int(found[halves[other]].mean(axis=0).argmin())
        here = found[halves[judged]].mean(axis=0)
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
