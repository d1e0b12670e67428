"""The robot that stands for a user: it clicks on the deepest point of the largest wrong region until it is content.

A sloppy one clicks on any region at least half as large, at any of its pixels at least half as deep as the deepest.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
from scipy.ndimage import distance_transform_edt, label

from benchmarks.photos import worst_part

MOST_CLICKS = 20
#: Intersections over union at which clicks are counted; the robot is content at the last.
GOALS = (0.85, 0.9)


@dataclass
class Curve:
    """IoU before the first click and after each click, CPU seconds of each, and the last mask."""

    before: float
    ious: list[float]
    seconds: list[float]
    mask: np.ndarray
    error: float = 0.0

    def clicks_to(self, goal: float) -> int:
        if self.before >= goal:
            return 0
        return next((i for i, iou in enumerate(self.ious, start=1) if iou >= goal), MOST_CLICKS)

    def after(self, n_clicks: int) -> float:
        """IoU after so many clicks; a robot that has stopped keeps what it has."""
        return self.before if not self.ious else self.ious[min(n_clicks, len(self.ious)) - 1]

    @property
    def changes(self) -> list[float]:
        """What each correction adds to the IoU: not the first click of all, which begins."""
        ious = self.ious if self.before == 0 else [self.before, *self.ious]
        return list(np.diff(ious))

    @property
    def fails(self) -> bool:
        return max([self.before, *self.ious]) < GOALS[-1]


def intersection_over_union(mask: np.ndarray, truth: np.ndarray) -> float:
    """Mixed pixels of the truth (128) are not scored."""
    real, scored = truth == 255, truth != 128
    return float((mask & real & scored).sum() / max(1, ((mask | real) & scored).sum()))


def next_click(mask: np.ndarray, truth: np.ndarray) -> tuple[int, int, bool] | None:
    """The deepest point of the largest wrong region, and whether it is object."""
    found = worst_part(mask, truth)
    return None if found is None else (found[1], found[2], bool(truth[found[2], found[1]] == 255))


def sloppy_click(
    mask: np.ndarray, truth: np.ndarray, random: np.random.Generator
) -> tuple[int, int, bool] | None:
    """Any of the larger errors, and not its middle."""
    parts, n_parts = label((mask != (truth == 255)) & (truth != 128))
    if not n_parts:
        return None
    sizes = np.bincount(parts.ravel())[1:]
    region = parts == 1 + random.choice(np.flatnonzero(sizes >= sizes.max() / 2))
    depth = distance_transform_edt(np.pad(region, 1))[1:-1, 1:-1]
    y, x = (int(place) for place in random.choice(np.argwhere(region & (depth >= depth.max() / 2))))
    return x, y, bool(truth[y, x] == 255)


def simulate(
    method,
    truth: np.ndarray,
    goal: float = GOALS[-1],
    most: int = MOST_CLICKS,
    random: np.random.Generator | None = None,
) -> Curve:
    """Click until the goal is reached, or `most` times; sloppily where the robot is given random numbers."""
    mask = np.zeros(truth.shape, dtype=bool) if method.mask is None else method.mask
    curve = Curve(0.0 if method.mask is None else intersection_over_union(mask, truth), [], [], mask)
    iou = curve.before
    while iou < goal and len(curve.ious) < most:
        click = next_click(mask, truth) if random is None else sloppy_click(mask, truth, random)
        if click is None:
            break
        begin = time.process_time()
        curve.mask = mask = method.click(*click)
        curve.seconds.append(time.process_time() - begin)
        iou = intersection_over_union(mask, truth)
        curve.ious.append(iou)
    return curve
