"""The task that opens a project file of strangers, in a process that may fail without harm."""

from __future__ import annotations

from typing import Any

from ..memory import memory_for_upload
from ..options import Limits
from ..projects import Project, unpack


def read(kept: dict[str, Any], arguments: dict[str, Any], tell: Any) -> Project:
    """The project in a file's bytes."""
    tell("reading the project", None)
    with memory_for_upload():
        return unpack(arguments["data"], Limits(**arguments["limits"]))
