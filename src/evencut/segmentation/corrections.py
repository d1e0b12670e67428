"""One more click: the part around it follows, what has the click's label keeps it, and nothing far away changes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import binary_dilation, distance_transform_edt, maximum_filter

from .clicks import Click, click_evidence, seeds_of
from .engine import Engine
from .first_guess import follow_strokes, parts_of, parts_with
from .geodesic import geodesic_distance
from .grid import Labels, Mask, rim_of, window_of
from .knowledge import Knowledge
from .rounds import Round
from .tightness import off_centre

#: How many times smaller the working size may be for all of a click's reach to be drawn anew.
_MOST_REDRAWN = {2: 4, 3: 1}
_HALVINGS = 5


@dataclass(frozen=True, eq=False)
class Correction:
    """What clicks changed at the working size.

    Parameters
    ----------
    end : Round
        The labels after the click, with the costs that led to them.
    touched : ndarray of bool
        Where the contour is drawn anew: in the reach of the click; in photos of many megapixels and in volumes,
        where that would take long, around what changed.
    smoothness : float
        Weight of the boundary term that was used.
    trace : tuple of float
        Energies of the rounds.
    converged : bool
    """

    end: Round
    touched: Mask
    smoothness: float
    trace: tuple[float, ...]
    converged: bool


def evidence_of(engine: Engine, knowledge: Knowledge) -> NDArray[np.float64] | None:
    """What the clicks and the shape of the box say about every pixel of the working size; None without either."""
    settings, shape = engine.settings, engine.channels.shape
    evidence = None
    if knowledge.clicks:
        evidence = click_evidence(
            engine.ground,
            knowledge.clicks,
            engine.factor,
            strength=settings.click_strength,
            reach=settings.click_reach,
            step=settings.click_step,
            spacing=engine.spacing,
        )
        if knowledge.is_begun_by_clicks:
            distance = geodesic_distance(
                engine.ground, rim_of(shape[:-1]), step=settings.click_step, spacing=engine.spacing
            )
            evidence[:, 1] += settings.rim_strength * np.exp(-((distance.ravel() / settings.click_reach) ** 2))
    if knowledge.around is not None and settings.criterion == "entropy":
        box = list(zip(window_of(~knowledge.around), engine.factor))
        first, last = [part.start / times for part, times in box], [part.stop / times for part, times in box]
        place = off_centre(first, last, shape[:-1]).ravel()
        evidence = np.zeros((place.size, 2)) if evidence is None else evidence
        evidence[:, 1] += settings.centrality * place
    return evidence


def correct(engine: Engine, knowledge: Knowledge, known: Labels, labels: Labels, click: Click) -> Correction:
    """The labels at the working size after the last click of `knowledge`.

    Pixels that have the click's label keep it, and so do pixels out of its reach; of what then changes, only the
    parts that touch the click are accepted. People click in the middle of what is wrong, so that what is wrong is
    nowhere deeper than the click is far from what has its label: where the change would be deeper by far, the reach of
    the click is halved until it is not. An answer that a box made is trusted: beyond that depth it costs more to change
    what the box has found, or a click on a thin part would flow over the even ground beside it.
    """
    settings = engine.settings
    seeds = seeds_of([click], labels.shape, engine.factor)
    under = _dilated(seeds) | ((known >= 0) & (labels != known))
    distance = geodesic_distance(engine.ground, seeds, step=settings.click_step, spacing=engine.spacing)
    limit = settings.click_limit * settings.click_reach
    evidence = evidence_of(engine, knowledge)
    hold = settings.hold(len(knowledge.clicks), in_box=not knowledge.is_begun_by_clicks)
    away = _distances(seeds, engine.spacing)
    deepest = settings.click_depth * max(1.0, away.min(where=labels == click.code, initial=np.inf))
    if evidence is not None and knowledge.around is not None:
        kept = np.where(labels == click.code, 0.0, np.minimum(away / deepest, 1.0))
        evidence[:, click.code] += settings.click_trust * kept.ravel()
    followed = follow_strokes(engine.channels, labels, known, engine.n_labels)
    reach = limit
    for _ in range(_HALVINGS):
        in_reach = distance <= reach
        settled = np.where((known < 0) & (~in_reach | (labels == click.code)), labels, known)
        start = np.where(settled < 0, followed, settled)
        if not np.bincount(start.ravel(), minlength=engine.n_labels).all():
            # The click is like all of a label: it speaks for its own place only.
            start = np.where(known < 0, labels, known)
        rounds, smoothness = engine.rounds(settled, start, evidence, hold)
        accepted = np.where(known < 0, _parts_that_touch(under, rounds.step.labels, labels), known)
        if _depth(accepted != labels, engine.spacing) <= deepest:
            break
        reach /= 2
    else:
        # Even ground all over: the click speaks for what is near.
        accepted = np.where((known < 0) & (away > deepest), labels, accepted)
    if not click.is_object and knowledge.is_begun_by_clicks:
        # What the click has cut off from every click on the object is no part of it.
        accepted = np.where(parts_with(accepted == 1, known == 1), accepted, 0)
    touched = maximum_filter((accepted != labels) | under, 2 * (2 * settings.band_radius + 1) + 1)
    if max(engine.factor) <= _MOST_REDRAWN[labels.ndim]:
        touched |= in_reach
    end = Round(accepted, rounds.step.energy, rounds.step.state)
    return Correction(end, touched, smoothness, rounds.trace, rounds.converged)


def _distances(seeds: Mask, spacing: tuple[float, ...]) -> NDArray[np.float64]:
    """From a single seed to every pixel."""
    squared = np.zeros((1,) * seeds.ndim)
    for axis, (at, size, side) in enumerate(zip(np.argwhere(seeds)[0], seeds.shape, spacing)):
        squared = squared + (((np.arange(size) - at) * side) ** 2).reshape(-1, *(1,) * (seeds.ndim - 1 - axis))
    return np.sqrt(squared)


def _depth(region: Mask, spacing: tuple[float, ...]) -> float:
    """How far the innermost pixel of a region is from what is not of it."""
    if not region.any():
        return 0.0
    return float(distance_transform_edt(np.pad(region[window_of(region)], 1), sampling=spacing).max())


def _parts_that_touch(place: Mask, found: Labels, labels: Labels) -> Labels:
    """The labels, changed to those found in the parts that touch the place."""
    parts = parts_of(found != labels)
    touching = np.isin(parts, np.unique(parts[_dilated(place)])) & (found != labels)
    return np.where(touching, found, labels)


def _dilated(region: Mask) -> Mask:
    """The region with all neighbours of its pixels."""
    return binary_dilation(region, np.ones((3,) * region.ndim))
