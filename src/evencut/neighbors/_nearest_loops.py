"""Compiled selection of the nearest of many: a block of scores joins the best found so far, row by row."""

from .._lazy import require_compiled

require_compiled(__file__)

import cython
import numpy as np
from cython.cimports.libc.math import sqrt

Real = cython.fused_type(cython.float, cython.double)
Index = cython.fused_type(cython.int, cython.longlong)
_INFINITE = cython.declare(cython.double, float("inf"))


def keep_nearest(
    scores: cython.const[Real][:, ::1], offsets: cython.const[Real][::1], first: cython.Py_ssize_t,
    rows: cython.const[cython.longlong][::1], best: Real[:, ::1], indices: cython.longlong[:, ::1],
):
    """Let the columns of `scores` (numbered from `first` on) compete for the best places of the rows named.

    What counts is the score plus the offset of its column; rows of `best` are sorted, lowest first, and among equal
    ones the first found stays first.
    """
    n_kept: cython.Py_ssize_t = best.shape[1]
    n_columns: cython.Py_ssize_t = scores.shape[1]
    with cython.nogil:
        for i in range(rows.shape[0]):
            row = rows[i]
            worst: Real = best[row, n_kept - 1]
            for start in range(0, n_columns, 32):
                # Hardly any score gets a place: to ask 32 at a time is quicker than to ask each.
                if start + 32 <= n_columns:
                    any_better: cython.int = 0
                    for j in range(start, start + 32):
                        any_better |= scores[i, j] + offsets[j] < worst
                    if not any_better:
                        continue
                for j in range(start, min(start + 32, n_columns)):
                    score: Real = scores[i, j] + offsets[j]
                    if score < worst:
                        place: cython.Py_ssize_t = n_kept - 1
                        while place > 0 and best[row, place - 1] > score:
                            best[row, place] = best[row, place - 1]
                            indices[row, place] = indices[row, place - 1]
                            place -= 1
                        best[row, place] = score
                        indices[row, place] = first + j
                        worst = best[row, n_kept - 1]


def subtract_products(rows, columns, scores):
    """Subtract the products of sparse rows with all points from the scores; `columns` holds the points by feature.

    Every score is a sum over the features in the order of the row.
    """
    indices = [table for matrix in (rows, columns) for table in (matrix.indptr, matrix.indices)]
    indptr, features, starts, points = (np.asarray(table, np.result_type(*indices)) for table in indices)
    _subtract(indptr, features, rows.data, starts, points, columns.data, scores)


def _subtract(
    indptr: cython.const[Index][::1], features: cython.const[Index][::1], values: cython.const[cython.double][::1],
    starts: cython.const[Index][::1], points: cython.const[Index][::1], weights: cython.const[cython.double][::1],
    scores: cython.double[:, ::1],
):
    with cython.nogil:
        for row in range(scores.shape[0]):
            for entry in range(indptr[row], indptr[row + 1]):
                feature, value = features[entry], values[entry]
                for place in range(starts[feature], starts[feature + 1]):
                    scores[row, points[place]] -= value * weights[place]


def pair_distances(
    queries: cython.const[cython.double][:, ::1], points: cython.const[Real][:, ::1],
    indices: cython.const[cython.longlong][:, ::1], distances: cython.double[:, ::1],
):
    """Euclidean distances of each query to the points its row names, in double precision; infinite for -1.

    Four sums run side by side; the order is the same for every pair.
    """
    parts: cython.double[4]
    n_features: cython.Py_ssize_t = queries.shape[1]
    n_unrolled: cython.Py_ssize_t = n_features // 4 * 4
    with cython.nogil:
        for p in range(indices.shape[0]):
            for i in range(indices.shape[1]):
                q = indices[p, i]
                if q < 0:
                    distances[p, i] = _INFINITE
                    continue
                for t in range(4):
                    parts[t] = 0.0
                for f in range(0, n_unrolled, 4):
                    for t in range(4):
                        offset: cython.double = queries[p, f + t] - points[q, f + t]
                        parts[t] += offset * offset
                for f in range(n_unrolled, n_features):
                    offset = queries[p, f] - points[q, f]
                    parts[0] += offset * offset
                distances[p, i] = sqrt((parts[0] + parts[1]) + (parts[2] + parts[3]))


def sort_pairs(distances: cython.double[:, ::1], indices: cython.longlong[:, ::1]):
    """Sort each (short) row by distance, among equal distances by index."""
    with cython.nogil:
        for p in range(distances.shape[0]):
            for i in range(1, distances.shape[1]):
                distance, index = distances[p, i], indices[p, i]
                j: cython.Py_ssize_t = i - 1
                while j >= 0 and (
                    distances[p, j] > distance or (distances[p, j] == distance and indices[p, j] > index)
                ):
                    distances[p, j + 1] = distances[p, j]
                    indices[p, j + 1] = indices[p, j]
                    j -= 1
                distances[p, j + 1] = distance
                indices[p, j + 1] = index
