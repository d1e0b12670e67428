"""Tables people hold in memory: names of columns are kept and checked, and what cannot be clustered is named."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from evencut import DominantSets, EvenCut, LandmarkClustering, ProbabilisticKMeans, diagnose

X = np.random.default_rng(0).normal(size=(60, 3)) + np.repeat([[0, 0, 0], [9, 0, 5]], 30, axis=0)
X.setflags(write=False)
TABLE = pa.table({name: X[:, i] for i, name in enumerate("abc")})
MODELS = [
    EvenCut(2, random_state=0),
    LandmarkClustering(2, n_landmarks=30, random_state=0),
    ProbabilisticKMeans(2, random_state=0),
]
FITS = [*(model.fit for model in MODELS), DominantSets(2).fit, lambda table: diagnose(table, np.arange(60) // 30)]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_arrow_tables_keep_the_names_of_their_columns(model):
    labels = model.fit(X).labels_
    assert model.fit(TABLE).feature_names_in_.tolist() == ["a", "b", "c"]
    np.testing.assert_array_equal(model.labels_, labels)
    np.testing.assert_array_equal(model.predict(TABLE), model.predict(TABLE.to_pandas()))
    for swapped in (TABLE.select(["c", "b", "a"]), TABLE.to_pandas()[["c", "b", "a"]]):
        with pytest.raises(ValueError, match="feature names"):
            model.predict(swapped)
    model.fit(TABLE.to_pandas())
    with pytest.raises(ValueError, match="feature names"):
        model.predict(TABLE.select(["c", "b", "a"]))


def test_numbers_beside_vectors_have_names_and_vectors_alone_have_none():
    vectors = pa.FixedSizeListArray.from_arrays(pa.array(X[:, :2].ravel()), 2)
    both = pa.table({"v": vectors, "c": X[:, 2]})
    for table in (both, both.to_pandas(), pl.from_arrow(both)):
        model = EvenCut(2, random_state=0).fit(table)
        assert model.feature_names_in_.tolist() == ["v[0]", "v[1]", "c"]
    with pytest.raises(ValueError, match="feature names"):
        model.predict(both.select(["c", "v"]))
    assert not hasattr(EvenCut(2, random_state=0).fit(both.select(["v"])), "feature_names_in_")


@pytest.mark.parametrize("fit", FITS)
def test_two_columns_of_one_name_are_refused(fit):
    for table in (pd.DataFrame(X, columns=list("aba")), pa.table(list(X.T), names=list("aba"))):
        with pytest.raises(ValueError, match="two columns are called 'a'; give each a name of its own"):
            fit(table)


@pytest.mark.parametrize("fit", FITS)
def test_columns_of_words_and_dates_are_named(fit):
    columns = {"x": X[:, 0], "city": ["Bonn", "Rome"] * 30}
    rows = [[x, "Bonn"] for x in X[:, 0]]
    for table in (pd.DataFrame(columns), pl.DataFrame(columns), pd.DataFrame(columns).astype({"city": "category"})):
        with pytest.raises(ValueError, match=r"column 'city' holds words \('Bonn'\).*OneHotEncoder"):
            fit(table)
    for table in (rows, np.array(rows, dtype=object), np.array(rows)):
        with pytest.raises(ValueError, match=r"column 1 holds words \('Bonn'\)"):
            fit(table)
    with pytest.raises(ValueError, match="column 'day' holds dates or times"):
        fit(pd.DataFrame({"x": X[:, 0], "day": pd.date_range("2020", periods=60)}))


def test_text_that_reads_as_numbers_is_taken():
    written = pd.DataFrame(X).astype(str).astype(object)
    labels = EvenCut(2, random_state=0).fit(X).labels_
    np.testing.assert_array_equal(EvenCut(2, random_state=0).fit(written).labels_, labels)


@pytest.mark.parametrize("fit", FITS)
def test_what_is_no_table_yet_names_its_cure(fit, monkeypatch):
    with pytest.raises(TypeError, match=r"polars LazyFrame.*pass X\.collect\(\)"):
        fit(pl.DataFrame(X).lazy())

    class AnnData:
        """What of anndata's class is asked for: where it comes from."""

    monkeypatch.setattr(AnnData, "__module__", "anndata._core.anndata")
    with pytest.raises(TypeError, match=r"AnnData.*evencut\.anndata\.cluster\(adata\)"):
        fit(AnnData())
