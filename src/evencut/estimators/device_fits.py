"""Whole fits on a GPU, points to labels: all pairs of a kernel there, graphs of neighbours cut by the CPU's solvers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ..affinity import as_affinity
from ..affinity.condensing import sweeps_for
from ..affinity.on_device import whiten_tensor
from ..criteria import pose
from ..gpu.all_pairs import solve_all_pairs
from ..gpu.distinct import group_sums
from ..gpu.graph import Graph, half_radius, neighbor_graph, shared_neighbor_graph
from ..gpu.landmarks import condense, locality_order
from ..gpu.lloyd import bound_costs
from ..gpu.nearest import nearest_to_points
from ..gpu.prediction import DevicePrediction, Extension, KernelRows, NeighborRows, margins
from ..gpu.problem import AllPairs, cluster_totals
from ..gpu.problem import pose as pose_all_pairs
from ..gpu.sums import KernelSums
from ..gpu.tensors import to_array, to_tensor
from ..kernels import KNN, AdaptiveGaussian, Gaussian, Kernel, LocalScaling, SharedNeighbors
from ..selection.leaks import mixing_rate, mixing_rates
from ..solvers import heaviest_first, solve
from .device_landmarks import bandwidths
from .device_points import DevicePoints
from .fitting import step
from .prediction import mean_separation, summary

__all__ = ["DeviceFit", "condensed", "fit_by_graph", "fit_by_pairs"]


@dataclass(frozen=True, eq=False)
class DeviceFit:
    """What a fit on a device has found, its points in the order of their first rows.

    Parameters
    ----------
    prepared : DevicePoints
    affinity : Graph or KernelSums
    prediction : DevicePrediction
    labels, margin, weights, scale, degrees : Tensors of shape (n_points,)
    energy : float
    trace : tuple of float
    n_iter : int
    converged : bool
    """

    prepared: DevicePoints
    affinity: Graph | KernelSums
    prediction: DevicePrediction
    labels: Tensor
    margin: Tensor
    weights: Tensor
    scale: Tensor
    degrees: Tensor
    energy: float
    trace: tuple[float, ...]
    n_iter: int
    converged: bool

    @property
    def entries(self) -> Any:
        """What a user holds: a sparse tensor, or sums of kernels where the matrix is never formed."""
        return self.affinity.to_torch() if isinstance(self.affinity, Graph) else self.affinity

    @property
    def like(self) -> Tensor:
        """A tensor of the type and on the device of the points."""
        return self.prepared.points

    def predict(self, X: Tensor) -> Tensor:
        """Clusters of new rows."""
        return self.prediction.labels(self.prepared.scaled(X))

    def predict_margin(self, X: Tensor) -> Tensor:
        """How sure these are."""
        return self.prediction.margins(self.prepared.scaled(X))

    def transform(self, X: Tensor) -> Tensor:
        """Squared distances to the clusters."""
        return self.prediction.distances(self.prepared.scaled(X))

    def score(self, X: Tensor) -> float:
        """How well the clusters of rows are each one, and apart."""
        sums, counts = self.prediction.leaving(self.prepared.scaled(X))
        weight = to_array(self.prediction.weight)
        return mean_separation(to_array(sums), to_array(counts), weight, self._mixing(), len(X))

    def _mixing(self) -> NDArray[np.float64]:
        """How fast each cluster mixes; of a graph on the CPU, of all pairs by products on the device."""
        scale, n_clusters = self.weights * self.scale, len(self.prediction.weight)
        if isinstance(self.affinity, Graph):
            affinity = as_affinity(self.affinity.to_scipy()).rescaled(to_array(scale))
            return mixing_rates(affinity, to_array(self.labels), n_clusters)
        rates = []
        for k in range(n_clusters):
            members = (self.labels == k).nonzero()[:, 0]
            inside, own = self.affinity.part(members, members), scale[members]
            rates.append(mixing_rate(len(members), partial(_product, inside, own)))
        return np.array(rates)


def _product(sums: KernelSums, scale: Tensor, vector: NDArray[np.float64]) -> NDArray[np.float64]:
    return to_array(scale * sums(scale * to_tensor(vector, scale)))


def condensed(prepared: DevicePoints, n_centres: int) -> DevicePoints:
    """Many points as weighted centres, as :func:`evencut.affinity.condense` makes them of arrays."""
    if len(prepared.points) <= n_centres:
        return prepared
    n_sweeps = sweeps_for(prepared.points.shape[1])
    centres, own = condense(prepared.points, prepared.weights, n_centres, n_sweeps)
    first = torch.full((len(centres),), len(prepared.of_row), dtype=torch.int64, device=own.device)
    first.scatter_reduce_(0, own, prepared.first_row, reduce="amin")
    of_row = torch.where(prepared.of_row >= 0, own[prepared.of_row], -1)
    weights = group_sums(prepared.weights, own, len(centres))
    return DevicePoints(centres, weights, of_row, first, prepared.feature_scale)


def fit_by_pairs(estimator: Any, prepared: DevicePoints, kernel: Kernel, n_clusters: int, seed: int) -> DeviceFit:
    """Lloyd steps from spectral starts, for all pairs of a Gaussian kernel; nothing leaves the device."""
    step("bandwidths", 1, 3)
    sums, extension = _kernel_sums(prepared, kernel)
    problem = pose_all_pairs(sums, estimator.criterion, estimator.equalize, prepared.weights)
    step("clusters", 2, 3)
    how = {"n_init": estimator.n_init, "max_iter": estimator.max_iter}
    found = solve_all_pairs(problem, n_clusters, seed=seed, **how)
    step("summary", 3, 3)
    weights, scale = problem.scale, torch.ones_like(problem.scale)
    if estimator.equalize == "exact":
        weights, scale = prepared.weights, problem.scale / prepared.weights
    inside, weight, margin = _summary(problem, found.labels, n_clusters)
    by_degree, is_even = estimator.criterion == "normalized_cut", estimator.equalize == "exact"
    prediction = DevicePrediction(
        extension, prepared.points, found.labels, problem.scale, inside, weight, by_degree, is_even
    )
    # Without weights the normalised cut has summed them already.
    plain = by_degree and estimator.equalize is None and bool((weights == 1).all())
    degrees = problem.weights if plain else sums(torch.ones_like(weights))
    return DeviceFit(
        prepared, sums, prediction, found.labels, margin, weights, scale, degrees, found.energy, found.trace,
        len(found.trace), found.converged,
    )  # fmt: skip


def _kernel_sums(prepared: DevicePoints, kernel: Kernel) -> tuple[KernelSums, Extension]:
    """The matrix of the kernel, never formed, and its rows for new points."""
    points = prepared.points
    if isinstance(kernel, Gaussian):
        white = whiten_tensor(points, kernel.bandwidth, weights=prepared.weights)[0]
        one = torch.ones(len(white), dtype=torch.float64, device=white.device)
        return KernelSums(white, 1.0), _Whitened(kernel.bandwidth, prepared, KernelRows(white, one, "gaussian"))
    if isinstance(kernel, AdaptiveGaussian):
        form, sigma = "mean", bandwidths(points, kernel.n_neighbors, kernel.transform, kernel.alpha)
    else:
        assert isinstance(kernel, LocalScaling)
        form, sigma = "product", bandwidths(points, kernel.n_neighbors, "constant")
    return KernelSums(points, sigma, form=form), KernelRows(points, sigma, form, kernel.n_neighbors)


@dataclass(frozen=True, eq=False)
class _Whitened:
    """The rows of a kernel whose points were divided by the bandwidth first."""

    bandwidth: Any
    prepared: DevicePoints
    rows: KernelRows

    def links(self, Y: Tensor, table: Tensor) -> Tensor:
        white = whiten_tensor(Y, self.bandwidth, like=self.prepared.points, weights=self.prepared.weights)[0]
        return self.rows.links(white, table)


def _summary(problem: AllPairs, labels: Tensor, n_clusters: int) -> tuple[Tensor, Tensor, Tensor]:
    """Association and weight of each cluster, and the margin of each point."""
    links = problem.links(torch.nn.functional.one_hot(labels, n_clusters).double())
    if problem.diagonal is not None:
        links.scatter_add_(1, labels[:, None], problem.diagonal[:, None])
    inside = cluster_totals(links.gather(1, labels[:, None])[:, 0], labels, n_clusters)
    weight = cluster_totals(problem.weights, labels, n_clusters)
    costs = bound_costs(links, problem.weights, inside, weight)
    return inside, weight, margins(costs, links, weight, labels)


def fit_by_graph(estimator: Any, prepared: DevicePoints, kernel: Kernel, n_clusters: int, seed: int) -> DeviceFit:
    """A graph of neighbours made on the device, copied once, and cut by the compiled solvers of the CPU."""
    step("neighbours and affinity", 1, 3)
    order = locality_order(prepared.points, torch.Generator().manual_seed(seed))
    near = prepared.taken(order)
    graph, extension = _graph(near.points, kernel)
    step("clusters", 2, 3)
    affinity, weights = graph.to_scipy(), to_array(near.weights)
    posed = pose(affinity, weights, estimator.criterion, estimator.equalize)
    how = {name: getattr(estimator, name) for name in ("solver", "n_init", "max_iter")}
    solution = solve(posed.problem, n_clusters, random_state=seed, **how)
    step("summary", 3, 3)
    back = order.argsort()
    labels = heaviest_first(solution.labels, posed.problem.weights, to_array(near.first_row))
    inside, weight, margin = summary(posed.problem, labels, n_clusters)
    found = {
        "labels": labels,
        "margin": margin,
        "weights": posed.weights,
        "scale": posed.scale,
        "degrees": as_affinity(affinity).degrees(),
    }
    on_device = {name: to_tensor(part, graph.values) for name, part in found.items()}
    prediction = DevicePrediction(
        extension, near.points, on_device["labels"], on_device["weights"] * on_device["scale"],
        to_tensor(inside, graph.values), to_tensor(weight, graph.values),
        estimator.criterion == "normalized_cut", posed.is_even,
    )  # fmt: skip
    given = {name: part[back] for name, part in on_device.items()}
    return DeviceFit(
        prepared, graph.taken(back), prediction, **given, energy=solution.energy, trace=solution.trace,
        n_iter=solution.n_iter, converged=solution.converged,
    )  # fmt: skip


def _graph(points: Tensor, kernel: Kernel) -> tuple[Graph, Extension]:
    """The symmetric graph of a kernel of neighbours, and its rows for new points."""
    if isinstance(kernel, KNN):
        n_near = min(kernel.n_neighbors, len(points))
        graph = neighbor_graph(nearest_to_points(points, n_near)[1], kernel.symmetrize, points.dtype)
        return graph, NeighborRows(points, n_near)
    assert isinstance(kernel, SharedNeighbors)
    shape = {"sharpness": float(kernel.sharpness), "power": float(kernel.power)}
    distances, indices = nearest_to_points(points, min(kernel.n_neighbors + 1, len(points)))
    graph = shared_neighbor_graph(points, distances, indices, **shape)
    lists = indices.contiguous()
    return graph, NeighborRows(points, lists.shape[1], lists, half_radius(distances), **shape)
