"""Whether `confidence_` means what it says: the adjusted Rand index with the classes, beside the confidence.

    python -m benchmarks confidence --data DIR [--groups drawn tables] [--most 2000] [--jobs 1]

On all sets of `benchmarks.given_sets`, seed 0, with the number of classes given and with the number found.
"""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from functools import partial
from multiprocessing import get_context
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from .given_sets import GROUPS, Place, fit, places, read
from .records import publish

_BINS = 10


def measure(place: Place, most: int) -> list[tuple[str, str, float, float]]:
    """Way, group, confidence and index of one set; nothing where there is no confidence."""
    warnings.simplefilter("ignore")
    given = read(place, most)
    with threadpool_limits(1):
        fits = {way: fit(given, way) for way in ("given", "auto")}
    return [(way, place.group, one.confidence, one.index) for way, one in fits.items() if np.isfinite(one.confidence)]


def table(measured: list[tuple[str, float, float]]) -> list[str]:
    """Means of confidence and index: by tenths of the confidence, and by group."""
    lines = ["| sets | mean confidence | mean adjusted Rand index |", "|---|---|---|"]
    order = sorted(measured, key=lambda one: one[1])
    bins = [[order[i] for i in part] for part in np.array_split(np.arange(len(order)), _BINS) if part.size]
    for chosen in bins:
        lines.append(_row(f"{len(chosen)} of confidence {chosen[0][1]:.2f} to {chosen[-1][1]:.2f}", chosen))
    for group in dict.fromkeys(name for name, *_ in measured):
        lines.append(_row(f"all {group}", [one for one in measured if one[0] == group]))
    apart = np.mean([abs(np.subtract(*np.mean([one[1:] for one in chosen], axis=0))) for chosen in bins])
    return [*lines, "", f"Mean difference of confidence and index over the {len(bins)} bins: {apart:.3f}."]


def _row(name: str, chosen: list[tuple[str, float, float]]) -> str:
    confidence, index = np.mean([one[1:] for one in chosen], axis=0)
    return f"| {name} | {confidence:.2f} | {index:.2f} |"


def main(arguments: list[str] | None = None) -> None:
    """Measure and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=os.environ.get("EVENCUT_DATA"), help="reference data sets")
    parser.add_argument("--groups", nargs="+", choices=GROUPS, default=list(GROUPS), help="which sets")
    parser.add_argument("--most", type=int, default=2000, help="rows of a set at most")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    options = parser.parse_args(arguments)
    if options.data is None:
        sys.exit("no data: give the folder that holds clustering*/, tables/, real/ and mixed/ with --data.")
    chosen = places(Path(options.data), options.groups)
    with get_context("spawn").Pool(options.jobs) as pool:
        measured = [one for some in pool.imap(partial(measure, most=options.most), chosen) for one in some]
    text = [
        "# Confidence",
        "",
        "`confidence_` of `EvenCut` beside the adjusted Rand index with the classes: "
        f"{len(chosen)} sets ({', '.join(options.groups)}) of at most {options.most} rows, seed 0, by tenths of the "
        "confidence. Its two exponents were chosen on 117 of them, of at most 1200 rows.",
    ]
    for way, title in (("given", "The number of clusters given"), ("auto", "The number of clusters found")):
        text += ["", f"## {title}", "", *table([one[1:] for one in measured if one[0] == way])]
    print(publish("confidence", {"all": "\n".join(text)}))


if __name__ == "__main__":
    main()
