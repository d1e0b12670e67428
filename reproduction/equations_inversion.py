"""Equations 62 to 68: normalised cut as an inversion of density, degrees as densities, and one criterion for all."""

from __future__ import annotations

import numpy as np

from evencut.affinity import degrees, equalize
from evencut.criteria import energy
from evencut.datasets import make_growing_density
from evencut.kernels import Gaussian
from evencut.neighbors import squared_distances
from evencut.theory import density_inversion, euclidean_embedding, modified_distances, normalized_affinity

from .equation_table import Checked, differ, matrix_of, points

_SIGMA = 0.5


def eq_62() -> Checked:
    """Normalised affinities are a Gaussian of modified distances."""
    X, _, _ = points(80)
    modified = modified_distances(squared_distances(X), _SIGMA)
    return differ(normalized_affinity(matrix_of(Gaussian(_SIGMA), X)), np.exp(-modified / (2 * _SIGMA**2)))


def eq_63() -> Checked:
    """The modified distances."""
    squared = squared_distances(points(80)[0])
    degree = np.exp(-squared / (2 * _SIGMA**2)).sum(axis=1)
    return differ(modified_distances(squared, _SIGMA), squared + 2 * _SIGMA**2 * np.log(np.outer(degree, degree)))


def eq_64() -> Checked:
    """They too are Euclidean up to a constant."""
    hat = modified_distances(squared_distances(points(80)[0]), _SIGMA)
    np.fill_diagonal(hat, 0)
    embedded, shift = euclidean_embedding(hat)
    return differ(squared_distances(embedded), hat + shift * (1 - np.eye(len(hat))))


def _transformed(weighted: bool) -> Checked:
    """The formula of the paper's figure, for a dimension of 20 and epsilon^2 + h^2 = 1 = 4 sigma^2."""
    x = np.geomspace(1, 1e5, 50)
    wanted = x ** (2 if weighted else 1) / (1 + np.log(x)) ** 10
    return differ(density_inversion(x, embedding_dimension=20, weighted=weighted), wanted)


def eq_65() -> Checked:
    """The density after kernel normalisation."""
    return _transformed(weighted=False)


def eq_66() -> Checked:
    """With the weights of normalised cut."""
    return _transformed(weighted=True)


def eq_67() -> Checked:
    """Degrees of a Gaussian kernel are proportional to the density."""
    # Against the density that the points were drawn from, away from its ends.
    X, rho = make_growing_density(2000, ratio=20, random_state=0)
    inner = (X[:, 0] > 0.1) & (X[:, 0] < 0.9)
    ratio = (degrees(matrix_of(Gaussian(0.03), X)) / rho)[inner]
    return Checked(float(ratio.std() / ratio.mean()), 0.15, "variation of degrees over true densities,")


def eq_68() -> Checked:
    """On equal degrees NC, AA and AC are one criterion."""
    X, _, _ = points(80)
    even = equalize(matrix_of(Gaussian(_SIGMA), X), tol=1e-12)
    labels = (X[:, 0] > 0.3).astype(int)
    names = ("normalized_cut", "average_association", "average_cut")
    normalized, association, cut = (energy(even, labels, name) for name in names)
    return differ([normalized, normalized], [association, cut - 2])
