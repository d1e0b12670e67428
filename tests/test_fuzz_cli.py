"""Any file through the command: it answers or refuses in a line, never with a fault, and changes no input.

`fuzzing.py` beside this file says how many examples are drawn.
"""

import contextlib
import gzip
import io
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from fuzzing import bounded, fuzz
from hypothesis import given
from hypothesis import strategies as st

from evencut.cli import main

# The command tells warnings in a line.
pytestmark = pytest.mark.filterwarnings("default")
usual = st.floats(-10, 10).map(lambda value: repr(round(value, 3)))
odd = st.sampled_from(
    ["0", "7", "1e308", "-1e308", "1e-308", "1e16", "NA", "", "?", "nan", "inf", "x", "y", "1,5", "true", '"']
)


@st.composite
def tables(draw):
    """The text of a table whose columns are mostly numbers, some with oddities."""
    width, height = draw(st.integers(1, 4)), draw(st.sampled_from([25, 25, 40, 25, 40, 25, 5, 2, 1, 0]))
    kinds = [draw(st.sampled_from([usual, usual, usual, odd, st.one_of(usual, odd)])) for _ in range(width)]
    separator = draw(st.sampled_from([",", ";", "\t", " "]))
    lines = [separator.join(draw(kind) for kind in kinds) for _ in range(height)]
    if draw(st.booleans()):
        lines.insert(0, separator.join(f"c{i}" for i in range(width)))
    return draw(st.sampled_from(["\n", "\r\n"])).join(lines)


def choices(*options):
    """One of several sequences of arguments, or none."""
    return st.sampled_from([[], *[option.split() for option in options]])


arguments = st.tuples(
    st.sampled_from([["-k", "auto"], ["-k", "1"], ["-k", "2"], ["-k", "4"]]),
    choices("--missing drop", "--missing mean"),
    choices("--standardize"),
    choices("--append"),
    choices("--columns 1", "--columns 1-2", "--columns c0", "--columns 2-"),
    choices("--kernel knn", "--kernel gaussian", "--kernel local_scaling"),
    choices("--equalize exact"),
    st.sampled_from([["-o", "l.csv"], ["-o", "l.parquet"], ["-o", "l.npy"], ["-o", "l.jsonl"]]),
)


@pytest.fixture
def answers_or_refuses(tmp_path, monkeypatch):
    """Runs the command on a file of given bytes, and checks how it leaves."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("EVENCUT_TRACEBACK", "1")  # a fault of the program comes through as it is

    def check(command, name, content, *words):
        Path(name).write_bytes(content)
        said, code = io.StringIO(), None
        with contextlib.redirect_stderr(said), contextlib.redirect_stdout(io.StringIO()):
            try:
                main([command, name, *words])
            except SystemExit as left:
                code = left.code
        assert code in (0, 2), said.getvalue()
        lines = said.getvalue().splitlines()
        assert all(line.startswith("evencut: ") for line in lines), lines
        assert lines[-1].startswith("evencut: error: ") == (code == 2)
        assert Path(name).read_bytes() == content

    return check


@fuzz(60)
@given(text=tables(), arguments=arguments)
@bounded
def test_any_table_gets_an_answer_or_a_line(answers_or_refuses, text, arguments):
    answers_or_refuses("cluster", "t.csv", text.encode(), *[word for option in arguments for word in option])


def as_bytes(write):
    buffer = io.BytesIO()
    write(buffer)
    return buffer.getvalue()


def whole_files():
    """A good file of every kind."""
    points = np.random.default_rng(0).normal(size=(12, 2)).round(3)
    frame = pd.DataFrame(points, columns=["x", "y"])
    return {
        "t.csv": frame.to_csv(index=False).encode(),
        "t.csv.gz": gzip.compress(frame.to_csv(index=False).encode(), mtime=0),
        "t.jsonl": frame.to_json(orient="records", lines=True).encode(),
        "t.npy": as_bytes(lambda file: np.save(file, points)),
        "t.npz": as_bytes(lambda file: np.savez(file, points=points)),
        "t.parquet": as_bytes(frame.to_parquet),
        "t.feather": as_bytes(frame.to_feather),
    }


FILES = whole_files()


def damaged(content, kind, place, byte):
    """The file cut short, with a byte changed or with one put in, at a place between 0 and 1."""
    at = int(place * len(content))
    if kind == "short":
        return content[:at]
    return content[:at] + bytes([byte]) + content[at + (kind == "changed") :]


damage = st.tuples(st.sampled_from(["short", "changed", "longer"]), st.floats(0, 1), st.integers(0, 255))


@fuzz(35)
@given(
    held=st.sampled_from(sorted(FILES)),
    called=st.sampled_from(sorted(FILES)),
    harm=st.none() | damage,
    how=choices("--landmarks 5"),
)
@bounded
def test_any_damaged_or_misnamed_file_gets_an_answer_or_a_line(answers_or_refuses, held, called, harm, how):
    content = FILES[held] if harm is None else damaged(FILES[held], *harm)
    answers_or_refuses("cluster", called if harm is None else held, content, "-k", "2", "-o", "l.csv", *how)


def photos():
    image_files = pytest.importorskip("PIL.Image", reason="photos need Pillow")
    pixels = np.random.default_rng(0).integers(0, 256, (12, 16, 3), dtype=np.uint8)
    photo = image_files.fromarray(pixels)
    return {f"p.{kind}": as_bytes(lambda file, kind=kind: photo.save(file, kind)) for kind in ("png", "jpeg", "bmp")}


@fuzz(20)
@given(
    name=st.sampled_from(["p.png", "p.jpeg", "p.bmp"]),
    harm=st.none() | damage,
    box=st.tuples(*[st.integers(-3, 20)] * 4),
)
@bounded
def test_any_damaged_photo_gets_an_answer_or_a_line(answers_or_refuses, name, harm, box):
    content = photos()[name] if harm is None else damaged(photos()[name], *harm)
    words = ["--box", ",".join(map(str, box)), "-o", "m.png"]
    answers_or_refuses("segment", name, content, *words)
