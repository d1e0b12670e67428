"""Anything finite or not, large or small, tied or constant: an answer of the right form, or an error that says why.

`fuzzing.py` beside this file says how many examples are drawn.
"""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from fuzzing import bounded, fuzz
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from evencut import EvenCut, KernelClustering, LandmarkClustering, diagnose
from evencut.segmentation import segment

MODELS = (
    EvenCut(2),
    EvenCut("auto"),
    KernelClustering(3, kernel="knn", equalize="exact"),
    KernelClustering(2, kernel="gaussian", criterion="average_association"),
    KernelClustering(2, kernel="local_scaling", scale="standard"),
    LandmarkClustering(2, n_landmarks="auto"),
)


@st.composite
def tables(draw):
    """Arrays of every scale, order and type, with ties, constant columns and views; one in ten may be invalid."""
    is_odd = draw(st.sampled_from([False] * 9 + [True]))
    n_rows, n_columns = draw(st.integers(1 if is_odd else 12, 60)), draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = rng.normal(size=(n_rows, n_columns)) + 6 * rng.integers(0, 3, size=(n_rows, 1))
    forms = ["plain", "rounded", "repeated", "constant column", "one outlier", *["all equal"] * is_odd]
    form = draw(st.sampled_from(forms))
    if form == "rounded":
        X = np.round(X)
    elif form == "repeated":
        X = X[rng.integers(0, max(1, n_rows // 3), size=n_rows)]
    elif form == "constant column":
        X[:, 1 if n_columns > 1 else n_columns :] = 7
    elif form == "all equal":
        X[:] = X[0]
    elif form == "one outlier":
        X[rng.integers(n_rows), 0] *= 10.0 ** draw(st.integers(0, 300 if is_odd else 12))
    kind = draw(st.sampled_from([np.float64, np.float64, np.float32]))
    largest = 308 if is_odd else 100 if kind is np.float64 else 8
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        X = (X * 10.0 ** draw(st.integers(-largest, largest))).astype(kind)
    if is_odd and draw(st.booleans()):
        X[rng.integers(n_rows), rng.integers(n_columns)] = draw(st.sampled_from([np.nan, np.inf, -np.inf]))
    look = draw(st.sampled_from(["C", "F", "view", "reversed"]))
    if look == "F":
        return np.asfortranarray(X)
    if look == "view":
        return np.repeat(X, 2, axis=0)[::2]
    return X[::-1] if look == "reversed" else X


def is_fitted(model, X, n_rows, refusals=ValueError):
    """Whether all rows get labels; otherwise an error must say something."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            model = model.set_params(random_state=0).fit(X)
        except refusals as error:
            assert len(str(error)) > 20
            return False
        labels = np.asarray(model.labels_)
        assert labels.shape == (n_rows,)
        assert set(np.unique(labels)) == set(range(model.n_clusters_))
        assert np.isfinite(getattr(model, "energy_", 0.0))
        again = np.asarray(model.predict(X))
        assert again.shape == (n_rows,) and again.min() >= 0 and again.max() < model.n_clusters_
        return True


def share_of(answers, usual, *strategies):
    """The share of the drawn examples for which `answers` says yes."""
    said = []

    @fuzz(usual)
    @given(st.tuples(*strategies))
    @bounded
    def each(example):
        said.append(answers(*example))

    each()
    return np.mean(said)


def test_nine_tables_in_ten_are_clustered_and_the_others_refused():
    def answers(X, model):
        before = X.copy()
        fitted = is_fitted(model, X, len(X))
        np.testing.assert_array_equal(X, before)
        return fitted

    assert share_of(answers, 150, tables(), st.sampled_from(MODELS)) >= 0.8


def test_nearly_all_clusterings_are_diagnosed_and_the_others_refused():
    def answers(X, seed):
        labels = np.random.default_rng(seed).integers(-1, 3, size=len(X))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                report = diagnose(X, labels, cures=False)
            except ValueError as error:
                assert len(str(error)) > 20
                return False
        assert 0 <= report.confidence <= 1
        assert report.verdict in str(report)
        return True

    assert share_of(answers, 130, tables(), st.integers(0, 2**32 - 1)) >= 0.8


def test_most_sparse_matrices_are_clustered_and_the_others_refused():
    def answers(X, emptied, metric):
        rows = sparse.csr_array(np.where(np.random.default_rng(0).random(X.shape) < emptied, 0.0, X))
        before = rows.copy()
        fitted = is_fitted(EvenCut(2, metric=metric), rows, len(X))
        assert (rows != before).nnz == 0 or not np.isfinite(before.data).all()
        return fitted

    # Half are compared by angles, which rows of zeros do not have.
    assert share_of(answers, 120, tables(), st.floats(0.0, 0.6), st.sampled_from(["euclidean", "cosine"])) >= 0.4


EXTRA_COLUMNS = {
    "whole numbers": lambda n: pd.array(np.arange(n) % 5, dtype="Int64"),
    "missing": lambda n: pd.array([None if i % 7 == 3 else i % 3 for i in range(n)], dtype="Int64"),
    "words": lambda n: np.array(["low", "high"], dtype=object)[np.arange(n) % 2],
    "numbers as words": lambda n: np.array([str(i % 4) for i in range(n)], dtype=object),
    "categories": lambda n: pd.Categorical(np.array(["a", "b"])[np.arange(n) % 2]),
    "truth": lambda n: np.arange(n) % 2 == 0,
    "dates": lambda n: pd.date_range("2020-01-01", periods=n),
}


def test_nine_frames_in_ten_are_clustered_and_the_others_refused():
    def answers(X, extra, in_polars, model):
        frame = pd.DataFrame(np.ascontiguousarray(X), columns=[f"c{i}" for i in range(X.shape[1])])
        if extra is not None:
            frame["extra"] = EXTRA_COLUMNS[extra](len(frame))
        frame.index = frame.index * 10 + 3
        before = frame.copy(deep=True)
        fitted = is_fitted(model, pl.from_pandas(frame) if in_polars else frame, len(X), (ValueError, TypeError))
        pd.testing.assert_frame_equal(frame, before)
        return fitted

    columns = st.sampled_from([None, *EXTRA_COLUMNS])
    assert share_of(answers, 60, tables(), columns, st.booleans(), st.sampled_from(MODELS)) >= 0.8


@fuzz(25)
@given(
    st.tuples(st.integers(1, 24), st.integers(1, 24)),
    st.sampled_from([np.uint8, np.float64, np.float32, np.uint16]),
    st.tuples(*[st.integers(-5, 30)] * 4),
    st.integers(0, 2**32 - 1),
)
@bounded
def test_any_image_and_box_are_cut_or_refused(shape, dtype, box, seed):
    pytest.importorskip("skimage", reason="photos need scikit-image")
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
