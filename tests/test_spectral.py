"""Both ways to the spectrum of a large graph agree: plain Lanczos on wide graphs, shift-invert on long ones."""

import numpy as np
import pytest

from evencut.kernels import SharedNeighbors
from evencut.solvers import spectral


@pytest.mark.parametrize("dimension", [2, 12])
def test_wide_and_long_graphs_have_accurate_spectra(dimension, monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3200, dimension))
    X[:1600, 0] += 8
    affinity = SharedNeighbors(15).affinity(X)
    asked = []
    inverted = spectral._shift_invert
    monkeypatch.setattr(spectral, "_shift_invert", lambda *args: asked.append(1) or inverted(*args))
    values, vectors = spectral.spectral_embedding(affinity, 5, np.random.default_rng(0))
    assert bool(asked) == (dimension == 2)
    d = affinity.sum(axis=1)
    scaled = vectors * np.sqrt(1 / d)[:, None]
    residual = (affinity @ scaled) / np.sqrt(d)[:, None] - vectors * values
    assert np.abs(residual).max() < 1e-6
    monkeypatch.setattr(spectral, "_FEW_HOPS", 0)
    again, _ = spectral.spectral_embedding(affinity, 5, np.random.default_rng(0))
    np.testing.assert_allclose(values, again, atol=1e-7)


def test_where_lapack_fails_the_full_solver_takes_over(monkeypatch):
    matrix = np.diag([3.0, 1.0, 2.0])

    def fails(*args, **options):
        raise np.linalg.LinAlgError("Internal Error.")

    monkeypatch.setattr("scipy.linalg.eigh", fails)
    values, vectors = spectral.leading_of_dense(matrix, 2)
    np.testing.assert_allclose(values, [2, 3])
    np.testing.assert_allclose(matrix @ vectors, vectors * values)
