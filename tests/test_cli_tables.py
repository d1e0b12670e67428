"""The command on real tables: gaps, commas, words, every format, and outputs that leave the inputs alone."""

import gzip
import io
import json
import os
import re
import subprocess
import sys
import time
import warnings
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest
from sklearn.metrics import adjusted_rand_score

import evencut
from evencut import EvenCut, LandmarkClustering, diagnose
from evencut.cli import console, main
from evencut.cli.outputs import cluster_sizes
from evencut.datasets import make_clumped_moons

# Of these no point is on a border, where the last digit of a number written as text could decide.
X, Y = make_clumped_moons(120, random_state=1)
X.setflags(write=False)
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(evencut.__file__).parents[1])}
POSIX_ONLY = pytest.mark.skipif(not Path("/dev/full").exists(), reason="/dev/full, a disk that is full, is Linux's")


@pytest.fixture
def run(capsysbinary, monkeypatch, tmp_path):
    """Run the command line in an empty folder; gives its exit code and what it wrote."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments, stdin=None):
        if stdin is not None:
            monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(stdin)))
        with pytest.raises(SystemExit) as left:
            main([str(argument) for argument in arguments])
        captured = capsysbinary.readouterr()
        return SimpleNamespace(code=left.value.code, out=captured.out.decode(), err=captured.err.decode())

    return run


def labels_in(path="labels.csv"):
    return pd.read_csv(path)["label"].to_numpy()


def fitted(points=X, k=2):
    return EvenCut(k, random_state=0).fit(points)


def csv_text(separator=",", decimal=".", header="x,y"):
    rows = [separator.join(repr(float(value)).replace(".", decimal) for value in row) for row in X]
    return "\n".join([header.replace(",", separator), *rows]) + "\n"


# Formats


def write_points(name):
    frame = pd.DataFrame(X, columns=["x", "y"])
    table = pa.table({"x": X[:, 0], "y": X[:, 1]})
    if name.endswith(".csv.gz"):
        Path(name).write_bytes(gzip.compress(csv_text().encode()))
    elif name.endswith(".csv.zst"):
        Path(name).write_bytes(pa.Codec("zstd").compress(csv_text().encode(), asbytes=True))
    elif name.endswith(".jsonl.gz"):
        Path(name).write_bytes(gzip.compress(frame.to_json(orient="records", lines=True, double_precision=15).encode()))
    elif name.endswith((".jsonl", ".ndjson")):
        Path(name).write_text("".join(json.dumps({"x": a, "y": b}) + "\n" for a, b in X.tolist()), encoding="utf-8")
    elif name.endswith((".feather", ".arrow")):
        pa.feather.write_feather(table, name)
    elif name == "excel.csv":
        Path(name).write_bytes(b"\xef\xbb\xbf" + csv_text(";", ",").replace("\n", "\r\n").encode())
    elif name == "sep.csv":
        Path(name).write_text("sep=;\r\n" + csv_text(";", ","), encoding="utf-8")
    elif name == "unicode.txt":
        Path(name).write_bytes(csv_text("\t", ",").encode("utf-16"))
    else:
        raise AssertionError(name)


FORMATS = ["p.csv.gz", "p.csv.zst", "p.jsonl", "p.ndjson", "p.jsonl.gz", "p.feather", "p.arrow"]


@pytest.mark.parametrize("name", [*FORMATS, "excel.csv", "sep.csv", "unicode.txt"])
def test_every_format_is_read(run, name):
    write_points(name)
    done = run("cluster", name, "-k", 2, "-o", "labels.csv")
    assert done.code == 0, done.err
    np.testing.assert_array_equal(labels_in(), fitted().labels_)


@pytest.mark.parametrize("name", ["l.csv.gz", "l.csv.zst", "l.jsonl", "l.feather", "l.tsv", "l.parquet", "l.npy"])
def test_every_format_is_written_and_read_again(run, name):
    np.save("points.npy", X)
    assert run("cluster", "points.npy", "-k", 2, "-o", name).code == 0
    done = run("diagnose", "points.npy", name)
    assert done.code == 0, done.err
    again = evencut.io.read_labels(name, n_points=120)
    np.testing.assert_array_equal(again, fitted().labels_)


def test_the_same_table_is_the_same_compressed_file(run):
    np.save("points.npy", X)
    for name in ("a.csv.gz", "b.csv.gz"):
        assert run("cluster", "points.npy", "-k", 2, "-o", name).code == 0
        time.sleep(0.01)
    assert Path("a.csv.gz").read_bytes() == Path("b.csv.gz").read_bytes()


@pytest.mark.parametrize("separator", [";", "\t", " ", "|"])
def test_a_decimal_comma_is_found_out(run, separator):
    Path("p.csv").write_text(csv_text(separator, ","), encoding="utf-8")
    done = run("cluster", "p.csv", "-k", 2, "-o", "labels.csv")
    assert done.code == 0, done.err
    np.testing.assert_array_equal(labels_in(), fitted().labels_)


def test_commas_in_quotes_must_be_explained(run):
    rows = "\n".join(",".join(f'"{float(value)!r}"'.replace(".", ",") for value in row) for row in X)
    Path("p.csv").write_text("x,y\n" + rows, encoding="utf-8")
    done = run("cluster", "p.csv", "-k", 2, "-o", "labels.csv")
    assert done.code == 2
    assert "say --decimal , if the comma is a decimal one" in done.err
    assert run("cluster", "p.csv", "-k", 2, "-o", "labels.csv", "--decimal", ",").code == 0
    np.testing.assert_array_equal(labels_in(), fitted().labels_)


def test_commas_and_points_in_one_column_are_refused(run):
    Path("p.csv").write_text("x;y\n1,5;2\n2.5;3\n", encoding="utf-8")
    done = run("cluster", "p.csv", "-k", 2)
    assert done.code == 2
    assert "line 2, column 'x' has a decimal comma, but row 2 has a point" in done.err
    Path("p.csv").write_text("x;y\n1.234,5;2\n1.000;3\n7,25;4\n", encoding="utf-8")
    table = evencut.io.read_table("p.csv", decimal=",")
    np.testing.assert_array_equal(table.values[:, 0], [1234.5, 1000, 7.25])


def test_an_index_that_pandas_saved_is_never_a_feature(run):
    frame = pd.DataFrame(X, columns=["x", "y"], index=np.arange(120) * 1000)
    frame.to_parquet("indexed.parquet")
    assert "__index_level_0__" in pa.parquet.read_schema("indexed.parquet").names
    assert run("cluster", "indexed.parquet", "-k", 2, "-o", "labels.csv").code == 0
    np.testing.assert_array_equal(labels_in(), fitted().labels_)
    assert run("cluster", "indexed.parquet", "-k", 2, "-o", "1.npy", "--landmarks", 50).code == 0
    np.save("plain.npy", X)
    assert run("cluster", "plain.npy", "-k", 2, "-o", "2.npy", "--landmarks", 50).code == 0
    np.testing.assert_array_equal(np.load("1.npy"), np.load("2.npy"))
    # Asked for by name, it is a column like any other.
    chosen = evencut.io.read_table("indexed.parquet", columns=["__index_level_0__"])
    np.testing.assert_array_equal(chosen.values[:, 0], frame.index)


@pytest.mark.parametrize("file", ["p.csv", "p.parquet"])
def test_landmarks_read_one_table_with_all_its_options(run, file):
    frame = pd.DataFrame({"x": X[:, 0], "y": X[:, 1]})
    frame.loc[3, "x"] = np.nan
    frame.to_csv("p.csv", index=False, sep=";", decimal=",")
    frame.to_parquet("p.parquet")
    done = run("cluster", file, "-k", 2, "--landmarks", 50, "--missing", "drop", "--append", "-o", "labels.csv")
    assert done.code == 0, done.err
    written = pd.read_csv("labels.csv")
    assert list(written) == ["x", "y", "label"] and written["label"][3] == -1
    kept = np.delete(X, 3, axis=0)
    expected = LandmarkClustering(2, n_landmarks=50, random_state=0).fit(kept).labels_
    np.testing.assert_array_equal(np.delete(written["label"].to_numpy(), 3), expected)


def test_options_of_a_table_are_refused_for_files_read_in_blocks(run):
    pd.DataFrame(X, columns=["x", "y"]).to_parquet("p.parquet")
    done = run("cluster", "p.parquet", "-k", 2, "--landmarks", 50, "--missing", "drop", "-o", "labels")
    assert done.code == 2
    assert "--missing does not go with files that are read in blocks" in done.err
    assert not Path("labels").exists()


def test_diagnose_standardizes_where_asked(run):
    stretched = X * [1, 8]
    pd.DataFrame({"x": stretched[:, 0], "y": stretched[:, 1], "label": Y}).to_csv("p.csv", index=False)
    plain, scaled = (run("diagnose", "p.csv", "--json", *how) for how in ([], ["--standardize"]))
    expected = diagnose(stretched, Y, scale="standard").to_dict()
    assert json.loads(scaled.out)["confidence"] == pytest.approx(expected["confidence"])
    assert json.loads(scaled.out)["preparation"] == expected["preparation"] != json.loads(plain.out)["preparation"]


# Missing values


@pytest.fixture
def gaps(tmp_path):
    """Points with gaps in rows 3, 10 and 50, in every spelling."""
    cells = [[repr(float(value)) for value in row] for row in X]
    cells[3][0], cells[10][1], cells[50] = "NA", "", ["?", "NaN"]
    (tmp_path / "gaps.csv").write_text("x,y\n" + "\n".join(map(",".join, cells)), encoding="utf-8")
    holes = X.copy()
    holes[3, 0], holes[10, 1], holes[50] = np.nan, np.nan, np.nan
    np.save(tmp_path / "gaps.npy", holes)
    table = pa.table({"x": pa.array(holes[:, 0], from_pandas=True), "y": holes[:, 1]})
    pa.parquet.write_table(table, tmp_path / "gaps.parquet")
    lines = [{"x": None if np.isnan(a) else a, **({} if np.isnan(b) else {"y": b})} for a, b in holes.tolist()]
    (tmp_path / "gaps.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    return holes


@pytest.mark.parametrize("name", ["gaps.csv", "gaps.npy", "gaps.parquet", "gaps.jsonl"])
def test_missing_values_are_refused_dropped_or_filled(run, gaps, name):
    done = run("cluster", name, "-k", 2, "-o", "labels.csv", "--missing", "error")
    assert done.code == 2
    assert "is missing (3 of 120 rows lack values)" in done.err
    assert not Path("labels.csv").exists()
    done = run("cluster", name, "-k", 2, "-o", "labels.csv", "--missing", "drop")
    assert done.code == 0
    columns = "'column 1', 'column 2'" if name == "gaps.npy" else "'x', 'y'"
    assert f"3 of 120 rows lack values in {columns} and are left out" in done.err
    kept = np.isfinite(gaps).all(axis=1)
    np.testing.assert_array_equal(labels_in()[kept], fitted(gaps[kept]).labels_)
    assert (labels_in()[~kept] == -1).all()
    done = run("cluster", name, "-k", 2, "-o", "labels.csv", "--missing", "mean")
    assert done.code == 0
    assert f"2 missing values in 2 of 119 rows were filled with the mean of {columns}" in done.err
    assert "warning: 1 of 120 rows have no values at all and are left out (label -1)" in done.err
    filled = np.where(np.isnan(gaps), np.nanmean(gaps, axis=0), gaps)
    some = np.isfinite(gaps).any(axis=1)
    np.testing.assert_array_equal(labels_in()[some], fitted(filled[some]).labels_)
    assert labels_in()[50] == -1


def test_missing_values_are_filled_with_one_warning_by_every_door(run, gaps):
    done = run("cluster", "gaps.csv", "-k", 2, "-o", "labels.csv")
    said = "2 missing values in 2 of 119 rows were filled from the nearest rows"
    assert (done.code, done.err.count(f"warning: {said}")) == (0, 1)
    some = np.isfinite(gaps).any(axis=1)
    for table in (gaps[some], gaps[some].tolist(), pd.DataFrame(gaps[some], columns=["x", "y"])):
        with pytest.warns(UserWarning, match=said) as warned:
            model = EvenCut(2, random_state=0).fit(table)
        assert len(warned) == 1
        np.testing.assert_array_equal(model.labels_, labels_in()[some])
    for table in (gaps, pd.DataFrame(gaps)):
        with pytest.raises(ValueError, match=r"row 50 of X has no values at all, only NaN \(1 such row\); leave"):
            EvenCut(2, random_state=0).fit(table)


@pytest.mark.parametrize("model", [EvenCut(2, random_state=0), LandmarkClustering(2, n_landmarks=40, random_state=0)])
@pytest.mark.parametrize("kind", [np.asarray, pd.DataFrame])
def test_new_rows_are_filled_from_the_rows_of_the_fit(model, kind):
    model.fit(kind(X))
    new = X[:6].copy()
    new[:, 1] = np.nan
    with pytest.warns(UserWarning, match="6 missing values in 6 of 6 rows"):
        labels = model.predict(kind(new))
    complete = np.array([X[np.argsort(np.abs(X[:, 0] - x))[:10], 1].mean() for x in new[:, 0]])
    np.testing.assert_array_equal(labels, model.predict(kind(np.column_stack([new[:, 0], complete]))))


def test_what_cannot_be_filled_is_named(run):
    Path("p.csv").write_text("x,y\n1,NA\n2,NA\n3,NA\n", encoding="utf-8")
    for how in ("drop", "mean"):
        done = run("cluster", "p.csv", "-k", 2, "--missing", how)
        assert done.code == 2
        assert "column 'y' has no values at all; choose others with --columns" in done.err
    done = run("cluster", "p.csv", "-k", 2, "--missing", "zero")
    assert "--missing zero is not known" in done.err
    Path("p.csv").write_text("x,y\n1,NA\nNA,2\n", encoding="utf-8")
    assert "every row lacks values" in run("cluster", "p.csv", "-k", 1, "--missing", "drop").err


# Columns


def test_ranges_of_columns(run):
    table = np.column_stack([np.arange(120.0), X, np.arange(120.0)])
    np.savetxt("p.csv", table, delimiter=",", header="id,x,y,more", comments="", fmt="%.17g")
    for columns in ("2-3", "x,3", "x,y"):
        assert run("cluster", "p.csv", "-k", 2, "-o", "labels.csv", "--columns", columns).code == 0
        np.testing.assert_array_equal(labels_in(), fitted().labels_)
    np.savetxt("q.csv", table[:, :3], delimiter=",", fmt="%.17g")
    assert run("cluster", "q.csv", "-k", 2, "-o", "labels.csv", "--columns", "2-").code == 0
    np.testing.assert_array_equal(labels_in(), fitted().labels_)
    for columns, said in (("3-9", "--columns 3-9 is not in p.csv"), ("x,2-3", "names 'x' of p.csv twice")):
        assert said in run("cluster", "p.csv", "-k", 2, "--columns", columns).err


def test_words_become_columns_of_zero_and_one_with_a_notice(run):
    city = np.array(["Rome", "Bonn"])[Y]
    frame = pd.DataFrame({"x": X[:, 0], "city": city, "y": X[:, 1]})
    expected = fitted(np.column_stack([X[:, 0], city == "Bonn", city == "Rome", X[:, 1]]).astype(float)).labels_
    frame.to_csv("p.csv", index=False)
    frame.to_parquet("p.parquet")
    frame.astype({"city": "category"}).to_feather("p.feather")
    frame.to_json("p.jsonl", orient="records", lines=True, double_precision=15)
    for name in ("p.csv", "p.parquet", "p.feather", "p.jsonl"):
        done = run("cluster", name, "-k", 2, "-o", "labels.csv")
        assert done.code == 0, done.err
        assert "column 'city' holds words and became 2 columns of 0 and 1: Bonn, Rome" in done.err
        assert adjusted_rand_score(labels_in(), expected) > 0.6


def test_names_and_mixtures_are_no_categories(run):
    pd.DataFrame({"who": [f"p{i}" for i in range(120)], "x": X[:, 0]}).to_csv("names.csv", index=False)
    done = run("cluster", "names.csv", "-k", 2, "-o", "labels.csv")
    assert done.code == 0
    assert "warning: column 'who' is left out: 120 different words in 120 rows: names, not categories" in done.err
    np.testing.assert_array_equal(labels_in(), fitted(X[:, :1]).labels_)
    assert "column 'who' is text ('p0'), not a number" in run("cluster", "names.csv", "--columns", "who").err
    Path("mixed.csv").write_text("x,y\n1,2\n2,a\n3,4\n", encoding="utf-8")
    assert "line 3, column 'y' is text ('a'), not a number" in run("cluster", "mixed.csv", "-k", 2).err


@pytest.mark.parametrize("numbers", [np.arange(120), 1 + np.random.default_rng(0).permutation(120)])
def test_row_numbers_are_left_out_with_a_warning(run, numbers):
    frame = pd.DataFrame({"no": numbers, "x": X[:, 0], "y": X[:, 1]})
    frame.to_csv("p.csv", index=False)
    said = "column 'no' is left out: whole numbers that number the rows"
    assert f"warning: {said}" in run("cluster", "p.csv", "-k", 2, "-o", "labels.csv", "--save", "m.skops").err
    np.testing.assert_array_equal(labels_in(), fitted().labels_)
    with pytest.warns(UserWarning, match=said):
        model = EvenCut(2, random_state=0).fit(frame)
    np.testing.assert_array_equal(model.labels_, fitted().labels_)
    assert model.feature_names_in_.tolist() == ["no", "x", "y"]
    np.testing.assert_array_equal(model.predict(frame), model.predict(frame.assign(no=7)))
    assert run("predict", "m.skops", "p.csv", "-o", "new.csv").code == 0
    assert Path("new.csv").read_text() == Path("labels.csv").read_text()


def test_a_column_that_mixes_words_and_a_few_numbers_holds_words(run):
    drive = np.array(["4", "f", "r"])[np.arange(120) % 3]
    frame = pd.DataFrame({"x": X[:, 0], "drv": drive, "y": X[:, 1]})
    frame.to_csv("p.csv", index=False)
    done = run("cluster", "p.csv", "-k", 2, "-o", "labels.csv", "--save", "m.skops")
    assert "column 'drv' holds words and became 3 columns of 0 and 1: 4, f, r" in done.err
    mixed = frame.assign(drv=frame["drv"].map(lambda word: 4 if word == "4" else word))
    for table in (frame, mixed):
        rows = evencut.io.as_rows(table)
        np.testing.assert_array_equal(rows[:, 1:4], (drive[:, None] == ["4", "f", "r"]).astype(float))
    new = mixed[mixed["drv"] == 4]
    new.to_csv("new.csv", index=False)
    assert run("predict", "m.skops", "new.csv", "-o", "again.csv").code == 0
    assert pd.read_csv("again.csv")["label"].tolist() == labels_in()[drive == "4"].tolist()


def test_the_table_says_which_of_its_columns_have_two_values():
    draw = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"x": draw.normal(size=60), "city": draw.choice(["a", "b", "c"], 60), "switch": draw.choice([2, 9], 60)}
    )
    rows, _, done = evencut.io.prepared_rows(frame)
    assert done.binary == (False, True, True, True, True)
    assert rows[:, 0].std() == pytest.approx(1)
    assert all(np.ptp(rows[:, place]) == 1 for place in range(1, 5))
    plain = np.column_stack([frame["x"], frame["switch"]])
    assert evencut.io.binary_columns(plain).tolist() == [False, True]


def test_the_number_of_clusters_is_chosen_unless_it_is_given(run):
    Path("p.csv").write_text(csv_text(), encoding="utf-8")
    assert run("cluster", "p.csv", "-o", "by_itself.csv").code == 0
    assert run("cluster", "p.csv", "-k", "auto", "-o", "auto.csv").code == 0
    assert Path("by_itself.csv").read_text() == Path("auto.csv").read_text()


def test_demo_writes_the_table_of_the_front_page(run):
    assert run("demo", "--out", ".").code == 0
    assert run("cluster", "points.csv", "-k", 2, "-o", "again.csv").code == 0
    table = pd.read_csv("labels.csv")
    pd.testing.assert_frame_equal(pd.read_csv("points.csv"), table[["x", "y"]])
    assert adjusted_rand_score(pd.read_csv("again.csv")["label"], table["evencut"]) == 1


@pytest.mark.parametrize(
    ("cells", "values"),
    [
        (["57.7%", "3%", "-"], [57.7, 3, np.nan]),
        (["\u20ac 1,992.98", "\u20ac 12", "\u20ac3.50"], [1992.98, 12, 3.5]),
        (["12 $", "-3 $", ""], [12, -3, np.nan]),
        (["938,026.3", "1,000", "12"], [938026.3, 1000, 12]),
        (["1", "-", "2.5"], [1, np.nan, 2.5]),
        (["true", "False", "TRUE"], [1, 0, 1]),
        (["31/12/1970", "01/01/1970", "02/01/1970"], [364, 0, 1]),
        (["12/31/1970", "01/01/1970", "01/02/1970 12:00"], [364, 0, 1.5]),
        (["31.12.1970", "1.1.1970", "-"], [364, 0, np.nan]),
    ],
)
def test_cells_as_people_write_them_are_numbers_in_files_and_frames(cells, values):
    frame = pd.DataFrame({"a": cells, "b": [1, 2, 3]})
    frame.to_csv("t.csv", index=False, quoting=1)
    try:
        from_file = evencut.io.read_table("t.csv", missing="mean")
    finally:
        Path("t.csv").unlink()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from_frame = evencut.io.prepared_rows(frame)
    known = ~np.isnan(values)
    for rows, done in ((from_file.values, from_file.preparation), (from_frame[0], from_frame[2])):
        found = rows[known, 0] * (1 if done.divisors is None else done.divisors[0])
        np.testing.assert_allclose(found, np.array(values)[known], atol=1e-9)


@pytest.mark.parametrize("cells", [["57.7%", "0.3"], ["\u20ac 3", "$ 4"], ["1,000", "2,000"]])
def test_cells_that_may_mean_two_things_are_refused(run, cells):
    pd.DataFrame({"a": cells * 3, "b": range(6)}).to_csv("t.csv", index=False)
    done = run("cluster", "t.csv", "-k", 2)
    assert done.code == 2 or "holds words" in done.err


def test_a_percent_sign_and_a_decimal_comma(run):
    Path("t.csv").write_text("a;b\n57,7%;1\n3%;2\n1.992,5%;3\n", encoding="utf-8")
    table = evencut.io.read_table("t.csv", decimal=",")
    assert table.values[:, 0].tolist() == [57.7, 3, 1992.5]


def test_columns_are_left_out_by_name_or_number(run):
    frame = pd.DataFrame({"x": X[:, 0], "who": [f"p{i}" for i in range(120)], "y": X[:, 1], "row": np.arange(120)})
    frame.to_csv("p.csv", index=False)
    for drop in (["who,row"], ["2", "4"], ["who,4"]):
        options = [part for names in drop for part in ("--drop", names)]
        assert run("cluster", "p.csv", "-k", 2, *options, "-o", "labels.csv").code == 0
        np.testing.assert_array_equal(labels_in(), fitted().labels_)
    assert "--drop 9 is not in p.csv" in run("cluster", "p.csv", "--drop", "9").err
    assert "--drop leaves no column" in run("cluster", "p.csv", "--drop", "1-4").err


def test_the_hint_for_gaps_names_every_choice(run):
    Path("p.csv").write_text("x,y\n1,2\n3,NA\n4,5\n", encoding="utf-8")
    said = run("cluster", "p.csv", "-k", 2, "--missing", "error").err
    assert all(f"--missing {choice}" in said for choice in ("drop", "mean", "neighbors"))


def test_one_column_is_not_called_columns(run):
    pd.DataFrame({"x": X[:, 0], "city": "Rome", "y": X[:, 1]}).to_csv("p.csv", index=False)
    assert "became 1 column of 0 and 1: Rome" in run("cluster", "p.csv", "-k", 2).err


# Labels beside their rows


@pytest.mark.parametrize("source", ["p.csv", "p.parquet", "p.feather", "p.npy", "p.jsonl", "-"])
@pytest.mark.parametrize("target", ["both.csv", "both.parquet", "both.jsonl", "-"])
def test_labels_are_appended_to_the_rows(run, source, target):
    frame = pd.DataFrame({"id": np.arange(120) + 7, "x": X[:, 0], "y": X[:, 1]})
    text = frame.to_csv(index=False)
    Path("p.csv").write_text(text, encoding="utf-8")
    frame.to_parquet("p.parquet")
    frame.to_feather("p.feather")
    np.save("p.npy", frame.to_numpy())
    frame.to_json("p.jsonl", orient="records", lines=True, double_precision=15)
    stdin = text.encode() if source == "-" else None
    done = run("cluster", source, "-k", 2, "-o", target, "--append", "--columns", "2-3", stdin=stdin)
    assert done.code == 0, done.err
    if target == "-":
        both = pd.read_csv(io.StringIO(done.out))
    else:
        read = {"csv": pd.read_csv, "parquet": pd.read_parquet, "jsonl": lambda f: pd.read_json(f, lines=True)}
        both = read[target.split(".")[1]](target)
    assert both.columns[-1] == "label"
    np.testing.assert_array_equal(both.iloc[:, 0], frame["id"])
    np.testing.assert_allclose(both.iloc[:, 1:3], X, rtol=1e-9)
    np.testing.assert_array_equal(both["label"], fitted().labels_)


def test_appended_rows_stay_as_they_stand(run, gaps):
    Path("p.csv").write_text('name;x;label\n"a; b";1,50;old\n" c ";2,00;old\nd;NA;old\ne;90,00;old\n', encoding="utf-8")
    done = run("cluster", "p.csv", "-k", 2, "-o", "both.csv", "--append", "--columns", "x", "--missing", "drop")
    assert done.code == 0, done.err
    rows = Path("both.csv").read_text(encoding="utf-8").splitlines()
    assert rows[0] == "name,x,label,label_2"
    assert rows[1].startswith('a; b,"1,50",old,')
    assert rows[3] == "d,NA,old,-1"


def test_points_and_labels_in_one_file_are_diagnosed(run):
    frame = pd.DataFrame({"x": X[:, 0], "cluster": Y, "y": X[:, 1]})
    frame.to_csv("both.csv", index=False)
    frame.to_parquet("both.parquet")
    expected = run("diagnose", "both.csv", "both.csv", "--columns", "x,y", "--label-column", "cluster")
    assert "both.csv is both the points and the labels" in expected.err
    frame[["x", "y"]].to_csv("points.csv", index=False)
    frame["cluster"].to_csv("labels.csv", index=False)
    expected = run("diagnose", "points.csv", "labels.csv")
    assert expected.code in (0, 1), expected.err
    for arguments in (["both.csv"], ["both.parquet"], ["both.csv", "--columns", "x,y"]):
        assert run("diagnose", *arguments, "--label-column", "cluster").out == expected.out
    piped = run("diagnose", "-", "--label-column", "2", stdin=Path("both.csv").read_bytes())
    assert piped.out == expected.out
    frame.rename(columns={"cluster": "label"}).to_csv("both.csv", index=False)
    assert run("diagnose", "both.csv").out == expected.out
    done = run("diagnose", "points.csv")
    assert done.code == 2
    assert "--label-column label is not in points.csv; it has x, y" in done.err
    done = run("diagnose", "both.csv", "--columns", "x,label")
    assert "'label' of both.csv holds the labels; leave it out of --columns" in done.err


def test_rows_that_are_left_out_have_no_label_to_diagnose(run, gaps):
    frame = pd.DataFrame(gaps, columns=["x", "y"]).assign(label=Y)
    frame.to_csv("both.csv", index=False)
    kept = frame.dropna()
    kept.to_csv("kept.csv", index=False)
    done = run("diagnose", "both.csv", "--missing", "drop")
    assert done.code in (0, 1), done.err
    assert done.out == run("diagnose", "kept.csv").out
    assert "3 of 120 rows lack values" in done.err


# What it says


def test_the_last_line_stays_short_for_many_clusters(run):
    points = np.repeat(np.arange(149.0)[:, None] * [10, 3], 3, axis=0) + np.tile([[0, 0], [0, 0.1], [0.1, 0]], (149, 1))
    np.save("p.npy", points)
    done = run("cluster", "p.npy", "-k", 149, "-o", "labels.csv", "--kernel", "gaussian", "--bandwidth", "1")
    assert done.code == 0, done.err
    (line,) = done.err.splitlines()
    assert "447 points, 149 clusters of " in line
    assert len(line) < 120
    assert cluster_sizes(np.repeat(np.arange(13), np.arange(1, 14))).startswith("13 clusters of 1 to 13 points")


def test_identical_rows_are_one_cluster(run):
    np.save("p.npy", np.ones((50, 2)))
    done = run("cluster", "p.npy", "-k", "auto", "-o", "labels.csv")
    assert (done.code, done.err) == (0, "evencut: 50 points, clusters of 50; wrote labels.csv\n")
    assert "n_clusters=2 is more than the 1 distinct points among 50" in run("cluster", "p.npy", "-k", 2).err


def test_help_names_auto(run):
    text = " ".join(run("cluster", "--help").out.split())
    for option in (r"--n-clusters K\|auto", r"--landmarks P\|auto", r"--solver .* auto,"):
        assert re.search(option, text), text


def test_a_slow_step_is_told_in_a_pipe(monkeypatch, capsys):
    monkeypatch.setattr(console, "_SLOW_SECONDS", 0.05)
    with console.progress() as step:
        step("a quick one")
        step("reading a large file")
        time.sleep(0.4)
        step("another quick one")
    lines = capsys.readouterr().err.splitlines()
    assert lines
    assert all(line.startswith("evencut: reading a large file (") for line in lines)
    with console.counted("labelling 10 rows", 5) as advance:
        advance()
        advance()
        time.sleep(0.2)
    assert "evencut: labelling 10 rows: 2 of 5 (0 s)" in capsys.readouterr().err


def test_a_quick_step_is_not_told_in_a_pipe(capsys):
    with console.progress() as step:
        step("a quick one")
    with console.counted("labelling", 2) as advance:
        advance()
    assert capsys.readouterr().err == ""


def test_points_on_a_line_are_drawn_with_their_name(run, monkeypatch):
    drawn = []
    monkeypatch.setattr("evencut.cli.outputs.save_figure", lambda figure, path: drawn.append(figure))
    pd.DataFrame({"height": np.r_[np.arange(20.0), np.arange(100.0, 120.0)]}).to_csv("p.csv", index=False)
    done = run("cluster", "p.csv", "-k", 2, "-o", "labels.csv", "--plot", "p.png")
    assert done.code == 0, done.err
    (ax,) = drawn[0].axes
    assert ax.get_xlabel() == "height"
    assert len(ax.get_yticks()) == 0
    assert len(ax.get_legend().get_texts()) == 2


# What it leaves alone


@POSIX_ONLY
@pytest.mark.parametrize("to", ["-o /dev/full", "stdout"])
def test_a_full_disk_is_no_fault_of_evencut(run, tmp_path, to):
    np.save(tmp_path / "p.npy", X)
    if to == "stdout":
        # A process, since what it writes as it ends belongs to the answer.
        command = [sys.executable, "-m", "evencut", "cluster", "p.npy", "-k", "2"]
        with open("/dev/full", "wb") as full:
            done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, env=ENVIRONMENT, text=True)
        code, said = done.returncode, done.stderr
    else:
        done = run("cluster", "p.npy", "-k", 2, *to.split())
        code, said = done.code, done.err
    assert code == 2
    assert "No space left on device" in said.splitlines()[-1]
    assert "fault" not in said
    assert said.count("error") == 1, said


def test_no_output_takes_the_place_of_an_input(run, tmp_path):
    Path("data").mkdir()
    for part in range(2):
        np.save(f"data/{part}.npy", X[part::2])
    np.save("p.npy", X)
    Path("hard.npy").hardlink_to("p.npy")
    inputs = [*Path("data").iterdir(), Path("p.npy")]
    before = {path: path.read_bytes() for path in inputs}
    for arguments in (
        ["cluster", "data/*.npy", "-k", 2, "--landmarks", 20, "-o", "data/0.npy"],
        ["cluster", "p.npy", "-k", 2, "--landmarks", 20, "-o", "p.npy"],
        ["cluster", "p.npy", "-k", 2, "-o", "hard.npy"],
        ["cluster", "p.npy", "-k", 2, "-o", "./data/../p.npy", "--append"],
        ["cluster", "p.npy", "-k", 2, "-o", "l.csv", "--plot", "l.csv"],
        ["cluster", "p.npy", "-k", 2, "-o", "l.skops", "--save", "l.skops"],
        ["diagnose", "p.npy", "p.npy", "--html", "p.npy"],
    ):
        done = run(*arguments)
        assert done.code == 2, arguments
        assert " is both the " in done.err or "must end in" in done.err, done.err
    assert {path: path.read_bytes() for path in inputs} == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data", "hard.npy", "p.npy"]


@pytest.mark.parametrize(
    ("column", "code", "said"),
    [
        (np.where(Y, 1e308, 0.1), 0, "120 points, clusters of "),
        (np.full(120, 1e308), 2, "column 2 reaches 1e+308, while no column spans more than"),
        (np.r_[np.zeros(119), 1e308], 0, "120 points, clusters of "),
    ],
    ids=["two immense groups", "an immense constant", "one sentinel"],
)
def test_immense_values_are_clustered_and_drawn_or_refused_by_name(run, column, code, said):
    np.save("p.npy", np.column_stack([X, column]))
    done = run("cluster", "p.npy", "-k", 2, "-o", "labels.csv", "--plot", "p.png")
    assert done.code == code, done.err
    assert said in done.err
    assert done.err.count("\n") == 1, done.err


def write_parts(reorder=True):
    """The points in two files, the second with its columns the other way round."""
    pd.DataFrame(X[:70], columns=["x", "y"]).to_csv("a.csv", index=False)
    second = pd.DataFrame(X[70:], columns=["x", "y"])
    (second[["y", "x"]] if reorder else second).to_csv("b.csv", index=False)


def test_several_files_are_one_table(run):
    write_parts()
    done = run("cluster", "a.csv", "b.csv", "-k", "2", "-o", "labels.csv")
    assert done.code == 0, done.err
    written = pd.read_csv("labels.csv")
    assert list(written.columns) == ["file", "row", "label"]
    assert written["file"].tolist() == ["a.csv"] * 70 + ["b.csv"] * 50
    assert written["row"].tolist() == [*range(70), *range(50)]
    assert np.array_equal(written["label"], fitted().labels_)
    # A pattern means the files that match it.
    assert run("cluster", "[ab].csv", "-k", "2", "-o", "again.csv").code == 0
    assert Path("again.csv").read_bytes() == Path("labels.csv").read_bytes()


def test_several_files_keep_their_rows_and_are_labelled_by_a_model(run):
    write_parts()
    done = run("cluster", "a.csv", "b.csv", "-k", "2", "-o", "rows.csv", "--append", "--save", "model.skops")
    assert done.code == 0, done.err
    rows = pd.read_csv("rows.csv", dtype={"x": str, "y": str})
    assert list(rows.columns) == ["x", "y", "file", "row", "label"]
    assert np.array_equal(rows[["x", "y"]].astype(float), X) and np.array_equal(rows["label"], fitted().labels_)
    done = run("predict", "model.skops", "b.csv", "a.csv", "-o", "again.csv")
    assert done.code == 0, done.err
    again = pd.read_csv("again.csv")
    assert np.array_equal(again["label"], np.roll(rows["label"], 50))


def test_rows_left_out_of_several_files_keep_their_place(run):
    write_parts()
    with open("a.csv", "a") as file:
        file.write("NA,1\n")
    assert run("cluster", "a.csv", "b.csv", "-k", "2", "-o", "labels.csv", "--missing", "error").code == 2
    done = run("cluster", "a.csv", "b.csv", "-k", "2", "-o", "labels.csv", "--missing", "drop")
    assert done.code == 0, done.err
    written = pd.read_csv("labels.csv")
    assert written[written["label"] == -1][["file", "row"]].values.tolist() == [["a.csv", 70]]


def test_words_of_several_files_are_one_set_of_categories(run):
    for name, city in (("a.csv", "Rome"), ("b.csv", "Bonn")):
        pd.DataFrame({"x": X[:60, 0], "city": city}).to_csv(name, index=False)
    done = run("cluster", "a.csv", "b.csv", "-k", "2", "-o", "labels.csv")
    assert done.code == 0 and "became 2 columns of 0 and 1: Bonn, Rome" in done.err


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x,z\n1,2\n", "b.csv has other columns than a.csv: it lacks y and has z besides"),
        ("x\n1\n", "b.csv has other columns than a.csv: it lacks y"),
        ("x,y,z\n1,2,3\n", "b.csv has other columns than a.csv: it has z besides"),
        ("x,y\n1,2\n3,many\n", "b.csv, line 3, column 'y' is text ('many')"),
        ("x,y\n1,inf\n", "b.csv, line 2, column 'y' is inf"),
    ],
)
def test_what_is_wrong_with_one_of_several_files_is_named(run, text, said):
    write_parts()
    Path("b.csv").write_text(text)
    done = run("cluster", "a.csv", "b.csv", "-k", "2", "-o", "labels.csv")
    assert done.code == 2 and said in done.err and done.err.count("\n") == 1, done.err
    assert not Path("labels.csv").exists()


def test_files_named_wrongly_are_told(run):
    write_parts()
    for files, said in [
        (("a.csv", "a.csv"), "a.csv was named twice"),
        (("a.csv", "-"), "standard input comes alone"),
        (("a.csv", "none*.csv"), "no file matches none*.csv"),
        (("a.csv", "c.csv"), "c.csv does not exist"),
    ]:
        done = run("cluster", *files, "-k", "2", "-o", "labels.csv")
        assert done.code == 2 and said in done.err and done.err.count("\n") == 1, done.err
    assert run("cluster", "a.csv", "b.csv", "-k", "2", "-o", "b.csv").code == 2
    assert len(pd.read_csv("b.csv")) == 50


def test_words_beside_numbers_are_clustered_alike_in_files_and_frames(run):
    """Groups in two columns, and a word that says nothing: the command must not give it more weight than Python."""
    rng = np.random.default_rng(0)
    group = rng.integers(0, 3, 150)
    centres = np.array([[0, 0], [6, 0], [3, 6]])
    x, y = (centres[group] + rng.normal(size=(150, 2))).T
    frame = pd.DataFrame({"x": x, "y": y, "word": rng.choice(["left", "right"], 150)})
    frame.to_csv("p.csv", index=False)
    assert run("cluster", "p.csv", "-k", 3, "-o", "labels.csv").code == 0
    np.testing.assert_array_equal(labels_in(), EvenCut(3, random_state=0).fit(frame).labels_)
    assert adjusted_rand_score(group, labels_in()) > 0.9


NASTY = {
    "deep.json": ("[" * 100_000, "deep.json is not JSON that can be read"),
    "huge.json": ('[{"a": 9%s, "b": 1}, {"a": 2, "b": 3}]' % ("9" * 400), "column 'a' is inf (1 such value)"),
    "huge.jsonl": ('{"a": -9%s}\n{"a": 2}\n' % ("9" * 400), "huge.jsonl, line 1, column 'a' is -inf"),
    "fake.npy": ("x,y\n1,2\n", "save it again with numpy.save"),
    "open.csv": ('x,y\n"1,2\n3,4\n', "look for a quote that is never closed"),
    "one.csv": ("x,y\n1,2\n", "one.csv has only one row to cluster; give at least two"),
    "short.csv": ("x,y\n1,2\n3\n", "line 3 has 1 value, but line 1 has 2"),
    "commas.csv": ('x,y\n"1,250",1\n"2,125",2\n', "or --decimal . if it marks thousands"),
    # Every number of x differs: not names that could be left out.
    "names.csv": ("x,y\n" + "".join(f'"{i},25",{i}\n' for i in range(60)), "say --decimal , if the comma is a decimal"),
}


@pytest.mark.parametrize("name", NASTY)
def test_files_that_nobody_would_make_on_purpose_get_one_plain_line(run, name):
    text, says = NASTY[name]
    Path(name).write_text(text, encoding="utf-8")
    done = run("cluster", name)
    assert done.code == 2 and says in done.err
    assert len(done.err.splitlines()) == 1 and "pickle" not in done.err


def test_a_comma_marks_thousands_where_the_point_is_the_decimal_mark(run):
    Path("t.csv").write_text('x,y\n"1,250",1\n"2,125",2\n750,3\n', encoding="utf-8")
    assert evencut.io.read_table("t.csv", decimal=".").values[:, 0].tolist() == [1250, 2125, 750]


def test_a_row_without_values_keeps_its_place_among_the_labels(run):
    """Labels are joined to the rows of the file by their number; what a spreadsheet leaves below a table is no row."""
    rows = ["0,0", "0,1", ",", "9,9", "", "9,8", ",", ","]
    Path("p.csv").write_text("x,y\n" + "\n".join(rows) + "\n", encoding="utf-8")
    done = run("cluster", "p.csv", "-k", 2, "-o", "labels.csv")
    assert labels_in().tolist() == [0, 0, -1, 1, 1]
    assert "1 of 5 rows have no values at all and are left out" in done.err
    appended = run("cluster", "p.csv", "-k", 2, "--append").out.splitlines()
    assert appended == ["x,y,label", "0,0,0", "0,1,0", ",,-1", "9,9,1", "9,8,1"]


def test_a_row_of_one_column_without_a_value_keeps_its_place(run):
    """As pandas writes it: a pair of quotes; a line without anything is none."""
    pd.DataFrame({"x": [0.0, np.nan, 0.1, 9.0, 9.1, np.nan]}).to_csv("p.csv", index=False)
    Path("p.csv").write_text(Path("p.csv").read_text().replace("9.0", "\n9.0"), encoding="utf-8")
    run("cluster", "p.csv", "-k", 2, "-o", "labels.csv")
    assert labels_in().tolist() == [0, -1, 0, 1, 1]


def test_a_row_of_a_workbook_without_values_keeps_its_place(run):
    pytest.importorskip("openpyxl")
    frame = pd.DataFrame({"x": [0, 0, np.nan, 9, 9, np.nan], "y": [0, 1, np.nan, 9, 8, np.nan]})
    frame.to_excel("p.xlsx", index=False)
    run("cluster", "p.xlsx", "-k", 2, "-o", "labels.csv")
    assert labels_in().tolist() == [0, 0, -1, 1, 1]
    assert run("cluster", "p.xlsx", "-k", 2, "--append").out.splitlines()[3:5] == [",,-1", "9,9,1"]
    assert "p.xlsx, line 4" in run("cluster", "p.xlsx", "--missing", "error").err
