r"""Lloyd steps for all pairs of a kernel, that is weighted kernel k-means, every point at once.

The table of links is brought up to date with the points that changed alone, so that late steps cost little.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from .problem import AllPairs, cluster_totals

__all__ = ["Improved", "bound_costs", "improve_by_lloyd"]

_LARGEST_SHIFT = 1e3
# Fast sums are no more exact than this; a smaller gain of energy is noise.
_LEAST_GAIN = 1e-8
# Updating changes costs as much a column as a new table; beyond this share a new table also clears its rounding.
_FEW_CHANGES = 0.5


class Improved(NamedTuple):
    """Labels after the steps, the energy at the start and after each, and whether no step was left to make."""

    labels: Tensor
    trace: tuple[float, ...]
    converged: bool


@dataclass(frozen=True, eq=False)
class _State:
    labels: Tensor
    links: Tensor
    inside: Tensor
    weight: Tensor

    @property
    def energy(self) -> float:
        return float(-(self.inside / self.weight).sum())


def bound_costs(links: Tensor, point_weights: Tensor, inside: Tensor, weight: Tensor) -> Tensor:
    r"""Cost of each point in each cluster under the bound of the energy; `links` holds :math:`(M S_k)_p`.

    Examples
    --------
    >>> import torch
    >>> one = torch.ones(1)
    >>> bound_costs(torch.tensor([[2.0, 0.0]]), one, torch.tensor([4.0, 4.0]), torch.tensor([2.0, 2.0]))
    tensor([[-1.,  1.]])
    """
    return -2.0 * links / weight + point_weights[:, None] * (inside / weight**2)


def improve_by_lloyd(
    problem: AllPairs, labels: Tensor, n_clusters: int, *, max_iter: int = 100, precision: str = "fast"
) -> Improved:
    """Labels after Lloyd steps; a diagonal shift, doubled until the energy falls, keeps the descent.

    Examples
    --------
    >>> import torch
    >>> from evencut.gpu.problem import pose
    >>> from evencut.gpu.sums import KernelSums
    >>> problem = pose(KernelSums(torch.tensor([[0.0], [0.1], [3.0], [3.1]]), 1.0))
    >>> improve_by_lloyd(problem, torch.tensor([0, 1, 1, 1]), 2).labels
    tensor([0, 0, 1, 1])
    """
    state = _fresh(problem, labels.long(), n_clusters, precision)
    trace = [state.energy]
    for _ in range(max_iter):
        found = _step(problem, state, n_clusters, precision)
        if found is None:
            return Improved(state.labels, tuple(trace), True)
        state = found
        trace.append(state.energy)
    return Improved(state.labels, tuple(trace), False)


def _step(problem: AllPairs, state: _State, n_clusters: int, precision: str) -> _State | None:
    """The next state, of lower energy; None where there is none."""
    costs = bound_costs(state.links, problem.weights, state.inside, state.weight)
    energy = state.energy
    # The shift is measured in the mean association of a unit of weight.
    shift, unit = 0.0, max(abs(energy) / n_clusters, torch.finfo(torch.float64).tiny)
    while shift <= _LARGEST_SHIFT:
        proposal = _shifted_choice(costs, state.labels, problem.weights, state.weight, shift * unit)
        if bool((proposal == state.labels).all()):
            return None
        if bool((torch.bincount(proposal, minlength=n_clusters) > 0).all()):
            found = _moved(problem, state, proposal, n_clusters, precision)
            if found.energy < energy - _LEAST_GAIN * abs(energy):
                return found
        shift = 2 * shift if shift else 1 / 16
    return None


def _shifted_choice(costs: Tensor, labels: Tensor, point_weights: Tensor, weight: Tensor, shift: float) -> Tensor:
    """Best cluster of each point where the matrix has `shift` times the weights on its diagonal; ties stay."""
    own = labels[:, None]
    shifted = costs + shift * (point_weights[:, None] / weight)
    shifted.scatter_add_(1, own, -2 * shift * point_weights[:, None] / weight[own])
    choice = shifted.argmin(dim=1)
    stays = shifted.gather(1, own) <= shifted.gather(1, choice[:, None])
    return torch.where(stays[:, 0], labels, choice)


def _fresh(problem: AllPairs, labels: Tensor, n_clusters: int, precision: str) -> _State:
    members = torch.nn.functional.one_hot(labels, n_clusters).double()
    return _state(problem, labels, problem.links(members, precision), n_clusters)


def _moved(problem: AllPairs, state: _State, labels: Tensor, n_clusters: int, precision: str) -> _State:
    changed = (labels != state.labels).nonzero()[:, 0]
    if len(changed) > _FEW_CHANGES * len(labels):
        return _fresh(problem, labels, n_clusters, precision)
    one_hot = torch.nn.functional.one_hot
    change = one_hot(labels[changed], n_clusters) - one_hot(state.labels[changed], n_clusters)
    links = state.links + problem.links(change.double(), precision, columns=changed)
    return _state(problem, labels, links, n_clusters)


def _state(problem: AllPairs, labels: Tensor, links: Tensor, n_clusters: int) -> _State:
    own = links.gather(1, labels[:, None])[:, 0]
    if problem.diagonal is not None:
        own = own + problem.diagonal
    inside = cluster_totals(own, labels, n_clusters)
    return _State(labels, links, inside, cluster_totals(problem.weights, labels, n_clusters))
