"""The photo of a session: loading it, gestures on it, undo and redo; labels of pixels travel packed."""

from __future__ import annotations

import secrets
import zlib
from pathlib import PurePath
from typing import Annotated, Any

import numpy as np
from fastapi import APIRouter, Request
from fastapi.responses import Response
from pydantic import BaseModel, ConfigDict, Field

from ..examples import PHOTOS
from ..prompts import Prompt
from ..refusals import Refused
from ..sessions import Photo, Session, Step
from ..state import ExampleName, FileName, GivenFile, Here, Studio, Tab

__all__ = ["router"]

router = APIRouter(prefix="/api/sessions/{session}/photo")


class _Position(BaseModel):
    model_config = ConfigDict(extra="forbid")
    position: Annotated[int, Field(ge=0, le=10_000)]


@router.post("/upload", status_code=201)
async def upload(name: FileName, request: Request, tab: Tab, studio: Here) -> dict[str, Any]:
    """A photo from a file's bytes in the body."""
    async with studio.upload(request) as data:
        return await _take(studio, tab, bytes(data), name)


@router.post("/given", status_code=201)
async def given(body: GivenFile, tab: Tab, studio: Here) -> dict[str, Any]:
    """A photo of the command line, by its number."""
    data, name = await studio.read_given(body.index, studio.limits.photo_bytes)
    return await _take(studio, tab, data, name)


async def _take(studio: Studio, tab: Session, data: bytes, name: str) -> dict[str, Any]:
    found, _ = await studio.pool.run("read_photo", {"data": data, "limits": studio.plain_limits()})
    short = PurePath(name).name[:100] or "photo"
    return await _place(studio, tab, found, short, {"kind": "file", "name": short})


@router.post("/example", status_code=201)
async def example(body: ExampleName, tab: Tab, studio: Here) -> dict[str, Any]:
    """An embedded photo."""
    if body.name not in PHOTOS:
        raise Refused(f"there is no photo of that name; there are {', '.join(PHOTOS)}.", 404)
    found, _ = await studio.pool.run("photo_example", {"name": body.name})
    return await _place(studio, tab, found, PHOTOS[body.name].title, {"kind": "example", "example": body.name})


async def _place(
    studio: Studio, tab: Session, found: dict[str, Any], name: str, source: dict[str, Any]
) -> dict[str, Any]:
    await tab.stop_job()
    photo = Photo(secrets.token_urlsafe(9), name, source, found["pixels"], found["shown"], found["media_type"])
    studio.sessions.check_room(tab, photo.n_bytes)
    tab.photo = photo
    return photo.about()


@router.get("")
async def about(tab: Tab) -> dict[str, Any]:
    """What is known of the photo."""
    return tab.need_photo().about()


@router.get("/image")
async def image(tab: Tab) -> Response:
    """The photo itself."""
    photo = tab.need_photo()
    return Response(photo.shown, media_type=photo.media_type)


@router.get("/labels")
async def labels(tab: Tab) -> Response:
    """The label of each pixel, a byte each: 0 none, 1 background, 2 object."""
    photo = tab.need_photo()
    packed = photo.steps[photo.position - 1].packed if photo.position else zlib.compress(photo.labels().tobytes(), 1)
    return Response(packed, media_type="application/octet-stream", headers={"content-encoding": "deflate"})


@router.post("/prompts", status_code=202)
async def prompt(body: Prompt, tab: Tab, studio: Here) -> dict[str, Any]:
    """Begin to answer one more gesture; those that were undone are forgotten."""
    photo = tab.need_photo()
    if photo.position >= studio.limits.steps:
        raise Refused(f"{photo.position} gestures are the most for one photo; export it and start over.")
    if body.kind == "box" and photo.position:
        photo.position = 0
    prompts = [*photo.prompts(), body]
    arguments = {"photo": photo.key, "prompts": [given.model_dump() for given in prompts]}

    async def work(progress: Any) -> dict[str, Any]:
        found, warnings = await studio.pool.run("cut", arguments, {photo.key: photo.pixels}, progress)
        packed = zlib.compress(np.ascontiguousarray(found["labels"]).tobytes(), 1)
        studio.sessions.check_room(tab, len(packed))
        del photo.steps[len(prompts) - 1 :]
        photo.steps.append(Step(body, packed, {**found["facts"], "warnings": warnings[:5]}))
        photo.position = len(prompts)
        return {"photo": photo.about()}

    return studio.start_job(tab, "cut-out", work).about()


@router.put("/position")
async def move(body: _Position, tab: Tab) -> dict[str, Any]:
    """Undo or redo: so many gestures are in force."""
    photo = tab.need_photo()
    if body.position > len(photo.steps):
        raise Refused(f"there are {len(photo.steps)} gestures; {body.position} cannot be in force.")
    photo.position = body.position
    return photo.about()


@router.post("/grabcut", status_code=202)
async def grabcut(tab: Tab, studio: Here) -> dict[str, Any]:
    """Begin to answer the same gestures with OpenCV's grabCut."""
    photo = tab.need_photo()
    if not photo.position:
        raise Refused("draw a box or click first; grabCut is then given the same.")
    arguments = {"photo": photo.key, "prompts": [given.model_dump() for given in photo.prompts()]}

    async def work(progress: Any) -> dict[str, Any]:
        found, _ = await studio.pool.run("grabcut", arguments, {photo.key: photo.pixels}, progress)
        ours, theirs = photo.labels() == 2, found["labels"] == 2
        union = (ours | theirs).sum()
        packed = zlib.compress(found["labels"].tobytes(), 1)
        tab.grabcut = packed
        return {"facts": found["facts"], "overlap": float((ours & theirs).sum() / union) if union else 1.0}

    return studio.start_job(tab, "grabCut", work).about()


@router.get("/grabcut")
async def grabcut_labels(tab: Tab) -> Response:
    """Labels of the last comparison."""
    if tab.grabcut is None:
        raise Refused("nothing was compared yet.", 404)
    return Response(tab.grabcut, media_type="application/octet-stream", headers={"content-encoding": "deflate"})
