"""Merging takes the pair that costs the criterion least, keeps its books right, and puts blocks together again."""

import numpy as np
import pytest
from scipy import sparse

from evencut.criteria import average_association, average_cut, normalized_cut
from evencut.solvers.exchange import merge_levels


def random_affinity(n=30):
    A = np.random.default_rng(0).random((n, n))
    return A + A.T


@pytest.mark.parametrize("criterion", [average_association, average_cut, normalized_cut])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_every_level_has_the_energy_of_its_labels(criterion, form):
    problem = criterion(form(random_affinity()))
    for level in merge_levels(problem, np.arange(30) % 12):
        assert -np.sum(level.inside / level.weight) == pytest.approx(problem.energy(level.labels()), rel=1e-9)
        assert len(np.unique(level.labels())) == len(level.weight)


@pytest.mark.parametrize("criterion", [average_association, average_cut, normalized_cut])
def test_each_step_is_the_best_of_all_pairs(criterion):
    problem = criterion(random_affinity())
    levels = list(merge_levels(problem, np.arange(30) % 8))
    for before, after in zip(levels, levels[1:]):
        labels = before.labels()
        joined = [
            problem.energy(np.where(labels == b, a, labels))
            for a in range(labels.max() + 1)
            for b in range(a + 1, labels.max() + 1)
        ]
        assert problem.energy(after.labels()) == pytest.approx(min(joined), rel=1e-9)


def test_levels_are_nested():
    levels = [level.labels() for level in merge_levels(normalized_cut(random_affinity()), np.arange(30) % 9)]
    for fine, coarse in zip(levels, levels[1:]):
        for part in np.unique(fine):
            assert len(np.unique(coarse[fine == part])) == 1


def test_merging_stops_at_the_number_asked_for():
    *_, last = merge_levels(normalized_cut(random_affinity()), np.arange(30), 7)
    labels = last.labels()
    assert sorted(np.unique(labels)) == list(range(7))


def test_blocks_are_put_together_again():
    blocks = np.kron(np.eye(3), np.ones((10, 10))) + 1e-3
    *_, last = merge_levels(normalized_cut(blocks), np.arange(30), 3)
    assert (last.labels() == np.repeat([0, 1, 2], 10)).all()


def test_too_few_parts_are_named():
    with pytest.raises(ValueError, match="n_clusters=5 is more than the 3 parts"):
        next(merge_levels(normalized_cut(random_affinity()), np.arange(30) % 3, 5))
