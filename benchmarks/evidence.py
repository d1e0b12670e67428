"""Is a split real? How often the valley test calls one population two, and how often it sees two.

    python -m benchmarks evidence [--draws 4]

Every draw of one population is cut in two by k-means, Ward's method and a spectral cut of its neighbour graph, and each
cut is tested. The constants of `evencut/valley.py` were chosen on the kinds marked "chosen" with other seeds; the other
kinds were never looked at before.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable

import numpy as np
from sklearn.cluster import AgglomerativeClustering, KMeans, SpectralClustering
from sklearn.datasets import make_blobs, make_swiss_roll
from threadpoolctl import threadpool_limits

from evencut import EvenCut
from evencut.valley import MIN_SIDE, find_valley

from .records import publish

Rng = np.random.Generator
SIZES, DIMENSIONS, LEVEL, SEED = (60, 300, 1500), (2, 5, 20), 0.05, 20_261


def curve(
    rng: Rng, turns: float, radius: Callable[[np.ndarray], np.ndarray], n: int, d: int, width: float
) -> np.ndarray:
    """Points along a plane curve, with Gaussian width in all columns."""
    angle = rng.uniform(0, 2 * np.pi * turns, n)
    X = np.zeros((n, d))
    X[:, 0], X[:, 1] = radius(angle) * np.cos(angle), radius(angle) * np.sin(angle)
    return X + width * rng.normal(size=X.shape)


def unit(X: np.ndarray) -> np.ndarray:
    """Rows of length one."""
    return X / np.linalg.norm(X, axis=1, keepdims=True)


def padded(X: np.ndarray, d: int, rng: Rng) -> np.ndarray:
    """The points with further columns of a little noise, or without the last ones."""
    return np.hstack([X, 0.05 * rng.normal(size=(len(X), max(0, d - X.shape[1])))])


def corner(rng: Rng, n: int, d: int) -> np.ndarray:
    """An even L."""
    arm = rng.random(n) < 0.5
    along, across = rng.uniform(0, 4, n), rng.uniform(0, 1, n)
    return padded(np.column_stack([np.where(arm, along, across), np.where(arm, across, along)]), d, rng)


def ellipse(rng: Rng, n: int, d: int) -> np.ndarray:
    """A ring twice as long as wide, even along its length."""
    angle = np.linspace(0, 2 * np.pi, 5001)
    outline = np.column_stack([10 * np.cos(angle), 5 * np.sin(angle)])
    length = np.concatenate([[0], np.cumsum(np.linalg.norm(np.diff(outline, axis=0), axis=1))])
    place = rng.uniform(0, length[-1], n)
    X = np.zeros((n, d))
    X[:, :2] = np.column_stack([np.interp(place, length, axis) for axis in outline.T])
    return X + 0.4 * rng.normal(size=X.shape)


CHOSEN: dict[str, Callable[[Rng, int, int], np.ndarray]] = {
    "Gaussian": lambda rng, n, d: rng.normal(size=(n, d)),
    "correlated Gaussian": lambda rng, n, d: rng.normal(size=(n, d)) * np.geomspace(3, 0.3, d),
    "box": lambda rng, n, d: rng.uniform(size=(n, d)),
    "t with 4 degrees of freedom": lambda rng, n, d: rng.standard_t(4, size=(n, d)),
    "exponential": lambda rng, n, d: rng.exponential(size=(n, d)),
    "skewed (gamma)": lambda rng, n, d: rng.gamma(2, size=(n, d)),
    "curved strand": lambda rng, n, d: curve(rng, 0.5, lambda a: 5 + 0 * a, n, d, 0.3),
    "full ring": lambda rng, n, d: curve(rng, 1, lambda a: 5 + 0 * a, n, d, 0.3),
    "spiral, 2 turns": lambda rng, n, d: curve(rng, 2, lambda a: a + 0.5, n, d, 0.3),
    "rounded Gaussian": lambda rng, n, d: np.round(2 * rng.normal(size=(n, d))),
    "counts (Poisson, mean 1)": lambda rng, n, d: rng.poisson(1, size=(n, d)).astype(float),
    "truth values": lambda rng, n, d: (rng.random((n, d)) < 0.4).astype(float),
    "simplex": lambda rng, n, d: rng.dirichlet(np.ones(d + 1), n)[:, :d],
}
UNSEEN: dict[str, Callable[[Rng, int, int], np.ndarray]] = {
    "Laplace": lambda rng, n, d: rng.laplace(size=(n, d)),
    "triangle": lambda rng, n, d: rng.triangular(0, 0.2, 1, size=(n, d)),
    "log-normal": lambda rng, n, d: rng.lognormal(sigma=0.6, size=(n, d)),
    "narrow in wide Gaussian": lambda rng, n, d: rng.normal(size=(n, d)) * rng.choice([0.3, 1.5], (n, 1)),
    "ball": lambda rng, n, d: unit(rng.normal(size=(n, d))) * rng.random((n, 1)) ** (1 / d),
    "thick arc": lambda rng, n, d: curve(rng, 0.6, lambda a: 3 + 0 * a, n, d, 0.5),
    "ellipse": ellipse,
    "spiral, 3 turns": lambda rng, n, d: curve(rng, 3, lambda a: 0.7 * a + 1, n, d, 0.2),
    "Swiss roll": lambda rng, n, d: padded(
        make_swiss_roll(n, noise=0.3, random_state=int(rng.integers(2**31)))[0], d, rng
    ),
    "L": corner,
    "counts (negative binomial)": lambda rng, n, d: rng.negative_binomial(2, 0.3, size=(n, d)).astype(float),
    "five grades": lambda rng, n, d: np.clip(np.round(3 + rng.normal(size=(n, d))), 1, 5),
    "correlated truth values": lambda rng, n, d: (rng.normal(size=(n, 1)) + rng.normal(size=(n, d)) > 0).astype(float),
    "amounts, many zero": lambda rng, n, d: rng.exponential(size=(n, d)) * (rng.random((n, d)) < 0.7),
    "ages and incomes": lambda rng, n, d: np.column_stack(
        [np.round(rng.normal(40, 12, n)) / 12, *(rng.lognormal(sigma=0.5, size=n).round(1) for _ in range(d - 1))]
    ),
}  # fmt: skip


def pair(rng: Rng, n: int, d: int, apart: float, share: float) -> tuple[np.ndarray, np.ndarray]:
    """Two Gaussians, and which points are of the first."""
    side = np.arange(n) < share * n
    X = rng.normal(size=(n, d))
    X[side, 0] += apart
    return X, side


def cuts(X: np.ndarray, draw: int) -> list[np.ndarray]:
    """The sides of three kinds of cuts."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        methods = (
            KMeans(2, n_init=3, random_state=draw),
            AgglomerativeClustering(2),
            SpectralClustering(2, affinity="nearest_neighbors", assign_labels="cluster_qr", random_state=draw),
        )
        return [method.fit_predict(X) == 1 for method in methods]


def level_of(shape: Callable[[Rng, int, int], np.ndarray], draws: int) -> tuple[int, float, float]:
    """Cuts tested, share rejected, and share about which the test cannot say anything."""
    p_values = []
    for n in SIZES:
        for d in DIMENSIONS:
            for draw in range(draws):
                X = shape(np.random.default_rng([SEED, n, d, draw]), n, d)
                sides = [side for side in cuts(X, draw) if MIN_SIDE <= side.sum() <= n - MIN_SIDE]
                p_values += [find_valley(X, side).p_value for side in sides]
    values = np.array(p_values)
    return len(values), float(np.mean(values <= LEVEL)), float(np.mean(np.isnan(values)))


def report(draws: int) -> str:
    """The page."""
    lines = [
        "# Is a split real?", "",
        f"Written by `python -m benchmarks evidence --draws {draws}`. Each draw of one population ({SIZES} rows, "
        f"{DIMENSIONS} columns) is cut by k-means, Ward's method and a spectral cut; `rejected` is the share of cuts "
        "that the valley test calls two populations at 5 %. The constants were chosen on the kinds marked so, with "
        "other seeds.",
        "", "## One population", "", "| kind | chosen on it | cuts | rejected | cannot say |", "|---|---|---|---|---|",
    ]  # fmt: skip
    for chosen, kinds in (("yes", CHOSEN), ("no", UNSEEN)):
        for name, shape in kinds.items():
            count, rejected, silent = level_of(shape, draws)
            lines.append(f"| {name} | {chosen} | {count} | {rejected:.3f} | {silent:.2f} |")
            print(lines[-1], flush=True)
    lines += ["", "## Two populations: share found, 300 rows", ""]
    lines += ["| pair | 2 columns | 5 | 10 | 50 |", "|---|---|---|---|---|"]
    for apart, share in ((3, 0.5), (4, 0.5), (4, 1 / 3), (5, 1 / 3), (6, 1 / 11)):
        found = []
        for d in (2, 5, 10, 50):
            rngs = (np.random.default_rng([SEED, d, i]) for i in range(10 * draws))
            p_values = [find_valley(*pair(rng, 300, d, apart, share)).p_value for rng in rngs]
            found.append(f"{np.mean(np.array(p_values) <= LEVEL):.2f}")
        lines.append(f"| {apart} deviations apart, 1:{1 / share - 1:.0f} | {' | '.join(found)} |")
        print(lines[-1], flush=True)
    X, _ = make_blobs(5000, 10, centers=21, random_state=0)
    model = EvenCut(21, random_state=0).fit(X)
    _ = model.tree_
    start = time.process_time()
    tested = sum(split.verdict != "not tested" for split in model.evidence_)
    took = time.process_time() - start
    below = f"20 joins between clusters on 5000 rows, and {tested - 20} below"
    return "\n".join([*lines, "", f"Evidence of a tree of {below}: {took:.1f} CPU s."]) + "\n"


def main(arguments: list[str]) -> None:
    """Measure, and draw the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=4, help="draws of each kind, size and number of columns")
    with threadpool_limits(1):
        publish("evidence", {"all": report(parser.parse_args(arguments).draws)})


if __name__ == "__main__":
    import sys

    main(sys.argv[1:])
