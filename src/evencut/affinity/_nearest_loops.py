# numba infers the types of compiled loops.
# mypy: allow-untyped-defs
"""Compiled selection of the nearest of many: a block of scores joins the best found so far, row by row."""

from __future__ import annotations

import numpy as np
from numba import njit

from .compiled import compiled

__all__ = ["keep_nearest", "pair_distances", "sort_pairs", "subtract_products"]


@compiled
def keep_nearest(scores, offsets, first, rows, best, indices):
    """Let the columns of `scores` (numbered from `first` on) compete for the best places of the rows named.

    What counts is the score plus the offset of its column; rows of `best` are sorted, lowest first, and among equal
    ones the first found stays first.
    """
    n_kept = best.shape[1]
    for i in range(len(rows)):
        row = rows[i]
        worst = best[row, n_kept - 1]
        for j in range(scores.shape[1]):
            score = scores[i, j] + offsets[j]
            if score < worst:
                place = n_kept - 1
                while place > 0 and best[row, place - 1] > score:
                    best[row, place] = best[row, place - 1]
                    indices[row, place] = indices[row, place - 1]
                    place -= 1
                best[row, place] = score
                indices[row, place] = first + j
                worst = best[row, n_kept - 1]


@compiled
def subtract_products(rows, columns, scores):
    """Take the products of sparse rows with all points off the scores; `columns` holds the points by feature.

    Both come as (indptr, indices, data). Every score is a sum over the features in the order of the row.
    """
    indptr, features, values = rows
    starts, points, weights = columns
    for row in range(len(indptr) - 1):
        mine = scores[row]
        for entry in range(indptr[row], indptr[row + 1]):
            feature, value = features[entry], values[entry]
            for place in range(starts[feature], starts[feature + 1]):
                mine[points[place]] -= value * weights[place]


# Sums may be taken in any order, so that several terms are added at a time; it is the same order for every pair.
@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def pair_distances(queries, points, indices, distances):
    """Euclidean distances of each query to the points its row names, in double precision; infinite for -1."""
    for p in range(indices.shape[0]):
        for i in range(indices.shape[1]):
            q = indices[p, i]
            if q < 0:
                distances[p, i] = np.inf
                continue
            total = 0.0
            for f in range(queries.shape[1]):
                offset = np.float64(queries[p, f]) - np.float64(points[q, f])
                total += offset * offset
            distances[p, i] = np.sqrt(total)


@compiled
def sort_pairs(distances, indices):
    """Sort each (short) row by distance, among equal distances by index."""
    for p in range(len(distances)):
        for i in range(1, distances.shape[1]):
            distance, index = distances[p, i], indices[p, i]
            j = i - 1
            while j >= 0 and (distances[p, j] > distance or (distances[p, j] == distance and indices[p, j] > index)):
                distances[p, j + 1] = distances[p, j]
                indices[p, j + 1] = indices[p, j]
                j -= 1
            distances[p, j + 1] = distance
            indices[p, j + 1] = index
