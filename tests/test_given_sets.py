"""The benchmarks of the default: what they read, change and count."""

import gzip
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

ROOT = Path(__file__).parents[1]
if not (ROOT / "benchmarks").is_dir():
    pytest.skip("the benchmarks are not part of this copy of the project", allow_module_level=True)

from benchmarks import ablation, confidence, given_sets, real, steady  # noqa: E402


@pytest.fixture
def folder(tmp_path):
    rng = np.random.default_rng(0)
    for name in ("clustering/one", "tables", "real/text", "mixed"):
        (tmp_path / name).mkdir(parents=True)
    y = np.arange(60) % 3
    X = rng.normal(size=(60, 2)) + 9 * np.column_stack([y == 1, y == 2])
    for name, values in {"data": X, "labels0": y + 1, "labels1": np.maximum(y, 1) - 1}.items():
        with gzip.open(tmp_path / "clustering" / "one" / f"set.{name}.gz", "wt") as file:
            np.savetxt(file, values, fmt="%d" if name != "data" else "%.6f")
    np.savez(tmp_path / "tables" / "small.npz", X=X, y=y)
    np.savez(tmp_path / "real" / "text" / "vectors.npz", X=X + 3, y=np.column_stack([y, y == 0]))
    pd.DataFrame({"a": X[:, 0], "word": np.where(y == 1, "x", "z"), "class": y}).to_csv(
        tmp_path / "mixed" / "table.csv", index=False
    )
    return tmp_path


def test_every_group_is_read_and_thinned(folder):
    found = {place.group: given_sets.read(place, most=40) for place in given_sets.places(folder)}
    assert list(found) == ["drawn", "tables", "standardised", "text", "mixed"]
    assert all(len(given.X) == 40 and len(given.references[0]) == 40 for given in found.values())
    assert len(found["drawn"].references) == 2
    assert found["drawn"].references[1].min() == -1
    assert found["text"].metric == "cosine"
    assert np.allclose(np.linalg.norm(found["text"].X, axis=1), 1)
    assert list(found["mixed"].X.columns) == ["a", "word"]


def test_the_best_reference_is_scored(folder):
    place = given_sets.places(folder, ["drawn"])[0]
    found = given_sets.fit(given_sets.read(place))
    assert (found.n_classes, found.n_clusters) == (3, 3)
    assert found.index > 0.95


def test_changes_of_separated_clusters_change_nothing(folder):
    place = given_sets.places(folder, ["tables"])[0]
    found = steady.trials(place, "given", 100)
    assert [trial.change for trial in found] == list(steady.CHANGES)
    assert min(trial.index for trial in found) == 1
    assert "| all | 1.000 | 1.00, small | 0 |" in steady.table(found, "given")


def test_a_worse_answer_is_named():
    place = given_sets.Place("tables", Path("wine.npz"))
    found = [steady.Trial(place, "float32", 0.5, False), steady.Trial(place, "times 7.3", 1.0, True)]
    lines = steady.table(found, "auto")
    assert "| float32 | 0.500 | 0.50, wine | 1: wine | 0% |" in lines
    assert "| all | 0.750 | 0.50, wine | 1 | 50% |" in lines


def test_peers_get_words_as_columns_of_0_and_1_and_failures_count_0(folder, monkeypatch):
    place = given_sets.places(folder, ["mixed"])[0]
    rows = real.rows_of(given_sets.read(place))
    assert rows.shape == (60, 3)
    assert set(np.unique(rows[:, 1:])) == {0.0, 1.0}

    def fails(given, k):
        raise ValueError

    monkeypatch.setitem(real.METHODS, "Leiden", (fails, "sklearn", False))
    tasks = [(place, "given", "k-means"), (place, "found", "k-means"), (place, "found", "Leiden")]
    outcomes = [real.measure(task, 2000, 60) for task in tasks]
    assert (outcomes[2].index, outcomes[2].trouble) == (0.0, "ValueError")
    methods = ["k-means", "Leiden"]
    assert "ValueError |" in real.section("mixed", outcomes, methods)
    assert "| Leiden | - | 0.000 | 0% |" in real.summary(outcomes, methods)
    assert "not installed" in real.head(["mixed"], ["k-means"], 2000, 60) or "not run" in real.head(
        ["mixed"], ["k-means"], 2000, 60
    )


def test_a_slow_method_is_given_up(folder, monkeypatch):
    def slow(given, k):
        while True:
            pass

    monkeypatch.setitem(real.METHODS, "k-means", (slow, "sklearn", True))
    outcome = real.measure((given_sets.places(folder, ["tables"])[0], "given", "k-means"), 2000, 1)
    assert outcome.trouble == "too slow"


def test_a_constant_is_changed_everywhere_and_set_back():
    modules = {module.__name__.rsplit(".", 1)[1]: module for module in ablation.modules()}
    known = ablation.constants()
    assert {"propose.PLANE", "number.MIN_GAIN", "vote.POWER", "graphs.SMOOTHING_STEPS"} <= set(known)
    with ablation.set_to("PLANE", 9.0):
        assert modules["propose"].PLANE == 9.0
        assert modules["propose"].centre_weight(8.0) == 0
    assert modules["propose"].PLANE == known["propose.PLANE"]


def test_the_largest_change_of_a_group_is_shown():
    place = given_sets.Place("text", Path("a.npz"))
    results = {
        ablation.Task("vote.POWER", factor, place): ablation.Scores(given, found)
        for factor, given, found in ((1.0, 0.5, 0.5), (0.5, 0.5, 0.25), (2.0, 0.75, 0.5))
    }
    now = ablation.group_means("vote.POWER", 1.0, ["text"], results)
    line = ablation.row("vote.POWER", ["text"], results, now)
    assert "| 0.500 | 0.250 | text, found: -0.250 | 0.750 | 0.500 | text, given: +0.250 |" in line


def test_confidence_is_compared_in_ten_bins():
    rng = np.random.default_rng(0)
    measured = [("tables", value, value - 0.1) for value in rng.random(200)]
    assert confidence.table(measured)[-1] == "Mean difference of confidence and index over the 10 bins: 0.100."
