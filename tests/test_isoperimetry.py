"""Isoperimetric numbers: their definition, their bounds by the second eigenvalue, and the sets that meet them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evencut.criteria import energy
from evencut.theory import cheeger_bounds, cheeger_set, isoperimetric_number


def graph_of(seed, n_points=7):
    upper = np.triu(np.random.default_rng(seed).random((n_points, n_points)) ** 4, 1)
    return upper + upper.T


def all_splits(n_points):
    for code in range(1, 2 ** (n_points - 1)):
        yield np.array([0, *((code >> np.arange(n_points - 1)) & 1)])


@given(st.integers(0, 10_000), st.booleans())
@settings(max_examples=30, deadline=None)
def test_the_lowest_number_is_within_the_bounds_and_so_is_the_cheeger_set(seed, normalized):
    graph = graph_of(seed)
    lowest = min(isoperimetric_number(graph, labels, normalized=normalized) for labels in all_splits(len(graph)))
    low, high = cheeger_bounds(graph, normalized=normalized)
    found = isoperimetric_number(graph, cheeger_set(graph, normalized=normalized), normalized=normalized)
    assert low - 1e-9 <= lowest <= found + 1e-9
    assert found <= high + 1e-9


def test_cuts_are_within_a_factor_of_two():
    graph = graph_of(0)
    for labels in all_splits(len(graph)):
        for name, normalized in (("average_cut", False), ("normalized_cut", True)):
            cut = energy(graph, labels, name) + (2 if normalized else 0)
            number = isoperimetric_number(graph, labels, normalized=normalized)
            assert number * (1 - 1e-9) <= cut <= 2 * number * (1 + 1e-9)


def test_the_number_is_that_of_the_worst_cluster_and_ignores_the_diagonal():
    graph, labels = graph_of(1, 9), np.repeat([0, 1, 2], 3)
    alone = [isoperimetric_number(graph, labels == k) for k in range(3)]
    assert isoperimetric_number(graph, labels) == pytest.approx(max(alone))
    assert isoperimetric_number(graph + 5 * np.eye(9), labels) == pytest.approx(max(alone))
    assert cheeger_bounds(graph + 5 * np.eye(9)) == pytest.approx(cheeger_bounds(graph))


def test_two_components_have_number_zero():
    blocks = np.kron(np.eye(2), np.ones((4, 4)))
    assert cheeger_bounds(blocks) == pytest.approx((0, 0), abs=1e-6)
    assert sorted(np.bincount(cheeger_set(blocks))) == [4, 4]
    assert isoperimetric_number(blocks, cheeger_set(blocks)) == pytest.approx(0, abs=1e-9)


def test_mistakes_are_named():
    with pytest.raises(ValueError, match="at least 2 clusters"):
        isoperimetric_number(np.ones((3, 3)), [0, 0, 0])
    with pytest.raises(ValueError, match="smallest degree is 0"):
        cheeger_bounds(np.zeros((3, 3)), normalized=True)
