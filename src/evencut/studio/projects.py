"""A project file: all of a tab in one archive, written by the page and read back with every size and word checked.

A zip of `project.json` and arrays as NPY: the table and its file, the clusterings with their labels, corrections and
reports, the photos with their gestures, and what the page showed. Nothing in it is ever run.
"""

from __future__ import annotations

import io
import json
import math
import zipfile
import zlib
from collections.abc import Iterable
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, Field, ValidationError, model_validator

from .methods import PHOTOS, POINTS, Merge, Method, Split, StrictModel
from .options import Limits, RequestError, TooLarge
from .prompts import Photo, Prompt, Step, StepFacts
from .sessions import MAX_LABEL, Correction, Facts, Missing, Number, RowValues, Run, Session, Short, sizes_of
from .tables import Role, Sheet, SheetColumn

_MANIFEST_BYTES = 16 << 20
_ENTRIES = 20_000
_BROKEN = "this is not a project that can be opened"


class _Source(BaseModel):
    kind: Literal["csv", "parquet", "npy", "cells", "example", "variable"]
    holder: Literal["pandas", "polars", "pyarrow", "numpy"] | None = None
    name: Short
    example: Short | None = None
    delimiter: Annotated[str, Field(max_length=1)] | None = None
    header: bool | None = None
    decimal: Literal[".", ","] | None = None
    remarks: Annotated[int, Field(ge=0, le=100_000)] | None = None
    written: Literal["utf-16", "latin-1", "gzip", "excel", "blanks"] | None = None
    sheet: Short | None = None
    sheets: list[Short] | None = None
    categories: list[Short] | None = None


class _ClusterReport(BaseModel, extra="allow"):
    label: str | int
    size: int
    verdict: Short
    confidence: Number
    density: Number


class _Verdicts(BaseModel, extra="allow"):
    verdict: Short
    confidence: Number
    biased: bool
    advice: str
    code: str | None
    clusters: list[_ClusterReport]


class _Report(StrictModel):
    """A diagnosis as `tasks.clusters.diagnose_labels` gives it."""

    report: _Verdicts
    headline: str
    summary: list[str]
    profiles: list[list[list[Number | None]] | None]
    cure: Method | None

    @model_validator(mode="after")
    def _one_profile_each(self) -> _Report:
        if len(self.profiles) != len(self.report.clusters):
            raise ValueError("a report has more or fewer borders than clusters")
        return self


class _Run(BaseModel):
    id: Short
    kind: Literal["fit", "column"]
    method: Method | None
    columns: list[Short]
    facts: Facts
    values: list[RowValues]
    held: list[Annotated[int, Field(ge=0, le=2000)]]
    report: _Report | None
    edits: list[Merge | Split]


class _ColumnHead(StrictModel):
    name: Short
    names: list[str] | None
    holds: Literal["numbers", "words", "dates"] = "numbers"
    refused: Short = ""
    given: tuple[Role, Short] | None = None


class _Points(StrictModel):
    source: _Source
    columns: Annotated[list[_ColumnHead], Field(min_length=1)]
    row_numbers: list[Short]
    chosen: Annotated[list[Short], Field(min_length=1)]
    missing: Missing = "drop"
    counts: bool = False
    runs: list[_Run]
    panes: dict[Literal["a", "b"], Short]
    held: list[Annotated[int, Field(ge=0, le=2000)]]


class _PhotoHead(StrictModel):
    name: Short
    kind: Literal["file", "example"]
    example: Short | None
    prompts: list[Prompt]
    facts: list[StepFacts]
    names: dict[int, Annotated[str, Field(max_length=60)]]
    page: Annotated[int, Field(ge=0, lt=1000)] = 0
    file: Short | None = None


class _PointsPage(BaseModel, extra="allow"):
    methods: dict[Literal["a", "b"], Method] = Field(default={})
    columns: dict[Literal["a", "b"], Short | None] = Field(default={})
    active: Literal["a", "b"] = "a"
    names: dict[Short, dict[Annotated[str, Field(pattern=r"^\d{1,5}$")], Short]] = Field(default={})
    look: dict[str, Any] = Field(default={})
    dock: Short | None = None


class _Page(BaseModel, extra="allow"):
    """What the page showed, as far as it must be right for the page to show it again."""

    half: Literal["points", "photos"] = "points"
    points: _PointsPage = Field(default=_PointsPage())


class _Manifest(StrictModel):
    """Version 1 had one photo."""

    version: Literal[1, 2]
    points: _Points | None
    photo: _PhotoHead | None = None
    photos: Annotated[list[_PhotoHead], Field(max_length=500)] = Field(default=[])
    shown: Annotated[int, Field(ge=0)] | None = None
    page: _Page


def pack(session: Session) -> bytes:
    """The project file of a session."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        points = None if session.table is None else _pack_points(archive, session, session.table)
        album = list(session.album.values())
        photos = [_pack_photo(archive, f"photos/{i}", photo) for i, photo in enumerate(album)]
        shown = album.index(session.photo) if session.photo in album else None
        manifest = _Manifest(version=2, points=points, photos=photos, shown=shown, page=_page_of(session.page))
        archive.writestr("project.json", manifest.model_dump_json())
        name = session.table.source["name"] if session.table else album[0].name if album else "project"
        archive.comment = name.encode()[:200]
    return file.getvalue()


def _page_of(page: dict[str, Any]) -> _Page:
    """What a page showed; nothing where a script has sent what is none."""
    try:
        return _Page(**page)
    except ValidationError:
        return _Page()


def _put(archive: zipfile.ZipFile, name: str, values: NDArray[Any]) -> None:
    data = io.BytesIO()
    np.save(data, values, allow_pickle=False)
    archive.writestr(name, data.getvalue())


def _pack_points(archive: zipfile.ZipFile, session: Session, table: Sheet) -> _Points:
    for i, column in enumerate(table.columns):
        _put(archive, f"table/{i}.npy", column.values)
    archive.writestr("table/original", table.original)
    return _Points(
        source=_Source(**table.source),
        columns=[_ColumnHead.model_validate(column, from_attributes=True) for column in table.columns],
        row_numbers=table.row_numbers,
        chosen=session.columns,
        missing=session.missing,  # type: ignore[arg-type]
        counts=session.counts,
        runs=[_pack_run(archive, f"runs/{i}", run) for i, run in enumerate(session.runs.values())],
        panes={pane: run for pane, run in session.panes.items() if pane in ("a", "b")},  # type: ignore[misc]
        held=_pack_corrections(archive, "held", session.corrections),
    )


def _pack_corrections(archive: zipfile.ZipFile, folder: str, corrections: Iterable[Correction]) -> list[int]:
    """Write their rows; the labels are for the manifest."""
    for i, correction in enumerate(corrections):
        _put(archive, f"{folder}/{i}.npy", correction.rows)
    return [correction.label for correction in corrections]


def _pack_run(archive: zipfile.ZipFile, folder: str, run: Run) -> _Run:
    _put(archive, f"{folder}/labels.npy", run.labels)
    for name, values in run.values.items():
        _put(archive, f"{folder}/{name}.npy", values)
    held = _pack_corrections(archive, f"{folder}/held", run.corrections)
    return _Run.model_validate({**vars(run), "values": list(run.values), "held": held})


def _pack_photo(archive: zipfile.ZipFile, folder: str, photo: Photo) -> _PhotoHead:
    _put(archive, f"{folder}/pixels.npy", photo.pixels)
    for i, step in enumerate(photo.steps):
        archive.writestr(f"{folder}/steps/{i}", step.packed)
    return _PhotoHead(
        name=photo.name,
        kind=photo.source["kind"],
        example=photo.source.get("example"),
        prompts=photo.prompts(),
        facts=[StepFacts(**step.facts) for step in photo.steps],
        names=photo.names,
        page=photo.source.get("page", 0),
        file=photo.source.get("name"),
    )


def unpack(data: bytes, limits: Limits) -> Session:
    """The tab that a file's bytes hold; what is too large is refused before it is unpacked."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            entries = archive.infolist()
            if len(entries) > _ENTRIES or sum(entry.file_size for entry in entries) > limits.session_bytes:
                raise TooLarge(f"this project unpacks to more than the {limits.session_bytes / 1e6:.4g} MB of a tab.")
            return _unpack(archive, limits)
    except (zipfile.BadZipFile, KeyError, EOFError, zlib.error, NotImplementedError, RuntimeError) as error:
        why = f"it is damaged, or no project of the studio ({type(error).__name__})"
        raise RequestError(f"{_BROKEN}: {why}.") from error
    except (ValidationError, ValueError, UnicodeDecodeError, RecursionError) as error:
        raise RequestError(f"{_BROKEN}: {' '.join(str(error).split())[:160]}.") from error


def _unpack(archive: zipfile.ZipFile, limits: Limits) -> Session:
    if archive.getinfo("project.json").file_size > _MANIFEST_BYTES:
        raise TooLarge(f"{_BROKEN}: its list of contents is too long.")
    manifest = _Manifest(**json.loads(archive.read("project.json")))
    session = Session("", 0.0, page=manifest.page.model_dump())
    if (points := manifest.points) is not None:
        session.table = table = _table(archive, points, limits)
        session.columns, session.missing, session.counts = points.chosen, points.missing, points.counts
        for i, saved in list(enumerate(points.runs))[-limits.runs :]:
            session.runs[saved.id] = _run(archive, f"runs/{i}", saved, table)
        session.panes = {str(pane): run for pane, run in points.panes.items() if run in session.runs}
        session.corrections = _corrections(archive, "held", points.held, table.n_rows)
    heads = [(f"photos/{i}", head) for i, head in enumerate(manifest.photos)]
    heads += [("photo", manifest.photo)] if manifest.photo is not None else []
    album = [_photo(archive, folder, head, limits) for folder, head in heads]
    session.album = {photo.key: photo for photo in album}
    shown = manifest.shown or 0
    session.photo = album[shown if shown < len(album) else 0] if album else None
    return session


def _get(archive: zipfile.ZipFile, name: str, kinds: str, n_rows: int | None = None) -> NDArray[Any]:
    """An array of numbers; its header is read first, and an array of another kind or length is refused."""
    data = io.BytesIO(archive.read(name))
    version = np.lib.format.read_magic(data)
    read_header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, _, dtype = read_header(data)
    if dtype.hasobject or math.prod(shape) * dtype.itemsize != len(data.getbuffer()) - data.tell():
        raise ValueError(f"{name} does not hold the {shape} values of {dtype} that it speaks of")
    data.seek(0)
    values: NDArray[Any] = np.load(data, allow_pickle=False)
    if values.dtype.kind not in kinds or (n_rows is not None and values.shape != (n_rows,)):
        raise ValueError(f"{name} has {values.shape} values of {values.dtype}")
    return values


def _table(archive: zipfile.ZipFile, points: _Points, limits: Limits) -> Sheet:
    known = {column.name for column in points.columns}
    if len(known) < len(points.columns) or not set(points.chosen) <= known:
        raise ValueError("its columns do not have one name each")
    columns = []
    n_rows = None
    for i, head in enumerate(points.columns):
        values = _get(archive, f"table/{i}.npy", "f" if head.names is None else "i", n_rows)
        if values.ndim != 1 or not len(values):
            raise ValueError(f"column {head.name!r} has {values.shape} values")
        n_rows = len(values)
        if head.names is not None and not (-1 <= values.min() and values.max() < len(head.names)):
            raise ValueError(f"column {head.name!r} has codes without names")
        holds = "words" if head.names is not None else "numbers" if head.holds == "words" else head.holds
        names = None if head.names is None else [name[: limits.text_bytes] for name in head.names]
        columns.append(SheetColumn(head.name, values, names, holds, head.refused, head.given))
    source = {key: value for key, value in points.source.model_dump().items() if value is not None}
    if source["kind"] == "example" and source.get("example") not in POINTS:
        raise ValueError("it speaks of an example that is not known")
    original = archive.read("table/original") if "table/original" in archive.namelist() else b""
    return Sheet(columns, source, [], points.row_numbers, original=original)


def _run(archive: zipfile.ZipFile, folder: str, saved: _Run, table: Sheet) -> Run:
    labels = _get(archive, f"{folder}/labels.npy", "i", table.n_rows)
    if labels.min() < -1 or labels.max() > MAX_LABEL:
        raise ValueError(f"labels go from {labels.min()} to {labels.max()}; they may go from -1 to {MAX_LABEL}")
    labels = labels.astype(np.int32)
    facts = {**saved.facts.model_dump(), **sizes_of(labels, saved.facts.n_missing)}
    values: dict[str, Any] = {name: _get(archive, f"{folder}/{name}.npy", "f", table.n_rows) for name in saved.values}
    held = tuple(_corrections(archive, f"{folder}/held", saved.held, table.n_rows))
    method = None if saved.method is None else saved.method.model_dump()
    report = None if saved.report is None else saved.report.model_dump()
    return Run(saved.id, saved.kind, method, saved.columns, labels, values, facts, held, report, tuple(saved.edits))


def _corrections(archive: zipfile.ZipFile, folder: str, labels: list[int], n_rows: int) -> list[Correction]:
    corrections = []
    for i, label in enumerate(labels):
        rows = _get(archive, f"{folder}/{i}.npy", "u")
        if rows.max(initial=0) >= n_rows:
            raise ValueError("a correction speaks of rows that are not there")
        corrections.append(Correction(label, rows.astype(np.uint32)))
    return corrections


def _photo(archive: zipfile.ZipFile, folder: str, head: _PhotoHead, limits: Limits) -> Photo:
    pixels = _get(archive, f"{folder}/pixels.npy", "uf")
    if pixels.ndim not in (2, 3) or pixels.shape[0] * pixels.shape[1] > limits.pixels:
        raise ValueError(f"the photo has shape {pixels.shape}")
    if head.kind == "example" and head.example not in PHOTOS:
        raise ValueError("it speaks of a photo that is not known")
    source = {"kind": head.kind, "name": head.file or head.name, "page": head.page}
    if head.example:
        source = {"kind": head.kind, "example": head.example}
    n_pixels = pixels.shape[0] * pixels.shape[1]
    steps = []
    for i, (prompt, facts) in enumerate(zip(head.prompts, head.facts, strict=True)):
        packed = archive.read(f"{folder}/steps/{i}")
        if len(zlib.decompressobj().decompress(packed, n_pixels + 1)) != n_pixels:
            raise ValueError("a mask does not fit the photo")
        steps.append(Step(prompt, packed, facts.model_dump()))
    photo = Photo.of(pixels, head.name, source)
    photo.steps, photo.names = tuple(steps), head.names
    return photo
