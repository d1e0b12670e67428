"""Can the verdicts, the advice and the confidence of `diagnose` be trusted on real data? Tables for the page.

Every clustering of every labelled set (`diagnosis_sets`) is diagnosed; the references say afterwards what was right.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.diagnosis_sets import FOLDERS, METHODS, clustered, labelled_sets
from evencut import diagnose
from evencut.diagnosis import BIASES, OK, ONE_BODY, OVERLAP, UNRELATED

#: A clustering agrees with the reference; is worse or better; is improved; can be improved.
GOOD, CHANGE, BETTER, POOR, IMPROVED = 0.9, 0.05, 0.1, 0.5, 0.2
_BINS = (0.0, 0.7, 0.85, 0.95, 1.0 + 1e-9)


@dataclass(frozen=True)
class Judged:
    """One clustering, what `diagnose` says of it, and what the reference says.

    Parameters
    ----------
    data, method : str
    score, default, best : float
        Adjusted Rand index of the clustering, of the default, and the highest of all methods.
    verdict : str
    confidence : float
    advised : float or None
        The index after the advised line; None where nothing is advised.
    """

    data: str
    method: str
    score: float
    default: float
    best: float
    verdict: str
    confidence: float
    advised: float | None

    @property
    def is_biased(self) -> bool:
        """Whether the verdict is a bias."""
        return self.verdict in BIASES

    @property
    def is_right(self) -> bool:
        """A bias is right where the reference disagrees; every other verdict where nothing better is known."""
        if self.is_biased:
            return self.score < GOOD
        return self.score >= GOOD or self.best - self.score < BETTER


def judge_sets(folder: Path, cache: Path | None = None) -> list[Judged]:
    """Every method on every set of the folder."""
    rows = []
    for data in labelled_sets(folder):
        found = {name: labels for name in METHODS if (labels := clustered(data, name, cache)) is not None}
        scores = {name: data.score(labels) for name, labels in found.items()}
        for name, labels in found.items():
            report = diagnose(data.X, labels)
            offered = next((cure for cure in report.cures if cure.offered), None)
            advised = None if offered is None or offered.labels is None else data.score(offered.labels)
            known = (scores[name], scores["the default"], max(scores.values()))
            rows.append(Judged(data.name, name, *known, report.verdict, report.confidence, advised))
        print(data.name, ", ".join(f"{row.method} {row.verdict}" for row in rows if row.data == data.name), flush=True)
    return rows


def share(part: int, whole: int) -> str:
    """A count and its share."""
    return f"{part} of {whole}" + (f" ({part / whole:.1%})" if whole else "")


def what_it_shows(rows: list[Judged]) -> list[str]:
    """The four numbers that matter, each with what was wanted."""
    good = [row for row in rows if row.score >= GOOD]
    gains = np.array([row.advised - row.score for row in rows if row.advised is not None])
    wanted = [row for row in rows if row.score < POOR and row.default - row.score >= IMPROVED]
    alarms = share(sum(row.is_biased for row in good), len(good))
    return [
        f"{len(rows)} clusterings of {len({row.data for row in rows})} sets.",
        "",
        f"- Good clusterings (ARI of {GOOD} or more) called biased: **{alarms}**; at most 5 % wanted.",
        f"- Following the advice, given {len(gains)} times, changes ARI by **{gains.mean():+.3f}** in the mean (+0.4 "
        f"wanted), makes it better (by {CHANGE}) in {share(int((gains > CHANGE).sum()), len(gains))} and worse in "
        f"**{share(int((gains < -CHANGE).sum()), len(gains))}** (at most 3 % wanted).",
        f"- Clusterings below ARI {POOR} that the default improves by {IMPROVED}, and for which it is advised: "
        f"**{share(sum(r.advised is not None for r in wanted), len(wanted))}**; a third wanted.",
        "",
    ]


def by_method(rows: list[Judged]) -> list[str]:
    """One row a method: how good it is, what is said of it, and what following the advice does."""
    lines = [
        "| method | mean ARI | after advice | ok | overlap | one body | unrelated | biased | good, called biased "
        "| advised | worse |",
        "|---" * 11 + "|",
    ]
    for method in METHODS:
        mine = [row for row in rows if row.method == method]
        count = Counter("biased" if row.is_biased else row.verdict for row in mine)
        good = [row for row in mine if row.score >= GOOD]
        advised = [row for row in mine if row.advised is not None]
        after = np.mean([row.score if row.advised is None else row.advised for row in mine])
        worse = sum(row.advised - row.score < -CHANGE for row in advised if row.advised is not None)
        lines.append(
            f"| {method} | {np.mean([row.score for row in mine]):.3f} | {after:.3f} | {count[OK]} | {count[OVERLAP]} "
            f"| {count[ONE_BODY]} | {count[UNRELATED]} | {count['biased']} "
            f"| {sum(row.is_biased for row in good)} of {len(good)} | {len(advised)} | {worse} |"
        )
    return [*lines, ""]


def calibration(rows: list[Judged]) -> list[str]:
    """How often verdicts of like confidence are right."""
    lines = ["| verdict | confidence | given | mean confidence | right |", "|---|---|---|---|---|"]
    for name in ("biased", OK, OVERLAP, ONE_BODY, "all"):
        kind = [r for r in rows if name == "all" or ("biased" if r.is_biased else r.verdict) == name]
        for low, high in zip(_BINS, _BINS[1:]):
            some = [row for row in kind if low <= row.confidence < high]
            if some:
                sure, right = np.mean([row.confidence for row in some]), np.mean([row.is_right for row in some])
                span = f"{low:.2f} to {min(high, 1):.2f}"
                lines.append(f"| {name} | {span} | {len(some)} | {sure:.0%} | {right:.0%} |")
    return [*lines, ""]


def report_sets(data: Path, cache: Path | None = None) -> list[str]:
    """The part of the page about labelled sets; a line that says what is missing where they are absent."""
    lines = ["## Labelled public sets, clustered by seven methods", ""]
    if not all((data / folder).is_dir() for folder in FOLDERS.values()):
        return [*lines, "Not run: set EVENCUT_DATA to a folder with clustering/ and clustering2/.", ""]
    lines += [
        "The points are taken as they are, at most 4000 of a set, and every method gets the number of clusters. The "
        "limits of `diagnosis/cures.py` and the numbers of `diagnosis/verdicts.py` were chosen on the tuning half "
        f"alone. A bias is right where the reference disagrees (ARI below {GOOD}); ok and overlap are right where the "
        f"clustering agrees with it, or where none of the seven methods is better by {BETTER}.",
        "",
    ]
    everything = []
    for name, folder in FOLDERS.items():
        rows = judge_sets(data / folder, cache)
        everything += rows
        lines += [f"### {name.capitalize()}: `{folder}/`", ""]
        lines += what_it_shows(rows) + by_method(rows) + calibration(rows)
    return [*lines, "### Both halves", "", *what_it_shows(everything), *calibration(everything)]
