"""A project file: all of a tab in one archive, written by the page and read back with every size and word checked.

A zip of `project.json` and arrays as NPY: the table, the clusterings with their labels, corrections and reports, the
photo with its gestures, and what the page showed. Nothing in it is ever run.
"""

from __future__ import annotations

import io
import json
import secrets
import zipfile
import zlib
from collections import OrderedDict
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, ValidationError

from .methods import PHOTOS, POINTS, Merge, Method, Split, StrictModel
from .options import Limits, RequestError, TooLarge
from .prompts import Photo, Prompt, Step, as_rgb, shown
from .sessions import Correction, RowValues, Run, Session, sizes_of
from .tables import Sheet, SheetColumn

_MANIFEST_BYTES = 16 << 20
_ENTRIES = 20_000
_BROKEN = "this is not a project that can be opened"
Number = Annotated[float, Field(allow_inf_nan=False)]
Short = Annotated[str, Field(max_length=200)]


class _Source(StrictModel):
    kind: Literal["csv", "parquet", "npy", "example"]
    name: Short
    example: Short | None = None
    delimiter: Annotated[str, Field(max_length=1)] | None = None
    header: bool | None = None
    decimal: Literal[".", ","] | None = None
    remarks: Annotated[int, Field(ge=0, le=100_000)] | None = None
    written: Literal["utf-16", "latin-1", "gzip", "excel", "blanks"] | None = None


class _Facts(StrictModel):
    column: Short | None = None
    names: list[Short] | None = None
    seconds: Number = 0.0
    energy: Number | None = None
    bandwidth: Number | None = None
    confidence: Number | None = None
    true_agreement: Number | None = None
    n_missing: int = 0
    n_fitted: int = 0
    selection: list[dict[str, Any]] = Field(default=[])
    warnings: list[str] = Field(default=[])


class _Run(StrictModel):
    id: Short
    kind: Literal["fit", "column"]
    method: Method | None
    columns: list[Short]
    facts: _Facts
    values: list[RowValues]
    held: list[Annotated[int, Field(ge=0, le=2000)]]
    report: dict[str, Any] | None
    edits: list[Merge | Split]


class _ColumnHead(StrictModel):
    name: Short
    names: list[str] | None


class _Points(StrictModel):
    source: _Source
    columns: Annotated[list[_ColumnHead], Field(min_length=1)]
    row_numbers: list[Short]
    chosen: Annotated[list[Short], Field(min_length=1)]
    runs: list[_Run]
    panes: dict[Literal["a", "b"], Short]
    held: list[Annotated[int, Field(ge=0, le=2000)]]


class _PhotoHead(StrictModel):
    name: Short
    kind: Literal["file", "example"]
    example: Short | None
    prompts: list[Prompt]
    facts: list[dict[str, Any]]
    names: dict[int, Annotated[str, Field(max_length=60)]]


class _Manifest(StrictModel):
    version: Literal[1]
    points: _Points | None
    photo: _PhotoHead | None
    page: dict[str, Any]


@dataclass(frozen=True, eq=False)
class Project:
    """What a project file holds, ready to be put in place of a session's."""

    table: Sheet | None
    columns: list[str]
    runs: OrderedDict[str, Run]
    panes: dict[str, str]
    corrections: list[Correction]
    photo: Photo | None
    page: dict[str, Any]


def pack(session: Session) -> bytes:
    """The project file of a session."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        points = None if session.table is None else _pack_points(archive, session, session.table)
        photo = None if session.photo is None else _pack_photo(archive, session.photo)
        manifest = _Manifest(version=1, points=points, photo=photo, page=session.page)
        archive.writestr("project.json", manifest.model_dump_json())
    return file.getvalue()


def _put(archive: zipfile.ZipFile, name: str, values: NDArray[Any]) -> None:
    data = io.BytesIO()
    np.save(data, values, allow_pickle=False)
    archive.writestr(name, data.getvalue())


def _pack_points(archive: zipfile.ZipFile, session: Session, table: Sheet) -> _Points:
    for i, column in enumerate(table.columns):
        _put(archive, f"table/{i}.npy", column.values)
    for i, correction in enumerate(session.corrections):
        _put(archive, f"held/{i}.npy", correction.rows)
    known = {name: value for name, value in table.source.items() if name in _Source.model_fields}
    return _Points(
        source=_Source(**known),
        columns=[_ColumnHead(name=column.name, names=column.names) for column in table.columns],
        row_numbers=table.row_numbers,
        chosen=session.columns,
        runs=[_pack_run(archive, f"runs/{i}", run) for i, run in enumerate(session.runs.values())],
        panes={pane: run for pane, run in session.panes.items() if pane in ("a", "b")},  # type: ignore[misc]
        held=[correction.label for correction in session.corrections],
    )


def _pack_run(archive: zipfile.ZipFile, folder: str, run: Run) -> _Run:
    _put(archive, f"{folder}/labels.npy", run.labels)
    for name, values in run.values.items():
        _put(archive, f"{folder}/{name}.npy", values)
    for i, correction in enumerate(run.corrections):
        _put(archive, f"{folder}/held/{i}.npy", correction.rows)
    facts = {name: value for name, value in run.facts.items() if name in _Facts.model_fields}
    report = None if run.report is None else {key: part for key, part in run.report.items() if key != "html"}
    return _Run(
        id=run.id,
        kind=run.kind,  # type: ignore[arg-type]
        method=None if run.method is None else Method(**run.method),
        columns=run.columns,
        facts=_Facts(**facts),
        values=list(run.values),  # type: ignore[arg-type]
        held=[correction.label for correction in run.corrections],
        report=report,
        edits=list(run.edits),
    )


def _pack_photo(archive: zipfile.ZipFile, photo: Photo) -> _PhotoHead:
    _put(archive, "photo/pixels.npy", photo.pixels)
    for i, step in enumerate(photo.steps):
        archive.writestr(f"photo/steps/{i}", step.packed)
    return _PhotoHead(
        name=photo.name,
        kind=photo.source["kind"],
        example=photo.source.get("example"),
        prompts=photo.prompts(),
        facts=[step.facts for step in photo.steps],
        names=photo.names,
    )


def unpack(data: bytes, limits: Limits) -> Project:
    """The project in a file's bytes; what is too large is refused before it is unpacked."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            entries = archive.infolist()
            if len(entries) > _ENTRIES or sum(entry.file_size for entry in entries) > limits.session_bytes:
                raise TooLarge(f"this project unpacks to more than the {limits.session_bytes / 1e6:.4g} MB of a tab.")
            return _unpack(archive, limits)
    except (zipfile.BadZipFile, KeyError, EOFError, zlib.error, NotImplementedError, RuntimeError) as error:
        raise RequestError(
            f"{_BROKEN}: it is damaged, or no project of the studio ({type(error).__name__})."
        ) from error
    except (ValidationError, ValueError, UnicodeDecodeError, RecursionError) as error:
        raise RequestError(f"{_BROKEN}: {' '.join(str(error).split())[:160]}.") from error


def _unpack(archive: zipfile.ZipFile, limits: Limits) -> Project:
    if archive.getinfo("project.json").file_size > _MANIFEST_BYTES:
        raise TooLarge(f"{_BROKEN}: its list of contents is too long.")
    manifest = _Manifest(**json.loads(archive.read("project.json")))
    points, photo = manifest.points, manifest.photo
    table = None if points is None else _table(archive, points, limits)
    runs: OrderedDict[str, Run] = OrderedDict()
    corrections: list[Correction] = []
    if points is not None and table is not None:
        for i, saved in enumerate(points.runs[-limits.runs :]):
            place = i + len(points.runs) - len(points.runs[-limits.runs :])
            runs[saved.id] = _run(archive, f"runs/{place}", saved, table)
        corrections = _corrections(archive, "held", points.held, table.n_rows)
    panes = {} if points is None else {str(pane): run for pane, run in points.panes.items() if run in runs}
    kept = None if photo is None else _photo(archive, photo, limits)
    return Project(table, points.chosen if points else [], runs, panes, corrections, kept, manifest.page)


def _get(archive: zipfile.ZipFile, name: str, kinds: str, n_rows: int | None = None) -> NDArray[Any]:
    """An array of numbers; its header is read first, and an array of another kind or length is refused."""
    values: NDArray[Any] = np.load(io.BytesIO(archive.read(name)), allow_pickle=False)
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
        n_rows = len(values)
        if head.names is not None and values.max(initial=-1) >= len(head.names):
            raise ValueError(f"column {head.name!r} has codes without names")
        names = None if head.names is None else [name[: limits.text_bytes] for name in head.names]
        columns.append(SheetColumn(head.name, values, names))
    source = {key: value for key, value in points.source.model_dump().items() if value is not None}
    if source["kind"] == "example" and source.get("example") not in POINTS:
        raise ValueError("it speaks of an example that is not known")
    return Sheet(columns, source, [], points.row_numbers)


def _run(archive: zipfile.ZipFile, folder: str, saved: _Run, table: Sheet) -> Run:
    labels = _get(archive, f"{folder}/labels.npy", "i", table.n_rows).astype(np.int32)
    facts = {**saved.facts.model_dump(), **sizes_of(labels)}
    facts["n_noise"] = max(0, facts["n_noise"] - saved.facts.n_missing)
    if saved.facts.names is None:
        del facts["names"]
    values: dict[str, Any] = {name: _get(archive, f"{folder}/{name}.npy", "f", table.n_rows) for name in saved.values}
    held = tuple(_corrections(archive, f"{folder}/held", saved.held, table.n_rows))
    method = None if saved.method is None else saved.method.model_dump()
    return Run(
        saved.id, saved.kind, method, saved.columns, labels, values, facts, held, saved.report, tuple(saved.edits)
    )


def _corrections(archive: zipfile.ZipFile, folder: str, labels: list[int], n_rows: int) -> list[Correction]:
    found = []
    for i, label in enumerate(labels):
        rows = _get(archive, f"{folder}/{i}.npy", "u")
        if rows.max(initial=0) >= n_rows:
            raise ValueError("a correction speaks of rows that are not there")
        found.append(Correction(label, rows.astype(np.uint32)))
    return found


def _photo(archive: zipfile.ZipFile, head: _PhotoHead, limits: Limits) -> Photo:
    pixels = _get(archive, "photo/pixels.npy", "uf")
    if pixels.ndim not in (2, 3) or pixels.shape[0] * pixels.shape[1] > limits.pixels:
        raise ValueError(f"the photo has shape {pixels.shape}")
    if head.kind == "example" and head.example not in PHOTOS:
        raise ValueError("it speaks of a photo that is not known")
    source = {"kind": head.kind, **({"example": head.example} if head.example else {"name": head.name})}
    n_pixels = pixels.shape[0] * pixels.shape[1]
    steps = []
    for i, (prompt, facts) in enumerate(zip(head.prompts, head.facts, strict=True)):
        packed = archive.read(f"photo/steps/{i}")
        if len(zlib.decompressobj().decompress(packed, n_pixels + 1)) != n_pixels:
            raise ValueError("a mask does not fit the photo")
        steps.append(Step(prompt, packed, facts))
    data, media_type = shown(as_rgb(pixels))
    return Photo(secrets.token_urlsafe(9), head.name, source, pixels, data, media_type, tuple(steps), dict(head.names))
