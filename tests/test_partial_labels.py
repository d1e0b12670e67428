"""Some labels known: they are kept, and they steer the rest."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from evencut import DominantSets, EvenCut, LandmarkClustering, NormalizedCut, ProbabilisticKMeans
from evencut.datasets import make_clumped_moons
from evencut.landmarks import open_files


@pytest.fixture
def moons():
    return make_clumped_moons(600, clump=0.5, random_state=0)


@pytest.mark.parametrize("model", [EvenCut(2), NormalizedCut(2, kernel="knn")])
def test_labelled_rows_keep_their_label_and_steer_the_rest(moons, model):
    X, _ = moons
    half = (X[:, 0] > 0.5).astype(int)  # not what anyone would find without labels
    known = np.random.default_rng(0).choice(600, 24, replace=False)
    y = np.full(600, -1)
    y[known] = half[known]
    without = model.set_params(random_state=0).fit(X).labels_
    steered = model.fit(X, y).labels_
    np.testing.assert_array_equal(steered[known], half[known])
    assert adjusted_rand_score(half, steered) > 0.6 > adjusted_rand_score(half, without)


def test_numbers_of_clusters_follow_the_labels(moons):
    X, moon = moons
    y = np.full(600, -1)
    y[:10] = 1 - moon[:10]
    labels = EvenCut(2, random_state=0).fit(X, y).labels_
    assert (labels == 1 - moon).mean() > 0.98


def test_clusters_without_any_label_are_found_too():
    X, truth = make_blobs(400, centers=4, cluster_std=0.5, random_state=4)
    y = np.full(400, -1)
    y[np.flatnonzero(truth == 2)[:5]] = 0
    labels = EvenCut(4, random_state=0).fit(X, y).labels_
    assert adjusted_rand_score(truth, labels) > 0.97
    assert (labels[truth == 2] == 0).mean() > 0.97


def test_complete_labels_are_ignored_as_scikit_learn_passes_them_for_scoring(moons):
    X, _ = moons
    model = EvenCut(2, random_state=0)
    np.testing.assert_array_equal(model.fit(X).labels_, model.fit(X, np.arange(600)).labels_)


def test_wrong_partial_labels_are_named(moons):
    X, _ = moons
    y = np.full(600, -1)
    y[0] = 5
    with pytest.raises(ValueError, match=r"the label 5, but n_clusters=2 allows labels from 0 to 1"):
        EvenCut(2).fit(X, y)
    with pytest.raises(ValueError, match="y has shape"):
        EvenCut(2).fit(X, y[:10])
    y[1] = -7
    with pytest.raises(ValueError, match="y holds -7"):
        EvenCut(2).fit(X, y)


def column_of(kind, numbers):
    """Partial labels, -1 where unknown, as people hold them."""
    unknown = numbers < 0
    names = np.array(["cold", "warm"], dtype=object)[np.maximum(numbers, 0)]
    names[unknown] = None
    return {
        "whole numbers as floats": numbers.astype(float),
        "NaN": np.where(unknown, np.nan, numbers),
        "None": np.where(unknown, None, numbers),
        "pandas, gaps": pd.Series(np.where(unknown, np.nan, numbers)),
        "pandas, NA": pd.Series(pd.array(np.where(unknown, None, numbers), dtype="Int64")),
        "pandas, true and false": pd.Series(np.where(unknown, None, numbers == 1)),
        "polars": pl.Series([None if n < 0 else int(n) for n in numbers]),
        "Arrow": pa.array([None if n < 0 else int(n) for n in numbers]),
        "words": names,
        "words in a list": names.tolist(),
        "words, NaN": np.where(unknown, np.nan, names),
        "pandas, words": pd.Series(names),
        "pandas, strings": pd.Series(names, dtype="string"),
        "categories": pd.Series(pd.Categorical(names, categories=["hot", "cold", "warm"])),
        "categories alone": pd.Categorical(names),
        "polars, words": pl.Series(names.tolist()),
    }[kind]


COLUMNS = [
    "whole numbers as floats", "NaN", "None", "pandas, gaps", "pandas, NA", "pandas, true and false", "polars", "Arrow",
    "words", "words in a list", "words, NaN", "pandas, words", "pandas, strings", "categories", "categories alone",
    "polars, words",
]  # fmt: skip
STEERED = [
    EvenCut(2, random_state=0),
    NormalizedCut(2, kernel="knn", random_state=0),
    LandmarkClustering(2, n_landmarks=200, random_state=0),
]


@pytest.fixture(scope="module")
def halves():
    """Moons, 24 of whose points are labelled by a border that nobody would find, and the labels this leads to."""
    X, _ = make_clumped_moons(600, clump=0.5, random_state=0)
    half = (X[:, 0] > 0.5).astype(int)
    known = np.random.default_rng(0).choice(600, 24, replace=False)
    y = np.full(600, -1)
    y[known] = half[known]
    return X, half, y, {type(model): clone(model).fit(X, y).labels_ for model in STEERED}


@pytest.mark.parametrize("model", STEERED, ids=lambda model: type(model).__name__)
@pytest.mark.parametrize("kind", COLUMNS)
def test_partial_labels_of_any_type_steer_alike(halves, model, kind):
    X, half, y, expected = halves
    model = clone(model)
    column = column_of(kind, y)
    np.testing.assert_array_equal(model.fit_predict(X, column), expected[type(model)])
    np.testing.assert_array_equal(model.labels_[y >= 0], y[y >= 0])
    assert adjusted_rand_score(half, model.labels_) > 0.6
    if "words" in kind or "strings" in kind or "categories" in kind:
        assert model.classes_.tolist() == ["cold", "warm"]
    else:
        assert not hasattr(model, "classes_")


def test_landmarks_of_files_take_partial_labels(halves, tmp_path):
    X, half, y, _ = halves
    pd.DataFrame(X, columns=["x", "y"]).to_parquet(tmp_path / "points.parquet")
    rows = open_files(str(tmp_path / "points.parquet"))
    model = LandmarkClustering(2, n_landmarks=200, random_state=0).fit(rows, y)
    assert adjusted_rand_score(half, model.predict(rows)) > 0.6


def test_an_automatic_number_leaves_room_for_the_labels_of_landmarks(halves):
    X, _, y, _ = halves
    y = np.where(y == 1, 4, y)
    assert LandmarkClustering("auto", n_landmarks=200, random_state=0).fit(X, y).n_clusters_ >= 5


@pytest.mark.parametrize("model", STEERED, ids=lambda model: type(model).__name__)
@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([0.5, np.nan], "y holds 0.5; labels are whole numbers from 0 or words"),
        ([np.inf, np.nan], "y holds inf"),
        ([-2.0, np.nan], "y holds -2"),
        (["a", 1, None], "y holds words and 1"),
        (["a", "b", "c", None], r"y names 3 clusters \(a, b, c\), but n_clusters=2; ask for at least 3"),
        ([5, None], "the label 5, but n_clusters=2"),
        ([{}, None], r"y holds \{\}"),
    ],
)
def test_labels_of_no_cluster_are_refused_by_name(halves, model, labels, message):
    X = halves[0]
    y = np.array([*labels, *[labels[-1]] * (600 - len(labels))], dtype=object)
    with pytest.raises(ValueError, match=message):
        clone(model).fit(X, y)


@pytest.mark.parametrize("model", [DominantSets(2), ProbabilisticKMeans(2)], ids=lambda model: type(model).__name__)
def test_estimators_that_cannot_be_steered_say_so(halves, model):
    X, _, y, _ = halves
    for column in (y, column_of("words", y)):
        for fit in (model.fit, model.fit_predict):
            with pytest.raises(ValueError, match=f"no label for 576 of 600 rows, but {type(model).__name__} cannot"):
                fit(X, column)
    apart = [[0.0], [0.1], [0.2], [5.0], [5.1]]
    np.testing.assert_array_equal(model.fit(apart, list("abcde")).labels_, model.fit(apart).labels_)


@pytest.mark.parametrize("model", STEERED, ids=lambda model: type(model).__name__)
def test_complete_labels_of_any_type_are_ignored(halves, model):
    X = halves[0]
    without = clone(model).fit(X).labels_
    for complete in (np.linspace(0, 1, 600), ["a", "b"] * 300, pd.Series(["a", "b"] * 300, dtype="category")):
        np.testing.assert_array_equal(clone(model).fit(X, complete).labels_, without)
