"""Data without clusters: how often `n_clusters="auto"` answers 1, and what else it answers.

    python -m benchmarks.structureless [--draws 20]

Single Gaussians, round and long, even squares, boxes and balls, and single curved strands of even density, in 2 to 16
dimensions and with 200 to 5000 points; and single columns.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator

import numpy as np
from threadpoolctl import threadpool_limits

from evencut import EvenCut

from .records import publish

__all__ = ["SHAPES", "draws", "table"]

Rng = np.random.Generator
DIMENSIONS = (2, 3, 4, 6, 8, 12, 16)
FEWEST, MOST = 200, 5000


def gaussian(rng: Rng, n: int, dimension: int) -> np.ndarray:
    """One round Gaussian."""
    return rng.normal(size=(n, dimension))


def long_gaussian(rng: Rng, n: int, dimension: int) -> np.ndarray:
    """One Gaussian whose axes differ in length."""
    return rng.normal(size=(n, dimension)) * np.exp(0.6 * rng.normal(size=dimension)) @ _turned(rng, dimension)


def cube(rng: Rng, n: int, dimension: int) -> np.ndarray:
    """An evenly filled square or cube."""
    return rng.uniform(size=(n, dimension))


def box(rng: Rng, n: int, dimension: int) -> np.ndarray:
    """An evenly filled box whose sides differ."""
    return rng.uniform(size=(n, dimension)) * np.exp(0.5 * rng.normal(size=dimension)) @ _turned(rng, dimension)


def ball(rng: Rng, n: int, dimension: int) -> np.ndarray:
    """An evenly filled disc or ball."""
    direction = rng.normal(size=(n, dimension))
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    return direction * rng.random(n)[:, None] ** (1 / dimension)


def strand(rng: Rng, n: int, dimension: int) -> np.ndarray:
    """A curved strand, even along its length: an arc, a wave or a spiral, with Gaussian width."""
    along, kind = np.linspace(0, 1, 2001), rng.integers(3)
    if kind == 0:
        angle = along * rng.uniform(0.6, 1.7) * np.pi
        curve = np.column_stack([np.cos(angle), np.sin(angle)])
    elif kind == 1:
        waves = [rng.normal() * np.sin(6 * f * along + rng.uniform(0, 6)) for f in (1.0, 1.7)]
        curve = np.column_stack([6 * along, 0.5 * np.sum(waves, axis=0)])
    else:
        angle = 0.5 + along * rng.uniform(1.0, 2.5) * np.pi
        curve = angle[:, None] / 3 * np.column_stack([np.cos(angle), np.sin(angle)])
    length = np.concatenate([[0], np.cumsum(np.linalg.norm(np.diff(curve, axis=0), axis=1))])
    place = rng.random(n) * length[-1]
    points = np.zeros((n, dimension))
    points[:, :2] = np.column_stack([np.interp(place, length, axis) for axis in curve.T])
    return (points + rng.uniform(0.03, 0.15) * rng.normal(size=points.shape)) @ _turned(rng, dimension)


def line(rng: Rng, n: int, dimension: int) -> np.ndarray:
    """One even column."""
    return rng.uniform(size=(n, 1))


def column(rng: Rng, n: int, dimension: int) -> np.ndarray:
    """One column of one Gaussian, or of its exponential, which is skewed."""
    values = rng.normal(size=(n, 1))
    return values if rng.integers(2) else np.exp(0.7 * values)


def _turned(rng: Rng, dimension: int) -> np.ndarray:
    return np.linalg.qr(rng.normal(size=(dimension, dimension)))[0]


#: The shapes by name.
SHAPES: dict[str, Callable[[Rng, int, int], np.ndarray]] = {
    maker.__name__: maker for maker in (gaussian, long_gaussian, cube, box, ball, strand, line, column)
}


def draws(per_shape: int, *, first: int = 0) -> Iterator[tuple[str, np.ndarray]]:
    """Shape and points of every draw; sizes and dimensions are drawn too."""
    for position, (name, maker) in enumerate(SHAPES.items()):
        for number in range(first, first + per_shape):
            rng = np.random.default_rng([41, position, number])
            n = int(np.exp(rng.uniform(np.log(FEWEST), np.log(MOST))))
            yield name, maker(rng, n, int(rng.choice(DIMENSIONS)))


def table(per_shape: int, *, first: int = 0) -> list[str]:
    """One row a shape: the share of draws that are called one cluster, and the largest number answered."""
    found: dict[str, list[int]] = {}
    for name, X in draws(per_shape, first=first):
        found.setdefault(name, []).append(EvenCut("auto", random_state=0).fit(X).n_clusters_)
    found["all"] = [answer for answers in found.values() for answer in answers]
    lines = ["| one shape | draws | answer 1 | largest answer |", "|---|---|---|---|"]
    for name, answers in found.items():
        share = np.mean(np.array(answers) == 1)
        lines.append(f"| {name.replace('_', ' ')} | {len(answers)} | {share:.0%} | {max(answers)} |")
    return lines


def main(arguments: list[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=20, help="of each shape")
    parser.add_argument("--first", type=int, default=1000, help="number of the first draw")
    options = parser.parse_args(arguments)
    with threadpool_limits(1):
        rows = table(options.draws, first=options.first)
    head = [
        "# No structure",
        "",
        f"`python -m benchmarks structureless --draws {options.draws} --first {options.first}`: single bodies, which "
        "should be one cluster.",
        "",
    ]
    print(publish("structureless", {"all": "\n".join([*head, *rows])}))


if __name__ == "__main__":
    main()
