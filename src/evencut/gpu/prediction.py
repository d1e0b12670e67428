r"""Clusters for new points on their device: the bound of the Lloyd step against a fitted labelling, as on the CPU."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from .arrays import block_rows, is_fused, same_device
from .density import knn_radius
from .graph import common_counts, half_radius
from .lloyd import bound_costs
from .nearest import nearest
from .problem import cluster_totals
from .sums import KernelSums

__all__ = ["DevicePrediction", "Extension", "KernelRows", "NeighborRows", "margins"]


# Of one full affinity: below it the fused kernel is short of digits.
_WEAK = 1e-6


class Extension(Protocol):
    """From new points and a table of numbers of the fitted points to the affinities of the first times the table."""

    def links(self, Y: Tensor, table: Tensor) -> Tensor:
        """Affinities of the rows of Y with the fitted points, times the table."""


@dataclass(frozen=True, eq=False)
class KernelRows:
    """Affinities of new points under all pairs of a kernel.

    Parameters
    ----------
    points : Tensor of shape (n, n_features)
        The fitted points.
    bandwidth : Tensor of shape (n,)
    form : {"gaussian", "mean", "product"}
    n_neighbors : int, optional
        Of the bandwidth of a new point, for the product form.
    """

    points: Tensor
    bandwidth: Tensor
    form: str
    n_neighbors: int | None = None

    def links(self, Y: Tensor, table: Tensor) -> Tensor:
        """The product; a row whose affinities are too small for the fused kernel is summed again in float64."""
        form, own, theirs = self._bandwidths(Y)
        sums = KernelSums(Y, own, Y=self.points, y_bandwidth=theirs, form=form)
        found = sums(table)
        weak = (found.sum(dim=1) < _WEAK * table.sum(dim=1).max()).nonzero()[:, 0]
        if len(weak) and is_fused(Y):
            found[weak] = sums.part(rows=weak).in_float64(table)
        return found

    def _bandwidths(self, Y: Tensor) -> tuple[str, float | Tensor, Tensor | None]:
        """A form of sums with the bandwidths of new points and of fitted ones."""
        if self.form == "gaussian":
            return "gaussian", float(self.bandwidth[0]), None
        if self.form == "product":
            assert self.n_neighbors is not None
            return "product", knn_radius(self.points, self.n_neighbors, Y), self.bandwidth
        # A new point is seen from the fitted points alone, at their own bandwidths: a product with any constant.
        middle = self.bandwidth.log().mean().exp()
        return "product", middle.expand(len(Y)), self.bandwidth**2 / middle


@dataclass(frozen=True, eq=False)
class NeighborRows:
    """Affinities of new points with their nearest fitted points: ones, or those of the shared-neighbour kernel.

    Parameters
    ----------
    points : Tensor of shape (n, n_features)
    n_near : int
    lists, radius : Tensors of shapes (n, n_near) and (n,), optional
        Neighbours of the fitted points and the radius around them, for shared neighbours.
    sharpness, power : float
    """

    points: Tensor
    n_near: int
    lists: Tensor | None = None
    radius: Tensor | None = None
    sharpness: float = 0.5
    power: float = 6.0

    def links(self, Y: Tensor, table: Tensor) -> Tensor:
        """The product, entry by entry of each row, always in the same order."""
        distances, near = nearest(self.points, self.n_near, Y)
        affinity = torch.ones_like(distances) if self.lists is None else self._shared(distances, near)
        total = torch.zeros((len(Y), table.shape[1]), dtype=torch.float64, device=Y.device)
        for place in range(self.n_near):
            total += affinity[:, place, None] * table[near[:, place]]
        return total

    def _shared(self, distances: Tensor, near: Tensor) -> Tensor:
        assert self.lists is not None and self.radius is not None
        rows = torch.arange(len(near), device=near.device).repeat_interleave(self.n_near)
        common = common_counts(near.contiguous(), self.lists, rows, near.reshape(-1)).reshape(near.shape)
        exponent = distances**2 / (half_radius(distances)[:, None] * self.radius[near])
        return torch.exp(-self.sharpness * exponent) * (common.double() / self.n_near) ** self.power


@dataclass(frozen=True, eq=False)
class DevicePrediction:
    """What labels a new point: its affinities with the fitted points, and the cost of each cluster.

    Parameters
    ----------
    extension : Extension
    points : Tensor of shape (n, n_features)
    fitted_labels : Tensor of shape (n,)
    point_scale : Tensor of shape (n,)
        Weight times equalising scale of the fitted points.
    inside, weight : Tensors of shape (n_clusters,)
        Association and weight of each cluster.
    by_degree : bool
        Whether a point weighs its degree in the problem; one otherwise.
    is_even : bool
        Whether the degree of a new point is scaled to one first.
    """

    extension: Extension
    points: Tensor
    fitted_labels: Tensor
    point_scale: Tensor
    inside: Tensor
    weight: Tensor
    by_degree: bool
    is_even: bool

    def labels(self, Y: Tensor) -> Tensor:
        """Clusters of new points; one without any affinity takes the label of the nearest fitted point."""
        return self._assigned(Y)[0]

    def margins(self, Y: Tensor) -> Tensor:
        """How much dearer the second-best cluster is for new points; zero for points without any affinity."""
        return self._assigned(Y)[1]

    def distances(self, Y: Tensor) -> Tensor:
        """Squared distances of new points to the clusters, less their own squared length.

        A point without any affinity has those of the fitted point nearest to it.
        """
        found = torch.empty((len(Y), len(self.weight)), dtype=torch.float64, device=Y.device)
        for rows, links in self._linked(Y):
            found[rows] = self._costs(links) / self._point_weights(links)[:, None]
            far = rows.start + (~(links > 0).any(dim=1)).nonzero()[:, 0]
            if len(far):
                found[far] = self.distances(self.points[nearest(self.points, 1, Y[far])[1][:, 0]])
        return found

    def leaving(self, Y: Tensor) -> tuple[Tensor, Tensor]:
        """For each cluster the shares of affinity that its new points have elsewhere, summed, and how many they are."""
        n_clusters = len(self.weight)
        sums, counts = torch.zeros_like(self.weight), torch.zeros_like(self.weight)
        for _, links in self._linked(Y):
            linked = links[(links > 0).any(dim=1)]
            own = self._costs(linked).argmin(dim=1)
            away = 1 - linked.gather(1, own[:, None])[:, 0] / linked.sum(dim=1)
            sums += cluster_totals(away, own, n_clusters)
            counts += torch.bincount(own, minlength=n_clusters)
        return sums, counts

    def _assigned(self, Y: Tensor) -> tuple[Tensor, Tensor]:
        found = torch.empty(len(Y), dtype=torch.int64, device=Y.device)
        margin = torch.empty(len(Y), dtype=torch.float64, device=Y.device)
        for rows, links in self._linked(Y):
            costs = self._costs(links)
            found[rows] = costs.argmin(dim=1)
            margin[rows] = margins(costs, self._even(links), self.weight, found[rows])
            far = rows.start + (~(links > 0).any(dim=1)).nonzero()[:, 0]
            if len(far):
                found[far] = self.fitted_labels[nearest(self.points, 1, Y[far])[1][:, 0]]
                margin[far] = 0.0
        return found, margin

    def _linked(self, Y: Tensor) -> Iterator[tuple[slice, Tensor]]:
        """Block by block, the affinity of new points (rows) with each cluster (columns), as the problem has it."""
        same_device(X=Y, **{"the fitted points": self.points})
        n_clusters = len(self.weight)
        members = torch.nn.functional.one_hot(self.fitted_labels, n_clusters) * self.point_scale[:, None]
        step = block_rows(len(Y), 64 * n_clusters + 2048, Y.device, what="a prediction")
        for first in range(0, len(Y), step):
            rows = slice(first, min(first + step, len(Y)))
            yield rows, self.extension.links(Y[rows], members)

    def _point_weights(self, links: Tensor) -> Tensor:
        """The weights of new points in the problem; one where they would be zero."""
        degree = links.sum(dim=1)
        if not self.by_degree or self.is_even:
            return torch.ones_like(degree)
        return torch.where(degree > 0, degree, 1.0)

    def _costs(self, links: Tensor) -> Tensor:
        links = self._even(links)
        degree = links.sum(dim=1)
        return bound_costs(links, degree if self.by_degree else torch.ones_like(degree), self.inside, self.weight)

    def _even(self, links: Tensor) -> Tensor:
        """The links with degrees of one, where those of the problem are."""
        if not self.is_even:
            return links
        degree = links.sum(dim=1)
        return links / torch.where(degree > 0, degree, 1.0)[:, None]


def margins(costs: Tensor, links: Tensor, weight: Tensor, labels: Tensor) -> Tensor:
    """How much dearer the best other cluster is than the one taken, from 0 at a border to 1 deep inside, as on the CPU.

    Examples
    --------
    >>> import torch
    >>> links = torch.tensor([[4.0, 0.0], [2.0, 2.0]])
    >>> margins(1 - 2 * links / 4, links, torch.tensor([4.0, 4.0]), torch.tensor([0, 0]))
    tensor([1., 0.])
    """
    if costs.shape[1] == 1:
        return torch.ones_like(costs[:, 0])
    own = costs.gather(1, labels[:, None])[:, 0]
    other = costs.scatter(1, labels[:, None], torch.inf).amin(dim=1)
    unit = 2 * (links.abs() / weight).sum(dim=1)
    return ((other - own) / torch.where(unit > 0, unit, 1.0)).clamp(0.0, 1.0)
