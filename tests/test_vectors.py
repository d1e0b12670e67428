"""Doors for embeddings: columns of vectors from Arrow, pandas, polars and Parquet give the labels of the array."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

from evencut import EvenCut, LandmarkClustering, diagnose
from evencut.io import TableError, as_rows, read_table
from evencut.landmarks import open_files


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
    "polars, list column": lambda X: pl.DataFrame({"vector": X}).cast({"vector": pl.List(pl.Float32)}),
    "polars, lists": lambda X: pl.Series("vector", [row.tolist() for row in X]),
    "polars, array series": lambda X: pl.Series("vector", X),
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_column_is_one_array(kind, vectors):
    rows = as_rows(KINDS[kind](vectors))
    np.testing.assert_array_equal(rows, vectors)
    # Lists of Python's own numbers have lost their precision before.
    if kind not in ("pandas, lists", "polars, lists"):
        assert rows.dtype == np.float32


def test_estimators_and_the_diagnosis_take_tables(vectors):
    table = pa.table({"vector": arrow(vectors)})
    labels = EvenCut(3, random_state=0).fit(vectors).labels_
    model = EvenCut(3, random_state=0).fit(table)
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


def test_single_precision_beside_vectors_stays():
    mixed = pa.table({"a": np.float32([5, 6]), "v": arrow(np.float32([[1, 2], [3, 4]]))})
    for X in (mixed, mixed.to_pandas(), mixed.to_pandas(types_mapper=pd.ArrowDtype), pl.from_arrow(mixed)):
        rows = as_rows(X)
        assert rows.dtype == np.float32
        np.testing.assert_array_equal(rows, [[5, 1, 2], [6, 3, 4]])


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


def stream_of(table, path):
    """As Hugging Face's datasets saves: a stream of record batches."""
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_stream(file, table.schema) as stream:
        stream.write_table(table, max_chunksize=40)


def file_of(table, path):
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, table.schema) as written:
        written.write_table(table)


WRITERS = {"stream": stream_of, "file": file_of, "feather": lambda table, path: pa.feather.write_feather(table, path)}


@pytest.mark.parametrize("form", WRITERS)
@pytest.mark.parametrize("fixed", [True, False])
def test_arrow_streams_and_files_are_read(form, fixed, vectors, tmp_path):
    path = tmp_path / "data-00000-of-00001.arrow"
    WRITERS[form](pa.table({"text": ["a"] * 90, "embedding": arrow(vectors, fixed)}), path)
    values = read_table(path, columns=["embedding"]).values
    np.testing.assert_array_equal(values, vectors)
    assert values.dtype == np.float32


def test_a_stream_that_breaks_off_is_told(vectors, tmp_path):
    path = tmp_path / "data.arrow"
    stream_of(pa.table({"embedding": arrow(vectors)}), path)
    path.write_bytes(path.read_bytes()[:700])
    with pytest.raises(TableError, match=r"data\.arrow is not a Feather file that can be read"):
        read_table(path)


class Dataset:
    """What of a Hugging Face dataset is asked for: a format, and rows in it."""

    def __init__(self, table):
        self.table = table

    def with_format(self, name):
        assert name == "arrow"
        return self

    def __getitem__(self, rows):
        return self.table.slice(*rows.indices(len(self.table))[:2])


def test_hugging_face_datasets_are_tables(vectors, monkeypatch):
    monkeypatch.setattr(Dataset, "__module__", "datasets.arrow_dataset")
    given = Dataset(pa.table({"embedding": arrow(vectors, fixed=False)}))
    np.testing.assert_array_equal(as_rows(given), vectors)
    labels = EvenCut(3, metric="cosine", random_state=0).fit(vectors).labels_
    assert np.array_equal(EvenCut(3, metric="cosine", random_state=0).fit(given).labels_, labels)


def test_real_datasets_are_taken(vectors, tmp_path):
    datasets = pytest.importorskip("datasets", reason="Hugging Face's datasets is not installed")
    made = datasets.Dataset.from_dict({"embedding": [row.tolist() for row in vectors]})
    np.testing.assert_allclose(as_rows(made), vectors)
    made.save_to_disk(str(tmp_path / "saved"))
    np.testing.assert_allclose(read_table(next((tmp_path / "saved").glob("*.arrow"))).values, vectors)


@pytest.mark.parametrize("fixed", [True, False])
def test_vectors_of_files_bigger_than_memory_come_block_by_block(fixed, vectors, tmp_path):
    for part, rows in enumerate((vectors[:50], vectors[50:])):
        table = pa.table({"id": np.arange(len(rows)), "v": arrow(rows, fixed), "words": ["a"] * len(rows)})
        pq.write_table(table, tmp_path / f"{part}.parquet", row_group_size=20)
    opened = open_files(str(tmp_path / "*.parquet"), columns=["v"])
    assert (opened.n_rows, opened.n_features) == (90, 20)
    assert opened.blocks[0].read().dtype == np.float32
    np.testing.assert_array_equal(np.concatenate([block.read() for block in opened.blocks]), vectors)
    both = open_files(str(tmp_path / "0.parquet"), columns=["id", "v"])
    np.testing.assert_array_equal(both.blocks[0].read(), np.column_stack([np.arange(50), vectors[:50]]))
    model = LandmarkClustering(3, n_landmarks=40, metric="cosine", random_state=0)
    assert np.array_equal(model.fit(opened).predict(opened), model.fit(vectors).labels_)
    with pytest.raises(TableError, match="column 'words' holds string, not numbers"):
        open_files(str(tmp_path / "0.parquet"))


def test_vectors_of_another_length_in_a_later_group_are_named(tmp_path):
    lists = pa.array([[1.0, 2.0]] * 4 + [[3.0]] * 4)
    pq.write_table(pa.table({"v": lists}), tmp_path / "v.parquet", row_group_size=4)
    with pytest.raises(ValueError, match=r"row 4 of 'v' has 1 numbers, but row 0 has 2"):
        LandmarkClustering(2, n_landmarks=4).fit(open_files(str(tmp_path / "v.parquet")))
