"""Values of any finite size: rescaled exactly, or refused by row and column; the process never ends."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evencut import EvenCut, KernelClustering, LandmarkClustering, diagnose
from evencut.kernels import KNN, Gaussian, LocalScaling
from evencut.neighbors import exact_scale


@pytest.fixture
def blobs():
    rng = np.random.default_rng(0)
    return np.concatenate([rng.normal(size=(50, 2)), rng.normal(size=(50, 2)) + 8])


@pytest.mark.parametrize("unit", [1e-300, 1e-200, 1e-100, 1e100, 1e150, 1e200, 1e300])
@pytest.mark.parametrize("model", [EvenCut(2), KernelClustering(2, kernel="knn"), LandmarkClustering(2)])
def test_the_unit_does_not_matter_however_large_or_small(blobs, unit, model):
    labels = model.set_params(random_state=0).fit(blobs * unit).labels_
    np.testing.assert_array_equal(labels, np.repeat([0, 1], 50) if labels[0] == 0 else np.repeat([1, 0], 50))


@pytest.mark.parametrize("value", [1e200, -1e250, 1e308])
def test_a_single_immense_value_is_refused_by_place(blobs, value):
    blobs[3, 1] = value
    for model in (EvenCut(2), KernelClustering(2, kernel="knn"), KernelClustering(2, kernel="gaussian")):
        with pytest.raises(ValueError, match=r"row 3, column 1 is .*compared with so large a value"):
            model.fit(blobs)


def test_names_of_columns_are_told(blobs):
    pandas = pytest.importorskip("pandas")
    blobs[3, 1] = 1e200
    with pytest.raises(ValueError, match="row 3, column 'weight'"):
        EvenCut(2).fit(pandas.DataFrame(blobs, columns=["height", "weight"]))


def test_lengths_that_mean_something_are_not_rescaled(blobs):
    with pytest.raises(ValueError, match=r"column . reaches .*divide all columns by one number"):
        KernelClustering(2, kernel=Gaussian(1.0)).fit(blobs * 1e200)


def test_new_points_may_be_anywhere(blobs):
    model = EvenCut(2, random_state=0).fit(blobs)
    with np.errstate(over="ignore"):
        far = model.predict(np.array([[1e200, 1e200], [-1e308, -1e308], [8.0, 8.0], [0.0, 0.0]]))
    assert far[0] == far[2] and far[1] == far[3]


def test_a_diagnosis_of_immense_values_is_refused_or_right(blobs):
    assert diagnose(blobs, np.repeat([0, 1], 50)).verdict == "ok"
    blobs[3, 1] = 1e200
    with pytest.raises(ValueError):
        diagnose(blobs, np.repeat([0, 1], 50))


@settings(max_examples=100, deadline=None)
@given(st.integers(-1070, 1020), st.integers(0, 2**32 - 1))
def test_an_exact_scale_is_a_power_of_two(exponent, seed):
    X = np.ldexp(np.random.default_rng(seed).normal(size=(20, 2)), exponent)
    scale = exact_scale(X)
    assert np.frexp(scale)[0] == 0.5
    assert scale == 1 or np.isfinite(np.square(X / scale)).all()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"kernel": KNN(2.5)}, "n_neighbors=2.5 must be a whole number"),
        ({"kernel": LocalScaling(0)}, "n_neighbors=0 must be a whole number"),
        ({"n_jobs": "2"}, "n_jobs='2' must be None"),
        ({"n_jobs": 0}, "n_jobs=0 must be None"),
    ],
)
def test_wrong_parameters_are_named(blobs, parameters, message):
    with pytest.raises(ValueError, match=message):
        (KernelClustering if "kernel" in parameters else EvenCut)(2, **parameters).fit(blobs)


def test_a_kernel_of_all_pairs_of_very_many_points_is_refused():
    X = np.random.default_rng(0).normal(size=(200_000, 2))
    for kernel in ("local_scaling", "gaussian", "adaptive_gaussian", "geodesic"):
        with pytest.raises(ValueError, match="all pairs"):
            KernelClustering(2, kernel=kernel).fit(X)
