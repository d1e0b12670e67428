"""What a cluster is: columns by effect and direction, in the table's own units, for numbers, words and dates alike."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

from evencut import EvenCut, describe
from evencut.io import read_table


def homes(rng):
    group = np.arange(100) // 50
    frame = pd.DataFrame(
        {
            "noise": rng.normal(size=100),
            "rooms": 3 + 4 * group + rng.normal(size=100),
            "city": np.where(rng.random(100) < 0.9, np.where(group == 0, "Rome", "Bonn"), "Oslo"),
            "built": pd.to_datetime("1950-01-01") + pd.to_timedelta(9000 * group + rng.integers(0, 900, 100), unit="D"),
        }
    )
    frame.loc[3, "rooms"] = np.nan
    return frame, group


@pytest.mark.parametrize("kind", [lambda f: f, pl.from_pandas, pa.Table.from_pandas], ids=["pandas", "polars", "Arrow"])
def test_columns_are_ordered_by_effect_in_their_own_units(rng, kind):
    frame, group = homes(rng)
    old, new = describe(kind(frame), group).clusters
    assert [effect.column for effect in old.effects] == ["built", "rooms", "city"]
    rooms = new.effects[1]
    assert rooms.effect > 0 and rooms.inside == pytest.approx(frame.rooms[50:].mean())
    assert rooms.outside == pytest.approx(frame.rooms[:50].mean())
    assert old.effects[2].word == "Rome" and old.effects[2].inside == pytest.approx((frame.city[:50] == "Rome").mean())
    assert "built lower: 195" in str(old) and "rooms higher" in str(new)


def test_effects_are_the_formulas(rng):
    frame, group = homes(rng)
    frame = frame[["rooms", "city"]].drop(index=3)
    group = np.delete(group, 3)
    rooms, city = describe(frame, group).clusters[0].effects
    low, high = frame.rooms[group == 0], frame.rooms[group == 1]
    deviation = np.sqrt((len(low) * low.var(ddof=0) + len(high) * high.var(ddof=0)) / len(frame))
    assert rooms.effect == pytest.approx((low.mean() - high.mean()) / deviation)
    shares = [(frame.city[group == k] == "Rome").mean() for k in range(2)]
    assert city.effect == pytest.approx(2 * np.arcsin(np.sqrt(shares[0])) - 2 * np.arcsin(np.sqrt(shares[1])))


def test_arrays_sparse_rows_and_noise(rng):
    X = np.concatenate([rng.normal(size=(30, 2)), rng.normal(size=(30, 2)) + [9, 0], [[50.0, 50.0]]])
    labels = np.array(["a"] * 30 + ["b"] * 30 + ["c"])
    dense = describe(X, labels, names=["x", "y"])
    assert str(describe(sparse.csr_array(X), labels, names=["x", "y"])) == str(dense)
    numbers = describe(X, np.repeat([0, 1, -1], [30, 30, 1]))
    assert [cluster.label for cluster in numbers.clusters] == [0, 1]
    assert numbers.clusters[0].effects[0].column == "column 1" and numbers.clusters[0].share == pytest.approx(30 / 61)


def test_a_model_names_the_medoids_of_its_affinity(rng):
    X = np.concatenate([rng.normal(size=(400, 2)), rng.normal(size=(300, 2)) + [9, 0]])
    model = EvenCut(2, random_state=0).fit(X)
    large, small = model.describe(X, n_rows=2).clusters
    assert (large.size, small.size) == (400, 300)
    for cluster, centre in ((large, [0, 0]), (small, [9, 0])):
        assert len(cluster.typical) == 2
        assert (model.labels_[list(cluster.typical)] == cluster.label).all()
        assert np.linalg.norm(X[cluster.typical[0]] - centre) < 1.5


def test_a_frame_and_columns(rng):
    frame, group = homes(rng)
    table = describe(frame, group, n_columns=2).to_frame()
    assert list(table.columns) == ["cluster", "size", "column", "word", "effect", "inside", "outside"]
    assert table.cluster.tolist() == [0, 0, 1, 1] and table["size"].tolist() == [50] * 4


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"labels": [0, 1]}, r"labels have shape \(2,\), but there are 100 rows"),
        ({"n_columns": 0}, "n_columns=0 must be at least 1"),
        ({"names": ["a"]}, "names has 1 names for 4 columns"),
    ],
)
def test_bad_input_is_named(rng, options, message):
    frame, group = homes(rng)
    with pytest.raises(ValueError, match=message):
        describe(frame, **{"labels": group, **options})


def test_one_cluster_has_no_others_to_be_compared_with(rng):
    frame, _ = homes(rng)
    (cluster,) = describe(frame, np.zeros(len(frame), dtype=int)).clusters
    assert cluster.size == len(frame) and cluster.effects == ()
    assert "others" not in str(describe(frame, np.zeros(len(frame), dtype=int)))


def test_the_command_describes_a_file(rng, tmp_path, monkeypatch, capsys):
    from evencut.cli import main

    monkeypatch.chdir(tmp_path)
    frame, group = homes(rng)
    frame.assign(label=group).to_csv("homes.csv", index=False)
    for arguments in (["homes.csv"], ["homes.csv", "--output", "effects.csv", "--top", "2"]):
        with pytest.raises(SystemExit) as left:
            main(["describe", *arguments])
        assert left.value.code == 0
    out = capsys.readouterr().out
    assert "cluster 0: 50 rows (50%)" in out and "built lower: 195" in out and "noise" not in out
    assert pd.read_csv("effects.csv").column.tolist() == ["built", "rooms"] * 2
    with pytest.raises(SystemExit) as left:
        main(["describe", "homes.csv", "--label-column", "none"])
    assert left.value.code == 2 and "none" in capsys.readouterr().err
    assert read_table("effects.csv", columns=["effect"]).values.shape == (4, 1)


def test_labels_in_a_file_of_another_encoding_are_described(rng, tmp_path, monkeypatch, capsys):
    from evencut.cli import main

    monkeypatch.chdir(tmp_path)
    frame, group = homes(rng)
    frame.to_csv("homes.csv", index=False, encoding="latin-1")
    (tmp_path / "labels.csv").write_text("\n".join(["label", *np.array(["né", "où"])[group % 2]]), encoding="latin-1")
    with pytest.raises(SystemExit) as left:
        main(["describe", "homes.csv", "labels.csv", "--encoding", "latin-1"])
    assert left.value.code == 0 and "cluster né" in capsys.readouterr().out
