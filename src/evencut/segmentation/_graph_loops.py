# numba infers the types of compiled loops.
# mypy: allow-untyped-defs
"""Compiled products with the neighbour graph of the pixels, read from its lists of neighbours."""

from __future__ import annotations

from ..affinity.compiled import compiled


@compiled
def add_products(neighbors, columns, out):
    """Add (G + G')/2 times the columns to `out`, where G has a one at each neighbour listed."""
    n_points, n_kept = neighbors.shape
    n_columns = columns.shape[1]
    for p in range(n_points):
        for t in range(n_kept):
            q = neighbors[p, t]
            for k in range(n_columns):
                out[p, k] += 0.5 * columns[q, k]
                out[q, k] += 0.5 * columns[p, k]


@compiled
def add_product(neighbors, vector, out):
    """The same for one vector."""
    n_points, n_kept = neighbors.shape
    for p in range(n_points):
        own = 0.5 * vector[p]
        total = 0.0
        for t in range(n_kept):
            q = neighbors[p, t]
            total += vector[q]
            out[q] += own
        out[p] += 0.5 * total
