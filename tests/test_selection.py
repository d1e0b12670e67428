"""The default chooses scale, start and number of clusters by a score that can be read, drawn and switched off."""

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris, make_blobs, make_moons
from sklearn.metrics import adjusted_rand_score
from threadpoolctl import threadpool_limits

import evencut._runtime
from evencut import EvenCut, KernelClustering, KernelKMeans
from evencut.datasets import make_rings
from evencut.estimators.leaks import mixing_rates
from evencut.kernels import KNN, Gaussian, SharedNeighbors, shared_neighbor_affinity
from evencut.neighbors import kneighbors
from evencut.points import feature_scale
from evencut.selection import (
    NumberCandidate,
    agree,
    agreement,
    choose_number,
    consensus,
    find_neighborhoods,
    neighborhood_sizes,
    rank_numbers_of_points,
    select,
    shared_votes,
)
from evencut.selection.candidates import log_density
from evencut.selection.gaussians import explain_by_gaussians
from evencut.selection.steps import count_steps
from evencut.selection.trees import join_pieces
from evencut.selection.valleys import densities_of_parts, valley

MOONS, MOONS_OF = make_moons(400, noise=0.06, random_state=0)


def test_shared_neighbour_affinities_follow_their_formula(rng):
    X = rng.normal(size=(40, 3))
    K, sharpness, power = 6, 0.7, 3.0
    distances, indices = kneighbors(X, K + 1)
    found = SharedNeighbors(K, sharpness, power).affinity(X).toarray()
    near = [set(row) for row in indices]
    radius = distances[:, K // 2]
    for p in range(40):
        for q in range(40):
            if p == q:
                continue
            linked = q in near[p] or p in near[q]
            squared = np.sum((X[p] - X[q]) ** 2)
            share = len(near[p] & near[q]) / (K + 1)
            expected = linked * np.exp(-sharpness * squared / (radius[p] * radius[q])) * share**power
            assert found[p, q] == pytest.approx(expected, rel=1e-9)


def test_one_search_serves_every_smaller_scale():
    distances, indices = kneighbors(MOONS, 31)
    from_more = shared_neighbor_affinity(MOONS, distances[:, :16], indices[:, :16])
    assert abs(from_more - SharedNeighbors(15).affinity(MOONS)).max() == 0


def test_affinity_does_not_depend_on_the_unit_or_on_density():
    near = SharedNeighbors(10).affinity(MOONS)
    np.testing.assert_allclose(SharedNeighbors(10).affinity(1000 * MOONS).toarray(), near.toarray(), rtol=1e-6)


@pytest.mark.parametrize("parameters", [{"n_neighbors": 0}, {"sharpness": 0.0}, {"power": -1.0}])
def test_wrong_kernel_parameters_are_named(parameters):
    name, value = next(iter(parameters.items()))
    with pytest.raises(ValueError, match=f"{name}={value}"):
        SharedNeighbors(**parameters).affinity(MOONS)


def test_scales_follow_the_size_of_a_cluster():
    assert neighborhood_sizes(10_000, 2) == [15, 25, 40]
    assert neighborhood_sizes(150, 5) == [6, 10, 16]
    assert neighborhood_sizes(5, 2) == [4, 4, 4]


def test_an_earlier_selection_is_forgotten():
    model = KernelClustering("auto", kernel="knn", random_state=0).fit(MOONS)
    model.set_params(n_clusters=2).fit(MOONS)
    assert not hasattr(model, "selection_")
    with pytest.raises(ValueError, match="nothing was selected"):
        model.plot_selection()


def test_outliers_and_noise_do_not_become_clusters(rng):
    X, y = make_blobs([200, 200, 200], centers=[[0, 0], [6, 0], [3, 5]], cluster_std=0.6, random_state=1)
    far = rng.uniform(-30, 30, (8, 2))
    noise = rng.uniform(-4, 10, (40, 2))
    labels = EvenCut(3, random_state=0).fit_predict(np.r_[X, far, noise])
    assert adjusted_rand_score(y, labels[:600]) > 0.97


def test_overlapping_blobs_and_thin_rings_both_work():
    X, y = make_blobs(900, centers=[[0, 0], [3.2, 0], [0, 3.2]], cluster_std=1.0, random_state=0)
    assert adjusted_rand_score(y, EvenCut(3, random_state=0).fit_predict(X)) > 0.7
    X, y = make_rings(random_state=0)
    assert adjusted_rand_score(y, EvenCut(2, random_state=0).fit_predict(X)) > 0.99


def test_labels_of_many_points_do_not_depend_on_threads():
    X = np.random.default_rng(1).normal(size=(21_000, 2)) + 6 * (np.arange(21_000) % 3)[:, None]
    one, two = (EvenCut(3, random_state=5, n_jobs=jobs).fit(X) for jobs in (1, 2))
    assert (one.labels_ == two.labels_).all()
    assert one.confidence_ == two.confidence_


def test_noise_between_curves_does_not_mislead_a_fine_graph():
    # At this many points the lowest cut on the graph of all of them goes through the arcs, not between them.
    rng = np.random.default_rng(0)
    place = np.array([(i % 3, i // 3) for i in range(9)])
    label = rng.integers(9, size=40_000)
    turn = rng.uniform(0, 1.2 * np.pi, 40_000) + label
    spread = np.where(rng.random(40_000) < 0.1, 0.1, 0.03)[:, None]
    X = place[label] + 0.42 * np.c_[np.cos(turn), np.sin(turn)] + spread * rng.standard_normal((40_000, 2))
    assert adjusted_rand_score(label, EvenCut(9, random_state=0).fit_predict(X)) > 0.97


@pytest.mark.parametrize("n_clusters", [2, 3, 5, 9])
def test_the_number_of_clear_clusters_is_found(n_clusters):
    turn = 2 * np.pi * np.arange(n_clusters) / n_clusters
    centers = 10 * np.column_stack([np.cos(turn), np.sin(turn)])
    X, y = make_blobs(120 * n_clusters, centers=centers, cluster_std=0.7, random_state=0)
    model = EvenCut("auto", random_state=0).fit(X)
    assert model.n_clusters_ == n_clusters == model.selection_.numbers[0].n_clusters
    assert adjusted_rand_score(y, model.labels_) > 0.99


@pytest.mark.parametrize("kernel", ["knn", KNN(15), "local_scaling"])
def test_other_kernels_find_the_number_too(kernel):
    X, _ = make_blobs(300, centers=[[0, 0], [8, 0], [0, 8]], cluster_std=0.5, random_state=0)
    model = KernelClustering("auto", kernel=kernel, random_state=0).fit(X)
    assert model.n_clusters_ == 3
    assert model.selection_.candidates == ()


@pytest.mark.parametrize("n_points", [2, 3, 7, 20])
def test_few_points_have_a_number_too(n_points, rng):
    model = EvenCut("auto", random_state=0).fit(rng.normal(size=(n_points, 2)))
    assert 1 <= model.n_clusters_ <= max(2, n_points // 8)
    assert len(np.unique(model.labels_)) == model.n_clusters_


def test_one_rule_of_units_for_any_number_of_columns(rng):
    table = rng.normal(size=(50, 4)) * [1, 1, 1, 50]
    for columns in (table, table[:, 2:]):
        np.testing.assert_allclose(feature_scale(columns, "auto"), columns.std(axis=0))
        np.testing.assert_allclose(feature_scale(columns, "standard"), columns.std(axis=0))
        assert (feature_scale(columns, None) == 1).all()
    assert (feature_scale(table * [1, 1, 1, 0.1], "auto") == 1).all()
    constant = np.c_[table, np.ones(50)]
    assert feature_scale(constant, "standard")[4] == 1


@pytest.mark.parametrize("kernel", ["knn", "gaussian", "local_scaling", Gaussian(0.5)])
def test_named_kernels_follow_the_same_rule_unless_they_come_with_a_length(kernel, rng):
    table = rng.normal(size=(60, 2)) * [1, 50]
    expected = np.ones(2) if isinstance(kernel, Gaussian) else table.std(axis=0)
    np.testing.assert_allclose(KernelClustering(2, kernel=kernel, random_state=0).fit(table).feature_scale_, expected)
    standard = KernelClustering(2, kernel=kernel, scale="standard", random_state=0).fit(table)
    np.testing.assert_allclose(standard.feature_scale_, table.std(axis=0))


@pytest.mark.parametrize(("n_points", "noise"), [(200, 0.1), (1000, 0.05)])
def test_two_moons_are_two_clusters(n_points, noise):
    numbers = [
        EvenCut(random_state=0).fit(make_moons(n_points, noise=noise, random_state=seed)[0]).n_clusters_
        for seed in range(8)
    ]
    assert numbers.count(2) >= 7, numbers


def test_new_points_join_the_cluster_they_lie_in():
    X, y = make_moons(600, noise=0.05, random_state=1)
    model = EvenCut(2, random_state=0).fit(X[:400])
    assert adjusted_rand_score(y[400:], model.predict(X[400:])) > 0.97


def test_sample_weights_leave_points_out():
    weights = np.ones(400)
    weights[:50] = 0
    model = EvenCut(2, random_state=0).fit(MOONS, sample_weight=weights)
    assert adjusted_rand_score(MOONS_OF, model.labels_) > 0.95


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_clusters": "many"}, "n_clusters='many' must be a whole number of at least 1 or 'auto'"),
        ({"scale": "minmax"}, "scale='minmax' is not known"),
        ({"kernel": "automatic"}, "kernel='automatic' is not known"),
    ],
)
def test_wrong_choices_are_named(parameters, message):
    with pytest.raises(ValueError, match=message):
        (KernelClustering if "kernel" in parameters else EvenCut)(**parameters).fit(MOONS)


def test_candidates_come_in_the_order_of_their_consensus_and_its_numbers_are_true():
    selection = select(MOONS, 2, random_state=0).selection
    assert {candidate.family for candidate in selection.candidates} == {"cut", "tree"}
    assert (np.diff(selection.consensus) <= 0).all()
    for i, one in enumerate(selection.candidates):
        for j, two in enumerate(selection.candidates):
            # The index for weights counts squares in place of pairs, which differs by a share of 1/n.
            assert selection.agreements[i, j] == pytest.approx(adjusted_rand_score(one.labels, two.labels), abs=0.02)
    assert 0 <= selection.confidence <= 1


def test_agreement_of_weighted_points_is_that_of_their_copies():
    rng = np.random.default_rng(0)
    labels, counts = rng.integers(3, size=(4, 50)), rng.integers(1, 6, size=50)
    repeated = np.repeat(labels, counts, axis=1)
    np.testing.assert_allclose(agreement(labels, counts.astype(float)), agreement(repeated), atol=1e-12)


def test_a_family_has_one_vote_however_many_candidates_it_sends():
    alike = np.array([[1.0, 0.2, 0.2, 0.2], [0.2, 1, 1, 1], [0.2, 1, 1, 1], [0.2, 1, 1, 1]])
    standing = consensus(alike, shared_votes(["cut", "tree", "tree", "tree"], {"cut": 0.5, "tree": 0.5}))
    assert standing[0] == pytest.approx(standing[1])


def test_a_small_cluster_that_few_candidates_find_is_taken_for_its_clean_border():
    """Cuts of neighbourhoods larger than the small cluster halve the large one, and outvote those who find both."""
    rng = np.random.default_rng([3, 99, 55, 1])
    y = np.repeat([0, 1], [990, 10])
    X = rng.normal(size=(1000, 2)) + np.outer(y, [5.5, 0.0])
    for seed in range(3):
        model = EvenCut(2, random_state=seed).fit(X)
        assert adjusted_rand_score(y, model.labels_) > 0.85
    candidates = agree([find_neighborhoods(X)], 2, random_state=0).candidates
    scores = np.array([adjusted_rand_score(y, candidate.labels) for candidate in candidates])
    assert 0 < (scores > 0.85).sum() < len(scores) / 3


def test_mixing_is_that_of_the_walk_inside_each_cluster():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(place, 1, (60, 2)) for place in (0, 4)])
    graph, labels = SharedNeighbors(15).affinity(X), np.repeat([0, 1], 60)
    expected = []
    for k in range(2):
        inside = graph.toarray()[labels == k][:, labels == k]
        values = np.linalg.eigvals(inside / inside.sum(axis=1, keepdims=True))
        expected.append(1 - np.sort(values.real)[-2])
    np.testing.assert_allclose(mixing_rates(graph, labels, 2), expected, atol=1e-6)


def test_the_estimator_keeps_what_was_chosen():
    model = EvenCut(2, random_state=0).fit(MOONS)
    assert model.n_clusters_ == 2
    assert adjusted_rand_score(model.labels_, model.predict(MOONS)) > 0.95
    assert adjusted_rand_score(MOONS_OF, model.labels_) > 0.95


@pytest.mark.parametrize(
    ("small", "apart"), [(50, 5.5), (200, 5.5), (500, 5.5), (10, 7.0), (20, 7.0), (50, 7.0), (200, 7.0), (500, 7.0)]
)
def test_clusters_of_any_size_are_found(small, apart):
    """No preference for equal sizes: a cluster of one point in a hundred is a cluster."""
    rng = np.random.default_rng(small)
    X = np.concatenate([rng.normal(0, 1, (1000 - small, 2)), rng.normal([apart, 0], 1, (small, 2))])
    y = np.repeat([0, 1], [1000 - small, small])
    assert adjusted_rand_score(y, EvenCut(2, random_state=0).fit_predict(X)) > 0.8


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_single_flower_is_no_kind(seed):
    X, y = load_iris(return_X_y=True)
    labels = EvenCut(3, random_state=seed).fit_predict(X)
    assert adjusted_rand_score(y, labels) > 0.7


@pytest.mark.parametrize("core", [1, 5, 10])
def test_parts_of_a_tree_hold_a_neighbourhood_as_long_as_there_are_such_parts(core):
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(60, 2)), rng.normal(size=(60, 2)) + [12, 0], [[40.0, 0.0], [-30.0, 5.0]]])
    tree = find_neighborhoods(X).tree(core)
    assert np.bincount(tree.cut(2, 0.001)).min() > 50
    # There are no hundred parts of that size: smaller ones will do for the rest.
    assert len(np.unique(tree.cut(100, 0.001))) == 100


def test_many_points_are_condensed_to_weighted_centres(monkeypatch):
    monkeypatch.setattr(evencut._runtime, "MOST_COMPARED", 400)
    X, y = make_moons(3000, noise=0.06, random_state=0)
    model = EvenCut(2, random_state=0).fit(X)
    assert model.affinity_.shape == (400, 400)
    assert model.weights_.sum() == pytest.approx(3000)
    assert model.point_of_row_.shape == (3000,)
    assert adjusted_rand_score(y, model.labels_) > 0.95
    assert adjusted_rand_score(model.predict(X), model.labels_) > 0.95


def test_labels_do_not_depend_on_the_order_of_rows_or_on_threads(monkeypatch):
    monkeypatch.setattr(evencut._runtime, "MOST_COMPARED", 300)
    order = np.random.default_rng(3).permutation(len(MOONS))
    one = EvenCut(3, random_state=5, n_jobs=1).fit(MOONS)
    two = EvenCut(3, random_state=5, n_jobs=2).fit(MOONS[order])
    assert adjusted_rand_score(one.labels_[order], two.labels_) == 1
    assert one.selection_.confidence == two.selection_.confidence


def test_no_cluster_is_lost_whatever_the_number():
    rng = np.random.default_rng(0)
    few = np.repeat(rng.normal(size=(4, 2)), 100, axis=0)
    mostly_one = np.r_[np.zeros((360, 2)), rng.normal(size=(40, 2))]
    for X, k in ((MOONS, 60), (MOONS, 300), (MOONS, 400), (few, 4), (few, 2), (mostly_one, 40), (mostly_one, 8)):
        assert len(np.unique(EvenCut(k, random_state=0).fit_predict(X))) == k


def test_numbers_are_ranked_by_gap_and_agreement():
    ranked = rank_numbers_of_points([find_neighborhoods(MOONS)], random_state=0)
    scores = [number.score for number in ranked]
    assert scores == sorted(scores)
    for number in ranked:
        assert number.score == pytest.approx(number.gap - 0.75 * np.log(number.agreement + 0.05))
    assert {number.n_clusters for number in ranked} == set(range(2, min(64, len(MOONS) // 8) + 1))


@pytest.mark.parametrize("shape", ["gaussian", "square", "strand"])
def test_one_shape_is_one_cluster(shape):
    answers = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(500, 2 + seed % 3)) if shape == "gaussian" else rng.uniform(size=(500, 2 + seed % 3))
        if shape == "strand":
            turn = 4 * X[:, 0]
            X = np.column_stack([np.cos(turn), np.sin(turn)]) + 0.1 * rng.normal(size=(500, 2))
        answers.append(EvenCut("auto", random_state=0).fit(X).n_clusters_)
    assert answers.count(1) >= 6, answers
    assert max(answers) <= 3, answers


def test_valleys_lie_between_clusters_and_not_inside(rng):
    apart = np.concatenate([rng.normal(size=(200, 2)), rng.normal(size=(200, 2)) + [5, 0]])
    for X, between in ((apart, True), (rng.normal(size=(400, 2)), False)):
        neighborhoods = find_neighborhoods(X)
        labels = (X[:, 0] > (2.5 if between else 0)).astype(int)
        parts = densities_of_parts(
            neighborhoods.affinity(25), log_density(neighborhoods, 25, neighborhoods.dimension), labels
        )
        assert (valley(parts, np.arange(2)) > 0.5) == between
    # Parts and the clusters made of them tell the same.
    quarters = 2 * labels + (X[:, 1] > 0)
    finer = densities_of_parts(
        neighborhoods.affinity(25), log_density(neighborhoods, 25, neighborhoods.dimension), quarters
    )
    assert valley(finer, np.array([0, 0, 1, 1])) == pytest.approx(valley(parts, np.arange(2)))


@pytest.mark.parametrize(("gap", "depth", "n_clusters"), [(-2.0, -0.2, 4), (-0.2, 0.3, 4), (-0.2, 0.0, 1)])
def test_structure_is_a_gap_or_valleys_that_many_agree_on(gap, depth, n_clusters):
    assert choose_number([NumberCandidate(4, gap, depth, 0.5, 0.0)]) == n_clusters
    assert choose_number([NumberCandidate(4, gap, depth, 0.2, 0.0)]) == 1


@pytest.mark.parametrize("n_points", [200, 600, 2000])
def test_one_even_or_normal_column_is_one_cluster(n_points, rng):
    for X in (rng.uniform(size=(n_points, 1)), rng.normal(size=(n_points, 1))):
        assert EvenCut("auto", random_state=0).fit(X).n_clusters_ == 1


def test_every_number_tells_its_worth_beside_the_best():
    numbers = EvenCut("auto", random_state=0).fit(MOONS).selection_.numbers
    assert numbers[0].worth == 1
    for number in numbers[1:]:
        assert number.worth == pytest.approx(np.exp(numbers[0].score - number.score))


def test_overlapping_gaussians_are_counted_by_what_explains_the_points(rng):
    corners = 3.5 * np.array([[0, 0], [1, 0], [0, 1], [1, 1]])
    overlapping = np.concatenate([corner + rng.normal(size=(400, 2)) for corner in corners])
    model = EvenCut("auto", random_state=0).fit(overlapping)
    assert (model.n_clusters_, model.selection_.numbers[0].evidence) == (4, "Gaussians")
    one = EvenCut("auto", random_state=0).fit(rng.normal(size=(1500, 2)) * [1, 4])
    assert (one.n_clusters_, one.selection_.numbers[0].evidence) == (1, "Gaussians")


def test_curved_and_even_shapes_are_not_explained_by_few_gaussians(rng):
    turn = rng.uniform(0, 2 * np.pi, 1500)
    ring = np.column_stack([np.cos(turn), np.sin(turn)]) + 0.05 * rng.normal(size=(1500, 2))
    for X in (ring, rng.uniform(size=(1500, 2))):
        neighborhoods = find_neighborhoods(X)
        starts = {k: KMeans(k, n_init=1, random_state=0).fit_predict(X) for k in range(2, 25)}
        explanation = explain_by_gaussians(neighborhoods, starts, rng)
        assert explanation is None or not explanation.holds, explanation


def test_a_dense_disc_in_a_sparse_one_is_two_clusters(rng):
    def disc(n, radius):
        turn, away = rng.uniform(0, 2 * np.pi, n), radius * np.sqrt(rng.random(n))
        return np.column_stack([away * np.cos(turn), away * np.sin(turn)])

    outer, inner = disc(3000, 2.0), disc(2000, 0.8)
    model = EvenCut("auto", random_state=0).fit(np.concatenate([outer, inner]))
    assert (model.n_clusters_, model.selection_.numbers[0].evidence) == (2, "steps")
    assert count_steps(find_neighborhoods(outer), 0) == 1
    assert count_steps(find_neighborhoods(rng.normal(size=(3000, 2))), 0) == 1


def test_more_than_forty_clusters_are_found(rng):
    centers = 6.0 * np.array([(i, j) for i in range(10) for j in range(5)])
    X = np.concatenate([center + rng.normal(size=(40, 2)) for center in centers])
    assert EvenCut("auto", random_state=0).fit(X).n_clusters_ == 50


def test_plot_selection_shows_who_agrees(monkeypatch):
    plt = pytest.importorskip("matplotlib.pyplot")
    monkeypatch.setattr(plt, "show", lambda: None)
    fitted = EvenCut(2, random_state=0).fit(MOONS)
    ax = fitted.plot_selection()
    assert len(ax.get_yticklabels()) == len(fitted.selection_.candidates)
    assert f"{fitted.selection_.confidence:.2f}" in ax.get_title()
    model = EvenCut("auto", random_state=0).fit(MOONS)
    ax = model.plot_selection(plt.figure().subplots())
    assert ax.lines[-1].get_xdata()[0] == model.selection_.numbers[0].n_clusters
    assert ax.get_title() == "2, by gap"
    plt.close("all")


def made_up_cells(seed, n_cells=800, n_genes=300):
    """Principal components of counts: types from two in five cells to one in fifty, read to different depths."""
    rng = np.random.default_rng(seed)
    y = rng.choice(6, n_cells, p=[0.4, 0.25, 0.2, 0.1, 0.03, 0.02])
    common = rng.gamma(0.5, 1, n_genes)
    own = rng.normal(0, 0.8, (6, n_genes)) * (rng.random((6, n_genes)) < 0.12)
    level = common * np.exp(own)
    depth = rng.lognormal(np.log(1000), 0.45, n_cells)
    rate = (level / level.sum(axis=1, keepdims=True))[y] * depth[:, None] * rng.gamma(8, 1 / 8, (n_cells, n_genes))
    counts = rng.poisson(rate)
    X = np.log1p(1e3 * counts / counts.sum(axis=1, keepdims=True))
    X = np.clip((X - X.mean(axis=0)) / (X.std(axis=0) + 1e-9), -10, 10)
    # Another rounding of the components moves the search as another seed would.
    with threadpool_limits(1):
        vectors, values, _ = np.linalg.svd(X, full_matrices=False)
    return vectors[:, :50] * values[:50], y


def found_share(y, labels, kind):
    """What a type and the cluster that holds most of it have in common, as a share of the larger one."""
    inside = np.bincount(labels[y == kind])
    return inside.max() / max((labels == inside.argmax()).sum(), (y == kind).sum())


def test_small_groups_are_found_in_many_dimensions():
    shares = []
    for seed in range(5):
        X, y = made_up_cells(seed)
        labels = agree([find_neighborhoods(X)], 6, random_state=0).best.labels
        shares += [found_share(y, labels, kind) for kind in (4, 5)]
    assert np.mean(shares) > 0.6


def test_pieces_are_joined_by_their_nearest_points_in_any_dimension(rng):
    places = 30 * rng.normal(size=(12, 2))
    X = np.concatenate([rng.normal(size=(8, 2)) + place for place in places])
    indices = kneighbors(X, 4)[1]
    plane = join_pieces(X, indices)
    # More columns than a tree of points is used for: the other way to search.
    space = join_pieces(np.hstack([X, np.zeros((len(X), 30))]), indices)
    assert len(plane.distance) >= 11
    assert set(zip(*np.sort(plane[:2], axis=0))) == set(zip(*np.sort(space[:2], axis=0)))
    np.testing.assert_allclose(np.sort(plane.distance), np.sort(space.distance))


def test_a_selection_prints_in_a_few_words():
    X = np.concatenate([np.random.default_rng(0).normal(size=(60, 2)) + place for place in (0, 9)])
    for model in (EvenCut(random_state=0), KernelClustering("auto", kernel="knn", random_state=0)):
        told = repr(model.fit(X).selection_)
        assert len(told) < 300
        assert told.startswith("Selection(") and "numbers of clusters, best first: 2" in told


@pytest.mark.parametrize("deviation", [5e-3, 0.2])
def test_a_candidate_of_fewer_clusters_is_none(deviation):
    """A mixture of three Gaussians on two groups leaves one empty: neither two clusters nor a division by zero."""
    for draw in range(5):
        rng = np.random.default_rng(draw)
        X = np.repeat([[0, 0], [10, 0]], 100, axis=0) + deviation * rng.normal(size=(200, 2))
        for model in (EvenCut(3, random_state=0), KernelKMeans(3, kernel="knn", random_state=0)):
            assert len(np.unique(model.fit(X).labels_)) == model.n_clusters_ == model.transform(X).shape[1] == 3
