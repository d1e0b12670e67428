"""Neighbours: every search finds the same ones, the graph is the symmetric union, and approximation is told."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse
from sklearn.neighbors import KNeighborsTransformer, NearestNeighbors

from evencut.affinity import NeighborSearch, kneighbors, near_order, neighbor_graph, neighbor_recall, neighbors


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
    monkeypatch.setattr(neighbors, "_QUERIES_PER_BLOCK", 64)
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


class CoarseDescent:
    """Stands in for pynndescent, which takes minutes to compile: neighbours of which one in ten is wrong."""

    def __init__(self, X, n_neighbors, random_state, n_jobs):
        distances, indices = reference(X, n_neighbors + 1)
        keep = np.r_[: n_neighbors - 1, n_neighbors]
        self.neighbor_graph = indices[:, keep], distances[:, keep]
        self.query = lambda Y, k: reference(X, k, Y)[::-1]


def test_approximate_neighbours_are_told_with_their_recall(monkeypatch):
    monkeypatch.setitem(sys.modules, "pynndescent", SimpleNamespace(NNDescent=CoarseDescent))
    monkeypatch.setattr(neighbors, "find_spec", lambda name: True)
    monkeypatch.setattr(neighbors, "_MAX_BRUTE_POINTS", 1000)
    X = points(1500, 20)
    with pytest.warns(UserWarning, match=r"1500 points in 20 dimensions are approximate \(recall 0\.900 on a sample"):
        table = kneighbors(X, 10)[1]
    assert neighbor_recall(X, table) == pytest.approx(0.9, abs=0.01)
    assert np.array_equal(kneighbors(X, 10, method="approximate")[1], table)
    assert neighbor_recall(X, kneighbors(X, 10, method="exact")[1]) == 1.0
    assert np.array_equal(kneighbors(X, 5, at=X[:7], method="approximate")[1], reference(X, 5, X[:7])[1])


def test_a_missing_library_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "pynndescent", None)
    with pytest.raises(ImportError, match=r'pip install "evencut\[ann\]"'):
        kneighbors(points(50, 20), 5, method="approximate")


def test_nearest_neighbour_descent_is_nearly_right():
    X = points(300, 20)
    table = kneighbors(X, 5, method="approximate")[1]
    assert np.array_equal(table[:, 0], np.arange(300))
    assert neighbor_recall(X, table) > 0.9


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
