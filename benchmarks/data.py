"""Generated data for the benchmarks: worm-like curves of varied density, and a grid of Gaussian blobs.

Every generator takes a seed and returns points and their true clusters, so that all peers see the same set.
"""

from __future__ import annotations

import numpy as np

__all__ = ["grid_blobs", "worms"]


def worms(n_samples=105_000, n_clusters=35, n_features=2, thickness=0.008, random_state=0):
    """Random-walk curves that keep apart at birth, each with its own density that also varies along the curve.

    A worm turns slowly, thickens as it grows, and may run close to another: worms are seldom separated by a gap.
    """
    rng = np.random.default_rng(random_state)
    n_steps = 120
    length = 3.2 / np.sqrt(n_clusters) if n_features == 2 else 1.5
    paths: list[np.ndarray] = []
    for _ in range(n_clusters):
        paths.append(_clear_path(rng, n_steps, n_features, length * rng.uniform(0.6, 1.4), paths))
    share = rng.dirichlet(np.full(n_clusters, 3.0))
    counts = np.maximum((share * n_samples).astype(int), 20)
    counts[np.argmax(counts)] += n_samples - counts.sum()
    points, labels = [], []
    for cluster, (path, count) in enumerate(zip(paths, counts)):
        along = rng.beta(rng.uniform(0.8, 1.6), rng.uniform(0.8, 1.6), count)
        place = along * (n_steps - 1)
        whole = place.astype(int)
        centre = path[whole]
        width = thickness * rng.uniform(0.6, 1.4) * (0.5 + along)
        points.append(centre + rng.standard_normal((count, n_features)) * width[:, None])
        labels.append(np.full(count, cluster))
    order = rng.permutation(n_samples)
    return np.concatenate(points)[order], np.concatenate(labels)[order]


def grid_blobs(n_samples=100_000, side=10, spread=0.27, n_features=2, random_state=0):
    """A square grid of overlapping Gaussian blobs, `side` by `side`, one unit apart."""
    rng = np.random.default_rng(random_state)
    labels = np.arange(n_samples) % side**2
    centres = np.zeros((side**2, n_features))
    centres[:, 0], centres[:, 1] = np.divmod(np.arange(side**2), side)
    points = centres[labels] + spread * rng.standard_normal((n_samples, n_features))
    order = rng.permutation(n_samples)
    return points[order], labels[order]


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
