"""Diagnosis: honest clusterings pass, each bias is called by its name, and every form of the report can be read."""

import json
import re

import numpy as np
import pytest
from scipy.sparse.csgraph import connected_components
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA

import evencut
from evencut import KernelClustering, KernelKMeans, NormalizedCut, bandwidth_sweep, diagnose
from evencut.affinity import equalize
from evencut.criteria import energy
from evencut.datasets import make_clumped_moons, make_rings
from evencut.diagnosis.labelled import joining_neighbors
from evencut.kernels import KNN, Gaussian
from evencut.neighbors import kneighbors


@pytest.fixture(scope="module")
def moons():
    return make_clumped_moons(600, clump=0.5, random_state=0)


def blobs(rng, sizes, centres, scales, n_features=2):
    X = [c * np.ones(n_features) + s * rng.normal(size=(m, n_features)) for m, c, s in zip(sizes, centres, scales)]
    return np.vstack(X), np.repeat(np.arange(len(sizes)), sizes)


# ---- honest clusterings ------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_features", [2, 5, 12])
@pytest.mark.parametrize(
    ("sizes", "scales"),
    [
        ((300, 300), (1.0, 1.0)),
        ((800, 40), (1.0, 1.0)),  # very unequal sizes
        ((500, 60), (1.0, 0.1)),  # a small dense cluster behind a valley
        ((400, 120), (0.3, 1.5)),  # a sparse cluster beside a dense one
    ],
)
def test_honest_clusters_are_ok(sizes, scales, n_features):
    rng = np.random.default_rng(0)
    X, labels = blobs(rng, sizes, (0.0, 8.0 / np.sqrt(n_features)), scales, n_features)
    report = diagnose(X, labels)
    assert report.verdict == "ok"
    assert not report.biased
    assert [row.size for row in report.clusters] == list(sizes)
    assert report.code == ""


def test_true_shapes_are_ok(moons):
    for X, y in (moons, make_rings(600, random_state=0)):
        assert not diagnose(X, y).biased


def test_touching_clusters_with_strays_are_ok():
    rng = np.random.default_rng(1)
    X, labels = blobs(rng, (500, 500), (0.0, 3.2), (1.0, 1.0))  # 4.5 deviations apart
    strays = rng.choice(1000, 15, replace=False)
    labels[strays] = 1 - labels[strays]
    assert diagnose(X, labels).verdict == "ok"


# ---- each bias by its name -----------------------------------------------------------------------------------


def test_kernel_k_means_on_a_clump_isolates_the_mode(moons):
    X, _ = moons
    report = KernelKMeans(2, kernel=Gaussian(0.1), random_state=0).fit(X).diagnose()
    assert report.verdict == "mode isolation"
    guilty = [row for row in report.clusters if row.verdict == "mode isolation"]
    assert len(guilty) == 1
    assert guilty[0].share < 0.5
    assert guilty[0].density > 0.7
    assert report.confidence > 0.9


@pytest.mark.parametrize("n_features", [2, 4, 8])
def test_the_core_of_a_body_is_mode_isolation(n_features):
    X = np.random.default_rng(2).normal(size=(800, n_features))
    core = np.linalg.norm(X, axis=1) < np.sqrt(n_features) * 0.6
    report = diagnose(X, np.where(core, "core", "rest"))
    assert report.verdict == "mode isolation"
    assert {row.label: row.verdict for row in report.clusters}["core"] == "mode isolation"


@pytest.mark.parametrize("n_lone", [1, 3, 12])
def test_a_few_outlying_points_are_a_sparse_subset(n_lone):
    X = np.random.default_rng(3).normal(size=(700, 3))
    labels = np.zeros(700, int)
    labels[np.argsort(X[:, 0])[-n_lone:]] = 1
    report = diagnose(X, labels)
    assert report.verdict == "sparse subset"
    assert report.clusters[1].verdict == "sparse subset"
    assert report.clusters[1].density < 0.3


def test_narrow_normalised_cut_splits_off_a_sparse_subset():
    X = np.vstack([np.random.default_rng(4).normal(size=(400, 2)), [[6.0, 6.0], [6.3, 6.1]]])
    labels = NormalizedCut(2, kernel=Gaussian(0.3), random_state=0).fit_predict(X)
    assert np.bincount(labels).min() < 20
    assert diagnose(X, labels).verdict == "sparse subset"


def test_k_means_on_moons_and_rings_is_equal_sizes(moons):
    for X, y in (moons, make_rings(600, random_state=0)):
        labels = KMeans(2, n_init=5, random_state=0).fit_predict(X)
        report = diagnose(X, labels)
        assert report.verdict == "equal sizes"
        assert not diagnose(X, y).biased


@pytest.mark.parametrize("n_samples", [300, 400, 1000])
@pytest.mark.parametrize("seed", range(3))
def test_a_straight_cut_across_thin_moons_is_seen(seed, n_samples):
    X, _ = make_clumped_moons(n_samples, random_state=seed)
    for position in (0.3, 0.5, 0.7):
        assert diagnose(X, X[:, 0] > position).biased


def test_the_cure_cures(moons):
    X, _ = moons
    report = KernelKMeans(2, kernel=Gaussian(0.1), random_state=0).fit(X).diagnose()
    found: dict = {}
    exec(report.code, {"evencut": evencut, "X": X}, found)
    assert not diagnose(X, found["labels"]).biased


def test_scenes_of_labelme(data_folder):
    file = data_folder / "labelme" / "features.npz"
    if not file.exists():
        pytest.skip(f"{file} is absent")
    data = np.load(file)
    chosen = np.isin(data["category"], ["coast", "forest", "highway", "tallbuilding"])
    X = PCA(5, random_state=0).fit_transform(data["features"][chosen].astype(float))
    scott = KernelKMeans(4, kernel="gaussian", random_state=0).fit(X)
    assert np.bincount(scott.labels_).max() > 0.6 * len(X)
    assert scott.diagnose().verdict == "mode isolation"
    assert KernelKMeans(4, kernel="knn", random_state=0).fit(X).diagnose().verdict == "ok"


# ---- what does not matter ------------------------------------------------------------------------------------


def test_names_order_scale_and_position_do_not_matter(moons):
    X, _ = moons
    labels = KMeans(2, n_init=5, random_state=0).fit_predict(X)
    first = diagnose(X, labels)
    order = np.random.default_rng(5).permutation(len(X))
    second = diagnose(1000 * X[order] - 7, np.array(["b", "a"])[labels[order]])
    assert second.verdict == first.verdict
    assert {row.size for row in second.clusters} == {row.size for row in first.clusters}
    assert second.confidence == pytest.approx(first.confidence, abs=0.05)


@pytest.mark.parametrize("noise", [-1, -1.0, "-1"])
def test_noise_is_left_out(moons, noise):
    X, y = moons
    labels = y.astype(type(noise)) if not isinstance(noise, str) else y.astype("U4")
    labels[::10] = noise
    report = diagnose(X, labels)
    assert report.n_noise == 60
    assert sum(row.size for row in report.clusters) == 540
    assert len(report.clusters) == 2
    assert not report.biased
    alone = diagnose(X[labels != noise], labels[labels != noise])
    assert [row.density for row in alone.clusters] == [row.density for row in report.clusters]


@pytest.mark.parametrize("text", ["U", "S"])
def test_a_cluster_called_minus_is_no_noise(moons, text):
    X, y = moons
    report = diagnose(X, np.where(y == 1, "+", "-").astype(text))
    assert (report.n_noise, len(report.clusters)) == (0, 2)
    labels = y.astype("U4").astype(text)
    labels[::10] = "-1"
    assert diagnose(X, labels).n_noise == 60


def test_large_data_are_judged_on_a_sample_and_small_clusters_on_all():
    rng = np.random.default_rng(6)
    X, labels = blobs(rng, (15_000, 15_000), (0.0, 8.0), (1.0, 1.0))
    report = diagnose(X, labels, max_points=3000)
    assert report.n_judged == 3000
    assert not report.biased
    assert "sample of 3000" in str(report)
    labels[np.argsort(X[:, 0])[:3]] = 2  # three points at the rim would vanish from the sample
    assert diagnose(X, labels, max_points=3000).clusters[2].verdict == "sparse subset"


def test_threads_do_not_matter(moons):
    X, y = moons
    assert diagnose(X, y, n_jobs=1).to_dict() == diagnose(X, y, n_jobs=2).to_dict()


def test_coinciding_points_are_no_trouble():
    X = np.repeat(np.random.default_rng(7).normal(size=(40, 2)), 12, axis=0)
    labels = (np.arange(480) < 240).astype(int)
    X[labels == 1] += 9
    report = diagnose(X, labels)
    assert not report.biased
    assert all(np.isfinite(row.density) for row in report.clusters)


def test_one_feature_is_enough():
    rng = np.random.default_rng(8)
    X = np.concatenate([rng.normal(size=200), rng.normal(size=200) + 9])[:, None]
    assert not diagnose(X, np.repeat([0, 1], 200)).biased
    assert "<svg" in diagnose(X, X[:, 0] > 0)._repr_html_()


# ---- the numbers of the whole --------------------------------------------------------------------------------


def test_equal_degrees_make_the_criteria_one(moons):
    X, y = moons
    affinity = KNN(10).affinity(X)
    plain = diagnose(X, y, affinity=affinity)
    even = diagnose(X, y, affinity=equalize(affinity))
    assert plain.degree_spread > 0.05
    assert even.degree_spread < 1e-6
    assert even.criteria_gap < 1e-6
    degree = affinity.sum(axis=1)
    cut = energy(affinity, y, "normalized_cut")
    expected = abs(energy(affinity, y, "average_association") / degree.mean() - cut) / abs(cut)
    assert plain.criteria_gap == pytest.approx(expected)


def test_the_kernel_named_is_the_one_measured(moons):
    X, y = moons
    report = diagnose(X, y, kernel=Gaussian(0.1))
    degree = Gaussian(0.1).affinity(X).sum(axis=1)
    assert report.kernel == "Gaussian"
    assert report.degree_spread == pytest.approx(degree.std() / degree.mean())
    assert diagnose(X, y, kernel="local_scaling").kernel == "LocalScaling"


@pytest.mark.parametrize("seed", range(3))
def test_joining_neighbours_is_the_smallest_count_that_connects(seed):
    rng = np.random.default_rng(seed)
    X, _ = blobs(rng, (40, 30, 60), (0.0, 9.0, 20.0), (1.0, 1.0, 1.0))

    def pieces(n_neighbors):
        return connected_components(KNN(n_neighbors + 1, "union").affinity(X), directed=False)[0]

    expected = next(k for k in range(5, len(X)) if pieces(k) == 1)
    graph = KNN(6, "union").affinity(X)
    assert pieces(5) > 1
    for n_known in (5, 15, len(X) - 1):  # all, some or none of the links are among the neighbours known
        neighbors = kneighbors(X, n_known + 1)[1][:, 1:]
        assert joining_neighbors(X, graph, neighbors, 5) == (pieces(5), expected)


def test_very_many_pieces_take_no_search_one_by_one():
    X = np.repeat(np.arange(60.0), 12)[:, None] * 100 + np.tile(np.arange(12.0), 60)[:, None]
    report = diagnose(X, (X[:, 0] > 3000).astype(int))
    assert report.n_components == 60
    assert report.joining_neighbors == 12
    many = np.repeat(np.arange(60.0), 40)[:, None] * 1000 + np.tile(np.arange(40.0), 60)[:, None]
    report = diagnose(many, (many[:, 0] > 30_000).astype(int))
    assert report.n_components == 60
    assert report.joining_neighbors is None
    assert "no small number of neighbours" in str(report)


def test_conductance_and_density_of_a_known_split():
    rng = np.random.default_rng(9)
    X, labels = blobs(rng, (200, 200), (0.0, 30.0), (1.0, 5.0))
    dense, sparse_ = diagnose(X, labels).clusters
    assert dense.conductance == sparse_.conductance == 0
    assert dense.density > 0.6 > 0.4 > sparse_.density
    assert dense.neighbor is None


# ---- every form of the report --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def biased_report(moons):
    X, _ = moons
    return diagnose(X, KernelKMeans(2, kernel=Gaussian(0.1), random_state=0).fit_predict(X))


def test_text(biased_report):
    text = str(biased_report)
    assert text.startswith("biased: mode isolation in cluster 1")
    assert "EvenCut(n_clusters=2" in text
    assert max(map(len, text.splitlines()[:5])) < 100
    sure = f"{biased_report.confidence:.2f}"
    assert repr(biased_report) == f"BiasReport(verdict='mode isolation', confidence={sure}, clusters=2)"


def test_dict_is_plain_and_frame_has_one_row_a_cluster(biased_report):
    plain = json.loads(json.dumps(biased_report.to_dict()))
    assert plain["biased"] is True
    assert plain["verdict"] == "mode isolation"
    assert [row["label"] for row in plain["clusters"]] == [0, 1]
    frame = biased_report.to_frame()
    assert list(frame.index) == [0, 1]
    assert frame["size"].sum() == 600


def test_html_is_one_file_that_needs_no_other(biased_report, tmp_path):
    path = biased_report.to_html(tmp_path / "report.html")
    text = path.read_text(encoding="utf-8")
    assert text.startswith("<!doctype html>")
    assert text.count("<svg") == 4  # density, clusters, and a border profile for each cluster
    assert text.count("<circle") > 1200
    for word in ("mode isolation", "EvenCut", "Density", "border with"):
        assert word in text
    links = set(re.findall(r"(?:href|src)=", text)) | (set(re.findall(r"https?://[^\s\"']+", text)))
    assert links == {"http://www.w3.org/2000/svg"}
    assert "<svg" in biased_report._repr_html_()


def test_html_escapes_names():
    X, labels = blobs(np.random.default_rng(10), (60, 60), (0.0, 9.0), (1.0, 1.0))
    page = diagnose(X, np.array(["<script>alert(1)</script>", "b & c"])[labels])._repr_html_()
    assert "<script>" not in page
    assert "b &amp; c" in page


# ---- mistakes ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (np.zeros(99), r"labels have shape \(99,\), but X has 100 points"),
        (np.zeros(100), "hold 1 cluster, noise left out"),
        (np.full(100, -1), "hold 0 clusters"),
        (np.r_[np.nan, np.zeros(99)], "NaN"),
        (np.zeros((100, 2)), "shape"),
    ],
)
def test_bad_labels_are_named(labels, message):
    with pytest.raises(ValueError, match=message):
        diagnose(np.random.default_rng(0).normal(size=(100, 2)), labels)


def test_other_bad_input_is_named():
    X = np.random.default_rng(0).normal(size=(100, 2))
    y = np.repeat([0, 1], 50)
    with pytest.raises(ValueError, match="NaN"):
        diagnose(np.where(X > 2, np.nan, X), y)
    with pytest.raises(ValueError, match="kernel='best'"):
        diagnose(X, y, kernel="best")
    with pytest.raises(ValueError, match="affinity is of 3 points"):
        diagnose(X, y, affinity=np.eye(3))
    with pytest.raises(ValueError, match="max_points=5"):
        diagnose(X, y, max_points=5)
    with pytest.raises(ValueError, match="scale='best'"):
        diagnose(X, y, scale="best")
    with pytest.raises(ValueError, match="metric='best'"):
        diagnose(X, y, metric="best")
    with pytest.raises(ValueError, match=r"sample_weight has shape \(3,\)"):
        diagnose(X, y, sample_weight=np.ones(3))
    with pytest.raises(ValueError, match="negative"):
        diagnose(X, y, sample_weight=-np.ones(100))
    with pytest.raises(ValueError, match="only 1 distinct points"):
        diagnose(np.ones((100, 2)), y)
    model = KernelClustering(2, kernel="precomputed", random_state=0).fit(Gaussian(1.0).affinity(X))
    with pytest.raises(ValueError, match="pass the points"):
        model.diagnose()
    assert model.diagnose(X).n_points == 100


# ---- the sweep over bandwidths -------------------------------------------------------------------------------


def test_no_fixed_bandwidth_works_for_clumped_moons(moons):
    X, _ = moons
    sweep = bandwidth_sweep(X, 2, bandwidths=[0.05, 0.1, 0.2, 0.5, 1.0, 3.0], n_resamples=2, random_state=0)
    verdicts = [row.verdict for row in sweep.rows]
    assert "mode isolation" in verdicts[:3]
    assert verdicts[-1] == "equal sizes"
    assert sweep.best is None
    assert sweep.answer().startswith("No fixed bandwidth works here")
    assert all(row.sizes.sum() == 600 for row in sweep.rows)
    assert all(-0.5 <= row.stability <= 1 for row in sweep.rows)
    for row in sweep.rows:
        affinity = Gaussian(row.bandwidth).affinity(X)
        assert row.energy == pytest.approx(energy(affinity, row.labels, "average_association"))


def test_sweep_finds_the_bandwidths_that_work_and_draws_them():
    X, _ = blobs(np.random.default_rng(11), (90, 90), (0.0, 7.0), (1.0, 1.0))
    sweep = bandwidth_sweep(X, 2, bandwidths=[0.02, 1.0, 2.0], n_resamples=2, random_state=0, max_points=150)
    assert sweep.n_points == 150
    assert sweep.n_given == 180
    assert {1.0, 2.0} <= set(sweep.working)
    assert sweep.best.stability > 0.9
    assert f"{sweep.best.bandwidth:.4g}" in str(sweep)
    ax = sweep.plot()
    assert ax.get_xlabel() == "bandwidth sigma"
    heights = sum(bar.get_height() for bar in ax.patches if bar.get_width() == 0.5)
    assert heights == pytest.approx(3.0)


def test_default_bandwidths_span_from_neighbours_to_diameter():
    X = np.random.default_rng(12).normal(size=(60, 2))
    sweep = bandwidth_sweep(X, 2, n_resamples=2, random_state=0)
    sigmas = [row.bandwidth for row in sweep.rows]
    assert len(sigmas) == 12
    assert sigmas == sorted(sigmas)
    assert sigmas[-1] == pytest.approx(np.linalg.norm(np.ptp(X, axis=0)))
    assert sigmas[0] < 0.3


def test_sweep_names_bad_input():
    X = np.zeros((20, 2))
    with pytest.raises(ValueError, match="bandwidths"):
        bandwidth_sweep(X, 2, bandwidths=[0.0, 1.0])
    with pytest.raises(ValueError, match="n_clusters=1"):
        bandwidth_sweep(np.eye(20), 1, bandwidths=[1.0])
