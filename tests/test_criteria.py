"""Identities between the criteria."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from evencut.affinity import as_affinity, equalize
from evencut.criteria import RatioProblem, average_association, average_cut, energy, normalized_cut


def random_affinity(seed, n=30, density=0.4):
    rng = np.random.default_rng(seed)
    A = rng.random((n, n)) * (rng.random((n, n)) < density)
    return (A + A.T) / 2 + np.eye(n)


def random_labels(seed, n=30, k=3):
    rng = np.random.default_rng(seed)
    return rng.permutation(np.r_[np.arange(k), rng.integers(0, k, n - k)])


seeds = st.integers(0, 2**32 - 1)


@settings(max_examples=30, deadline=None)
@given(seeds)
def test_energies_are_the_formulas(seed):
    A, labels = random_affinity(seed), random_labels(seed)
    d = A.sum(axis=1)
    inside = [A[np.ix_(labels == k, labels == k)].sum() for k in range(3)]
    size = [np.sum(labels == k) for k in range(3)]
    volume = [d[labels == k].sum() for k in range(3)]
    assert energy(A, labels, "average_association") == pytest.approx(-np.sum(np.divide(inside, size)))
    assert energy(A, labels, "normalized_cut") == pytest.approx(-np.sum(np.divide(inside, volume)))
    cut = np.subtract(volume, inside)
    assert energy(A, labels, "average_cut") == pytest.approx(np.sum(cut / size))


@settings(max_examples=30, deadline=None)
@given(seeds)
def test_normalized_cut_is_weighted_association_of_normalised_affinities(seed):
    A, labels = random_affinity(seed), random_labels(seed)
    d = A.sum(axis=1)
    weighted = average_association(A / np.outer(d, d), weights=d)
    assert weighted.energy(labels) == pytest.approx(normalized_cut(A).energy(labels), rel=1e-12)


@settings(max_examples=30, deadline=None)
@given(seeds, st.floats(-10, 10))
def test_diagonal_shift_moves_association_by_shift_times_clusters(seed, shift):
    A, labels = random_affinity(seed), random_labels(seed)
    moved = energy(A + shift * np.eye(len(A)), labels, "average_association")
    assert moved - energy(A, labels, "average_association") == pytest.approx(-3 * shift, abs=1e-9)


def test_on_equal_degrees_all_criteria_agree_up_to_a_constant():
    even = equalize(random_affinity(0, n=200))
    gaps = []
    for seed in range(100):
        labels = random_labels(seed, n=200, k=4)
        aa, nc, ac = (energy(even, labels, c) for c in ("average_association", "normalized_cut", "average_cut"))
        gaps.append((nc - aa, ac - aa))
    np.testing.assert_allclose(gaps, np.tile([0.0, 4.0], (100, 1)), atol=1e-9)


@pytest.mark.parametrize("criterion", ["average_association", "normalized_cut", "average_cut"])
def test_weights_stand_for_copies(criterion):
    A, labels = random_affinity(1), random_labels(1)
    copies = np.random.default_rng(2).integers(1, 4, 30)
    repeated = np.repeat(np.repeat(A, copies, axis=0), copies, axis=1)
    expected = energy(repeated, np.repeat(labels, copies), criterion)
    assert energy(A, labels, criterion, weights=copies) == pytest.approx(expected)


@pytest.mark.parametrize("criterion", ["average_association", "normalized_cut", "average_cut"])
def test_dense_and_sparse_agree(criterion):
    A, labels = random_affinity(3), random_labels(3)
    for matrix in (sparse.csr_array(A), sparse.csr_array(A.astype(np.float32))):
        assert energy(matrix, labels, criterion, weights=np.arange(1, 31)) == pytest.approx(
            energy(A, labels, criterion, weights=np.arange(1, 31)), rel=1e-6
        )


def test_labels_may_be_any_names():
    A = random_affinity(4)
    names = np.array(["a", "b", "c"])[random_labels(4)]
    assert energy(A, names) == pytest.approx(energy(A, random_labels(4)))


def test_average_association_takes_negative_affinities():
    A = -random_affinity(5)
    assert energy(A, random_labels(5), "average_association") > 0
    with pytest.raises(ValueError, match=r"positive degrees.*sum to -.*average_association"):
        normalized_cut(A)


def test_errors_name_the_value_and_the_cure():
    A = random_affinity(6)
    with pytest.raises(ValueError, match=r"'modularity' is not known.*normalized_cut"):
        energy(A, random_labels(6), "modularity")
    with pytest.raises(ValueError, match=r"shape \(3,\).*30 points"):
        average_cut(A, weights=[1, 2, 3])
    with pytest.raises(ValueError, match="positive and finite"):
        average_association(A, weights=np.zeros(30))


def test_problem_counts_its_points():
    assert RatioProblem(as_affinity(np.eye(3)), np.ones(3)).n_points == 3


def test_links_of_sparse_rows_are_those_of_dense_ones():
    rows = sparse.random_array((7, 30), density=0.3, rng=np.random.default_rng(0)).tocsr()
    labels = np.arange(30) % 4
    np.testing.assert_allclose(as_affinity(rows).links(labels, 5), as_affinity(rows.toarray()).links(labels, 5))
