"""Anything finite or not, large or small, tied or constant: an answer of the right form, or an error that says why.

`EVENCUT_FUZZ=20000 pytest tests/test_fuzz.py` looks at that many examples of each kind; a few hundred in all otherwise.
"""

import os
import warnings

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import sparse

from evencut import KernelClustering, LandmarkClustering, diagnose
from evencut.segmentation import segment

MANY = settings(
    max_examples=int(os.environ.get("EVENCUT_FUZZ", "0")) or 150,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
MODELS = (
    KernelClustering(2),
    KernelClustering("auto"),
    KernelClustering(3, kernel="knn", equalize="exact"),
    KernelClustering(2, kernel="gaussian", criterion="average_association"),
    KernelClustering(2, kernel="local_scaling", scale="standard"),
    LandmarkClustering(2, n_landmarks="auto"),
)


@st.composite
def tables(draw):
    """Arrays of every scale, order and type, with ties, constant columns, odd values and views."""
    n_rows, n_columns = draw(st.integers(1, 60)), draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = rng.normal(size=(n_rows, n_columns)) + 6 * rng.integers(0, 3, size=(n_rows, 1))
    form = draw(st.sampled_from(["plain", "rounded", "repeated", "constant column", "all equal", "one outlier"]))
    if form == "rounded":
        X = np.round(X)
    elif form == "repeated":
        X = X[rng.integers(0, max(1, n_rows // 5), size=n_rows)]
    elif form == "constant column":
        X[:, 0] = 7
    elif form == "all equal":
        X[:] = X[0]
    elif form == "one outlier":
        X[rng.integers(n_rows), 0] *= 10.0 ** draw(st.integers(0, 300))
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        X = X * 10.0 ** draw(st.integers(-308, 308))
        X = X.astype(draw(st.sampled_from([np.float64, np.float64, np.float32])))
    if draw(st.integers(0, 9)) == 0:
        X[rng.integers(n_rows), rng.integers(n_columns)] = draw(st.sampled_from([np.nan, np.inf, -np.inf]))
    look = draw(st.sampled_from(["C", "F", "view", "reversed"]))
    if look == "F":
        return np.asfortranarray(X)
    if look == "view":
        return np.repeat(X, 2, axis=0)[::2]
    return X[::-1] if look == "reversed" else X


def check_fit(model, X, n_rows):
    """Labels of all rows, or a ValueError that says something; the input stays as it is."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            model = model.set_params(random_state=0).fit(X)
        except ValueError as error:
            assert len(str(error)) > 20
            return
        labels = np.asarray(model.labels_)
        assert labels.shape == (n_rows,)
        assert set(np.unique(labels)) == set(range(model.n_clusters_))
        assert np.isfinite(model.energy_)
        again = np.asarray(model.predict(X))
        assert again.shape == (n_rows,) and again.min() >= 0 and again.max() < model.n_clusters_


@MANY
@given(tables(), st.sampled_from(MODELS))
def test_any_table_is_clustered_or_refused(X, model):
    before = X.copy()
    check_fit(model, X, len(X))
    np.testing.assert_array_equal(X, before)


@MANY
@given(tables(), st.integers(0, 2**32 - 1))
def test_any_clustering_is_diagnosed_or_refused(X, seed):
    labels = np.random.default_rng(seed).integers(-1, 3, size=len(X))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            report = diagnose(X, labels, cures=False)
        except ValueError as error:
            assert len(str(error)) > 20
            return
    assert 0 <= report.confidence <= 1
    assert report.verdict in str(report)


@MANY
@given(tables(), st.floats(0.0, 0.9), st.sampled_from(["euclidean", "cosine"]))
def test_any_sparse_matrix_is_clustered_or_refused(X, emptied, metric):
    rows = sparse.csr_array(np.where(np.random.default_rng(0).random(X.shape) < emptied, 0.0, X))
    before = rows.copy()
    check_fit(KernelClustering(2, metric=metric), rows, len(X))
    assert (rows != before).nnz == 0 or not np.isfinite(before.data).all()


@settings(parent=MANY, max_examples=max(MANY.max_examples // 6, 25))
@given(
    st.tuples(st.integers(1, 24), st.integers(1, 24)),
    st.sampled_from([np.uint8, np.float64, np.float32, np.uint16]),
    st.tuples(*[st.integers(-5, 30)] * 4),
    st.integers(0, 2**32 - 1),
)
def test_any_image_and_box_are_cut_or_refused(shape, dtype, box, seed):
    pytest.importorskip("skimage", reason="photos need scikit-image")
    pytest.importorskip("ortools", reason="photos need OR-Tools")
    rng = np.random.default_rng(seed)
    image = rng.random((*shape, 3)) if np.dtype(dtype).kind == "f" else rng.integers(0, 256, (*shape, 3))
    image = image.astype(dtype)
    before = image.copy()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            mask = segment(image, box=box).mask
        except ValueError as error:
            assert len(str(error)) > 10
        else:
            assert mask.shape == shape and mask.dtype == bool
    np.testing.assert_array_equal(image, before)
