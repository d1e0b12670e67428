"""Doors for embeddings: columns of vectors from Arrow, pandas, polars and Parquet give the labels of the array."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from evencut import KernelClustering, LandmarkClustering, diagnose
from evencut.io import TableError, as_rows, read_table


@pytest.fixture(scope="module")
def vectors():
    rng = np.random.default_rng(0)
    return (rng.normal(size=(3, 20))[np.arange(90) % 3] + 0.2 * rng.normal(size=(90, 20))).astype(np.float32)


def arrow(X, fixed=True):
    flat = pa.array(X.ravel())
    if fixed:
        return pa.FixedSizeListArray.from_arrays(flat, X.shape[1])
    return pa.ListArray.from_arrays(np.arange(0, X.size + 1, X.shape[1]), flat)


KINDS = {
    "arrow, fixed size": lambda X: pa.table({"vector": arrow(X)}),
    "arrow, lists": lambda X: pa.table({"vector": arrow(X, fixed=False)}),
    "arrow, chunks": lambda X: pa.concat_tables([pa.table({"v": arrow(X[:40])}), pa.table({"v": arrow(X[40:])})]),
    "arrow, one column": lambda X: arrow(X),
    "arrow, numbers": lambda X: pa.table({str(i): column for i, column in enumerate(X.T)}),
    "pandas, arrays": lambda X: pd.DataFrame({"vector": list(X)}),
    "pandas, lists": lambda X: pd.Series([row.tolist() for row in X]),
    "pandas, arrow": lambda X: pa.table({"vector": arrow(X)}).to_pandas(types_mapper=pd.ArrowDtype),
    "polars, arrays": lambda X: pl.DataFrame({"vector": X}),
    "polars, lists": lambda X: pl.Series("vector", [row.tolist() for row in X]),
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_column_is_one_array(kind, vectors):
    rows = as_rows(KINDS[kind](vectors))
    np.testing.assert_array_equal(rows, vectors)
    if kind.startswith("arrow,") and "numbers" not in kind:
        assert rows.dtype == np.float32


def test_estimators_and_the_diagnosis_take_tables(vectors):
    table = pa.table({"vector": arrow(vectors)})
    labels = KernelClustering(3, random_state=0).fit(vectors).labels_
    model = KernelClustering(3, random_state=0).fit(table)
    assert np.array_equal(model.labels_, labels)
    assert np.array_equal(model.predict(table), model.predict(vectors))
    landmarks = LandmarkClustering(3, n_landmarks=30, random_state=0)
    assert np.array_equal(landmarks.fit(table).labels_, landmarks.fit(vectors).labels_)
    assert str(diagnose(table, labels)) == str(diagnose(vectors, labels))


@pytest.mark.parametrize("fixed", [True, False])
def test_parquet_files_of_vectors_are_read(fixed, vectors, tmp_path):
    path = tmp_path / "vectors.parquet"
    pq.write_table(pa.table({"id": np.arange(90), "vector": arrow(vectors, fixed)}), path)
    table = read_table(path, columns=["vector"])
    np.testing.assert_array_equal(table.values, vectors)
    assert table.columns[:2] == ["vector[0]", "vector[1]"]


def test_tables_without_vectors_stay_as_they_are():
    for X in (pd.DataFrame({"a": [1, 2]}), pl.DataFrame({"a": [1, 2]}), np.eye(2), [[1, 2]]):
        assert as_rows(X) is X


def test_numbers_beside_vectors_are_columns_too():
    mixed = pa.table({"a": [5, 6], "v": [[1.0, 2.0], [3.0, 4.0]]})
    for X in (mixed, mixed.to_pandas(), pl.from_arrow(mixed)):
        np.testing.assert_array_equal(as_rows(X), [[5, 1, 2], [6, 3, 4]])


@pytest.mark.parametrize(
    ("column", "message"),
    [
        ([[1.0, 2.0], [3.0]], "row 1 of 'v' has 1 numbers, but row 0 has 2"),
        ([[1.0, 2.0], None], "row 1 of 'v' has no vector"),
        ([[], []], "the vectors of 'v' are empty"),
    ],
)
def test_odd_vectors_are_named(column, message):
    for X in (pa.table({"v": pa.array(column, pa.list_(pa.float64()))}), pd.DataFrame({"v": column})):
        with pytest.raises(TableError, match=message):
            as_rows(X)


def test_words_and_gaps_are_named():
    with pytest.raises(TableError, match="column 'w' is string, not numbers or vectors"):
        as_rows(pa.table({"w": ["a", "b"], "v": [[1.0], [2.0]]}))
    with pytest.raises(TableError, match="row 1 of 'v' has an empty place"):
        as_rows(pa.table({"v": pa.array([[1.0, 2.0], [3.0, None]])}))
    with pytest.raises(TableError, match="holds lists of <U1, not of numbers"):
        as_rows(pd.DataFrame({"v": [["a"], ["b"]]}))
    with pytest.raises(TableError, match="the table has no columns"):
        as_rows(pa.table({}))
    with pytest.raises(TableError, match="column 'v' has no rows"):
        as_rows(pa.table({"v": pa.array([], pa.list_(pa.float64()))}))
