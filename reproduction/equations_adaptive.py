"""Equations 41 to 61: adaptive weights, adaptive kernels as embeddings, and the density laws of both."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import gamma
from sklearn.cluster import KMeans

from evencut.affinity import density_law, knn_density, knn_radius, parzen_density
from evencut.criteria import average_association, energy
from evencut.datasets import make_growing_density
from evencut.kernels import AdaptiveGaussian, Gaussian, Geodesic
from evencut.neighbors import squared_distances
from evencut.tensors import Floats
from evencut.theory import embedded_profile, euclidean_embedding, kernel_pca, transformed_density

from .embeddings import ellipse, exact_distances, mahalanobis, map_of, points_of_square, tensor_at
from .equation_table import LABELS, POINTS, WEIGHTS, Checked, differ, matrix_of, points


def _embedding() -> tuple[Floats, Floats, float]:
    """Geodesic distances that are not Euclidean, the points they are embedded as, and the square of h."""
    X = np.random.default_rng(1).uniform(size=(80, 2))
    distances = Geodesic(6, metric="euclidean").distances(X)
    embedded, shift = euclidean_embedding(distances**2)
    return distances, embedded, shift


def eq_41() -> Checked:
    """Weights count the errors of kernel k-means."""
    kernel = matrix_of(Gaussian(0.8), POINTS)
    phi = kernel_pca(average_association(kernel), len(POINTS))
    means = np.array([np.average(phi[LABELS == k], axis=0, weights=WEIGHTS[LABELS == k]) for k in range(3)])
    total = np.sum(WEIGHTS[:, None] * (phi - means[LABELS]) ** 2)
    return differ(total, WEIGHTS @ np.diagonal(kernel) + energy(kernel, LABELS, "average_association", WEIGHTS))


def eq_42() -> Checked:
    """Weighted average association is that of replicated points."""
    many = matrix_of(Gaussian(0.8), np.repeat(POINTS, WEIGHTS, axis=0))
    repeated = energy(many, np.repeat(LABELS, WEIGHTS), "average_association")
    return differ(energy(matrix_of(Gaussian(0.8), POINTS), LABELS, "average_association", WEIGHTS), repeated)


def eq_43() -> Checked:
    """Weights multiply the density."""
    X, rho = make_growing_density(2000, ratio=20, random_state=0)
    copies = np.round(20 * density_law(rho, "constant", dimension=1)).astype(int)
    inner = (X[:, 0] > 0.15) & (X[:, 0] < 0.85)
    ratio = parzen_density(np.repeat(X, copies, axis=0), 0.03, at=X[inner]) / (copies * parzen_density(X, 0.03))[inner]
    return Checked(float(ratio.std() / ratio.mean()), 0.1, "variation of new over weighted old density")


def eq_44() -> Checked:
    """A large bandwidth makes k-means of kernel k-means."""
    X, _, _ = points(200)
    labels = KMeans(3, n_init=1, random_state=0).fit_predict(X)
    sigma, squared = 200.0, squared_distances(X)
    errors = sum(((X[labels == k] - X[labels == k].mean(axis=0)) ** 2).sum() for k in range(3))
    pairs = sum(squared[np.ix_(labels == k, labels == k)].sum() / (2 * np.sum(labels == k)) for k in range(3))
    taylor = sigma**2 * (energy(matrix_of(Gaussian(sigma), X), labels, "average_association") + len(X))
    return differ([pairs, taylor], [errors, errors], 1e-3)


def eq_45() -> Checked:
    """A radial function sees distances alone."""
    turn = np.array([[np.cos(0.7), -np.sin(0.7)], [np.sin(0.7), np.cos(0.7)]])
    return differ(matrix_of(Gaussian(0.8), POINTS @ turn), matrix_of(Gaussian(0.8), POINTS))


def eq_46() -> Checked:
    """A geodesic kernel is a radial function of geodesic distances."""
    kernel = Geodesic(8, bandwidth=1.5)
    return differ(matrix_of(kernel, POINTS), np.exp(-kernel.distances(POINTS) ** 2 / (2 * 1.5**2)))


def eq_47() -> Checked:
    """Nearby, the geodesic distance is about the Mahalanobis one."""
    X = points_of_square(600)
    exact, near = exact_distances(X), mahalanobis(X, tensor_at(X))
    pairs = (exact > 0) & (exact < 0.1)
    error = float(np.median(np.abs(near[pairs] / exact[pairs] - 1)))
    return Checked(error, 0.05, "median relative error up to distance 0.1:")


def eq_48() -> Checked:
    """The adaptive Gaussian kernel."""
    matrices = np.linalg.inv(tensor_at(POINTS**2 / (1 + POINTS**2)))
    one_way = np.exp(-0.5 * mahalanobis(POINTS, np.linalg.inv(matrices)) ** 2)
    return differ(matrix_of(AdaptiveGaussian(covariances=matrices), POINTS), 0.5 * (one_way + one_way.T))


def eq_49() -> Checked:
    """It is about the geodesic kernel where the tensor changes slowly."""
    X = points_of_square(1500)
    # The narrower the kernel, the less the tensor changes within its reach.
    exact, near = (d / 0.03 for d in (exact_distances(X), mahalanobis(X, tensor_at(X))))
    error = float(np.abs(np.exp(-(near**2) / 2) - np.exp(-(exact**2) / 2)).max())
    return Checked(error, 0.1, "largest difference of the kernels, of bandwidth 0.03,")


def eq_50() -> Checked:
    """One constant makes any distances Euclidean."""
    distances, embedded, shift = _embedding()
    return differ(squared_distances(embedded), distances**2 + shift * (1 - np.eye(len(distances))))


def eq_51() -> Checked:
    """The embedded kernel equals the geodesic one."""
    distances, embedded, shift = _embedding()

    def psi(t: NDArray) -> NDArray:
        return np.exp(-(t**2) / 0.1)

    return differ(embedded_profile(psi, shift)(np.sqrt(squared_distances(embedded))), psi(distances), 1e-6)


def eq_52() -> Checked:
    """A small ball of the tensor is an ellipsoid."""
    # Points of the ellipsoid are mapped to about one distance of the mapped centre.
    centre, epsilon = np.array([0.5, 0.5]), 0.01
    radius = np.linalg.norm(map_of(ellipse(centre, epsilon)) - map_of(centre[None]), axis=1)
    return differ(radius, np.full(len(radius), epsilon), 0.05, "largest relative difference of radii")


def eq_53() -> Checked:
    """It covers the points near by geodesic distance."""
    X = points_of_square(1500)
    epsilon = 0.1
    by_ellipsoid, by_distance = mahalanobis(X, tensor_at(X)) <= epsilon, exact_distances(X) <= epsilon
    error = np.sum(by_ellipsoid != by_distance) / np.sum(by_distance)
    return Checked(float(error), 0.1, "share of points in one set but not the other")


def eq_54() -> Checked:
    """In the embedding these are balls of radius sqrt(epsilon^2 + h^2)."""
    distances, embedded, shift = _embedding()
    off = ~np.eye(len(embedded), dtype=bool)
    radius = np.sqrt(squared_distances(embedded)[off])
    return differ(radius, np.sqrt(distances[off] ** 2 + shift))


def eq_55() -> Checked:
    """Which cover the same points."""
    distances, embedded, shift = _embedding()
    # Between two neighbouring values no rounding decides.
    epsilon = float(np.mean(np.unique(distances.round(12))[300:302]))
    apart = (distances <= epsilon) != (squared_distances(embedded) <= epsilon**2 + shift)
    return Checked(float(apart.sum()), 0.0, "pairs that are near in one space only:")


def eq_56() -> Checked:
    """So density times volume is the same number of points."""
    # The numbers in balls of the embedding, against the true density in the data and the area of the ellipses there.
    X, epsilon = points_of_square(3000), 0.12
    inner = ((X > 0.2) & (X < 0.8)).all(axis=1)
    number = (exact_distances(X)[inner] <= epsilon).sum(axis=1) - 1
    rho = np.prod(1.25 * X[inner] ** 0.25, axis=1)
    wanted = len(X) * transformed_density(rho, tensor_at(X[inner])) * np.pi * epsilon**2
    return Checked(float(abs(np.mean(number / wanted) - 1)), 0.05, "difference of the mean ratio from 1,")


def eq_57() -> Checked:
    """Density law: the new density is the old one over sqrt(det g)."""
    X = points_of_square(1500)
    predicted = transformed_density(knn_density(X, 30), tensor_at(X))
    measured = knn_density(map_of(X), 30)
    return Checked(
        float(1 - np.corrcoef(np.log(predicted), np.log(measured))[0, 1]), 0.1, "1 - correlation of log densities"
    )


def eq_58() -> Checked:
    """For isotropic tensors: times the N-th power of the bandwidth."""
    rho, sigma = np.random.default_rng(0).uniform(0.5, 2, size=(2, 50))
    metric = sigma[:, None, None] ** -2 * np.eye(3)
    return differ(transformed_density(rho, metric), rho * sigma**3)


def eq_59() -> Checked:
    """The bandwidth for any wanted density."""
    rho = np.random.default_rng(0).uniform(0.5, 2, size=50)
    sigma = density_law(rho, "log", dimension=3)
    ratio = rho * sigma**3 / np.log1p(rho)
    return differ(ratio, np.full(50, ratio.mean()))


def eq_60() -> Checked:
    """The nearest-neighbour estimate of a density."""
    volume = np.pi / gamma(2) * knn_radius(POINTS, 5) ** 2
    return differ(knn_density(POINTS, 5), 5 / (len(POINTS) * volume))


def eq_61() -> Checked:
    """With it, the law for a constant density is the K-th neighbour's distance."""
    by_law = density_law(knn_density(POINTS, 7), "constant", dimension=2)
    bandwidths = AdaptiveGaussian(7).bandwidths(POINTS)
    return differ(by_law / by_law.mean(), bandwidths / bandwidths.mean())
