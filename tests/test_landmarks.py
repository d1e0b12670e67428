"""Landmarks: the same labels from any kind of input and any cut into blocks, and what they find and refuse."""

import json
import os
import re
import signal
import subprocess
import sys
import threading
import tracemalloc
from functools import partial

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.estimator_checks import parametrize_with_checks

import evencut
from evencut import EvenCut, KernelClustering, LandmarkClustering, diagnose
from evencut.cli import main
from evencut.cli.cluster_files import LabelFolder
from evencut.criteria import energy
from evencut.datasets import make_clumped_moons
from evencut.estimators.landmark_inputs import count_landmarks
from evencut.landmarks import Block, RowBlocks, open_files, row_blocks, sample

da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
distributed = pytest.importorskip("distributed")

# Dask's own processes and threads leave sockets behind when they are killed, as they are here.
pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


def model(n_clusters=2, **parameters):
    return LandmarkClustering(n_clusters, **{"n_landmarks": 150, "random_state": 3, **parameters})


@pytest.fixture(scope="module")
def moons():
    X, y = make_clumped_moons(4000, clump=0.5, random_state=0)
    order = np.random.default_rng(0).permutation(len(X))
    return X[order].astype(np.float32), y[order]


@pytest.fixture(scope="module")
def fitted(moons):
    return model().fit(moons[0])


@pytest.fixture(scope="module")
def cluster():
    """Two workers that are threads, but send each other bytes as processes do."""
    place = {"dashboard_address": ":0", "host": "127.0.0.1", "protocol": "tcp://"}
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=False, **place) as workers:
        yield workers


def write_parquet(folder, X, n_files=3, row_group_size=500):
    folder.mkdir(exist_ok=True)
    for number, rows in enumerate(np.array_split(X, n_files)):
        table = pa.table({f"x{i}": column for i, column in enumerate(rows.T)})
        pq.write_table(table, folder / f"{number:02d}.parquet", row_group_size=row_group_size)
    return str(folder / "*.parquet")


def as_memory_map(X, folder):
    np.save(folder / "X.npy", X)
    return np.load(folder / "X.npy", mmap_mode="r")


INPUTS = {
    "memory map": as_memory_map,
    "fortran order": lambda X, folder: np.asfortranarray(X),
    "pandas": lambda X, folder: pd.DataFrame(X, columns=["a", "b"]),
    "sparse": lambda X, folder: sparse.csr_array(X),
    "dask array": lambda X, folder: da.from_array(X, chunks=(700, 1)),
    "dask array of unknown lengths": lambda X, folder: dd.from_pandas(pd.DataFrame(X), npartitions=3).values,
    "dask frame": lambda X, folder: dd.from_pandas(pd.DataFrame(X, columns=["a", "b"]), npartitions=5),
}


@pytest.mark.parametrize("kind", INPUTS)
def test_every_kind_of_input_gives_the_same_labels(kind, moons, fitted, tmp_path):
    X = INPUTS[kind](moons[0], tmp_path)
    other = model().fit(X)
    np.testing.assert_array_equal(np.asarray(other.labels_), fitted.labels_)
    np.testing.assert_array_equal(other.landmarks_, fitted.landmarks_)
    np.testing.assert_array_equal(np.asarray(other.predict(X)), fitted.labels_)
    assert other.energy_ == fitted.energy_


def test_files_give_the_same_labels(moons, fitted, tmp_path):
    rows = open_files(write_parquet(tmp_path / "data", moons[0]))
    assert rows.n_rows == len(moons[0])
    np.testing.assert_array_equal(model().fit(rows).predict(rows), fitted.labels_)
    for part in (0, 1):
        np.save(tmp_path / f"{part}.npy", moons[0][2000 * part : 2000 * (part + 1)])
    rows = open_files([tmp_path / "0.npy", tmp_path / "1.npy"])
    np.testing.assert_array_equal(model().fit(rows).predict(rows), fitted.labels_)


@pytest.mark.parametrize("n_features", [2, 20])
def test_the_cut_into_blocks_and_the_threads_change_nothing(n_features):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(1500, n_features)) + 3 * rng.integers(0, 4, 1500)[:, None]
    whole = model(4, n_landmarks=80).fit(X)
    for cuts in ([1, 2, 700], [13, 14, 1499], list(range(100, 1500, 100))):
        bounds = [0, *cuts, 1500]
        blocks = [
            Block(f"block {i}", first, last - first, lambda first=first, last=last: X[first:last])
            for i, (first, last) in enumerate(zip(bounds, bounds[1:]))
        ]
        for n_jobs in (1, 3):
            other = model(4, n_landmarks=80).fit(RowBlocks(blocks, n_features, n_jobs))
            assert (other.landmark_affinity_ != whole.landmark_affinity_).nnz == 0
            np.testing.assert_array_equal(other.landmark_labels_, whole.landmark_labels_)
            np.testing.assert_array_equal(other.predict(X), whole.labels_)


def test_threads_read_ahead_while_a_result_is_used(monkeypatch):
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    reads = [threading.Event() for _ in range(30)]

    def read(i):
        reads[i].set()
        return np.full((1, 1), float(i))

    rows = RowBlocks([Block(f"block {i}", i, 1, partial(read, i)) for i in range(30)], 1, n_jobs=2)
    used = []
    for i, values in rows.results(lambda rows, first: rows[:, 0]):
        # The next blocks are read without waiting for this one to be used.
        assert all(following.wait(60) for following in reads[i : i + 3])
        used.append(float(values[0]))
    assert used == list(range(30))


def test_the_landmark_graph_counts_every_row_once(fitted, moons):
    graph = fitted.landmark_affinity_
    assert abs(graph - graph.T).max() == 0
    # Weights are rounded to multiples of 2^-15, five a row.
    assert fitted.landmark_weights_.sum() == pytest.approx(len(moons[0]), rel=5 * 2**-15)
    used = fitted.landmark_weights_ > 0
    assert fitted.energy_ == pytest.approx(energy(graph[used][:, used], fitted.landmark_labels_[used]))


def test_clumped_moons_are_found(fitted, moons):
    assert adjusted_rand_score(moons[1], fitted.labels_) > 0.95


@pytest.mark.parametrize("criterion", ["average_association", "normalized_cut", "average_cut"])
def test_exact_equalisation_makes_the_criteria_one(criterion, moons):
    labels = model(criterion=criterion, equalize="exact").fit_predict(moons[0])
    assert adjusted_rand_score(moons[1], labels) > 0.95


def test_sparse_clusters_survive_even_landmarks_and_are_lost_by_uniform_ones():
    rng = np.random.default_rng(0)
    angle = 2 * np.pi * np.arange(11) / 11
    centres = 10 * np.column_stack([np.cos(angle), np.sin(angle)])
    # Eight clusters of 7500 points and three of 60.
    y = np.repeat(np.arange(11), [7500] * 8 + [60] * 3)
    X = centres[y] + rng.normal(size=(len(y), 2))
    for density, is_found in (("constant", True), ("identity", False)):
        labels = model(11, n_landmarks=600, landmark_density=density).fit_predict(X)
        for k in (8, 9, 10):
            score = max(adjusted_rand_score(y == k, labels == found) for found in range(11))
            # Landmarks drawn like the data take the three for one, at best.
            assert (score > 0.9) if is_found else (score < 0.7)


def test_columns_in_other_units_change_nothing(moons, tmp_path):
    # Three columns of nothing make a table of what would be coordinates.
    X = np.hstack([moons[0], np.random.default_rng(2).normal(scale=1e-3, size=(len(moons[0]), 3))]).astype(np.float64)
    units = np.array([1.0, 1024.0, 1.0, 1.0, 1.0])
    plain = model(scale="standard").fit(X)
    other = model(scale="standard").fit(X * units)
    np.testing.assert_array_equal(other.labels_, plain.labels_)
    np.testing.assert_allclose(other.landmarks_, plain.landmarks_ * units)
    assert (model(scale=None).fit(X).feature_scale_ == 1).all()
    assert model().fit(X * units).feature_scale_.max() > 10


def test_the_number_of_clusters_is_found(moons):
    found = model("auto").fit(moons[0])
    assert found.n_clusters_ == 2 == len(np.unique(found.labels_))


def test_predict_stays_lazy(fitted, moons):
    reads = []

    def seen(block):
        reads.append(len(block))
        return block

    X = da.from_array(moons[0], chunks=(1000, 2)).map_blocks(seen, dtype=np.float32, meta=np.empty((0, 2), np.float32))
    labels = fitted.predict(X)
    assert isinstance(labels, da.Array) and labels.chunks == ((1000,) * 4,) and not reads
    np.testing.assert_array_equal(labels[:1500].compute(), fitted.labels_[:1500])
    assert len(reads) == 2


def test_two_workers_give_the_labels_of_one(cluster, moons, fitted):
    with distributed.Client(cluster):
        for X in (INPUTS["dask array"](moons[0], None), INPUTS["dask frame"](moons[0], None)):
            np.testing.assert_array_equal(model().fit(X).labels_.compute(), fitted.labels_)


class KillsItsWorkerOnce:
    """Passes blocks through; the first process that comes to the marked row is killed by SIGKILL."""

    def __init__(self, mark, row):
        self.mark, self.row = str(mark), row

    def __call__(self, block):
        if (block == self.row).all(axis=1).any():
            try:
                os.close(os.open(self.mark, os.O_CREAT | os.O_EXCL))
            except FileExistsError:
                return block
            os.kill(os.getpid(), signal.SIGKILL)  # POSIX only: the test that uses it says so
        return block


@pytest.mark.skipif(sys.platform == "win32", reason="a process is killed by a POSIX signal")
def test_a_killed_worker_changes_nothing(moons, fitted, tmp_path):
    killer = KillsItsWorkerOnce(tmp_path / "killed", moons[0][2500])
    X = da.from_array(moons[0], chunks=(500, 2)).map_blocks(killer, dtype=np.float32, meta=np.empty((0, 2), np.float32))
    processes = distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0")
    with processes, distributed.Client(processes):
        np.testing.assert_array_equal(model().fit(X).labels_.compute(), fitted.labels_)
    assert (tmp_path / "killed").exists()


def with_bad_block(X, bad):
    return da.concatenate([da.from_array(X, chunks=(1000, 2)), da.from_array(bad, chunks=bad.shape)])


def text_in_the_second(frame):
    return frame.astype(object).mask(frame == frame.iloc[0, 0], "text") if frame.index[0] > 0 else frame


BAD = {
    "NaN": (lambda X: with_bad_block(X, np.full((3, 2), np.nan)), "chunk 4 contains NaN.*row 0, column 0.*fill"),
    "infinity": (lambda X: with_bad_block(X, np.array([[0.0, 1.0], [np.inf, 0.0]])), "chunk 4.*row 1, column 0"),
    "columns": (
        lambda X: da.from_array(X, chunks=(2000, 2)).map_blocks(
            lambda b, block_info=None: b[:, :1] if block_info[0]["chunk-location"][0] else b, meta=X[:0]
        ),
        "chunk 1 has 1 columns, but 2 columns are expected",
    ),
    "announced": (
        lambda X: da.from_array(X, chunks=(2000, 2)).map_blocks(lambda b: b[1:], meta=X[:0]),
        "chunk [01] has 1999 rows, but 2000 were announced",
    ),
    "empty": (
        lambda X: dd.from_pandas(
            pd.DataFrame(np.vstack([X, np.full((2000, 2), -10)]), columns=["a", "b"]), npartitions=3
        ).query("a > -9"),
        "partition 2 is empty; leave",
    ),
    "text": (
        lambda X: dd.from_pandas(pd.DataFrame(X, columns=["a", "b"]), npartitions=2).map_partitions(
            text_in_the_second, meta=pd.DataFrame(X[:0], columns=["a", "b"])
        ),
        "partition 1: column 'a' holds object, not numbers; leave",
    ),
    "unreadable": (
        lambda X: da.from_array(X, chunks=(2000, 2)).map_blocks(
            lambda b, block_info=None: b if block_info[0]["chunk-location"][0] == 0 else 1 // 0, meta=X[:0]
        ),
        "chunk 1 cannot be read .*by zero.*leave it out",
    ),
    "one dimension": (lambda X: da.from_array(X[:, 0]), "rows and columns"),
}


@pytest.mark.parametrize("fault", BAD)
def test_bad_blocks_are_named(fault, moons):
    make, message = BAD[fault]
    with pytest.raises(ValueError, match=message):
        model().fit(make(moons[0]))


def test_bad_blocks_are_named_by_a_cluster_too(cluster, moons):
    with distributed.Client(cluster):
        for fault in ("NaN", "unreadable"):
            make, message = BAD[fault]
            with pytest.raises(ValueError, match=message):
                model().fit(make(moons[0]))


def test_bad_parameters_are_named(moons):
    for parameters, message in [
        ({"n_landmarks": 5000}, "n_landmarks=5000 is more than the 4000 rows given; ask for at most 4000"),
        ({"n_landmarks": 0}, "n_landmarks=0 must be"),
        ({"n_landmarks": "many"}, "'many' must be a whole number of at least 1 or 'auto'"),
        ({"scale": "log"}, "scale='log' is not known"),
        ({"n_landmarks": 1}, "n_clusters=2 is more than the 1 landmarks"),
        ({"n_nearest": 0}, "n_nearest=0"),
        ({"criterion": "cut"}, "criterion='cut' is not known"),
        ({"landmark_density": "flat"}, "'flat' is not known"),
    ]:
        with pytest.raises(ValueError, match=message):
            model(**parameters).fit(moons[0])
    with pytest.raises(ValueError, match="n_clusters=2 is more than the 1 distinct points"):
        LandmarkClustering(2).fit(np.ones((10, 2)))
    with pytest.raises(ValueError, match="TruncatedSVD"):
        count_landmarks(1000, 2, n_rows=4000, n_features=60_000, is_sparse=False)


def test_new_data_must_have_the_fitted_columns(moons, fitted):
    frame = dd.from_pandas(pd.DataFrame(moons[0], columns=["a", "b"]), npartitions=2)
    named = model().fit(frame)
    assert named.feature_names_in_.tolist() == ["a", "b"]
    with pytest.raises(ValueError, match="feature names"):
        named.predict(frame.rename(columns={"b": "c"}))
    for wrong in (da.ones((10, 3)), np.ones((10, 3)), row_blocks(np.ones((10, 3)))):
        with pytest.raises(ValueError, match="X has 3 features, but"):
            fitted.predict(wrong)


def test_in_memory_estimators_name_the_right_tool(moons, monkeypatch):
    with pytest.raises(TypeError, match="LandmarkClustering"):
        EvenCut(2).fit(da.from_array(moons[0]))

    def full(*_, **__):
        raise MemoryError("8 EiB")

    monkeypatch.setattr(evencut.kernels.KNN, "affinity_and_extension", full)
    monkeypatch.setattr("evencut.estimators.even_cut.select", full)
    for model in (KernelClustering(2, kernel="knn"), EvenCut(2)):
        with pytest.raises(MemoryError, match=r"4000 points does not fit.*8 EiB.*LandmarkClustering"):
            model.fit(moons[0])


def test_a_sample_is_the_same_from_any_input(moons, fitted):
    points, labels = sample(moons[0], fitted.labels_, n_samples=200, random_state=1)
    assert 120 < len(points) < 280
    lazy = da.from_array(moons[0], chunks=(333, 2))
    other = sample(lazy, fitted.predict(lazy), n_samples=200, random_state=1)
    np.testing.assert_array_equal(other[0], points)
    np.testing.assert_array_equal(other[1], labels)
    np.testing.assert_array_equal(fitted.predict(points), labels)
    assert len(sample(moons[0], n_samples=10**9)[0]) == len(moons[0])
    with pytest.raises(ValueError, match="labels has 3 entries, but X has 4000 rows"):
        sample(moons[0], np.zeros(3))


def test_what_does_not_fit_in_memory_is_diagnosed_on_a_sample(moons, fitted, tmp_path):
    clump = np.linalg.norm(moons[0] - np.median(moons[0], axis=0), axis=1)
    spoilt = clump < np.quantile(clump, 0.1)
    few = sample(moons[0], spoilt, n_samples=1500, random_state=0)
    expected = diagnose(*few, max_points=1500).to_dict()
    lazy = da.from_array(moons[0], chunks=(333, 2))
    assert diagnose(lazy, da.from_array(spoilt), max_points=1500).to_dict() == expected
    assert diagnose(as_memory_map(moons[0], tmp_path), spoilt, max_points=1500).to_dict() == expected
    words = np.where(fitted.labels_ == 0, "left", "right")
    assert not diagnose(lazy, words, max_points=2000).biased


def test_rows_are_drawn_evenly():
    rows = row_blocks(np.arange(200_000.0)[:, None])
    drawn = sample(rows, n_samples=20_000)[0][:, 0]
    per_tenth = np.bincount((drawn // 20_000).astype(int))
    # Binomial counts: four deviations of the 2000 expected.
    assert abs(per_tenth - 2000).max() < 4 * np.sqrt(1800)
    assert abs(np.bincount(drawn.astype(int) % 7) - len(drawn) / 7).max() < 4 * np.sqrt(len(drawn) / 7)


@pytest.fixture
def evencut_command(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        with pytest.raises(SystemExit) as left:
            main(["cluster", *map(str, arguments)])
        return left.value.code, capsys.readouterr().err

    return run


OPTIONS = ("-k", 2, "--landmarks", 150, "--seed", 3, "-o", "labels")


def labels_in(folder):
    parts = sorted(folder.glob("*.parquet"))
    return np.concatenate([pq.ParquetFile(part).read().column("label").to_numpy() for part in parts])


def test_command_writes_blocks_and_does_not_redo_them(evencut_command, moons, fitted, tmp_path):
    pattern = write_parquet(tmp_path / "data", moons[0], n_files=4)
    code, said = evencut_command(pattern, *OPTIONS)
    assert code == 0 and "4000 rows" in said
    with pytest.raises(SystemExit) as left:
        main(["diagnose", pattern, "labels"])
    assert left.value.code == 0
    np.testing.assert_array_equal(labels_in(tmp_path / "labels"), fitted.labels_)
    first, second = sorted((tmp_path / "labels").glob("*.parquet"))[:2]
    meta = pq.ParquetFile(second).schema_arrow.metadata
    assert meta[b"evencut.first_row"] == b"1000" and b"01.parquet" in meta[b"evencut.source"]
    kept = second.stat().st_mtime_ns
    first.unlink()
    (tmp_path / "labels" / ".part-000000.parquet.1.part").write_bytes(b"half")
    code, said = evencut_command(pattern, *OPTIONS)
    assert code == 0 and "3 of 4 blocks were finished before" in said
    assert second.stat().st_mtime_ns == kept
    np.testing.assert_array_equal(labels_in(tmp_path / "labels"), fitted.labels_)
    assert not list((tmp_path / "labels").glob(".*"))


def test_command_does_not_mix_runs(evencut_command, moons, tmp_path):
    pattern = write_parquet(tmp_path / "data", moons[0])
    assert evencut_command(pattern, *OPTIONS)[0] == 0
    code, said = evencut_command(pattern, *OPTIONS, "--criterion", "average_cut")
    assert code == 2 and "other criterion; choose another folder" in said
    write_parquet(tmp_path / "data", moons[0] + 1)
    code, said = evencut_command(pattern, *OPTIONS)
    assert code == 2 and "other files" in said
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter.txt").write_text("x")
    code, said = evencut_command(pattern, *OPTIONS[:-1], "mine")
    assert code == 2 and "letter.txt" in said
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["letter.txt"]


def test_command_writes_one_file_where_one_is_named(evencut_command, moons, fitted, tmp_path):
    np.savetxt(tmp_path / "X.csv", moons[0], delimiter=",", fmt="%.9g")
    assert evencut_command("X.csv", *OPTIONS[:-1], "labels.npy")[0] == 0
    np.testing.assert_array_equal(np.load(tmp_path / "labels.npy"), fitted.labels_)


def damage(path):
    path.write_bytes(path.read_bytes()[:-40])


def damage_inside(path):
    content = bytearray(path.read_bytes())
    content[4 : len(content) // 2] = os.urandom(len(content) // 2 - 4)
    path.write_bytes(content)


BAD_FILES = {
    "cut off": (damage, "1.parquet is not a Parquet file that can be read .*leave it out"),
    "damaged inside": (damage_inside, "1.parquet .row group 0 to 2. is not a Parquet file .*leave it out"),
    "not Parquet": (lambda path: path.write_text("x,y\n1,2\n"), "1.parquet is not a Parquet file that can be read"),
    "NaN": (
        lambda path: pq.write_table(pa.table({"x0": [0.0, None], "x1": [1.0, 2.0]}), path),
        "1.parquet .row group 0. contains NaN.*row 1, column 0",
    ),
    "text": (
        lambda path: pq.write_table(pa.table({"x0": ["a"], "x1": [1.0]}), path),
        "1.parquet: column 'x0' holds string, not numbers",
    ),
    "columns": (
        lambda path: pq.write_table(pa.table({"x0": [1.0]}), path),
        r"1.parquet has 1 columns \(x0\), but .*00.parquet has 2",
    ),
    "empty": (
        lambda path: pq.write_table(pq.read_table(path).slice(0, 0), path),
        "1.parquet is empty; leave it out",
    ),
    "missing": (lambda path: [each.unlink() for each in path.parent.iterdir()], "no file matches"),
}


@pytest.mark.parametrize("fault", BAD_FILES)
def test_bad_files_are_named_and_nothing_is_written(fault, evencut_command, moons, tmp_path):
    pattern = write_parquet(tmp_path / "data", moons[0])
    spoil, message = BAD_FILES[fault]
    spoil(tmp_path / "data" / "01.parquet")
    code, said = evencut_command(pattern, *OPTIONS)
    assert code == 2 and said.count("\n") == 1
    assert re.search(message, said), said
    assert not (tmp_path / "labels").exists()


def test_command_refuses_what_makes_no_sense(evencut_command, moons, tmp_path):
    pattern = write_parquet(tmp_path / "data", moons[0])
    for arguments, message in [
        ((pattern, "-k", 2, "--scheduler", "tcp://x:1"), "needs --landmarks"),
        ((pattern, *OPTIONS, "--kernel", "gaussian"), "--kernel does not go with --landmarks"),
        ((pattern, *OPTIONS, "--landmarks", "few"), "--landmarks few is not a whole number"),
        ((pattern, *OPTIONS, "--landmarks", "9999"), "n_landmarks=9999 is more than the 4000 rows"),
        ((pattern, *OPTIONS, "--columns", "x9"), "--columns x9 is not in"),
    ]:
        code, said = evencut_command(*arguments)
        assert code == 2 and message in said and said.count("\n") == 1
    assert not (tmp_path / "labels").exists()


SCHEDULER = """
import time, distributed
workers = distributed.LocalCluster(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0",
                                   host="127.0.0.1", protocol="tcp://")
print(workers.scheduler_address, flush=True)
time.sleep(600)
"""


def test_a_lost_scheduler_ends_in_a_clear_error_and_finished_blocks_are_kept(
    evencut_command, moons, fitted, tmp_path, monkeypatch
):
    pattern = write_parquet(tmp_path / "data", moons[0], n_files=20)
    command = [sys.executable, "-c", SCHEDULER]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    write = LabelFolder.write
    written = []

    def write_then_kill(self, number, labels, block):
        write(self, number, labels, block)
        written.append(number)
        if len(written) == 1:
            server.kill()
            server.wait()

    monkeypatch.setattr(LabelFolder, "write", write_then_kill)
    try:
        address = server.stdout.readline().strip()
        code, said = evencut_command(pattern, *OPTIONS, "--scheduler", address)
    finally:
        server.kill()
        server.wait()
        server.stdout.close()
    assert code == 2 and f"the connection to the Dask scheduler at {address} was lost" in said
    assert 1 <= len(written) < 20
    assert len(list((tmp_path / "labels").glob("*.parquet"))) == len(written)
    monkeypatch.setattr(LabelFolder, "write", write)
    code, said = evencut_command(pattern, *OPTIONS)
    assert code == 0 and f"{len(written)} of 20 blocks were finished before" in said
    np.testing.assert_array_equal(labels_in(tmp_path / "labels"), fitted.labels_)
    assert json.loads((tmp_path / "labels" / "_evencut.json").read_text())["n_clusters"] == 2


# The suite asks of whoever has predict_proba and takes sparse rows whether its classes are many, as of a classifier.
PROBABILITIES = dict.fromkeys(("check_estimator_sparse_array", "check_estimator_sparse_matrix"), "no classifier")


@pytest.mark.filterwarnings("default")
@parametrize_with_checks(
    [LandmarkClustering(2), LandmarkClustering(2, equalize="exact", landmark_density="identity")],
    expected_failed_checks=lambda estimator: PROBABILITIES,
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_weights_count_rows_exactly(moons):
    X = moons[0]
    weights = np.random.default_rng(0).integers(0, 4, len(X))
    fitted = model().fit(X, sample_weight=weights)
    assert fitted.landmark_weights_.sum() == pytest.approx(weights.sum(), rel=1e-3)
    assert np.array_equal(fitted.labels_, model().fit(X, sample_weight=weights / 2).labels_)
    halves = model().fit(X, sample_weight=weights / 2)
    np.testing.assert_array_equal(2 * halves.landmark_weights_, fitted.landmark_weights_)
    assert np.array_equal(model().fit(X, sample_weight=np.ones(len(X))).labels_, model().fit(X).labels_)
    assert adjusted_rand_score(moons[1], fitted.labels_) > 0.98


def test_rows_of_no_weight_are_no_landmarks(moons):
    X = np.vstack([moons[0], moons[0][:500] + 100])
    weights = np.r_[np.ones(len(moons[0])), np.zeros(500)]
    fitted = model().fit(X, sample_weight=weights)
    assert fitted.landmarks_.max() < 50
    assert len(fitted.labels_) == len(X)
    with pytest.raises(ValueError, match="at least one non-zero"):
        model().fit(X, sample_weight=0 * weights)
    with pytest.raises(TypeError, match="does not go with a Dask collection"):
        model().fit(da.from_array(moons[0]), sample_weight=np.ones(len(moons[0])))


def test_wide_sparse_rows_stay_sparse():
    rng = np.random.default_rng(0)
    topic = np.arange(900) % 3
    terms = np.hstack([rng.integers(0, 150, (900, 15)) + 150 * topic[:, None], rng.integers(0, 200_000, (900, 15))])
    rows = np.repeat(np.arange(900), 30)
    X = sparse.csr_array((rng.uniform(0.5, 2, rows.size), (rows, terms.ravel())), shape=(900, 200_000))
    tracemalloc.start()
    fitted = LandmarkClustering(3, n_landmarks=400, metric="cosine", random_state=0).fit(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert sparse.issparse(fitted.landmarks_)
    assert adjusted_rand_score(topic, fitted.labels_) > 0.95
    assert np.array_equal(fitted.predict(X[:50]), fitted.labels_[:50])
    # The landmarks alone would take 640 MB as an array.
    assert peak < 50e6


def test_no_cluster_vanishes_where_every_row_is_a_landmark():
    model = LandmarkClustering(2, random_state=0).fit([[0.1], [11.9], [6.6], [12.1]])
    np.testing.assert_array_equal(np.bincount(model.labels_), [2, 2])
    np.testing.assert_array_equal(model.predict([[0.0], [12.0]]), model.labels_[[0, 1]])


@pytest.mark.parametrize("seed", range(8))
def test_no_cluster_vanishes_where_clusters_have_fewer_landmarks_than_a_row(seed):
    """Clusters of one or two landmarks are outvoted by the other landmarks of every row."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(40, 2)) if seed % 2 else rng.integers(0, 7, (60, 2)).astype(float)
    n_distinct = len(np.unique(X, axis=0))
    model = LandmarkClustering(n_distinct // 2, n_landmarks=n_distinct * 3 // 4, random_state=0).fit(X)
    assert len(np.unique(model.labels_)) == model.n_clusters_ == n_distinct // 2
    np.testing.assert_array_equal(model.predict(X), model.labels_)
