"""Files are written whole or not at all: under another name first, then moved into place.

An error or Ctrl-C leaves what was there before; whether a place can be written is asked before the work begins.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from evencut.cli.errors import UserError


def check_writable(path: str | Path) -> None:
    """Raise a `UserError` if nothing can be written to `path`; changes nothing."""
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise UserError(f"cannot write {path}: it is a folder; name a file inside it.")
    if not target.parent.is_dir():
        raise UserError(f"cannot write {path}: the folder {target.parent} does not exist; create it first.")
    if _is_special(target):
        return
    trial = _beside(target)
    try:
        trial.open("xb").close()
    except OSError as error:
        raise UserError(
            f"cannot write {path}: no file can be created in the folder {target.parent} ({error.strerror or error}); "
            "choose another place, or get permission to write there."
        ) from error
    finally:
        # In a read-only folder nothing can be removed either, not even what is not there.
        with suppress(OSError):
            trial.unlink()


def make_folder(out: str) -> Path:
    """The folder given with --out, made if need be; a `UserError` unless files can be written into it."""
    folder = Path(out)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"cannot make the folder {out}: {error.strerror}; choose another with --out.") from error
    check_writable(folder / "a file")
    return folder


def check_distinct(**files: str | Path | None) -> None:
    """Raise a `UserError` if two of the named files are the same one."""
    seen: list[tuple[str, str | Path]] = []
    for role, path in files.items():
        if path is None or str(path) == "-" or _is_special(Path(os.path.realpath(path))):
            continue
        for other_role, other in seen:
            if _are_the_same(path, other):
                raise UserError(f"{path} is both the {other_role} and the {role}; give the {role} another name.")
        seen.append((role, path))


@contextmanager
def whole_file(path: str | Path) -> Iterator[IO[bytes]]:
    """Open a file for writing that replaces `path` only if the block ends without an error."""
    target = Path(os.path.realpath(path))
    if _is_special(target):
        try:
            with target.open("wb") as file:
                yield file
        except OSError as error:
            raise UserError(f"cannot write {path}: {error.strerror or error}; choose another place.") from error
        return
    draft = _beside(target)
    try:
        with draft.open("xb") as file:
            yield file
        if target.exists():
            shutil.copymode(target, draft)
        draft.replace(target)
    except OSError as error:
        raise UserError(f"cannot write {path}: {error.strerror or error}; choose another place.") from error
    finally:
        with suppress(OSError):
            draft.unlink()


def _are_the_same(one: str | Path, other: str | Path) -> bool:
    """Whether two names mean one file, through links of either kind or other spellings too."""
    if os.path.realpath(one) == os.path.realpath(other):
        return True
    return os.path.exists(one) and os.path.exists(other) and os.path.samefile(one, other)


def _is_special(target: Path) -> bool:
    """Devices and pipes (/dev/null, /dev/stdout) take data but must never be replaced."""
    return target.exists() and not target.is_file()


def _beside(target: Path) -> Path:
    return target.with_name(f".{target.name}.{os.getpid()}.part")
