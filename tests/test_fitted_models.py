"""What a fitted model can do afterwards: be diagnosed, pickled, refitted; and what a new criterion gets for nothing."""

import pickle
import warnings

import numpy as np
import pytest
from sklearn.base import clone

from evencut import DominantSets, EvenCut, KernelClustering, KernelKMeans, LandmarkClustering
from evencut.criteria import CRITERIA, normalized_cut
from evencut.datasets import make_clumped_moons
from evencut.diagnosis import DensityBiasWarning
from evencut.kernels import KERNELS, Gaussian
from evencut.neighbors import NeighborSearch


def test_a_blockwise_kernel_can_be_diagnosed():
    X, _ = make_clumped_moons(300, clump=0.5, random_state=0)
    weight = np.ones(300)
    weight[:5] = 0
    for sample_weight in (None, weight):
        model = KernelKMeans(2, kernel=Gaussian(0.3, memory=0), random_state=0).fit(X, sample_weight=sample_weight)
        in_memory = KernelKMeans(2, kernel=Gaussian(0.3), random_state=0).fit(X, sample_weight=sample_weight)
        assert model.diagnose().degree_spread == pytest.approx(in_memory.diagnose().degree_spread, rel=1e-6)


@pytest.mark.parametrize(
    "estimator", [LandmarkClustering(2, n_landmarks=50, random_state=0), DominantSets(2, random_state=0)], ids=repr
)
def test_a_refit_that_fails_leaves_the_fitted_model_as_it_was(estimator):
    X, _ = make_clumped_moons(300, clump=0.5, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DensityBiasWarning)
        model = clone(estimator).fit(X)
    before = {name: value for name, value in vars(model).items() if name.endswith("_")}
    with pytest.raises(ValueError, match="infinity"):
        model.fit(np.where(np.arange(600).reshape(300, 2) == 7, np.inf, X))
    after = {name: value for name, value in vars(model).items() if name.endswith("_")}
    assert after.keys() == before.keys()
    assert all(after[name] is before[name] for name in before)


@pytest.mark.parametrize("kernel", [None, *(name for name in KERNELS if name != "precomputed")])
def test_predictions_survive_pickling_and_search_only_once(kernel, monkeypatch):
    X, _ = make_clumped_moons(300, clump=0.5, random_state=0)
    new = X[:40] + 0.01
    model = KernelClustering(2, kernel=kernel) if kernel else EvenCut(2)
    model.set_params(random_state=0).fit(X)
    expected = model.predict(new)
    again = pickle.loads(pickle.dumps(model))

    def searched_again(*_, **__):
        raise AssertionError("the neighbours of the fitted points were searched for again")

    monkeypatch.setattr(NeighborSearch, "query_self", searched_again)
    np.testing.assert_array_equal(again.predict(new), expected)
    np.testing.assert_array_equal(model.predict(new), expected)


def test_a_kernel_that_extends_by_a_closure_can_be_pickled():
    X, _ = make_clumped_moons(100, clump=0.5, random_state=0)
    model = KernelClustering(2, kernel=Closure(), random_state=0).fit(X)
    expected = model.predict(X)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict(X), expected)


class Closure(Gaussian):
    def extend(self, X, *, n_jobs=None):
        rows = super().extend(X, n_jobs=n_jobs)
        return lambda Y: rows(Y)


def test_a_new_criterion_is_used_by_every_equalization_and_by_predict(monkeypatch):
    """A criterion weighted by the degree, entered under another name, behaves as the normalised cut does."""

    class Twin(type(normalized_cut)):
        pass

    monkeypatch.setitem(CRITERIA, "twin", Twin())
    X, _ = make_clumped_moons(200, clump=0.5, random_state=0)
    for equalize in (None, "weights", "exact"):
        one = KernelClustering(2, kernel="knn", criterion="twin", equalize=equalize, random_state=0).fit(X)
        two = KernelClustering(2, kernel="knn", equalize=equalize, random_state=0).fit(X)
        assert one.energy_ == two.energy_
        np.testing.assert_array_equal(one.predict(X + 0.01), two.predict(X + 0.01))
