"""Units, precision, shifts, the order of rows and columns, and the seed are no evidence: the clusters stay the same."""

from functools import cache

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris, load_wine, make_blobs, make_moons
from sklearn.metrics import adjusted_rand_score

from evencut import EvenCut

CHANGES = {
    "another unit": lambda X: X * 7.3,
    "single precision": lambda X: X.astype(np.float32),
    "a shift": lambda X: X + 5 * X.std(axis=0),
    "a constant column": lambda X: np.column_stack([X, np.full(len(X), 3.0)]),
    "columns in another order": lambda X: X[:, ::-1],
}
TABLES = {
    "iris": lambda: load_iris(return_X_y=True)[0],
    "wine": lambda: load_wine(return_X_y=True)[0],
    "breast cancer": lambda: load_breast_cancer(return_X_y=True)[0],
    "moons": lambda: make_moons(300, noise=0.07, random_state=0)[0],
    "blobs": lambda: make_blobs(300, 6, centers=4, cluster_std=2.5, random_state=0)[0],
}
GIVEN = {"iris": 3, "wine": 3, "breast cancer": 2, "moons": 2, "blobs": 4}


@cache
def fitted(name, n_clusters):
    """The fit of a table, which all changes are compared with."""
    return EvenCut(n_clusters, random_state=0).fit(TABLES[name]())


@pytest.mark.parametrize("name", TABLES)
def test_what_is_no_evidence_changes_no_cluster(name):
    X, labels = TABLES[name](), fitted(name, GIVEN[name]).labels_
    same = {what: adjusted_rand_score(labels, EvenCut(GIVEN[name], random_state=0).fit_predict(change(X)))
            for what, change in CHANGES.items()}  # fmt: skip
    assert np.mean(list(same.values())) > 0.98 and min(same.values()) > 0.9, same


@pytest.mark.parametrize("name", TABLES)
def test_another_seed_hardly_changes_the_clusters(name):
    X = TABLES[name]()
    labels = fitted(name, GIVEN[name]).labels_
    others = [EvenCut(GIVEN[name], random_state=seed).fit_predict(X) for seed in range(1, 4)]
    same = [adjusted_rand_score(labels, other) for other in others]
    assert np.mean(same) > 0.95 and min(same) > 0.9, same


@pytest.mark.parametrize("name", TABLES)
def test_the_order_of_rows_changes_nothing(name):
    X = TABLES[name]()
    order = np.random.default_rng(1).permutation(len(X))
    plain, mixed = fitted(name, GIVEN[name]), EvenCut(GIVEN[name], random_state=0).fit(X[order])
    assert adjusted_rand_score(plain.labels_[order], mixed.labels_) == 1
    assert plain.confidence_ == pytest.approx(mixed.confidence_, abs=1e-6)


@pytest.mark.parametrize("change", ["another unit", "single precision", "a constant column"])
def test_the_number_found_is_the_same(change):
    for name in ("iris", "breast cancer", "moons", "blobs"):
        changed = EvenCut(random_state=0).fit(CHANGES[change](TABLES[name]()))
        assert changed.n_clusters_ == fitted(name, "auto").n_clusters_, name


def test_a_constant_column_leaves_the_number_that_is_found(rng):
    X = np.concatenate([rng.normal(size=(60, 4)), rng.normal(size=(60, 4)) + [3, 0, 0, 0]])
    plain = EvenCut(random_state=0).fit(X)
    wider = EvenCut(random_state=0).fit(np.column_stack([X, np.full(len(X), 3.0)]))
    # The points without clusters are drawn alike: not only the answer is the same, but all that it was compared with.
    chances = [[number.chance for number in model.selection_.numbers] for model in (plain, wider)]
    np.testing.assert_allclose(*chances)
    np.testing.assert_array_equal(plain.labels_, wider.labels_)
