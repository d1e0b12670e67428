"""Tasks on photos: decode one, and answer the next gesture from the results of the ones before.

A process keeps the chain of results of a photo; where it has none (it is new, or another one was killed), the chain is
made again from the gestures.
"""

from __future__ import annotations

import time
import zlib
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..methods import load_photo
from ..options import Limits, RequestError
from ..pool import memory_for_upload
from ..projects import Project, unpack
from ..prompts import Prompt, as_rgb, extend, read_photo, shown

_CHAINS = 3
_SMALL = 200


def read(kept: dict[str, Any], arguments: dict[str, Any], tell: Any) -> dict[str, Any]:
    """A photo from the bytes of a file, with a copy for the page."""
    tell("reading the photo", None)
    with memory_for_upload():
        pixels, n_pages = read_photo(arguments["data"], Limits(**arguments["limits"]), arguments["page"])
        return _photo(pixels) | {"n_pages": n_pages}


def example(kept: dict[str, Any], arguments: dict[str, Any], tell: Any) -> dict[str, Any]:
    """An embedded photo."""
    try:
        return _photo(load_photo(arguments["name"]))
    except (ImportError, OSError) as error:
        raise RequestError(f"this photo comes with a library that is not here ({error}): evencut[vision].") from error


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
        raise RequestError("this lies outside of the photo; point inside.")
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


def read_project(kept: dict[str, Any], arguments: dict[str, Any], tell: Any) -> Project:
    """The project in a file's bytes."""
    tell("reading the project", None)
    with memory_for_upload():
        return unpack(arguments["data"], Limits(**arguments["limits"]))
