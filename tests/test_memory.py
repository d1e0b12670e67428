"""Clusters keep their number when data are clustered again, and what has changed is reported."""

import numpy as np
import pytest

import evencut
from evencut import EvenCut, KernelClustering, match

CENTRES = np.array([[0.0, 0.0], [10.0, 0.0], [0.0, 12.0], [14.0, 14.0], [-14.0, -4.0]])


def week(seed, sizes):
    rng = np.random.default_rng(seed)
    X = np.vstack([rng.normal(size=(n, 2)) + centre for n, centre in zip(sizes, CENTRES)])
    order = rng.permutation(len(X))
    return X[order], np.repeat(np.arange(len(sizes)), sizes)[order]


def kinds(changes):
    return sorted(change.kind for change in changes.changes)


def number_of(labels, truth, k):
    """The label of most rows of a true class."""
    return int(np.bincount(labels[truth == k]).argmax())


# ---- match -----------------------------------------------------------------------------------------------------


def test_equal_partitions_are_kept_whatever_their_names():
    before = np.repeat(["a", "b", "c"], 20)
    after = np.repeat([2, 0, 1], 20)
    changes = match(before, after)
    assert kinds(changes) == ["kept"] * 3
    assert changes.same == {2: "a", 0: "b", 1: "c"}


def test_split_merged_born_and_gone_are_told_with_counts():
    before = np.r_[np.zeros(50), np.ones(30), np.full(30, 2), np.full(20, -1), np.full(10, 3)].astype(int)
    after = np.r_[np.zeros(30), np.full(20, 1), np.full(60, 2), np.full(20, 7), np.full(10, -1)].astype(int)
    changes = match(before, after)
    split, merged = changes.of_kind("split")[0], changes.of_kind("merged")[0]
    assert (split.before, split.after, split.n_before, split.n_after, split.n_common) == ([0], [0, 1], 50, 50, 50)
    assert (merged.before, merged.after, merged.n_before, merged.n_after) == ([1, 2], [2], 60, 60)
    assert [change.after for change in changes.of_kind("born")] == [[7]]
    assert [change.before for change in changes.of_kind("gone")] == [[3]]
    assert changes.same == {0: 0, 2: 1}
    assert "split" in str(changes) and "born" in str(changes)
    assert changes.to_dict()["changes"][0]["kind"] in {"split", "merged", "born", "gone"}


def test_only_rows_in_both_labellings_are_compared():
    pd = pytest.importorskip("pandas")
    before = pd.Series([0, 0, 0, 1, 1, 1], index=list("abcdef"))
    after = pd.Series([5, 5, 9, 9, 9], index=list("fedba"))
    changes = match(before, after)
    assert changes.same == {5: 1, 9: 0}
    missing = match([0.0, 0.0, np.nan, 1.0], [3.0, 3.0, 3.0, np.nan])
    assert missing.same == {3: 0}
    assert [change.before for change in missing.of_kind("gone")] == [[1]]


def test_missing_labels_of_pandas_are_rows_that_are_not_in_a_labelling():
    pandas = pytest.importorskip("pandas")
    for kind, labels in (("Int64", [0, 0, 1, None, 1, -1]), ("string", ["a", "a", "b", None, "b", "-1"])):
        changes = evencut.match(pandas.Series(labels, dtype=kind), pandas.Series([5, 5, 4, 4, 4, 4]))
        assert [change.kind for change in changes.changes] == ["kept", "kept"]
        assert [change.n_before for change in changes.changes] == [2, 2]


def test_growth_is_told_from_chance():
    before, after = np.r_[np.zeros(500), np.ones(500)], np.r_[np.zeros(500), np.ones(500)]
    assert kinds(match(before, after)) == ["kept", "kept"]
    after[300:500] = 1
    assert kinds(match(before, after)) == ["grown", "shrunk"]
    few = match([0] * 5 + [1] * 5, [0] * 4 + [1] * 6)
    assert kinds(few) == ["kept", "kept"]


def test_labels_of_other_lengths_are_refused():
    with pytest.raises(ValueError, match="before has 3 labels and after has 2"):
        match([0, 1, 1], [0, 1])


# ---- refit -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("estimator", [EvenCut(3, random_state=0), KernelClustering(3, kernel="knn", random_state=0)])
@pytest.mark.parametrize("keeps_old_rows", [False, True])
def test_clusters_keep_their_number_when_sizes_change(estimator, keeps_old_rows):
    X1, y1 = week(0, (100, 60, 40))
    X2, y2 = week(1, (40, 60, 120))
    model = estimator.fit(X1)
    first = [number_of(model.labels_, y1, k) for k in range(3)]
    X, y = (np.vstack([X2, X1]), np.r_[y2, y1]) if keeps_old_rows else (X2, y2)
    model.refit(X)
    assert [number_of(model.labels_, y, k) for k in range(3)] == first
    assert set(kinds(model.changes_)) <= {"kept", "grown", "shrunk"}
    assert np.array_equal(model.predict(X), model.labels_)


def test_births_and_deaths_are_found_and_numbers_are_not_used_again():
    X1, y1 = week(0, (100, 80, 60))
    model = EvenCut(random_state=0).fit(X1)
    number = [number_of(model.labels_, y1, k) for k in range(3)]
    X2, y2 = week(1, (100, 0, 60, 70))  # the second is gone, a fourth is born
    model.refit(X2)
    assert number_of(model.labels_, y2, 0) == number[0]
    assert number_of(model.labels_, y2, 2) == number[2]
    assert number_of(model.labels_, y2, 3) == 3
    assert [change.before for change in model.changes_.of_kind("gone")] == [[number[1]]]
    assert [change.after for change in model.changes_.of_kind("born")] == [[3]]
    assert sorted(model.cluster_ids_) == sorted({number[0], number[2], 3})
    proba = model.predict_proba(X2)
    assert np.mean(model.cluster_ids_[proba.argmax(axis=1)] == model.labels_) > 0.99
    assert model.probabilities_.min() > 0.5
    assert set(np.unique(model.predict(X2, noise=0.5))) <= {-1, *model.cluster_ids_.tolist()}
    X3, y3 = week(2, (100, 0, 60, 70, 50))
    model.refit(X3)
    assert number_of(model.labels_, y3, 3) == 3
    assert number_of(model.labels_, y3, 4) == 4
    assert model.cut(2).max() <= 4


def test_a_cluster_that_is_gone_is_not_called_merged_for_a_few_strays():
    rng = np.random.default_rng(0)
    first, other, gone = rng.normal(size=(300, 2)), rng.normal(size=(100, 2)) - 12, rng.normal(size=(150, 2)) + [4.5, 0]
    model = EvenCut(3, random_state=0).fit(np.vstack([first, other, gone]))
    number = int(model.predict([[4.5, 0.0]])[0])
    week2 = np.vstack([rng.normal(size=(300, 2)), rng.normal(size=(100, 2)) - 12])
    assert 0 < np.sum(model.predict(week2) == number) < 15
    model.set_params(n_clusters=2).refit(week2)
    assert [change.before for change in model.changes_.of_kind("gone")] == [[number]]
    assert not model.changes_.of_kind("merged")


def test_names_given_once_are_carried_on():
    X1, y1 = week(0, (80, 80))
    names = np.array(["left", "right"], dtype=object)[y1]
    names[10:] = None
    model = EvenCut(2, random_state=0).fit(X1, names)
    X2, y2 = week(1, (60, 90, 70))
    model.set_params(n_clusters=3).refit(X2)
    found = [str(model.classes_[number_of(model.labels_, y2, k)]) for k in range(3)]
    assert found == ["left", "right", "new 2"]


def test_a_new_fit_forgets():
    X1, _ = week(0, (100, 80, 60))
    model = EvenCut(random_state=0).fit(X1).refit(week(1, (100, 0, 60))[0])
    model.fit(X1)
    assert model.cluster_ids_.tolist() == [0, 1, 2]
    assert not hasattr(model, "changes_")


def test_the_number_found_changes_only_with_evidence():
    rng = np.random.default_rng(0)
    one = rng.normal(size=(300, 2))
    two = np.vstack([one, rng.normal(size=(200, 2)) + 9])
    model = EvenCut(random_state=0).fit(two)
    assert model.n_clusters_ == 2
    again = np.vstack([rng.normal(size=(300, 2)), rng.normal(size=(200, 2)) + 9])
    assert model.refit(again).n_clusters_ == 2
    three = np.vstack([again, rng.normal(size=(150, 2)) - 9])
    assert model.refit(three).n_clusters_ == 3
    assert model.refit(again).n_clusters_ == 2


def test_a_saved_model_remembers(tmp_path):
    pytest.importorskip("skops")
    X1, _ = week(0, (100, 80, 60))
    model = EvenCut(random_state=0).fit(X1).refit(week(1, (100, 0, 60, 50))[0])
    evencut.save(model, tmp_path / "model.skops")
    loaded = evencut.load(tmp_path / "model.skops")
    X3, _ = week(2, (100, 0, 60, 50))
    assert np.array_equal(loaded.predict(X3), model.predict(X3))
    assert np.array_equal(loaded.refit(X3).labels_, model.refit(X3).labels_)


def test_a_refit_that_fails_leaves_the_model_as_it_was():
    X1, _ = week(0, (60, 60))
    model = EvenCut(2, random_state=0).fit(X1)
    labels = model.labels_.copy()
    with pytest.raises(ValueError):
        model.refit(np.full((5, 2), np.nan))
    with pytest.raises(ValueError):
        model.refit(X1[:1])
    assert np.array_equal(model.labels_, labels)
    with pytest.raises(ValueError, match="refit needs points"):
        KernelClustering(2, kernel="precomputed").fit(np.kron(np.eye(2), np.ones((5, 5)))).refit(np.eye(4))


# ---- the command -----------------------------------------------------------------------------------------------


def test_the_command_clusters_like_last_week(tmp_path, monkeypatch, capsys):
    pytest.importorskip("skops")
    from evencut.cli import main

    def run(*arguments):
        with pytest.raises(SystemExit) as stopped:
            main(list(arguments))
        return stopped.value.code

    monkeypatch.chdir(tmp_path)
    (X1, y1), (X2, y2) = week(0, (100, 80, 60)), week(1, (60, 0, 90, 50))
    for name, X in (("week1.csv", X1), ("week2.csv", X2)):
        np.savetxt(name, X, delimiter=",", header="a,b", comments="")
    assert run("cluster", "week1.csv", "-o", "one.csv", "--save", "week1.skops") == 0
    capsys.readouterr()
    assert run("cluster", "week2.csv", "--like", "week1.skops", "-o", "two.csv", "--save", "week2.skops") == 0
    told = capsys.readouterr().err
    assert "born" in told and "gone" in told
    first = np.loadtxt("one.csv", skiprows=1, delimiter=",", dtype=int).reshape(len(X1), -1)[:, -1]
    second = np.loadtxt("two.csv", skiprows=1, delimiter=",", dtype=int).reshape(len(X2), -1)[:, -1]
    for k in (0, 2):
        assert number_of(first, y1, k) == number_of(second, y2, k)
    assert number_of(second, y2, 3) == 3
    assert run("cluster", "week2.csv", "--like", "week1.skops", "--kernel", "knn") != 0
    assert "--kernel does not go with --like" in capsys.readouterr().err
