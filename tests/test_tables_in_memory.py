"""Tables people hold in memory: words, dates and gaps become numbers, names are kept, the rest is refused."""

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
        with pytest.raises(ValueError, match="two columns are called 'a'; rename one"):
            fit(table)


def people():
    """Two groups that only a word, a truth value, a date and a gap-ridden number tell apart."""
    draw = np.random.default_rng(1)
    group = np.arange(120) // 60
    frame = pd.DataFrame(
        {
            "noise": draw.normal(size=120),
            "city": np.where(group == 0, "Rome", "Bonn"),
            "member": group == 1,
            "since": pd.to_datetime("2020-01-01") + pd.to_timedelta(draw.integers(0, 30, 120) + 400 * group, unit="D"),
            "kind": pd.Categorical(draw.choice(["a", "b", "c"], 120)),
            "rooms": pd.array(np.where(draw.random(120) < 0.1, None, draw.integers(0, 3, 120)), dtype="Int64"),
        }
    )
    frame.loc[3, "city"] = None
    frame.loc[5, "noise"] = np.nan
    return frame, group


def as_polars(frame):
    return pl.from_pandas(frame)


GAPS = pytest.mark.filterwarnings("ignore:.* missing values? in .* filled from the nearest rows:UserWarning")


@GAPS
@pytest.mark.parametrize("kind", [pd.DataFrame, as_polars, pa.Table.from_pandas])
def test_tables_are_clustered_as_they_are(kind):
    frame, group = people()
    table = kind(frame)
    model = EvenCut(2, random_state=0).fit(table)
    assert abs(np.corrcoef(model.labels_, group)[0, 1]) == 1
    assert model.feature_names_in_.tolist() == list(frame.columns) and model.n_features_in_ == 6
    np.testing.assert_array_equal(model.predict(table), model.labels_)
    done = str(model.table_).splitlines()
    assert done[1].startswith("city: words, 2 columns of 0 and 1 (Bonn, Rome)")
    assert done[3].startswith("since: dates, as days, divided by 2")
    assert "gaps filled from the nearest rows" in done[5] and "gaps" not in done[2]


@GAPS
@pytest.mark.parametrize("fit", FITS)
def test_every_door_takes_words_dates_and_gaps(fit):
    frame, _ = people()
    fit(frame.iloc[::2].reset_index(drop=True))


def test_columns_of_different_kinds_count_alike(rng):
    """Numbers have a deviation of one; words are plain columns of 0 and 1, as everybody else has them."""
    from evencut.io import as_rows

    city = rng.choice(["a", "b", "c", "d"], 400)
    rows = as_rows(pd.DataFrame({"x": 100 * rng.normal(size=400), "city": city}))
    assert rows[:, 0].std() == pytest.approx(1)
    np.testing.assert_array_equal(rows[:, 1:], pd.get_dummies(city).to_numpy(dtype=float))


@GAPS
def test_numbers_with_gaps_alone_keep_their_units(rng):
    from evencut.io import as_rows

    frame = pd.DataFrame({"x": 100 * rng.normal(size=40), "y": rng.normal(size=40)})
    frame.loc[0, "y"] = np.nan
    rows = as_rows(frame)
    np.testing.assert_array_equal(rows[1:], frame.to_numpy()[1:])
    assert np.isfinite(rows).all()


@GAPS
def test_gaps_are_filled_from_rows_alike_and_new_rows_by_the_same(rng):
    group = np.arange(100) % 2
    frame = pd.DataFrame({"x": 10.0 * group, "y": 5 - 10.0 * group + 0.1 * rng.normal(size=100)})
    frame.loc[[0, 1], "y"] = np.nan
    model = EvenCut(2, random_state=0, scale=None).fit(frame)
    assert model.labels_[0] == model.labels_[2] != model.labels_[1]
    new = pd.DataFrame({"x": [0.0, 10.0], "y": [np.nan, np.nan]})
    np.testing.assert_array_equal(model.predict(new), model.labels_[:2])


@GAPS
def test_words_not_met_before_and_wrong_columns():
    frame, _ = people()
    model = EvenCut(2, random_state=0).fit(frame)
    strange = frame.head(4).assign(city="Oslo")
    assert model.predict(strange).shape == (4,)
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(frame[list(frame.columns[::-1])])
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(frame.drop(columns="city"))


@pytest.mark.parametrize("fit", FITS)
def test_names_are_left_out_and_mixtures_of_words_and_numbers_refused(fit):
    with pytest.warns(UserWarning, match="column 'who' is left out: 60 different words in 60 rows: names"):
        fit(pd.DataFrame({"x": X[:, 0], "who": [f"p{i}" for i in range(60)]}))
    with pytest.raises(ValueError, match=r"column 'x' holds words \('many', row 1\) beside numbers"):
        fit(pd.DataFrame({"x": [0, "many", *range(2, 60)]}))
    with pytest.raises(ValueError, match=r"column 'x' holds dict \(row 0\)"):
        fit(pd.DataFrame({"x": [{"a": 1}] * 60}))
    with pytest.raises(ValueError, match="column 'empty' has no values at all"):
        fit(pd.DataFrame({"x": X[:, 0], "empty": [None] * 60}))


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
