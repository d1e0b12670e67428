"""Kernels give symmetric affinities, extend to new points, and reduce to each other where they should."""


import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from evencut.affinity import knn_radius, scott_bandwidth
from evencut.kernels import (
    KERNELS,
    KNN,
    AdaptiveGaussian,
    Disc,
    Gaussian,
    Geodesic,
    LocalScaling,
    Precomputed,
    SharedNeighbors,
)

X = np.random.default_rng(0).normal(size=(120, 2))
X[60:] = 0.1 * X[60:] + 4
X.setflags(write=False)
ON_POINTS = [KERNELS[name]() for name in KERNELS if name != "precomputed"]


def dense(matrix):
    return matrix.toarray() if sparse.issparse(matrix) else matrix


@pytest.mark.parametrize("kernel", ON_POINTS, ids=repr)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_affinities_are_symmetric_with_a_known_diagonal(kernel, dtype):
    A = kernel.affinity(X.astype(dtype))
    assert A.dtype == dtype
    A = dense(A)
    assert (A == A.T).all()
    assert (A >= 0).all()
    # Shared neighbours link others only; a trace of itself keeps the degree of a lone point positive.
    own = 1e-10 if isinstance(kernel, SharedNeighbors) else 1
    np.testing.assert_allclose(A.diagonal(), own, rtol=1e-6)


@pytest.mark.parametrize("kernel", ON_POINTS, ids=repr)
def test_affinities_do_not_depend_on_order_place_or_threads(kernel, rng):
    order = rng.permutation(len(X))
    A = dense(kernel.affinity(X))
    np.testing.assert_allclose(dense(kernel.affinity(X[order])), A[np.ix_(order, order)], atol=1e-9)
    np.testing.assert_allclose(dense(kernel.affinity(X + 7)), A, atol=1e-7)
    assert (dense(kernel.affinity(X, n_jobs=2)) == A).all()


UNIT_FREE = [LocalScaling(5), AdaptiveGaussian(5), KNN(5), Geodesic(5), Gaussian(), Disc()]


@pytest.mark.parametrize("kernel", UNIT_FREE, ids=repr)
def test_adaptive_and_ruled_kernels_do_not_depend_on_the_unit(kernel):
    np.testing.assert_allclose(dense(kernel.affinity(1000 * X)), dense(kernel.affinity(X)), atol=1e-6)


@pytest.mark.parametrize("kernel", ON_POINTS, ids=repr)
def test_extension_gives_one_row_a_new_point(kernel):
    Y = X[:7] + 0.01
    rows = kernel.extend(X)(Y)
    assert rows.shape == (7, len(X))
    # A new point is most like the point it was moved from, or the like of it.
    rows = dense(rows)
    assert (rows[np.arange(7), np.arange(7)] >= 0.5 * rows.max(axis=1)).all()


@pytest.mark.parametrize("kernel", [Gaussian(0.7), Gaussian([0.5, 2.0]), Gaussian([[1.0, 0.3], [0.3, 1.0]])], ids=repr)
def test_gaussian_extends_itself(kernel):
    np.testing.assert_allclose(kernel.extend(X)(X), kernel.affinity(X), atol=1e-9)


def test_gaussian_bandwidths_agree():
    one = Gaussian(0.5).affinity(X)
    np.testing.assert_allclose(Gaussian([0.5, 0.5]).affinity(X), one)
    np.testing.assert_allclose(Gaussian(0.25 * np.eye(2)).affinity(X), one)
    np.testing.assert_allclose(Gaussian("scott").affinity(X), Gaussian(scott_bandwidth(X)).affinity(X))



def test_adaptive_bandwidths_follow_the_density_law():
    np.testing.assert_allclose(AdaptiveGaussian(5).bandwidths(X), knn_radius(X, 5))
    even = AdaptiveGaussian(5, transform=np.ones_like).bandwidths(X)
    np.testing.assert_allclose(even, knn_radius(X, 5))
    fixed = AdaptiveGaussian(5, transform="identity").bandwidths(X)
    np.testing.assert_allclose(fixed, fixed[0])
    np.testing.assert_allclose(AdaptiveGaussian(5, "identity").affinity(X), Gaussian(fixed[0]).affinity(X))


def test_knn_symmetrisations():
    mean, union, mutual = (KNN(6, symmetrize=way).affinity(X).toarray() for way in ("mean", "union", "mutual"))
    np.testing.assert_array_equal(union, mean > 0)
    np.testing.assert_array_equal(mutual, mean == 1)
    np.testing.assert_allclose(mean.sum(), 6 * len(X))


def test_knn_of_more_neighbours_than_points_links_all():
    with pytest.warns(UserWarning, match="n_neighbors=500 of KNN"):
        np.testing.assert_array_equal(KNN(500).affinity(X).toarray(), 1)


def test_knn_of_coinciding_points_keeps_the_diagonal():
    repeated = np.repeat(X[:4], 30, axis=0)
    np.testing.assert_array_equal(KNN(3).affinity(repeated).diagonal(), 1)


def test_neighbours_in_high_dimension_are_the_same_by_both_searches():
    wide = np.c_[X, np.zeros((len(X), 30))]
    np.testing.assert_array_equal(KNN(8).affinity(wide).toarray(), KNN(8).affinity(X).toarray())


def test_geodesic_distances_go_around_a_bend():
    angle = np.linspace(0, np.pi, 200)
    half_circle = np.c_[np.cos(angle), np.sin(angle)]
    kernel = Geodesic(n_neighbors=3, metric="euclidean")
    assert kernel.distances(half_circle)[0, -1] == pytest.approx(np.pi, rel=1e-3)
    metric = np.tile(np.diag([4.0, 4.0]), (200, 1, 1))
    doubled = Geodesic(n_neighbors=3, metric=metric).distances(half_circle)
    np.testing.assert_allclose(doubled, 2 * kernel.distances(half_circle))
    np.testing.assert_allclose(Geodesic(3, metric=np.full(200, 4.0)).distances(half_circle), doubled)


def test_geodesic_has_no_affinity_across_a_gap_and_joins_coinciding_points():
    A = Geodesic(n_neighbors=10).affinity(X)
    assert A[:60, 60:].max() == 0
    twice = np.repeat(X[:20], 2, axis=0)
    D = Geodesic(n_neighbors=6, metric="euclidean").distances(twice)
    np.testing.assert_allclose(D[np.arange(0, 40, 2), np.arange(1, 40, 2)], 0, atol=1e-300)


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (KNN(symmetrize="max"), "'max' is not known.*mean"),
        (KNN(n_neighbors=0), "n_neighbors=0"),
        (Geodesic(metric="riemann"), "'riemann' is not known"),
        (Geodesic(bandwidth=0), "bandwidth=0"),
        (Geodesic(metric=np.ones(3)), "120 points"),
        (Geodesic(metric=np.ones((3, 2, 2))), r"shape \(3, 2, 2\); 120 points"),
        (Geodesic(metric=np.zeros((120, 2, 2))), "positive definite"),
    ],
)
def test_wrong_parameters_are_named(kernel, message):
    with pytest.raises(ValueError, match=message):
        kernel.affinity(X)


def test_precomputed_leaves_the_callers_matrix_alone():
    rows = [0, 0, 1, 1, 0]
    A = sparse.coo_array((np.ones(5), (rows, [0, 1, 0, 1, 0])), shape=(2, 2)).tocsr()
    messy = sparse.csr_array((np.array([1.0, 0.0, 1.0, 1.0, 2.0]), np.array([1, 0, 0, 0, 1]), np.array([0, 3, 5])))
    before = [part.copy() for part in (messy.data, messy.indices, messy.indptr)]
    found = Precomputed().affinity(messy)
    np.testing.assert_array_equal(found.toarray(), [[1, 1], [1, 2]])
    assert found.has_canonical_format
    for part, old in zip((messy.data, messy.indices, messy.indptr), before):
        np.testing.assert_array_equal(part, old)
    assert (Precomputed().affinity(A).toarray() == A.toarray()).all()


def test_kernels_are_cloneable_with_settable_parameters():
    for kernel in ON_POINTS:
        assert repr(clone(kernel)) == repr(kernel)
    assert KNN().set_params(n_neighbors=3).n_neighbors == 3


def test_disc_is_a_distance_graph_and_the_knn_kernel_where_its_radius_adapts():
    away = np.sqrt(((X[:, None] - X) ** 2).sum(axis=2))
    np.testing.assert_array_equal(dense(Disc(0.6).affinity(X)), away <= 0.6)
    np.testing.assert_array_equal(dense(Disc(0.6).extend(X)(X[:9])), away[:9] <= 0.6)
    # One point's row under the radius to its own K-th neighbour is its row of the KNN kernel.
    near = np.sort(away[5])[4]
    one_way = dense(KNN(5).extend(X)(X[5:6]))[0]
    np.testing.assert_array_equal(dense(Disc(near * (1 + 1e-9)).affinity(X))[5], one_way)


def test_disc_refuses_a_graph_that_does_not_fit():
    with pytest.raises(ValueError, match="smaller bandwidth"):
        Disc(100.0, memory=1000).affinity(X)



def test_a_metric_may_be_a_function():
    by_name = Geodesic(8, metric="euclidean").distances(X)
    np.testing.assert_allclose(Geodesic(8, metric=lambda places: np.ones(len(places))).distances(X), by_name)
