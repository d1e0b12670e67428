"""Volumes from clicks: Dice of evencut and its peers after the same clicks, time and memory of large ones.

    python -m benchmarks volumes [--seeds N] [--part quality|real|brain|size]

Volumes are made up by `evencut.datasets.make_volume`: blobs in blobs, tubes, and blobs of which one is meant; voxels
alike, or four times as long as wide. A robot clicks on the deepest point of the largest wrong region until an IoU of
.90 (a Dice of .947). Real ones are crops of the hippocampus in MR, npz files in `real/volumes` of the folder of data;
the constants of corrections were chosen on every other one. The brain is the MNI152 template that nilearn brings along.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
from scipy.ndimage import (
    binary_fill_holes,
    distance_transform_edt,
    gaussian_filter,
    gaussian_gradient_magnitude,
    label,
)

from benchmarks.photos import PRINT_PEAK
from evencut.datasets import make_volume
from evencut.segmentation import segment, segment_many
from evencut.segmentation.distances import geodesic_distance
from evencut.segmentation.grid import halve, window_of
from evencut.segmentation.images import even_channels
from evencut.segmentation.prompts import Click

from .records import publish

COUNTS = (1, 2, 3, 5, 10)
#: Where the robot is content, as for photos: an IoU of .90.
GOAL = 2 * 0.9 / 1.9
#: Of the balls that peers get around their clicks.
RADIUS = 2
KINDS = ("nested", "tubes", "blobs")
SHAPES = {"even voxels": ((40, 40, 40), (1.0, 1.0, 1.0)), "voxels 4 times as long": ((16, 64, 64), (4.0, 1.0, 1.0))}


def dice(mask: np.ndarray, truth: np.ndarray) -> float:
    return float(2 * (mask & truth).sum() / max(1, mask.sum() + truth.sum()))


def next_click(
    mask: np.ndarray, truth: np.ndarray, spacing: tuple[float, ...], random: np.random.Generator | None = None
) -> tuple[tuple[int, ...], bool] | None:
    """The deepest point of the largest wrong region, or any point of it, and whether it is object."""
    parts, n_parts = label(mask != truth)
    if not n_parts:
        return None
    worst = parts == 1 + np.bincount(parts.ravel())[1:].argmax()
    if random is not None:
        at = tuple(int(place) for place in random.permutation(np.argwhere(worst))[0])
        return at, bool(truth[at])
    depth = distance_transform_edt(np.pad(worst, 1), sampling=spacing)[1:-1, 1:-1, 1:-1]
    at = tuple(int(place) for place in np.unravel_index(int(depth.argmax()), depth.shape))
    return at, bool(truth[at])


class Evencut:
    def __init__(self, volume: np.ndarray, spacing: tuple[float, ...]):
        self.volume, self.spacing, self.result = volume, spacing, None

    def click(self, at: tuple[int, ...], is_object: bool) -> np.ndarray:
        clicks = [(*at[::-1], "object" if is_object else "background")]
        if self.result is None:
            self.result = segment(self.volume, clicks=clicks, spacing=self.spacing)
        else:
            self.result = self.result.refine(clicks=clicks)
        return self.result.mask


class Seeded:
    """Peers that take seeds: balls around the clicks, and the rim for background until one is clicked.

    Noise misleads all three, so they see the volume smoothed by one voxel; evencut sees it as it is.
    """

    def __init__(self, volume: np.ndarray, spacing: tuple[float, ...], solve: Callable):
        self.volume, self.spacing, self.solve = gaussian_filter(volume, 1 / np.array(spacing)), spacing, solve
        self.clicks: list[Click] = []

    def click(self, at: tuple[int, ...], is_object: bool) -> np.ndarray:
        self.clicks.append(Click(at, is_object))
        seeds = np.zeros(self.volume.shape, dtype=np.int32)
        if all(click.is_object for click in self.clicks):
            seeds[...] = 1
            seeds[1:-1, 1:-1, 1:-1] = 0
        for click in self.clicks:
            seeds[ball(click.at, seeds.shape, self.spacing)] = 1 + click.code
        return self.solve(self.volume, seeds, self.spacing)


def ball(at: tuple[int, ...], shape: tuple[int, ...], spacing: tuple[float, ...]) -> np.ndarray:
    away = (((np.arange(size) - centre) * side) ** 2 for size, centre, side in zip(shape, at, spacing))
    planes, rows, columns = np.ix_(*away)
    return planes + rows + columns <= RADIUS**2


def random_walk(volume: np.ndarray, seeds: np.ndarray, spacing: tuple[float, ...]) -> np.ndarray:
    from skimage.segmentation import random_walker

    return random_walker(volume, seeds, beta=130, mode="cg_j", spacing=spacing) == 2


def watershed_from_seeds(volume: np.ndarray, seeds: np.ndarray, spacing: tuple[float, ...]) -> np.ndarray:
    from skimage.segmentation import watershed

    return watershed(gaussian_gradient_magnitude(volume, 0.5 / np.array(spacing)), seeds) == 2


def flood(volume: np.ndarray, seeds: np.ndarray, spacing: tuple[float, ...]) -> np.ndarray:
    """As grow-cut: each voxel to the seed from which the brightness changes least on the way."""
    ground = even_channels(volume[..., None]).astype(np.float64)
    away = [geodesic_distance(ground, seeds == k, step=0.01, spacing=spacing) for k in (1, 2)]
    return away[1] < away[0]


METHODS: dict[str, Callable] = {
    "evencut": Evencut,
    "random walker (scikit-image)": lambda volume, spacing: Seeded(volume, spacing, random_walk),
    "watershed (scikit-image)": lambda volume, spacing: Seeded(volume, spacing, watershed_from_seeds),
    "flooding, as grow-cut": lambda volume, spacing: Seeded(volume, spacing, flood),
}


def curve(
    method, truth: np.ndarray, spacing: tuple[float, ...], random: np.random.Generator | None = None
) -> tuple[list[float], list[float]]:
    """Dice after each click, and CPU seconds of each."""
    mask, scores, seconds = np.zeros(truth.shape, dtype=bool), [], []
    for _ in range(COUNTS[-1]):
        click = next_click(mask, truth, spacing, random)
        if click is None or (scores and scores[-1] >= GOAL):
            break
        begin = time.process_time()
        mask = method.click(*click)
        seconds.append(time.process_time() - begin)
        scores.append(dice(mask, truth))
    return scores + [scores[-1]] * (COUNTS[-1] - len(scores)), seconds


def quality_section(seeds: list[int]) -> str:
    warnings.simplefilter("ignore")
    lines = [
        "## Dice from clicks",
        f"{len(seeds)} volumes of each kind and shape; noise 0.1, a bias field of 20 %. Peers get balls of two",
        "voxels around their clicks, the rim for background until one is clicked, and the volume smoothed by one",
        "voxel, without which they do much worse; evencut gets the clicks alone. The robot stops at a Dice of .947.",
        "",
        "| volumes | method | " + " | ".join(f"Dice after {n}" for n in COUNTS) + " | CPU s a click |",
        "|---|---|" + "---|" * (len(COUNTS) + 1),
    ]
    total: dict[str, list[list[float]]] = {title: [] for title in METHODS}
    for kind in KINDS:
        for name, (shape, spacing) in SHAPES.items():
            for title, make in METHODS.items():
                found, spent = [], []
                for seed in seeds:
                    volume, labels = make_volume(kind, shape, spacing, random_state=seed)
                    scores, seconds = curve(make(volume, spacing), labels > 0, spacing)
                    found.append(scores)
                    spent += seconds
                total[title] += found
                lines.append(row(f"{kind}, {name}", title, found, float(np.median(spent))))
    lines += [row("**all**", title, found, None) for title, found in total.items()]
    return "\n".join(lines) + "\n"


def read_real(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """A volume between its least value and its 99.5th percentile, and the object."""
    with np.load(path) as file:
        volume, truth = file["volume"].astype(np.float32), file["label"] > 0
    low, high = volume.min(), np.percentile(volume, 99.5)
    return np.clip((volume - low) / (high - low + 1e-9), 0, 1), truth


#: Voxels alike, of a millimetre.
EVEN = (1.0, 1.0, 1.0)


def real_section(folder: Path) -> str:
    warnings.simplefilter("ignore")
    scans = [read_real(path) for path in sorted(folder.glob("*.npz"))]
    heads = [f"Dice after {n}" for n in COUNTS]
    lines = [
        "## Real volumes",
        f"The hippocampus in {len(scans)} crops of MR images, about 35 x 51 x 35 mm. Constants were chosen on every",
        "other one and judged once on the rest. Dice falls where a click loses more than .02. The last robot",
        "clicks anywhere in the largest wrong region instead of its middle.",
        "",
        "| volumes | method | " + " | ".join([*heads, "clicks after which Dice falls", "CPU s a click"]) + " |",
        "|---|---|" + "---|" * (len(COUNTS) + 2),
    ]

    def measured(make: Callable, sloppy: bool = False) -> tuple[np.ndarray, float]:
        found, spent = [], []
        for volume, truth in scans:
            random = np.random.default_rng(0) if sloppy else None
            scores, seconds = curve(make(volume, EVEN), truth, EVEN, random)
            found.append(scores)
            spent += seconds
        return np.array(found), float(np.median(spent))

    for title, make in METHODS.items():
        found, seconds = measured(make)
        lines.append(real_row("all", title, found, seconds))
        if title == "evencut":
            lines.append(real_row("chosen on", title, found[::2], seconds))
            lines.append(real_row("judged on", title, found[1::2], seconds))
    lines.append(real_row("all, anywhere in the error", "evencut", *measured(Evencut, sloppy=True)))
    lines += ["", *painted_lines(scans)]
    return "\n".join(lines) + "\n"


def real_row(volumes: str, title: str, found: np.ndarray, seconds: float) -> str:
    falls = float((np.diff(found, axis=1) < -0.02).mean())
    return row(volumes, title, list(found), None)[:-2] + f"{falls:.0%} | {seconds:.2f} |"


def painted_lines(scans: list[tuple[np.ndarray, np.ndarray]]) -> list[str]:
    """Slices evenly spread over the object's length painted by the truth, three clicks, and three strokes."""
    lines = ["| painted slices | Dice | after three clicks more | after three strokes more |", "|---|---|---|---|"]
    for n_slices in (1, 2, 3):
        alone, later, stroked = [], [], []
        for volume, truth in scans:
            places = np.flatnonzero(truth.any(axis=(0, 2)))
            strokes = np.zeros(truth.shape, dtype=int)
            for y in np.linspace(places[0], places[-1], n_slices + 2)[1:-1].astype(int):
                strokes[:, y] = 1 + truth[:, y]
            tool = Evencut(volume, EVEN)
            tool.result = segment(volume, scribbles=strokes, spacing=EVEN)
            alone.append(dice(tool.result.mask, truth))
            painted = tool.result
            for _ in range(3):
                stroke = next_stroke(painted.mask, truth)
                painted = painted.refine(stroke) if stroke.any() else painted
            stroked.append(dice(painted.mask, truth))
            for _ in range(3):
                click = next_click(tool.result.mask, truth, EVEN)
                if click is not None:
                    tool.click(*click)
            later.append(dice(tool.result.mask, truth))
        lines.append(f"| {n_slices} | {np.mean(alone):.3f} | {np.mean(later):.3f} | {np.mean(stroked):.3f} |")
    return lines


def next_stroke(mask: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """A stroke along the row through the deepest point of the largest wrong region, as far as that is wrong."""
    stroke = np.zeros(truth.shape, dtype=int)
    click = next_click(mask, truth, EVEN)
    if click is not None:
        (z, y, x), is_object = click
        parts, _ = label((mask != truth)[z, y])
        stroke[z, y, parts == parts[x]] = 1 + is_object
    return stroke


#: The size of a voxel of the brain, in millimetres; the template has half of it.
COARSE = 2.0
#: Millimetres from the outside of the brain beyond which fluid is in the ventricles.
DEEP = 20.0


def read_brain() -> tuple[np.ndarray, dict[str, np.ndarray]] | None:
    """The T1 template of the MNI152 brain and what it is made of; None without nilearn or NiBabel."""
    found = importlib.util.find_spec("nilearn")
    if found is None or importlib.util.find_spec("nibabel") is None:
        return None
    import nibabel

    def read(name: str) -> np.ndarray:
        path = Path(found.submodule_search_locations[0]) / "datasets" / "data"
        voxels = nibabel.load(path / f"mni_icbm152_{name}_tal_nlin_sym_09a_converted.nii.gz").get_fdata() / 255
        return halve(voxels, (2, 2, 2))

    brain, grey, white = (read(name) for name in ("t1", "gm", "wm"))
    window = window_of(brain > 0, margin=2)
    brain, grey, white = brain[window], grey[window], white[window]
    inside = binary_fill_holes(brain > 0)
    depth = distance_transform_edt(inside, sampling=(COARSE,) * 3)
    parts, _ = label((grey + white < 0.5) & (depth > DEEP))
    ventricles = parts == 1 + np.bincount(parts.ravel())[1:].argmax()
    return brain, {"white matter": white > 0.5, "grey matter": grey > 0.5, "ventricles": ventricles}


def brain_section() -> str:
    warnings.simplefilter("ignore")
    read = read_brain()
    if read is None:
        print("the brain is not measured: it comes with nilearn; pip install nilearn")
        return ""
    brain, objects = read
    spacing = (COARSE,) * 3
    slow = "random walker (scikit-image)"
    size = " x ".join(map(str, brain.shape))
    lines = [
        "## A brain",
        f"The MNI152 template, T1, at {COARSE:g} mm ({size} voxels); nothing was chosen on it. The robot clicks on the",
        "middle of the largest wrong region. The random walker was not run, for its time.",
        "",
        "| object | method | " + " | ".join(f"Dice after {n}" for n in COUNTS) + " | CPU s a click |",
        "|---|---|" + "---|" * (len(COUNTS) + 1),
    ]
    for name, truth in objects.items():
        for title, make in METHODS.items():
            if title != slow:
                scores, seconds = curve(make(brain, spacing), truth, spacing)
                lines.append(row(name, title, [scores], float(np.median(seconds))))
    prompts = []
    for truth in objects.values():
        at, _ = next_click(np.zeros(truth.shape, dtype=bool), truth, spacing)
        prompts.append({"clicks": [(*at[::-1], "object")]})
    together = segment_many(brain, prompts, spacing=spacing)
    scores = [f"{name} {dice(mask, truth):.3f}" for mask, (name, truth) in zip(together.masks, objects.items())]
    lines += ["", "All three at once by `segment_many`, one click each: Dice " + ", ".join(scores) + "."]
    return "\n".join(lines) + "\n"


def row(volumes: str, title: str, found: list[list[float]], seconds: float | None) -> str:
    means = np.mean(found, axis=0)
    cells = [f"{means[n - 1]:.3f}" for n in COUNTS]
    return f"| {volumes} | {title} | " + " | ".join([*cells, "" if seconds is None else f"{seconds:.2f}"]) + " |"


#: A volume of nested blobs at the size given, a click and two more; prints CPU seconds of each.
LARGE = """
import sys, time, warnings
import numpy as np
warnings.simplefilter("ignore")
from evencut.segmentation import segment
volume = np.load(sys.argv[1], mmap_mode="r")
z, y, x = (size // 2 for size in volume.shape)
begin = time.process_time()
result = segment(volume, clicks=[(x, y, z, "object")], spacing=(2, 1, 1))
spent = [time.process_time() - begin]
for click in ((2, 2, 2, "background"), (x, y // 2, z, "object")):
    begin = time.process_time()
    result = result.refine(clicks=[click])
    spent.append(time.process_time() - begin)
print(*spent)
"""


def size_section() -> str:
    lines = [
        "## Large volumes",
        "16-bit volumes with voxels twice as long as wide; peak memory of a process that cuts and refines.",
        "",
        "| voxels | first answer, CPU s | a click, CPU s | peak memory |",
        "|---|---|---|---|",
    ]
    with tempfile.TemporaryDirectory() as folder:
        for shape in ((128, 128, 128), (256, 256, 256), (300, 512, 512)):
            small, _ = make_volume("nested", tuple(size // 4 for size in shape), (2.0, 1.0, 1.0), random_state=1)
            large = np.kron((small * 1000).astype(np.int16), np.ones((4, 4, 4), np.int16))
            path = str(Path(folder) / "volume.npy")
            np.save(path, large)
            del large
            command = [sys.executable, "-c", LARGE + PRINT_PEAK, path]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            first, *later, memory = (float(number) for number in done.stdout.split())
            size = " x ".join(map(str, reversed(shape)))
            lines.append(f"| {size} | {first:.1f} | {max(later):.2f} | {memory / 1024:.0f} MB |")
    lines += ["", "The last is cut at half its size, which a notice says."]
    return "\n".join(lines) + "\n"


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=4, help="volumes of each kind and shape")
    parser.add_argument("--part", choices=("all", "quality", "real", "brain", "size"), default="all")
    parser.add_argument("--data", default=os.environ.get("EVENCUT_DATA"), help="folder that holds real/volumes")
    options = parser.parse_args(arguments)
    sections = {"title": "# Volumes\n"}
    if options.part in ("all", "quality"):
        sections["quality"] = quality_section([2 * number + 1 for number in range(options.seeds)])
    if options.part in ("all", "real"):
        if not options.data:
            parser.error("name the folder that holds real/volumes with --data or EVENCUT_DATA")
        sections["real"] = real_section(Path(options.data) / "real" / "volumes")
    if options.part in ("all", "brain"):
        sections["brain"] = brain_section()
    if options.part in ("all", "size"):
        sections["size"] = size_section()
    print(publish("volumes", sections))


if __name__ == "__main__":
    main()
