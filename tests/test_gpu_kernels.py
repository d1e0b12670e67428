# ruff: noqa: E402
"""Fused kernels against the same in plain torch, over shapes and types: on the GPU, or in Triton's interpreter."""

import os

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed: make test-gpu installs it")
if not torch.cuda.is_available():
    os.environ.setdefault("TRITON_INTERPRET", "1")
triton = pytest.importorskip("triton", reason="Triton is not installed: it comes with torch on Linux")

from evencut.gpu import naive
from evencut.gpu import nearest as search
from evencut.gpu.graph import common_counts
from evencut.gpu.nearest import SearchTiles, nearest, nearest_to_points, pair_distances
from evencut.gpu.sums import KernelSums, Tiles
from evencut.kernels import AdaptiveGaussian

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


# The interpreter of Triton 3.6 and older takes arrays of one entry for numbers, which numpy 2.4 no longer does.
old_interpreter = DEVICE == "cpu" and tuple(int(part) for part in triton.__version__.split(".")[:2]) < (3, 7)
pytestmark = pytest.mark.skipif(old_interpreter, reason="this Triton's interpreter does not run with numpy 2.4")


@pytest.fixture
def draw():
    generator = torch.Generator().manual_seed(0)
    return lambda *shape: torch.randn(*shape, generator=generator).to(DEVICE)


def relative_error(found, expected):
    return float(((found - expected) / expected).abs().max())


@pytest.mark.parametrize("precision, most", [("exact", 1e-5), ("fast", 5e-3)])
@pytest.mark.parametrize("form", ["gaussian", "mean", "product"])
@pytest.mark.parametrize("n_features, n_vectors", [(1, 1), (3, 20), (8, 1), (8, 70), (30, 2), (40, 1)])
def test_kernel_sums_are_the_product_with_the_matrix(draw, form, precision, most, n_features, n_vectors):
    X, Y = draw(70, n_features) + 5, draw(300, n_features) + 5
    V = draw(300, n_vectors).abs() + 0.01
    sigma = n_features**0.5
    own, theirs = sigma * (0.5 + draw(70).abs()), sigma * (0.5 + draw(300).abs())
    sums = KernelSums(X, sigma, Y=Y) if form == "gaussian" else KernelSums(X, own, Y=Y, y_bandwidth=theirs, form=form)
    assert relative_error(sums(V, precision), sums.dense() @ V.double()) < most


def test_kernel_sums_keep_precision_far_from_the_origin_and_for_small_affinities(draw):
    X, Y = draw(40, 3) + 1000, draw(200, 3) + 1000
    X[0] += 4
    sums = KernelSums(X, 1.0, Y=Y)
    V = draw(200, 3).abs() + 1e-3
    expected = sums.dense() @ V.double()
    assert float(expected.min()) < 0.05
    assert relative_error(sums(V), expected) < 1e-5
    assert relative_error(sums(V, "fast"), expected) < 5e-3


def test_exact_sums_of_tables_with_many_scales(draw):
    X = draw(260, 2)
    V = draw(260, 4).abs() * torch.tensor([1e-6, 1.0, 1e3, 1e8], device=DEVICE)
    sums = KernelSums(X, 0.5)
    assert relative_error(sums(V), sums.dense() @ V.double()) < 1e-5


# The interpreter's numpy warns of infinite fp16 numbers, which a GPU multiplies in silence; such rows are done again.
@pytest.mark.filterwarnings("ignore:invalid value", "ignore:overflow")
@pytest.mark.parametrize("n_features", [3, 40])
def test_rows_far_out_keep_their_digits(draw, n_features):
    X = draw(100, n_features)
    sigma = n_features**0.5 * (0.4 + 0.1 * draw(100).abs()).double()
    new = torch.cat([X[:3], 6 * X[3:6], 1e7 * X[6:8]])
    table = draw(100, 2).abs()
    expected = torch.exp(-0.5 * naive.squared_distances(new, X) / sigma**2) @ table.double()
    assert float(expected[3:6].min()) < 1e-6
    rows = AdaptiveGaussian()._rows(X, sigma, new)
    assert torch.allclose(rows.sums(table, "careful"), expected, rtol=1e-4, atol=0)
    # What labels new points is as careful.
    labels = torch.arange(100, device=DEVICE) % 2
    members = torch.nn.functional.one_hot(labels).double()
    expected = torch.exp(-0.5 * naive.squared_distances(new, X) / sigma**2) @ members
    assert torch.allclose(rows.links(labels, 2), expected, rtol=1e-4, atol=0)


@pytest.mark.parametrize("precision, most", [("exact", 1e-5), ("fast", 5e-3)])
def test_bandwidths_too_small_for_fp16_coordinates(draw, precision, most):
    X = torch.cat([draw(60, 30), draw(60, 30) + 1000])
    sums = KernelSums(X, 1e-2)
    V = draw(120, 2).abs() + 0.01
    assert relative_error(sums(V, precision), sums.dense() @ V.double()) < most


@pytest.mark.parametrize("tiles", [Tiles(64, 64, 4, 2), Tiles(128, 32, 4, 2)])
def test_tiles_do_not_change_the_sum(draw, tiles):
    sums = KernelSums(draw(150, 4), 1.0)
    V = draw(150, 3)
    assert torch.allclose(sums(V, tiles=tiles), sums(V), rtol=1e-5, atol=1e-5)


def test_a_part_of_the_sums_is_the_sum_of_the_part(draw):
    sums = KernelSums(draw(100, 3), draw(100).abs() + 0.5, form="mean")
    V = draw(100, 2)
    sums(V, "fast")
    rows, columns = torch.tensor([3, 50, 7], device=DEVICE), torch.tensor([1, 99], device=DEVICE)
    for some, which in ((sums.block(rows, columns), rows), (sums.block(columns=columns), slice(None))):
        expected = sums.dense()[which][:, columns] @ V[columns].double()
        assert torch.allclose(some(V[columns], "fast"), expected, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("n_points, n_queries, n_features, n_neighbors", [
    (1500, 40, 2, 8), (1100, 30, 8, 16), (1300, 20, 64, 5), (1030, 20, 130, 4), (20, 20, 3, 5),
    (40, 7, 1, 40), (3, 1, 5, 1),
])  # fmt: skip
def test_neighbours_are_those_of_float64(draw, n_points, n_queries, n_features, n_neighbors):
    X, queries = draw(n_points, n_features) + 3, draw(n_queries, n_features) + 3
    distances, indices = nearest(X, n_neighbors, queries)
    expected, right = naive.nearest(X, n_neighbors, queries)
    assert torch.allclose(distances, expected, rtol=1e-12)
    assert (indices == right).all()


@pytest.mark.parametrize("flat", [True, False])
def test_wide_points_are_searched_in_parts(draw, flat):
    X = draw(1100, 70)
    tiles = SearchTiles(128, 128, 4, 2, flat)
    assert (nearest(X, 3, X[:20], tiles=tiles)[1] == naive.nearest(X, 3, X[:20])[1]).all()


def test_neighbours_are_exact_in_float64_and_where_rounding_hides_them(draw):
    # A clump so tight and far out that fp16 sees one point: the proof fails and the rows are searched again.
    X = torch.cat([draw(600, 30), 100 + 1e-3 * draw(600, 30)]).double()
    distances, indices = nearest(X, 4, X[590:620])
    expected, right = naive.nearest(X, 4, X[590:620])
    assert (indices == right).all() and torch.allclose(distances, expected, rtol=1e-12)


@pytest.mark.parametrize("width, in_float64", [(0.1, 0), (1e-5, 20)])
def test_rows_without_a_proof_are_searched_again(draw, monkeypatch, width, in_float64):
    # More points in the clump than the groups looked at can hold, so that only distances can tell them apart.
    X = torch.cat([draw(200, 30), 100 + width * draw(1300, 30).double()])
    asked, attempts = [], []
    old, old_attempt = naive.nearest, search._attempt
    monkeypatch.setattr(search.naive, "nearest", lambda points, k, at: asked.append(len(at)) or old(points, k, at))
    monkeypatch.setattr(search, "_attempt", lambda *args: attempts.append(args[2].is_split) or old_attempt(*args))
    indices = nearest(X, 4, X[610:630])[1]
    assert (indices == old(X, 4, X[610:630])[1]).all()
    assert attempts[0] is False and attempts[-1] is True
    assert sum(asked) == in_float64


def test_each_point_comes_first_among_its_own_neighbours():
    X = torch.zeros(50, 2, device=DEVICE)
    distances, indices = nearest_to_points(X, 3)
    assert (indices[:, 0] == torch.arange(50, device=DEVICE)).all()
    assert (distances == 0).all()
    assert all(len(set(row)) == 3 for row in indices.tolist())


def test_distances_of_pairs_and_common_neighbours(draw):
    X, Y = draw(30, 70), draw(20, 70)
    left, right = torch.arange(30, device=DEVICE), torch.arange(30, device=DEVICE) % 20
    assert torch.allclose(pair_distances(X, Y, left, right), naive.pair_distances(X, Y, left, right), rtol=1e-12)
    lists = torch.stack([torch.randperm(40)[:7] for _ in range(30)]).to(DEVICE)
    assert (common_counts(lists, lists, left, right) == naive.common_counts(lists, lists, left, right)).all()
