"""Writes the measurements as one table, with the versions, the machine, the date, and what the table shows."""

from __future__ import annotations

import importlib.metadata
import os

__all__ = ["report"]

_PACKAGES = (
    *("evencut", "numpy", "scipy", "scikit-learn", "pyamg"),
    *("genieclust", "lumbermark", "tslearn", "pymetis"),
)


def report(rows, draws):
    """The page as text."""
    return "\n".join([*_heading(), *_table(rows), "", *_draws(draws), "", *_findings(rows)])


def _heading():
    versions = ", ".join(f"{name} {_version(name)}" for name in _PACKAGES)
    load = os.getloadavg()
    return [
        "# Benchmarks",
        "",
        "Written by `python -m benchmarks results`. Each row is a separate process, timed from points (or, for *solve",
        "alone* and *partition alone*, from the same graph) to labels; timing excludes imports and compilation.",
        "*NC* is the normalised cut, as a sum of cuts, on the same graph of 15 nearest neighbours for all methods; on",
        "*all pairs*, the energy of kernel k-means. *Ratio* is CPU time over that of the first row of its data set.",
        "",
        "The worms are shaped after the public sets of that name, according to their description. They touch less: the",
        "normalised cut of the public ones is higher. Crossing worms are an older, harder set.",
        "The constants of the multilevel solver were chosen on these blobs and on thick crossing worms,",
        "the number of landmarks that the default kernel starts from on draws of all these sets.",
        "",
        f"Load average at the end: {load[0]:.1f}, {load[1]:.1f}, {load[2]:.1f} (above the number of cores the "
        "machine was shared, and wall seconds are too long: read CPU seconds).",
        "",
        f"Versions: {versions}.",
        "",
    ]


def _table(rows):
    yield "| data | threads | method | CPU s | wall s | peak MB | ARI | NC | ratio |"
    yield "|---|---|---|---|---|---|---|---|---|"
    first = {}
    for row in rows:
        start = f"| {row['data']} | {row['threads']} | {row['method']} |"
        if "cpu" not in row:
            yield f"{start} not finished | | | | | |"
            continue
        base = first.setdefault((row["data"], "alone" in row["method"]), row["cpu"])
        yield (
            f"{start} {row['cpu']:.2f} | {row['wall']:.2f} | {row['peak']:.0f} | {row['ari']:.3f} | "
            f"{_value(row)} | {row['cpu'] / base:.1f} |"
        )


def _value(row):
    return f"{row['energy']:.4f}" if "energy" in row else "(other number of clusters)"


def _draws(draws):
    """ARI on several draws of each set, and their mean."""
    yield "| ARI on other draws | method | each | mean |"
    yield "|---|---|---|---|"
    for row in draws:
        each = ", ".join(f"{score:.3f}" for score in row["ari"])
        yield f"| {row['data']} | {row['method']} | {each} | {sum(row['ari']) / len(row['ari']):.3f} |"


def _findings(rows):
    """Ratios that the goals of the project are stated in."""
    found = {(row["data"], row["method"]): row for row in rows if "cpu" in row}

    def compare(data, ours, peer, text):
        a, b = found.get((data, ours)), found.get((data, peer))
        if a and b and "energy" in b:
            yield (
                f"- {data}: {text} {b['cpu'] / a['cpu']:.1f} times the CPU time of evencut; NC {b['energy']:.4f} "
                f"against {a['energy']:.4f}, ARI {b['ari']:.3f} against {a['ari']:.3f}."
            )

    yield "## In short"
    yield ""
    data = "worms 2-D, 100 000 points, 35 clusters"
    peer = "scikit-learn SpectralClustering amg"
    yield from compare(data, "evencut NormalizedCut", peer, "SpectralClustering, amg, takes")
    for data in ("worms 2-D, 100 000 points, 35 clusters", "blobs 2-D, 100 000 points, 100 clusters"):
        ours = "evencut multilevel, solve alone"
        yield from compare(data, ours, "pymetis, partition alone", "on the same graph pymetis takes")
        yield from compare(data, ours, "scikit-learn amg, solve alone", "on the same graph the spectral solution takes")
    large, small = "worms 2-D, 1 000 000 points, 20 clusters", "worms 2-D, 100 000 points, 20 clusters"
    for data in (large, f"crossing {large}"):
        for ours in ("evencut NormalizedCut", "evencut EvenCut"):
            yield from compare(data, ours, "lumbermark", f"({ours}) lumbermark takes")
    a, b = found.get((small, "evencut NormalizedCut")), found.get((large, "evencut NormalizedCut"))
    if a and b:
        yield (
            f"- From 100 000 to 1 000 000 points: CPU time grows {b['cpu'] / a['cpu']:.1f} times, wall time "
            f"{b['wall'] / a['wall']:.1f} times, peak memory {b['peak'] / a['peak']:.1f} times ({b['peak']:.0f} MB)."
        )
    data = "worms 2-D, 5 000 points, 10 clusters, all pairs"
    yield from compare(data, "evencut KernelKMeans, Gaussian", "tslearn KernelKMeans, rbf", "tslearn takes")


def _version(name):
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return "(source)" if name == "evencut" else "(absent)"
