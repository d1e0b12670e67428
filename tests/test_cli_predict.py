"""`evencut cluster --save` and `evencut predict`: labels as by the model in memory, and no code from strangers."""

import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from evencut import EvenCut, KernelClustering, LandmarkClustering
from evencut.cli import main
from evencut.cli.outputs import load_model, save_model
from evencut.datasets import make_clumped_moons
from evencut.estimators.model_files import portable, portable_types
from evencut.io import Preparation

skops_io = pytest.importorskip("skops.io", reason='models are saved with skops: pip install "evencut[models]"')

X, Y = make_clumped_moons(150, random_state=0)
X.setflags(write=False)
NEW = X[::3] + 0.01
KERNELS = [None, "shared_neighbors", "knn", "gaussian", "adaptive_gaussian", "local_scaling", "geodesic"]


@pytest.fixture
def run(capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        with pytest.raises(SystemExit) as left:
            main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return left.value.code, captured.err

    return run


def write_csv(name, points, columns=("x", "y")):
    pd.DataFrame(points, columns=list(columns)).to_csv(name, index=False)


def labels_in(name="labels.csv"):
    return pd.read_csv(name)["label"].to_numpy()


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("options", [[], ["--standardize"], ["--equalize", "exact", "--standardize"]], ids=" ".join)
def test_a_saved_model_labels_as_the_fitted_one(run, kernel, options):
    exact = "--equalize" in options
    if kernel is None and exact:
        pytest.skip("the consensus has nothing to equalise")
    write_csv("p.csv", X)
    write_csv("new.csv", NEW)
    named = [] if kernel is None else ["--kernel", kernel]
    code, said = run("cluster", "p.csv", "-k", 2, "-o", "old.csv", *named, *options, "--save", "m.skops")
    assert code == 0, said
    assert "wrote old.csv and m.skops" in said
    code, said = run("predict", "m.skops", "new.csv", "-o", "labels.csv")
    assert code == 0, said
    model = KernelClustering(2, kernel=kernel, equalize="exact" if exact else None) if kernel else EvenCut(2)
    model.set_params(random_state=0, scale="standard" if options else "auto")
    np.testing.assert_array_equal(labels_in(), model.fit(X).predict(NEW))


def test_columns_are_found_by_name_or_place(run):
    write_csv("p.csv", X)
    assert run("cluster", "p.csv", "-k", 2, "-o", "old.csv", "--save", "m.skops")[0] == 0
    write_csv("new.csv", NEW)
    assert run("predict", "m.skops", "new.csv", "-o", "labels.csv")[0] == 0
    expected = labels_in()
    write_csv("turned.csv", np.column_stack([NEW[:, 1], np.arange(50), NEW[:, 0]]), ("y", "id", "x"))
    np.save("new.npy", NEW)
    np.savetxt("bare.txt", NEW, fmt="%.17g")
    pd.DataFrame(NEW, columns=["x", "y"]).to_parquet("new.parquet")
    for name in ("turned.csv", "new.npy", "bare.txt", "new.parquet"):
        code, said = run("predict", "m.skops", name, "-o", "labels.csv")
        assert code == 0, said
        np.testing.assert_array_equal(labels_in(), expected)
    write_csv("wrong.csv", NEW, ("x", "z"))
    code, said = run("predict", "m.skops", "wrong.csv")
    assert code == 2
    assert "wrong.csv has no column 'y', which the model was made from; it has x, z, and needs x, y" in said


def test_new_tables_are_read_as_the_old_one(run):
    city = np.array(["Rome", "Bonn", "Paris"])[np.arange(150) % 3]
    old = pd.DataFrame({"x": X[:, 0], "city": city, "y": X[:, 1]})
    old.loc[5, "y"] = np.nan
    old.to_csv("p.csv", index=False)
    code, said = run("cluster", "p.csv", "-k", 2, "-o", "old.csv", "--missing", "mean", "--save", "m.skops")
    assert code == 0, said
    new = pd.DataFrame({"x": NEW[:, 0], "city": "Bonn", "y": NEW[:, 1]})
    new.loc[0, "city"] = "Oslo"
    new.loc[1, "y"] = np.nan
    new.to_csv("new.csv", index=False)
    code, said = run("predict", "m.skops", "new.csv", "-o", "labels.csv", "--missing", "mean")
    assert code == 0, said
    assert "Oslo are new and belong to none of them" in said
    saved = load_model("m.skops")
    mean = X[:, 1].copy()
    mean = np.delete(mean, 5).mean()
    table = np.column_stack([NEW[:, 0], np.ones(50), np.zeros(50), np.zeros(50), NEW[:, 1]])
    table[0, 1], table[1, 4] = 0, mean
    # Beside words, all columns are brought to one scale.
    np.testing.assert_array_equal(labels_in(), saved.model.predict(table / np.array(saved.preparation.divisors)))
    assert run("predict", "m.skops", "new.csv", "-o", "labels.csv", "--missing", "drop")[0] == 0
    assert labels_in()[1] == -1
    assert (np.delete(labels_in(), 1) >= 0).all()


def test_predicted_labels_are_appended(run):
    write_csv("p.csv", X)
    assert run("cluster", "p.csv", "-k", 2, "-o", "old.csv", "--save", "m.skops")[0] == 0
    write_csv("new.csv", NEW)
    assert run("predict", "m.skops", "new.csv", "-o", "both.csv", "--append")[0] == 0
    both = pd.read_csv("both.csv")
    assert list(both.columns) == ["x", "y", "label"]
    assert len(both) == 50


@pytest.mark.parametrize("output", ["labels", "labels.npy"])
def test_a_model_of_many_files_is_saved(run, output):
    Path("data").mkdir()
    for part in range(2):
        pd.DataFrame(X[part::2], columns=["x", "y"]).to_parquet(f"data/{part}.parquet")
    how = ["-k", 2, "--landmarks", 40, "-o", output, "--save", "m.skops"]
    code, said = run("cluster", "data/*.parquet", *how)
    assert code == 0, said
    assert f"wrote {output} and m.skops" in said
    write_csv("new.csv", NEW[:, ::-1], ("y", "x"))
    code, said = run("predict", "m.skops", "new.csv", "-o", "labels.csv")
    assert code == 0, said
    rows = np.concatenate([X[0::2], X[1::2]])
    expected = LandmarkClustering(2, n_landmarks=40, random_state=0).fit(rows).predict(NEW)
    np.testing.assert_array_equal(labels_in(), expected)
    if output == "labels":
        code, said = run("cluster", "data/*.parquet", *how)
        assert code == 2
        assert "leave --save out" in said


def test_landmarks_are_saved_too(tmp_path):
    model = LandmarkClustering(2, n_landmarks=40, random_state=0).fit(X)
    save_model(str(tmp_path / "m.skops"), model, Preparation(("x", "y")))
    np.testing.assert_array_equal(load_model(str(tmp_path / "m.skops")).model.predict(NEW), model.predict(NEW))


def test_a_portable_model_leaves_the_fitted_one_alone():
    model = EvenCut(2, random_state=0).fit(X)
    before = model.predict(NEW)
    light = portable(model)
    assert not hasattr(light, "selection_")
    assert model.selection_ is not None
    assert model.affinity_.shape == (150, 150)
    np.testing.assert_array_equal(light.predict(NEW), before)
    assert all(isinstance(kind, type) for kind in portable_types())


class Stranger:
    """A type that no model holds."""


@pytest.mark.parametrize("what", ["type", "function"])
def test_what_no_model_holds_is_refused(run, what):
    strange = Stranger() if what == "type" else run_anything
    Path("evil.skops").write_bytes(skops_io.dumps({"format": 1, "model": strange}))
    write_csv("new.csv", NEW)
    code, said = run("predict", "evil.skops", "new.csv")
    assert code == 2
    assert "which no evencut model contains; it was not loaded" in said
    assert said.count("\n") == 1


def run_anything():
    """Stands for code somebody would like to run on another's machine."""
    raise AssertionError("this must never run")


@pytest.mark.parametrize("content", [b"", b"no archive", "zip", "other"])
def test_a_file_that_is_no_model_costs_one_line(run, content):
    if content == "zip":
        with zipfile.ZipFile("m.skops", "w") as archive:
            archive.writestr("schema.json", "{}")
    elif content == "other":
        Path("m.skops").write_bytes(skops_io.dumps({"something": 1}))
    else:
        Path("m.skops").write_bytes(content)
    write_csv("new.csv", NEW)
    code, said = run("predict", "m.skops", "new.csv")
    assert code == 2
    assert "is not a model" in said
    assert ("evencut cluster --save" in said) == isinstance(content, bytes)
    assert said.count("\n") == 1
    assert run("predict", "absent.skops", "new.csv")[0] == 2


def test_models_go_to_files_of_their_name(run):
    write_csv("p.csv", X)
    code, said = run("cluster", "p.csv", "-k", 2, "-o", "l.csv", "--save", "model.pickle")
    assert code == 2
    assert "its name must end in .skops" in said
    assert not Path("l.csv").exists()


def test_a_missing_library_is_named(run, monkeypatch):
    import sys

    write_csv("p.csv", X)
    monkeypatch.setitem(sys.modules, "skops", None)
    monkeypatch.setitem(sys.modules, "skops.io", None)
    code, said = run("cluster", "p.csv", "-k", 2, "-o", "l.csv", "--save", "m.skops")
    assert code == 2
    assert 'pip install "evencut[models]"' in said
    assert not Path("l.csv").exists()
