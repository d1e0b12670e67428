"""What the estimators promise: no density bias, one criterion after equalisation, clear errors."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score
from sklearn.model_selection import ParameterGrid

from evencut import EvenCut, KernelClustering, KernelKMeans, NormalizedCut
from evencut.criteria import energy
from evencut.datasets import make_clumped_moons
from evencut.kernels import KERNELS, KNN, Gaussian, LocalScaling

BLOBS = np.random.default_rng(0).normal(size=(120, 2)) + np.repeat([[0, 0], [5, 5], [10, 0]], 40, axis=0)
BLOBS.setflags(write=False)
CURED = {
    "default": EvenCut(2),
    "knn and exact": KernelKMeans(2, kernel=KNN(10), equalize="exact"),
    "local scaling and exact": KernelKMeans(2, kernel=LocalScaling(7), equalize="exact"),
    # Weights even out the density on average only: single points are left that cost less than the moons.
    "narrow Gaussian and weights": KernelKMeans(2, kernel=Gaussian(0.1), equalize="weights", solver="lloyd"),
}


def moons_scores(model, clump):
    model = clone(model)
    scores, sizes = [], []
    for seed in range(10):
        X, y = make_clumped_moons(600, clump=clump, random_state=seed)
        labels = model.set_params(random_state=seed).fit_predict(X)
        scores.append(adjusted_rand_score(y, labels))
        sizes.append(np.bincount(labels).min())
    return np.array(scores), np.array(sizes)


@pytest.mark.parametrize("clump", [0, 0.5, 0.8])
@pytest.mark.parametrize("name", CURED)
def test_clumps_are_not_stolen(name, clump):
    scores, _ = moons_scores(CURED[name], clump)
    assert np.sum(scores >= 0.95) >= 9, scores


def test_kernel_k_means_at_scotts_rule_works_on_even_moons_by_its_own_steps():
    """Its lowest energies are biased even there; the steps of kernel k-means do not leave the moons they start from."""
    assert moons_scores(KernelKMeans(2, kernel="gaussian", solver="lloyd"), 0)[0].mean() >= 0.9



def test_kernel_k_means_at_scotts_rule_steals_the_clump():
    scores, sizes = moons_scores(KernelKMeans(2, kernel="gaussian"), 0.5)
    assert scores.mean() < 0.5
    assert (sizes < 300).all()


def test_labelme_shows_the_bias_and_its_cure(data_folder):
    from sklearn.decomposition import PCA
    from sklearn.metrics import normalized_mutual_info_score

    data = np.load(data_folder / "labelme" / "features.npz")
    kept = np.isin(data["category"], ["coast", "forest", "highway", "tallbuilding"])
    X = PCA(5, random_state=0).fit_transform(data["features"][kept])
    y = data["category"][kept]
    biased = KernelKMeans(4, kernel="gaussian", random_state=0).fit_predict(X)
    assert 0.33 <= normalized_mutual_info_score(y, biased) <= 0.45
    assert np.bincount(biased).max() / len(y) > 0.65
    for criterion in ("normalized_cut", "average_association"):
        even = KernelClustering(4, kernel="knn", criterion=criterion, random_state=0).fit_predict(X)
        assert normalized_mutual_info_score(y, even) >= 0.95


def test_exact_equalisation_makes_the_criteria_one():
    models = [
        KernelClustering(3, kernel=LocalScaling(7), criterion=criterion, equalize="exact", random_state=0).fit(BLOBS)
        for criterion in ("average_association", "normalized_cut", "average_cut")
    ]
    for model in models[1:]:
        np.testing.assert_array_equal(model.labels_, models[0].labels_)
    shifts = np.array([model.energy_ for model in models]) - models[0].energy_
    np.testing.assert_allclose(shifts, [0, 0, 3], atol=1e-9)


def test_wide_gaussian_is_k_means():
    diameter = np.linalg.norm(np.ptp(BLOBS, axis=0))
    ours = KernelKMeans(3, kernel=Gaussian(10 * diameter), random_state=0).fit_predict(BLOBS)
    theirs = KMeans(3, n_init=10, random_state=0).fit_predict(BLOBS)
    assert adjusted_rand_score(theirs, ours) == 1


@pytest.mark.parametrize("equalize", [None, "weights", "exact"])
@pytest.mark.parametrize("criterion", ["average_association", "normalized_cut", "average_cut"])
def test_attributes_tell_the_energy(criterion, equalize):
    model = KernelClustering(3, kernel=Gaussian(1.0), criterion=criterion, equalize=equalize, random_state=0).fit(BLOBS)
    scaled = model.affinity_ * np.outer(model.equalizing_scale_, model.equalizing_scale_)
    assert model.energy_ == pytest.approx(energy(scaled, model.labels_, criterion, model.weights_), abs=1e-8)
    np.testing.assert_allclose(model.degrees_, model.affinity_.sum(axis=1))
    assert (np.diff(model.energy_trace_) <= 1e-9).all()
    assert model.n_iter_ >= 1


@pytest.mark.parametrize("equalize", [None, "weights", "exact"])
@pytest.mark.parametrize("criterion", ["average_association", "normalized_cut", "average_cut"])
@pytest.mark.parametrize("kernel", ["knn", "gaussian", "adaptive_gaussian", "local_scaling", "geodesic"])
def test_every_combination_finds_clear_clusters_and_labels_new_points(kernel, criterion, equalize):
    truth = np.repeat(np.arange(3), 40)
    model = KernelClustering(3, kernel=kernel, criterion=criterion, equalize=equalize, random_state=0).fit(BLOBS)
    assert adjusted_rand_score(truth, model.labels_) > 0.9
    new = model.predict(BLOBS + 1e-3)
    assert np.mean(new == model.labels_) > 0.95


@pytest.mark.parametrize("equalize", [None, "exact"])
def test_points_too_far_for_any_affinity_go_with_the_nearest(equalize):
    model = KernelClustering(3, kernel=Gaussian(0.5), equalize=equalize, random_state=0).fit(BLOBS)
    far = np.array([[1e4, 0.0], [-1e4, 0.0], [5.0, 1e4]])
    nearest = [BLOBS[:, 0].argmax(), BLOBS[:, 0].argmin(), BLOBS[:, 1].argmax()]
    np.testing.assert_array_equal(model.predict(far), model.labels_[nearest])
    given = KernelClustering(2, kernel="precomputed", random_state=0).fit(np.kron(np.eye(2), np.ones((2, 2))))
    with pytest.warns(UserWarning, match="1 new points have no affinity"):
        assert given.predict([[0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]])[1] == given.labels_[2]


def test_predict_works_for_precomputed_rows_dense_and_sparse():
    A = KNN(10).affinity(BLOBS)
    model = KernelClustering(3, kernel="precomputed", random_state=0).fit(A)
    rows = KNN(10).extend(BLOBS)(BLOBS + 1e-3)
    by_points = KernelClustering(3, kernel=KNN(10), random_state=0).fit(BLOBS)
    # Clusters of one size are numbered by the order of the points, which is another where there are rows alone.
    assert adjusted_rand_score(model.labels_, by_points.labels_) == 1
    assert adjusted_rand_score(model.predict(rows), by_points.predict(BLOBS + 1e-3)) == 1
    np.testing.assert_array_equal(model.predict(rows.toarray()), model.predict(rows))


@pytest.mark.parametrize("index_dtype", [np.int32, np.int64])
@pytest.mark.parametrize("container", [sparse.csr_array, sparse.csr_matrix, sparse.coo_array, np.asarray])
def test_precomputed_affinities_come_in_every_form(container, index_dtype):
    A = KNN(10).affinity(BLOBS)
    A = sparse.csr_array((A.data, A.indices.astype(index_dtype), A.indptr.astype(index_dtype)), shape=A.shape)
    given = A.toarray() if container is np.asarray else container(A)
    labels = KernelClustering(3, kernel="precomputed", random_state=0).fit_predict(given)
    by_points = KernelClustering(3, kernel=KNN(10), random_state=0).fit_predict(BLOBS)
    assert adjusted_rand_score(labels, by_points) == 1


@pytest.mark.parametrize("solver", ["spectral", "lloyd"])
def test_same_seed_same_labels_whatever_the_threads(solver):
    X, _ = make_clumped_moons(900, clump=0.5, random_state=0)
    model = KernelClustering(6, kernel="knn", solver=solver, random_state=3)
    runs = [model.set_params(n_jobs=n).fit_predict(X) for n in (1, 1, 2, None)]
    for labels in runs[1:]:
        np.testing.assert_array_equal(labels, runs[0])


def test_frames_and_single_precision():
    plain = EvenCut(3, random_state=0).fit(BLOBS)
    new = BLOBS[::-1] + 0.1
    for library in (pd, pl):
        frame, new_frame = (library.DataFrame({"a": X[:, 0], "b": X[:, 1]}) for X in (BLOBS, new))
        model = EvenCut(3, random_state=0).fit(frame)
        np.testing.assert_array_equal(model.labels_, plain.labels_)
        assert list(model.feature_names_in_) == ["a", "b"]
        np.testing.assert_array_equal(model.predict(new_frame), plain.predict(new))
    for kernel in ("knn", "gaussian"):
        model = KernelClustering(3, kernel=kernel, random_state=0).fit(BLOBS.astype(np.float32))
        assert model.affinity_.dtype == np.float32


def test_sample_weights_stand_for_copies_with_a_fixed_kernel(rng):
    copies = rng.integers(0, 4, len(BLOBS))
    model = KernelClustering(3, kernel=Gaussian(1.0), random_state=0)
    for equalize in (None, "exact", "weights"):
        model.set_params(equalize=equalize)
        weighted = model.fit(BLOBS, sample_weight=copies)
        left_out = weighted.labels_[copies == 0]
        value = weighted.energy_
        repeated = model.fit(np.repeat(BLOBS, copies, axis=0))
        assert value == pytest.approx(repeated.energy_, rel=1e-6)
        np.testing.assert_array_equal(model.predict(BLOBS[copies == 0]), left_out)


def test_thin_names_fix_one_argument():
    for thin, criterion in ((KernelKMeans, "average_association"), (NormalizedCut, "normalized_cut")):
        assert "criterion" not in thin().get_params()
        whole = KernelClustering(3, kernel="knn", criterion=criterion, random_state=0).fit_predict(BLOBS)
        np.testing.assert_array_equal(thin(3, kernel="knn", random_state=0).fit_predict(BLOBS), whole)
        rest = {name: value for name, value in KernelClustering().get_params().items() if name != "criterion"}
        assert thin().get_params() == rest


def test_kernel_parameters_take_part_in_a_search():
    model = KernelClustering(3, kernel=KNN(), random_state=0)
    for chosen in ParameterGrid({"kernel__n_neighbors": [5, 12]}):
        model.set_params(**chosen).fit(BLOBS)
        assert model.affinity_.sum() == pytest.approx(chosen["kernel__n_neighbors"] * len(BLOBS))


def test_stopping_early_is_said(rng):
    X = rng.random((300, 2))
    with pytest.warns(ConvergenceWarning, match="max_iter=1"):
        KernelClustering(10, kernel="knn", max_iter=1, solver="lloyd", random_state=0).fit(X)


HARD = {
    "duplicates": np.repeat(BLOBS[::10], 12, axis=0),
    "constant column": np.c_[BLOBS, np.ones(len(BLOBS))],
    "only constant columns but one": np.c_[np.ones((30, 2)), np.arange(30.0)],
    "disconnected": np.r_[BLOBS, BLOBS + 1e6, BLOBS - 1e6],
    "high dimension": np.random.default_rng(1).normal(size=(50, 200)),
    "few points": BLOBS[[0, 40, 80]],
    "integers": np.arange(40).reshape(20, 2),
}


@pytest.mark.parametrize("equalize", [None, "exact"])
@pytest.mark.parametrize("kernel", ["knn", "gaussian", "adaptive_gaussian", "local_scaling", "geodesic"])
@pytest.mark.parametrize("name", HARD)
@pytest.mark.filterwarnings("ignore:bandwidth='scott' is too narrow")
def test_hard_data_are_clustered(name, kernel, equalize):
    model = KernelClustering(3, kernel=kernel, equalize=equalize, random_state=0).fit(HARD[name])
    assert set(model.labels_) == {0, 1, 2}
    assert np.isfinite(model.energy_)


def test_one_cluster_and_as_many_as_points():
    assert set(EvenCut(1).fit_predict(BLOBS)) == {0}
    assert len(set(EvenCut(len(BLOBS)).fit_predict(BLOBS))) == len(BLOBS)


ASYMMETRIC = np.eye(4)
ASYMMETRIC[0, 1] = 1
NEGATIVE = np.eye(4) - 1


@pytest.mark.parametrize(
    ("model", "X", "message"),
    [
        (EvenCut(2), [[0.0], [np.nan]], "NaN"),
        (EvenCut(2), [[0.0], [np.inf]], "infinity"),
        (EvenCut(2), np.array([[0.0, 1.0], [np.nan, 2.0], [3.0, np.inf]]), r"infinity in row 2, column 1 \(1 value"),
        (EvenCut(2), pd.DataFrame({"a": [0.0, 1.0], "b": [1.0, -np.inf]}), r"infinity in row 1, column 'b' \(1 value"),
        (EvenCut(2, metric="precomputed"), [[0.0, np.inf], [np.inf, 0.0]], r"row 0, column 1 \(2 values in all\); f"),
        (EvenCut(2), [[0.0, 1.0]], "1 sample.*minimum of 2"),
        (EvenCut(5), [[0.0]] * 9 + [[1.0]], "n_clusters=5 is more than the 2 distinct points.*at most 2"),
        (KernelClustering(5, kernel="precomputed"), np.eye(4), "n_clusters=5 is more than the 4 points"),
        (KernelClustering(2, kernel="precomputed"), ASYMMETRIC, r"symmetric.*A\[0, 1\] = 1.*\(A \+ A.T\) / 2"),
        (KernelClustering(2, kernel="precomputed"), sparse.csr_array(ASYMMETRIC), r"symmetric.*A\[0, 1\] = 1"),
        (KernelClustering(2, kernel="precomputed"), np.ones((4, 3)), r"square.*\(4, 3\)"),
        (KernelClustering(2, kernel="precomputed"), NEGATIVE, "positive degrees.*average_association"),
        (KernelClustering(2, kernel="precomputed", equalize="exact"), NEGATIVE, "non-negative"),
        (KernelClustering(2, kernel="precomputed", equalize="weights"), NEGATIVE, "smallest is -3"),
        (KernelClustering(2, kernel="rbf"), BLOBS, "kernel='rbf' is not known.*gaussian"),
        (KernelClustering(2, kernel=3), BLOBS, "kernel=3 must be"),
        (KernelClustering(2, kernel="auto"), BLOBS, r"kernel='auto' is EvenCut now.*shared_neighbors"),
        (KernelClustering(2, kernel="knn", criterion="ncut"), BLOBS, "criterion='ncut' is not known.*normalized_cut"),
        (KernelClustering(2, kernel="knn", equalize="full"), BLOBS, "equalize='full' is not known.*exact"),
        (KernelClustering(2, kernel="knn", solver="fast"), BLOBS, "solver='fast' is not known.*spectral"),
        (EvenCut(0), BLOBS, "n_clusters=0 must be"),
        (EvenCut(2.5), BLOBS, "n_clusters=2.5 must be"),
        (KernelClustering(2, kernel="knn", n_init=0), BLOBS, "n_init=0 must be"),
        (KernelClustering(2, kernel="knn", max_iter=-1), BLOBS, "max_iter=-1 must be"),
        (EvenCut(2, n_jobs=0), BLOBS, "n_jobs=0 must be"),
        (EvenCut(2), [["a", "b"], ["c", "d"]], "is text .'a'., not a number"),
    ],
)
def test_bad_input_is_named_and_changes_nothing(model, X, message):
    model = clone(model)
    before = model.get_params()
    with pytest.raises((ValueError, TypeError), match=message):
        model.fit(X)
    assert str(model.get_params()) == str(before)
    assert not hasattr(model, "labels_")


def test_bad_input_after_a_fit_loses_nothing():
    model = EvenCut(3, random_state=0).fit(BLOBS)
    labels, known = model.labels_.copy(), set(vars(model))
    with pytest.raises(ValueError, match="NaN"):
        model.fit(np.full((50, 5), np.nan))
    assert set(vars(model)) == known
    np.testing.assert_array_equal(model.labels_, labels)
    assert model.predict(BLOBS).shape == labels.shape


@pytest.mark.parametrize("weight", [np.ones(3), -np.ones(120), np.full(120, np.nan), np.zeros(120)])
def test_wrong_sample_weights_are_refused(weight):
    with pytest.raises(ValueError, match=r"[Ww]eight|distinct points"):
        EvenCut(2).fit(BLOBS, sample_weight=weight)


def test_average_association_takes_negative_affinities():
    A = np.kron(np.eye(2), np.ones((5, 5))) - 0.5
    for criterion in ("average_association", "average_cut"):
        model = KernelClustering(2, kernel="precomputed", criterion=criterion, random_state=0).fit(A)
        np.testing.assert_array_equal(np.sort(np.bincount(model.labels_)), [5, 5])
        assert model.labels_[0] != model.labels_[-1]


@pytest.mark.parametrize("kernel", ["knn", "shared_neighbors"])
@pytest.mark.parametrize("equalize", [None, "exact"])
def test_the_order_that_many_points_are_kept_in_does_not_show(monkeypatch, kernel, equalize):
    monkeypatch.setattr("evencut._runtime.MANY_POINTS", 1000)
    X, y = make_clumped_moons(5000, clump=0.5, random_state=3)
    weight = np.random.default_rng(0).uniform(0.5, 2, 5000)
    weight[::7] = 0
    model = KernelClustering(2, kernel=kernel, equalize=equalize, random_state=0).fit(X, sample_weight=weight)
    kept = weight > 0
    chosen = KERNELS[kernel]()
    assert abs(model.affinity_ - chosen.affinity(X[kept])).max() == 0
    np.testing.assert_allclose(model.degrees_, np.asarray(model.affinity_.sum(axis=1)).ravel())
    np.testing.assert_allclose(model.weights_, weight[kept])
    if equalize:
        even = model.equalizing_scale_ * (model.affinity_ @ (model.weights_ * model.equalizing_scale_))
        np.testing.assert_allclose(even, 1, atol=1e-8)
    assert adjusted_rand_score(y, model.labels_) > 0.95
    assert (model.predict(X) == model.labels_).mean() > 0.99
    assert model.diagnose().verdict == "ok"


def test_a_point_has_one_label_wherever_it_stands_among_many(monkeypatch, rng):
    monkeypatch.setattr("evencut._runtime.MANY_POINTS", 50)
    shuffled = rng.permutation(len(BLOBS))
    model = NormalizedCut(3, kernel="knn", random_state=0)
    assert adjusted_rand_score(model.fit_predict(BLOBS)[shuffled], model.fit_predict(BLOBS[shuffled])) == 1
