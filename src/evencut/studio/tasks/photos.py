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

from ..methods import PHOTOS, load_photo
from ..options import RequestError
from ..pool import memory_for_upload
from ..projects import unpack
from ..prompts import Photo, Prompt, as_rgb, extend, read_photo
from ..sessions import Session

_CHAINS = 3
_SMALL = 200


def read(store: dict[str, Any], arguments: dict[str, Any], tell: Any) -> tuple[Photo, int]:
    """A page of a photo from the bytes of a file, and how many pages there are."""
    tell("reading the photo", None)
    name, page = arguments["name"], arguments["page"]
    source = {"kind": "file", "name": name, "page": page}
    with memory_for_upload():
        pixels, n_pages = read_photo(arguments["data"], arguments["limits"], page)
        return Photo.of(pixels, f"{name}, page {page + 1}" if page else name, source), n_pages


def example(store: dict[str, Any], arguments: dict[str, Any], tell: Any) -> Photo:
    """An embedded photo."""
    name = arguments["name"]
    try:
        return Photo.of(load_photo(name), PHOTOS[name].title, {"kind": "example", "example": name})
    except (ImportError, OSError) as error:
        raise RequestError(f"this photo comes with a library that is not here ({error}): evencut[vision].") from error


def cut(store: dict[str, Any], arguments: dict[str, Any], tell: Any) -> dict[str, Any]:
    """The labels of the pixels after a list of gestures, 0 everywhere while there is nothing to distinguish."""
    from evencut.segmentation.result import named

    image = store[arguments["photo"]]
    prompts: list[Prompt] = arguments["prompts"]
    start = time.perf_counter()
    result = _chain(store, arguments["photo"], image, prompts, tell)
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
    """Labels of pixels, compressed: some 100 kB for a large photo instead of megabytes."""
    return zlib.compress(np.ascontiguousarray(labels).data, 1)


def _shares(result: Any) -> dict[str, float]:
    """The share of the pixels that each label has; they are few, and the last has what the others leave."""
    counts = [np.count_nonzero(result.codes == code) for code in range(len(result.label_names) - 1)]
    counts.append(result.codes.size - sum(counts))
    return {str(label): count / result.codes.size for label, count in zip(result.label_names, counts) if count}


def prepare(store: dict[str, Any], arguments: dict[str, Any], tell: Any) -> None:
    """What any first click on a photo needs, before it is made."""
    _prepared(store, arguments["photo"])


def _prepared(store: dict[str, Any], key: str) -> Any:
    """That of the last photo that needed it is store: it takes four times the memory of the photo."""
    from evencut.segmentation.segment import prepare

    if store.get("prepared", (None,))[0] != key:
        store["prepared"] = (key, prepare(store[key]))
    return store["prepared"][1]


def hover(store: dict[str, Any], arguments: dict[str, Any], tell: Any) -> NDArray[np.uint8]:
    """What a first click would take, on a copy of at most 200 pixels a side: 1 where it would."""
    from evencut.segmentation import segment

    image = as_rgb(store[arguments["photo"]])
    step = max(1, -(-max(image.shape[:2]) // _SMALL))
    small = np.ascontiguousarray(image[::step, ::step])
    x, y = int(arguments["x"] // step), int(arguments["y"] // step)
    if not (0 <= x < small.shape[1] and 0 <= y < small.shape[0]):
        raise RequestError("this lies outside of the photo; point inside.")
    return (np.asarray(segment(small, clicks=[(x, y, "object")]).labels) == 2).astype(np.uint8)


def _chain(store: dict[str, Any], key: str, image: NDArray[Any], prompts: list[Prompt], tell: Any) -> Any:
    """The last result; those of the same beginnings are kept beside the photo, and forgotten with it."""
    name = f"{key} {prompts[0].object}"
    chains = store.setdefault("chains", {})
    chain = chains.pop(name, [])
    known = 0
    while known < min(len(chain), len(prompts)) and chain[known][0] == prompts[known]:
        known += 1
    chain = chain[:known] if known < len(prompts) else chain
    while len(chain) < len(prompts):
        tell("cutting out", len(chain) / len(prompts))
        results = [result for _, result in chain]
        so_far = prompts[: len(chain) + 1]
        chain.append((so_far[-1], extend(image, results, so_far, partial(_prepared, store, key))))
    chains[name] = chain
    for old in list(chains)[:-_CHAINS]:
        del chains[old]
    return chain[len(prompts) - 1][1]


def read_project(store: dict[str, Any], arguments: dict[str, Any], tell: Any) -> tuple[Session, bytes]:
    """The tab in the bytes of a project, and the file of its table."""
    tell("reading the project", None)
    with memory_for_upload():
        session = unpack(arguments["data"], arguments["limits"])
    return session, session.table.original if session.table else b""
