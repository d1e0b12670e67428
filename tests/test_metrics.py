"""Metrics: cosine is Euclidean on unit rows, distances stand for their points, sparse rows for dense ones."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score, pairwise_distances
from sklearn.preprocessing import normalize

from evencut import DominantSets, EvenCut, KernelClustering, KernelKMeans, LandmarkClustering, NormalizedCut, diagnose
from evencut.kernels import KERNELS, AdaptiveGaussian, Gaussian, Geodesic
from evencut.neighbors import check_distances, coordinates, points_in
from evencut.points import prepare_points


def directions(n_samples=240, n_features=20, n_clusters=3, seed=0, dtype=np.float64):
    """Rows about a few directions, of any length."""
    rng = np.random.default_rng(seed)
    y = np.arange(n_samples) % n_clusters
    X = rng.normal(size=(n_clusters, n_features))[y] + 0.3 * rng.normal(size=(n_samples, n_features))
    return (X * rng.uniform(0.1, 10, size=(n_samples, 1))).astype(dtype), y


ESTIMATORS = [
    EvenCut(3, random_state=0),
    EvenCut("auto", random_state=0),
    KernelClustering(3, kernel="knn", equalize="exact", random_state=0),
    KernelKMeans(3, kernel="local_scaling", random_state=0),
    NormalizedCut(3, kernel=Gaussian("median"), random_state=0),
    DominantSets(3, kernel="adaptive_gaussian", random_state=0),
    LandmarkClustering(3, n_landmarks=60, random_state=0),
]


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda estimator: str(estimator)[:60])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.filterwarnings("ignore:all rows have length 1")
def test_cosine_is_euclidean_on_unit_rows_exactly(estimator, dtype):
    X, y = directions(dtype=dtype)
    cosine = clone(estimator).set_params(metric="cosine").fit(X)
    plain = clone(estimator)
    if "scale" in plain.get_params():
        plain.set_params(scale=None)
    plain.fit(normalize(X))
    assert np.array_equal(cosine.labels_, plain.labels_)
    if hasattr(plain, "energy_"):
        assert cosine.energy_ == plain.energy_
    if hasattr(plain, "predict"):
        new = directions(seed=1, dtype=dtype)[0]
        assert np.array_equal(cosine.predict(new), plain.predict(normalize(new)))
        assert np.array_equal(cosine.predict(7 * X), cosine.predict(X))
    if not isinstance(estimator, DominantSets):
        assert adjusted_rand_score(y, cosine.labels_) > 0.95


def test_the_diagnosis_takes_the_metric():
    X, y = directions()
    assert str(diagnose(X, y, metric="cosine")) == str(diagnose(normalize(X), y))
    model = EvenCut(3, metric="cosine", random_state=0).fit(X)
    assert model.diagnose().verdict == model.diagnose(X).verdict == "ok"
    table = pairwise_distances(normalize(X))
    assert diagnose(table, y, metric="precomputed").verdict == "ok"
    assert diagnose(sparse.csr_array(X), y, metric="cosine").verdict == "ok"


@pytest.mark.parametrize(
    "kernel",
    [
        pytest.param(None, marks=pytest.mark.xfail(reason="distances have no centres to vote, points have")),
        "shared_neighbors",
        "knn",
        "local_scaling",
        Gaussian(2.0),
    ],
)
def test_distances_stand_for_their_points(kernel):
    X, _ = directions()
    new = directions(60, seed=1)[0]
    model = EvenCut(3) if kernel is None else KernelClustering(3, kernel=kernel)
    model.set_params(random_state=0, scale=None)
    points = clone(model).fit(X)
    distances = clone(model).set_params(metric="precomputed").fit(pairwise_distances(X))
    assert adjusted_rand_score(points.labels_, distances.labels_) == 1.0
    assert kernel is None or distances.energy_ == pytest.approx(points.energy_, rel=1e-6)
    matched = dict(zip(distances.labels_.tolist(), points.labels_.tolist()))
    predicted = [matched[label] for label in distances.predict(pairwise_distances(new, X)).tolist()]
    assert np.mean(predicted == points.predict(new)) > 0.98


def test_rows_of_weight_zero_are_left_out_of_distances():
    X, _ = directions()
    weights = np.ones(len(X))
    weights[:40] = 0
    table = pairwise_distances(X)
    fitted = EvenCut(3, metric="precomputed", random_state=0).fit(table, sample_weight=weights)
    rest = EvenCut(3, metric="precomputed", random_state=0).fit(table[40:, 40:])
    assert adjusted_rand_score(fitted.labels_[40:], rest.labels_) == 1.0
    assert np.array_equal(fitted.predict(table), fitted.labels_)


@pytest.mark.parametrize("metric", ["manhattan", "chebyshev", "correlation"])
def test_other_metrics_cluster_and_predict(metric):
    X, y = directions()
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    model = EvenCut(3, metric=metric, random_state=0).fit(X)
    assert adjusted_rand_score(y, model.labels_) > 0.9
    assert np.mean(model.predict(X) == model.labels_) > 0.98
    given = EvenCut(3, metric="precomputed", random_state=0).fit(pairwise_distances(X, metric=metric))
    assert adjusted_rand_score(given.labels_, model.labels_) > 0.98


def documents(n_samples=300, n_terms=2000, n_topics=3, seed=0, dtype=np.float64):
    """Rows of few terms, half of them of the topic."""
    rng = np.random.default_rng(seed)
    topic = np.arange(n_samples) % n_topics
    near = rng.integers(0, 200, size=(n_samples, 20)) + 200 * topic[:, None]
    terms = np.hstack([near, rng.integers(0, n_terms, size=(n_samples, 20))])
    rows = np.repeat(np.arange(n_samples), 40)
    return sparse.csr_array((rng.uniform(0.5, 2, rows.size), (rows, terms.ravel()))).astype(dtype), topic


@pytest.mark.parametrize("metric", ["cosine", "euclidean"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sparse_rows_are_clustered_as_dense_ones(metric, dtype):
    X, topic = documents(dtype=dtype)
    thin = EvenCut(3, metric=metric, scale=None, random_state=0).fit(X)
    full = EvenCut(3, metric=metric, scale=None, random_state=0).fit(X.toarray())
    assert adjusted_rand_score(thin.labels_, full.labels_) > 0.98
    assert thin.affinity_.dtype == dtype
    assert np.mean(thin.predict(X) == thin.labels_) > 0.99
    if metric == "cosine":
        assert adjusted_rand_score(topic, thin.labels_) > 0.95


def test_sparse_copies_are_one_point():
    X, _ = documents()
    twice = sparse.vstack([X, X[:50]]).tocsr()
    model = EvenCut(3, metric="cosine", random_state=0).fit(twice)
    assert len(model.weights_) == 300
    assert np.array_equal(model.labels_[:50], model.labels_[300:])
    weights = np.r_[np.full(50, 2.0), np.ones(250)]
    weighted = EvenCut(3, metric="cosine", random_state=0).fit(X, sample_weight=weights)
    assert np.array_equal(model.labels_[:300], weighted.labels_)


def test_single_precision_stays():
    X, _ = directions(dtype=np.float32)
    for metric in ("euclidean", "cosine", "manhattan"):
        assert prepare_points(X, metric=metric).points.dtype == np.float32
    assert points_in(documents(dtype=np.float32)[0], "cosine").dtype == np.float32
    assert prepare_points(pairwise_distances(X).astype(np.float32), metric="precomputed").points.dtype == np.float32


@pytest.mark.parametrize("kernel", [None, "knn", "shared_neighbors", "local_scaling", Gaussian(1.0)], ids=str)
def test_fits_of_single_precision_stay_single(kernel):
    X, _ = directions(dtype=np.float32)
    model = EvenCut(3) if kernel is None else KernelClustering(3, kernel=kernel)
    model.set_params(metric="cosine", random_state=0).fit(X)
    assert model.affinity_.dtype == np.float32
    assert model._prepared.points.dtype == np.float32


def test_coordinates_keep_distances():
    X, _ = directions(100, 5)
    wider = sparse.csr_array(np.pad(X, ((0, 0), (0, 20))))
    for points in (points_in(pairwise_distances(X), "precomputed"), points_in(wider)):
        np.testing.assert_allclose(pairwise_distances(coordinates(points)), pairwise_distances(X), rtol=0.05, atol=0.1)
    with pytest.raises(ValueError, match="6000 points known by their distances are too many"):
        coordinates(points_in(np.zeros((6000, 2)), "manhattan"))


def with_zero_row(X):
    X = X.copy()
    X[5] = 0
    return X


@pytest.mark.parametrize(
    ("data", "options", "message"),
    [
        (lambda X: with_zero_row(X), {"metric": "cosine"}, r"row 5 is zero throughout \(1 such row\)"),
        (lambda X: sparse.csr_array(with_zero_row(X)), {"metric": "cosine"}, "row 5 is zero throughout"),
        (lambda X: X, {"metric": "precomputed"}, r"a square matrix, but X has shape \(240, 20\)"),
        (lambda X: -pairwise_distances(X), {"metric": "precomputed"}, "is negative, but distances are not"),
        (lambda X: np.triu(pairwise_distances(X)), {"metric": "precomputed"}, r"symmetric, but X\[\d+, \d+\] = "),
        (lambda X: np.exp(-pairwise_distances(X)), {"metric": "precomputed"}, "X looks like an affinity"),
        (lambda X: X, {"metric": "angle"}, "metric='angle' is not known; choose one of"),
        (lambda X: np.eye(240), {"metric": "cosine", "kernel": "precomputed"}, "leave one of them out"),
        (lambda X: sparse.csr_array(X * np.nan), {"metric": "cosine"}, r"NaN in row 0, column 0 \(4800 values"),
        (lambda X: sparse.csr_array(X), {"scale": "standard"}, "does not take sparse rows"),
        (lambda X: sparse.csr_array(X), {"kernel": "geodesic"}, "needs the coordinates of the points"),
        (lambda X: X, {"metric": "manhattan", "kernel": "gaussian"}, "needs the coordinates of the points"),
        (lambda X: sparse.csr_array(X), {"metric": "manhattan"}, "Sparse data was passed"),
        (lambda X: sparse.csr_array(X * 1e200), {"kernel": "knn"}, "leave the range of floating-point"),
    ],
)
def test_wrong_data_are_named(data, options, message):
    X, _ = directions()
    with pytest.raises((ValueError, TypeError), match=message):
        (KernelClustering if "kernel" in options else EvenCut)(3, random_state=0, **options).fit(data(X))


def with_value(value, row=3, column=4):
    def change(X):
        X = X.copy()
        X[row, column] = value
        return X

    return change


def distances_with(value, row=3, column=4, both=True):
    def change(X):
        table = pairwise_distances(X)
        table[row, column] = value
        table[column, row] = value if both else table[column, row]
        return table

    return change


def as_csr(change):
    return lambda X: sparse.csr_array(change(X))


# What is wrong, how it is compared, and what is said: the value, the place and the cure.
WRONG = {
    "zero row": (with_zero_row, "cosine", r"row 5 is zero throughout .* leave such rows out"),
    "sparse zero row": (as_csr(with_zero_row), "cosine", r"row 5 is zero throughout .* leave such rows out"),
    "NaN, sparse": (as_csr(with_value(np.nan)), "cosine", r"NaN.*row 3, column 4 \(1 .*; fill them in or leave"),
    "infinity, sparse": (as_csr(with_value(np.inf)), "euclidean", r"infinity.*row 3, column 4 \(1 .*; fill them in"),
    "infinity": (with_value(np.inf), "euclidean", r"X.* contains infinity in .*row 3, column 4 \(1 v.*; fill them"),
    "infinity, list": (lambda X: with_value(-np.inf)(X).tolist(), "cosine", r"infinity in .*row 3, column 4 \(1 v"),
    "unequal lists": (lambda X: [*X[:-1].tolist(), [1.0, 2.0]], "cosine", "row 239 of 'X' has 2 numbers, but row 0"),
    "negative": (distances_with(-1.0), "precomputed", r"X\[3, 4\] = -1 is negative"),
    "not square": (lambda X: X, "precomputed", r"a square matrix, but X has shape \(240, 20\)"),
    "asymmetric": (distances_with(99.0, both=False), "precomputed", r"X\[3, 4\] = 99 and X\[4, 3\] = "),
}


@pytest.mark.parametrize("what", WRONG)
def test_every_estimator_and_the_diagnosis_name_what_is_wrong(what):
    X, y = directions()
    change, metric, message = WRONG[what]
    given = change(X)
    for estimator in ESTIMATORS:
        if isinstance(estimator, LandmarkClustering) and metric == "precomputed":
            message_here = r"metric='precomputed' is not known; choose one of \['euclidean', 'cosine'\]"
        elif isinstance(estimator, LandmarkClustering) and "sparse" in what and "row" not in what:
            message_here = r"contains (NaN|infinity) in its row 3, column 4 \(1 value in all\); fill them in"
        else:
            message_here = message
        with pytest.raises(ValueError, match=message_here):
            clone(estimator).set_params(metric=metric).fit(given)
    with pytest.raises(ValueError, match=message):
        diagnose(given, y, metric=metric)


def test_new_rows_are_checked_too():
    X, _ = directions()
    model = EvenCut(3, metric="cosine", random_state=0).fit(X)
    with pytest.raises(ValueError, match="row 5 is zero throughout"):
        model.predict(with_zero_row(X))
    table = pairwise_distances(X)
    given = EvenCut(3, metric="precomputed", random_state=0).fit(table)
    with pytest.raises(ValueError, match="is negative, but distances are not"):
        given.predict(-table[:5])
    with pytest.raises(ValueError, match="features"):
        given.predict(table[:5, :100])


def test_integers_are_numbers_in_sparse_rows_too():
    X, _ = documents()
    counts = sparse.csr_array((np.ceil(X.data).astype(int), X.indices, X.indptr), shape=X.shape)
    same = EvenCut(3, metric="cosine", random_state=0).fit(counts.astype(float)).labels_
    assert np.array_equal(EvenCut(3, metric="cosine", random_state=0).fit(counts).labels_, same)


def test_kernels_say_what_they_need():
    needy = {name for name, kernel in KERNELS.items() if kernel().needs_coordinates}
    assert needy == {"gaussian", "disc", "geodesic"}
    assert AdaptiveGaussian(transform="log").needs_coordinates
    assert not Gaussian("median").needs_coordinates
    assert Geodesic().needs_coordinates
    with pytest.raises(ValueError, match=r"bandwidth=-1\.0 must be positive"):
        Gaussian(-1.0).affinity(points_in(np.zeros((3, 3)), "precomputed"))


def test_symmetric_up_to_rounding_is_symmetric():
    X, _ = directions()
    table = pairwise_distances(X)
    table[0, 1] += 1e-12
    assert check_distances(table) is table


def test_sparse_rows_are_never_made_dense():
    """2000 rows of 200 000 terms take 3.2 GB as an array."""
    import tracemalloc

    rng = np.random.default_rng(0)
    topic = np.arange(2000) % 4
    terms = np.hstack([rng.integers(0, 300, (2000, 20)) + 300 * topic[:, None], rng.integers(0, 200_000, (2000, 10))])
    rows = np.repeat(np.arange(2000), 30)
    X = sparse.csr_array((rng.uniform(0.5, 2, rows.size), (rows, terms.ravel())), shape=(2000, 200_000))
    tracemalloc.start()
    model = EvenCut(4, metric="cosine", random_state=0).fit(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert adjusted_rand_score(topic, model.labels_) > 0.95
    assert peak < 100e6
