"""Landmarks for tensors on a GPU: chosen and attached there; only their graph comes to the CPU, which solves it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from torch import Tensor

from ..affinity import density_law, scale_of_deviations
from ..gpu.density import knn_density, knn_radius
from ..gpu.landmarks import DeviceAttachment, choose_landmarks
from ..gpu.nearest import nearest
from ..gpu.tensors import to_array, to_tensor
from ..landmarks.attaching import whole_graph
from ..landmarks.choosing import RowSample
from ..landmarks.solving import landmarks_a_row, pilot_rows
from .device_points import deviations, scaled

__all__ = ["attach_to_landmarks", "labelled"]

_DENSITY_NEIGHBORS = 8


def attach_to_landmarks(
    X: Tensor,
    n_landmarks: int,
    *,
    n_nearest: int = 5,
    density: str | Callable[[NDArray[np.float64]], ArrayLike] = "constant",
    scale: str | None = None,
    seed: int = 0,
) -> tuple[DeviceAttachment, sparse.csr_array]:
    """Landmarks of the rows and the graph between them, as :func:`evencut.landmarks.landmark_graph` on the CPU.

    Examples
    --------
    >>> import torch
    >>> X = torch.randn(500, 2, generator=torch.Generator().manual_seed(0))
    >>> attach_to_landmarks(X, 50)[1].shape
    (50, 50)
    """
    drawn = RowSample.of(pilot_rows(n_landmarks, X.shape[1]), len(X), seed).places(len(X), 0)
    pilot = X[to_tensor(drawn, X)]
    ones = torch.ones(len(pilot), dtype=torch.float64, device=X.device)
    divisor = to_tensor(scale_of_deviations(lambda: deviations(pilot, ones), scale, X.shape[1]), X)
    pilot = scaled(pilot, divisor)
    weights = ones
    if not (isinstance(density, str) and density == "identity"):
        sigma = bandwidths(pilot, _DENSITY_NEIGHBORS, density)
        weights = (sigma / sigma.max()) ** min(2, X.shape[1])
    waiting = np.random.default_rng(seed).standard_exponential(len(pilot))
    landmarks = choose_landmarks(pilot, n_landmarks, weights, to_tensor(waiting, X))
    radius = knn_radius(landmarks, _DENSITY_NEIGHBORS)
    n_nearest = landmarks_a_row(len(landmarks), n_landmarks, len(X), n_nearest)
    attachment = DeviceAttachment(landmarks, radius, n_nearest, divisor)
    keys, sums = (to_array(part) for part in attachment.graph(X))
    shape = (len(landmarks), len(landmarks))
    return attachment, whole_graph(sparse.csr_array((sums, np.divmod(keys, len(landmarks))), shape=shape))


def labelled(
    attachment: DeviceAttachment, used: NDArray[np.intp], weights: NDArray[np.float64], labels: NDArray[np.int64]
) -> DeviceAttachment:
    """The attachment once the landmarks in use have clusters; the others go with the nearest of those."""
    landmarks = attachment.landmarks
    in_use, known = to_tensor(used, landmarks), to_tensor(labels, landmarks)
    everyone = known[nearest(landmarks[in_use], 1, landmarks)[1][:, 0]]
    everyone[in_use] = known
    return replace(attachment, labels=everyone, weights=to_tensor(weights, landmarks))


def bandwidths(X: Tensor, n_neighbors: int, transform: Any, alpha: float = 1.0) -> Tensor:
    """Bandwidths of the density law, as :meth:`evencut.kernels.AdaptiveGaussian.bandwidths`.

    Examples
    --------
    >>> import torch
    >>> bandwidths(torch.tensor([[0.0], [1.0], [3.0]]), 1, "constant")
    tensor([1., 1., 2.], dtype=torch.float64)
    """
    radius = knn_radius(X, n_neighbors)
    if isinstance(transform, str) and transform == "constant":
        return radius
    density = to_array(knn_density(X, n_neighbors))
    law = to_tensor(density_law(density, transform, X.shape[1], alpha=alpha), X)
    return law * torch.exp(radius.log().mean() - law.log().mean())
