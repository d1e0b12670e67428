"""The photo of a session: loading it, gestures on its objects; labels of pixels travel packed."""

from __future__ import annotations

from pathlib import PurePath
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response
from pydantic import Field

from ..methods import PHOTOS, StrictModel
from ..options import RequestError
from ..prompts import Photo, Prompt, Step
from ..sessions import Session
from ..state import ExampleName, FileName, GivenFile, Here, Studio, Tab
from .points import array_reply

router = APIRouter(prefix="/api/sessions/{session}/photo")

Page = Annotated[int, Query(ge=0, lt=1000)]
Every = Annotated[int, Query(ge=1, le=100)]


class _Name(StrictModel):
    name: Annotated[str, Field(min_length=1, max_length=60)]


class _Key(StrictModel):
    key: Annotated[str, Field(max_length=40)]


class _Place(StrictModel):
    x: Annotated[float, Field(ge=0, le=100_000)]
    y: Annotated[float, Field(ge=0, le=100_000)]


@router.post("/upload", status_code=201)
async def upload(name: FileName, request: Request, tab: Tab, studio: Here, page: Page = 0) -> dict[str, Any]:
    """A photo from a file's bytes in the body, or one page of it."""
    async with studio.upload(request) as data:
        return await _take(studio, tab, bytes(data), name, page)


@router.post("/given", status_code=201)
async def given(body: GivenFile, tab: Tab, studio: Here, page: Page = 0) -> dict[str, Any]:
    """A photo of the command line, by its number, or one page of it."""
    data, name = await studio.read_given(body.index, studio.limits.photo_bytes)
    return await _take(studio, tab, data, name, page)


async def _take(studio: Studio, tab: Session, data: bytes, name: str, page: int) -> dict[str, Any]:
    short = PurePath(name).name[:100] or "photo"
    arguments = {"data": data, "name": short, "limits": studio.limits, "page": page}
    (photo, n_pages), _ = await studio.pool.run("photos.read", arguments)
    return {**await _place(studio, tab, photo), "n_pages": n_pages}


@router.post("/example", status_code=201)
async def example(body: ExampleName, tab: Tab, studio: Here) -> dict[str, Any]:
    """An embedded photo."""
    if body.name not in PHOTOS:
        raise RequestError(f"this photo is unknown; choose one of {', '.join(PHOTOS)}.", 404)
    photo, _ = await studio.pool.run("photos.example", {"name": body.name})
    return await _place(studio, tab, photo)


async def _place(studio: Studio, tab: Session, photo: Photo) -> dict[str, Any]:
    await tab.stop_job()
    studio.sessions.check_room(tab, photo.n_bytes)
    tab.show_photo(photo)
    studio.start_background(photo.key, "photos.prepare", {"photo": photo.key}, _kept(photo))
    return photo.about()


def _kept(photo: Photo) -> dict[str, Any]:
    """What a process keeps that cuts out: the photo, and a mark, so that the next gesture goes to the same process."""
    return {photo.key: photo.pixels, f"cut-outs of {photo.key}": None}


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
async def labels(tab: Tab, every: Every = 1) -> Response:
    """The label of every so many pixels each way, a byte each: 0 none, 1 background, 2 and up the objects."""
    return array_reply(tab.need_photo().labels(every))


@router.post("/prompts", status_code=202)
async def prompt(body: Prompt, tab: Tab, studio: Here) -> dict[str, Any]:
    """Begin to answer another gesture on an object; a box in place of the object's first one keeps the clicks."""
    photo = tab.need_photo()
    if len(photo.steps) >= studio.limits.steps:
        raise RequestError(f"{len(photo.steps)} gestures are the most for one photo; export it and start over.")
    earlier = photo.prompts(body.object)
    moved = body.kind == "box" and bool(earlier)
    prompts = [body, *(gesture for gesture in earlier if gesture.kind != "box")] if moved else [*earlier, body]
    arguments = {"photo": photo.key, "prompts": prompts}

    async def work(progress: Any) -> dict[str, Any]:
        if body.kind == "click" and not earlier:
            await studio.wait_background(photo.key)
        cut, warnings = await studio.pool.run("photos.cut", arguments, _kept(photo), progress)
        packed = cut["packed"]
        studio.sessions.check_room(tab, len(packed))
        step = Step(prompts[-1], packed, {**cut["facts"], "warnings": warnings[:5]})
        if moved:
            rest = tuple(step for step in photo.steps if step.prompt.object != body.object)
            photo.steps = (*rest, *(Step(gesture, packed, step.facts) for gesture in prompts))
        else:
            photo.steps = (*photo.steps, step)
        return {"photo": photo.about()}

    return studio.start_job(tab, "cut-out", work).about()


@router.put("/current")
async def turn_to(body: _Key, tab: Tab) -> dict[str, Any]:
    """Show a photo that was open before, with all that was drawn on it."""
    photo = tab.album.get(body.key)
    if photo is None:
        raise RequestError("this photo was closed; open it again.", 404)
    await tab.stop_job()
    tab.show_photo(photo)
    return photo.about()


@router.put("/objects/{number}")
async def rename(number: int, body: _Name, tab: Tab) -> dict[str, Any]:
    """Name an object."""
    photo = _photo_with(tab, number)
    photo.names = {**photo.names, number: body.name}
    return photo.about()


@router.delete("/objects/{number}")
async def remove(number: int, tab: Tab) -> dict[str, Any]:
    """Take an object away; undo brings it back."""
    photo = _photo_with(tab, number)
    photo.steps = tuple(step for step in photo.steps if step.prompt.object != number)
    return photo.about()


@router.delete("/objects")
async def clear(tab: Tab) -> dict[str, Any]:
    """Take all objects away; undo brings them back."""
    photo = tab.need_photo()
    photo.steps = ()
    return photo.about()


def _photo_with(tab: Session, number: int) -> Photo:
    """The photo, if it has this object."""
    photo = tab.need_photo()
    if number not in photo.objects():
        raise RequestError(f"object {number} does not exist; there are {photo.objects()}.", 404)
    return photo


@router.post("/hover")
async def hover(body: _Place, tab: Tab, studio: Here) -> Response:
    """What a first click here would take, on a small copy of the photo: a byte a pixel."""
    photo = tab.need_photo()
    inside, _ = await studio.pool.run(
        "photos.hover", {"photo": photo.key, "x": body.x, "y": body.y}, {photo.key: photo.pixels}, quick=True
    )
    height, width = inside.shape
    return array_reply(inside.ravel(), {"width": width, "height": height})
