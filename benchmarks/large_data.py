"""Data bigger than one would hold in memory, written to NPY files a chunk at a time; a row depends on the seed only."""

from __future__ import annotations

import numpy as np

__all__ = ["moons", "write_blobs", "write_with_sparse_clusters"]

_CHUNK = 1_000_000


def moons(n_samples, n_clusters=12, random_state=1):
    """Interleaved moons, two and two; each has its own density, width, and a clump in the middle."""
    rng = np.random.default_rng(random_state)
    share = np.exp(rng.uniform(-1.5, 1.5, n_clusters))
    counts = np.maximum((n_samples * share / share.sum()).astype(int), 20)
    counts[counts.argmax()] += n_samples - counts.sum()
    parts = []
    for i, count in enumerate(counts):
        pair, side = divmod(i, 2)
        along = rng.random(count)
        clumped = rng.random(count) < 0.3
        along[clumped] = np.clip(0.5 + 0.06 * rng.normal(size=clumped.sum()), 0, 1)
        angle = np.pi * along
        arc = np.column_stack([np.cos(angle), np.sin(angle)])
        if side:
            arc = np.array([1.0, 0.5]) - arc
        width = rng.uniform(0.04, 0.12)
        parts.append(arc + width * rng.normal(size=arc.shape) + np.array([pair % 3 * 3.4, pair // 3 * 2.4]))
    order = rng.permutation(n_samples)
    return np.concatenate(parts)[order], np.repeat(np.arange(n_clusters), counts)[order]


def write_blobs(path, n_samples, n_features, n_clusters=20, random_state=0):
    """Gaussian clusters of different weights and spreads as float32; returns the true clusters."""
    rng = np.random.default_rng(random_state)
    centres = _apart(rng, n_clusters, n_features, 8.0)
    spread = np.exp(rng.uniform(-0.5, 0.5, n_clusters))
    share = np.exp(rng.uniform(-1.5, 1.5, n_clusters))
    return _write(path, n_samples, centres, spread, share / share.sum(), random_state)


def write_with_sparse_clusters(path, n_samples, n_features=2, n_sparse=3, share=0.001, random_state=0):
    """Eight heavy clusters on a circle, then `n_sparse` of the same extent with `share` of the points each."""
    n_clusters = 8 + n_sparse
    angle = 2 * np.pi * np.arange(n_clusters) / n_clusters
    centres = np.zeros((n_clusters, n_features))
    centres[:, 0], centres[:, 1] = 10 * np.cos(angle), 10 * np.sin(angle)
    shares = np.r_[np.full(8, (1 - n_sparse * share) / 8), np.full(n_sparse, share)]
    return _write(path, n_samples, centres, np.ones(n_clusters), shares, random_state)


def _apart(rng, n_clusters, n_features, gap):
    """Random centres no closer than `gap`, in a box that grows until they fit."""
    side, centres = gap / 2, [np.zeros(n_features)]
    while len(centres) < n_clusters:
        new = rng.uniform(-side, side, n_features)
        if min(np.linalg.norm(new - centre) for centre in centres) >= gap:
            centres.append(new)
        side *= 1.003
    return np.array(centres)


def _write(path, n_samples, centres, spread, share, random_state):
    shape = (n_samples, centres.shape[1])
    rows = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=shape)
    labels = np.empty(n_samples, dtype=np.int8)
    for number, first in enumerate(range(0, n_samples, _CHUNK)):
        rng = np.random.default_rng([random_state, number])
        place = slice(first, min(first + _CHUNK, n_samples))
        drawn = rng.choice(len(centres), place.stop - first, p=share)
        noise = rng.standard_normal((len(drawn), centres.shape[1]), dtype=np.float32)
        rows[place] = centres[drawn] + spread[drawn, None] * noise
        labels[place] = drawn
    rows.flush()
    return labels
