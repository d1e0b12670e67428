"""Compiled random walks inside clusters: what leaves a cluster, and how fast the rest of a walk forgets its start."""

from ..interpreted import refuse_unless_compiled

refuse_unless_compiled(__file__)

import cython
import numpy as np
from cython.cimports.evencut.solvers._graph_loops import Graph
from cython.cimports.libc.math import sqrt

__all__ = ["leak_and_mixing"]


def leak_and_mixing(graph, labels, n_clusters, start, n_steps: cython.int):
    """The share of links that leave each cluster, and one minus the second eigenvalue of the walk inside it.

    The eigenvalue is the Rayleigh quotient after `n_steps` of the power method from `start`, all clusters at once, each
    with its own constant taken out. An empty cluster has NaN for both.
    """
    walk: _Walk = _Walk(Graph(*graph), np.ascontiguousarray(labels), n_clusters, start)
    step: cython.int
    with cython.nogil:
        walk.sum_links()
        for step in range(n_steps):
            walk.center()
            walk.take_step()
    own, whole = np.asarray(walk.own), np.asarray(walk.whole)
    product, square = np.asarray(walk.product), np.asarray(walk.square)
    leak, mixing = np.full(n_clusters, np.nan), np.full(n_clusters, np.nan)
    some = whole > 0
    leak[some] = 1 - own[some] / whole[some]
    # A cluster of one group has nothing to mix.
    mixing[some] = 1.0
    mixes = some & (square > 1e-12 * own)
    mixing[mixes] = 1 - product[mixes] / square[mixes]
    return leak, mixing


@cython.final
@cython.cclass
class _Walk:
    """A walk that stays inside clusters: of each point its links inside, of each cluster its sums."""

    graph: Graph
    labels: cython.const[cython.longlong][::1]
    inside: cython.double[::1]
    own: cython.double[::1]
    whole: cython.double[::1]
    values: cython.double[::1]
    after: cython.double[::1]
    mean: cython.double[::1]
    product: cython.double[::1]
    square: cython.double[::1]

    def __init__(self, graph: Graph, labels, n_clusters, start):
        self.graph, self.labels = graph, labels
        self.inside, self.values, self.after = np.array(graph.diagonal), start.copy(), np.empty(len(labels))
        self.own, self.whole = np.zeros(n_clusters), np.zeros(n_clusters)
        self.mean, self.product, self.square = np.zeros(n_clusters), np.zeros(n_clusters), np.zeros(n_clusters)

    @cython.cfunc
    @cython.nogil
    def sum_links(self) -> cython.int:
        """The links of points and clusters, inside and in all."""
        p: cython.Py_ssize_t
        e: cython.Py_ssize_t
        for p in range(self.labels.shape[0]):
            k = self.labels[p]
            for e in range(self.graph.indptr[p], self.graph.indptr[p + 1]):
                if self.labels[self.graph.indices[e]] == k and self.graph.indices[e] != p:
                    self.inside[p] += self.graph.data[e]
            self.own[k] += self.inside[p]
            self.whole[k] += self.graph.weights[p]
        return 0

    @cython.cfunc
    @cython.nogil
    def center(self) -> cython.int:
        """Take the constant out of the values of each cluster."""
        p: cython.Py_ssize_t
        self.mean[:] = 0.0
        for p in range(self.labels.shape[0]):
            self.mean[self.labels[p]] += self.inside[p] * self.values[p]
        for p in range(self.labels.shape[0]):
            k = self.labels[p]
            if self.own[k] > 0:
                self.values[p] -= self.mean[k] / self.own[k]
        return 0

    @cython.cfunc
    @cython.nogil
    def take_step(self) -> cython.int:
        """One step of the walk, its Rayleigh quotient, and values of length one."""
        p: cython.Py_ssize_t
        e: cython.Py_ssize_t
        self.product[:] = 0.0
        self.square[:] = 0.0
        for p in range(self.labels.shape[0]):
            k = self.labels[p]
            total = self.graph.diagonal[p] * self.values[p]
            for e in range(self.graph.indptr[p], self.graph.indptr[p + 1]):
                if self.labels[self.graph.indices[e]] == k and self.graph.indices[e] != p:
                    total += self.graph.data[e] * self.values[self.graph.indices[e]]
            self.product[k] += self.values[p] * total
            self.square[k] += self.inside[p] * (self.values[p] * self.values[p])
            # A lazy walk: no eigenvalue is negative.
            self.after[p] = 0.5 * self.values[p] + (0.5 * total / self.inside[p] if self.inside[p] > 0 else 0.0)
        for p in range(self.labels.shape[0]):
            size = sqrt(self.square[self.labels[p]])
            self.values[p] = self.after[p] / size if size > 0 else 0.0
        return 0
