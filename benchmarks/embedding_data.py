"""Data in high dimension, made up: unit vectors shaped like sentence embeddings, and rows shaped like TF-IDF."""

from __future__ import annotations

import numpy as np
from scipy import sparse

__all__ = ["documents", "vectors", "write_vectors"]


class Patches:
    """Clusters of unequal size on patches of few directions in many dimensions."""

    def __init__(self, n_features=384, n_clusters=50, n_directions=12, seed=0):
        rng = np.random.default_rng(seed)
        self.share = rng.dirichlet(np.full(n_clusters, 2.0))
        self.centres = rng.normal(size=(n_clusters, n_features))
        self.centres /= np.linalg.norm(self.centres, axis=1, keepdims=True)
        squares = rng.normal(size=(n_clusters, n_features, n_directions))
        self.directions = [np.linalg.qr(square)[0].T for square in squares]

    def draw(self, n_rows, seed):
        """Rows of unit length, and the cluster of each."""
        rng = np.random.default_rng(seed)
        y = rng.choice(len(self.share), n_rows, p=self.share)
        X = np.empty((n_rows, self.centres.shape[1]), dtype=np.float32)
        for k, (centre, directions) in enumerate(zip(self.centres, self.directions)):
            rows = np.flatnonzero(y == k)
            along = 0.45 * rng.uniform(-1, 1, size=(len(rows), len(directions))) @ directions
            X[rows] = centre + along + 0.01 * rng.normal(size=(len(rows), X.shape[1]))
        return X / np.linalg.norm(X, axis=1, keepdims=True), y


def vectors(n_rows, seed=0):
    """So many unit vectors of 384 dimensions in 50 clusters."""
    return Patches(seed=seed).draw(n_rows, seed + 1)


def write_vectors(file, n_rows, rows_at_once=50_000):
    """The same in a file too big to hold, no row twice; the clusters go to a file beside it."""
    patches = Patches()
    X = np.lib.format.open_memmap(file, "w+", np.float32, (n_rows, 384))
    y = np.empty(n_rows, dtype=np.int64)
    for first in range(0, n_rows, rows_at_once):
        part = slice(first, min(first + rows_at_once, n_rows))
        X[part], y[part] = patches.draw(part.stop - part.start, seed=1 + first)
    X.flush()
    np.save(f"{file}.labels.npy", y)


def documents(n_rows=20_000, n_terms=50_000, n_topics=20, length=165, seed=0):
    """TF-IDF-like rows: common words by Zipf's law, and one term in three from a vocabulary of the topic."""
    rng = np.random.default_rng(seed)
    y = rng.choice(n_topics, n_rows, p=rng.dirichlet(np.full(n_topics, 3.0)))
    common = np.minimum(rng.zipf(1.3, size=(n_rows, length)) + 200, n_terms - 1)
    own = rng.integers(0, 600, size=(n_rows, length)) + 600 * y[:, None] + 1000
    terms = np.where(rng.random((n_rows, length)) < 1 / 3, own, common)
    # scikit-learn's k-means takes indices of 32 bits only.
    rows, terms = np.repeat(np.arange(n_rows, dtype=np.int32), length), terms.astype(np.int32)
    counts = sparse.csr_array((np.ones(rows.size), (rows, terms.ravel())), shape=(n_rows, n_terms))
    counts.sum_duplicates()
    weight = np.log((1 + n_rows) / (1 + np.bincount(counts.indices, minlength=n_terms))) + 1
    counts.data = np.log1p(counts.data) * weight[counts.indices]
    return counts, y
