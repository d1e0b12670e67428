"""Kernel cut beside OpenCV's grabCut on the GrabCut photos: errors, CPU time, memory, strokes, and honest tuning.

    python -m benchmarks.segmentation --data DIR [--jobs 2] [--subset N] [--part errors|opencv|tuning]
                                      [--kept DIR]

Writes SEGMENTATION.md; one part alone replaces its own section there. Boxes: those of the literature, the same grown by
0 to 15 % a side at random, and the object's own tight box grown likewise. Every constant is the same for all photos; to
see what tuning on these very photos is worth, the constants are also chosen on one half and judged on the other.
"""

from __future__ import annotations

import itertools
import platform
import time
import warnings
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from importlib.metadata import version
from multiprocessing import get_context
from pathlib import Path

import numpy as np
from scipy.ndimage import binary_erosion

from benchmarks.photos import (
    HALVES,
    chosen_photos,
    cross_tuned,
    kept,
    listed,
    peak_memory,
    photo_parser,
    worst_part,
)
from evencut.segmentation import segment
from evencut.segmentation.engine import Clock
from evencut.segmentation.images import as_image
from evencut.segmentation.knowledge import gather
from evencut.segmentation.segment import build_engine
from evencut.segmentation.session import first_answer
from evencut.segmentation.settings import Settings
from reproduction.grabcut import error_rate, grown_box, opencv_mask, read_photo, tight_box

from .records import publish

BOXES = {
    "given": lambda photo: photo.box,
    "given, grown 0-15 % a side": lambda photo: grown_box(photo, photo.box, seed=0),
    "tight, grown 0-15 % a side": lambda photo: grown_box(photo, tight_box(photo), seed=0),
}


#: The two constants that say how a box is read: what object pixels pay, and how that grows towards the corners.
GRID = [
    Settings(surcharge=surcharge, centrality=centrality)
    for surcharge, centrality in itertools.product((0.3, 0.4, 0.5), (0.0, 0.2, 0.4, 0.8))
]
TUNING_BOXES = ("given, grown 0-15 % a side", "tight, grown 0-15 % a side")


def measure(data: Path, name: str) -> dict:
    """Error and CPU seconds on every box of one photo, and of a corrected first answer."""
    photo = read_photo(data, name)
    warnings.simplefilter("ignore")
    found: dict = {}
    for kind, choose in BOXES.items():
        box = choose(photo)
        start = time.process_time()
        result = segment(photo.image, box=box)
        found[kind] = (error_rate(result.mask, photo.truth, box), time.process_time() - start)
        if kind == "given":
            stroke = stroke_on_worst_part(result.mask, photo.truth)
            if stroke.any():
                start = time.process_time()
                refined = result.refine(stroke)
                found["refined"] = (error_rate(refined.mask, photo.truth, box), time.process_time() - start)
            else:
                found["refined"] = (found[kind][0], 0.0)
    return found


def measure_opencv(data: Path, name: str) -> dict:
    """The same of OpenCV's grabCut, which has no strokes."""
    photo = read_photo(data, name)
    found = {}
    for kind, choose in BOXES.items():
        box = choose(photo)
        start = time.process_time()
        mask = opencv_mask(photo.image, box)
        found[kind] = (error_rate(mask, photo.truth, box), time.process_time() - start)
    return found


def stroke_on_worst_part(mask: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """What a user would draw next: a short stroke in the middle of the largest wrong part (1 background, 2 object)."""
    stroke = np.zeros(mask.shape, dtype=int)
    found = worst_part(mask, truth)
    if found is None or found[0].sum() < 20:
        return stroke
    worst, x, y = found
    near = np.zeros(mask.shape, dtype=bool)
    near[max(0, y - 2) : y + 3, max(0, x - 12) : x + 13] = True
    core = binary_erosion(worst) if binary_erosion(worst).any() else worst
    stroke[near & core] = 2 if truth[y, x] == 255 else 1
    return stroke


def tune_boxes(data: Path, name: str) -> np.ndarray:
    """Errors of every setting of the grid on the tuning boxes; the graph is built once."""
    photo = read_photo(data, name)
    warnings.simplefilter("ignore")
    errors = np.zeros((len(GRID), len(TUNING_BOXES)))
    image = as_image(photo.image)
    for j, kind in enumerate(TUNING_BOXES):
        box = BOXES[kind](photo)
        knowledge = gather(photo.truth.shape, box=box, scribbles=None, mask=None, hard=True)
        engine = build_engine(image, "auto", knowledge, Settings(), 0, Clock())
        for i, settings in enumerate(GRID):
            mask = first_answer(engine.varied(settings), knowledge, Clock()).result(Clock()).mask
            errors[i, j] = error_rate(mask, photo.truth, box)
    return errors


#: Segments the photos named on the command line, after the folder of the data.
SEGMENT_ALL = """
import sys, warnings
from pathlib import Path
from reproduction.grabcut import read_photo
from evencut.segmentation import segment
warnings.simplefilter("ignore")
for name in sys.argv[2:]:
    photo = read_photo(Path(sys.argv[1]), name)
    segment(photo.image, box=photo.box)
"""


def describe(settings: Settings) -> str:
    return f"surcharge {settings.surcharge:g}, centrality {settings.centrality:g}"


def table(found: list[dict]) -> list[str]:
    """Rows of errors and seconds, a kind of box each."""
    lines = ["| boxes | mean error | median | mean, even photos | odd photos | CPU s |", "|---|---|---|---|---|---|"]
    for kind in BOXES:
        errors, seconds = np.array([row[kind] for row in found]).T
        halves = " | ".join(f"{errors[some].mean():.2f}" for some in HALVES.values())
        lines.append(f"| {kind} | {errors.mean():.2f} | {np.median(errors):.2f} | {halves} | {seconds.mean():.2f} |")
    return lines


def errors_section(names: list[str], found: list[dict], memory: float) -> str:
    refined, seconds = np.array([row["refined"] for row in found]).T
    given = np.array([row["given"][0] for row in found])
    hardest = ", ".join(f"{names[i]} {given[i]:.1f}" for i in np.argsort(-given)[:8])
    lines = [
        "## Errors, time and memory",
        "Made by `python -m benchmarks.segmentation`: the GrabCut photos, error in percent of the pixels in the box,",
        f"one setting for all {len(names)} photos; CPU seconds on one thread, Python {platform.python_version()}.",
        "The constants of the method were chosen looking at these photos, so the numbers flatter it; expect more",
        "errors on others. The tuning below shows the effect of choosing two of them.",
        "",
        *table(found),
        "",
        f"One stroke on the largest wrong part (`refine`, given boxes): mean error {refined.mean():.2f}, median "
        f"{np.median(refined):.2f}; {seconds.mean():.3f} CPU s, at most {seconds.max():.3f}.",
        f"Peak memory of a process that segments the three largest photos: {memory:.0f} MB.",
        "",
        f"Hardest photos (given boxes): {hardest}.",
    ]
    return "\n".join(lines) + "\n"


def opencv_section(found: list[dict]) -> str:
    lines = [
        "## OpenCV's grabCut on the same photos and boxes",
        f"OpenCV {version('opencv-python-headless')}, 5 iterations, one thread, {len(found)} photos.",
        "",
        *table(found),
    ]
    return "\n".join(lines) + "\n"


def tuning_section(tuned: np.ndarray) -> str:
    lines = [
        "## Tuning on one half, judging on the other",
        f"{len(GRID)} settings on boxes grown at random ({' and '.join(TUNING_BOXES)}), {len(tuned)} photos;",
        "mean error.",
        "",
        "| judged on | chosen on the other half | its error | the default's error | best in hindsight |",
        "|---|---|---|---|---|",
    ]
    settings, mean = [describe(setting) for setting in GRID], tuned.mean(axis=2)
    lines += [*cross_tuned(mean, settings, GRID.index(Settings())), "", listed(settings, mean)]
    return "\n".join(lines) + "\n"


def main(arguments: list[str] | None = None) -> None:
    parser = photo_parser(__doc__.splitlines()[0], ("errors", "opencv", "tuning"))
    options = parser.parse_args(arguments)
    data, names = chosen_photos(parser, options)
    sections = {}
    with ProcessPoolExecutor(options.jobs, mp_context=get_context("spawn")) as pool:

        def measured(how: Callable) -> list:
            return list(pool.map(partial(kept, how, options.kept, data), names))

        if options.part in ("all", "errors"):
            largest = sorted(names, key=lambda name: -read_photo(data, name).truth.size)[:3]
            memory = peak_memory(SEGMENT_ALL, [str(data), *largest])
            sections["errors"] = errors_section(names, measured(measure), memory)
        if options.part in ("all", "opencv"):
            sections["opencv"] = opencv_section(measured(measure_opencv))
        if options.part in ("all", "tuning"):
            sections["tuning"] = tuning_section(np.array(measured(tune_boxes)))
    print(publish("segmentation", {"title": "# Interactive segmentation\n", **sections}))


if __name__ == "__main__":
    main()
