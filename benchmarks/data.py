"""Generated data for the benchmarks: worm-like curves of varied density, and a grid of Gaussian blobs.

Every generator takes a seed and returns points and their true clusters, so that all peers see the same set.
"""

from __future__ import annotations

import numpy as np

__all__ = ["crossing_worms", "grid_blobs", "worms"]


def worms(n_samples=105_000, n_clusters=35, n_features=2, thickness=0.016, noise=0.1, random_state=0):
    """Curves that bend one way and widen as they go, and end before they would touch another; a tenth is noise.

    Shaped after the public sets of that name: a dense cloud about the path, with points of 2.5 times its spread around
    it. Each worm has its own density, which falls along it.
    """
    rng = np.random.default_rng(random_state)
    paths = _paths_apart(rng, n_clusters, n_features, 2.5 * thickness)
    counts = _counts(np.array([len(path) for path in paths]) * rng.uniform(0.3, 1.7, n_clusters), n_samples)
    points = []
    for path, count in zip(paths, counts):
        at = rng.integers(len(path), size=count)
        spread = thickness * (0.25 + at / 160) * np.where(rng.random(count) < noise, 2.5, 1.0)
        points.append(path[at] + spread[:, None] * rng.standard_normal((count, n_features)))
    return _shuffled(rng, points, counts)


def crossing_worms(n_samples=105_000, n_clusters=35, n_features=2, thickness=0.008, random_state=0):
    """Random-walk curves, most of which run into others: where two cross, no method can tell them apart.

    Each has its own density, which also varies along the curve.
    """
    rng = np.random.default_rng(random_state)
    n_steps = 120
    length = 3.2 / np.sqrt(n_clusters) if n_features == 2 else 1.5
    paths: list[np.ndarray] = []
    for _ in range(n_clusters):
        paths.append(_clear_path(rng, n_steps, n_features, length * rng.uniform(0.6, 1.4), paths))
    counts = _counts(rng.dirichlet(np.full(n_clusters, 3.0)), n_samples)
    points = []
    for path, count in zip(paths, counts):
        along = rng.beta(rng.uniform(0.8, 1.6), rng.uniform(0.8, 1.6), count)
        centre = path[(along * (n_steps - 1)).astype(int)]
        width = thickness * rng.uniform(0.6, 1.4) * (0.5 + along)
        points.append(centre + rng.standard_normal((count, n_features)) * width[:, None])
    return _shuffled(rng, points, counts)


def grid_blobs(n_samples=100_000, side=10, spread=0.27, n_features=2, random_state=0):
    """A square grid of overlapping Gaussian blobs, `side` by `side`, one unit apart."""
    rng = np.random.default_rng(random_state)
    labels = np.arange(n_samples) % side**2
    centres = np.zeros((side**2, n_features))
    centres[:, 0], centres[:, 1] = np.divmod(np.arange(side**2), side)
    points = centres[labels] + spread * rng.standard_normal((n_samples, n_features))
    order = rng.permutation(n_samples)
    return points[order], labels[order]


def _counts(share, n_samples):
    """Whole numbers in the proportions given, at least 20, of the sum asked for."""
    counts = np.maximum((share / share.sum() * n_samples).astype(int), 20)
    counts[np.argmax(counts)] += n_samples - counts.sum()
    return counts


def _shuffled(rng, points, counts):
    order = rng.permutation(counts.sum())
    return np.concatenate(points)[order], np.repeat(np.arange(len(counts)), counts)[order]


def _paths_apart(rng, n_paths, n_features, gap, step=0.008, least=25, most=120):
    """Paths in the unit cube that bend one way and end where they leave it or come within `gap` of another."""
    paths, failures = [], 0
    while len(paths) < n_paths:
        others = np.concatenate(paths) if paths else np.full((1, n_features), np.inf)
        direction = rng.standard_normal(n_features)
        direction /= np.linalg.norm(direction)
        side = rng.standard_normal(n_features)
        path = [rng.uniform(size=n_features)]
        for _ in range(rng.integers(40, most)):
            side -= (side @ direction) * direction
            direction = direction + rng.uniform(0, 0.12) * side / np.linalg.norm(side)
            direction /= np.linalg.norm(direction)
            place = path[-1] + step * direction
            if (abs(place - 0.5) > 0.5).any() or np.linalg.norm(others - place, axis=1).min() < gap:
                break
            path.append(place)
        if len(path) >= least:
            paths.append(np.array(path))
        else:
            failures += 1
            # Where there is no room left, worms may come closer.
            gap *= 0.9 if failures % 100 == 0 else 1.0
    return paths


def _clear_path(rng, n_steps, n_features, length, others, distance=0.03, attempts=60):
    """The walk, among several tried, that stays farthest from the worms already there (enough is enough)."""
    best, best_gap = None, -1.0
    for _ in range(attempts):
        path = _walk(rng, n_steps, n_features, length)
        gap = min((np.linalg.norm(path[::6, None] - other[None, ::6], axis=2).min() for other in others), default=1.0)
        if gap > best_gap:
            best, best_gap = path, gap
        if gap > distance:
            break
    return best


def _walk(rng, n_steps, n_features, length):
    start = rng.uniform(size=n_features)
    direction = rng.standard_normal(n_features)
    direction /= np.linalg.norm(direction)
    turn = rng.standard_normal(n_features)
    steps = np.empty((n_steps, n_features))
    for step in steps:
        turn = 0.9 * turn + 0.4 * rng.standard_normal(n_features)
        direction = direction + 0.12 * turn
        direction /= np.linalg.norm(direction)
        step[:] = direction
    return start + np.cumsum(steps, axis=0) * (length / n_steps)
