#!/usr/bin/env python3
"""What meson.build asks of the tree: `version`, the one in the package; `caches`, its folders of byte code."""

import re
import sys
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "src" / "evencut"


def version() -> str:
    """The version that the package tells."""
    text = (PACKAGE / "__init__.py").read_text(encoding="utf-8")
    return re.search(r'^__version__ = "(.+)"$', text, re.MULTILINE)[1]


def caches() -> str:
    """Where Python keeps byte code, there or not, relative to the package: what a wheel must not hold."""
    folders = [PACKAGE, *(path for path in PACKAGE.rglob("*") if path.is_dir() and path.name != "__pycache__")]
    return "\n".join(sorted((folder / "__pycache__").relative_to(PACKAGE).as_posix() for folder in folders))


if __name__ == "__main__":
    print({"version": version, "caches": caches}[sys.argv[1]]())
