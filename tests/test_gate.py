"""What is no finite distance or affinity is refused by row, pair or point before any compiled loop sees it.

Each case once ended the process or went wrong in silence; `test_fuzz_degenerate.py` tries many more, in children.
"""

import re
import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics import adjusted_rand_score

from evencut import (
    DominantSets,
    EvenCut,
    KernelClustering,
    KernelKMeans,
    LandmarkClustering,
    NormalizedCut,
    ProbabilisticKMeans,
    diagnose,
)
from evencut.cli import main
from evencut.kernels import KNN, AdaptiveGaussian, Gaussian, Geodesic, LocalScaling, Precomputed, SharedNeighbors
from evencut.neighbors import NeighborSearch, coordinates, points_in, unit_rows


@pytest.fixture
def with_constant_row(rng):
    return np.r_[rng.normal(size=(200, 5)), np.ones((1, 5))]


@pytest.fixture
def directions(rng):
    """Three bundles of directions, 40 rows each, of any length."""
    bundles = np.repeat(np.eye(3, 4), 40, axis=0) + 0.05 * rng.normal(size=(120, 4))
    return bundles * rng.uniform(1, 5, size=(120, 1))


@pytest.mark.parametrize(
    "model",
    [
        EvenCut(3, metric="correlation"),
        EvenCut("auto", metric="correlation"),
        NormalizedCut(3, kernel="knn", metric="correlation"),
        KernelKMeans(3, kernel="local_scaling", metric="correlation"),
        DominantSets(3, kernel="knn", metric="correlation"),
    ],
    ids=repr,
)
def test_rows_without_correlation_are_named(with_constant_row, model):
    with pytest.raises(ValueError, match=r"row 200 is constant, and has no correlation .* leave such rows out"):
        model.fit(with_constant_row)
    with pytest.raises(ValueError, match=r"row 0 is constant \(201 such rows of 201\)"):
        model.fit(with_constant_row[:, :1])


def test_the_diagnosis_names_them_too(with_constant_row):
    with pytest.raises(ValueError, match="row 200 is constant"):
        diagnose(with_constant_row, np.arange(201) % 3, metric="correlation")


def test_new_rows_are_checked_as_fitted_ones(with_constant_row):
    model = EvenCut(3, metric="correlation", random_state=0).fit(with_constant_row[:200])
    with pytest.raises(ValueError, match="row 1 is constant"):
        model.predict(with_constant_row[199:])


def test_what_rounding_leaves_of_a_constant_is_constant(with_constant_row):
    with_constant_row[200] = [0.1 + 0.2, 0.3, 0.3, 0.3, 0.3]
    assert np.ptp(with_constant_row[200]) > 0
    with pytest.raises(ValueError, match="row 200 is constant"):
        EvenCut(3, metric="correlation").fit(with_constant_row)


@pytest.mark.parametrize("metric", ["correlation", "cosine"])
@pytest.mark.parametrize("unit", [2.0**997, 2.0**-997])
def test_the_length_of_a_row_does_not_matter_to_angles(directions, metric, unit):
    model = EvenCut(3, metric=metric, random_state=0)
    labels = model.fit(directions).labels_
    # Clusters of equal size may be numbered in another order.
    assert adjusted_rand_score(model.fit(directions * unit).labels_, labels) == 1
    directions[::2] *= unit
    np.testing.assert_array_equal(model.fit(directions).labels_, labels)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_unit_rows_of_any_length(directions, dtype):
    directions = directions.astype(dtype)
    unit = dtype(2.0**900 if dtype is np.float64 else 2.0**100)
    expected = unit_rows(directions)
    for length in (unit, 1 / unit):
        np.testing.assert_array_equal(unit_rows(directions * length), expected)
        sparse_rows = unit_rows(sparse.csr_array(directions * length))
        np.testing.assert_array_equal(sparse_rows.toarray(), unit_rows(sparse.csr_array(directions)).toarray())


@pytest.mark.parametrize("metric", ["manhattan", "chebyshev", "precomputed"])
@pytest.mark.parametrize("unit", [2.0**997, 2.0**-997])
def test_the_unit_of_lengths_does_not_matter_under_other_metrics(directions, metric, unit):
    X = np.abs(directions[:, :1] - directions[:, :1].T) if metric == "precomputed" else directions
    model = KernelClustering(3, metric=metric, kernel="local_scaling", random_state=0)
    labels = model.fit(X).labels_
    np.testing.assert_array_equal(model.fit(X * unit).labels_, labels)
    np.testing.assert_array_equal(model.predict(X * unit), labels)


def test_lengths_with_a_meaning_are_refused_beyond_the_range(directions):
    with pytest.raises(ValueError, match="squares of such values leave the range"):
        KernelClustering(3, kernel=Gaussian(1.0), metric="manhattan").fit(directions * 1e300)
    with pytest.raises(ValueError, match=r"squares of such values .* divide all columns by one number\."):
        ProbabilisticKMeans(3).fit(directions * 1e300)


def test_rows_of_zeros_have_no_dissimilarity():
    with pytest.raises(ValueError, match=r"row 0 is zero throughout \(2 such rows of 8\).*braycurtis"):
        KernelClustering(2, kernel="knn", metric="braycurtis").fit([[0.0], *[[1.0]] * 6, [0.0]])


def test_a_pair_without_a_distance_is_named():
    rows = np.array([[1.0, 2.0], [3.0, 1.0], [2.0, 2.0], [-3.0, -1.0], [1.0, 1.0]])
    with pytest.raises(ValueError, match=r"rows (1 and 3|3 and 1) have no .*'braycurtis'.*add up to zero"):
        KernelClustering(2, kernel="knn", metric="braycurtis").fit(rows)
    wide = np.random.default_rng(0).normal(size=(30, 20))
    model = KernelClustering(2, kernel="knn", metric="manhattan", random_state=0).fit(wide)
    with pytest.raises(ValueError, match=r"rows 1 and \d+ have no finite distance under metric='manhattan'.*divide X"):
        model.predict(np.stack([wide[0], np.full(20, 1e307)]))


@pytest.mark.parametrize("metric", ["canberra", "braycurtis"])
def test_sums_of_immense_values_do_not_hide_differences(directions, metric):
    directions = np.abs(directions)
    model = KernelClustering(3, metric=metric, kernel="local_scaling", random_state=0)
    labels = model.fit(directions).labels_
    unit = 2.0 ** np.floor(1024 - np.log2(directions.max()))
    # Clusters of equal size may be numbered in another order.
    assert adjusted_rand_score(model.fit(directions * unit).labels_, labels) == 1
    assert adjusted_rand_score(model.predict(directions * unit), labels) == 1


def test_a_search_never_gives_what_it_has_not_found():
    """Neither infinite distances nor the numbers of no points, by whichever search."""
    for n_columns in (2, 20):
        X = np.zeros((6, n_columns))
        X[3] = 1e200
        with pytest.raises(ValueError, match=r"points at a finite distance, but 6 are needed"):
            NeighborSearch(X).query_self(6)


@pytest.mark.parametrize("criterion", ["normalized_cut", "average_association", "average_cut"])
@pytest.mark.parametrize("size", [1e308, 1e200, 1e-200])
def test_affinities_whose_sums_or_squares_leave_the_range_are_refused(criterion, size):
    model = KernelClustering(3, kernel="precomputed", criterion=criterion)
    with pytest.raises(ValueError, match=f"reaches {re.escape(f'{size:.3g}')}.*divide all of them by"):
        model.fit(np.full((50, 50), size))
    with pytest.raises(ValueError, match="leave the range of floating-point numbers"):
        model.fit(sparse.csr_array(np.full((50, 50), size)))


def test_weights_that_take_affinities_out_of_the_range_are_refused(rng):
    X = rng.normal(size=(60, 2))
    with pytest.raises(ValueError, match=r"affinity times the weights reaches 1e\+200.*leave the range"):
        KernelClustering(3, kernel="knn").fit(X, sample_weight=np.full(60, 1e100))
    with pytest.raises(ValueError, match="affinity times the weights of points 0 and 0 is inf"):
        KernelClustering(3, kernel="knn").fit(X, sample_weight=np.full(60, 1e200))


class Crooked(Gaussian):
    """A kernel of a user's own that is not symmetric."""

    def affinity(self, X, *, n_jobs=None):
        affinity = np.array(super().affinity(X, n_jobs=n_jobs))
        affinity[3, 7] += 0.5
        return affinity


class Short(Gaussian):
    """One that leaves a point out."""

    def affinity(self, X, *, n_jobs=None):
        return super().affinity(X[1:], n_jobs=n_jobs)


class Empty(Gaussian):
    """One that divides zero by zero."""

    def affinity(self, X, *, n_jobs=None):
        affinity = np.array(super().affinity(X, n_jobs=n_jobs))
        affinity[2, 5] = affinity[5, 2] = np.nan
        return affinity


@pytest.mark.parametrize("estimator", [KernelClustering, DominantSets])
@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (Crooked(1.0), r"the affinity of Crooked.* must be symmetric, but A\[3, 7\] = .* A\[7, 3\]"),
        (Short(1.0), r"the affinity of Short.* has 39 rows for 40 points"),
        (Empty(1.0), r"the affinity of Empty.* of points 2 and 5 is nan"),
    ],
)
def test_the_affinity_of_a_users_kernel_is_looked_at(estimator, kernel, message, rng):
    with pytest.raises(ValueError, match=message):
        estimator(2, kernel=kernel).fit(rng.normal(size=(40, 2)))


@pytest.mark.parametrize("kernel", [KNN, SharedNeighbors, LocalScaling, AdaptiveGaussian, Geodesic])
def test_more_neighbours_than_points_are_told(kernel, rng):
    X = rng.normal(size=(300, 2))
    message = f"n_neighbors=100000 of {kernel.__name__} is more than there are among 300 distinct points"
    with pytest.warns(UserWarning, match=message):
        KernelClustering(3, kernel=kernel(100000), random_state=0).fit(X)
    # A default is nobody's wish, and adapts.
    kernel().affinity(X[:4])


def test_distances_in_place_of_affinities_are_told(rng):
    X = np.concatenate([rng.normal(size=(20, 2)), rng.normal(size=(20, 2)) + 9])
    distances = np.linalg.norm(X[:, None] - X, axis=2)
    for table in (distances, distances**2, distances.astype(np.float32)):
        with pytest.warns(UserWarning, match="looks like distances.*metric='precomputed'"):
            KernelClustering(2, kernel="precomputed", random_state=0).fit(table)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for affinity in (np.exp(-(distances**2) / 2), 1 / (1 + distances), (distances < 5).astype(float)):
            for diagonal in (0.0, 1.0):
                np.fill_diagonal(affinity, diagonal)
                Precomputed().affinity(affinity)


@pytest.mark.parametrize("metric", ["manhattan", "canberra"])
def test_points_that_are_one_place_have_coordinates(metric):
    """What the diagnosis does without a table of coordinates needs at least one column."""
    place = coordinates(points_in(np.ones((4, 3)), metric))
    assert place.shape == (4, 1)
    np.testing.assert_array_equal(place, place[:1].repeat(4, axis=0))


@pytest.mark.parametrize("estimator", [EvenCut, LandmarkClustering])
def test_single_precision_of_immense_values_is_predicted(estimator):
    X = np.where(np.arange(24)[:, None] % 2 == 0, -1.0, -3e38) * np.ones((24, 3))
    X = X.astype(np.float32)
    model = estimator(2, random_state=0).fit(X)
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    assert not np.isnan(model.transform(X)).any()


@pytest.mark.parametrize("command", ["cluster", "diagnose"])
def test_the_command_answers_in_one_line(command, with_constant_row, tmp_path, capsys):
    table, labels = tmp_path / "points.csv", tmp_path / "labels.csv"
    np.savetxt(table, with_constant_row, delimiter=",")
    np.savetxt(labels, np.arange(201) % 3, fmt="%d")
    options = ["-k", "3", "-o", str(tmp_path / "out.csv")] if command == "cluster" else [str(labels)]
    with pytest.raises(SystemExit) as left:
        main([command, str(table), *options, "--metric", "correlation"])
    told = capsys.readouterr().err.strip().splitlines()
    assert left.value.code == 2
    assert len(told) == 1 and "row 200 is constant, and has no correlation with others" in told[0]
    assert not (tmp_path / "out.csv").exists()


def test_one_immense_point_is_predicted():
    X = np.full((20, 3), 1e300)
    model = KernelClustering(1, kernel="local_scaling", random_state=0).fit(X)
    assert np.isfinite(model.transform(X)).all()
