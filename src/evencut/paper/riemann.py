"""Figure 6: unit balls of a metric tensor become balls, and how well geodesic distances are approximated.

The tensor is that of a known map of the plane, so the exact geodesic distances are known too.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from ..affinity import knn_density
from ..kernels import Geodesic
from ..plotting import PALETTE, make_figure
from ..theory import embedded_profile, euclidean_embedding, transformed_density
from .draw import BLUE, GREY, ORANGE, heading
from .frame import Claim, Figure

__all__ = ["exact_distances", "mahalanobis", "make", "map_of", "points_of_square", "tensor_at"]

_BALL = 0.09
_CENTRES = np.array([[0.15, 0.2], [0.5, 0.5], [0.85, 0.25], [0.2, 0.85], [0.8, 0.8]])


def make(data: Path | None = None, small: bool = False) -> Figure:
    """Make the figure; no data needed."""
    X = points_of_square(500 if small else 1500)
    tensor, image = tensor_at(X), map_of(X)
    exact = exact_distances(X)
    paths = Geodesic(n_neighbors=24, metric=tensor).distances(X)
    straight = mahalanobis(X, tensor)
    edges = np.linspace(0, np.quantile(exact, 0.99), 13)
    errors = {name: _errors(exact, found, edges) for name, found in (("Mahalanobis", straight), ("Dijkstra", paths))}
    theorem, shift = _theorem_error(paths[:200, :200])
    marched = _fast_marching_error(X[:: len(X) // 200])
    law = np.corrcoef(np.log(transformed_density(knn_density(X, 30), tensor)), np.log(knn_density(image, 30)))[0, 1]
    roundness = [_roundness(centre) for centre in _CENTRES]

    picture, axes = make_figure(1, 3, size=(12, 4))
    _draw_balls(axes[0], X, axes[1], image)
    _draw_errors(axes[2], edges, errors)
    middle = 0.5 * (edges[1:] + edges[:-1])
    near, far = errors["Mahalanobis"][0], errors["Mahalanobis"][-1]
    return Figure(
        "riemann",
        "Figure 6: a metric tensor as an embedding",
        f"Balls of radius {_BALL} under a metric tensor (a) are round after the embedding (b). (c) Median relative "
        "error of two approximations of the geodesic distance, by distance.",
        picture,
        [
            Claim.judge(
                "The embedding maps the ellipsoids of the tensor to balls.",
                f"largest over smallest radius of the mapped ellipses: {min(roundness):.2f} to {max(roundness):.2f} "
                "(they are small, not infinitely small)",
                max(roundness) < 1.35,
            ),
            Claim.judge(
                "The Mahalanobis distance approximates the geodesic one only nearby.",
                f"median error {near:.1%} at distance {middle[0]:.2f}, {far:.0%} at {middle[-1]:.2f}",
                near < 0.05 and far > 3 * near,
                at="eq. 47",
            ),
            Claim.judge(
                "Shortest paths (Dijkstra) approximate it further away.",
                f"median error {errors['Dijkstra'][-1]:.1%} at distance {middle[-1]:.2f}",
                errors["Dijkstra"][-1] < 0.5 * far,
                at="Section 4.2",
            ),
            Claim.judge(
                "Fast marching over a grid approximates it too.",
                f"median error {marched['fast_marching']:.2%} under an isotropic tensor, of Dijkstra "
                f"{marched['graph']:.1%}, 200 points"
                if marched
                else "not measured",
                marched["fast_marching"] < 0.02 if marched else None,
                "scikit-fmm is not installed",
                at="Section 4.2",
            ),
            Claim.judge(
                "An adaptive Gaussian kernel approximates the geodesic one.",
                f"median difference of the kernels {_kernel_difference(X, tensor):.3f} within three bandwidths of 0.05",
                _kernel_difference(X, tensor) < 0.05,
                at="Example 1",
            ),
            Claim.judge(
                "Theorem 3: the geodesic kernel is a fixed radial kernel of Euclidean points.",
                f"largest difference of the two kernels {theorem:.1e} (200 points, h² = {shift:.3f})",
                theorem < 1e-6,
                at="Theorem 3",
            ),
            Claim.judge(
                "Density law: the new density is the old one times |det g|^(-1/2).",
                f"correlation {law:.3f} of log densities, estimated in both spaces from 30 neighbours",
                law > 0.9,
                at="eq. 57",
            ),
        ],
        {"distance": middle, "median_error": errors, "theorem_3_error": theorem, "density_law_correlation": law},
    )


def _kernel_difference(X: NDArray, tensor: NDArray, bandwidth: float = 0.05) -> float:
    exact, near = exact_distances(X) / bandwidth, mahalanobis(X, tensor) / bandwidth
    pairs = (exact > 0) & (exact < 3)
    return float(np.median(np.abs(np.exp(-(exact[pairs] ** 2) / 2) - np.exp(-(near[pairs] ** 2) / 2))))


def _fast_marching_error(X: NDArray) -> dict[str, float]:
    """Median relative errors of both kinds of paths under the tensor of z + 0.3 z²; none without scikit-fmm."""
    if find_spec("skfmm") is None:
        return {}
    image = _conformal(X)
    exact = cdist(image, image)
    found = {}
    for paths in ("graph", "fast_marching"):
        lengths = Geodesic(24, metric=_conformal_tensor, paths=paths).distances(X)
        found[paths] = float(np.median(np.abs(lengths[exact > 0] / exact[exact > 0] - 1)))
    return found


def _conformal(X: NDArray) -> NDArray[np.float64]:
    """A map that keeps angles, so that its tensor is a multiple of the identity."""
    z = X[:, 0] + 1j * X[:, 1]
    mapped = z + 0.3 * z**2
    return np.column_stack([mapped.real, mapped.imag])


def _conformal_tensor(X: NDArray) -> NDArray[np.float64]:
    return np.asarray(np.abs(1 + 0.6 * (X[:, 0] + 1j * X[:, 1])) ** 2)


def points_of_square(n_samples: int) -> NDArray[np.float64]:
    """Points of the unit square, not uniform: denser to the upper right."""
    return np.random.default_rng(0).uniform(size=(n_samples, 2)) ** 0.8


def map_of(X: NDArray) -> NDArray[np.float64]:
    """A smooth map of the unit square onto a convex region, so that straight lines there are geodesics here."""
    x, y = X.T
    return np.column_stack([x + 0.6 * x**2, y * (0.45 + 0.55 * y) + 0.5 * x])


def exact_distances(X: NDArray) -> NDArray[np.float64]:
    """Geodesic distances under the metric that the map pulls back: straight lines of its image."""
    return cdist(map_of(X), map_of(X))


def tensor_at(X: NDArray) -> NDArray[np.float64]:
    """The metric the map pulls back: J'J with J its matrix of derivatives."""
    x, y = X.T
    jacobian = np.zeros((len(X), 2, 2))
    jacobian[:, 0, 0] = 1 + 1.2 * x
    jacobian[:, 1, 0] = 0.5
    jacobian[:, 1, 1] = 0.45 + 1.1 * y
    return np.transpose(jacobian, (0, 2, 1)) @ jacobian


def mahalanobis(X: NDArray, tensor: NDArray) -> NDArray[np.float64]:
    """Distances between all points by the tensor at the first of each pair."""
    offsets = X[None] - X[:, None]
    return np.sqrt(np.einsum("pqi,pij,pqj->pq", offsets, tensor, offsets))


def _errors(exact: NDArray, found: NDArray, edges: NDArray) -> NDArray[np.float64]:
    """Median relative error in each range of distances."""
    off = ~np.eye(len(exact), dtype=bool)
    error = np.abs(found[off] / exact[off] - 1)
    place = np.digitize(exact[off], edges) - 1
    return np.array([np.median(error[place == i]) for i in range(len(edges) - 1)])


def _theorem_error(distances: NDArray) -> tuple[float, float]:
    """Largest difference between the geodesic kernel and the fixed kernel of the embedded points, and h²."""

    def psi(t: NDArray) -> NDArray:
        return np.exp(-(t**2) / (2 * 0.3**2))

    embedded, shift = euclidean_embedding(distances**2)
    kernel = embedded_profile(psi, shift)(cdist(embedded, embedded))
    return float(np.abs(kernel - psi(distances)).max()), shift


def _ellipse(centre: NDArray) -> NDArray[np.float64]:
    """The points at distance _BALL of the centre under the tensor there."""
    angle = np.linspace(0, 2 * np.pi, 100)
    circle = _BALL * np.column_stack([np.cos(angle), np.sin(angle)])
    root = np.linalg.cholesky(tensor_at(centre[None])[0])
    return centre + np.linalg.solve(root.T, circle.T).T


def _roundness(centre: NDArray) -> float:
    radius = np.linalg.norm(map_of(_ellipse(centre)) - map_of(centre[None]), axis=1)
    return float(radius.max() / radius.min())


def _draw_balls(left: Any, X: NDArray, right: Any, image: NDArray) -> None:
    for ax, points in ((left, X), (right, image)):
        ax.scatter(*points.T, s=2, color=GREY, alpha=0.5, linewidths=0)
        ax.set(aspect="equal", xticks=[], yticks=[])
    for centre, color in zip(_CENTRES, PALETTE):
        for ax, ball in ((left, _ellipse(centre)), (right, map_of(_ellipse(centre)))):
            ax.fill(*ball.T, color=color, alpha=0.35, lw=0)
            ax.plot(*ball.T, color=color, lw=1.5)
    heading(left, "(a) balls of the metric tensor")
    heading(right, "(b) the same, embedded")


def _draw_errors(ax: Any, edges: NDArray, errors: dict[str, NDArray]) -> None:
    middle = 0.5 * (edges[1:] + edges[:-1])
    for (name, error), color, style in zip(errors.items(), (BLUE, ORANGE), ("o-", "s--")):
        ax.plot(middle, 100 * error, style, ms=4, color=color, label=name)
    ax.set(xlabel="geodesic distance", ylabel="median relative error, %", ylim=(0, None))
    ax.legend(fontsize=9)
    heading(ax, "(c) approximations of the distance")
