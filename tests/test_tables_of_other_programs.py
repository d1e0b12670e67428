"""Tables as other programs and people write them: each is read as its author meant it, or refused with a cure."""

import json
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest
from sklearn.datasets import make_blobs

from evencut import EvenCut, KernelClustering, LandmarkClustering
from evencut.cli import main
from evencut.io import Source, TableError, prepared_rows, read_table

X, GROUP = make_blobs([30, 30, 30], centers=[[0, 0], [6, -5], [12, 0]], shuffle=False, random_state=5)
X = X.round(3)


@pytest.fixture
def run(capsys, monkeypatch, tmp_path):
    """Run the command in an empty folder; gives its exit code and what it said."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        with pytest.raises(SystemExit) as left:
            main([str(argument) for argument in arguments])
        return left.value.code, capsys.readouterr().err

    return run


def table_of(text, name="t.csv", **options):
    return read_table(Source(name, data=text.encode()), **options)


@pytest.mark.parametrize(
    ("cells", "values"),
    [
        (["1'234.50", "12.5", "-9'876'543"], [1234.5, 12.5, -9876543]),
        (["1\u2019234", "2\u2019000\u2019000", "7"], [1234, 2000000, 7]),
        (["1 234.5", "12 345 678", "-3"], [1234.5, 12345678, -3]),
        (["1\u202f234", "1\u00a0234\u00a0567", "5"], [1234, 1234567, 5]),
        (["\u22120.802", "1.5", "\u22123"], [-0.802, 1.5, -3]),
        (["CHF 300.50", "CHF 1,992.98", "CHF -7"], [300.5, 1992.98, -7]),
        (["300 kg", "4.5 kg", "-2 kg"], [300, 4.5, -2]),
        (["(1,234.50)", "12.00", "(3)"], [-1234.5, 12, -3]),
        (["2020/01/05", "1970/01/03", "1970.01.02"], [18266, 2, 1]),
        (["#DIV/0!", "1.5", "."], [np.nan, 1.5, np.nan]),
    ],
)
def test_numbers_and_dates_of_other_programs_are_read(cells, values):
    text = "".join(f'"{cell}";{row}\n' for row, cell in enumerate(cells))
    table = table_of(f"a;b\n{text}", missing="mean")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rows, _, done = prepared_rows(pd.DataFrame({"a": cells, "b": [0, 1, 2]}))
    known = np.isfinite(values)
    for matrix, preparation in ((table.values, table.preparation), (rows, done)):
        scale = 1 if preparation is None or preparation.divisors is None else preparation.divisors[0]
        np.testing.assert_allclose(matrix[known, 0] * scale, np.array(values)[known], atol=1e-9)


NAMES = [["Room 1", "Room 2"], ["1_05", "2_06"], ["5 kg", "5 lb"], ["1B", "2B"], ["7 kg", "8"]]


@pytest.mark.parametrize("cells", NAMES)
def test_names_with_numbers_in_them_stay_words(cells):
    rows = "".join(f"{cell};{row % 3}.5\n" for row, cell in enumerate(cells * 4))
    try:
        assert "a" in table_of(f"a;b\n{rows}").preparation.categories
    except TableError as error:
        assert "is text" in str(error)


def test_two_columns_of_one_name_are_kept_apart(run):
    frame = pd.DataFrame(np.column_stack([X, GROUP]))
    frame.to_csv("t.csv", index=False, header=["a", "a", "b"])
    code, said = run("cluster", "t.csv", "-k", 3, "-o", "labels.csv", "--save", "m.skops")
    assert code == 0
    assert "column 2 of t.csv is called 'a' like another, and 'a (2)' here" in said
    assert run("predict", "m.skops", "t.csv", "-o", "again.csv")[0] == 0
    assert Path("again.csv").read_text() == Path("labels.csv").read_text()
    assert "it has a, a (2), b" in run("cluster", "t.csv", "--columns", "c")[1]
    pa.parquet.write_table(pa.table([X[:, 0], X[:, 1]], names=["a", "a"]), "t.parquet")
    code, said = run("cluster", "t.parquet", "-k", 3, "-o", "again.csv")
    assert code == 0
    assert "column 2 of t.parquet is called 'a' like another, and 'a (2)' here" in said


def test_a_separator_at_the_end_of_every_line_is_no_column():
    text = "a,b,\n" + "".join(f"{x},{y},\n" for x, y in X)
    assert table_of(text).columns == ["a", "b"]
    with pytest.raises(TableError, match="column 3 of 3 has no name"):
        table_of(text + "1,2,3\n")


def test_a_table_of_r_has_row_names_that_the_header_leaves_out():
    text = '"x" "y"\n' + "".join(f'"{row + 1}" {x} {y}\n' for row, (x, y) in enumerate(X))
    with pytest.raises(TableError, match=r"column 1 of 3 has no name .* such as 2-"):
        table_of(text, "t.txt")
    np.testing.assert_array_equal(table_of(text, "t.txt", columns=["2-"]).values, X)


@pytest.mark.parametrize("orient", ["columns", "split", "records", "index", "wrapped"])
def test_every_json_of_pandas_is_read(orient):
    frame = pd.DataFrame(X, columns=["x", "y"])
    if orient == "wrapped":
        text = json.dumps({"data": frame.to_dict(orient="records")})
    else:
        text = frame.to_json(orient=orient, double_precision=15)
    table = table_of(text, "t.json")
    assert table.columns == ["x", "y"]
    np.testing.assert_allclose(table.values, X)


def test_dates_of_new_rows_are_read_in_the_order_of_the_fit():
    days = pd.to_datetime("2020-01-01") + pd.to_timedelta(GROUP * 100 + np.arange(90), unit="D")
    frame = pd.DataFrame({"day": days.strftime("%m/%d/%Y"), "x": X[:, 0]})
    first = table_of(frame.to_csv(index=False))
    assert "read as month/day/year" in " ".join(first.notices)
    new = frame[frame.day.str.slice(3, 5).astype(int) <= 12]
    again = table_of(new.to_csv(index=False), like=first.preparation)
    np.testing.assert_array_equal(again.values, first.values[new.index])
    with pytest.raises(TableError, match=r"'31/12/2020'.*month/day/year"):
        table_of("day,x\n31/12/2020,1\n", like=first.preparation)


def test_an_empty_list_of_columns_is_named(run):
    Path("t.csv").write_text("x,y\n1,2\n3,4\n")
    assert "--columns names no column" in run("cluster", "t.csv", "--columns", "")[1]


def test_an_empty_column_can_be_dropped_as_the_message_says(run):
    Path("t.csv").write_text("x,y\n" + "".join(f"{x},\n" for x in X[:, 0]))
    code, said = run("cluster", "t.csv", "-k", 3)
    assert code == 2
    assert "column 'y' has no values at all" in said
    assert "--drop y" in said
    assert run("cluster", "t.csv", "-k", 3, "--drop", "y", "-o", "labels.csv")[0] == 0


MODELS = [
    EvenCut(3, random_state=0),
    KernelClustering(3, random_state=0),
    LandmarkClustering(3, n_landmarks=40, random_state=0),
]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_a_row_of_a_frame_with_a_gap_is_predicted_from_the_rows_of_the_fit(model):
    frame = pd.DataFrame(X, columns=["x", "y"])
    labels = model.fit(frame).labels_
    new = frame.iloc[[0, 40, 80]].copy()
    new.loc[new.index[1], "x"] = np.nan
    with pytest.warns(UserWarning, match="1 missing value in 1 of 3 rows was filled from the nearest rows"):
        predicted = model.predict(new)
    np.testing.assert_array_equal(predicted, labels[[0, 40, 80]])


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_words_where_numbers_were_fitted_are_refused(model):
    frame = pd.DataFrame(X, columns=["x", "y"])
    model.fit(frame)
    with pytest.raises(ValueError, match=r"'x'.*'many'"):
        model.predict(frame.iloc[:4].assign(x="many"))


def test_masked_values_are_missing():
    masked = np.ma.masked_where(np.arange(180).reshape(90, 2) == 7, X)
    gaps = np.where(masked.mask, np.nan, X)
    with pytest.warns(UserWarning, match="1 missing value"):
        labels = EvenCut(3, random_state=0).fit(masked).labels_
    with pytest.warns(UserWarning, match="1 missing value"):
        np.testing.assert_array_equal(labels, EvenCut(3, random_state=0).fit(gaps).labels_)
