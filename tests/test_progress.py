"""Long fits: progress where asked for, and an estimator that is fitted or not, never in between."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from evencut import EvenCut, KernelClustering, KernelKMeans, NormalizedCut
from evencut.kernels import KNN

X = np.random.default_rng(0).normal(size=(120, 2))


class Interrupted(KNN):
    """A kernel during which the user presses Ctrl-C."""

    def affinity(self, X, *, n_jobs=None):
        raise KeyboardInterrupt


@pytest.mark.parametrize("estimator", [KernelClustering, KernelKMeans, NormalizedCut])
def test_an_interrupted_fit_leaves_nothing_behind(estimator):
    model = estimator(3, kernel=KNN(5), random_state=0).fit(X)
    parameters = model.get_params()
    model.set_params(kernel=Interrupted(5))
    with pytest.raises(KeyboardInterrupt):
        model.fit(X)
    with pytest.raises(NotFittedError):
        check_is_fitted(model)
    with pytest.raises(NotFittedError):
        model.predict(X)
    assert not [name for name in vars(model) if name.endswith("_")]
    assert model.set_params(kernel=parameters["kernel"]).fit(X).labels_.shape == (120,)


def test_a_failed_fit_leaves_nothing_behind():
    model = KernelClustering(1000, kernel=KNN(5), random_state=0)
    with pytest.raises(ValueError, match="n_clusters"):
        model.fit(X)
    with pytest.raises(NotFittedError):
        check_is_fitted(model)


def test_progress_is_told_a_line_a_step(capsys):
    NormalizedCut(3, kernel=KNN(5), random_state=0, verbose=1).fit(X)
    told = capsys.readouterr()
    assert told.out == ""
    lines = told.err.splitlines()
    assert [line.split("]")[1].split("(")[0].strip() for line in lines] == [
        "1/3 neighbours and affinity",
        "2/3 clusters",
        "3/3 summary",
        "done",
    ]


@pytest.mark.parametrize(
    ("n_clusters", "names"),
    [
        ("auto", ["neighbours", "number of clusters", "partitions", "summary"]),
        (2, ["neighbours", "partitions", "summary"]),
    ],
)
def test_progress_moves_while_partitions_are_compared(capsys, n_clusters, names):
    """What takes most of the time is reported in steps, and these only go forward."""
    points = np.concatenate([np.random.default_rng(0).normal(size=(100, 4)) + place for place in (0, 6)])
    EvenCut(n_clusters, random_state=0, verbose=1).fit(points)
    *lines, last = capsys.readouterr().err.splitlines()
    steps = [line.split("]")[1].split("(")[0].strip().split(" ", 1) for line in lines]
    numbers = [int(number.split("/")[0]) for number, _ in steps]
    assert "done" in last
    assert numbers == sorted(set(numbers)) and numbers[-1] == 20
    assert list(dict.fromkeys(name for _, name in steps)) == names
    longest = names[-3] if n_clusters == "auto" else "partitions"
    assert [name for _, name in steps].count(longest) >= (6 if n_clusters == "auto" else 2)


def test_a_terminal_gets_a_bar_that_moves(capsys, monkeypatch):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    NormalizedCut(3, kernel=KNN(5), random_state=0, verbose=1).fit(X)
    told = capsys.readouterr().err
    assert told.count("\r") == 4
    assert told.count("\n") == 1
    assert f"[{'#' * 20}] done" in told


def test_silence_by_default(capsys):
    NormalizedCut(3, kernel=KNN(5), random_state=0).fit(X)
    assert capsys.readouterr().err == ""


def test_many_new_points_are_labelled_in_blocks(monkeypatch):
    model = NormalizedCut(3, kernel=KNN(5), random_state=0).fit(X)
    new = np.random.default_rng(1).normal(size=(9000, 2))
    whole = model.predict(new)
    monkeypatch.setattr("evencut.estimators.model._ROWS_PER_BLOCK", 64)
    assert np.array_equal(model.predict(new), whole)
    assert np.array_equal(np.concatenate([model.predict(part) for part in np.array_split(new, 7)]), whole)


def test_a_warning_points_at_the_line_of_the_user():
    X = np.random.default_rng(0).normal(size=(40, 2))
    X[0, 0] = np.nan
    with pytest.warns(UserWarning) as told:
        KernelKMeans(2, random_state=0).fit(X)
    assert told[0].filename == __file__
