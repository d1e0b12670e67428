"""Landmarks on the device of the points: centres by weighted k-means, and how all points hang on them.

A pass goes over blocks of rows, so that nothing but the points and the labels is as long as the table.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from .arrays import same_device
from .attachment import add_pairs, attach, landmark_graph, vote
from .distinct import distinct_rows, group_sums, row_hashes
from .nearest import nearest

__all__ = ["DeviceAttachment", "choose_landmarks", "condense", "locality_order"]

_SWEEPS = 5
_POINTS_PER_CENTRE = 20
_ROWS_AT_ONCE = 1 << 19
_MOST_PIVOTS = 4096
_POINTS_PER_PIVOT = 256


def choose_landmarks(pilot: Tensor, n_landmarks: int, weights: Tensor, waiting: Tensor) -> Tensor:
    """Landmarks drawn from a sample by weight, moved to the middle of what they stand for; none twice.

    Parameters
    ----------
    pilot : Tensor of shape (n, n_features)
    n_landmarks : int
    weights : Tensor of shape (n,)
    waiting : Tensor of shape (n,)
        Exponential random numbers: the smallest, divided by the weights, are a weighted draw without replacement.

    Examples
    --------
    >>> import torch
    >>> x = torch.tensor([[0.0], [1.0], [10.0], [11.0]])
    >>> choose_landmarks(x, 2, torch.ones(4), torch.tensor([1.0, 3.0, 2.0, 4.0]))
    tensor([[ 0.5000],
            [10.5000]])
    """
    first = distinct_rows(pilot)[0]
    if len(first) <= n_landmarks:
        return pilot[first]
    mass = weights.double().clamp(min=torch.finfo(torch.float64).tiny)
    centres = pilot[(waiting.double() / mass).argsort(stable=True)[:n_landmarks]]
    centres = _to_the_middle(centres, pilot, mass)
    return centres[distinct_rows(centres)[0]]


def condense(points: Tensor, weights: Tensor, n_centres: int, n_sweeps: int = _SWEEPS) -> tuple[Tensor, Tensor]:
    """Middles of small groups of points, as dense where the points are dense, and the group of each point.

    The centres start from points drawn by a hash of their values, so that the order of the points does not matter.

    Examples
    --------
    >>> import torch
    >>> x = torch.tensor([[0.0], [0.1], [5.0], [5.1], [5.2]])
    >>> centres, own = condense(x, torch.ones(5), 2)
    >>> bool((own == own.max()).sum() in (2, 3))
    True
    """
    order = row_hashes(points).argsort()
    pilot = order[_evenly(len(points), _POINTS_PER_CENTRE * n_centres, points.device)]
    centres = points[pilot[_evenly(len(pilot), n_centres, points.device)]]
    centres = _to_the_middle(centres, points[pilot], weights[pilot].double(), n_sweeps)
    own = nearest(centres, 1, points)[1][:, 0]
    used, own = torch.unique(own, return_inverse=True)
    return centres[used], own


def _evenly(n_points: int, n_wanted: int, device: torch.device) -> Tensor:
    if n_wanted >= n_points:
        return torch.arange(n_points, device=device)
    return torch.linspace(0, n_points - 1, n_wanted, dtype=torch.float64, device=device).long()


def _to_the_middle(centres: Tensor, points: Tensor, mass: Tensor, n_sweeps: int = _SWEEPS) -> Tensor:
    """Some sweeps of weighted k-means; a centre with no points stays."""
    for _ in range(n_sweeps):
        own = nearest(centres, 1, points)[1][:, 0]
        total = group_sums(mass, own, len(centres))[:, None]
        middle = group_sums(points.double() * mass[:, None], own, len(centres)) / total.clamp(min=torch.finfo().tiny)
        centres = torch.where(total > 0, middle.to(points.dtype), centres)
    return centres


def locality_order(points: Tensor, generator: torch.Generator) -> Tensor:
    """An order in which near points are near: by the nearest of some random points, these by how far out they are.

    Loops over a graph then find its points in the cache of the CPU.

    Examples
    --------
    >>> import torch
    >>> locality_order(torch.tensor([[0.0], [9.0], [0.1]]), torch.Generator().manual_seed(0)).shape
    torch.Size([3])
    """
    n_pivots = min(_MOST_PIVOTS, max(1, len(points) // _POINTS_PER_PIVOT))
    rows = torch.randperm(len(points), generator=generator)[:n_pivots].to(points.device)
    pivots = points[rows]
    away = torch.linalg.vector_norm(pivots - pivots[:1], dim=1)
    own = nearest(pivots[away.argsort()], 1, points)[1][:, 0]
    return own.argsort(stable=True)


@dataclass(frozen=True, eq=False)
class DeviceAttachment:
    """What labels a row: landmarks, how far their neighbours are, and their clusters once these are known.

    Parameters
    ----------
    landmarks : Tensor of shape (n_landmarks, n_features)
        In units of `feature_scale`.
    radius : Tensor of shape (n_landmarks,)
    n_nearest : int
    feature_scale : Tensor of shape (n_features,)
    labels, weights : Tensors of shape (n_landmarks,), optional
        Clusters of the landmarks, and how many rows each stands for.
    """

    landmarks: Tensor
    radius: Tensor
    n_nearest: int
    feature_scale: Tensor
    labels: Tensor | None = None
    weights: Tensor | None = None

    @property
    def like(self) -> Tensor:
        """A tensor of the type and on the device of the rows."""
        return self.landmarks

    def graph(self, X: Tensor) -> tuple[Tensor, Tensor]:
        """The upper triangle of the landmark graph: pairs i n + j, and whole numbers in units of 2^-30."""
        keys = torch.empty(0, dtype=torch.int64, device=X.device)
        sums = keys.clone()
        n_landmarks = len(self.landmarks)
        for indices, units in self._weights(X):
            more, products = landmark_graph(indices, units, n_landmarks)
            keys, sums = add_pairs(torch.cat([keys, more]), torch.cat([sums, products]))
        return keys, sums

    def predict(self, X: Tensor) -> Tensor:
        """Clusters of rows: the one with the most weight among a row's landmarks."""
        assert self.labels is not None
        n_clusters = int(self.labels.max()) + 1
        return torch.cat([vote(indices, units, self.labels, n_clusters) for indices, units in self._weights(X)])

    def transform(self, X: Tensor) -> Tensor:
        """One less the share of each cluster in the weights of a row's landmarks."""
        assert self.labels is not None
        members = torch.nn.functional.one_hot(self.labels).double()
        found = []
        for indices, units in self._weights(X):
            votes = torch.zeros((len(indices), members.shape[1]), dtype=torch.float64, device=X.device)
            for place in range(indices.shape[1]):
                votes += units[:, place, None] * members[indices[:, place]]
            found.append(1 - votes / units.sum(dim=1, keepdim=True))
        return torch.cat(found)

    def _weights(self, X: Tensor) -> Iterator[tuple[Tensor, Tensor]]:
        same_device(X=X, landmarks=self.landmarks)
        plain = bool((self.feature_scale == 1).all())
        for rows in X.split(_ROWS_AT_ONCE):
            points = rows if plain else (rows.double() / self.feature_scale).to(rows.dtype)
            yield attach(points, self.landmarks, self.radius, self.n_nearest)
