"""`python -m benchmarks NAME [OPTIONS]` runs one benchmark, keeps its record and draws its page; `--all` runs all."""

from __future__ import annotations

import importlib
import os
import sys

#: Every benchmark that has a page, quickest first.
BENCHMARKS = (
    "pairs",
    "tables",
    "steady",
    "confidence",
    "real",
    "ablation",
    "answers",
    "repeated_rows",
    "memory",
    "sizes_bounded",
    "evidence",
    "structureless",
    "first_answer",
    "cures",
    "sizes",
    "leaderboard",
    "settings",
    "energies",
    "diagnosis",
    "results",
    "landmarks",
    "embeddings",
    "segmentation",
    "clicks",
    "volumes",
    "studio",
    "gpu",
)
# Only where there is a GPU.
_ELSEWHERE = ("gpu",)


def main(arguments: list[str]) -> None:
    """Run the benchmark named first; what follows is for it."""
    # Threads of linear algebra wait for each other on a busy machine, and CPU seconds then say little.
    for library in ("OMP", "OPENBLAS"):
        os.environ.setdefault(f"{library}_NUM_THREADS", "1")
    if arguments == ["--all"]:
        for name in BENCHMARKS:
            if name not in _ELSEWHERE:
                print(f"== {name}", flush=True)
                importlib.import_module(f"benchmarks.{name}").main([])
        return
    if not arguments or arguments[0] not in BENCHMARKS:
        sys.exit(f"usage: python -m benchmarks NAME [OPTIONS], or --all; names: {', '.join(BENCHMARKS)}")
    importlib.import_module(f"benchmarks.{arguments[0]}").main(arguments[1:])


if __name__ == "__main__":
    main(sys.argv[1:])
