"""Is `diagnose` sure only where it can be? One body cut in two, labels without a meaning, classes that overlap.

Run `python -m benchmarks.diagnosis_limits`; `python -m benchmarks diagnosis` has the same tables on its page.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits, load_iris, load_wine, make_blobs
from sklearn.metrics import adjusted_rand_score

from evencut import diagnose
from evencut.diagnosis import BIASES

#: Seeds of the draws on which constants were chosen, and of those that judge them.
SEEDS = {"tuning": 0, "held out": 1000}
DIMENSIONS = (1, 2, 5, 10)
DEVIATIONS = (1.0, 1.5, 2.0, 2.5)
LOADERS: dict[str, Callable] = {"iris": load_iris, "wine": load_wine, "digits": load_digits}


@dataclass(frozen=True, eq=False)
class Draw:
    """A clustering, what it is, and the classes it is compared with (its own, where there are none)."""

    group: str
    case: str
    X: NDArray[np.float64]
    labels: NDArray[np.int64]

    def judged(self) -> tuple[str, float | None]:
        """The verdict, and the adjusted Rand index of the advised clustering with these labels."""
        report = diagnose(self.X, self.labels)
        offered = next((cure.labels for cure in report.cures if cure.offered), None)
        return report.verdict, None if offered is None else float(adjusted_rand_score(self.labels, offered))


def one_bodies(n_draws: int, seed: int) -> Iterator[Draw]:
    """One Gaussian of 200 to 1000 points, cut in two by k-means."""
    for dimension in DIMENSIONS:
        for draw in range(n_draws):
            rng = np.random.default_rng([seed, dimension, draw])
            X = rng.normal(size=(int(rng.integers(200, 1001)), dimension))
            labels = KMeans(2, n_init=3, random_state=draw).fit_predict(X)
            yield Draw("one Gaussian, k-means", f"{dimension} dimensions", X, labels)


def meaningless(n_draws: int, seed: int) -> Iterator[Draw]:
    """The labels of a real set, in random order."""
    for name, load in LOADERS.items():
        X, truth = load(return_X_y=True)
        for draw in range(n_draws):
            yield Draw("random labels", name, X, np.random.default_rng([seed, draw]).permutation(truth))


def overlapping(n_draws: int, seed: int) -> Iterator[Draw]:
    """The true labels of three blobs that overlap the more the larger their deviation."""
    for deviation in DEVIATIONS:
        for draw in range(n_draws):
            X, truth = make_blobs(300, centers=3, cluster_std=deviation, random_state=seed + draw)
            yield Draw("true labels of blobs", f"deviation {deviation:g}", X, truth)


def draws(n_draws: int, seed: int) -> Iterator[Draw]:
    """All three."""
    for make in (one_bodies, meaningless, overlapping):
        yield from make(n_draws, seed)


def report_limits(n_draws: int = 25) -> list[str]:
    """The part of the page about these draws."""
    lines = [
        "## Where density cannot tell",
        "",
        f"{n_draws} draws each. One Gaussian (200 to 1000 points) cut in two by k-means is one body (wanted in 90 %), "
        "labels in random order are unrelated to the points (wanted in 95 %), and the true labels of three blobs "
        "(300 points of `make_blobs`) are not biased (at most 5 %), however much they overlap.",
        "",
    ]
    for part, seed in SEEDS.items():
        counts: dict[tuple[str, str], Counter] = {}
        worse: Counter = Counter()
        for draw in draws(n_draws, seed):
            verdict, advised = draw.judged()
            key = draw.group, draw.case
            counts.setdefault(key, Counter())[verdict] += 1
            worse[key] += advised is not None and draw.group == "true labels of blobs"
        lines += [f"### {part.capitalize()} draws", ""]
        lines += ["| clustering | case | biased | verdicts |", "|---|---|---|---|"]
        for (group, case), count in counts.items():
            verdicts = ", ".join(f"{verdict} {number}" for verdict, number in count.most_common())
            biased = sum(count[verdict] for verdict in BIASES)
            lines.append(f"| {group} | {case} | {biased} of {n_draws} | {verdicts} |")
        lines += ["", f"Advice that would change the true labels of blobs was given {sum(worse.values())} times.", ""]
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=25, help="draws of each case")
    print("\n".join(report_limits(parser.parse_args().draws)))


if __name__ == "__main__":
    main()
