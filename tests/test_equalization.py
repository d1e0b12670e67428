"""The density law evens densities out, and exact equalisation gives equal degrees or says why it cannot."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from evencut.affinity import density_law, equalize, equalizing_scale
from evencut.kernels import KNN, Gaussian, LocalScaling


def test_density_law_formulas():
    rho = np.array([0.5, 1.0, 4.0])
    np.testing.assert_allclose(density_law(rho, "constant", 3), rho ** (-1 / 3))
    np.testing.assert_allclose(density_law(rho, "identity", 3), 1)
    np.testing.assert_allclose(density_law(rho, "log", 1, alpha=2), np.log1p(2 * rho) / (2 * rho))
    np.testing.assert_allclose(density_law(rho, np.sqrt, 1), rho**-0.5)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (dict(density=[1.0, 0.0]), "positive and finite"),
        (dict(density=[1.0], transform="exp"), "'exp' is not known"),
        (dict(density=[1.0], transform="log", alpha=0), "alpha=0"),
        (dict(density=[1.0], dimension=0), "dimension=0"),
        (dict(density=[1.0], transform=lambda r: -r), "positive, finite"),
    ],
)
def test_density_law_names_what_is_wrong(arguments, message):
    with pytest.raises(ValueError, match=message):
        density_law(**arguments)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32 - 1), st.booleans())
def test_degrees_are_equal(seed, as_sparse):
    rng = np.random.default_rng(seed)
    A = rng.random((40, 40)) ** 4 * (rng.random((40, 40)) < 0.3)
    A = A + A.T + np.diag(rng.random(40) + 1e-3)
    even = equalize(sparse.csr_array(A) if as_sparse else A)
    np.testing.assert_allclose(even.sum(axis=1), 1, rtol=1e-8)
    assert abs(even - even.T).max() <= 1e-12


@pytest.mark.parametrize("kernel", [KNN(10), Gaussian(0.3), LocalScaling(7)])
def test_kernels_of_uneven_data(kernel):
    rng = np.random.default_rng(0)
    X = np.r_[rng.normal(size=(150, 2)), 0.01 * rng.normal(size=(150, 2)) + 3]
    np.testing.assert_allclose(equalize(kernel.affinity(X)).sum(axis=1), 1, rtol=1e-8)


def test_weights_become_the_degrees():
    rng = np.random.default_rng(1)
    A = rng.random((20, 20))
    A, w = A + A.T, rng.random(20) + 0.5
    np.testing.assert_allclose(equalize(A, weights=w).sum(axis=1), w, rtol=1e-8)


def test_nearly_bipartite_graphs_converge():
    # A path with a hair of diagonal: the sweeps alone would need millions of steps.
    path = sparse.diags_array([np.ones(99), np.full(100, 1e-6), np.ones(99)], offsets=[-1, 0, 1])
    np.testing.assert_allclose(equalize(sparse.csr_array(path)).sum(axis=1), 1, rtol=1e-8)


def test_a_near_guess_changes_only_the_road():
    rng = np.random.default_rng(2)
    A = rng.random((30, 30))
    A = A + A.T
    s = equalizing_scale(A)
    np.testing.assert_allclose(equalizing_scale(A, start=1.01 * s), s, rtol=1e-8)


STAR = np.zeros((4, 4))
STAR[0, 1:] = STAR[1:, 0] = 1
# A path of four points: its middle link lies on no full matching, so it has support but not total support.
PENDANT = np.zeros((4, 4))
for p, q in [(0, 1), (1, 2), (2, 3)]:
    PENDANT[p, q] = PENDANT[q, p] = 1


@pytest.mark.parametrize("form", [np.array, sparse.csr_array])
@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (STAR, "no support.*keep the diagonal"),
        (PENDANT, "total support.*keep the diagonal"),
        (np.diag([1.0, 0.0]), "point 1 has no affinity.*keep the diagonal"),
        (np.array([[1.0, -1.0], [-1.0, 1.0]]), "non-negative.*-1"),
    ],
)
def test_impossible_scalings_are_refused(matrix, message, form):
    with pytest.raises(ValueError, match=message):
        equalize(form(matrix))


def test_zero_diagonal_with_total_support_is_accepted():
    cycle = np.roll(np.eye(5), 1, axis=0)
    np.testing.assert_allclose(equalize(3 * (cycle + cycle.T)).sum(axis=1), 1, rtol=1e-8)
