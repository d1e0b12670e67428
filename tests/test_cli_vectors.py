"""The command on vectors: metrics, columns of vectors in every form they are saved in, and what is wrong with them."""

import io
import sys
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
from sklearn.metrics import pairwise_distances

from evencut import EvenCut, LandmarkClustering
from evencut.cli import main


@pytest.fixture
def run(capsysbinary, monkeypatch, tmp_path):
    """Run the command line in an empty folder; gives its exit code and what it wrote."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(b"")))
        with pytest.raises(SystemExit) as left:
            main([str(argument) for argument in arguments])
        captured = capsysbinary.readouterr()
        return SimpleNamespace(code=left.value.code, out=captured.out.decode(), err=captured.err.decode())

    return run


@pytest.fixture(scope="module")
def rows():
    """Rows about three directions, of any length."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3, 12))[np.arange(120) % 3] + 0.3 * rng.normal(size=(120, 12))
    return (X * rng.uniform(0.1, 10, size=(120, 1))).astype(np.float32)


@pytest.fixture(scope="module")
def expected(rows):
    return EvenCut(3, metric="cosine", random_state=0).fit(rows).labels_


def column_of(X, fixed=True):
    flat = pa.array(X.ravel())
    if fixed:
        return pa.FixedSizeListArray.from_arrays(flat, X.shape[1])
    return pa.ListArray.from_arrays(np.arange(0, X.size + 1, X.shape[1]), flat)


def table_of(X, fixed=True):
    return pa.table({"text": [f"sentence {i}" for i in range(len(X))], "embedding": column_of(X, fixed)})


def write_ipc(table, path, open_sink):
    with pa.OSFile(path, "wb") as file, open_sink(file, table.schema) as sink:
        sink.write_table(table)


FORMS = {
    "fixed.parquet": lambda X, path: pq.write_table(table_of(X), path),
    "lists.parquet": lambda X, path: pq.write_table(table_of(X, fixed=False), path),
    "feather.arrow": lambda X, path: pa.feather.write_feather(table_of(X), path),
    # Hugging Face's datasets saves streams of lists.
    "stream.arrow": lambda X, path: write_ipc(table_of(X, fixed=False), path, pa.ipc.new_stream),
    "file.arrow": lambda X, path: write_ipc(table_of(X, fixed=False), path, pa.ipc.new_file),
    "rows.npy": lambda X, path: np.save(path, X),
}


def cluster(run, name, *options):
    columns = [] if name.endswith((".npy", ".csv")) else ["--columns", "embedding"]
    return run("cluster", name, *columns, "-k", 3, "-o", "labels.npy", *options)


@pytest.mark.parametrize("name", FORMS)
def test_every_form_of_vectors_gives_the_labels_of_the_estimator(run, rows, expected, name):
    FORMS[name](rows, name)
    done = cluster(run, name, "--metric", "cosine")
    assert done.code == 0, done.err
    assert np.array_equal(np.load("labels.npy"), expected)


def test_the_metric_makes_a_difference(run, rows, expected):
    np.save("rows.npy", rows)
    assert cluster(run, "rows.npy").code == 0
    plain = EvenCut(3, random_state=0).fit(rows).labels_
    assert np.array_equal(np.load("labels.npy"), plain)
    assert not np.array_equal(plain, expected)


@pytest.mark.parametrize("metric", ["manhattan", "correlation"])
def test_other_metrics_are_those_of_the_estimator(run, rows, metric):
    np.save("rows.npy", rows)
    assert cluster(run, "rows.npy", "--metric", metric).code == 0
    same = EvenCut(3, metric=metric, random_state=0).fit(rows).labels_
    assert np.array_equal(np.load("labels.npy"), same)


def test_a_table_of_distances_is_clustered(run, rows):
    table = pairwise_distances(rows.astype(float), metric="cosine")
    np.save("distances.npy", table)
    assert cluster(run, "distances.npy", "--metric", "precomputed").code == 0
    same = EvenCut(3, metric="precomputed", random_state=0).fit(table).labels_
    assert np.array_equal(np.load("labels.npy"), same)


@pytest.mark.parametrize("name", ["fixed.parquet", "lists.parquet", "stream.arrow", "rows.npy"])
def test_landmarks_take_metric_and_vectors(run, rows, name):
    FORMS[name](rows, name)
    done = cluster(run, name, "--metric", "cosine", "--landmarks", 40)
    assert done.code == 0, done.err
    same = LandmarkClustering(3, n_landmarks=40, metric="cosine", random_state=0).fit(rows).labels_
    assert np.array_equal(np.load("labels.npy"), same)


@pytest.mark.parametrize("new", ["lists.parquet", "stream.arrow"])
def test_a_model_of_vectors_labels_vectors(run, rows, expected, new):
    FORMS["fixed.parquet"](rows, "fixed.parquet")
    assert cluster(run, "fixed.parquet", "--metric", "cosine", "--save", "model.skops").code == 0
    FORMS[new](5 * rows, new)
    done = run("predict", "model.skops", new, "-o", "again.npy")
    assert done.code == 0, done.err
    model = EvenCut(3, metric="cosine", random_state=0).fit(rows)
    assert np.array_equal(np.load("again.npy"), model.predict(rows))


def test_the_diagnosis_takes_metric_and_vectors(run, rows, expected):
    FORMS["stream.arrow"](rows, "rows.arrow")
    np.save("labels.npy", expected)
    done = run("diagnose", "rows.arrow", "labels.npy", "--columns", "embedding", "--metric", "cosine")
    assert done.code == 0, done.err
    assert run("diagnose", "rows.arrow", "labels.npy", "--metric", "angle").code == 2


def spoiled(rows, **changes):
    """A table of distances in which single places are changed."""
    table = pairwise_distances(rows.astype(float))
    for place, value in changes.items():
        p, q = map(int, place.removeprefix("at_").split("_"))
        table[p, q] = value
    return table


@pytest.mark.parametrize(
    ("metric", "made", "said"),
    [
        ("angle", lambda X: X, "--metric angle is not known"),
        ("cosine", lambda X: X * (np.arange(120) != 7)[:, None], "row 7 is zero throughout"),
        ("precomputed", lambda X: X, "a square matrix, but X has shape (120, 12)"),
        ("precomputed", lambda X: spoiled(X, at_3_4=-1, at_4_3=-1), "X[3, 4] = -1 is negative"),
        ("precomputed", lambda X: spoiled(X, at_3_4=99), "X[3, 4] = 99 and X[4, 3] ="),
        ("precomputed", lambda X: spoiled(X, at_5_5=2), "the distance of point 5 to itself is 2, not 0"),
    ],
)
def test_wrong_rows_are_told_in_one_line(run, rows, metric, made, said):
    np.save("rows.npy", made(rows))
    done = cluster(run, "rows.npy", "--metric", metric)
    assert done.code == 2
    assert said in done.err
    assert "Traceback" not in done.err


def test_vectors_of_unequal_length_are_told_in_one_line(run):
    table = pa.table({"embedding": pa.array([[1.0, 2.0], [3.0, 4.0], [5.0]])})
    pq.write_table(table, "odd.parquet")
    write_ipc(table, "odd.arrow", pa.ipc.new_stream)
    for name in ("odd.parquet", "odd.arrow"):
        for more in ([], ["--landmarks", 3]):
            done = cluster(run, name, "--metric", "cosine", *more)
            assert done.code == 2, done.err
            assert "row 2 of 'embedding' has 1 numbers, but row 0 has 2" in done.err
            assert "Traceback" not in done.err
