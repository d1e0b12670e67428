"""Tasks on photos: decode one, and answer the next gesture from the results of the ones before.

A process keeps the chain of results of a photo; where it has none (it is new, or another one was killed), the chain is
made again from the gestures.
"""

from __future__ import annotations

import time
import zlib
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..examples import load_photo
from ..memory import memory_for_upload
from ..options import Limits
from ..pictures import as_rgb, read_photo, shown
from ..prompts import Prompt, drawn_strokes, extend
from ..refusals import Refused

__all__ = ["cut", "example", "grabcut", "hover", "prepare", "read"]

_CHAINS = 3
_SMALL = 200


def read(kept: dict[str, Any], arguments: dict[str, Any], tell: Any) -> dict[str, Any]:
    """A photo from the bytes of a file, with a copy for the page."""
    tell("reading the photo", None)
    with memory_for_upload():
        return _photo(read_photo(arguments["data"], Limits(**arguments["limits"])))


def example(kept: dict[str, Any], arguments: dict[str, Any], tell: Any) -> dict[str, Any]:
    """An embedded photo."""
    try:
        return _photo(load_photo(arguments["name"]))
    except (ImportError, OSError) as error:
        raise Refused(f"this photo comes with a library that is not here ({error}): evencut[vision].") from error


def _photo(pixels: NDArray[Any]) -> dict[str, Any]:
    rgb = as_rgb(pixels)
    data, media_type = shown(rgb)
    return {"pixels": pixels, "shown": data, "media_type": media_type}


def cut(kept: dict[str, Any], arguments: dict[str, Any], tell: Any) -> dict[str, Any]:
    """The labels of the pixels after a list of gestures, 0 everywhere while nothing can be told apart."""
    from evencut.segmentation.result import named

    image = kept[arguments["photo"]]
    prompts = [Prompt(**prompt) for prompt in arguments["prompts"]]
    start = time.perf_counter()
    result = _chain(kept, arguments["photo"], image, prompts, tell)
    seconds = time.perf_counter() - start
    if result is None:
        nothing: dict[str, Any] = {"seconds": seconds, "energy": None, "shares": {}}
        return {"packed": _packed(np.zeros(image.shape[:2], np.uint8)), "facts": nothing}
    return {
        "packed": _packed(named(result.codes, result.label_names.astype(np.uint8))),
        "facts": {
            "seconds": seconds,
            "energy": float(result.energy) if np.isfinite(result.energy) else None,
            "rounds": int(result.n_iter),
            "converged": bool(result.converged),
            "shares": _shares(result),
        },
    }


def _packed(labels: NDArray[np.uint8]) -> bytes:
    """Labels of pixels as they are kept and sent: of a large photo some 100 kB instead of megabytes."""
    return zlib.compress(np.ascontiguousarray(labels).data, 1)


def _shares(result: Any) -> dict[str, float]:
    """The share of the pixels that each label has; they are few, and the last has what the others leave."""
    counts = [np.count_nonzero(result.codes == code) for code in range(len(result.label_names) - 1)]
    counts.append(result.codes.size - sum(counts))
    return {str(label): count / result.codes.size for label, count in zip(result.label_names, counts) if count}


def prepare(kept: dict[str, Any], arguments: dict[str, Any], tell: Any) -> None:
    """What any first click on a photo needs, before it is made."""
    _prepared(kept, arguments["photo"])


def _prepared(kept: dict[str, Any], key: str) -> Any:
    """That of the last photo that needed it is kept: it takes four times the memory of the photo."""
    from evencut.segmentation.segment import prepare

    if kept.get("prepared", (None,))[0] != key:
        kept["prepared"] = (key, prepare(kept[key]))
    return kept["prepared"][1]


def hover(kept: dict[str, Any], arguments: dict[str, Any], tell: Any) -> NDArray[np.uint8]:
    """What a first click would take, on a copy of at most 200 pixels a side: 1 where it would."""
    from evencut.segmentation import segment

    image = as_rgb(kept[arguments["photo"]])
    step = max(1, -(-max(image.shape[:2]) // _SMALL))
    small = np.ascontiguousarray(image[::step, ::step])
    x, y = int(arguments["x"] // step), int(arguments["y"] // step)
    if not (0 <= x < small.shape[1] and 0 <= y < small.shape[0]):
        raise Refused("this lies outside of the photo; point inside.")
    return (np.asarray(segment(small, clicks=[(x, y, "object")]).labels) == 2).astype(np.uint8)


def _chain(kept: dict[str, Any], key: str, image: NDArray[Any], prompts: list[Prompt], tell: Any) -> Any:
    """The last result; those of the same beginnings are kept beside the photo, and forgotten with it."""
    name = f"{key} {prompts[0].object}"
    chains = kept.setdefault("chains", {})
    chain = chains.pop(name, [])
    known = 0
    while known < min(len(chain), len(prompts)) and chain[known][0] == prompts[known]:
        known += 1
    chain = chain[:known] if known < len(prompts) else chain
    while len(chain) < len(prompts):
        tell("cutting out", len(chain) / len(prompts))
        before = [result for _, result in chain]
        part = prompts[: len(chain) + 1]
        chain.append((part[-1], extend(image, before, part, partial(_prepared, kept, key))))
    chains[name] = chain
    for old in list(chains)[:-_CHAINS]:
        del chains[old]
    return chain[len(prompts) - 1][1]


def grabcut(kept: dict[str, Any], arguments: dict[str, Any], tell: Any) -> dict[str, Any]:
    """OpenCV's grabCut from the same gestures, for comparison."""
    try:
        cv2 = import_module("cv2")
    except ImportError as error:
        raise Refused("OpenCV is not installed: pip install opencv-python-headless, to compare with it.") from error
    image = as_rgb(kept[arguments["photo"]])[..., ::-1].copy()
    prompts = [Prompt(**prompt) for prompt in arguments["prompts"]]
    start = time.perf_counter()
    tell("grabCut", None)
    marks = np.full(image.shape[:2], cv2.GC_PR_FGD, np.uint8)
    if prompts[0].kind == "box":
        x0, y0, x1, y1 = prompts[0].box
        inside = np.zeros(marks.shape, bool)
        inside[max(y0, 0) : y1, max(x0, 0) : x1] = True
        marks[~inside] = cv2.GC_BGD
    else:
        marks[0], marks[-1], marks[:, 0], marks[:, -1] = (cv2.GC_BGD,) * 4
    strokes = drawn_strokes(prompts, marks.shape)
    marks[strokes == 1], marks[strokes == 2] = cv2.GC_BGD, cv2.GC_FGD
    try:
        cv2.grabCut(image, marks, None, np.zeros((1, 65)), np.zeros((1, 65)), 5, cv2.GC_INIT_WITH_MASK)
    except cv2.error as error:
        raise Refused(f"grabCut cannot answer this ({str(error)[:120]}).") from error
    object_ = (marks == cv2.GC_FGD) | (marks == cv2.GC_PR_FGD)
    return {"labels": (1 + object_).astype(np.uint8), "facts": {"seconds": time.perf_counter() - start, "energy": None}}
