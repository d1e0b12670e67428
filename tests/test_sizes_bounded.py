"""Clusters between two sizes: the limits always hold, and what they cost is small."""

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs, make_moons
from sklearn.metrics import adjusted_rand_score

from evencut import EvenCut, KernelClustering, KernelKMeans, NormalizedCut
from evencut.criteria import average_association
from evencut.solvers import solve
from evencut.solvers.bounds import Bounds, bounded

X, TRUTH = make_blobs([200, 60, 40], 2, centers=[[0, 0], [6, 0], [0, 7]], random_state=0)


@pytest.mark.parametrize(
    "estimator",
    [
        EvenCut(3),
        KernelClustering(3, kernel="knn"),
        KernelClustering(3, kernel="gaussian", criterion="average_cut"),
        KernelClustering(3, kernel="shared_neighbors", equalize="exact"),
        KernelKMeans(3, kernel="gaussian"),
        NormalizedCut(3, kernel="local_scaling"),
    ],
    ids=repr,
)
@pytest.mark.parametrize(("smallest", "largest"), [(90, None), (None, 120), (100, 100)])
def test_the_limits_hold_for_every_kernel_and_criterion(estimator, smallest, largest):
    model = estimator.set_params(min_size=smallest, max_size=largest, random_state=0).fit(X)
    sizes = np.bincount(model.labels_, minlength=3)
    assert sizes.min() >= (smallest or 0)
    assert sizes.max() <= (largest or 300)
    assert sizes.sum() == 300


def test_limits_that_hold_anyway_change_nothing():
    free = EvenCut(3, random_state=0).fit_predict(X)
    assert np.array_equal(EvenCut(3, min_size=20, max_size=250, random_state=0).fit_predict(X), free)


def test_equal_halves_of_moons_are_the_moons():
    points, truth = make_moons(400, noise=0.05, random_state=0)
    labels = EvenCut(2, min_size=200, max_size=200, random_state=0).fit_predict(points)
    assert adjusted_rand_score(truth, labels) > 0.95


def test_only_the_surplus_of_a_large_cluster_leaves_it():
    labels = KernelClustering(3, kernel="knn", max_size=180, random_state=0).fit_predict(X)
    large = np.bincount(labels[TRUTH == 0]).argmax()
    assert np.sum(labels[TRUTH == 0] == large) >= 170


def test_kernel_k_means_under_limits_is_as_good_as_exhaustive_search():
    rng = np.random.default_rng(0)
    for _ in range(5):
        points = rng.normal(size=(10, 2))
        problem = average_association(points @ points.T)
        energies = []
        for code in range(1, 2**9):
            labels = np.array([0, *(code >> i & 1 for i in range(9))])
            if labels.sum() == 5:
                energies.append(problem.energy(labels))
        found = bounded(problem, solve(problem, 2, random_state=0), 2, Bounds(np.ones(10), 5, 5))
        assert found.energy == pytest.approx(problem.energy(found.labels))
        assert found.energy <= np.quantile(energies, 0.02)


def test_energy_with_a_linear_kernel_is_near_that_of_balanced_k_means():
    """Sums of squares under limits, beside k-means whose clusters a linear program has balanced."""
    from scipy.optimize import linear_sum_assignment

    points, _ = make_blobs([90, 30, 30], 3, centers=np.eye(3) * 9, random_state=4, cluster_std=3)

    def squares(labels):
        return sum(((points[labels == k] - points[labels == k].mean(axis=0)) ** 2).sum() for k in range(3))

    centres = KMeans(3, n_init=10, random_state=0).fit(points).cluster_centers_
    for _ in range(30):
        cost = ((points[:, None] - np.repeat(centres, 50, axis=0)) ** 2).sum(axis=2)
        balanced = linear_sum_assignment(cost)[1] // 50
        centres = np.array([points[balanced == k].mean(axis=0) for k in range(3)])
    centred = points - points.mean(axis=0)
    problem = average_association(centred @ centred.T)
    found = bounded(problem, solve(problem, 3, random_state=0), 3, Bounds(np.ones(150), 50, 50))
    assert squares(found.labels) <= 1.01 * squares(balanced)


def test_weights_count_and_copies_stay_together():
    weights = np.where(TRUTH == 0, 1.0, 3.0)
    labels = EvenCut(3, max_size=260, random_state=0).fit(X, sample_weight=weights).labels_
    assert np.bincount(labels, weights).max() <= 260
    doubled = np.vstack([X, X])
    twice = EvenCut(3, max_size=240, random_state=0).fit_predict(doubled)
    assert np.array_equal(twice[:300], twice[300:])
    assert np.bincount(twice).max() <= 240


def test_many_rows_are_bounded_through_condensing():
    many, _ = make_blobs([30_000, 6000, 4000], 2, centers=[[0, 0], [7, 0], [0, 8]], random_state=0)
    labels = EvenCut(3, min_size=8000, max_size=20_000, random_state=0).fit_predict(many)
    sizes = np.bincount(labels)
    assert sizes.min() >= 8000 and sizes.max() <= 20_000


def test_an_automatic_number_respects_the_limits():
    assert EvenCut(max_size=110, random_state=0).fit(X).n_clusters_ >= 3
    few = EvenCut(min_size=120, random_state=0).fit(X)
    assert few.n_clusters_ <= 2
    assert np.bincount(few.labels_).min() >= 120


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"min_size": 101}, "min_size=101 in 3 clusters needs 303 rows, but there are 300"),
        ({"max_size": 99}, "use at least 4 clusters"),
        ({"min_size": 200}, r"in 3 clusters needs 600 rows, but there are 300; lower min_size\.$"),
        ({"min_size": 400, "n_clusters": 1}, r"in 1 cluster needs 400 rows, but there are 300; lower min_size\.$"),
        ({"max_size": 99, "n_clusters": 1}, "in 1 cluster holds 99 rows, but there are 300; raise max_size, or use at"),
        ({"min_size": 400, "n_clusters": "auto"}, r"no number of clusters fits min_size=400 for 300 rows; lower min_s"),
        ({"min_size": 170, "max_size": 180, "n_clusters": "auto"}, "fits min_size=170 and max_size=180 for 300 rows"),
        ({"min_size": 120, "max_size": 90}, "exchange them"),
        ({"min_size": -1}, "min_size=-1 must be a positive number"),
        ({"max_size": "ten"}, "max_size='ten' must be a positive number"),
        ({"max_size": 200, "significance": 0.05}, "leave significance or the sizes out"),
    ],
)
def test_limits_that_cannot_hold_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        EvenCut(**{"n_clusters": 3, **options}).fit(X)


def test_what_does_not_go_with_limits_is_named():
    with pytest.raises(ValueError, match="partial labels"):
        EvenCut(3, max_size=150).fit(X, must_link=[(0, 1)])
    with pytest.raises(ValueError, match="equal rows are one point"):
        EvenCut(4, max_size=150).fit(np.vstack([X, np.zeros((200, 2))]))
    with pytest.raises(ValueError, match="no number of clusters fits"):
        EvenCut(min_size=170, max_size=180).fit(X)


@pytest.mark.parametrize("kernel", [None, "knn"])
def test_the_command_has_the_limits(run, kernel):
    np.save("points.npy", X)
    extra = () if kernel is None else ("--kernel", kernel)
    done = run("cluster", "points.npy", "-k", 3, "--min-size", 80, "--max-size", 120, "-o", "labels.npy", *extra)
    assert done.code == 0, done.err
    model = EvenCut() if kernel is None else KernelClustering(kernel=kernel)
    model.set_params(n_clusters=3, min_size=80, max_size=120, random_state=0)
    assert np.array_equal(np.load("labels.npy"), model.fit_predict(X))
    assert run("cluster", "points.npy", "--max-size", 110, "-o", "labels.npy", *extra).code == 0
    assert np.bincount(np.load("labels.npy")).max() <= 110


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ("-k 3 --min-size 0", "--min-size 0 is out of range; give a whole number of at least 1."),
        ("-k 3 --max-size ten", "--max-size ten is not a whole number; give one of at least 1."),
        ("-k 3 --min-size 101", "--min-size 101 in 3 clusters needs 303 rows, but there are 300; lower --min-size, or "
         "use at most 2 clusters."),
        ("-k 3 --max-size 99", "--max-size 99 in 3 clusters holds 297 rows, but there are 300; raise --max-size, or "
         "use at least 4 clusters."),
        ("-k 3 --min-size 120 --max-size 90", "--min-size 120 is more than --max-size 90; exchange them."),
        ("--min-size 170 --max-size 180", "no number of clusters fits --min-size 170 and --max-size 180 for 300 rows"),
        ("-k 3 --min-size 9 --landmarks auto", "--min-size does not go with --landmarks; leave one of them out."),
        ("--max-size 9 --like model.skops", "--max-size does not go with --like; leave one of them out."),
        ("-k 3 --max-size 9 --device cuda", "--max-size does not go with --device cuda; leave one of them out."),
    ],
)  # fmt: skip
def test_limits_that_the_command_cannot_meet_cost_one_line(run, options, says):
    np.save("points.npy", X)
    done = run("cluster", "points.npy", "-o", "labels.npy", *options.split())
    assert done.code == 2
    assert done.err.startswith(f"evencut: error: {says}") and done.err.count("\n") == 1
