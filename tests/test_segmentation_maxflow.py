"""The compiled max-flow against scipy's and all labellings of tiny grids."""

import itertools

import numpy as np
import pytest
from scipy.sparse import coo_array
from scipy.sparse.csgraph import maximum_flow

from evencut.segmentation.cuts import GridCut, GridLabeler
from evencut.segmentation.grid import boundary_energy, neighbor_pairs


def random_problem(rng, shape, largest):
    capacities = rng.integers(0, largest + 1, size=(*shape, 3 ** len(shape) - 1)).astype(float)
    unary = rng.integers(-20, 21, size=shape).astype(float)
    return capacities, unary


def least_energy_by_scipy(capacities, unary):
    """Energy of the minimum cut from the value of scipy's maximum flow."""
    n, index = unary.size, np.arange(unary.size).reshape(unary.shape)
    tails, heads, values = [], [], []
    for d, here, there in neighbor_pairs(unary.shape):
        tails.append(index[here].ravel())
        heads.append(index[there].ravel())
        values.append(capacities[(*here, d)].ravel())
    flat = unary.ravel()
    tails += [np.full(n, n), np.arange(n)]
    heads += [np.arange(n), np.full(n, n + 1)]
    values += [np.maximum(-flat, 0), np.maximum(flat, 0)]
    parts = (np.concatenate(values).astype(np.int32), (np.concatenate(tails), np.concatenate(heads)))
    network = coo_array(parts, shape=(n + 2, n + 2)).tocsr()
    return maximum_flow(network, n, n + 1).flow_value + flat[flat < 0].sum()


def cut_energy(capacities, unary, mask):
    total = unary[mask].sum()
    for d, here, there in neighbor_pairs(mask.shape):
        total += capacities[(*here, d)][mask[here] & ~mask[there]].sum()
    return total


@pytest.mark.parametrize(("n_axes", "longest"), [(2, 14), (3, 7)])
@pytest.mark.parametrize("seed", range(40))
def test_compiled_cut_has_the_energy_of_scipys_maximum_flow(seed, n_axes, longest):
    rng = np.random.default_rng(seed)
    capacities, unary = random_problem(rng, tuple(rng.integers(1, longest, size=n_axes)), int(rng.integers(0, 25)))
    mask = GridCut(capacities).minimize(unary)
    assert cut_energy(capacities, unary, mask) == least_energy_by_scipy(capacities, unary)


@pytest.mark.parametrize("seed", range(5))
def test_warm_start_finds_the_cut_of_a_fresh_start(seed):
    rng = np.random.default_rng(seed)
    capacities, unary = random_problem(rng, (15, 17), 12)
    warm = GridCut(capacities)
    for _ in range(6):
        assert (warm.minimize(unary) == GridCut(capacities).minimize(unary)).all()
        unary = unary + rng.integers(-9, 10, size=unary.shape)


def total_energy(costs, weights, labels):
    chosen = np.take_along_axis(costs, labels.reshape(-1, 1), axis=1).sum()
    return chosen + boundary_energy(weights, labels)


def symmetric_weights(rng, shape):
    weights = np.zeros((*shape, 3 ** len(shape) - 1))
    for d, here, there in neighbor_pairs(shape, forward=True):
        values = rng.random(weights[(*here, d)].shape)
        weights[(*here, d)] = values
        weights[(*there, -1 - d)] = values
    return weights


@pytest.mark.parametrize("seed", range(10))
def test_two_labels_are_optimal_and_known_ones_are_kept(seed):
    rng = np.random.default_rng(seed)
    shape = (3, 4)
    weights, costs = symmetric_weights(rng, shape), rng.normal(size=(12, 2))
    known = np.full(shape, -1)
    known.flat[rng.choice(12, 4, replace=False)] = rng.integers(0, 2, size=4)
    start = np.where(known < 0, 0, known)
    labels = GridLabeler(weights, known, 2).improve(costs, start)
    assert (labels[known >= 0] == known[known >= 0]).all()
    energies = []
    for choice in itertools.product((0, 1), repeat=12):
        trial = np.array(choice).reshape(shape)
        if (trial[known >= 0] == known[known >= 0]).all():
            energies.append(total_energy(costs, weights, trial))
    assert total_energy(costs, weights, labels) == pytest.approx(min(energies), abs=1e-9)


@pytest.mark.parametrize("seed", range(10))
def test_expansion_lowers_the_energy_until_no_expansion_can(seed):
    rng = np.random.default_rng(seed)
    shape, n_labels = (3, 3), 3
    weights, costs = symmetric_weights(rng, shape), rng.normal(size=(9, n_labels))
    known = np.full(shape, -1)
    known[0, 0] = 2
    labeler = GridLabeler(weights, known, n_labels)
    labels = np.where(known < 0, rng.integers(0, n_labels, size=shape), known)
    while True:
        better = labeler.improve(costs, labels)
        assert total_energy(costs, weights, better) <= total_energy(costs, weights, labels) + 1e-9
        if (better == labels).all():
            break
        labels = better
    assert labels[0, 0] == 2
    for label in range(n_labels):
        for takes in itertools.product((False, True), repeat=8):
            moved = labels.copy()
            moved.ravel()[1:][np.array(takes)] = label
            assert total_energy(costs, weights, moved) >= total_energy(costs, weights, labels) - 1e-9
