"""Translate the loops to C by Cython, all in one process, and leave alone what has not changed.

    python build_tools/translate.py FOLDER DEPFILE SOURCE... -- OPTION...

Cython reads a library of its own when it starts, which takes several times as long as a file of loops. The options are
those of `cython`; where they are others than last time, every file is translated again.
"""

import runpy
import sys
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "src" / "evencut"


def main(folder: str, depfile: str, *rest: str) -> None:
    """Write the C files that are missing or older than what they are made of, and what they all depend on."""
    sources, options = rest[: rest.index("--")], rest[rest.index("--") + 1 :]
    shared = sorted(PACKAGE.rglob("*.pxd"))
    newest = max((path.stat().st_mtime_ns for path in shared), default=0)
    kept = Path(folder, "options-of-loops.txt")
    same = kept.is_file() and kept.read_text(encoding="utf-8") == "\n".join(options)
    kept.unlink(missing_ok=True)
    outputs = [Path(folder, Path(source).stem + ".c") for source in sources]
    for source, output in zip(sources, outputs):
        made = output.stat().st_mtime_ns if same and output.is_file() else -1
        if made < max(newest, Path(source).stat().st_mtime_ns):
            translate(source, output, options)
    kept.write_text("\n".join(options), encoding="utf-8")
    names = [" ".join(str(path).replace(" ", "\\ ") for path in paths) for paths in (outputs, [*sources, *shared])]
    Path(depfile).write_text(": ".join(names) + "\n", encoding="utf-8")


def translate(source: str, output: Path, options: tuple[str, ...]) -> None:
    """What `cython` does with one file; no half of it stays where it fails."""
    sys.argv = ["cython", *options, source, "-o", str(output)]
    try:
        runpy.run_module("cython", run_name="__main__")
    except SystemExit as left:
        if left.code:
            output.unlink(missing_ok=True)
            raise


if __name__ == "__main__":
    main(*sys.argv[1:])
