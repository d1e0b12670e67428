"""Several objects of one photo at once, with masks that do not overlap: one graph, one answer an object, one vote."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .clock import Clock
from .engine import Engine
from .features import Features
from .images import as_image
from .interactive import axes_of, build_engine, check_spacing, shape_of
from .knowledge import gather
from .result import Segmentation
from .session import first_answer
from .settings import Settings

_PROMPTS = ("box", "clicks", "scribbles", "mask")


@dataclass(frozen=True, eq=False)
class ObjectMasks:
    """Several objects of one image.

    Parameters
    ----------
    labels : ndarray of int of shape (M, N), or (D, M, N)
        0 background, else the number of the object, from 1 in the order of the prompts.
    objects : tuple of Segmentation
        The answer for each prompt alone; where two overlap, `labels` has decided.
    """

    labels: NDArray[np.int64]
    objects: tuple[Segmentation, ...]

    @property
    def masks(self) -> list[NDArray[np.bool_]]:
        """One mask an object; no pixel is in two."""
        return [self.labels == number for number in range(1, len(self.objects) + 1)]


def segment_many(
    image: ArrayLike,
    prompts: Sequence[Mapping[str, Any]],
    *,
    features: Features = "auto",
    spacing: ArrayLike | None = None,
    random_state: int | np.random.Generator | None = None,
    **options: Any,
) -> ObjectMasks:
    """Cut several objects out of one image or volume; their masks do not overlap.

    Each object is cut out as by :func:`segment`, the clicks on the other objects counting as background. A pixel that
    two objects want goes to the one that holds it deeper inside.

    Parameters
    ----------
    image : array of shape (M, N) or (M, N, C), or volume of shape (D, M, N) or (D, M, N, C)
    prompts : list of dict
        One an object, each with some of `box`, `clicks`, `scribbles` and `mask`, as in :func:`segment`.
    features, spacing, random_state, **options
        As in :func:`segment`.

    Examples
    --------
    >>> import numpy as np
    >>> from evencut.segmentation import segment_many
    >>> rng = np.random.default_rng(0)
    >>> image = np.clip(rng.normal(0.2, 0.03, size=(40, 60)), 0, 1)
    >>> image[10:30, 10:25] += 0.6
    >>> image[10:30, 35:50] += 0.4
    >>> found = segment_many(image, [{"clicks": [(17, 20, "object")]}, {"box": (32, 6, 54, 34)}])
    >>> [int(mask.sum()) for mask in found.masks]
    [300, 300]
    """
    if not prompts:
        raise ValueError("prompts are empty; give one dict an object, with box, clicks, scribbles or mask.")
    settings = Settings(**options)
    hint = next((prompt for prompt in prompts if prompt.get("box") is not None or prompt.get("clicks")), {})
    n_axes = axes_of(image, spacing, hint.get("box"), hint.get("clicks"))
    pixels, sides = as_image(image, n_axes), check_spacing(spacing, n_axes)
    shape = shape_of(pixels)
    clicks = [[click for click in prompt.get("clicks") or () if click[-1] == "object"] for prompt in prompts]
    objects, claims = [], []
    engines: dict[tuple[tuple[tuple[int, int], ...], bool], Engine] = {}
    for number, prompt in enumerate(prompts):
        strange = set(prompt) - set(_PROMPTS)
        if strange:
            raise ValueError(f"prompt {number} has {sorted(strange)[0]!r}; it may have {', '.join(_PROMPTS)}.")
        others = [(*at, "background") for i, some in enumerate(clicks) if i != number for *at, _ in some]
        hints = {**prompt, "clicks": [*(prompt.get("clicks") or ()), *others] or None}
        if not any(prompt.get(key) is not None for key in _PROMPTS):
            raise ValueError(f"prompt {number} is empty; give it a box, clicks, scribbles or a mask.")
        knowledge = gather(shape, **hints, hard=settings.hard, spacing=sides)
        clock, place = Clock(), tuple((part.start, part.stop) for part in knowledge.frame)
        if (place, False) not in engines:
            engines[place, False] = build_engine(pixels, features, knowledge, settings, random_state, clock)
        has_clicks = bool(knowledge.clicks or knowledge.waiting)
        if (place, has_clicks) not in engines:
            engines[place, True] = engines[place, False].localized(clock)
        engine = engines[place, has_clicks].varied(in_box=knowledge.around is not None)
        result = first_answer(engine, knowledge, clock)
        objects.append(result)
        claims.append(_claim(result))
    strength = np.stack(claims)
    winner = strength.argmax(axis=0)
    labels = np.where(strength.max(axis=0) > 0, winner + 1, 0)
    return ObjectMasks(labels, tuple(objects))


def _claim(result: Segmentation) -> NDArray[np.float32]:
    """How much each pixel of the object is its own: the depth inside the mask, beyond doubt where it is known."""
    from scipy.ndimage import distance_transform_edt

    if result._state is None:
        raise ValueError("a segmentation without a state makes no claim.")
    knowledge = result._state.knowledge
    depth = distance_transform_edt(np.pad(result.mask, 1), sampling=knowledge.levels.spacing)
    claim = depth[(slice(1, -1),) * depth.ndim].astype(np.float32)
    claim[knowledge.frame][knowledge.known == 1] = np.inf
    return claim
