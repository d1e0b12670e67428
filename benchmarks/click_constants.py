"""Every constant of clicks and boxes left out, or halved and doubled where it cannot be: what does it cost?

Photos are those that constants are chosen on, every third of both sets. Judged by the IoU averaged over ten clicks: the
number of clicks to .90 is too coarse, as one photo more or less that never gets there moves it by half a click.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.click_methods import Evencut
from benchmarks.click_robot import simulate
from benchmarks.photos import find_second_set, halves_of, read_any
from evencut.segmentation import distances, images
from evencut.segmentation.engine import Clock
from evencut.segmentation.images import as_image
from evencut.segmentation.knowledge import gather
from evencut.segmentation.segment import build_engine
from evencut.segmentation.session import first_answer
from evencut.segmentation.settings import Settings
from reproduction.grabcut import error_rate, find_photos

#: Clicks over which the IoU is averaged.
CLICKS = 10
STEP = 3
EVER = 1e9


@dataclass(frozen=True)
class Constant:
    """A constant by name: where it is unless it is a setting, its value where it is left out, what it changes."""

    name: str
    without: float | None
    ways: tuple[str, ...]
    module: object = None

    @property
    def value(self) -> float:
        return getattr(Settings() if self.module is None else self.module, self.name)

    def changes(self) -> dict[str, float]:
        if self.without is not None:
            return {"without": self.without}
        kind = type(self.value)
        return {"half": kind(np.ceil(self.value / 2)) if kind is int else self.value / 2, "double": self.value * 2}

    @contextmanager
    def at(self, value: float) -> Iterator[Settings]:
        """Settings with the constant at another value."""
        if self.module is None:
            yield Settings(**{self.name: value})
            return
        kept = self.value
        setattr(self.module, self.name, value)
        try:
            yield Settings()
        finally:
            setattr(self.module, self.name, kept)


CLICKED, BOXED, AFTER = ("clicks",), ("box",), ("clicks", "after")
CONSTANTS = [
    Constant("click_strength", 0.0, CLICKED),
    Constant("click_reach", None, CLICKED),
    Constant("click_step", 0.0, CLICKED),
    Constant("place_weight", 0.0, CLICKED),
    Constant("click_hold", 1.0, CLICKED),
    Constant("rim_strength", 0.0, CLICKED),
    Constant("odds_at_depth", None, AFTER),
    Constant("odds_distance", None, AFTER),
    Constant("odds_inside", 0.0, AFTER),
    Constant("odds_way", 0.0, AFTER),
    Constant("odds_densities", 0.0, AFTER),
    Constant("odds_local", 0.0, AFTER),
    Constant("click_core", None, AFTER),
    Constant("click_around", None, AFTER),
    Constant("local_width", None, AFTER),
    Constant("click_window", None, AFTER),
    Constant("click_boundary", None, AFTER),
    Constant("band_radius", None, CLICKED),
    Constant("band_weight", 1.0, CLICKED),
    Constant("surcharge", 0.0, BOXED),
    Constant("centrality", 0.0, BOXED),
    Constant("slack", 1.0, BOXED),
    Constant("_NEAR", EVER, CLICKED, distances),
    Constant("_ROUGH", EVER, CLICKED, distances),
    Constant("_TEXTURE_WEIGHT", 0.0, ("clicks", "box"), images),
]


class Tuned(Evencut):
    """evencut at other settings, from a click or after a box."""

    def __init__(self, image: np.ndarray, settings: Settings, box=None):
        super().__init__(image)
        self.settings = settings
        self.result = None if box is None else self._first(box=box)

    def answer(self, clicks):
        return self._first(clicks=clicks)

    def _first(self, **hints):
        pixels, clock = as_image(self.image), Clock()
        knowledge = gather(pixels.shape[:2], **hints)
        engine = build_engine(pixels, "auto", knowledge, self.settings, None, clock)
        return first_answer(engine, knowledge, clock).result(clock)


def chosen_on(data: Path) -> list[str]:
    """Every third photo that constants are chosen on."""
    names = find_photos(data) + find_second_set(data)
    return [name for name, half in zip(names, halves_of(data, names)) if half == 0][::STEP]


def scores(photo, settings: Settings, ways: tuple[str, ...]) -> dict[str, float]:
    """What the constants are judged by: IoU from clicks and after a box, and the error of the box."""
    found = {}
    if "clicks" in ways:
        found["IoU over 10 clicks"] = mean_iou(Tuned(photo.image, settings), photo.truth)
    if "box" in ways or "after" in ways:
        boxed = Tuned(photo.image, settings, photo.box)
        found["error of the box, %"] = error_rate(boxed.mask, photo.truth, photo.box)
        if "after" in ways:
            found["IoU over 10 clicks after a box"] = mean_iou(boxed, photo.truth)
    return found


def mean_iou(method: Evencut, truth: np.ndarray) -> float:
    curve = simulate(method, truth, most=CLICKS)
    return float(np.mean([curve.after(n) for n in range(1, CLICKS + 1)]))


def ablate(data: Path, name: str) -> dict[tuple[str, str], dict[str, float]]:
    """The scores of one photo at every change of every constant, and as things are."""
    warnings.simplefilter("ignore")
    photo = read_any(data, name)
    found = {("as it is", ""): scores(photo, Settings(), ("clicks", "box", "after"))}
    for constant in CONSTANTS:
        for change, value in constant.changes().items():
            with constant.at(value) as settings:
                found[constant.name, change] = scores(photo, settings, constant.ways)
    return found


def tuning_section(found: list[dict[tuple[str, str], dict[str, float]]]) -> str:
    columns = list(found[0]["as it is", ""])
    values = {constant.name: constant for constant in CONSTANTS}
    lines = [
        "## Ablation of the constants: left out, or halved and doubled",
        f"{len(found)} of the photos that constants are chosen on, every third of both sets.",
        "",
        "| constant | is | changed to | " + " | ".join(columns) + " |",
        "|---|---|---|" + "---|" * len(columns),
    ]
    for (name, change), first in found[0].items():
        means = {column: np.mean([photo[name, change][column] for photo in found]) for column in first}
        cells = [f"{means[column]:.3f}" if column in means else "" for column in columns]
        is_, to = (
            (f"{values[name].value:g}", f"{change}: {values[name].changes()[change]:g}") if change else ("", "")
        )
        lines.append(f"| {name.strip('_').lower()} | {is_} | {to} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"
