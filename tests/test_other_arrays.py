"""Arrays of other libraries, which share their memory by DLPack: in and out, as tensors are."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn import config_context
from sklearn.metrics import adjusted_rand_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from evencut import DominantSets, EvenCut, KernelKMeans, LandmarkClustering, diagnose
from evencut.datasets import make_clumped_moons
from evencut.tensors import is_foreign, native, to_array


class Array:
    """An array of a library that does not hand its values to NumPy unless asked by DLPack, as CuPy's are."""

    ndim = property(lambda self: self.values.ndim)
    shape = property(lambda self: self.values.shape)

    def __init__(self, values):
        self.values = values

    def __array__(self, *args, **kwargs):
        raise TypeError("implicit conversion to a NumPy array is not allowed")

    def __dlpack_device__(self):
        return (1, 0)

    def __dlpack__(self, **options):
        return self.values.__dlpack__(**options)

    def __array_namespace__(self):
        return SimpleNamespace(from_dlpack=lambda shared: Array(np.from_dlpack(shared)))


@pytest.fixture(scope="module")
def moons():
    return make_clumped_moons(300, clump=0.5, random_state=0)[0]


MODELS = [
    EvenCut(2, random_state=0),
    KernelKMeans(2, kernel="gaussian", random_state=0),
    LandmarkClustering(2, n_landmarks=60, random_state=0),
]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_labels_and_all_other_results_are_arrays_of_the_same_library(model, moons):
    labels, probabilities = model.fit(moons).labels_.copy(), model.probabilities_
    proba = model.predict_proba(moons[:5])
    model.fit(Array(moons))
    assert isinstance(model.labels_, Array)
    np.testing.assert_array_equal(model.labels_.values, labels)
    np.testing.assert_array_equal(to_array(model.probabilities_), probabilities)
    assert isinstance(model.predict(Array(moons[:5])), Array)
    np.testing.assert_array_equal(model.predict(moons[:5]), labels[:5])
    np.testing.assert_array_equal(model.predict_proba(Array(moons[:5])).values, proba)
    assert isinstance(model.fit_predict(Array(moons)), Array)


def test_a_model_of_arrays_labels_those_of_another_library_and_the_tree_is_cut_for_both(moons):
    model = EvenCut(2, random_state=0).fit(moons)
    assert isinstance(model.predict(Array(moons[:5])), Array)
    cut = {k: model.cut(k) for k in (2, 3)}
    model.fit(Array(moons))
    for k, labels in cut.items():
        np.testing.assert_array_equal(model.cut(k).values, labels)
    assert model.cut(2) is not model.labels_


def test_labels_weights_and_known_labels_may_come_from_it_too(moons):
    known, weights = np.full(len(moons), -1), np.ones(len(moons))
    known[[0, -1]], weights[:9] = (0, 1), 2.0
    model = EvenCut(2, random_state=0)
    expected = model.fit(moons, known, sample_weight=weights).labels_
    found = model.fit(Array(moons), Array(known), sample_weight=Array(weights)).labels_
    np.testing.assert_array_equal(found.values, expected)
    assert diagnose(Array(moons), found).verdict == diagnose(moons, expected).verdict == model.diagnose().verdict
    assert len(model.describe(Array(moons)).clusters) == 2


def test_streams_give_labels_of_the_kind_of_their_batch(moons):
    whole = LandmarkClustering(2, n_landmarks=60, random_state=0).partial_fit(moons[:200]).partial_fit(moons[200:])
    other = LandmarkClustering(2, n_landmarks=60, random_state=0)
    assert isinstance(other.partial_fit(Array(moons[:200])).labels_, Array)
    assert isinstance(other.partial_fit(Array(moons[200:])).labels_, Array)
    np.testing.assert_array_equal(other.labels_.values, whole.labels_)
    assert isinstance(other.partial_fit(moons[:50]).labels_, np.ndarray)


def test_streams_of_tensors_give_tensors(moons):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    model = LandmarkClustering(2, n_landmarks=60, random_state=0).partial_fit(torch.from_numpy(moons[:200]))
    whole = LandmarkClustering(2, n_landmarks=60, random_state=0).partial_fit(moons[:200])
    assert isinstance(model.labels_, torch.Tensor)
    assert (model.labels_.numpy() == whole.labels_).all()
    assert isinstance(model.partial_fit(torch.from_numpy(moons[200:])).labels_, torch.Tensor)
    assert isinstance(model.predict_proba(torch.from_numpy(moons[:9])), torch.Tensor)


def test_bad_values_are_named_and_leave_the_model_alone(moons):
    bad = moons.copy()
    bad[3, 0] = np.inf
    model = EvenCut(2, random_state=0).fit(moons)
    with pytest.raises(ValueError, match="infinity"):
        model.fit(Array(bad))
    assert isinstance(model.labels_, np.ndarray)
    with pytest.raises(TypeError, match="refit is for arrays and frames"):
        model.refit(Array(moons))


def test_sets_have_labels_of_its_kind(moons):
    assert isinstance(DominantSets(2).fit(Array(moons[:80])).labels_, Array)


def test_arrays_on_a_device_name_what_is_missing(monkeypatch):
    on_device = type("OnDevice", (Array,), {"__dlpack_device__": lambda self: (2, 0)})(np.zeros((4, 2)))
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install \"evencut\[gpu\]\""):
        native(on_device)


def test_a_device_is_reached_through_torch(monkeypatch):
    on_device = type("OnDevice", (Array,), {"__dlpack_device__": lambda self: (2, 0)})(np.ones((4, 2)))
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(from_dlpack=lambda X: ("tensor", X)))
    assert native(on_device) == ("tensor", on_device)


def test_frames_lists_and_tables_are_not_taken_for_arrays():
    pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    for values in ([1.0], np.zeros(2), np.float64(1), pyarrow.array([1.0]), pandas.DataFrame({"a": [1.0]}), None):
        assert not is_foreign(values)


def test_a_library_of_the_array_standard(moons):
    strict = pytest.importorskip("array_api_strict", reason="array-api-strict is not installed")
    model = EvenCut(2, random_state=0)
    expected = model.fit(moons).labels_.copy()
    labels = model.fit(strict.asarray(moons)).labels_
    assert isinstance(labels, type(strict.asarray([0])))
    np.testing.assert_array_equal(to_array(labels), expected)
    assert type(model.predict(strict.asarray(moons[:9]))) is type(labels)


@pytest.mark.parametrize(
    ("name", "make"), [("numpy", "asarray"), ("array_api_strict", "asarray"), ("torch", "from_numpy")]
)
def test_dispatch_of_scikit_learn_is_respected(name, make):
    """SciPy must be asked for it before it is imported, as conftest does."""
    library = pytest.importorskip(name)
    X, y = make_clumped_moons(300, clump=0.5, random_state=0)
    plain = EvenCut(2, random_state=0).fit_predict(X)
    with config_context(array_api_dispatch=True):
        model = EvenCut(2, random_state=0)
        assert (model.fit_predict(X) == plain).all()
        other = getattr(library, make)(X)
        labels = make_pipeline(StandardScaler(), model).fit_predict(other)
        assert type(labels) is type(other), type(labels)
        assert adjusted_rand_score(getattr(library, make)(y), labels) == 1
        assert type(model.predict_proba(other[:5, :])) is type(other)
