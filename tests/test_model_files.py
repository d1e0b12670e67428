"""Models saved and loaded from Python: data of known types, never code."""

import numpy as np
import pytest
import skops.io

import evencut
from evencut import DominantSets, EvenCut, KernelClustering, KernelKMeans, LandmarkClustering, ProbabilisticKMeans
from evencut.datasets import make_clumped_moons
from evencut.kernels import KERNELS, KNN

X, _ = make_clumped_moons(150, random_state=0)
NEW = X[::3] + 0.01
MODELS = [
    EvenCut(2, random_state=0),
    EvenCut(2, metric="manhattan", random_state=0),
    KernelKMeans(2, kernel="knn", equalize="exact", random_state=0),
    *(KernelClustering(2, kernel=name, random_state=0) for name in ("gaussian", "adaptive_gaussian", "local_scaling")),
    LandmarkClustering(2, n_landmarks=40, random_state=0),
    ProbabilisticKMeans(2, random_state=0),
    ProbabilisticKMeans(2, model="histogram", random_state=0),
]


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_a_loaded_model_answers_as_the_saved_one(model, tmp_path):
    path = tmp_path / "model.skops"
    evencut.save(model.fit(X), path)
    again = evencut.load(path)
    assert type(again) is type(model)
    np.testing.assert_array_equal(again.labels_, model.labels_)
    np.testing.assert_array_equal(again.predict(NEW), model.predict(NEW))
    for method in ("transform", "predict_proba"):
        if hasattr(model, method):
            np.testing.assert_allclose(getattr(again, method)(NEW), getattr(model, method)(NEW))
    assert [file.name for file in tmp_path.iterdir()] == ["model.skops"]


def test_dominant_sets_are_saved(tmp_path):
    model = DominantSets(2, random_state=0).fit([[0.0], [0.1], [0.2], [5.0], [5.1]])
    evencut.save(model, str(tmp_path / "m.skops"))
    np.testing.assert_array_equal(evencut.load(str(tmp_path / "m.skops")).labels_, model.labels_)


def test_files_of_the_command_are_loaded_and_predict_what_it_does(tmp_path, monkeypatch):
    from evencut.cli import main

    monkeypatch.chdir(tmp_path)
    units = np.array([1.0, 1000.0])
    for name, rows in (("p", X), ("new", NEW)):
        np.savetxt(f"{name}.csv", rows * units, delimiter=",", header="x,y", comments="")
    for name, more in (("plain", []), ("scaled", ["--standardize"])):
        for command in (
            ["cluster", "p.csv", "-k", "2", "-o", "l.csv", "--save", f"{name}.skops", *more],
            ["predict", f"{name}.skops", "new.csv", "-o", f"{name}.csv"],
        ):
            with pytest.raises(SystemExit) as left:
                main(command)
            assert left.value.code == 0
        told = np.loadtxt(f"{name}.csv", skiprows=1)
        new = np.loadtxt("new.csv", delimiter=",", skiprows=1)
        np.testing.assert_array_equal(evencut.load(f"{name}.skops").predict(new), told)


def test_the_command_says_what_a_model_of_python_lacks(tmp_path, monkeypatch, capsys):
    from evencut.cli import main

    monkeypatch.chdir(tmp_path)
    np.savetxt("p.csv", X, delimiter=",", header="x,y", comments="")
    evencut.save(EvenCut(2, random_state=0).fit(X), "m.skops")
    with pytest.raises(SystemExit) as left:
        main(["predict", "m.skops", "p.csv"])
    assert left.value.code == 2
    assert "load it in Python" in capsys.readouterr().err


class Mine(KNN):
    """A kernel of somebody's own."""


def test_code_is_neither_saved_nor_loaded(tmp_path, monkeypatch):
    path = tmp_path / "m.skops"
    with pytest.raises(TypeError, match=r"Mine, your own code, which a data file cannot hold"):
        evencut.save(KernelClustering(2, kernel=Mine(), random_state=0).fit(X), path)
    assert not path.exists()
    monkeypatch.setitem(KERNELS, "mine", Mine)
    evencut.save(KernelClustering(2, kernel=Mine(), random_state=0).fit(X), path)
    monkeypatch.delitem(KERNELS, "mine")
    with pytest.raises(ValueError, match=r"Mine, which no evencut model contains; it was not loaded"):
        evencut.load(path)


def test_other_files_are_named(tmp_path):
    path = tmp_path / "m.skops"
    with pytest.raises(ValueError, match="cannot read"):
        evencut.load(path)
    path.write_bytes(b"nothing")
    with pytest.raises(ValueError, match="is not a model that can be read"):
        evencut.load(path)
    path.write_bytes(skops.io.dumps({"weights": [1, 2]}))
    with pytest.raises(ValueError, match="is not a model that evencut has saved"):
        evencut.load(path)
    path.write_bytes(skops.io.dumps({"format": 9, "evencut": "9.0", "model": None}))
    with pytest.raises(ValueError, match=r"format 9.*use evencut 9\.0"):
        evencut.load(path)
    path.write_bytes(skops.io.dumps({"format": 2, "evencut": "0.1", "model": None}))
    with pytest.raises(ValueError, match=r"was saved by evencut 0\.1.*fit and save it again"):
        evencut.load(path)


def test_the_version_of_a_file_is_named_before_its_types(tmp_path):
    """A file of another version may hold types that are unknown here; only of this version are they suspicious."""
    path, minor = tmp_path / "m.skops", evencut.__version__.rpartition(".")[0]
    path.write_bytes(skops.io.dumps({"format": 2, "evencut": "0.1.0", "model": Mine()}))
    with pytest.raises(ValueError, match=r"was saved by evencut 0\.1\.0.*fit and save it again"):
        evencut.load(path)
    path.write_bytes(skops.io.dumps({"format": 2, "evencut": f"{minor}.99", "model": Mine()}))
    with pytest.raises(ValueError, match="no evencut model contains; it was not loaded"):
        evencut.load(path)
