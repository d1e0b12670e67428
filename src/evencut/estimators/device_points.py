"""What is done to a table of tensors before distances are taken, on their device: columns scaled, copies merged."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ..affinity import scale_of_deviations, spans_usual_range
from ..affinity.distinct import near_copies
from ..affinity.scaling import are_exceptions, sample_step, usual_ranges
from ..gpu.arrays import same_device
from ..gpu.distinct import column_moments, distinct_rows, group_sums
from ..gpu.nearest import nearest, nearest_to_points
from ..gpu.tensors import to_array, to_tensor

__all__ = ["DevicePoints", "check_weights", "deviations", "prepare_on_device"]

@dataclass(frozen=True, eq=False)
class DevicePoints:
    """The points that are clustered, and how the rows of a table became them; all on one device.

    Parameters
    ----------
    points : Tensor of shape (n_points, n_features)
        Distinct and scaled, in the order of their first rows.
    weights : Tensor of shape (n_points,), float64
    of_row : Tensor of shape (n_rows,)
        The point of each row; -1 for rows of weight zero.
    first_row : Tensor of shape (n_points,)
    feature_scale : Tensor of shape (n_features,), float64
    """

    points: Tensor
    weights: Tensor
    of_row: Tensor
    first_row: Tensor
    feature_scale: Tensor

    def scaled(self, X: Tensor) -> Tensor:
        """New rows in the units of the points."""
        return scaled(X, self.feature_scale)

    def taken(self, order: Tensor) -> DevicePoints:
        """The same points in another order."""
        place = torch.empty(len(order) + 1, dtype=torch.int64, device=order.device)
        place[order] = torch.arange(len(order), device=order.device)
        place[-1] = -1
        return DevicePoints(
            self.points[order], self.weights[order], place[self.of_row], self.first_row[order], self.feature_scale
        )


def check_weights(sample_weight: Any, X: Tensor) -> Tensor:
    """Weights of the rows as float64 on the device of X; ones where none are given."""
    if sample_weight is None:
        return torch.ones(len(X), dtype=torch.float64, device=X.device)
    weights = to_tensor(sample_weight, X)
    same_device(X=X, sample_weight=weights)
    weights = weights.detach().double()
    if weights.shape != (len(X),):
        raise ValueError(
            f"sample_weight has shape {tuple(weights.shape)}; give one weight for each of {len(X)} rows."
        )
    if not bool((torch.isfinite(weights) & (weights >= 0)).all()):
        raise ValueError("sample_weight must be finite and not negative.")
    if not bool((weights > 0).any()):
        raise ValueError("sample_weight is zero for every point; give at least some a positive weight.")
    return weights


def deviations(X: Tensor, weights: Tensor) -> NDArray[np.float64]:
    """Standard deviations of the columns, without a row far away; of a constant one exactly zero, also where its mean
    is rounded."""
    low, high = (to_tensor(end, X) for end in usual_ranges(to_array(X[:: sample_step(len(X))])))
    least, most = X.amin(dim=0), X.amax(dim=0)
    if bool(((least < low) | (most > high)).any()):
        far = ((X < low) | (X > high)).any(dim=1)
        if are_exceptions(int(far.sum()), len(X)):
            X, weights = X[~far], weights[~far]
            least, most = X.amin(dim=0), X.amax(dim=0)
    return np.sqrt(to_array(torch.where(least == most, 0.0, column_moments(X, weights)[1])))


def scaled(X: Tensor, feature_scale: Tensor) -> Tensor:
    """Rows divided by the scale of the columns."""
    if bool((feature_scale == 1).all()):
        return X
    return (X / feature_scale.to(X.dtype)).contiguous()


def prepare_on_device(
    X: Tensor, weights: Tensor, *, scale: str | None, merge: bool = True
) -> DevicePoints | None:
    """The points of a table of tensors; None where the range of the values needs the care that arrays are given.

    Examples
    --------
    >>> import torch
    >>> table = prepare_on_device(torch.tensor([[0.0], [2.0], [0.0], [9.0]]), torch.ones(4), scale=None)
    >>> table.weights[table.of_row].tolist()
    [2.0, 1.0, 2.0, 1.0]
    """
    kept = (weights > 0).nonzero()[:, 0]
    rows, counts = (X, weights.double()) if len(kept) == len(X) else (X[kept], weights[kept].double())
    divisor = to_tensor(scale_of_deviations(lambda: deviations(rows, counts), scale, X.shape[1]), X)
    points = scaled(rows, divisor)
    low, high = (to_array(end.double()) for end in (points.amin(dim=0), points.amax(dim=0)))
    if not spans_usual_range(low, high, points.element_size()):
        return None
    of_row = torch.full((len(X),), -1, dtype=torch.int64, device=X.device)
    if not merge:
        of_row[kept] = torch.arange(len(kept), device=X.device)
        return DevicePoints(points, counts, of_row, kept, divisor)
    first, kind = distinct_rows(points)
    if len(first) == len(points):
        found = DevicePoints(points, counts, kind, kept, divisor)
    else:
        found = DevicePoints(points[first], group_sums(counts, kind, len(first)), kind, kept[first], divisor)
    found = _without_near_copies(found)
    of_row[kept] = found.of_row
    return replace(found, of_row=of_row)


def _without_near_copies(found: DevicePoints) -> DevicePoints:
    """Points nearer to each other than a thousandth of the distance to anyone else, merged."""
    groups = near_copies(len(found.points), _TensorCopies(found.points))
    if groups is None:
        return found
    group = to_tensor(groups.astype(np.int64), found.points)
    n_groups = int(group.max()) + 1
    total = group_sums(found.weights, group, n_groups)
    middle = group_sums(found.points.double() * found.weights[:, None], group, n_groups) / total[:, None]
    first = torch.full((n_groups,), int(found.first_row.max()), device=group.device)
    first.scatter_reduce_(0, group, found.first_row, reduce="amin")
    order = first.argsort()
    rank = torch.empty_like(order)
    rank[order] = torch.arange(n_groups, device=group.device)
    points = middle.to(found.points.dtype)[order]
    return DevicePoints(points, total[order], rank[group][found.of_row], first[order], found.feature_scale)


@dataclass(frozen=True, eq=False)
class _TensorCopies:
    """What :func:`evencut.affinity.distinct.near_copies` asks of points, answered by tensors."""

    points: Tensor

    def around(self, rows: NDArray[np.intp], n_near: int) -> NDArray[np.float64]:
        return to_array(nearest(self.points, n_near + 1, self._some(rows))[0][:, 1:])

    def between(self, rows: NDArray[np.intp]) -> NDArray[np.float64]:
        return to_array(torch.pdist(self._some(rows).double()))

    def within(self, reach: float, n_near: int) -> tuple[NDArray[np.integer], NDArray[np.integer]]:
        distances, indices = nearest_to_points(self.points, n_near)
        p, place = (distances[:, 1:] <= reach).nonzero(as_tuple=True)
        return to_array(p), to_array(indices[p, place + 1])

    def _some(self, rows: NDArray[np.intp]) -> Tensor:
        return self.points[to_tensor(rows.astype(np.int64), self.points)]
