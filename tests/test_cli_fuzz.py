"""Any table through the command: it answers or refuses in a line, never with a fault, and changes no input.

`EVENCUT_FUZZ` sets the number of examples; a night takes 20 000.
"""

import contextlib
import io
import os

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evencut.cli import main

EXAMPLES = int(os.environ.get("EVENCUT_FUZZ", "60"))
usual = st.floats(-10, 10).map(lambda value: repr(round(value, 3)))
odd = st.sampled_from(
    ["0", "7", "1e308", "-1e308", "1e-308", "1e16", "NA", "", "?", "nan", "inf", "x", "y", "1,5", "true", '"']
)


@st.composite
def tables(draw):
    """The text of a table whose columns are mostly numbers, some with oddities."""
    width, height = draw(st.integers(1, 4)), draw(st.sampled_from([0, 1, 2, 5, 25]))
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


@given(tables(), arguments)
@settings(
    max_examples=EXAMPLES,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
def test_any_table_gets_an_answer_or_a_line(tmp_path, monkeypatch, text, arguments):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("EVENCUT_TRACEBACK", "1")  # a fault of the program comes through as it is
    path = tmp_path / "t.csv"
    path.write_bytes(text.encode())
    said, code = io.StringIO(), None
    with contextlib.redirect_stderr(said), contextlib.redirect_stdout(io.StringIO()):
        try:
            main(["cluster", "t.csv", *[word for option in arguments for word in option]])
        except SystemExit as left:
            code = left.code
    assert code in (0, 2), said.getvalue()
    lines = said.getvalue().splitlines()
    assert all(line.startswith("evencut: ") for line in lines), lines
    assert lines[-1].startswith("evencut: error: ") == (code == 2)
    assert path.read_bytes() == text.encode()
