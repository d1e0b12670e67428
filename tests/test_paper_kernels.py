"""Kernels that only the paper's figures need: given matrices, one volume, fast marching."""

import sys

import numpy as np
import pytest

from evencut.kernels import AdaptiveGaussian, Gaussian
from reproduction.fast_marching import GridGeodesic
from reproduction.variable_kernels import VariableGaussian, variable_density

X = np.random.default_rng(0).normal(size=(120, 2))


def test_fast_marching_needs_a_metric_between_points():
    with pytest.raises(ValueError, match="needs the metric between points"):
        GridGeodesic(8, metric=np.ones(len(X))).distances(X)


@pytest.mark.parametrize(("covariances", "message"), [
    (np.ones((3, 2, 2)), r"shape \(3, 2, 2\); 120 points"),
    (np.zeros((120, 2, 2)), "positive definite"),
])  # fmt: skip
def test_wrong_matrices_are_named(covariances, message):
    with pytest.raises(ValueError, match=message):
        VariableGaussian(covariances=covariances).affinity(X)


def test_adaptive_gaussian_of_one_matrix_is_the_gaussian():
    sigma = np.array([[1.0, 0.3], [0.3, 0.5]])
    adaptive = VariableGaussian(covariances=np.tile(sigma, (len(X), 1, 1)))
    np.testing.assert_allclose(adaptive.affinity(X), Gaussian(sigma).affinity(X), atol=1e-9)
    np.testing.assert_allclose(adaptive.extend(X)(X[:5]), Gaussian(sigma).affinity(X)[:5], atol=1e-9)


def test_normalised_kernels_have_one_volume():
    kernel = VariableGaussian(5, normalize=True)
    sigma = kernel.bandwidths(X)
    rows = kernel.extend(X)(np.concatenate([X, X + 0.3]))
    # Row q, column p: the kernel of point p. Times its volume it is the kernel that is not normalised.
    plain = AdaptiveGaussian(5).extend(X)(np.concatenate([X, X + 0.3]))
    volume = sigma**2 / np.exp(np.mean(np.log(sigma**2)))
    np.testing.assert_allclose(rows * volume, plain, rtol=1e-9)
    covariances = sigma[:, None, None] ** 2 * np.eye(2)
    given = VariableGaussian(covariances=covariances, normalize=True)
    np.testing.assert_allclose(given.affinity(X), kernel.affinity(X), rtol=1e-9)


def test_variable_density_integrates_to_one_and_follows_normalised_kernels():
    points = np.random.default_rng(0).normal(size=(50, 1))
    grid = np.linspace(-12, 12, 6001)
    assert variable_density(points, 5, at=grid[:, None]).sum() * (grid[1] - grid[0]) == pytest.approx(1, abs=1e-3)


def test_fast_marching_follows_a_conformal_metric():
    pytest.importorskip("skfmm", reason="scikit-fmm is not installed")
    square = np.random.default_rng(0).uniform(size=(40, 2))
    z = square @ [1, 1j]
    # The map z + 0.3 z^2 pulls the Euclidean metric back to |1 + 0.6 z|^2.
    exact = np.abs((z + 0.3 * z**2)[:, None] - (z + 0.3 * z**2))
    metric = lambda places: np.abs(1 + 0.6 * (places @ [1, 1j])) ** 2  # noqa: E731
    kernel = GridGeodesic(metric=metric, n_cells=80)
    found = kernel.distances(square)
    assert (found == found.T).all()
    assert np.median(np.abs(found / np.where(exact > 0, exact, 1) - 1)[exact > 0]) < 0.01
    np.testing.assert_allclose(kernel.extend(square)(square[:3]), kernel.affinity(square)[:3], atol=0.02)


def test_fast_marching_names_what_it_needs(monkeypatch):
    monkeypatch.setitem(sys.modules, "skfmm", None)
    with pytest.raises(ModuleNotFoundError, match="scikit-fmm"):
        GridGeodesic().affinity(X)
    with pytest.raises(ValueError, match="at most 3"):
        GridGeodesic().affinity(np.ones((5, 4)) * np.arange(5)[:, None])
