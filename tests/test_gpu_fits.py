# ruff: noqa: E402
"""Whole fits on torch tensors, on whatever device there is, against the rooms of the CPU."""

import importlib
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed: make test-gpu installs it")

from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from evencut.affinity import equalizing_scale, knn_density, knn_radius, parzen_density
from evencut.criteria import pose
from evencut.gpu import arrays, naive
from evencut.gpu.graph import add_pairs, vote
from evencut.gpu.nearest import nearest, nearest_to_points
from evencut.gpu.sums import KernelSums
from evencut.kernels import AdaptiveGaussian, shared_neighbor_affinity
from evencut.landmarks import Attachment
from evencut.landmarks.attachment import _UNIT as UNIT
from evencut.solvers import solve
from evencut.solvers.descent import lloyd_descent
from evencut.solvers.solve import Effort, _solve_by_cuts, sample_problem, spread_labels
from evencut.solvers.spectral import cut_embedding, fill_empty, leading_vectors, spectral_start
from evencut.tensors import is_tensor, result_like

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


@pytest.fixture(autouse=True)
def plain_on_the_cpu(monkeypatch):
    """The interpreter of another test file would take minutes here."""
    monkeypatch.delenv("TRITON_INTERPRET", raising=False)
    monkeypatch.setattr("evencut.tensors.runs_on_device", lambda X: True)


def adaptive(X, n_neighbors=7):
    return AdaptiveGaussian(n_neighbors).affinity(X)


def posed(X, criterion="average_association", equalize=None, n_neighbors=7):
    problem = pose(adaptive(X, n_neighbors), np.ones(len(X)), criterion, equalize).problem
    assert is_tensor(problem.weights) and problem.weights.device == X.device
    return problem


@pytest.fixture(scope="module")
def blobs():
    X, y = make_blobs(400, 3, centers=4, cluster_std=1.0, random_state=0)
    return torch.tensor(X, dtype=torch.float32, device=DEVICE), y


@pytest.mark.parametrize("equalize", [None, "weights", "exact"])
@pytest.mark.parametrize("criterion", ["average_association", "normalized_cut", "average_cut"])
def test_fits_find_the_clusters_and_answer_on_the_device(blobs, criterion, equalize):
    X, truth = blobs
    found = solve(posed(X, criterion, equalize), 4, random_state=0)
    if (criterion, equalize) != ("average_cut", None):
        assert adjusted_rand_score(truth, found.labels) > 0.95
    assert all(after < before for before, after in zip(found.trace, found.trace[1:]))


def test_the_energy_is_that_of_the_matrix(blobs):
    X, _ = blobs
    problem = posed(X, "normalized_cut")
    found = solve(problem, 4, random_state=0)
    A = problem.matrix.sums.dense()
    degree = A.sum(dim=1)
    members = torch.nn.functional.one_hot(torch.tensor(found.labels, device=DEVICE)).double()
    expected = -(members.T @ A @ members).diagonal() / (members.T @ degree)
    assert found.energy == pytest.approx(float(expected.sum()), rel=1e-4)


def test_updates_of_the_links_end_where_new_tables_end(blobs, monkeypatch):
    X, _ = blobs
    problem = posed(X, "normalized_cut")
    start = torch.arange(len(X), device=DEVICE) % 4
    updated = lloyd_descent(problem, start, 4)
    monkeypatch.setattr("evencut.affinity.lazy._FEW_CHANGES", 0.0)
    anew = lloyd_descent(problem, start, 4)
    assert adjusted_rand_score(updated.step.labels.cpu(), anew.step.labels.cpu()) > 0.99
    assert updated.trace == pytest.approx(anew.trace, rel=1e-3)


def test_exact_equalisation_makes_all_degrees_one(blobs):
    sums = adaptive(blobs[0]).sums
    weights = torch.arange(1.0, len(blobs[0]) + 1, device=DEVICE)
    scale = equalizing_scale(sums, weights=weights)
    assert torch.allclose(scale * (sums.dense() @ scale), weights.double(), rtol=3e-5)


def test_the_same_seed_gives_the_same_labels(blobs):
    X, _ = blobs
    first, again = (solve(posed(X), 6, random_state=3).labels for _ in range(2))
    assert (first == again).all()


def test_leading_vectors_are_those_of_the_dense_matrix():
    draw = torch.Generator().manual_seed(0)
    X = torch.randn(300, 2, generator=draw, dtype=torch.float64).to(DEVICE)
    matrix = KernelSums(X, 0.5).dense()
    start = torch.randn(300, 9, generator=draw, dtype=torch.float64).to(DEVICE)
    values, vectors = leading_vectors(lambda V: matrix @ V, start, 5, tol=1e-8, n_steps=200)
    expected = torch.linalg.eigvalsh(matrix).flip(0)[:5]
    assert torch.allclose(values, expected, rtol=1e-12)
    assert torch.allclose(matrix @ vectors, vectors * values, atol=1e-7)


@pytest.mark.parametrize("equalize", [None, "exact"])
def test_the_spectrum_of_all_points_starts_better_than_that_of_a_thin_sample(monkeypatch, equalize):
    # In the plane a sample of one point in eight is lonely at the bandwidths of all points.
    module = importlib.import_module("evencut.solvers.solve")  # the package has a function of that name
    monkeypatch.setattr(module, "_SAMPLE_ON_DEVICE", 100)
    monkeypatch.setattr(module, "_SAMPLE_PER_CLUSTER", 10)
    X = torch.randn(800, 2, generator=torch.Generator().manual_seed(0)).to(DEVICE)
    problem = posed(X, "normalized_cut", equalize)
    rng = np.random.default_rng(0)
    rows, sample = sample_problem(problem, 8, rng)
    labels = _solve_by_cuts(sample, 8, Effort(2), rng).labels
    starts = spread_labels(problem, rows, sample, labels, 8), spectral_start(problem, 8, 2, rows, rng)
    by_sample, by_spectrum = (lloyd_descent(problem, start, 8).trace[-1] for start in starts)
    assert by_spectrum < 0.99 * by_sample
    assert solve(problem, 8, random_state=0).energy <= 0.99 * by_sample


def test_no_more_clusters_than_points(blobs):
    with pytest.raises(ValueError, match="n_clusters=9 must be between 1 and the number of points, 5"):
        solve(posed(blobs[0][:5], n_neighbors=1), 9)


def test_kmeans_of_fewer_distinct_rows_than_clusters():
    labels = cut_embedding(torch.zeros(5, 2, dtype=torch.float64, device=DEVICE), 3, np.random.default_rng(0))
    assert len(fill_empty(labels, 3).unique()) == 3


def test_densities_are_those_of_the_cpu(blobs):
    from scipy.spatial import cKDTree

    X, _ = blobs
    points = X.cpu().double().numpy()
    radius = cKDTree(points).query(points, 8)[0][:, -1]
    assert np.allclose(knn_radius(X, 7).cpu(), radius, rtol=1e-6)
    assert np.allclose(knn_density(X, 7).cpu(), 7 / 400 / (4 / 3 * np.pi * radius**3), rtol=1e-5)
    squared = ((points[:, None] - points) ** 2).sum(axis=2)
    parzen = np.exp(-0.5 * squared / 0.25).mean(axis=1) / (2 * np.pi * 0.25) ** 1.5
    assert np.allclose(parzen_density(X, 0.5).cpu(), parzen, rtol=1e-4)


@pytest.mark.parametrize("width", [1e-3, 1e-9, 1e-12])
def test_neighbours_in_a_clump_too_tight_for_products(width):
    # Squares of such distances are lost beside the squares of the coordinates.
    draw = torch.Generator().manual_seed(0)
    clump = 1 + width * torch.randn(300, 3, generator=draw, dtype=torch.float64)
    X = torch.cat([torch.randn(100, 3, generator=draw, dtype=torch.float64), clump]).to(DEVICE)
    distances, indices = naive.nearest(X, 5, X[90:200])
    exact = (X[90:200, None] - X).square().sum(dim=2).sqrt()
    expected, right = exact.sort(dim=1, stable=True)
    assert torch.allclose(distances, expected[:, :5], rtol=1e-12, atol=0)
    assert (exact.gather(1, indices) == exact.gather(1, right[:, :5])).all()


def test_radius_of_copies_is_the_least_positive_one():
    X = torch.tensor([[0.0], [0.0], [0.0], [1.0], [3.0]], device=DEVICE)
    assert knn_radius(X, 1).tolist() == [1.0, 1.0, 1.0, 1.0, 2.0]


def test_the_graph_is_symmetric_and_follows_its_formula(blobs):
    X, _ = blobs
    distances, indices = nearest_to_points(X, 9)
    A = shared_neighbor_affinity(X, distances, indices)
    assert abs(A - A.T).max() == 0
    lists = [set(row) for row in indices.tolist()]
    radius = distances[:, 4].cpu().numpy()
    dense, points = A.toarray(), X.cpu().double().numpy()
    linked = {(p, q) for p in range(400) for q in lists[p]} | {(q, p) for p in range(400) for q in lists[p]}
    assert {(p, q) for p, q in zip(*dense.nonzero())} == linked
    for p, q in list(linked)[::50]:
        if p != q:
            share = len(lists[p] & lists[q]) / 9
            expected = np.exp(-0.5 * ((points[p] - points[q]) ** 2).sum() / (radius[p] * radius[q])) * share**6
            assert dense[p, q] == pytest.approx(expected, rel=1e-4)


def test_a_graph_multiplies_on_its_device(blobs):
    graph = shared_neighbor_affinity(blobs[0], *nearest_to_points(blobs[0], 5))
    product = result_like(blobs[0], graph) @ torch.ones(400, 1, device=DEVICE)
    assert np.allclose(product[:, 0].cpu(), graph.sum(axis=1), rtol=1e-5)


def test_attachment_weights_sum_to_one_and_vote(blobs):
    X, _ = blobs
    _, indices, units = next(Attachment.to(X[::20], 4)._weights(X))
    assert ((units.sum(dim=1) - UNIT).abs() <= 4).all()
    B = np.zeros((400, 20))
    np.put_along_axis(B, indices.cpu().numpy(), units.cpu().numpy(), axis=1)
    pairs, sums = (part.cpu().numpy() for part in add_pairs(indices, units, units[:, 0] * 0 + 1, 20))
    dense = np.zeros(400)
    dense[pairs] = sums
    assert (dense.reshape(20, 20) == np.triu(B.T @ B)).all()
    labels = torch.arange(20, device=DEVICE) % 3
    members = np.eye(3)[labels.cpu().numpy()]
    assert (vote(indices, units, labels, 3).cpu().numpy() == (B @ members).argmax(axis=1)).all()


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.int32])
def test_other_types_become_float32(dtype):
    X = torch.arange(12, device=DEVICE).reshape(6, 2).to(dtype)
    assert (nearest(X, 2)[1][:, 0] == torch.arange(6, device=DEVICE)).all()


def test_views_and_gradients_are_taken_as_they_are(blobs):
    X, _ = blobs
    wide = torch.cat([X, X], dim=1).requires_grad_()
    view = wide[:, ::2]
    assert (nearest(view, 3)[1] == nearest(view.detach().clone().contiguous(), 3)[1]).all()
    assert not KernelSums(wide, 1.0)(torch.ones(400, device=DEVICE)).requires_grad


@pytest.mark.parametrize("wrong, message", [
    (lambda X: X[:, 0], "must be 2-D"),
    (lambda X: torch.where(X == X[3, 0], torch.nan, X), "NaN or infinity, first in row 3"),
    (lambda X: X[:0], "at least one point"),
])  # fmt: skip
def test_wrong_tensors_are_named(blobs, wrong, message):
    with pytest.raises(ValueError, match=message):
        nearest(wrong(blobs[0]), 1)


def test_wrong_arguments_are_named(blobs):
    X, _ = blobs
    with pytest.raises(ValueError, match="n_neighbors=401 must be between 1 and the number of points, 400"):
        nearest(X, 401)
    with pytest.raises(ValueError, match="bandwidths must be positive and finite, but the smallest is 0"):
        KernelSums(X, 0.0)
    with pytest.raises(ValueError, match="takes one bandwidth for all points"):
        KernelSums(X, torch.ones(400, device=DEVICE))
    with pytest.raises(ValueError, match="needs one row for each of 400 points"):
        KernelSums(X, 1.0)(torch.ones(3, device=DEVICE))
    with pytest.raises(TypeError, match="not a torch tensor"):
        nearest(np.zeros((3, 2)), 1)


def test_two_devices_are_named():
    with pytest.raises(ValueError, match=r"X is on cpu, Y is on meta; move them"):
        arrays.same_device(X=torch.ones(1), Y=torch.ones(1, device="meta"))


def test_what_cannot_fit_says_what_it_needs(monkeypatch):
    monkeypatch.setattr(arrays, "free_bytes", lambda device: 2**20)
    with pytest.raises(MemoryError, match=r"a search needs 2.00 GiB for its smallest block, but only 0.00 GiB of cpu"):
        arrays.block_rows(100, 2**21, torch.device("cpu"), unit=1024, what="a search")


def test_evencut_itself_does_not_import_torch():
    script = "import sys, evencut, evencut.gpu; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script]).returncode == 0


def test_the_guide_prints_what_it_says(capsys):
    """Its blocks are marked `py`, so that the test of all guides does not need torch."""
    guide = (Path(__file__).parents[1] / "docs/how_to/use_a_gpu.md").read_text(encoding="utf-8")
    parts = guide.split("```")[1::2]
    names = {}
    for code, printed in zip(parts, parts[1:]):
        if code.startswith("py\n"):
            exec(code.removeprefix("py\n"), names)
            assert capsys.readouterr().out == printed.removeprefix("text\n")
