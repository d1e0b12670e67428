"""scikit-learn's own suite of estimator checks, on every estimator and on each way through it."""

import numpy as np
import pytest
from sklearn.utils.estimator_checks import check_estimator, parametrize_with_checks

from evencut import EvenCut, KernelClustering, KernelKMeans, NormalizedCut, ProbabilisticKMeans
from evencut.kernels import Gaussian

# The suite warns of its own accord, so the rule that warnings are errors rests here.
pytestmark = pytest.mark.filterwarnings("default")

# Two clusters, since the suite's smallest data set has only four distinct points.
ESTIMATORS = [
    EvenCut(2),
    EvenCut(),
    KernelKMeans(2, kernel="knn"),
    NormalizedCut(2, kernel="shared_neighbors"),
    KernelClustering(2, kernel="knn", equalize="exact"),
    KernelClustering(2, kernel="knn", equalize="weights", solver="lloyd"),
    KernelClustering(2, kernel=Gaussian(1.0), criterion="average_cut"),
    ProbabilisticKMeans(2),
    ProbabilisticKMeans(2, model="histogram"),
]




# The suite asks of whoever has predict_proba and takes sparse rows whether its classes are many, as of a classifier.
PROBABILITIES = dict.fromkeys(("check_estimator_sparse_array", "check_estimator_sparse_matrix"), "no classifier")


def known_to_fail(estimator):
    return PROBABILITIES if hasattr(estimator, "predict_proba") else {}


@parametrize_with_checks(ESTIMATORS, expected_failed_checks=known_to_fail)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_works_as_the_last_step_of_a_pipeline_also_when_fitted_again():
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    X = np.vstack([np.random.default_rng(0).normal(size=(30, 2)), np.random.default_rng(1).normal(9, 1, size=(30, 2))])
    model = make_pipeline(StandardScaler(), KernelClustering(2, kernel="knn", random_state=0))
    first = model.fit_predict(X)
    np.testing.assert_array_equal(model.fit(X).predict(X), first)


def test_equal_clusters_are_numbered_whatever_the_order_of_rows():
    shape = "n_clusters=8 is more than the four distinct points of this check, which is refused by name"
    checks = ("check_sample_weights_shape", "check_sample_weights_not_overwritten")
    failed = PROBABILITIES | dict.fromkeys(checks, shape)
    check_estimator(KernelKMeans(), expected_failed_checks=failed, on_skip=None)
