"""What a tab can ask of the studio: points, clusterings, diagnosis, corrections, photos, exports, and their code."""

import gzip
import io
import json
import os
import shlex
import signal
from contextlib import chdir, suppress
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from evencut import EvenCut, KernelKMeans, diagnose
from evencut.datasets import make_clumped_moons

PLAIN = {"tool": "kernel", "kernel": "gaussian", "criterion": "average_association"}


def labels_of(tab, run):
    return np.frombuffer(tab.get(f"/runs/{run['id']}/labels").content, "<i4")


def run_code(code, folder):
    """Run exported code in a folder; the labels it writes."""
    with chdir(folder):
        exec(compile(code, "exported", "exec"), {})
    return np.loadtxt(folder / "labels.csv", skiprows=1, dtype=int)


def run_command(command, folder):
    """Run an exported command line in a folder; the labels it writes."""
    from evencut.cli import main

    (folder / "labels.csv").unlink(missing_ok=True)
    for line in command.splitlines():
        program, *words = shlex.split(line)
        if program == "python":
            with chdir(folder):
                exec(words[1], {})
            continue
        assert program == "evencut"
        with chdir(folder), pytest.raises(SystemExit) as left:
            main(words)
        assert left.value.code == 0
    return np.loadtxt(folder / "labels.csv", skiprows=1, dtype=int)


def csv_of(columns):
    rows = zip(*columns.values())
    return "\n".join([",".join(columns), *(",".join(map(str, row)) for row in rows), ""]).encode()


def test_labels_are_those_of_the_library(studio, tab):
    tab.example("moons")
    X, _ = make_clumped_moons(600, clump=0.5, random_state=0)
    even = tab.fit("b")
    expected = EvenCut(2, random_state=0).fit_predict(X)
    assert np.array_equal(labels_of(tab, even), expected)
    other = studio.tab()
    other.example("moons")
    plain = other.fit("a", **PLAIN)
    labels = labels_of(other, plain)
    assert np.array_equal(labels, KernelKMeans(2, kernel="gaussian", random_state=0).fit_predict(X))
    # Beside another clustering a cluster has the number of the one there that it continues.
    beside = labels_of(other, other.fit("b"))
    assert adjusted_rand_score(beside, expected) == 1
    assert beside[labels == 0].mean() < 0.5 < beside[labels == 1].mean()
    other.client.close()
    assert plain["facts"]["true_agreement"] < 0.5
    (candidates,) = even["facts"]["selection"]
    assert candidates["rows"]
    assert len(candidates["columns"]) >= 3
    assert even["facts"]["true_agreement"] == 1.0


def test_points_travel_as_numbers_between_minus_one_and_one(tab):
    tab.example("moons")
    answer = tab.get("/points/plane", params={"x": "x", "y": "y"})
    places = np.frombuffer(answer.content, "<f4").reshape(-1, 2)
    about = json.loads(answer.headers["x-evencut"])
    X, _ = make_clumped_moons(600, clump=0.5, random_state=0)
    assert np.abs(places).max() <= 1
    assert np.allclose(places * about["unit"] + about["middle"], X, atol=1e-5)


@pytest.mark.parametrize("name", ["moons", "stragglers", "rings", "blobs", "digits"])
def test_examples_are_what_their_code_makes(tab, name):
    from evencut.studio.methods import POINTS, load_points

    found = {}
    exec("\n".join(POINTS[name].code), found)
    table = load_points(name)
    numbers = table.numbers([column.name for column in table.columns if column.is_number])
    assert np.array_equal(numbers, found["X"])
    assert np.array_equal(table.column("true").values, found["y"])
    assert tab.example(name)["n_rows"] == len(found["X"])


METHODS = [
    PLAIN,
    {},
    {"n_clusters": "auto"},
    {**PLAIN, "parameters": {"bandwidth": 0.1}},
    {"tool": "kernel", "kernel": "knn", "equalize": "exact"},
    {"tool": "kernel", "kernel": "knn", "parameters": {"n_neighbors": 15}, "criterion": "average_cut", "seed": 3},
    {"tool": "kernel", "kernel": "local_scaling", "equalize": "weights", "criterion": "average_association"},
    {"tool": "kernel", "kernel": "adaptive_gaussian", "parameters": {"n_neighbors": 9}, "scale": "standard"},
    {"tool": "kmeans"},
    {"tool": "hdbscan", "min_cluster_size": 12},
    {"tool": "kmeans", "scale": "standard"},
    {"tool": "hdbscan", "scale": None},
]


@pytest.mark.parametrize("method", METHODS, ids=lambda method: "-".join(map(str, method.values())) or "default")
def test_exported_code_and_command_make_the_same_labels(tab, tmp_path, method):
    tab.example("moons")
    run = tab.fit(**method)
    recipe = tab.get(f"/runs/{run['id']}/recipe").json()
    expected = labels_of(tab, run)
    assert np.array_equal(run_code(recipe["python"], tmp_path), expected)
    if not recipe["command"]:
        assert recipe["why_no_command"]
        return
    assert np.array_equal(run_command(recipe["command"], tmp_path), expected)


@pytest.mark.parametrize("tool", ["kmeans", "hdbscan"])
def test_every_tool_sees_columns_of_different_units_on_the_scale_of_the_plot(tab, tmp_path, tool):
    rng = np.random.default_rng(0)
    noise = 10_000 * rng.normal(size=200)
    data = csv_of({"metres": noise, "tonnes": np.repeat([0.0, 30.0], 100) + rng.normal(size=200)})
    (tmp_path / "units.csv").write_bytes(data)
    tab.upload("/points/upload", data, "units.csv")
    run = tab.fit(tool=tool, n_clusters=2, min_cluster_size=40)
    labels = labels_of(tab, run)
    known = labels >= 0
    assert known.mean() > 0.5
    assert adjusted_rand_score(np.repeat([0, 1], 100)[known], labels[known]) == 1.0
    recipe = tab.get(f"/runs/{run['id']}/recipe").json()
    assert np.array_equal(run_code(recipe["python"], tmp_path), labels)
    unscaled = labels_of(tab, tab.fit(tool=tool, n_clusters=2, min_cluster_size=40, scale=None))
    assert adjusted_rand_score(np.repeat([0, 1], 100), unscaled) < 0.5


def files_of_points():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(60, 3)), rng.normal(size=(60, 3)) + 7])
    names = np.repeat(["left", "right"], 60)
    columns = {"a": X[:, 0], "b, odd": X[:, 1], "c": X[:, 2], "side": names}
    import pyarrow
    import pyarrow.parquet

    parquet = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.table(columns), parquet)
    array = io.BytesIO()
    np.save(array, X.astype(np.float32))
    plain = {"a": X[:, 0], "b": X[:, 1], "c": X[:, 2]}
    german = "\n".join(["a;b;c", *(";".join(f"{v:.6f}".replace(".", ",") for v in row) for row in X), ""]).encode()
    holes = csv_of({**plain, "b": ["NA" if i % 17 == 0 else value for i, value in enumerate(X[:, 1])]})
    bare = "\n".join("\t".join(map(str, row)) for row in X).encode()
    return {
        "points.csv": csv_of(plain),
        "points.parquet": parquet.getvalue(),
        "points.npy": array.getvalue(),
        "german.csv": german,
        "holes.csv": holes,
        "bare.tsv": bare,
    }


@pytest.mark.parametrize("name", ["points.csv", "points.parquet", "points.npy", "german.csv", "holes.csv", "bare.tsv"])
def test_files_are_read_and_their_code_reads_them_again(tab, tmp_path, name):
    data = files_of_points()[name]
    (tmp_path / name).write_bytes(data)
    loaded = tab.upload("/points/upload", data, name).json()
    assert loaded["n_rows"] == 120
    numbers = [column["name"] for column in loaded["columns"] if column["number"]]
    assert tab.put("/points/columns", {"columns": numbers[:2]}).status_code == 200
    run = tab.fit(tool="kernel", kernel="knn")
    labels = labels_of(tab, run)
    assert (labels == -1).sum() == (8 if name == "holes.csv" else 0)
    assert run["facts"]["n_missing"] == (labels == -1).sum()
    recipe = tab.get(f"/runs/{run['id']}/recipe").json()
    assert np.array_equal(run_code(recipe["python"], tmp_path), labels)
    assert recipe["command"], recipe["why_no_command"]
    assert np.array_equal(run_command(recipe["command"], tmp_path), labels)


def test_columns_that_are_named_like_labels_are_not_clustered_by(tab):
    rng = np.random.default_rng(0)
    data = csv_of({"x": rng.normal(size=30), "y": rng.normal(size=30), "Label": np.arange(30) % 3, "id": np.arange(30)})
    assert tab.upload("/points/upload", data, "p.csv").json()["chosen"] == ["x", "y"]


def test_a_dense_kernel_on_many_points_sees_a_sample_and_the_code_says_so(tab, tmp_path):
    rng = np.random.default_rng(1)
    X = np.vstack([rng.normal(size=(400, 2)), rng.normal(size=(400, 2)) + 6])
    np.save(tmp_path / "points.npy", X)
    tab.upload("/points/upload", (tmp_path / "points.npy").read_bytes(), "points.npy")
    run = tab.fit(**PLAIN, sample=300)
    assert run["facts"]["n_fitted"] == 300
    recipe = tab.get(f"/runs/{run['id']}/recipe").json()
    assert np.array_equal(run_code(recipe["python"], tmp_path), labels_of(tab, run))
    assert "sample" in recipe["why_no_command"]


def test_diagnosis_names_the_bias_and_its_cure_cures(tab):
    tab.example("moons")
    run = tab.fit("a", **PLAIN)
    found = tab.job(f"/runs/{run['id']}/diagnosis")["result"]
    X, _ = make_clumped_moons(600, clump=0.5, random_state=0)
    expected = diagnose(X, labels_of(tab, run))
    assert found["report"]["verdict"] == expected.verdict == "mode isolation"
    assert found["headline"] == expected.headline()
    assert found["report"]["code"] == expected.code
    cured = tab.fit("b", **found["cure"])
    assert tab.job(f"/runs/{cured['id']}/diagnosis")["result"]["report"]["verdict"] == "ok"


def test_labels_of_a_column_can_be_diagnosed(tab):
    X, _ = make_clumped_moons(600, clump=0.5, random_state=0)
    stolen = KernelKMeans(2, kernel="gaussian", random_state=0).fit_predict(X)
    columns = {"x": X[:, 0], "y": X[:, 1], "other tool": np.array(["rest", "clump"])[stolen], "number": stolen}
    tab.upload("/points/upload", csv_of(columns), "labelled.csv")
    tab.put("/points/columns", {"columns": ["x", "y"]})
    for name in ("other tool", "number"):
        run = tab.post("/runs/column", {"pane": "a", "name": name}).json()["run"]
        assert sorted(run["facts"]["sizes"]) == sorted(np.bincount(stolen))
        assert tab.job(f"/runs/{run['id']}/diagnosis")["result"]["report"]["verdict"] == "mode isolation"
    assert tab.post("/runs/column", {"pane": "a", "name": "x"}).status_code == 400


def test_the_sweep_is_the_librarys(tab):
    from evencut import bandwidth_sweep

    tab.example("moons")
    found = tab.job("/sweep", {"n_clusters": 2})["result"]["sweep"]
    X, _ = make_clumped_moons(600, clump=0.5, random_state=0)
    sigmas = [row["bandwidth"] for row in found["rows"]]
    whole = bandwidth_sweep(X, 2, bandwidths=sigmas, random_state=0, max_points=800)
    assert [row["verdict"] for row in found["rows"]] == [row.verdict for row in whole.rows]
    assert found["answer"] == whole.answer()


def test_corrections_are_held_and_exported(tab, tmp_path):
    tab.example("moons")
    _, y = make_clumped_moons(600, clump=0.5, random_state=0)
    run = tab.fit("a", **PLAIN)
    for label in (0, 1):
        rows = np.flatnonzero(y == label)[:40].astype("<u4")
        answer = tab.client.post(
            f"{tab.base}/selection", params={"run": run["id"], "label": label}, content=rows.tobytes()
        )
        assert answer.status_code == 200, answer.text
    held = tab.fit("a", hold=True, **PLAIN)
    labels = labels_of(tab, held)
    for label in (0, 1):
        assert (labels[np.flatnonzero(y == label)[:40]] == label).all()
    recipe = tab.get(f"/runs/{held['id']}/recipe").json()
    assert np.array_equal(run_code(recipe["python"], tmp_path), labels)
    assert not tab.client.delete(f"{tab.base}/selection").json()["corrections"]


def test_corrections_say_where_they_cannot_be(tab):
    tab.example("moons")
    run = tab.fit("a", **PLAIN)
    path = f"{tab.base}/selection"
    assert tab.client.post(path, params={"run": run["id"]}, content=b"").status_code == 400
    far = np.array([600], "<u4").tobytes()
    assert tab.client.post(path, params={"run": run["id"]}, content=far).status_code == 400
    rows = np.arange(10, dtype="<u4").tobytes()
    assert tab.client.post(path, params={"run": run["id"], "label": 7}, content=rows).status_code == 404
    for label in (0, 1):
        held = np.array([label], "<u4").tobytes()
        assert tab.client.post(path, params={"run": run["id"], "label": label}, content=held).status_code == 200
    event = tab.job("/runs", {"method": {**PLAIN, "n_clusters": 1}, "hold": True})
    assert event["kind"] == "failed"
    assert "speak of 2 clusters, but 1" in event["detail"]


def test_labels_and_reports_are_exported(tab):
    import pyarrow.parquet

    tab.example("moons")
    run = tab.fit(**PLAIN)
    labels = labels_of(tab, run)
    text = tab.get(f"/runs/{run['id']}/labels.csv")
    assert text.headers["content-disposition"] == 'attachment; filename="labels.csv"'
    assert np.array_equal(np.loadtxt(io.StringIO(text.text), skiprows=1, dtype=int), labels)
    table = pyarrow.parquet.read_table(io.BytesIO(tab.get(f"/runs/{run['id']}/labels.parquet").content))
    assert np.array_equal(table["label"].to_numpy(), labels)
    report = tab.get(f"/runs/{run['id']}/report.html").text
    assert "mode isolation" in report
    assert "KernelClustering(2" in report
    assert "<script" not in report


def test_one_job_at_a_time_and_progress_on_the_way(tab):
    tab.example("digits")
    first = tab.post("/sweep", {"n_clusters": 10})
    assert first.status_code == 202
    assert tab.post("/runs", {"method": {}}).status_code == 409
    job = first.json()["id"]
    steps = []
    for event in tab.events(job):
        steps.append(event)
        if len([step for step in steps if step["kind"] == "progress"]) == 2:
            assert tab.client.delete(f"{tab.base}/jobs/{job}").status_code == 204
    assert steps[-1]["kind"] == "cancelled"
    assert "1 of 12" in steps[0]["step"]
    assert tab.fit(tool="kernel", n_clusters=10, kernel="knn")["facts"]["n_clusters"] == 10


def kill_workers(studio):
    """End every worker process, busy or idle: they are the children of the server's children."""
    parents = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with suppress(OSError):
                parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
    killed = [child for child, parent in parents.items() if parents.get(parent) == studio.process.pid]
    for child in killed:
        with suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
    return killed


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="finding the workers needs Linux's /proc")
def test_a_worker_killed_in_the_middle_is_told_and_the_studio_goes_on(studio, tab):
    tab.example("digits")
    job = tab.post("/sweep", {"n_clusters": 10}).json()["id"]
    events = tab.events(job)
    next(events)
    assert kill_workers(studio)
    last = list(events)[-1]
    assert last["kind"] == "failed"
    assert "ended before its answer" in last["detail"]
    assert tab.fit(tool="kernel", n_clusters=10, kernel="knn")["facts"]["n_clusters"] == 10


def test_sessions_do_not_mix(studio, tab):
    other = studio.tab()
    tab.example("moons")
    run = tab.fit(**PLAIN)
    assert other.get("").json()["points"] is None
    assert other.get(f"/runs/{run['id']}").status_code == 404
    assert other.post("/runs", {"method": PLAIN}).status_code == 409
    state = tab.get("").json()
    assert state["panes"]["a"]["id"] == run["id"]
    assert state["points"]["n_rows"] == 600
    other.client.delete(other.base)
    assert other.get("").status_code == 404
    other.client.close()


@pytest.fixture
def flower(tab):
    pytest.importorskip("skimage")
    answer = tab.post("/photo/example", {"name": "flower"})
    assert answer.status_code == 201, answer.text
    return tab


def prompt(tab, kind, points, label=2, **more):
    event = tab.job("/photo/prompts", {"kind": kind, "points": points, "label": label, **more})
    assert event["kind"] == "done", event
    return np.frombuffer(tab.get("/photo/labels").content, np.uint8).reshape(427, 640)


def test_a_photo_follows_box_clicks_undo_and_redo(flower, tmp_path):
    from PIL import Image

    box = prompt(flower, "box", [[150, 60], [560, 420]])
    flower.post("/history", {"what": "box", "page": {}})
    assert box[200, 320] == 2
    assert (box[:, :140] == 1).all()
    click = prompt(flower, "click", [[360, 380]], label=1)
    flower.post("/history", {"what": "click", "page": {}})
    assert click[380, 360] == 1
    assert flower.put("/history", {"position": 0}).json()["photo"]["n_steps"] == 1
    assert np.array_equal(np.frombuffer(flower.get("/photo/labels").content, np.uint8).reshape(box.shape), box)
    flower.put("/history", {"position": 1})
    recipe = flower.get("/photo/recipe").json()
    with chdir(tmp_path):
        exec(compile(recipe["python"], "exported", "exec"), {})
    again = np.asarray(Image.open(tmp_path / "mask.png"))
    assert np.array_equal(again > 0, click == 2)
    mask = np.asarray(Image.open(io.BytesIO(flower.get("/photo/mask.png").content)))
    assert np.array_equal(mask, again)
    cut = np.asarray(Image.open(io.BytesIO(flower.get("/photo/cutout.png").content)))
    assert np.array_equal(cut[..., 3], again)


def test_a_photo_is_cut_out_from_one_click_and_divided_into_regions(flower):
    click = prompt(flower, "click", [[320, 230]])
    assert click[230, 320] == 2
    assert 0.05 < (click == 2).mean() < 0.7
    assert flower.client.delete(f"{flower.base}/photo/objects").json()["n_steps"] == 0
    assert not prompt(flower, "stroke", [[300, 200], [340, 240]], label=1).any()
    prompt(flower, "stroke", [[40, 40], [80, 60]], label=2)
    three = prompt(flower, "stroke", [[360, 400], [380, 410]], label=3)
    assert set(np.unique(three)) == {1, 2, 3}
    assert (three[200, 300], three[40, 40], three[400, 365]) == (1, 2, 3)
    shares = flower.get("/photo").json()["facts"]["shares"]
    assert shares == {str(label): float((three == label).mean()) for label in (1, 2, 3)}


def test_several_objects_and_their_code_make_one_map(flower, tmp_path):
    from PIL import Image

    prompt(flower, "box", [[150, 60], [560, 420]])
    both = prompt(flower, "box", [[10, 10], [140, 200]], object=2)
    assert set(np.unique(both)) == {1, 2, 3}
    assert both[200, 320] == 2
    recipe = flower.get("/photo/recipe").json()
    with chdir(tmp_path):
        exec(compile(recipe["python"], "exported", "exec"), {})
    assert np.array_equal(np.asarray(Image.open(tmp_path / "mask.png")), both)
    assert not recipe["command"]


def test_gestures_outside_or_on_no_photo_are_refused(studio, tab):
    assert tab.post("/photo/prompts", {"kind": "click", "points": [[5, 5]]}).status_code == 409
    pytest.importorskip("skimage")
    tab.post("/photo/example", {"name": "flower"})
    event = tab.job("/photo/prompts", {"kind": "click", "points": [[5000, 5000]]})
    assert event["kind"] == "failed"
    assert "outside" in event["detail"]


def test_the_description_for_scripts_names_every_resource(studio):
    with studio.client() as client:
        paths = client.get("/api/openapi.json").json()["paths"]
    for known in ("/api/sessions", "/api/sessions/{session}/sweep", "/api/sessions/{session}/photo/prompts"):
        assert known in paths


def test_columns_with_gaps_and_row_numbers_are_told(tab):
    rng = np.random.default_rng(0)
    y, sparse = rng.normal(size=30), rng.normal(size=30)
    y[3], sparse[:20] = np.nan, np.nan
    data = csv_of({"": np.arange(30), "x": rng.normal(size=30), "y": y, "few": sparse})
    answer = tab.upload("/points/upload", data, "p.csv").json()
    assert answer["chosen"] == ["x", "y"]
    assert answer["warnings"] == [
        "column 'y' has no value in 1 of 30 rows: rows with gaps are left out",
        "column 'few' has no value in 20 of 30 rows: it is not clustered by, until it is chosen",
        "column 'column 1' has no name and is taken for row numbers: it is not clustered by, until it is chosen",
    ]


def test_numbers_that_name_columns_and_remarks_are_told(tab):
    rows = "".join(f"{i % 7}.5,{i % 5},{i % 3}\n" for i in range(30))
    answer = tab.upload("/points/upload", f"# made by hand\n2019,2020,2021\n{rows}".encode(), "p.csv").json()
    assert answer["n_rows"] == 30 and answer["chosen"] == ["2019", "2020", "2021"]
    assert any("(2019, 2020, 2021) is taken for the names" in one for one in answer["warnings"])
    assert any("remarks (#)" in one for one in answer["warnings"])


def text_files():
    """The same points as people have them in text."""
    rows = [f"{i % 7}.5,{i % 5},{['grün', 'rot'][i % 2]}" for i in range(30)]
    text = "\n".join(["größe,n,farbe", *rows, ""])
    blanks = "\n".join(f"  {i % 7}.5   {i % 5} " for i in range(30))
    return {
        "latin.csv": (text.encode("latin-1"), "latin-1", 3),
        "wide.csv": (text.encode("utf-16"), "utf-16", 3),
        "packed.csv.gz": (gzip.compress(text.encode()), "gzip", 3),
        "blanks.txt": (blanks.encode(), "blanks", 2),
        "thousands.csv": (b"a,b\n" + b'"1,000",2\n"12,500.5",3\n"7",4\n' * 10, None, 2),
    }


@pytest.mark.parametrize("name", ["latin.csv", "wide.csv", "packed.csv.gz", "blanks.txt", "thousands.csv"])
def test_text_is_read_however_it_is_written(tab, tmp_path, name):
    data, written, n_columns = text_files()[name]
    loaded = tab.upload("/points/upload", data, name).json()
    assert loaded["n_rows"] == 30, loaded
    assert len(loaded["columns"]) == n_columns
    assert loaded["reading"]["written"] == written
    assert sum(column["number"] for column in loaded["columns"]) == 2
    assert len(loaded["first_rows"]) == 6
    if name == "thousands.csv":
        assert loaded["first_rows"][1] == [12500.5, 3]
    (tmp_path / name).write_bytes(data)
    run = tab.fit(tool="kernel", kernel="knn")
    recipe = tab.get(f"/runs/{run['id']}/recipe").json()
    assert np.array_equal(run_code(recipe["python"], tmp_path), labels_of(tab, run))
    if name != "thousands.csv":  # a comma may be a decimal one: the command asks which is meant
        assert np.array_equal(run_command(recipe["command"], tmp_path), labels_of(tab, run))


def test_columns_after_one_that_is_left_out_are_the_same_for_the_command(tab, tmp_path):
    rng = np.random.default_rng(0)
    days = [f"2024-01-{i % 28 + 1:02d}" for i in range(60)]
    width = np.r_[rng.normal(size=30), rng.normal(size=30) + 9]
    data = csv_of({"day": days, "width 1": width, "noise": rng.normal(size=60)})
    (tmp_path / "p.csv").write_bytes(data)
    loaded = tab.upload("/points/upload", data, "p.csv").json()
    assert [column["role"] for column in loaded["columns"]] == ["date", "number", "number"]
    assert loaded["chosen"] == ["width 1", "noise"]
    assert tab.put("/points/columns", {"columns": ["width 1"]}).status_code == 200
    run = tab.fit(tool="kernel", kernel="knn", n_clusters=2)
    recipe = tab.get(f"/runs/{run['id']}/recipe").json()
    assert np.array_equal(run_code(recipe["python"], tmp_path), labels_of(tab, run))
    assert np.array_equal(run_command(recipe["command"], tmp_path), labels_of(tab, run))


def test_what_is_read_can_be_said_otherwise(tab):
    data = "".join(f"{i % 7}.5;{i % 5}\n" for i in range(30)).encode()
    found = tab.upload("/points/upload", data, "p.csv").json()
    assert (found["n_rows"], found["reading"]["header"]) == (30, False)
    said = tab.client.post(
        f"{tab.base}/points/upload", params={"name": "p.csv", "header": "true", "delimiter": ";"}, content=data
    ).json()
    assert (said["n_rows"], said["reading"]["header"]) == (29, True)
    wrong = tab.client.post(f"{tab.base}/points/upload", params={"name": "p.csv", "delimiter": "x"}, content=data)
    assert wrong.status_code == 422


def test_columns_that_cannot_be_used_are_named(tab):
    import datetime

    import pyarrow
    import pyarrow.parquet

    file = io.BytesIO()
    day = datetime.date(2024, 1, 1)
    columns = {
        "x": np.arange(20.0),
        "day": [day + datetime.timedelta(i) for i in range(20)],
        "list": [[1, 2]] * 20,
        "nothing": pyarrow.nulls(20),
        "yes": [True, False] * 10,
    }
    pyarrow.parquet.write_table(pyarrow.table(columns), file)
    found = tab.upload("/points/upload", file.getvalue(), "p.parquet").json()
    assert {name: why.split()[0] for name, why in found["left_out"]} == {
        "list": "holds",
        "nothing": "is",
    }
    assert [column["name"] for column in found["columns"]] == ["x", "day", "yes"]
    assert found["chosen"] == ["x", "yes"]


@pytest.mark.parametrize(
    ("name", "called"), [("a.gif", "GIF"), ("a.bmp", "BMP"), ("a.heic", "HEIC"), ("a.xls", "xlsx")]
)
def test_other_files_are_called_what_they_are(tab, name, called):
    answer = tab.upload("/points/upload", b"anything at all", name)
    assert answer.status_code == 415
    assert called in answer.json()["detail"]


def test_a_name_like_an_option_never_becomes_one(tab, tmp_path):
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(30, 2)), rng.normal(size=(30, 2)) + 9])
    data = csv_of({"u": X[:, 0], "v": X[:, 1]})
    (tmp_path / "-o.csv").write_bytes(data)
    tab.upload("/points/upload", data, "-o.csv")
    run = tab.fit()
    command = tab.get(f"/runs/{run['id']}/recipe").json()["command"]
    assert " ./-o.csv " in command
    assert np.array_equal(run_command(command, tmp_path), labels_of(tab, run))


def workbook(rows, more=()):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    for row in more:
        (book.worksheets[1] if len(book.worksheets) > 1 else book.create_sheet("notes")).append(row)
    file = io.BytesIO()
    book.save(file)
    return file.getvalue()


def test_an_excel_sheet_is_opened_clustered_and_its_code_gives_the_same_labels(tab, tmp_path):
    X, truth = make_clumped_moons(60, random_state=0)
    rows = [["x", "y", "city"], *([float(x), float(y), "Rome" if k else "Bonn"] for (x, y), k in zip(X, truth))]
    data = workbook(rows, more=[["not", "the", "table"]])
    loaded = tab.upload("/points/upload", data, "moons.xlsx").json()
    assert loaded["n_rows"] == 60, loaded
    assert [(column["name"], column["number"]) for column in loaded["columns"]] == [
        ("x", True),
        ("y", True),
        ("city", False),
    ]
    np.testing.assert_allclose([row[:2] for row in loaded["first_rows"]], X[: len(loaded["first_rows"])])
    run = tab.fit(tool="kmeans")
    (tmp_path / "moons.xlsx").write_bytes(data)
    recipe = tab.get(f"/runs/{run['id']}/recipe").json()
    assert np.array_equal(run_code(recipe["python"], tmp_path), labels_of(tab, run))


def test_what_is_no_workbook_is_told_and_loses_nothing(tab):
    tab.example("moons")
    good = workbook([["x", "y"], [1.0, 2.0], [3.0, 4.0]])
    for data in (b"PK\x03\x04 not a workbook", good[: len(good) // 2], b"x,y\n1,2\n"):
        answer = tab.upload("/points/upload", data, "book.xlsx")
        assert answer.status_code in (400, 413, 415, 422), answer.text
        assert "Excel" in answer.text or "xlsx" in answer.text
    assert tab.client.get(tab.base).json()["points"]["n_rows"] == 600


def test_fit_plot_and_diagnosis_have_one_scale(tab):
    """Five columns, one of them in a unit a thousand times smaller: none of the three looks at that one alone."""
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1], 100)
    X = rng.normal(size=(200, 5))
    X[:, :4] += 5 * truth[:, None]
    X[:, 4] *= 1000
    tab.upload("/points/upload", csv_of({f"c{i}": X[:, i] for i in range(5)}), "units.csv")
    flat = tab.get("/points/plane?axes=pca&n_axes=2")
    assert flat.status_code == 200, flat.text
    first = np.frombuffer(flat.content, "<f4").reshape(-1, 2)[:, 0]
    assert abs(np.corrcoef(first, truth)[0, 1]) > 0.95
    run = tab.fit(tool="evencut", n_clusters=2)
    assert abs(np.corrcoef(labels_of(tab, run), truth)[0, 1]) > 0.99
    for scale in ("auto", None):
        run = tab.fit(tool="evencut", n_clusters=2, scale=scale)
        report = tab.job(f"/runs/{run['id']}/diagnosis")["result"]
        expected = diagnose(X, labels_of(tab, run), scale=scale)
        assert report["report"]["verdict"] == expected.verdict
        assert report["headline"] == expected.headline()
