"""The multilevel solver: true energies that never rise, no empty cluster, any criterion, graphs of every bad shape."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from evencut import NormalizedCut
from evencut.affinity import as_affinity, equalize
from evencut.criteria import RatioProblem, average_association, average_cut, normalized_cut
from evencut.kernels import KNN
from evencut.solvers import solve
from evencut.solvers.multilevel import multilevel


def blobs(n_samples=4000, side=4, spread=0.2, seed=0):
    rng = np.random.default_rng(seed)
    truth = np.arange(n_samples) % side**2
    centres = np.stack(np.divmod(np.arange(side**2), side), axis=1)
    return centres[truth] + spread * rng.standard_normal((n_samples, 2)), truth


def check(problem, n_clusters, **options):
    labels, trace, converged = multilevel(problem, n_clusters, random_state=0, **options)
    assert labels.shape == (len(problem.weights),)
    assert np.array_equal(np.unique(labels), np.arange(n_clusters))
    tolerance = 1e-9 * max(1.0, np.abs(trace).max())
    assert abs(trace[-1] - problem.energy(labels)) <= tolerance
    assert (np.diff(trace) <= tolerance).all()
    return labels, trace, converged


X, TRUTH = blobs()
GRAPH = KNN(15).affinity(X)
POINT_WEIGHTS = np.random.default_rng(5).uniform(0.5, 2, len(X))
PROBLEMS = {
    "average_association": average_association(GRAPH),
    "weighted_average_association": average_association(GRAPH, POINT_WEIGHTS),
    "normalized_cut": normalized_cut(GRAPH),
    "average_cut": average_cut(GRAPH),
    "equalized": average_association(equalize(GRAPH)),
    "float32": normalized_cut(GRAPH.astype(np.float32)),
}


@pytest.mark.parametrize("name", PROBLEMS)
def test_energies_are_true_and_no_higher_than_those_of_the_spectral_solver(name):
    problem = PROBLEMS[name]
    _, trace, converged = check(problem, 16)
    spectral = solve(problem, 16, solver="spectral", n_init=1, random_state=0)
    assert converged
    assert trace[-1] <= spectral.energy + 1e-3 * abs(spectral.energy)


def test_no_single_point_move_is_left():
    problem = PROBLEMS["normalized_cut"]
    labels, trace, _ = check(problem, 16)
    rng = np.random.default_rng(0)
    for p in rng.choice(len(X), 100, replace=False):
        for k in np.unique(labels[GRAPH[[p]].indices]):
            moved = labels.copy()
            moved[p] = k
            assert problem.energy(moved) >= trace[-1] - 1e-9


def test_more_cycles_never_hurt_and_reach_the_points_themselves():
    problem = PROBLEMS["normalized_cut"]
    once = check(problem, 16, n_init=1)[1][-1]
    often = check(problem, 16, n_init=16)[1][-1]
    assert often <= once + 1e-12


def test_the_seed_decides():
    problem = PROBLEMS["normalized_cut"]
    first = multilevel(problem, 16, random_state=3)[0]
    assert np.array_equal(first, multilevel(problem, 16, random_state=3)[0])
    assert np.array_equal(first, multilevel(problem, 16, random_state=np.random.default_rng(3))[0])


def test_threads_do_not_change_the_labels():
    one, two = (NormalizedCut(16, kernel=KNN(15), random_state=0, n_jobs=n).fit(X) for n in (1, 2))
    assert np.array_equal(one.labels_, two.labels_)
    assert one.energy_ == two.energy_


def test_auto_takes_it_for_large_sparse_graphs():
    problem = PROBLEMS["normalized_cut"]
    auto = solve(problem, 16, random_state=1)
    named = solve(problem, 16, solver="multilevel", random_state=1)
    assert np.array_equal(auto.labels, named.labels)
    assert auto.energy == pytest.approx(problem.energy(auto.labels))


def test_too_few_moves_are_told():
    labels, trace, converged = multilevel(PROBLEMS["normalized_cut"], 16, max_iter=0, random_state=0)
    assert not converged
    assert trace[-1] == pytest.approx(PROBLEMS["normalized_cut"].energy(labels))


@pytest.mark.parametrize("n_clusters", [2, 20, 999, 1000, 1001, 1500])
def test_a_graph_of_many_components_is_never_cut_without_need(n_clusters):
    problem = normalized_cut(sparse.csr_array(sparse.kron(sparse.eye_array(1000), np.ones((5, 5)))))
    labels, trace, _ = check(problem, n_clusters)
    if n_clusters <= 1000:
        assert trace[-1] == pytest.approx(-n_clusters)
        assert (labels.reshape(1000, 5) == labels[::5, None]).all()


@pytest.mark.parametrize("criterion", [average_association, normalized_cut, average_cut])
@pytest.mark.parametrize("n_clusters", [2, 50])
def test_a_star(criterion, n_clusters):
    leaves = np.arange(1, 3001)
    hub = np.zeros_like(leaves)
    ends = np.concatenate([hub, leaves]), np.concatenate([leaves, hub])
    star = sparse.csr_array((np.ones(6000), ends), shape=(3001, 3001))
    check(criterion(star), n_clusters)


def test_all_points_equal():
    table = np.tile(np.arange(10), (3500, 1))
    indptr = np.arange(0, 35001, 10)
    one_way = sparse.csr_array((np.ones(35000), table.ravel(), indptr), shape=(3500, 3500))
    check(normalized_cut(sparse.csr_array(one_way + one_way.T)), 5)


@pytest.mark.parametrize("criterion", [average_association, normalized_cut, average_cut])
@pytest.mark.parametrize("n_clusters", [1, 2, 2000, 3990, 3999, 4000])
def test_any_number_of_clusters(criterion, n_clusters):
    check(criterion(GRAPH), n_clusters)


def test_points_without_any_link():
    check(average_association(sparse.csr_array(sparse.eye_array(4000))), 7)
    check(average_association(sparse.csr_array((4000, 4000))), 7)


def test_explicit_zeros_duplicates_unsorted_rows_and_long_indices_change_nothing():
    rows = np.repeat(np.arange(len(X)), np.diff(GRAPH.indptr))
    zero_rows, zero_columns = np.divmod(np.random.default_rng(0).choice(len(X) ** 2, 2000), len(X))
    rows = np.concatenate([rows, rows, zero_rows, zero_columns])
    columns = np.concatenate([GRAPH.indices, GRAPH.indices, zero_columns, zero_rows])
    data = np.concatenate([GRAPH.data / 2, GRAPH.data / 2, np.zeros(4000)])
    order = np.lexsort((np.random.default_rng(1).random(len(rows)), rows))
    indptr = np.searchsorted(rows[order], np.arange(len(X) + 1))
    entries = (data[order], columns[order].astype(np.int64), indptr.astype(np.int64))
    untidy = sparse.csr_array(entries, shape=GRAPH.shape)
    assert untidy.indices.dtype == np.int64
    labels, trace, _ = check(normalized_cut(untidy), 16)
    assert trace[-1] == pytest.approx(PROBLEMS["normalized_cut"].energy(labels))


def test_negative_affinities():
    rng = np.random.default_rng(0)
    signed = sparse.random_array((3500, 3500), density=2e-3, rng=rng)
    signed.data -= 0.7
    check(average_association(sparse.csr_array(signed + signed.T)), 8)


@settings(max_examples=40, deadline=None)
@given(st.integers(2, 60), st.integers(1, 60), st.floats(0.02, 0.5), st.integers(0, 10_000))
def test_small_random_graphs(n_points, n_clusters, density, seed):
    n_clusters = min(n_clusters, n_points)
    rng = np.random.default_rng(seed)
    half = sparse.random_array((n_points, n_points), density=density, rng=rng)
    matrix = sparse.csr_array(half + half.T)
    check(RatioProblem(as_affinity(matrix), rng.uniform(0.1, 3, n_points), rng.normal(size=n_points)), n_clusters)


def test_dense_matrices_and_wrong_numbers_are_refused():
    with pytest.raises(ValueError, match="needs a sparse affinity, but got ndarray"):
        multilevel(normalized_cut(np.ones((4, 4))), 2)
    with pytest.raises(ValueError, match="n_clusters=5000 must be between 1 and the number of points, 4000"):
        multilevel(PROBLEMS["normalized_cut"], 5000)
