"""One more click: the part around it follows, what has the click's label keeps it, and nothing far away changes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import binary_dilation
from scipy.ndimage import label as connected_parts

from .clicks import Click, click_evidence, seeds_of
from .engine import Engine
from .first_guess import follow_strokes
from .geodesic import geodesic_distance
from .grid import scaled, window_of
from .images import enlarge, halve
from .knowledge import Knowledge
from .rounds import Round

__all__ = ["Correction", "apply_correction", "correct", "evidence_of"]

Labels = NDArray[np.int64]
Mask = NDArray[np.bool_]

_EIGHT = np.ones((3, 3))


@dataclass(frozen=True, eq=False)
class Correction:
    """What clicks changed at the working size.

    Parameters
    ----------
    end : Round
        The labels after the click, with the costs that led to them.
    reached : ndarray of bool
        The pixels in the reach of the click, where the contour may have moved.
    smoothness : float
        Weight of the boundary term that was used.
    trace : tuple of float
        Energies of the rounds.
    converged : bool
    """

    end: Round
    reached: Mask
    smoothness: float
    trace: tuple[float, ...]
    converged: bool


def evidence_of(engine: Engine, knowledge: Knowledge) -> NDArray[np.float64] | None:
    """What the clicks say about every pixel of the working size; None without clicks."""
    if not knowledge.clicks:
        return None
    settings = engine.settings
    return click_evidence(
        engine.ground,
        knowledge.clicks,
        engine.factor,
        strength=settings.click_strength,
        reach=settings.click_reach,
        step=settings.click_step,
    )


def correct(engine: Engine, knowledge: Knowledge, known: Labels, labels: Labels, click: Click) -> Correction:
    """The labels at the working size after the last click of `knowledge`.

    Pixels that have the click's label keep it, and so do pixels out of its reach; of what then changes, only the
    parts that touch the click are accepted.
    """
    settings = engine.settings
    seeds = seeds_of([click], labels.shape, engine.factor)
    distance = geodesic_distance(engine.ground, seeds, step=settings.click_step)
    out_of_reach = distance > settings.click_limit * settings.click_reach
    settled = np.where((known < 0) & (out_of_reach | (labels == click.code)), labels, known)
    start = np.where(settled < 0, follow_strokes(engine.channels, labels, known, engine.n_labels), settled)
    if not np.bincount(start.ravel(), minlength=engine.n_labels).all():
        # The click is like all of a label: it speaks for its own place only.
        start = np.where(known < 0, labels, known)
    rounds, smoothness = engine.rounds(settled, start, evidence_of(engine, knowledge))
    found = rounds.step.labels
    under = binary_dilation(seeds, _EIGHT) | ((known >= 0) & (labels != known))
    parts, _ = connected_parts(found != labels, _EIGHT)
    touching = np.isin(parts, np.unique(parts[binary_dilation(under, _EIGHT)]))
    accepted = np.where(touching & (found != labels), found, labels)
    accepted = np.where(known < 0, accepted, known)
    end = Round(accepted, rounds.step.energy, rounds.step.state)
    return Correction(end, ~out_of_reach | under, smoothness, rounds.trace, rounds.converged)


def apply_correction(
    engine: Engine, known: list[Labels], fine: Labels, reached: Mask, correction: Correction
) -> Labels:
    """The labels at full size: the contour drawn anew in the reach of the clicks, as it was elsewhere.

    Parameters
    ----------
    engine : Engine
    known : list of ndarray
        Known labels at every size.
    fine : ndarray
        The labels at full size before the clicks.
    reached : ndarray of bool
        The pixels of the working size in the reach of a click.
    correction : Correction
        The last of them.
    """
    window = window_of(reached, margin=engine.settings.band_radius + 1)
    near, levels = reached[window], []
    before = fine[scaled(window, engine.factor)]
    for level in range(len(engine.images)):
        factor = 2 ** (len(engine.images) - 1 - level)
        shape = before.shape
        around = _enlarged(near, factor, (shape[0], shape[1]))
        inside = known[level][scaled(window, factor)]
        levels.append(np.where(around | (inside >= 0), inside, before))
        before = (halve(before.astype(np.float32)) >= 0.5).astype(np.int64)
    labels = fine.copy()
    labels[scaled(window, engine.factor)] = engine.sharpen(levels, correction.end, correction.smoothness, window)
    return labels


def _enlarged(region: Mask, factor: int, shape: tuple[int, int]) -> Mask:
    while factor > 1:
        factor //= 2
        region = enlarge(region, (2 * region.shape[0], 2 * region.shape[1]))
    return region[: shape[0], : shape[1]]
