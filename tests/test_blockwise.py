"""Affinities computed row by row: the same numbers as the stored ones, whatever the threads, and bounded memory."""

import pickle

import numpy as np
import pytest

from evencut import KernelClustering
from evencut._runtime import fits_in_memory, free_memory
from evencut.affinity import BlockwiseAffinity, degrees, equalizing_scale, scale_affinity
from evencut.criteria import average_association, average_cut, normalized_cut
from evencut.kernels import AdaptiveGaussian, Gaussian, LocalScaling

KERNELS = [Gaussian(0.5), AdaptiveGaussian(5), LocalScaling(5)]
X = np.concatenate([np.random.default_rng(s).normal(3 * s, 0.7, size=(80, 2)) for s in range(3)])
TRUTH = np.repeat(np.arange(3), 80)


def both(kernel, dtype=np.float64, n_jobs=None):
    stored = kernel.affinity(X.astype(dtype))
    rows = type(kernel)(**{**kernel.get_params(), "memory": 0}).affinity(X.astype(dtype), n_jobs=n_jobs)
    assert isinstance(stored, np.ndarray)
    assert isinstance(rows, BlockwiseAffinity)
    return stored, rows


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr("evencut.affinity.lazy._BLOCK_BYTES", 30_000)


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: type(kernel).__name__)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_on_the_fly_are_the_stored_ones(kernel, dtype):
    stored, rows = both(kernel, dtype)
    tolerance = {"rtol": 1e-4, "atol": 1e-5} if dtype == np.float32 else {"rtol": 1e-9, "atol": 1e-12}
    assert rows.dtype == dtype
    np.testing.assert_allclose(rows @ np.eye(len(X), dtype=dtype), stored, **tolerance)
    np.testing.assert_allclose(degrees(rows), degrees(stored), **tolerance)
    np.testing.assert_allclose(rows.diagonal(), stored.diagonal(), **tolerance)
    np.testing.assert_allclose(rows.part([3, 5], slice(2, 9)), stored[[3, 5], 2:9], **tolerance)


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: type(kernel).__name__)
def test_scaling_equalisation_and_energies_agree(kernel):
    stored, rows = both(kernel)
    scale = np.random.default_rng(0).uniform(0.5, 2, len(X))
    twice = scale_affinity(scale_affinity(rows, scale), scale)
    np.testing.assert_allclose(twice @ np.ones(len(X)), degrees(scale_affinity(stored, scale**2)))
    np.testing.assert_allclose(twice.part(slice(4), slice(4)), scale_affinity(stored, scale**2)[:4, :4])
    np.testing.assert_allclose(equalizing_scale(rows), equalizing_scale(stored), rtol=1e-8)
    for criterion in (average_association, normalized_cut, average_cut):
        assert criterion(rows, scale).energy(TRUTH) == pytest.approx(criterion(stored, scale).energy(TRUTH))


def test_single_precision_is_equalised_as_far_as_it_carries():
    rows = both(Gaussian(0.5), np.float32)[1]
    scale = equalizing_scale(rows)
    np.testing.assert_allclose(scale * (rows @ scale), 1, atol=2e-5)


def test_threads_do_not_change_a_bit():
    vectors = np.random.default_rng(0).normal(size=(len(X), 3))
    one, two = (both(Gaussian(0.5), n_jobs=n)[1] @ vectors for n in (1, 2))
    assert np.array_equal(one, two)


@pytest.mark.parametrize("criterion", ["average_association", "normalized_cut", "average_cut"])
@pytest.mark.parametrize("equalize", [None, "weights", "exact"])
def test_fits_agree_with_those_in_memory(criterion, equalize):
    options = {"criterion": criterion, "equalize": equalize, "random_state": 0}
    stored = KernelClustering(3, kernel=Gaussian(0.7), **options).fit(X)
    rows = KernelClustering(3, kernel=Gaussian(0.7, memory=0), **options).fit(X)
    assert isinstance(rows.affinity_, BlockwiseAffinity)
    assert rows.energy_ == pytest.approx(stored.energy_, rel=1e-6)
    assert np.array_equal(rows.labels_, stored.labels_)
    assert np.array_equal(rows.predict(X), stored.predict(X))
    again = pickle.loads(pickle.dumps(rows))
    assert np.array_equal(again.predict(X), rows.predict(X))


def test_large_dense_problems_start_from_a_sample():
    rng = np.random.default_rng(0)
    many = np.concatenate([rng.normal(4 * s, 0.5, size=(1100, 2)) for s in range(3)])
    found = KernelClustering(3, kernel=Gaussian(0.8), criterion="average_association", random_state=0).fit(many)
    assert np.array_equal(np.bincount(found.labels_), [1100, 1100, 1100])
    assert (np.diff(found.energy_trace_) <= 1e-9 * abs(found.energy_)).all()
    assert found.energy_ == pytest.approx(average_association(found.affinity_).energy(found.labels_))


def test_far_points_do_not_underflow_to_subnormal_numbers():
    rows = Gaussian(1e-3, memory=0).affinity(X) @ np.eye(len(X))
    assert np.isfinite(rows).all()
    assert (rows >= np.finfo(float).tiny).all()


def test_the_budget_decides():
    assert free_memory() > 0
    assert fits_in_memory(1000, np.float32, 4e6)
    assert not fits_in_memory(1000, np.float64, 4e6)
    assert fits_in_memory(10, np.float64)
    assert not fits_in_memory(10**7, np.float64)
    with pytest.raises(ValueError, match="memory=-1 must be a number of bytes"):
        Gaussian(memory=-1).affinity(X)


def test_wrong_shapes_are_refused():
    with pytest.raises(ValueError, match=r"of 240 points cannot multiply an array of shape \(3,\)"):
        both(Gaussian(0.5))[1] @ np.ones(3)
