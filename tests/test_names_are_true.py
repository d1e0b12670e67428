"""The name is what runs: energies are those of the criterion named, no move lowers them, and every parameter acts."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_blobs

from evencut import EvenCut, KernelClustering, KernelKMeans, NormalizedCut
from evencut.criteria import pose
from evencut.datasets import make_clumped_moons
from evencut.kernels import KNN, Gaussian, SharedNeighbors
from evencut.solvers import solve

IRIS = load_iris().data
MOONS, _ = make_clumped_moons(300, clump=0.5, random_state=0)
BY_MOVES = ("auto", "spectral", "multilevel")


def posed(model, X):
    """The problem that a fitted model says it has solved, written out from its attributes."""
    counts = np.bincount(model.point_of_row_).astype(float)
    return pose(model.affinity_, counts, model.criterion, model.equalize).problem


def labels_of_points(model):
    labels = np.empty(model.point_of_row_.max() + 1, dtype=np.int64)
    labels[model.point_of_row_] = model.labels_
    return labels


@pytest.mark.parametrize("X", [IRIS, MOONS], ids=["iris", "moons"])
@pytest.mark.parametrize("equalize", [None, "weights", "exact"])
@pytest.mark.parametrize("criterion", ["normalized_cut", "average_association", "average_cut"])
@pytest.mark.parametrize("kernel", [SharedNeighbors(), KNN(), Gaussian("scott")], ids=str)
def test_the_energy_is_that_of_the_labels_and_no_single_move_lowers_it(X, kernel, criterion, equalize):
    model = KernelClustering(3, kernel=kernel, criterion=criterion, equalize=equalize, random_state=0).fit(X)
    problem, labels = posed(model, X), labels_of_points(model)
    assert model.energy_ == pytest.approx(problem.energy(labels), rel=1e-9)
    assert model.energy_trace_[-1] == pytest.approx(model.energy_, rel=1e-9)
    size = np.bincount(labels, minlength=3)
    for p in np.random.default_rng(0).permutation(len(labels))[:40]:
        for k in {0, 1, 2} - {labels[p]}:
            if size[labels[p]] > 1:
                moved = labels.copy()
                moved[p] = k
                assert problem.energy(moved) >= model.energy_ - 1e-7 * abs(model.energy_)


def test_a_normalized_cut_is_as_low_as_the_solver_finds_on_its_own_affinity():
    model = NormalizedCut(3, kernel="shared_neighbors", random_state=0).fit(IRIS)
    for seed in range(3):
        found = solve(posed(model, IRIS), 3, random_state=seed)
        assert model.energy_ <= found.energy + 1e-3 * abs(found.energy)


@pytest.mark.parametrize(
    ("parameter", "one", "other", "attribute"),
    [
        ("kernel", "knn", "gaussian", "affinity_"),
        ("criterion", "average_association", "average_cut", "labels_"),
        ("equalize", None, "exact", "equalizing_scale_"),
        ("equalize", None, "weights", "weights_"),
        ("solver", "lloyd", "multilevel", "energy_"),
        ("scale", None, "standard", "feature_scale_"),
        ("metric", "euclidean", "manhattan", "affinity_"),
        ("n_init", 1, 8, "energy_"),
        ("max_iter", 1, 100, "energy_"),
        ("random_state", 0, 1, "energy_"),
        ("n_clusters", 2, 3, "labels_"),
    ],
)
def test_every_parameter_acts(parameter, one, other, attribute):
    """On one of several tables each changes what it says it changes; small effort shows on the slowest solver."""
    start = {"kernel": KNN(5), "solver": "lloyd", "n_init": 1, "max_iter": 100, "random_state": 0, "n_clusters": 10}
    tables = [np.random.default_rng(seed).random((300, 2)) * [1, 3] for seed in range(12)]

    def answers(value):
        model = KernelClustering(**{**start, parameter: value})
        for X in tables:
            found = getattr(model.fit(X), attribute)
            yield np.asarray(found.todense() if hasattr(found, "todense") else found)

    with np.errstate(all="ignore"), pytest.warns() if parameter == "max_iter" else _quiet():
        assert any(a.shape != b.shape or not np.allclose(a, b) for a, b in zip(answers(one), answers(other)))


def _quiet():
    from contextlib import nullcontext

    return nullcontext()


@pytest.mark.parametrize("estimator", [KernelClustering, NormalizedCut, KernelKMeans])
def test_without_a_kernel_the_default_one_runs_without_a_word(estimator):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = estimator(3, random_state=0).fit(IRIS)
    np.testing.assert_array_equal(
        model.labels_, estimator(3, kernel="shared_neighbors", random_state=0).fit_predict(IRIS)
    )


@pytest.mark.parametrize("estimator", [KernelClustering, NormalizedCut, KernelKMeans])
def test_the_old_name_of_the_front_door_is_refused(estimator):
    with pytest.raises(ValueError, match="kernel='auto' is EvenCut now"):
        estimator(3, kernel="auto").fit(IRIS)


def test_the_front_door_has_nothing_to_ignore():
    names = {"n_clusters", "scale", "metric", "random_state", "n_jobs", "verbose"}
    assert set(EvenCut().get_params()) == names | {"min_size", "max_size", "significance"}
    model = EvenCut(3, random_state=0).fit(IRIS)
    assert model.n_clusters_ == len(np.unique(model.labels_)) == 3
    assert 0 <= model.confidence_ <= 1
    assert model.confidence_ == model.selection_.confidence
    for name in ("energy_", "energy_trace_", "n_iter_", "equalizing_scale_"):
        assert not hasattr(model, name)


@pytest.mark.parametrize("name", ["kernel", "criterion", "bandwith"])
def test_an_unknown_parameter_names_the_class_and_the_cure(name):
    with pytest.raises(TypeError, match=rf"EvenCut has no parameter '{name}'.*It takes n_clusters, scale") as said:
        EvenCut(2, **{name: "knn"})
    assert ("KernelClustering has it" in str(said.value)) == (name != "bandwith")


def test_the_error_for_an_affinity_names_the_class_that_takes_it():
    affinity = np.exp(-np.abs(np.subtract.outer(np.arange(30.0), np.arange(30.0))))
    with pytest.raises(ValueError, match=r"use of an affinity|KernelClustering\(kernel='precomputed'\)"):
        EvenCut(2, metric="precomputed").fit(affinity)


def test_a_metric_may_be_a_function_to_a_type_checker_too():
    from typing import get_args, get_type_hints

    assert len(get_args(get_type_hints(EvenCut)["metric"])) == 2


def test_an_immense_cell_is_reported_as_it_stands(rng):
    X = rng.normal(size=(60, 2))
    X[3, 1] = 1e200
    with pytest.raises(ValueError, match=r"row 3, column 1 is 1e\+200, while values usually differ by"):
        EvenCut(2).fit(X)
@pytest.mark.parametrize("draw", range(10))
def test_cluster_0_is_the_largest(draw):
    """And the others follow by size."""
    rng = np.random.default_rng(draw)
    sizes = rng.integers(20, 60, 4)
    y = rng.permutation(np.repeat(np.arange(4), sizes))
    X = rng.normal(0, 6, (4, 2 + draw % 4))[y] + rng.normal(size=(len(y), 2 + draw % 4))
    even = np.repeat([0.0, 9.0, 18.0], 30)[rng.permutation(90)]
    weights = rng.integers(1, 4, len(y)).astype(float)
    equal = even[:, None] + rng.normal(size=(90, 2))
    for rows, weight, n_clusters in ((X, None, 4), (X, weights, 3), (equal, None, 3)):
        labels = EvenCut(n_clusters, random_state=0).fit_predict(rows, sample_weight=weight)
        size = np.bincount(labels, weight)
        assert (np.diff(size) <= 0).all(), size


@pytest.mark.parametrize("estimator", [NormalizedCut, KernelKMeans])
def test_cluster_0_is_the_largest_for_every_criterion(estimator):
    for draw in range(5):
        centers, deviations = [[0, 0], [3, 0], [0, 3]], [1.5, 0.5, 0.3]
        X, _ = make_blobs([60, 55, 50], centers=centers, cluster_std=deviations, random_state=draw)
        sizes = np.bincount(estimator(3, kernel="shared_neighbors", random_state=0).fit_predict(X))
        assert (np.diff(sizes) <= 0).all(), sizes
