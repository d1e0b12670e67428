"""Neighbours: every search finds the same ones, the graph is the symmetric union, and approximation is told."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.neighbors import KNeighborsTransformer, NearestNeighbors

from evencut.neighbors import NeighborSearch, kneighbors, neighbor_graph, neighbor_recall, points_in
from evencut.neighbors import search as neighbor_search
from evencut.neighbors.products import CellSearch
from evencut.points.prepare import near_order


def points(n_samples=700, n_features=3, seed=0, dtype=np.float64):
    return np.random.default_rng(seed).normal(size=(n_samples, n_features)).astype(dtype)


def reference(X, n_neighbors, at=None):
    return NearestNeighbors(algorithm="brute").fit(X).kneighbors(X if at is None else at, n_neighbors)


@pytest.mark.parametrize("n_features", [1, 3, 15, 16, 40])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_exact_searches_agree_with_brute_force(n_features, dtype):
    X = points(n_features=n_features, dtype=dtype)
    distances, indices = kneighbors(X, 8)
    true_distances, true_indices = reference(X, 8)
    assert indices.dtype == np.int32
    assert (indices == true_indices).mean() > 0.999
    np.testing.assert_allclose(distances, true_distances, atol=1e-3 if dtype == np.float32 else 1e-6)


@pytest.mark.parametrize("n_features", [2, 20])
def test_threads_do_not_change_neighbours(n_features):
    X = np.round(points(5000, n_features, seed=1), 1)
    one, two = (kneighbors(X, 10, n_jobs=n) for n in (1, 2))
    assert np.array_equal(one[1], two[1])
    assert np.array_equal(one[0], two[0])


def test_new_points_are_searched_from_where_they_are():
    X, Y = points(), points(50, seed=3)
    assert np.array_equal(kneighbors(X, 5, at=Y)[1], reference(X, 5, Y)[1])
    search = NeighborSearch(X)
    assert np.array_equal(search.query(Y, 5)[1], search.query(Y, 7)[1][:, :5])


def test_blocks_of_queries_join(monkeypatch):
    X = points()
    whole = kneighbors(X, 5)
    monkeypatch.setattr(neighbor_search, "_QUERIES_PER_BLOCK", 64)
    assert np.array_equal(kneighbors(X, 5)[1], whole[1])


@pytest.mark.parametrize("n_neighbors", [1, 3, 12])
def test_crowds_of_equal_points(n_neighbors):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 6, size=(6000, 2)).astype(float)
    X[:20] = rng.normal(size=(20, 2))
    distances, indices = kneighbors(X, n_neighbors)
    assert np.array_equal(indices[:, 0], np.arange(len(X)))
    assert all(len(set(row)) == n_neighbors for row in indices)
    np.testing.assert_allclose(distances, reference(X, n_neighbors)[0], atol=1e-6)
    offsets = X[indices] - X[:, None]
    np.testing.assert_allclose(np.linalg.norm(offsets, axis=2), distances, atol=1e-12)


def test_all_points_equal():
    indices = kneighbors(np.zeros((5000, 2)), 4)[1]
    assert np.array_equal(indices[:, 0], np.arange(5000))
    assert all(len(set(row)) == 4 for row in indices)


def test_more_neighbours_than_points():
    assert kneighbors(points(4), 10)[1].shape == (4, 4)


def test_a_transformer_finds_the_neighbours():
    X = points()
    transformer = KNeighborsTransformer(mode="distance", n_neighbors=9)
    assert np.array_equal(kneighbors(X, 8, method=transformer)[1], kneighbors(X, 8)[1])
    assert np.array_equal(kneighbors(X, 8, at=X[:5], method=transformer)[1], kneighbors(X, 8)[1][:5])
    with pytest.raises(ValueError, match="found 4 neighbours of some point, but 8 are needed"):
        kneighbors(X, 8, method=KNeighborsTransformer(mode="distance", n_neighbors=3))


@pytest.mark.parametrize("symmetrize", ["mean", "union", "mutual"])
def test_the_graph_is_the_symmetric_union(symmetrize):
    table = kneighbors(points(), 6)[1]
    one_way = np.zeros((700, 700))
    np.put_along_axis(one_way, table.astype(np.int64), 1.0, axis=1)
    expected = {
        "mean": (one_way + one_way.T) / 2,
        "union": np.maximum(one_way, one_way.T),
        "mutual": np.minimum(one_way, one_way.T),
    }
    before = table.copy()
    graph = neighbor_graph(table, symmetrize, np.float32)
    assert np.array_equal(graph.toarray(), expected[symmetrize])
    assert graph.dtype == np.float32
    assert graph.indices.dtype == graph.indptr.dtype == np.int32
    assert sparse.csr_array((graph.data, graph.indices, graph.indptr)).has_canonical_format
    assert (graph.data > 0).all()
    assert np.array_equal(table, before)


def test_recall_counts_right_neighbours():
    X = points(400)
    table = kneighbors(X, 5)[1]
    assert neighbor_recall(X, table) == 1.0
    rng = np.random.default_rng(0)
    wrong = np.sort(np.argpartition(rng.random((400, 400)), 5, axis=1)[:, :5], axis=1)
    assert neighbor_recall(X, wrong) < 0.2


def patches(n_samples=3000, n_features=40, seed=0, dtype=np.float32):
    """Clusters on patches of few dimensions: what embeddings look like."""
    rng = np.random.default_rng(seed)
    flat = rng.uniform(-1, 1, size=(n_samples, 4)) @ rng.normal(size=(4, n_features))
    return (flat + 9 * rng.normal(size=(12, n_features))[rng.integers(12, size=n_samples)]).astype(dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_near_cells_hold_the_share_of_neighbours_that_is_told(dtype):
    X = patches(dtype=dtype)
    search = NeighborSearch(X, method="approximate")
    distances, table = search.query_self(10)
    assert search._index.share < 0.5
    assert search.recall >= 0.99
    assert neighbor_recall(X, table) == pytest.approx(search.recall, abs=0.02)
    offsets = X[table].astype(float) - X[:, None]
    np.testing.assert_allclose(distances, np.linalg.norm(offsets, axis=2), rtol=1e-12)
    assert np.array_equal(search.query(X[:7], 10)[1], table[:7])


def test_many_points_are_searched_by_cells_where_few_suffice(monkeypatch):
    monkeypatch.setattr(neighbor_search, "_MAX_PAIRS", 10**6)
    search = NeighborSearch(patches())
    search.query_self(10)
    assert isinstance(search._index, CellSearch)
    without_structure = NeighborSearch(points(1500, 60))
    found = without_structure.query_self(10)
    assert without_structure.recall == 1.0
    assert np.array_equal(found[1], kneighbors(points(1500, 60), 10, method="exact")[1])


def test_a_low_recall_is_told(monkeypatch):
    monkeypatch.setattr(neighbor_search, "_MAX_PAIRS", 10**6)
    monkeypatch.setattr(neighbor_search, "_MANY_POINTS", 1000)
    X = points(1500, 60)
    with pytest.warns(UserWarning, match=r"1500 points in 60 dimensions are approximate \(recall 0\.\d+ on a sample"):
        table = kneighbors(X, 10)[1]
    assert neighbor_recall(X, table) < 0.99
    assert neighbor_recall(X, kneighbors(X, 10, method="exact")[1]) == 1.0


@pytest.mark.parametrize("offset", [0.0, 1e4])
def test_rounding_of_products_loses_no_neighbour(offset):
    """Far from the origin, and with points nearer to each other than single precision can tell, none is missed."""
    rng = np.random.default_rng(0)
    near = rng.normal(size=(300, 20)) * 1e-5
    X = np.vstack([near, rng.normal(size=(300, 20)) * 100]) + offset
    indices = kneighbors(X, 6)[1]
    true = np.argsort(np.linalg.norm(X[:, None] - X, axis=2), axis=1, kind="stable")[:, :6]
    assert np.array_equal(indices, true)


def test_sparse_rows_have_the_neighbours_of_dense_ones():
    X = sparse.random_array((600, 300), density=0.05, rng=np.random.default_rng(0), format="csr")
    distances, indices = kneighbors(X, 8)
    true_distances, true_indices = reference(X.toarray(), 8)
    np.testing.assert_allclose(distances, true_distances, atol=1e-7)
    assert (indices == true_indices).mean() > 0.999
    assert np.array_equal(kneighbors(X, 8, n_jobs=2)[1], indices)
    single = kneighbors(X.astype(np.float32), 8, at=X[:5].astype(np.float32))
    np.testing.assert_allclose(single[0], true_distances[:5], atol=1e-3)


@pytest.mark.parametrize("metric", ["manhattan", "chebyshev", "canberra", "braycurtis", "correlation"])
@pytest.mark.parametrize("n_features", [5, 30])
def test_other_metrics_agree_with_scikit_learn(metric, n_features):
    X = np.abs(points(300, n_features)) + 0.1
    true = NearestNeighbors(algorithm="brute", metric=metric).fit(X).kneighbors(X, 6)
    distances = kneighbors(points_in(X, metric), 6)[0]
    np.testing.assert_allclose(distances[:, 1:], true[0][:, 1:], atol=1e-9)
    new = np.abs(points(9, n_features, seed=1))
    found = NeighborSearch(points_in(X, metric)).query(points_in(new, metric), 3)
    expected = NearestNeighbors(algorithm="brute", metric=metric).fit(X).kneighbors(new, 3)
    assert np.array_equal(found[1], expected[1])


def test_given_distances_have_the_neighbours_of_their_points():
    X = points(200)
    table = np.linalg.norm(X[:, None] - X, axis=2)
    given = points_in(table, "precomputed")
    assert np.array_equal(kneighbors(given, 5)[1], kneighbors(X, 5)[1])
    half = np.arange(0, 200, 2)
    assert np.array_equal(kneighbors(given[half], 5)[1], kneighbors(X[half], 5)[1])
    assert np.array_equal(kneighbors(given[half], 5, at=given)[1], kneighbors(X[half], 5, at=X)[1])


def test_a_search_asked_nothing_answers_nothing():
    assert kneighbors(points(50, 20), 3, at=np.empty((0, 20)))[1].shape == (0, 3)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_neighbors": 0}, "n_neighbors=0 must be at least 1"),
        ({"method": "magic"}, "method='magic' is not known"),
        ({"method": 3}, "method=3 must be one of"),
    ],
)
def test_wrong_values_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        kneighbors(points(), **{"n_neighbors": 3, **options})


def test_wrong_symmetry_is_named():
    with pytest.raises(ValueError, match="symmetrize='both' is not known"):
        neighbor_graph(np.zeros((1, 1), dtype=int), "both")


@pytest.mark.parametrize("n_features", [1, 2, 3, 70])
def test_points_in_near_order_follow_their_neighbours(n_features):
    X = np.random.default_rng(0).normal(size=(2000, n_features))
    X[0] = 1e9  # one far outlier must not put all others into one cell
    order = near_order(X)
    assert sorted(order) == list(range(2000))
    step = np.linalg.norm(np.diff(X[order], axis=0), axis=1)
    by_chance = np.linalg.norm(np.diff(X, axis=0), axis=1)
    assert np.median(step) < (0.3 if n_features < 4 else 1.0) * np.median(by_chance)


def test_near_order_takes_constant_columns():
    assert (near_order(np.ones((5, 2))) == np.arange(5)).all()
