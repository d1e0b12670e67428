"""The page of the energies as text: a summary, the draws of moons, and one row a problem."""

from __future__ import annotations

import numpy as np

from .energy_peers import PEERS

__all__ = ["page"]

_CLOSE = 0.01


def page(rows, draws, notes):
    """ENERGIES.md."""
    return "\n".join([*_summary(rows, notes), "", *_draws(draws), "", *_table(rows)]) + "\n"


def _is_above(row):
    """Whether the default ends above the energy of the true labels, by more than rounding."""
    return row["truth"] is not None and row["energies"]["auto"] > row["truth"] + 1e-9 * abs(row["truth"])


def _summary(rows, notes):
    above = [row["problem"].name for row in rows if _is_above(row)]
    n_true = sum(row["truth"] is not None for row in rows)
    far = sum(row["gap"] > _CLOSE for row in rows)
    ratio = [row["seconds"]["auto"] / row["seconds"]["spectral"] for row in rows]
    total = [sum(row["seconds"][name] for row in rows) for name in ("auto", "spectral")]
    lines = [
        "# Energies",
        "",
        "Made by `python -m benchmarks energies`. The best known energy is the lowest that any solver, any peer or a",
        "long search (`--search SECONDS`) has found; it is kept in `energies.json`. The gap is relative to the cut",
        "value for cuts (the energy plus the number of clusters; at least 0.001), to the association otherwise.",
        "Entries of the file by `a longer search` were found by trial versions of the solver, not by the command. The",
        "solver was tuned on most of these problems, so its gaps on others may be larger.",
        "",
        f"- {len(rows)} problems: within 1 % of the best known on {1 - far / len(rows):.1%} ({far} are not)",
        f"- above the energy of the true labels on {len(above)} of {n_true}"
        + (f": {'; '.join(above)}" if above else ""),
        f"- CPU time against the spectral solver alone: {np.median(ratio):.2f} times in the median "
        f"({np.percentile(ratio, 10):.2f} to {np.percentile(ratio, 90):.2f} for eight of ten), "
        f"{total[0] / total[1]:.2f} times in all ({total[0]:.1f} s)",
    ]
    lines += [_against(rows, name) for name in ("spectral", *PEERS)]
    return [*lines, *(f"- {note}" for note in notes)]


def _against(rows, name):
    """How a solver or peer compares, on the problems it was given."""
    title = "the spectral solver alone" if name == "spectral" else name
    both = [row for row in rows if name in row["energies"]]
    if not both:
        return f"- {title}: not measured"
    ours = np.array([row["energies"]["auto"] for row in both])
    theirs = np.array([row["energies"][name] for row in both])
    slack = 1e-9 * np.abs(ours)
    times = np.median([row["seconds"][name] / row["seconds"]["auto"] for row in both])
    return (
        f"- {title}, {len(both)} problems: higher than the default on {np.sum(theirs > ours + slack)}, lower on "
        f"{np.sum(theirs < ours - slack)}; {times:.2f} times its CPU time in the median"
    )


def _draws(draws):
    yield "Two moons of 600 points, one with a clump of 80 %: how many draws of ten end at or below the truth's energy."
    yield ""
    yield "| neighbours | equalised | default | spectral solver alone |"
    yield "|---|---|---|---|"
    for n_neighbors, equalize, ours, spectral in draws:
        yield f"| {n_neighbors} | {'exactly' if equalize else 'no'} | {ours} | {spectral} |"


def _table(rows):
    names = ("problem", "default", "best known", "gap", "truth", "spectral solver", *PEERS, "CPU s", "spectral's")
    yield "<!-- in records/energies.csv -->"
    yield f"| {' | '.join(names)} |"
    yield "|" + "---|" * len(names)
    for row in rows:
        energies, seconds = row["energies"], row["seconds"]
        cells = [
            row["problem"].name.replace(" | ", ", "),
            _number(energies["auto"]),
            _number(row["best"]),
            f"{max(row['gap'], 0.0):.2%}",
            _number(row["truth"]),
            *(_number(energies.get(name)) for name in ("spectral", *PEERS)),
            f"{seconds['auto']:.3f}",
            f"{seconds['spectral']:.3f}",
        ]
        yield f"| {' | '.join(cells)} |"


def _number(energy):
    if energy is None:
        return ""
    return f"{energy:.5f}" if np.isfinite(energy) else "fewer clusters"
