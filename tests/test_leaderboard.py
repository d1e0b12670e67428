"""The generated families are what they say, and the page of the leaderboard is made from a folder of data."""

import importlib
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parent.parent


@pytest.fixture
def benchmarks(monkeypatch):
    if not (ROOT / "benchmarks").is_dir():
        pytest.skip("the benchmarks are not part of this copy of the project")
    monkeypatch.syspath_prepend(str(ROOT))
    return lambda name: importlib.import_module(f"benchmarks.{name}")


def test_families_give_the_same_sets_twice_and_different_ones_each_time(benchmarks):
    families = benchmarks("families")
    first, second = (list(families.draws(2)) for _ in range(2))
    assert len(first) == 2 * len(families.FAMILIES)
    for (name, _, X, y), (_, _, X_again, y_again) in zip(first, second):
        assert (X == X_again).all(), name
        assert (y == y_again).all(), name
        assert np.isfinite(X).all(), name
    sizes = {len(X) for _, _, X, _ in first}
    assert len(sizes) > len(first) // 2


def test_labels_run_from_one_and_zero_is_noise(benchmarks):
    families = benchmarks("families")
    for name, number, X, y in families.draws(4):
        assert set(np.unique(y)) - {0} == set(range(1, y.max() + 1)), name
        assert y.max() >= 2, name
        assert len(X) == len(y), name
        if number % 2 and name not in families.NEVER_THINNED:
            assert len(X) <= max(100, 120 * y.max()), name


def test_reference_sets_are_read_and_scored_by_the_rules(benchmarks, tmp_path):
    leaderboard = benchmarks("leaderboard")
    rng = np.random.default_rng(0)
    X = np.r_[rng.normal(size=(40, 2)), rng.normal(size=(40, 2)) + 20]
    labels = np.repeat([1, 2], 40)
    labels[:5] = 0
    (tmp_path / "clustering" / "own").mkdir(parents=True)
    np.savetxt(tmp_path / "clustering" / "own" / "pair.data.gz", np.c_[X, np.ones(80)])
    np.savetxt(tmp_path / "clustering" / "own" / "pair.labels0.gz", labels, fmt="%d")
    np.savetxt(tmp_path / "clustering" / "own" / "pair.labels1.gz", rng.integers(1, 4, 80), fmt="%d")
    ((battery, name, points, references),) = leaderboard.reference_sets(tmp_path)
    assert (battery, name) == ("own", "pair")
    assert points.shape == (80, 2)
    assert points.std(ddof=1) == pytest.approx(1, rel=1e-3)
    told = []

    def right(points, k, seed):
        told.append(k)
        wrong_on_noise = np.repeat([0, 1], 40)
        wrong_on_noise[:5] = 1
        return wrong_on_noise

    score, _ = leaderboard.run(right, points, references, 0)
    assert score == 1
    assert told == [2, 3]


def test_intervals_hold_the_mean(benchmarks):
    values = np.random.default_rng(0).random(50)
    low, high = benchmarks("leaderboard").interval(values)
    assert low < values.mean() < high
    assert high - low == pytest.approx(2 * 1.96 * values.std() / np.sqrt(50), rel=0.1)


def test_collections_of_batteries_are_read_one_after_the_other(benchmarks, tmp_path):
    for part, battery in (("clustering", "one"), ("clustering2", "two")):
        folder = tmp_path / part / battery
        folder.mkdir(parents=True)
        np.savetxt(folder / "set.data.gz", np.random.default_rng(0).normal(size=(30, 2)))
        np.savetxt(folder / "set.labels0.gz", np.repeat([1, 2, 3], 10), fmt="%d")
    found = benchmarks("leaderboard").reference_sets(tmp_path)
    assert [battery for battery, *_ in found] == ["one", "two"]


def test_shapes_without_structure_are_as_large_as_they_are_said_to_be(benchmarks):
    structureless = benchmarks("structureless")
    for (name, X), (_, again) in zip(structureless.draws(3), structureless.draws(3)):
        assert 200 <= len(X) <= 5000, name
        assert (X.shape[1] == 1) == (name in ("line", "column")) and X.shape[1] <= 16, name
        assert (X == again).all(), name


def test_a_pair_is_told_apart_by_its_densities(benchmarks):
    pairs = benchmarks("pairs")
    X, truth, best = pairs.pair(9, 8.0, 4.0, 0)
    assert np.bincount(truth).tolist() == [900, 100]
    assert (truth == best).mean() > 0.99
    for name, labels in pairs.answers(X):
        assert labels.shape == (1000,), name


def test_a_jump_stands_out_from_the_trend(benchmarks):
    sizes = (10, 20, 40, 80, 160)
    even = benchmarks("sizes").over_trend(sizes, [1.0, 2.0, 4.0, 8.0, 16.0])
    assert even == pytest.approx([1.0] * 5)
    assert benchmarks("sizes").over_trend(sizes, [1.0, 2.0, 12.0, 8.0, 16.0])[2] == pytest.approx(3.0)


def test_times_add_up_by_collection(benchmarks):
    table = benchmarks("leaderboard").time_table(["one", "two", "one"], {"ours": np.array([1.0, 2.0, 0.5])})
    assert table[2:] == ["| one | 2 | 1.5 |", "| two | 1 | 2.0 |"]


def test_the_page_of_sizes_is_made_in_one_call(benchmarks, tmp_path, monkeypatch):
    sizes = benchmarks("sizes")
    monkeypatch.setattr(sizes, "SIZES", (1500, 2000, 2500))
    monkeypatch.setattr(sizes, "MILLION", 1500)
    records = benchmarks("records")
    monkeypatch.setattr(records, "HERE", tmp_path)
    # The list of pages of earlier versions is the repository's, too.
    monkeypatch.setattr(records, "_EARLIER", tmp_path / "earlier.toml")
    (tmp_path / "earlier.toml").touch()
    sizes.main(["--draws", "1", "--million", "2"])
    page = (tmp_path / "SIZES.md").read_text(encoding="utf-8")
    assert page.count("| 35 worms |") == page.count("| 100 blobs |") == 3
    assert "| evencut EvenCut | 2 |" in page
