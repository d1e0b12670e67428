"""The measurements of high dimension as the sections of EMBEDDINGS.md."""

from __future__ import annotations

import numpy as np

__all__ = ["about_page", "section"]

def about_page(versions):
    """What stands before the sections."""
    lines = [
        "# High dimension",
        "",
        "CPU seconds, without loading. Every method has a process of its own; one draw of the data and one seed,",
        "unless stated. The load is that of the machine before the part: above its number of cores other work went on,",
        "and CPU seconds are too high for all methods alike. `python -m benchmarks embeddings` measures again.",
        "",
        "The vectors and documents are made up, and measure time and memory only: [real data](REAL.md) has the scores.",
        "",
        "Versions: " + ", ".join(f"{name} {number}" for name, number in versions.items()) + ".",
        "",
        "Recall is the share of true neighbours found, on 200 points. The OpenBLAS in the wheel of faiss does not",
        "recognise recent processors and falls back to code for old ones, four times slower; `OPENBLAS_CORETYPE` is",
        "set to prevent it, for all methods.",
    ]
    return "\n".join(lines)


def section(part, found, load):
    """One part as text."""
    return "\n".join([*_SECTIONS[part](found), "", f"Load {load:.0f}."])


def _searches(rows):
    yield f"## Neighbours of {rows[0]['n_rows']} x 384, 26 each, one thread"
    yield ""
    yield "| search | CPU s | recall |"
    yield "|---|---|---|"
    for row in rows:
        measured = f"{row['cpu']:.1f} | {row['recall']:.3f} |" if "cpu" in row else _given_up(row)
        yield f"| {row['method']} | {measured}"


def _clusterings(rows):
    yield f"## {rows[0]['n_rows']} x 384 unit vectors, 50 clusters, one thread"
    yield ""
    yield from _rows(rows)
    yield ""
    yield "Birch needs a threshold, which was set for these data. HDBSCAN chooses the number of clusters itself; the"
    yield "others get it."


def _rows(rows):
    yield "| method | rows | CPU s | peak MB |"
    yield "|---|---|---|---|"
    for row in rows:
        start = f"| {row['method']}{', as a dense array' if row['dense'] else ''} | {row['n_rows']} | "
        yield start + (
            f"{row['cpu']:.1f} | {row['peak']:.0f} |" if "cpu" in row else _given_up(row)
        )


def _given_up(row):
    return f"given up after {row['gave_up']} | |"


def _documents(rows):
    yield f"## {rows[0]['n_rows']} x 50 000 sparse rows (0.2 % filled), 20 topics, cosine, one thread"
    yield ""
    yield from _rows(rows)
    yield ""
    yield "k-means compares by Euclidean distance, on the rows as they are."


def _cells(found):
    rare, rows = found["rare"], found["rows"]
    yield f"## Single cells: pbmc68k_reduced, {found['n_cells']} cells, {found['n_types']} types"
    yield ""
    yield "For every type below 5 %: recall / purity, the share of its cells in the cluster that holds most of them,"
    yield "and the share of that cluster that is of the type. Means of five seeds; in brackets the ARI of seed 0."
    yield ""
    names = [f"{name} ({size})" for name, size in zip(rare, found["sizes"])]
    yield f"| method | clusters | ARI | {' | '.join(names)} |"
    yield "|---|---|---|" + "---|" * len(rare)
    for row in rows:
        cells = [f"{recall:.2f} / {purity:.2f}" for recall, purity in np.mean(row["found"], axis=0)]
        low, high = min(row["clusters"]), max(row["clusters"])
        number = str(low) if low == high else f"{low} to {high}"
        ari = f"{np.mean(row['ari']):.3f} ({row['ari'][0]:.3f})"
        yield f"| {row['method']} | {number} | {ari} | {' | '.join(cells)} |"


def _million(rows):
    (row,) = rows
    yield f"## {row['n_rows']} x 384 in single precision, memory-mapped, landmarks on two threads"
    yield ""
    yield (
        f"{row['wall']:.0f} s ({row['cpu']:.0f} CPU s). Memory of its own at most {row['own']:.0f} MB;"
    )
    size = row["n_rows"] * 384 * 4 / 2**20
    yield f"with the pages of the map ({size:.0f} MB), which the system may take back, {row['peak']:.0f} MB."


_SECTIONS = {
    "searches": _searches,
    "searches of 20 000": _searches,
    "ten": _clusterings,
    "twenty": _clusterings,
    "fifty": _clusterings,
    "documents": _documents,
    "cells": _cells,
    "million": _million,
}
