"""`evencut diagnose`: its exit codes, every kind of file of labels, and one line for a mistake."""

import html
import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from sklearn.cluster import KMeans

from evencut.cli import main
from evencut.datasets import make_clumped_moons
from evencut.diagnosis import describe


@pytest.fixture(scope="module")
def moons():
    X, y = make_clumped_moons(300, clump=0.5, random_state=0)
    return X, y, KMeans(2, n_init=5, random_state=0).fit_predict(X)


@pytest.fixture
def run(capsys, monkeypatch, tmp_path, moons):
    """Run `evencut diagnose` in a folder that holds points.csv; gives exit code, output and messages."""
    monkeypatch.chdir(tmp_path)
    np.savetxt("points.csv", moons[0], delimiter=",", header="x,y", comments="")

    def run(*arguments):
        with pytest.raises(SystemExit) as left:
            main(["diagnose", *map(str, arguments)])
        captured = capsys.readouterr()
        return left.value.code, captured.out, captured.err

    return run


def write_labels(name, labels):
    suffix = name.rsplit(".", 1)[1]
    if suffix == "npy":
        np.save(name, labels)
    elif suffix == "npz":
        np.savez(name, labels=labels)
    elif suffix == "parquet":
        pa.parquet.write_table(pa.table({"label": labels}), name)
    else:
        head = "label\n" if suffix == "csv" else ""
        with open(name, "w", encoding="utf-8") as file:
            file.write(head + "\n".join(map(str, labels)) + "\n")


@pytest.mark.parametrize("name", ["l.csv", "l.txt", "l.npy", "l.npz", "l.parquet"])
def test_exit_codes_say_whether_it_is_biased(run, moons, name):
    _, y, k_means = moons
    write_labels(name, y)
    code, out, _ = run("points.csv", name)
    assert (code, out.splitlines()[0]) == (0, "ok: no density bias found")
    write_labels(name, k_means)
    code, out, _ = run("points.csv", name)
    assert code == 1
    assert out.startswith("biased: equal sizes")


@pytest.mark.parametrize("name", ["l.csv", "l.npy", "l.parquet"])
def test_words_as_labels(run, moons, name):
    write_labels(name, np.array(["upper moon", "lower"])[moons[1]])
    code, out, _ = run("points.csv", name)
    assert code == 0
    assert "upper moon" in out


def test_noise_in_a_csv_of_labels(run, moons):
    labels = moons[1].copy()
    labels[:20] = -1
    write_labels("l.csv", labels)
    code, out, _ = run("points.csv", "l.csv")
    assert code == 0
    assert "20 noise points" in out


def test_html_and_json(run, moons):
    write_labels("l.csv", moons[2])
    code, out, err = run("points.csv", "l.csv", "--html", "report.html", "--json")
    assert code == 1
    assert json.loads(out)["verdict"] == "equal sizes"
    assert "wrote report.html" in err
    with open("report.html", encoding="utf-8") as file:
        page = file.read()
    assert "<svg" in page
    X, labels = moons[0], np.asarray(moons[2])
    told = describe(X, labels, names=["x", "y"])
    assert "What each cluster is" in page
    for cluster in told.clusters:
        assert ", ".join(map(str, cluster.typical)) in page
        assert all(html.escape(str(effect)) in page for effect in cluster.effects)


def test_html_describes_words_and_labels_of_the_same_file(run, moons):
    with open("homes.csv", "w") as file:
        file.write("x,y,city,label\n")
        file.writelines(f"{x},{y},{'Rome' if k else 'Bonn'},{k}\n" for (x, y), k in zip(moons[0], moons[1]))
    code, _, err = run("homes.csv", "--html", "report.html")
    assert code in (0, 1), err
    with open("report.html", encoding="utf-8") as file:
        page = file.read()
    assert "city is Rome in 100% (others 0%)" in page and "label higher" not in page


def test_one_body_is_no_bias_but_unrelated_labels_are_no_pass(run):
    X = np.random.default_rng(0).normal(size=(300, 2))
    np.savetxt("points.csv", X, delimiter=",")
    halves = (X[:, 0] > 0).astype(int)
    write_labels("l.csv", halves)
    code, out, _ = run("points.csv", "l.csv", "--no-header")
    assert code == 0
    assert out.startswith("one body: no split has a valley of the density, so that clusters 0, 1 may be")
    assert "Nothing that was tried helps" in out
    write_labels("l.csv", np.random.default_rng(1).permutation(halves))
    code, out, _ = run("points.csv", "l.csv", "--no-header")
    assert code == 1
    assert out.startswith("unrelated: these labels have nothing to do with the points")


def test_exit_codes_are_in_the_help(run):
    code, out, _ = run("--help")
    assert code == 0
    text = " ".join(out.split())
    assert "Exit codes: 0, no bias was found" in text
    assert "1, the clustering is biased, or its labels are unrelated to the points; 2, invalid input" in text


def test_measurements_as_labels_cost_one_line(run, moons):
    write_labels("l.csv", moons[0][:, 0])
    code, out, err = run("points.csv", "l.csv")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "not a whole number" in err


def test_the_cure_that_was_tried_is_told(run, moons):
    write_labels("l.csv", moons[2])
    _, out, _ = run("points.csv", "l.csv")
    assert "Tried EvenCut(n_clusters=2, random_state=0): it moves the borders of clusters 0, 1 into a valley" in out
    code, out, _ = run("points.csv", "l.csv", "--json")
    (cure,) = json.loads(out)["cures"]
    assert code == 1
    assert cure["offered"] is True
    assert cure["after"] < cure["before"]


def test_a_column_among_others(run, moons):
    with open("l.csv", "w", encoding="utf-8") as file:
        file.write("id;cluster\n" + "\n".join(f"{i};{k}" for i, k in enumerate(moons[1])))
    assert run("points.csv", "l.csv", "--label-column", "cluster")[0] == 0
    assert run("points.csv", "l.csv", "--label-column", "2")[0] == 0


@pytest.mark.parametrize(
    ("labels", "options", "message"),
    [
        ("0\n1\n", [], "holds 2 labels, but there are 300 points"),
        ("", [], "is empty"),
        ("0\n" * 300, [], "hold 1 cluster"),
        ("a,b\n" + "0,1\n" * 300, [], "say which holds the labels with --label-column"),
        ("a,b\n" + "0,1\n" * 300, ["--label-column", "c"], "--label-column c is not in"),
        ("a,b\n0,1\n2\n" + "0,1\n" * 298, ["--label-column", "b"], "line 3 has 1 value, but line 1 has 2"),
        ("a,b\n0,1\n2,\n" + "0,1\n" * 298, ["--label-column", "b"], "row 2 has no label"),
        ("0\n1\n" * 150, ["--html", "missing/report.html"], "folder"),
        ("0\n1\n" * 150, ["--html", "l.csv"], "both the labels and the html"),
        ("0\n1\n" * 150, ["--columns", "z"], "z"),
    ],
)
def test_a_mistake_costs_one_line(run, labels, options, message):
    with open("l.csv", "w", encoding="utf-8") as file:
        file.write(labels)
    code, out, err = run("points.csv", "l.csv", *options)
    assert code == 2
    assert out == ""
    assert err.count("\n") == 1
    assert message in err


def test_missing_and_mixed_up_files(run):
    code, _, err = run("points.csv", "absent.csv")
    assert (code, "does not exist" in err) == (2, True)
    code, _, err = run("-", "-")
    assert (code, "both come from standard input" in err) == (2, True)
    np.save("table.npy", np.zeros((300, 2)))
    code, _, err = run("points.csv", "table.npy")
    assert (code, "has shape (300, 2)" in err) == (2, True)
    with open("broken.npy", "wb") as file:
        file.write(b"no array")
    code, _, err = run("points.csv", "broken.npy")
    assert (code, "not a NumPy file" in err) == (2, True)
