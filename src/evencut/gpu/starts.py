r"""Starts for all pairs of a kernel: cuts of a sample's spectrum, spread to all points, and of the spectrum of all.

Everything stays on the device; random numbers are drawn on the CPU, so that a seed means the same everywhere.
"""

from __future__ import annotations

import torch
from torch import Tensor

from .lloyd import bound_costs, improve_by_lloyd
from .problem import AllPairs, cluster_totals
from .spectrum import normalized_spectrum

__all__ = ["cut_embedding", "fill_empty", "sample_start", "spectral_embedding", "spectral_start"]

_SAMPLE = 4000
_SAMPLE_PER_CLUSTER = 40
_KMEANS_STEPS = 100
_SAMPLE_STEPS = 100


def spectral_embedding(matrix: Tensor, n_vectors: int) -> Tensor:
    r"""Leading eigenvectors of :math:`D^{-1/2} A D^{-1/2}`, rows at length one.

    Examples
    --------
    >>> import torch
    >>> spectral_embedding(torch.eye(2, dtype=torch.float64), 2).abs().sum(dim=1)
    tensor([1., 1.], dtype=torch.float64)
    """
    root = matrix.sum(dim=1).clamp(min=torch.finfo(matrix.dtype).tiny).rsqrt()
    return _unit_rows(torch.linalg.eigh(matrix * root[:, None] * root).eigenvectors[:, -n_vectors:])


def cut_embedding(points: Tensor, n_clusters: int, generator: torch.Generator) -> Tensor:
    """Clusters of the rows by k-means from seeds drawn far apart.

    Examples
    --------
    >>> import torch
    >>> x = torch.tensor([[0.0], [0.1], [5.0]])
    >>> labels = cut_embedding(x, 2, torch.Generator().manual_seed(0))
    >>> bool(labels[0] == labels[1] != labels[2])
    True
    """
    centres = _far_seeds(points, n_clusters, generator)
    labels = torch.cdist(points, centres).argmin(dim=1)
    for _ in range(_KMEANS_STEPS):
        members = torch.nn.functional.one_hot(labels, n_clusters).to(points.dtype)
        count = members.sum(dim=0)
        centres = torch.where(count[:, None] > 0, (members.T @ points) / count.clamp(min=1)[:, None], centres)
        moved = torch.cdist(points, centres).argmin(dim=1)
        if bool((moved == labels).all()):
            break
        labels = moved
    return fill_empty(labels, n_clusters)


def _far_seeds(points: Tensor, n_clusters: int, generator: torch.Generator) -> Tensor:
    """Seeds drawn with chances by their squared distance to the seeds before (k-means++)."""
    draws = torch.rand(n_clusters, generator=generator, dtype=torch.float64).tolist()
    seeds = [points[int(draws[0] * len(points))]]
    nearest = ((points - seeds[0]) ** 2).sum(dim=1)
    for draw in draws[1:]:
        reached = nearest.double().cumsum(dim=0)
        place = torch.searchsorted(reached, reached[-1:] * draw).clamp(max=len(points) - 1)
        seeds.append(points[place[0]])
        nearest = torch.minimum(nearest, ((points - seeds[-1]) ** 2).sum(dim=1))
    return torch.stack(seeds)


def fill_empty(labels: Tensor, n_clusters: int) -> Tensor:
    """The labels with every empty cluster given one point of the largest.

    Examples
    --------
    >>> import torch
    >>> fill_empty(torch.tensor([0, 0, 0]), 2)
    tensor([0, 0, 1])
    """
    count = torch.bincount(labels, minlength=n_clusters)
    empty = (count == 0).nonzero()[:, 0].tolist()
    if empty:
        labels = labels.clone()
    for k in empty:
        largest = int(count.argmax())
        labels[int((labels == largest).nonzero()[-1])] = k
        count[largest] -= 1
        count[k] += 1
    return labels


def sample_start(problem: AllPairs, n_clusters: int, n_init: int, generator: torch.Generator) -> Tensor:
    """Labels of all points from the best of several cuts of a sample.

    The cuts are of the spectrum of the normalised cut and of the problem's own, whose k-means is the problem itself.

    Examples
    --------
    >>> import torch
    >>> from evencut.gpu.problem import pose
    >>> from evencut.gpu.sums import KernelSums
    >>> problem = pose(KernelSums(torch.tensor([[0.0], [0.1], [5.0], [5.1]]), 1.0))
    >>> labels = sample_start(problem, 2, 1, torch.Generator().manual_seed(0))
    >>> bool(labels[0] == labels[1] != labels[2] == labels[3])
    True
    """
    rows = _sample_rows(problem, n_clusters, generator)
    matrix, weights, diagonal = problem.sample(rows)
    embeddings = [spectral_embedding(matrix, n_clusters)]
    if diagonal is None:
        embeddings.append(_own_spectrum(matrix, weights, n_clusters))
    best: tuple[float, Tensor] | None = None
    for _ in range(n_init):
        for embedding in embeddings:
            labels = cut_embedding(embedding, n_clusters, generator)
            energy, labels = _refine_dense(matrix, weights, diagonal, labels, n_clusters)
            if best is None or energy < best[0]:
                best = energy, labels
    assert best is not None
    return _spread(problem, rows, matrix, weights, diagonal, best[1], n_clusters)


def spectral_start(problem: AllPairs, n_clusters: int, n_init: int, generator: torch.Generator) -> Tensor | None:
    """Labels of all points from the best of several cuts of the spectrum of all points; None where a sample is all.

    Examples
    --------
    >>> import torch
    >>> from evencut.gpu.problem import pose
    >>> from evencut.gpu.sums import KernelSums
    >>> problem = pose(KernelSums(torch.tensor([[0.0], [0.1], [5.0], [5.1]]), 1.0))
    >>> spectral_start(problem, 2, 1, torch.Generator().manual_seed(0)) is None
    True
    """
    rows = _sample_rows(problem, n_clusters, generator)
    if len(rows) == problem.n_points:
        return None
    embedding = _unit_rows(normalized_spectrum(problem, n_clusters, rows))
    cuts = [cut_embedding(embedding, n_clusters, generator) for _ in range(n_init)]
    energies = [improve_by_lloyd(problem, labels, n_clusters, max_iter=0).trace[-1] for labels in cuts]
    return cuts[energies.index(min(energies))]


def _sample_rows(problem: AllPairs, n_clusters: int, generator: torch.Generator) -> Tensor:
    n_sample = min(problem.n_points, max(_SAMPLE, _SAMPLE_PER_CLUSTER * n_clusters))
    rows = torch.randperm(problem.n_points, generator=generator)[:n_sample].sort().values
    return rows.to(problem.weights.device)


def _unit_rows(vectors: Tensor) -> Tensor:
    return vectors / torch.linalg.vector_norm(vectors, dim=1, keepdim=True).clamp(min=torch.finfo(vectors.dtype).tiny)


def _own_spectrum(matrix: Tensor, weights: Tensor, n_vectors: int) -> Tensor:
    """Points in the space of the kernel M_pq / (w_p w_q), as well as few dimensions can; directions only."""
    root = weights.rsqrt()
    values, vectors = torch.linalg.eigh(matrix * root[:, None] * root)
    return _unit_rows(vectors[:, -n_vectors:] * values[-n_vectors:].clamp(min=0).sqrt())


def _dense_state(
    matrix: Tensor, weights: Tensor, diagonal: Tensor | None, labels: Tensor, n_clusters: int
) -> tuple[Tensor, Tensor, Tensor]:
    links = matrix @ torch.nn.functional.one_hot(labels, n_clusters).to(matrix.dtype)
    own = links.gather(1, labels[:, None])[:, 0]
    inside = cluster_totals(own if diagonal is None else own + diagonal, labels, n_clusters)
    return links, inside, cluster_totals(weights, labels, n_clusters)


def _refine_dense(
    matrix: Tensor, weights: Tensor, diagonal: Tensor | None, labels: Tensor, n_clusters: int
) -> tuple[float, Tensor]:
    """Lloyd steps on the sample for as long as they lower its energy."""
    links, inside, weight = _dense_state(matrix, weights, diagonal, labels, n_clusters)
    energy = float(-(inside / weight).sum())
    for _ in range(_SAMPLE_STEPS):
        proposal = fill_empty(bound_costs(links, weights, inside, weight).argmin(dim=1), n_clusters)
        state = _dense_state(matrix, weights, diagonal, proposal, n_clusters)
        lower = float(-(state[1] / state[2]).sum())
        if not lower < energy - 1e-12 * abs(energy):
            break
        labels, energy, (links, inside, weight) = proposal, lower, state
    return energy, labels


def _spread(
    problem: AllPairs,
    rows: Tensor,
    matrix: Tensor,
    weights: Tensor,
    diagonal: Tensor | None,
    labels: Tensor,
    n_clusters: int,
) -> Tensor:
    """Labels of all points: the cluster of the sample that the bound of the Lloyd step makes cheapest."""
    _, inside, weight = _dense_state(matrix, weights, diagonal, labels, n_clusters)
    members = torch.nn.functional.one_hot(labels, n_clusters).double()
    links = problem.links(members, "fast", columns=rows)
    share = len(rows) / problem.n_points
    everyone = bound_costs(links, share * problem.weights, inside, weight).argmin(dim=1)
    everyone[rows] = labels
    return fill_empty(everyone, n_clusters)
