"""Dominant sets: cliques, both dynamics, peeling, sparse affinities, and the warning where a mode is isolated."""

from itertools import combinations, pairwise

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from evencut import DominantSets, diagnose
from evencut.datasets import make_clumped_moons
from evencut.diagnosis import DensityBiasWarning
from evencut.estimators import dominant_set, is_maximal_clique
from evencut.kernels import KNN, Gaussian
from evencut.neighbors import squared_distances

DYNAMICS = ["infection", "replicator"]


# The suite warns of its own accord, and its tiny data sets may show a bias.
@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks([DominantSets(), DominantSets(2), DominantSets(2, dynamics="replicator", max_iter=500)])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def random_graph(seed, n_points=14, chance=0.5):
    rng = np.random.default_rng(seed)
    upper = np.triu(rng.random((n_points, n_points)) < chance, 1)
    return (upper | upper.T).astype(float)


def clique_number(graph):
    n_points = len(graph)
    for size in range(n_points, 0, -1):
        for members in combinations(range(n_points), size):
            if all(graph[p, q] for p, q in combinations(members, 2)):
                return size
    return 0


@pytest.mark.parametrize("dynamics", DYNAMICS)
@pytest.mark.parametrize("seed", range(6))
def test_dominant_sets_of_0_1_graphs_are_maximal_cliques(seed, dynamics):
    graph = random_graph(seed)
    rng = np.random.default_rng(seed)
    found = [
        dominant_set(graph, dynamics=dynamics, start=1 + 0.1 * rng.random(14), max_iter=50_000) for _ in range(4)
    ]
    for one in found:
        assert one.converged
        assert is_maximal_clique(graph, one.members)
        # Motzkin and Straus, with Bomze's diagonal: x'(A + I/2)x = 1 - 1/(2 omega) at a clique of omega points.
        assert one.cohesion == pytest.approx(1 - 1 / (2 * len(one.members)), abs=1e-5)
        np.testing.assert_allclose(one.weights[one.members], 1 / len(one.members), atol=1e-3)
    assert max(len(one.members) for one in found) <= clique_number(graph)


@pytest.mark.parametrize("dynamics", DYNAMICS)
def test_a_dominant_set_is_a_maximum_on_the_simplex(dynamics):
    rng = np.random.default_rng(0)
    affinity = Gaussian(0.7).affinity(rng.normal(size=(60, 2)))
    np.fill_diagonal(affinity, 0)
    one = dominant_set(affinity, dynamics=dynamics)
    payoff = affinity @ one.weights
    assert one.weights.sum() == pytest.approx(1)
    assert one.weights.min() >= 0
    # The conditions of Karush, Kuhn and Tucker: equal payoffs inside, none higher outside.
    np.testing.assert_allclose(payoff[one.members], one.cohesion, rtol=1e-3)
    assert payoff.max() <= one.cohesion * (1 + 1e-3)
    for _ in range(20):
        nearby = np.abs(one.weights + 0.002 * rng.normal(size=60) * (one.weights > 0))
        nearby /= nearby.sum()
        assert nearby @ affinity @ nearby <= one.cohesion * (1 + 1e-6)


def test_both_dynamics_agree_and_infection_needs_less_work():
    affinity = Gaussian(1.0).affinity(np.random.default_rng(1).normal(size=(120, 2)))
    slow = dominant_set(affinity, dynamics="replicator", max_iter=100_000)
    fast = dominant_set(affinity, dynamics="infection", max_iter=100_000)
    assert fast.cohesion == pytest.approx(slow.cohesion, rel=1e-5)
    # A replicator step reads all n^2 affinities, an infection step one row of n.
    assert fast.n_iter < slow.n_iter * len(affinity)


def test_cohesion_never_falls():
    affinity = Gaussian(0.5).affinity(np.random.default_rng(2).normal(size=(50, 2)))
    for dynamics in DYNAMICS:
        values = [dominant_set(affinity, dynamics=dynamics, max_iter=m).cohesion for m in (1, 2, 5, 20, 100, 1000)]
        assert all(later >= earlier - 1e-12 for earlier, later in pairwise(values))


def test_sparse_and_dense_affinities_agree():
    X = np.random.default_rng(3).normal(size=(80, 2))
    affinity = Gaussian(0.4).affinity(X)
    affinity[affinity < 0.1] = 0
    dense = DominantSets(kernel="precomputed", random_state=0).fit(affinity)
    thin = DominantSets(kernel="precomputed", random_state=0).fit(sparse.csr_array(affinity))
    np.testing.assert_array_equal(dense.labels_, thin.labels_)
    np.testing.assert_allclose(dense.cohesions_, thin.cohesions_, rtol=1e-5)


@pytest.mark.parametrize("dynamics", DYNAMICS)
def test_peeling_finds_separated_clusters(dynamics):
    X, y = make_blobs(150, centers=[[0, 0], [9, 0], [0, 9]], cluster_std=0.8, random_state=0)
    model = DominantSets(3, kernel=Gaussian(2.0), dynamics=dynamics, random_state=0).fit(X)
    assert adjusted_rand_score(y, model.labels_) == 1
    assert len(model.cohesions_) == 3
    assert model.maximal_cliques_ is None


def test_disk_graph_peels_maximal_cliques_at_the_densest_disk():
    # The largest clique of a disk graph lies where the points are densest (Section on maximal cliques).
    rng = np.random.default_rng(4)
    X = np.vstack([0.15 * rng.normal(size=(30, 2)), rng.uniform(-3, 3, size=(120, 2))])
    graph = (squared_distances(X) <= 0.5**2).astype(float)
    model = DominantSets(4, kernel="precomputed", assign_rest=False, random_state=0).fit(graph)
    assert model.maximal_cliques_.all()
    first = np.flatnonzero(model.labels_ == 0)
    assert np.mean(first < 30) > 0.8
    assert model.set_sizes_[0] == model.set_sizes_.max()


def test_knn_union_graph_is_a_0_1_graph():
    X, y = make_blobs(60, centers=[[0, 0], [9, 9]], random_state=0)
    model = DominantSets(kernel=KNN(6, symmetrize="union"), random_state=0)
    with pytest.warns(DensityBiasWarning):
        model.fit(X)
    assert model.maximal_cliques_.dtype == bool
    assert model.maximal_cliques_.all()
    for k in range(len(model.set_sizes_)):
        assert len(set(y[model.labels_ == k])) == 1


def test_isolating_the_mode_is_told_and_points_to_the_diagnosis():
    X, _ = make_clumped_moons(400, clump=0.5, random_state=0)
    model = DominantSets(2, kernel=Gaussian(0.1), random_state=0)
    with pytest.warns(DensityBiasWarning, match="evencut.diagnose"):
        labels = model.fit_predict(X)
    assert diagnose(X, labels).verdict == "mode isolation"


def test_all_points_are_peeled_or_noise():
    X = np.vstack([make_blobs(60, centers=[[0, 0], [9, 9]], cluster_std=0.3, random_state=0)[0], [[50.0, 50.0]]])
    affinity = Gaussian(1.0).affinity(X)
    affinity[affinity < 1e-3] = 0
    labels = DominantSets(kernel="precomputed", random_state=0).fit_predict(affinity)
    assert labels[-1] == -1  # nothing is near it
    assert set(labels[:-1]) >= {0, 1}
    given = DominantSets(2, kernel="precomputed", random_state=0).fit_predict(affinity)
    assert set(given) == {0, 1, -1}


def test_rest_is_assigned_or_left():
    X, y = make_blobs(90, centers=[[0, 0], [9, 9]], cluster_std=1.5, random_state=0)
    left = DominantSets(2, kernel=Gaussian(0.8), assign_rest=False, random_state=0)
    joined = DominantSets(2, kernel=Gaussian(0.8), random_state=0)
    left.fit(X)
    joined.fit(X)
    np.testing.assert_array_equal(left.labels_[left.labels_ >= 0], joined.labels_[left.labels_ >= 0])
    assert (left.labels_ < 0).any()
    assert adjusted_rand_score(y, joined.labels_) > 0.9


def test_same_seed_same_labels():
    X = np.random.default_rng(5).normal(size=(100, 2))
    model = DominantSets(kernel="precomputed", random_state=3)
    affinity = Gaussian(0.5).affinity(X)
    np.testing.assert_array_equal(model.fit_predict(affinity), model.fit_predict(affinity))


def test_mistakes_are_named():
    X = np.random.default_rng(6).normal(size=(20, 2))
    with pytest.raises(ValueError, match="n_clusters=21 is more than the 20 points"):
        DominantSets(21).fit(X)
    with pytest.raises(ValueError, match="dynamics='slow'"):
        DominantSets(2, dynamics="slow").fit(X)
    with pytest.raises(ValueError, match="kernel='best'"):
        DominantSets(2, kernel="best").fit(X)
    with pytest.raises(ValueError, match="min_size=0"):
        DominantSets(min_size=0).fit(X)
    with pytest.raises(ValueError, match="negative entry"):
        DominantSets(kernel="precomputed").fit(np.array([[1.0, -1.0], [-1.0, 1.0]]))
    with pytest.raises(ValueError, match="start"):
        dominant_set(np.eye(3), start=[0, 0, 0])
    with pytest.warns(ConvergenceWarning, match="max_iter=1 "):
        DominantSets(1, max_iter=1).fit(X)
