# ruff: noqa: E402
"""The estimators on torch tensors: on a GPU as they are; elsewhere the same code on tensors in the CPU's memory."""

import pickle

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed: make test-gpu installs it")

from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from evencut import EvenCut, KernelClustering, KernelKMeans, LandmarkClustering, NormalizedCut, _runtime, diagnose
from evencut.affinity import equalizing_scale, knn_density, knn_radius, parzen_density
from evencut.estimators import fitting
from evencut.estimators.model_files import portable
from evencut.gpu import arrays
from evencut.gpu.sums import KernelSums
from evencut.kernels import KNN, AdaptiveGaussian, Gaussian, Kernel, LocalScaling, SharedNeighbors, for_tensors
from evencut.neighbors import squared_distances
from evencut.points import prepare_points
from evencut.tensors import count_copies

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
N_ROWS = 600
# Whether there are near-copies is read off so many distances, whatever the number of points.
SAMPLE = 8 * 26_000


@pytest.fixture(autouse=True)
def many(monkeypatch):
    """Few points count as many, and tensors in the CPU's memory as tensors on a device; no interpreter."""
    monkeypatch.delenv("TRITON_INTERPRET", raising=False)
    monkeypatch.setattr(fitting, "_MANY_PAIRS", 100)
    monkeypatch.setattr(_runtime, "MANY_POINTS", 100)
    monkeypatch.setattr(_runtime, "MOST_COMPARED", 300)
    for module in ("tensors", "estimators.fitting", "estimators.landmark_clustering"):
        monkeypatch.setattr(f"evencut.{module}.runs_on_device", lambda X: True)


@pytest.fixture(scope="module")
def blobs():
    X, y = make_blobs(N_ROWS, 4, centers=4, cluster_std=1.0, random_state=3)
    return torch.tensor(X, dtype=torch.float32, device=DEVICE), y


MODELS = {
    "default": EvenCut(4, random_state=0),
    "shared neighbours, weights": KernelClustering(
        4, kernel="shared_neighbors", equalize="weights", random_state=0
    ),
    "adaptive, weights": NormalizedCut(4, kernel="adaptive_gaussian", equalize="weights", random_state=0),
    "gaussian": KernelKMeans(4, kernel=Gaussian("median"), random_state=0),
    "gaussian, exact": KernelClustering(4, kernel="gaussian", equalize="exact", random_state=0),
    "adaptive": KernelKMeans(4, kernel="adaptive_gaussian", random_state=0),
    "adaptive, log": NormalizedCut(4, kernel=AdaptiveGaussian(transform="log"), random_state=0),
    "local scaling": NormalizedCut(4, kernel=LocalScaling(), random_state=0),
    "knn": KernelClustering(4, kernel=KNN(15, symmetrize="union"), random_state=0),
    "knn, mutual": KernelClustering(4, kernel=KNN(15, symmetrize="mutual"), criterion="average_cut", random_state=0),
    "shared neighbours": KernelClustering(4, kernel=SharedNeighbors(12), equalize="exact", random_state=0),
    "landmarks": LandmarkClustering(4, n_landmarks=100, random_state=0),
}


@pytest.mark.parametrize("name", MODELS)
def test_fits_on_a_device_find_what_the_cpu_finds(blobs, name):
    X, truth = blobs
    model = MODELS[name]
    expected = model.fit(X.cpu().numpy())
    on_cpu = {key: value for key, value in vars(expected).items() if isinstance(value, np.ndarray)}
    model.fit(X)
    assert model.labels_.device == X.device and len(model.labels_) == N_ROWS
    score = adjusted_rand_score(truth, model.labels_.cpu())
    assert abs(score - adjusted_rand_score(truth, on_cpu["labels_"])) <= 0.01
    for key in on_cpu:
        if key.endswith("_"):
            assert torch.is_tensor(getattr(model, key)) and getattr(model, key).device == X.device, key
    if "default" not in name and name != "landmarks":
        assert torch.is_tensor(model._prepared.points)
        for key in ("weights_", "degrees_", "equalizing_scale_"):
            assert np.allclose(getattr(model, key).cpu(), on_cpu[key], rtol=1e-3, atol=1e-6), key
    agree = (model.predict(X[:200]) == model.labels_[:200]).double().mean()
    assert float(agree) > 0.97


@pytest.mark.parametrize("name", ["default", "adaptive", "knn", "landmarks"])
def test_the_same_seed_gives_the_same_labels(blobs, name):
    first = MODELS[name].fit(blobs[0]).labels_
    assert (MODELS[name].fit(blobs[0]).labels_ == first).all()


@pytest.mark.parametrize("name", ["adaptive", "shared neighbours", "gaussian", "landmarks"])
def test_arrays_are_predicted_as_arrays_and_models_are_pickled(blobs, name):
    X, _ = blobs
    model = pickle.loads(pickle.dumps(MODELS[name].fit(X)))
    on_device, arrays_ = model.predict(X[:50]), model.predict(X[:50].cpu().numpy())
    assert isinstance(arrays_, np.ndarray) and (on_device.cpu().numpy() == arrays_).all()


def test_the_number_of_clusters_is_found_on_a_sample(blobs):
    X, _ = blobs
    for model in (EvenCut("auto", random_state=0), NormalizedCut("auto", kernel="knn", random_state=0)):
        assert model.fit(X).n_clusters_ == 4


@pytest.mark.parametrize("name", ["default", "adaptive", "knn"])
def test_weights_mean_the_same_as_copies(blobs, name):
    X, _ = blobs
    weights = torch.ones(N_ROWS, device=DEVICE)
    weights[:150] = 3
    copies = torch.cat([X, X[:150], X[:150]])
    weighted = MODELS[name].fit(X, sample_weight=weights)
    labels, total = weighted.labels_, weighted.weights_.sum()
    repeated = MODELS[name].fit(copies)
    assert adjusted_rand_score(labels.cpu(), repeated.labels_[:N_ROWS].cpu()) > 0.99
    assert (repeated.labels_[N_ROWS : N_ROWS + 150] == repeated.labels_[:150]).all()
    assert float(total) == float(repeated.weights_.sum()) == N_ROWS + 300


@pytest.mark.parametrize("name", ["default", "adaptive", "shared neighbours"])
def test_rows_of_weight_zero_are_labelled_afterwards(blobs, name):
    X, truth = blobs
    weights = torch.ones(N_ROWS, dtype=torch.float64, device=DEVICE)
    weights[::10] = 0
    model = MODELS[name].fit(X, sample_weight=weights)
    assert (model.point_of_row_[::10] == -1).all() and (model.labels_ >= 0).all()
    assert adjusted_rand_score(truth, model.labels_.cpu()) > 0.95


def test_near_copies_are_one_point(blobs):
    X = blobs[0].double()
    table = prepare_points(torch.cat([X, X + 1e-9]), scale=None)
    assert len(table.points) == N_ROWS
    assert (table.point_of_row[:N_ROWS] == table.point_of_row[N_ROWS:]).all()


def test_tables_of_units_are_scaled(blobs):
    X, truth = blobs
    units = X * torch.tensor([1.0, 1e4, 1e-3, 10.0], device=DEVICE)
    model = EvenCut(4, random_state=0).fit(units)
    assert torch.allclose(model.feature_scale_.float(), units.std(dim=0, correction=0), rtol=1e-4)
    assert adjusted_rand_score(truth, model.labels_.cpu()) > 0.9


def test_immense_values_are_brought_into_range_exactly(blobs):
    X, truth = blobs
    model = KernelClustering(4, kernel="knn", random_state=0).fit(X * 1e20)
    assert torch.is_tensor(model._prepared.points) and model.labels_.device == X.device
    assert float(model.feature_scale_[0]) == 2.0 ** round(float(model.feature_scale_[0].log2())) > 1e5
    assert adjusted_rand_score(truth, model.labels_.cpu()) > 0.95
    with pytest.raises(ValueError, match="squares of such values leave the range"):
        KernelClustering(4, kernel=Gaussian(1e20), random_state=0).fit(X * 1e20)


def test_known_labels_are_kept(blobs):
    X, truth = blobs
    known = torch.full((N_ROWS,), -1, device=DEVICE)
    known[:40] = torch.tensor(truth[:40], device=DEVICE)
    for model in (EvenCut(4, random_state=0), KernelClustering(4, kernel="knn", random_state=0)):
        assert (model.fit(X, known).labels_[:40] == known[:40]).all()


NEIGHBOURLY = ["knn", "shared neighbours", "landmarks", "default"]


@pytest.mark.parametrize("name", ["gaussian", "adaptive", "adaptive, log", "local scaling", *NEIGHBOURLY])
def test_points_seen_from_the_clusters(blobs, name):
    X, _ = blobs
    expected = MODELS[name].fit(X.cpu().numpy())
    away, score = expected.transform(X[:50].cpu().numpy()), expected.score(X.cpu().numpy())
    model = MODELS[name].fit(X)
    assert model.score(X) == pytest.approx(score, abs=0.02)
    found = model.transform(X[:50])
    assert found.device == X.device and found.shape == away.shape
    assert (found.argmin(dim=1) == model.predict(X[:50])).all()
    if name not in ("default", "landmarks"):
        # Clusters of equal weight may be numbered otherwise.
        scale = np.abs(away).max()
        assert np.allclose(np.sort(found.cpu().numpy(), axis=1), np.sort(away, axis=1), rtol=1e-3, atol=1e-3 * scale)


@pytest.mark.parametrize("form, kernel", [
    ("mean", AdaptiveGaussian()), ("product", LocalScaling()), ("gaussian", Gaussian(2.0)),
])  # fmt: skip
def test_new_points_have_the_affinities_of_the_cpu_also_far_out(blobs, form, kernel):
    X = blobs[0].double()
    draw = torch.Generator().manual_seed(1)
    new = torch.cat([X[:20] + torch.randn(20, 4, generator=draw).to(X), X[:20] * 4, X[:3] * 1e6])
    table = torch.rand(N_ROWS, 3, generator=draw).to(X) + 0.1
    expected = kernel.extend(X.cpu().numpy())(new.cpu().numpy()) @ table.cpu().numpy()
    assert (expected[20:40].sum(axis=1) < 1e-6).any() or form == "product"
    rows = kernel.extend(X)(new)
    assert np.allclose(rows.sums(table, "careful").cpu(), expected, rtol=1e-4, atol=1e-300)


def test_affinities_of_fits_on_a_device(blobs):
    X, _ = blobs
    model = MODELS["adaptive"].fit(X)
    assert isinstance(model.affinity_, KernelSums)
    model = MODELS["knn"].fit(X)
    expected = KNN(15, symmetrize="union").affinity(X.cpu().numpy()).toarray()
    assert np.allclose(model.affinity_.to_dense().cpu(), expected)


@pytest.mark.parametrize("name", MODELS)
def test_probabilities_on_a_device_are_those_of_the_cpu(blobs, name):
    X, _ = blobs
    model = MODELS[name]
    expected = model.fit(X.cpu().numpy())
    asked = X[:50].cpu().numpy() + 0.01
    known = [expected.probabilities_, expected.outlier_scores_, expected.predict_proba(asked)]
    # A model of arrays answers tensors as it answers arrays.
    assert np.allclose(expected.predict_proba(torch.tensor(asked, device=DEVICE)).cpu(), known[2], atol=0.03)
    model.fit(X)
    found = [model.probabilities_, model.outlier_scores_, model.predict_proba(torch.tensor(asked, device=DEVICE))]
    for array, tensor in zip(known, found):
        assert tensor.device == X.device
        # Clusters of equal size have no fixed order.
        difference = np.sort(array.reshape(len(array), -1)) - np.sort(tensor.cpu().numpy().reshape(len(array), -1))
        assert np.abs(difference).mean() < 0.03


def test_diagnosis_of_tensors(blobs):
    X, truth = blobs
    labels = torch.tensor(truth, device=DEVICE)
    assert diagnose(X, labels).verdict == diagnose(X.cpu().numpy(), truth).verdict
    assert MODELS["adaptive"].fit(X).diagnose().verdict == "ok"


@pytest.mark.parametrize("bandwidth", ["scott", "silverman", "median", 0.7, [0.5, 1.0, 1.0, 2.0]])
def test_parzen_densities_of_tensors(blobs, bandwidth):
    X, _ = blobs
    expected = parzen_density(X.cpu().numpy(), bandwidth, at=X[:30].cpu().numpy())
    assert np.allclose(parzen_density(X, bandwidth, at=X[:30]).cpu(), expected, rtol=1e-4)


def test_neighbour_densities_and_scales_of_tensors(blobs):
    X, _ = blobs
    for estimate in (knn_radius, knn_density):
        assert np.allclose(estimate(X, 7).cpu(), estimate(X.cpu().numpy(), 7), rtol=1e-4)
    sums = KernelSums(X, 1.0)
    expected = equalizing_scale(sums.dense().cpu().numpy())
    assert np.allclose(equalizing_scale(sums).cpu(), expected, rtol=1e-4)
    assert np.allclose(equalizing_scale(sums.dense()).cpu(), expected, rtol=1e-8)


@pytest.mark.parametrize("name", ["adaptive", "gaussian, exact"])
def test_all_pairs_copy_no_more_than_labels_and_a_sample_of_distances(blobs, name):
    X, _ = blobs
    with count_copies() as crossed:
        MODELS[name].fit(X)
    assert max(crossed) <= max(8 * N_ROWS, SAMPLE)


def test_graphs_labels_and_centres_are_all_that_is_copied(blobs):
    wide = torch.randn(N_ROWS, 500, generator=torch.Generator().manual_seed(0)).to(DEVICE) + blobs[0][:, :1]
    with count_copies() as crossed:
        EvenCut(4, random_state=0).fit(wide)
    assert max(crossed) <= 4 * 300 * 500
    with count_copies() as crossed:
        model = MODELS["knn"].fit(wide)
    assert max(crossed) <= max(8 * model.affinity_.values().numel(), SAMPLE)


def test_nothing_else_crosses_on_a_gpu(blobs):
    """Every operation of torch is watched: what leaves the device is what was counted, and single numbers."""
    if DEVICE == "cpu":
        pytest.skip("there is no GPU to leave")
    from torch.utils._python_dispatch import TorchDispatchMode

    class Watch(TorchDispatchMode):
        largest = 0

        def __torch_dispatch__(self, operation, types, args=(), kwargs=None):
            result = operation(*args, **(kwargs or {}))
            if "copy" in str(operation) and torch.is_tensor(result):
                sources = [value for value in args if torch.is_tensor(value)]
                if any(source.device != result.device for source in sources):
                    self.largest = max(self.largest, result.numel() * result.element_size())
            return result

    with Watch() as watch:
        MODELS["adaptive"].fit(blobs[0])
    assert 0 < watch.largest <= max(8 * N_ROWS, SAMPLE)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64])
def test_other_precisions(blobs, dtype):
    X, truth = blobs
    for name in ("default", "adaptive", "knn", "landmarks"):
        assert adjusted_rand_score(truth, MODELS[name].fit(X.to(dtype)).labels_.cpu()) > 0.95, name


def test_gradients_and_views(blobs):
    X, truth = blobs
    view = torch.stack([X, X], dim=2)[:, :, 0].requires_grad_()
    assert not view.is_contiguous()
    for name in ("default", "adaptive", "landmarks"):
        labels = MODELS[name].fit(view).labels_
        assert not labels.requires_grad and adjusted_rand_score(truth, labels.cpu()) > 0.95


def test_bad_tensors_are_named(blobs):
    X, _ = blobs
    broken = X.clone()
    broken[7, 1] = torch.nan
    for name in ("default", "adaptive", "landmarks"):
        with pytest.raises(ValueError, match="NaN or infinity, first in row 7"):
            MODELS[name].fit(broken)
        with pytest.raises(ValueError, match="must be 2-D"):
            MODELS[name].fit(X[:, 0])
    with pytest.raises(ValueError, match="X has 3 features, but 4 were fitted"):
        MODELS["adaptive"].fit(X).predict(X[:, :3])
    with pytest.raises(ValueError, match="one weight for each of 600 rows"):
        MODELS["adaptive"].fit(X, sample_weight=torch.ones(3, device=DEVICE))
    with pytest.raises(ValueError, match="n_clusters=4 is more than the 3 distinct points"):
        MODELS["adaptive"].fit(X[:3].repeat(100, 1))


def test_two_devices_are_named(blobs):
    X, _ = blobs
    other = torch.ones(N_ROWS, device="cpu" if DEVICE == "cuda" else "meta")
    with pytest.raises(ValueError, match="all tensors must be on one device"):
        MODELS["adaptive"].fit(X, sample_weight=other)


def test_what_cannot_fit_is_said_before_the_start(blobs, monkeypatch):
    monkeypatch.setattr(arrays, "free_bytes", lambda device: 2**14)
    for name in ("adaptive", "knn", "default"):
        with pytest.raises(MemoryError, match=r"needs about .* GiB .* but only .* GiB are free"):
            MODELS[name].fit(blobs[0])


class Cauchy(Kernel):
    """A kernel that somebody wrote with operations that arrays and tensors both know."""

    def __init__(self, scale=1.0):
        self.scale = scale

    @for_tensors
    def affinity(self, X, *, n_jobs=None):
        return self._rows(X, X)

    @for_tensors
    def extend(self, X, *, n_jobs=None):
        return lambda Y: self._rows(X, Y)

    def _rows(self, X, Y):
        SEEN.add(type(Y))
        return 1 / (1 + squared_distances(Y, X) / self.scale**2)


class CauchyOfArrays(Cauchy):
    """Another, whose author knows arrays only."""

    def affinity(self, X, *, n_jobs=None):
        return self._rows(X, np.asarray(X))


SEEN = set()


@pytest.mark.parametrize("criterion", ["normalized_cut", "average_association", "average_cut"])
@pytest.mark.parametrize("equalize", [None, "weights", "exact"])
def test_a_contributed_kernel_reaches_the_device_by_itself(blobs, criterion, equalize):
    X, truth = blobs
    how = {"criterion": criterion, "equalize": equalize, "random_state": 0}
    on_cpu = KernelClustering(4, kernel=Cauchy(2.0), **how).fit(X.cpu().numpy())
    SEEN.clear()
    model = KernelClustering(4, kernel=Cauchy(2.0), **how).fit(X)
    assert SEEN == {torch.Tensor}
    assert model.affinity_.device == X.device
    assert model.energy_ <= on_cpu.energy_ + 1e-3 * abs(on_cpu.energy_)
    assert (model.predict(X[:200]) == model.labels_[:200]).double().mean() > 0.97
    if equalize:
        assert adjusted_rand_score(truth, model.labels_.cpu()) > 0.95


def test_a_kernel_of_arrays_is_given_arrays(blobs):
    SEEN.clear()
    model = KernelClustering(4, kernel=CauchyOfArrays(2.0), random_state=0).fit(blobs[0])
    assert SEEN == {np.ndarray} and model.labels_.device == blobs[0].device


@pytest.mark.parametrize("name", ["default", "landmarks"])
def test_models_label_new_rows_where_these_are(blobs, name):
    wide = torch.randn(N_ROWS, 500, generator=torch.Generator().manual_seed(0)).to(DEVICE) + blobs[0][:, :1]
    model = MODELS[name].fit(wide)
    expected = model.predict(wide)
    with count_copies() as crossed:
        for answer in (model.predict, model.transform):
            assert answer(wide).device == wide.device
        model.score(wide)
    # Neither the rows nor what is said of them cross, only the centres and their labels.
    assert max(crossed) <= 4 * 300 * 500
    assert adjusted_rand_score(expected.cpu(), model.predict(wide.cpu().numpy())) > 0.99


@pytest.mark.parametrize("name", MODELS)
def test_models_of_arrays_label_tensors_as_they_label_arrays(blobs, name):
    X, _ = blobs
    model = MODELS[name].fit(X.cpu().numpy())
    found = model.predict(X)
    assert found.device == X.device
    assert (found.cpu().numpy() == model.predict(X.cpu().numpy())).mean() > 0.99


@pytest.mark.parametrize("name", ["default", "adaptive", "knn", "landmarks"])
def test_models_fitted_on_a_device_are_portable(blobs, name):
    X, _ = blobs
    model = MODELS[name].fit(X)
    kept = portable(model)
    assert not any(torch.is_tensor(value) for value in vars(kept).values())
    assert (kept.predict(X.cpu().numpy()) == model.predict(X).cpu().numpy()).mean() > 0.99
