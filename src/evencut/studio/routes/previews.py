"""What is answered while the user moves: labels of a sample, and the rows nearest to one."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query
from fastapi.responses import Response

from ..methods import Method
from ..refusals import Refused
from ..sent import Sent
from ..state import Here, Tab
from .points import array_reply

__all__ = ["router"]

router = APIRouter(prefix="/api/sessions/{session}")

_MOST_ROWS = 200


class _Preview(Sent):
    method: Method


@router.get("/points/sample")
async def sample(tab: Tab, studio: Here) -> Response:
    """For each row the point of the sample that it follows in a preview, -1 for none."""
    found, _ = await studio.ask(tab, "sample", quick=True, columns=list(tab.columns))
    return array_reply(found)


@router.post("/preview")
async def preview(body: _Preview, tab: Tab, studio: Here) -> Response:
    """Labels of the sample by a method; nothing of it is kept."""
    method = body.method.model_dump()
    found, _ = await studio.ask(tab, "preview", quick=True, columns=list(tab.columns), method=method)
    return array_reply(found)


@router.get("/points/rows/{row}/neighbors")
async def neighbors(row: int, tab: Tab, studio: Here) -> dict[str, Any]:
    """The rows nearest to one."""
    table = tab.need_table()
    if not 0 <= row < table.n_rows:
        raise Refused(f"there is no row {row}; rows are 0 to {table.n_rows - 1}.", 404)
    found, _ = await studio.ask(tab, "neighbors", quick=True, columns=list(tab.columns), row=row)
    return {"row": row, "neighbors": found}


@router.get("/points/rows")
async def rows(tab: Tab, at: Annotated[list[int], Query(max_length=_MOST_ROWS)]) -> dict[str, Any]:
    """The values of some rows, for a table of them."""
    table = tab.need_table()
    if any(not 0 <= row < table.n_rows for row in at):
        raise Refused(f"rows are 0 to {table.n_rows - 1}.", 404)
    shown = table.columns[:40]
    return {"columns": [c.name for c in shown], "rows": [[row, *(c.cell(row) for c in shown)] for row in at]}
