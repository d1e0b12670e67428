"""Tables in and out of files: what was written is what is read, and what is wrong is named with its place."""

import csv
import io
import json
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evencut.io import TableError, open_file, read_labels, read_table, write_table
from evencut.io.columns import choose_columns
from evencut.io.files import Source

numbers = st.floats(allow_nan=False, allow_infinity=False)
tables = st.integers(1, 4).flatmap(
    lambda width: st.lists(st.lists(numbers, min_size=width, max_size=width), min_size=1, max_size=20)
)
QUICK = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@given(tables)
@QUICK
@pytest.mark.parametrize("suffix", ["csv", "tsv", "csv.gz", "csv.zst", "jsonl", "parquet", "feather", "npy"])
def test_what_was_written_is_read_again(tmp_path, suffix, rows):
    values = np.array(rows)
    path = tmp_path / f"t.{suffix}"
    with path.open("wb") as file:
        write_table(file, str(path), {f"c{i}": column for i, column in enumerate(values.T)})
    read = read_table(path)
    np.testing.assert_array_equal(read.values, values)
    if suffix != "npy":
        assert read.columns == [f"c{i}" for i in range(values.shape[1])]


@given(st.text(max_size=300), st.sampled_from([None, True, False]), st.sampled_from(["error", "drop", "mean"]))
@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_text_is_a_table_or_a_plain_error(tmp_path, text, header, missing):
    path = tmp_path / "any.csv"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    try:
        table = read_table(path, header=header, missing=missing)
    except TableError as error:
        assert str(error).count("\n") == 0 or "any.csv" in str(error)
    else:
        assert np.isfinite(table.values).all()
        assert table.values.shape[1] == len(table.columns)
    assert path.read_bytes() == text.encode("utf-8", "surrogatepass")


cells = st.one_of(
    st.floats().map(repr), st.integers().map(str), st.sampled_from(["", "NA", "?", "x", "1,5", "1.000,5", '"a"', "-"])
)


@given(st.lists(st.lists(cells, min_size=2, max_size=3), max_size=12), st.sampled_from([",", ";", "\t", "|"]))
@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_cells_are_a_table_or_a_plain_error(tmp_path, rows, separator):
    path = tmp_path / "any.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, delimiter=separator).writerows(rows)
    try:
        table = read_table(path, missing="mean")
    except TableError:
        return
    assert np.isfinite(table.values).all()


@given(st.binary(max_size=200))
@QUICK
@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".csv.zst", ".jsonl", ".parquet", ".feather", ".npy", ".npz"])
def test_any_bytes_are_a_table_or_a_plain_error(tmp_path, suffix, content):
    path = tmp_path / f"any{suffix}"
    path.write_bytes(content)
    for read in (read_table, read_labels):
        try:
            read(path)
        except TableError as error:
            assert "any" in str(error)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "t.jsonl is empty"),
        ('{"x": 1}\n{"x": ', "line 2 is not JSON that can be read"),
        ('{"x": 1}\n7\n', "line 2 is 7; give an object or a list"),
        ('{"x": [1, 2]}\n', "line 1, column 'x' holds more than one value"),
        ('{"x": "a"}\n{"x": "b"}\n', "line 1, column 'x' is text"),
    ],
)
def test_wrong_json_lines_are_named(tmp_path, content, message):
    (tmp_path / "t.jsonl").write_text(content, encoding="utf-8")
    with pytest.raises(TableError, match=message):
        read_table(tmp_path / "t.jsonl")


def test_json_lines_of_lists_and_with_new_names(tmp_path):
    path = tmp_path / "t.jsonl"
    path.write_text("[1, 2]\n\n[3, 4]\n", encoding="utf-8")
    np.testing.assert_array_equal(read_table(path).values, [[1, 2], [3, 4]])
    path.write_text("\n".join(map(json.dumps, [{"a": 1}, {"a": 2, "b": True}])), encoding="utf-8")
    table = read_table(path, missing="drop")
    assert (table.columns, table.values.tolist(), table.rows.tolist()) == (["a", "b"], [[2.0, 1.0]], [1])


@pytest.mark.parametrize(
    ("asked", "places"),
    [(None, [0, 1, 2]), (["2-3"], [1, 2]), (["3", "1"], [2, 0]), (["2-"], [1, 2]), (["5-8", "1"], [1, 0])],
)
def test_columns_by_name_number_and_range(asked, places):
    names = ["x", "5-8", "z"]
    assert choose_columns(asked, names, "t.csv") == places


@pytest.mark.parametrize("asked", ["0", "4", "0-2", "3-2", "2-4", "y", "", "-1"])
def test_columns_that_are_not_there(asked):
    with pytest.raises(TableError, match="it has x, y2, z"):
        choose_columns([asked], ["x", "y2", "z"], "t.csv")


def test_single_precision_stays(tmp_path):
    X = np.arange(6, dtype=np.float32).reshape(3, 2)
    np.save(tmp_path / "t.npy", X)
    pa.parquet.write_table(pa.table({"x": X[:, 0], "y": X[:, 1]}), tmp_path / "t.parquet")
    for name in ("t.npy", "t.parquet"):
        assert read_table(tmp_path / name).values.dtype == np.float32


def test_a_named_index_is_no_feature_either(tmp_path):
    frame = pd.DataFrame({"x": [1.0, 2.0], "y": [3.0, 4.0]}, index=pd.Index([10, 20], name="patient"))
    frame.to_parquet(tmp_path / "t.parquet")
    assert read_table(tmp_path / "t.parquet").columns == ["x", "y"]
    assert open_file(tmp_path / "t.parquet").names == ["x", "y"]
    assert open_file(tmp_path / "t.parquet", ["patient", "x"]).names == ["patient", "x"]


def test_a_column_of_dates_is_read_from_any_format(tmp_path):
    frame = pd.DataFrame({"day": pd.date_range("1970-01-02", periods=3), "x": [1.0, 2.0, 3.0]})
    frame.to_parquet(tmp_path / "t.parquet")
    frame.to_csv(tmp_path / "t.csv", index=False)
    for name in ("t.parquet", "t.csv"):
        table = read_table(tmp_path / name)
        assert table.preparation.dates == ("day",)
        days = table.values[:, 0] * table.preparation.divisors[0]
        np.testing.assert_allclose(days, [1, 2, 3])
    assert read_table(tmp_path / "t.parquet", columns=["x"]).values.tolist() == [[1.0], [2.0], [3.0]]


def test_what_can_be_read_once_is_kept_when_asked(monkeypatch):
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(b"1,2\n3,4\n")))
    source = Source("-", keep=True)
    for _ in range(2):
        np.testing.assert_array_equal(read_table(source).values, [[1, 2], [3, 4]])


def test_words_that_hold_blanks_are_one_label(tmp_path):
    path = tmp_path / "labels.csv"
    path.write_text("label\nupper moon\nlower moon\n", encoding="utf-8")
    assert read_labels(path, n_points=2).tolist() == ["upper moon", "lower moon"]
    path.write_text("0\n1\n-1\n", encoding="utf-8")
    assert read_labels(path).tolist() == [0, 1, -1]


def test_large_files_are_read_in_chunks_and_their_lines_counted(tmp_path):
    path = tmp_path / "t.csv"
    lines = [f"{i / 4},{i / 4 + 0.5}" for i in range(10_000)]
    lines[7000] = "1750,oops"
    path.write_text("x,y\n" + "\n".join(lines), encoding="utf-8")
    with pytest.raises(TableError, match=r"line 7002, column 'y' is text \('oops'\)"):
        read_table(path)
    lines[7000] = "1750,"
    path.write_text("x,y\n" + "\n".join(lines), encoding="utf-8")
    table = read_table(path, missing="drop")
    assert table.values.shape == (9999, 2)
    np.testing.assert_array_equal(table.values[:, 1] - table.values[:, 0], 0.5)


def test_the_same_file_twice_costs_nothing_to_the_file(tmp_path):
    path = Path(tmp_path / "t.csv")
    path.write_text("x\n1\n2\n", encoding="utf-8")
    before = path.stat().st_mtime_ns
    read_table(path)
    assert path.stat().st_mtime_ns == before


@pytest.mark.parametrize(
    ("text", "names", "n_rows"),
    [
        ("country,2019,2020,2021\nChad,1.5,2,3\nPeru,2.5,4,4\nChad,1,2,3\nPeru,2,2,2\n", ["2019", "2020", "2021"], 4),
        ("country,2019,2020\nChad,1,2\nPeru,2,4\nChad,1,2\nPeru,2,2\n", ["2019", "2020"], 4),
        ("0,1,2\n1.5,2.5,3\n7,8,1\n", ["0", "1", "2"], 2),
        ("0;1;2\n1,5;2,5;3\n7;8;1\n", ["0", "1", "2"], 2),
    ],
)
def test_numbers_that_name_columns_are_a_header_and_it_is_told(tmp_path, text, names, n_rows):
    path = tmp_path / "points.csv"
    path.write_text(text)
    table = read_table(path)
    assert [name for name in table.columns if "=" not in name] == names
    assert len(table.values) == n_rows
    assert any("is taken for the names of the columns; header=False" in notice for notice in table.notices)
    if "country" not in text:
        assert len(read_table(path, header=False).values) == n_rows + 1


def test_first_points_are_no_header(tmp_path):
    path = tmp_path / "points.csv"
    for text in ("1,2,3\n7,8,1\n", "0,1,2\n0,1,2\n", "0.0,1.0,2.0\n5,5,5\n", "0,2,1\n5,5,5\n", "0\n1\n"):
        path.write_text(text)
        assert len(read_table(path).values) == 2, text


def test_two_numbers_that_may_be_names_are_asked_for(tmp_path):
    path = tmp_path / "points.csv"
    path.write_text("0,1\n1.5,2.5\n7,8\n")
    with pytest.raises(TableError, match=r"line 1 \(0, 1\) may name the columns.*header=True or header=False"):
        read_table(path)
    assert read_table(path, header=True).values.shape == (2, 2)
    assert read_table(path, header=False).values.shape == (3, 2)


@pytest.mark.parametrize(
    "first", [",0,1,2", ",x,y,z", "Unnamed: 0,x,y,z", "__index_level_0__,x,y,z", ",2019,2020,2021"]
)
def test_an_index_that_nobody_named_is_not_clustered_by(tmp_path, first):
    path = tmp_path / "points.csv"
    path.write_text(f"{first}\n0,1.5,2.5,3\n1,7,8,1\n2,2,2,2\n")
    with pytest.raises(TableError, match=r"column 1 of 4 has no name.*columns=, such as 2-"):
        read_table(path)
    assert read_table(path, columns=["2-"]).values.shape == (3, 3)


def test_remarks_before_the_table_are_skipped_and_told(tmp_path):
    path = tmp_path / "points.csv"
    path.write_text("# made by hand\n#\nx,y\n1,2\n3,4\n")
    table = read_table(path)
    assert table.columns == ["x", "y"]
    assert table.notices == (f"line 1 to 2 of {path}: remarks (#), skipped",)
    path.write_text("#N/A,2\n3,4\n")
    assert read_table(path, missing="drop").values.tolist() == [[3, 4]]
    path.write_text("x,y\n1,2\n# the end\n")
    with pytest.raises(TableError, match="line 3 has 1 value, but line 1 has 2; it begins with #"):
        read_table(path)


def test_limits_are_checked_while_a_file_is_unpacked():
    import gzip

    from evencut.io import read_columns
    from evencut.io.files import TableLimits, TableTooLarge

    data = gzip.compress(b"1,2\n" * 10**6)
    assert len(data) < 10_000
    for limits, word in (({"n_bytes": 10**5}, "unpacks"), ({"rows": 1000}, "rows"), ({"cells": 1000}, "values")):
        with pytest.raises(TableTooLarge, match=word):
            read_columns(Source("p.csv.gz", data=data, limits=TableLimits(**limits)))
    small = Source("p.csv.gz", data=gzip.compress(b"a,b\n1,2\n3,4\n"), limits=TableLimits(n_bytes=100, rows=2))
    assert [column.numbers.tolist() for column in read_columns(small)] == [[1, 3], [2, 4]]


def test_a_workbook_that_unpacks_to_too_much_is_refused_unread():
    openpyxl = pytest.importorskip("openpyxl")
    from evencut.io import read_columns
    from evencut.io.files import TableLimits, TableTooLarge

    book, file = openpyxl.Workbook(), io.BytesIO()
    for i in range(300):
        book.active.append([i, i % 7])
    book.save(file)
    with pytest.raises(TableTooLarge, match="unpacks"):
        read_columns(Source("p.xlsx", data=file.getvalue(), limits=TableLimits(n_bytes=1000)))
    with pytest.raises(TableTooLarge, match="rows"):
        read_columns(Source("p.xlsx", data=file.getvalue(), limits=TableLimits(rows=100)))
    whole = read_columns(Source("p.xlsx", data=file.getvalue(), limits=TableLimits(rows=300, n_bytes=10**7)))
    assert whole[1].numbers.tolist() == [i % 7 for i in range(300)]


@pytest.mark.parametrize("data", [b"x,y\n1,\x002\n", b"\xff\xfe\x80,1\n2,3\n"], ids=["zero bytes", "no lines"])
def test_bytes_that_are_no_text_are_told(tmp_path, data):
    (tmp_path / "p.csv").write_bytes(data)
    with pytest.raises(TableError, match="is not text"):
        read_table(tmp_path / "p.csv")
