# numba infers the types of compiled loops.
# mypy: allow-untyped-defs
"""Compiled loops over the rows of a block: weights of the nearest landmarks, pairs of them, votes."""

from __future__ import annotations

import math

import numpy as np

from ..affinity.compiled import compiled

_EMPTY = -1


@compiled
def weigh(distances, radius, indices, scale, units):
    """Fill `units` with the weights of the landmarks in `indices`, whole numbers that sum to about `scale`."""
    n_rows, n_nearest = indices.shape
    exponent = np.empty(n_nearest)
    for p in range(n_rows):
        distance = distances[p]
        farthest = distance.max()
        for j in range(n_nearest):
            # The two ratios are small where the square of a distance might leave the range of floats.
            exponent[j] = (distance[j] / farthest) * (distance[j] / radius[indices[p, j]]) if farthest > 0.0 else 0.0
        least = exponent.min()
        total = 0.0
        for j in range(n_nearest):
            exponent[j] = math.exp(least - exponent[j])
            total += exponent[j]
        for j in range(n_nearest):
            units[p, j] = round(exponent[j] / total * scale)


@compiled
def _slot(keys, key):
    """Where `key` is, or would be put, in a table with open addresses."""
    mask = len(keys) - 1
    slot = (key * 0x9E3779B1 >> 7) & mask
    while keys[slot] != _EMPTY and keys[slot] != key:
        slot = (slot + 1) & mask
    return slot


@compiled
def add_pairs(indices, units, mass, n_landmarks, keys, sums, n_used):
    """Add the products of the weights of every two landmarks of a row, times its mass, to a growing hash table."""
    n_rows, n_nearest = indices.shape
    for p in range(n_rows):
        for a in range(n_nearest):
            for b in range(n_nearest):
                product = units[p, a] * units[p, b] * mass[p]
                if indices[p, a] > indices[p, b] or product == 0:
                    continue
                key = indices[p, a] * n_landmarks + indices[p, b]
                slot = _slot(keys, key)
                if keys[slot] == _EMPTY:
                    keys[slot] = key
                    n_used += 1
                sums[slot] += product
        if 2 * (n_used + n_nearest * n_nearest) > len(keys):
            old_keys, old_sums = keys, sums
            keys = np.full(2 * len(old_keys), _EMPTY, dtype=np.int64)
            sums = np.zeros(2 * len(old_keys), dtype=np.int64)
            for old in range(len(old_keys)):
                if old_keys[old] != _EMPTY:
                    slot = _slot(keys, old_keys[old])
                    keys[slot] = old_keys[old]
                    sums[slot] = old_sums[old]
    return keys, sums, n_used


@compiled
def vote(indices, units, landmark_labels, n_clusters, labels):
    """Give each row the cluster with the most weight among its landmarks; among equals the first."""
    votes = np.empty(n_clusters, dtype=np.int64)
    for p in range(len(labels)):
        votes[:] = 0
        for j in range(indices.shape[1]):
            votes[landmark_labels[indices[p, j]]] += units[p, j]
        labels[p] = votes.argmax()
