r"""Minimum cuts on the pixel grid behind one small adapter: our compiled max-flow, OR-Tools, scipy or PyMaxflow.

All of them minimise :math:`\sum_p u_p x_p + \sum_{pq} c_{pq}\, x_p (1 - x_q)` over :math:`x \in \{0, 1\}`.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .grid import DIRECTIONS, neighbor_pairs

__all__ = ["MAXFLOWS", "GridCut", "cut_energy"]

Floats = NDArray[np.floating]
Mask = NDArray[np.bool_]


class GridCut:
    """Minimum cuts on one grid for one or many unary terms.

    Parameters
    ----------
    capacities : ndarray of shape (height, width, 8)
        Non-negative capacity of the edge from each pixel in each direction; those that leave the grid are
        ignored.
    method : {"grid", "ortools", "scipy", "pymaxflow"}
        `"grid"` is our own and keeps its flow from one call to the next, so that slowly changing unaries cost
        little. OR-Tools works on capacities rounded to whole numbers of about 1e-12 of the total, scipy of about
        1e-9. PyMaxflow has the GPL licence; it is used only if you installed it.

    Examples
    --------
    >>> import numpy as np
    >>> cut = GridCut(np.full((1, 3, 8), 2.0))
    >>> cut.minimize(np.array([[-5.0, -1.0, 4.0]]))
    array([[ True,  True, False]])
    """

    def __init__(self, capacities: Floats, method: str = "grid"):
        if method not in MAXFLOWS:
            raise ValueError(f"maxflow={method!r} is not known; choose one of {sorted(MAXFLOWS)}.")
        self.shape = capacities.shape[:2]
        self._minimize = MAXFLOWS[method](capacities)

    def minimize(self, unary: Floats) -> Mask:
        """The smallest set of pixels (x = 1) among those of least energy."""
        if unary.shape != self.shape:
            raise ValueError(f"unary has shape {unary.shape}; the grid has shape {self.shape}.")
        return self._minimize(np.asarray(unary, dtype=np.float64))


def cut_energy(capacities: Floats, unary: Floats, mask: Mask) -> float:
    """Energy of a mask, the function that :class:`GridCut` minimises.

    Examples
    --------
    >>> import numpy as np
    >>> cut_energy(np.ones((1, 2, 8)), np.array([[3.0, -1.0]]), np.array([[False, True]]))
    0.0
    """
    total = float(unary[mask].sum(dtype=np.float64))
    for d, here, there in neighbor_pairs(mask.shape):
        total += float(capacities[(*here, d)][mask[here] & ~mask[there]].sum(dtype=np.float64))
    return total


class _CompiledFlow:
    """Our max-flow; what the last cut left in the network is where the next one starts."""

    def __init__(self, capacities: Floats):
        height, width = capacities.shape[:2]
        self._inside = (slice(1, height + 1), slice(1, width + 1))
        residual = np.zeros((height + 2, width + 2, 8))
        residual[self._inside] = capacities
        for d, (dy, dx) in enumerate(DIRECTIONS):
            if dy:
                residual[1 if dy < 0 else height, :, d] = 0
            if dx:
                residual[:, 1 if dx < 0 else width, d] = 0
        self._residual = residual.reshape(-1, 8)
        self._excess = np.zeros((height + 2, width + 2))
        self._unary: Floats = np.zeros((height, width))
        self._offsets = np.array([dy * (width + 2) + dx for dy, dx in DIRECTIONS])
        self._tree = np.zeros((height + 2, width + 2), dtype=np.int8)

    def __call__(self, unary: Floats) -> Mask:
        from ._maxflow_loops import maximum_flow

        # Only the difference is new: both terminal edges of a pixel may be lowered by the same amount for free.
        self._excess[self._inside] -= unary - self._unary
        self._unary = unary.copy()
        maximum_flow(self._residual, self._excess.ravel(), self._offsets, self._tree.ravel())
        return self._tree[self._inside] == 1


def _edges(capacities: Floats) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float64]]:
    """Tails, heads and capacities of the edges of positive capacity."""
    shape = capacities.shape[:2]
    index = np.arange(shape[0] * shape[1], dtype=np.int32).reshape(shape)
    parts = [(index[p].ravel(), index[q].ravel(), capacities[(*p, d)].ravel()) for d, p, q in neighbor_pairs(shape)]
    if not parts:
        return np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0)
    tails, heads, values = (np.concatenate(column) for column in zip(*parts))
    kept = values > 0
    return tails[kept], heads[kept], values[kept].astype(np.float64)


def _terminal_edges(unary: Floats) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float64]]:
    """Edges from the source (node n) to pixels that want to be in, and to the sink (n + 1) from those that do not."""
    flat = unary.ravel()
    wants, shuns = (np.flatnonzero(side).astype(np.int32) for side in (flat < 0, flat > 0))
    tails = np.concatenate([np.full(wants.size, flat.size, np.int32), shuns])
    heads = np.concatenate([wants, np.full(shuns.size, flat.size + 1, np.int32)])
    return tails, heads, np.concatenate([-flat[wants], flat[shuns]])


def _ortools_flow(capacities: Floats) -> Callable[[Floats], Mask]:
    try:
        from ortools.graph.python import max_flow
    except ImportError as error:
        raise ImportError("maxflow='ortools' needs OR-Tools: pip install \"evencut[vision]\"") from error
    tails, heads, values = _edges(capacities)

    def minimize(unary: Floats) -> Mask:
        more_tails, more_heads, more = _terminal_edges(unary)
        scale = 2.0**40 / max(float(more.max(initial=0)), float(values.max(initial=0)), 1e-300)
        flow = max_flow.SimpleMaxFlow()
        flow.add_arcs_with_capacity(
            np.concatenate([tails, more_tails]),
            np.concatenate([heads, more_heads]),
            np.rint(np.concatenate([values, more]) * scale).astype(np.int64),
        )
        side = np.zeros(unary.size + 2, dtype=bool)
        if more.size:
            status = flow.solve(unary.size, unary.size + 1)
            if status != flow.OPTIMAL:
                raise RuntimeError(f"OR-Tools found no maximum flow (status {status}); use maxflow='grid'.")
            side[flow.get_source_side_min_cut()] = True
        return side[: unary.size].reshape(unary.shape)

    return minimize


def _scipy_flow(capacities: Floats) -> Callable[[Floats], Mask]:
    tails, heads, values = _edges(capacities)

    def minimize(unary: Floats) -> Mask:
        more_tails, more_heads, more = _terminal_edges(unary)
        # scipy counts in 32 bits: the total must stay below 2^31.
        scale = (2.0**31 - 2) / max(float(more.sum()), 2 * float(values.max(initial=0)), 1e-300) / 2
        data = np.rint(np.concatenate([values, more]) * scale).astype(np.int32)
        pairs = (np.concatenate([tails, more_tails]), np.concatenate([heads, more_heads]))
        network = sparse.csr_array((data, pairs), shape=(unary.size + 2,) * 2)
        flow = sparse.csgraph.maximum_flow(network, unary.size, unary.size + 1).flow
        residual = sparse.csr_array(network - flow)
        residual.data = np.maximum(residual.data, 0)
        residual.eliminate_zeros()
        side = np.zeros(unary.size + 2, dtype=bool)
        side[sparse.csgraph.breadth_first_order(residual, unary.size, return_predecessors=False)] = True
        return side[: unary.size].reshape(unary.shape)

    return minimize


def _pymaxflow_flow(capacities: Floats) -> Callable[[Floats], Mask]:
    try:
        import maxflow
    except ImportError as error:
        raise ImportError(
            "maxflow='pymaxflow' needs PyMaxflow, which has the GPL licence: pip install PyMaxflow"
        ) from error
    shape = capacities.shape[:2]

    def minimize(unary: Floats) -> Mask:
        graph = maxflow.Graph[float]()
        nodes = graph.add_grid_nodes(shape)
        for d, here, _ in neighbor_pairs(shape):
            dy, dx = DIRECTIONS[d]
            structure = np.zeros((3, 3))
            structure[1 + dy, 1 + dx] = 1
            weights = np.zeros(shape)
            weights[here] = capacities[(*here, d)]
            graph.add_grid_edges(nodes, weights=weights, structure=structure, symmetric=False)
        graph.add_grid_tedges(nodes, np.maximum(-unary, 0), np.maximum(unary, 0))
        graph.maxflow()
        return ~graph.get_grid_segments(nodes)

    return minimize


#: The max-flow programs by name.
MAXFLOWS: dict[str, Callable[[Floats], Callable[[Floats], Mask]]] = {
    "grid": _CompiledFlow,
    "ortools": _ortools_flow,
    "scipy": _scipy_flow,
    "pymaxflow": _pymaxflow_flow,
}
