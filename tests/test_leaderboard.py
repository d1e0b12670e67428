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
    for name, number, X, y in benchmarks("families").draws(4):
        assert set(np.unique(y)) - {0} == set(range(1, y.max() + 1)), name
        assert y.max() >= 2, name
        assert len(X) == len(y), name
        if number % 2:
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
