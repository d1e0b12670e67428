"""Formats that people have tables in: workbooks, JSON, every compression, and text that is not UTF-8."""

import bz2
import gzip
import io
import json
import lzma
import sys
import zipfile
from types import SimpleNamespace

import numpy as np
import pytest

from evencut.io import Source, TableError, read_columns, read_labels, read_table

TEXT = "x,city\n1.5,Köln\n2,Rome\n3,Rome\n4,Köln\n"


def check(source):
    table = read_columns(source)
    assert [column.name for column in table] == ["x", "city"]
    assert table[0].numbers.tolist() == [1.5, 2, 3, 4]
    assert list(table[1].words.values()) == ["Köln", "Rome", "Rome", "Köln"]


@pytest.mark.parametrize(
    ("suffix", "packed"), [(".gz", gzip.compress), (".bz2", bz2.compress), (".xz", lzma.compress)]
)
def test_every_compression_is_read(tmp_path, suffix, packed):
    path = tmp_path / f"t.csv{suffix}"
    path.write_bytes(packed(TEXT.encode()))
    check(path)
    path.write_bytes(packed(TEXT.encode())[:-12])
    with pytest.raises(TableError, match=r"ends too early|damaged"):
        read_table(path)


def test_an_archive_of_one_file_is_read_and_of_two_is_refused(tmp_path):
    path = tmp_path / "t.csv.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("t.csv", TEXT)
    check(path)
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("u.csv", TEXT)
    with pytest.raises(TableError, match=r"holds 2 files; unpack it"):
        read_table(path)
    path.write_bytes(b"no archive")
    with pytest.raises(TableError, match="damaged"):
        read_table(path)


def test_gzip_on_standard_input_is_unpacked(monkeypatch):
    for content in (TEXT.encode(), gzip.compress(TEXT.encode())):
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(content)))
        check("-")


def test_an_encoding_is_said(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(TEXT.encode("latin-1"))
    check(Source(str(path), encoding="latin-1"))
    with pytest.raises(TableError, match=r'not text in UTF-8.*encoding=, such as "latin-1"'):
        read_columns(path)
    with pytest.raises(TableError, match="encoding='runes' is not known"):
        Source(str(path), encoding="runes")


RECORDS = [{"x": 1.5, "city": "Köln"}, {"x": 2, "city": "Rome"}, {"x": 3, "city": "Rome"}, {"x": 4, "city": "Köln"}]


@pytest.mark.parametrize(
    "held", [RECORDS, {"x": [1.5, 2, 3, 4], "city": [row["city"] for row in RECORDS]}], ids=["records", "columns"]
)
def test_json_is_read(tmp_path, held):
    path = tmp_path / "t.json"
    path.write_text(json.dumps(held), encoding="utf-8")
    check(path)
    path.with_suffix(".json.gz").write_bytes(gzip.compress(json.dumps(held).encode()))
    check(path.with_suffix(".json.gz"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[1, 2", "is not JSON"),
        ("3", "is not a table"),
        ('{"x": [1], "y": [1, 2]}', "columns of different lengths"),
        ('[{"x": [1]}]', "holds more than one value"),
    ],
)
def test_json_that_is_no_table_is_named(tmp_path, text, message):
    path = tmp_path / "t.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(TableError, match=message):
        read_table(path)


def test_a_workbook_is_read(tmp_path):
    openpyxl = pytest.importorskip("openpyxl", reason="openpyxl is not installed")
    book = openpyxl.Workbook()
    for line in [["x", "city"], *([row["x"], row["city"]] for row in RECORDS)]:
        book.active.append(line)
    path = tmp_path / "t.xlsx"
    book.save(path)
    check(path)
    np.testing.assert_array_equal(read_labels(path, "city"), ["Köln", "Rome", "Rome", "Köln"])
    path.write_bytes(b"no workbook")
    with pytest.raises(TableError, match="not a workbook that can be read"):
        read_table(path)
