"""Answers beside labels: are probabilities calibrated, outliers found, cuts of the tree good, pairs and words of use?

    python -m benchmarks answers --data DIR

DIR holds `clustering/` and `tables/` as the other benchmarks have them; without it only tables of scikit-learn are
used.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from sklearn.cluster import HDBSCAN, AgglomerativeClustering, KMeans
from sklearn.metrics import adjusted_rand_score, roc_auc_score
from sklearn.mixture import GaussianMixture
from sklearn.neighbors import LocalOutlierFactor
from threadpoolctl import threadpool_limits

from evencut import EvenCut, LandmarkClustering

from .answers_sets import Set, drawn, is_right, mixed, tables, with_outliers
from .records import publish

_BINS = 10
_FOUR = ("iris", "wine", "breast cancer", "digits")


def by_evencut(X: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Labels, and the probability of each."""
    model = EvenCut(k, random_state=0).fit(X)
    return model.labels_, model.probabilities_


def by_mixture(X: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """The same of a mixture of Gaussians."""
    model = GaussianMixture(k, random_state=0).fit(X)
    return model.predict(X), model.predict_proba(X).max(axis=1)


def by_hdbscan(X: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """The same of HDBSCAN, which finds its own number; noise has probability 0."""
    model = HDBSCAN(min_cluster_size=max(5, len(X) // 50), copy=True).fit(X)
    return model.labels_, model.probabilities_


SURE: dict[str, Callable] = {"evencut": by_evencut, "GaussianMixture": by_mixture, "HDBSCAN": by_hdbscan}


def calibration(groups: dict[str, list[Set]]) -> str:
    """Expected calibration error over all rows of a group, each set counting alike, and the curve."""
    lines = ["# Answers beside labels", "", "## Are probabilities calibrated?", ""]
    lines += [
        "A label is correct if its cluster is matched to the row's class, clusters and classes matched one to one. The "
        "expected error is the mean difference between probability and share of right labels, over ten bins of all "
        "rows of a group, each set with the same weight; beside it the mean over single sets, and the area under the "
        "ROC curve of finding right labels, over the sets that have wrong ones.",
        "",
        "| method | " + " | ".join(f"{name}: error | one set | area" for name in groups) + " |",
        "|---" * (1 + 3 * len(groups)) + "|",
    ]
    curves, single = {}, {}
    for method, sure in SURE.items():
        cells = []
        for group, sets in groups.items():
            found = [(name, *_judged(sure, X, truth)) for name, X, truth in sets]
            error, curve = _pooled([(p, right) for _, p, right in found])
            alone = [_pooled([(p, right)])[0] for _, p, right in found]
            areas = [_area(right, p) for _, p, right in found]
            cells += [f"{error:.3f}", f"{np.mean(alone):.3f}", f"{np.nanmean(areas):.3f}"]
            curves[method, group] = curve
            single.update({(method, name): area for (name, *_), area in zip(found, areas)})
        lines.append(f"| {method} | " + " | ".join(cells) + " |")
    lines += ["", "The curve: share of right labels by probability, and the share of rows in each bin.", ""]
    lines += ["| probability | " + " | ".join(f"{m}, {g}" for m, g in curves) + " |", "|---" * (1 + len(curves)) + "|"]
    for b in range(_BINS):
        cells = [f"{curve[b][0]:.2f} ({curve[b][1]:.0%})" if curve[b][1] else "" for curve in curves.values()]
        lines.append(f"| {b / _BINS:.1f} to {(b + 1) / _BINS:.1f} | " + " | ".join(cells) + " |")
    lines += ["", "Area under the ROC curve of finding right labels:", ""]
    lines += ["| method | " + " | ".join(_FOUR) + " |", "|---" * 5 + "|"]
    lines += [f"| {m} | " + " | ".join(f"{single[m, name]:.3f}" for name in _FOUR) + " |" for m in SURE]
    return "\n".join([*lines, ""])


def _judged(sure: Callable, X: np.ndarray, truth: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    labels, probability = sure(X, len(np.unique(truth)))
    return probability, is_right(truth, labels) & (labels >= 0)


def _pooled(found: list[tuple[np.ndarray, np.ndarray]]) -> tuple[float, list[tuple[float, float]]]:
    p, right = (np.concatenate([pair[i] for pair in found]) for i in range(2))
    weight = np.concatenate([np.full(len(one), 1 / len(one) / len(found)) for one, _ in found])
    places = np.clip((p * _BINS).astype(int), 0, _BINS - 1)
    error, curve = 0.0, []
    for b in range(_BINS):
        here = places == b
        total = weight[here].sum()
        error += abs((weight[here] * (p[here] - right[here])).sum())
        curve.append((float((weight[here] * right[here]).sum() / total) if total else np.nan, float(total)))
    return float(error), curve


def _area(right: np.ndarray, p: np.ndarray) -> float:
    return np.nan if right.all() or not right.any() else float(roc_auc_score(right, p))


def outliers(groups: dict[str, list[Set]]) -> str:
    """Area under the ROC curve of finding rows that were planted."""
    scores: dict[str, Callable] = {
        "evencut": lambda X, k: EvenCut(k, random_state=0).fit(X).outlier_scores_,
        "LocalOutlierFactor, 20": lambda X, k: -LocalOutlierFactor(20).fit(X).negative_outlier_factor_,
    }
    try:
        import hdbscan

        scores["hdbscan (GLOSH)"] = lambda X, k: np.nan_to_num(
            hdbscan.HDBSCAN(min_cluster_size=10).fit(X).outlier_scores_
        )
    except ModuleNotFoundError as missing:
        print(f"left out: {missing}")
    lines = ["## Are outliers found?", "", "We planted 5 % outliers, uniform over a box 10 % wider than the points:"]
    lines += ["the area under the ROC curve of finding them, averaged over the sets.", ""]
    lines += ["| score | " + " | ".join(groups) + " |", "|---" * (1 + len(groups)) + "|"]
    for name, score in scores.items():
        cells = []
        for sets in groups.values():
            numbers = [len(np.unique(truth)) for _, _, truth in sets]
            found = [
                roc_auc_score(planted, score(X, k)) for (_, X, planted), k in zip(with_outliers(sets), numbers)
            ]
            cells.append(f"{np.mean(found):.3f}")
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join([*lines, ""])


def cuts(groups: dict[str, list[Set]]) -> str:
    """The tree of a fit with its own number, cut at the true one, beside a fit with that number."""
    lines = ["## Is a cut of the tree as good as a fit?", ""]
    lines += ["Fitted with `n_clusters='auto'`, cut at the true number:"]
    lines += ["mean adjusted Rand index beside a separate fit, and CPU seconds of all sets together.", ""]
    lines += ["| sets | separate fits | cut(k) | fits with auto | first tree_ | cut(k) |", "|---" * 6 + "|"]
    for group, sets in groups.items():
        scores, spent = [], np.zeros(3)
        for _, X, truth in sets:
            k = len(np.unique(truth))
            times = [time.process_time()]
            model = EvenCut(random_state=0).fit(X)
            times.append(time.process_time())
            leaves = len(model.tree_) + 1
            times.append(time.process_time())
            labels = model.cut(min(k, leaves))
            times.append(time.process_time())
            spent += np.diff(times)
            separate = EvenCut(k, random_state=0).fit(X).labels_
            scores.append((adjusted_rand_score(truth, separate), adjusted_rand_score(truth, labels)))
        one, other = np.mean(scores, axis=0)
        lines.append(
            f"| {group} | {one:.3f} | {other:.3f} | {spent[0]:.1f} s | {spent[1]:.1f} s | {spent[2]:.3f} s |"
        )
    return "\n".join([*lines, ""])


def pairs(sets: list[Set], n_draws: int = 10) -> str:
    """True pairs for 2 % of the rows: what they change."""
    lines = ["## Do pairs help?", "", "For 2 % of the rows one true pair each with a random other row:"]
    lines += [f"change of the adjusted Rand index, averaged over {n_draws} draws.", ""]
    lines += ["| table | without | change |", "|---|---|---|"]
    gains = []
    for name, X, truth in sets:
        k = len(np.unique(truth))
        before = adjusted_rand_score(truth, EvenCut(k, random_state=0).fit(X).labels_)
        changes = []
        for draw in range(n_draws):
            rng = np.random.default_rng(draw)
            rows = rng.permutation(len(X))[: max(2, len(X) // 50)]
            both = np.column_stack([rows, rng.integers(0, len(X), len(rows))])
            both = both[both[:, 0] != both[:, 1]]
            same = truth[both[:, 0]] == truth[both[:, 1]]
            model = EvenCut(k, random_state=0).fit(X, must_link=both[same], cannot_link=both[~same])
            changes.append(adjusted_rand_score(truth, model.labels_) - before)
        gains.append(np.mean(changes))
        lines.append(f"| {name} | {before:.3f} | {gains[-1]:+.4f} |")
    # Gains are skewed, most small and some large: the tables are drawn anew, no normal law is assumed.
    drawn = np.random.default_rng(0).choice(gains, (10_000, len(gains))).mean(axis=1)
    low, high = np.quantile(drawn, [0.025, 0.975])
    lines += ["", f"Mean change {np.mean(gains):+.4f}, 95 % interval {low:+.4f} to {high:+.4f} (bootstrap over the "
              f"tables); median {np.median(gains):+.4f}, the worst table {np.min(gains):+.4f}."]  # fmt: skip
    return "\n".join([*lines, ""])


def words(sets: list[Set], n_draws: int = 3) -> str:
    """Tables with words, beside what people do with them."""
    import pandas as pd

    methods: dict[str, Callable] = {
        "evencut": lambda frame, k: EvenCut(k, random_state=0).fit(frame).labels_,
        "one-hot + k-means": lambda frame, k: KMeans(k, n_init=10, random_state=0).fit_predict(_one_hot(frame)),
        "Gower + Ward": lambda frame, k: _gower_ward(frame, k),
    }
    try:
        from kmodes.kprototypes import KPrototypes

        methods["k-prototypes"] = lambda frame, k: KPrototypes(k, random_state=0, n_init=3).fit_predict(
            _standard(frame).to_numpy(),
            categorical=[i for i, name in enumerate(frame) if not pd.api.types.is_numeric_dtype(frame[name])],
        )
    except ModuleNotFoundError as missing:
        print(f"left out: {missing}")
    lines = ["## Tables with words", "", "Half of the columns, drawn anew three times, became words (the quarters of"]
    lines += ["their values under names): mean adjusted Rand index.", ""]
    lines += ["| table | " + " | ".join(methods) + " |", "|---" * (1 + len(methods)) + "|"]
    scores: dict[str, list[list[float]]] = {}
    for draw in range(n_draws):
        for name, columns, truth in mixed(sets, draw):
            frame, k = pd.DataFrame(columns), len(np.unique(truth))
            found = [float(adjusted_rand_score(truth, method(frame, k))) for method in methods.values()]
            scores.setdefault(name, []).append(found)
    means = {name: np.mean(found, axis=0) for name, found in scores.items()}
    means["mean"] = np.mean(list(means.values()), axis=0)
    lines += [f"| {name} | " + " | ".join(f"{value:.3f}" for value in found) + " |" for name, found in means.items()]
    return "\n".join([*lines, ""])


def _standard(frame):
    import pandas as pd

    numbers = [name for name in frame if pd.api.types.is_numeric_dtype(frame[name])]
    return frame.assign(**{name: (frame[name] - frame[name].mean()) / frame[name].std() for name in numbers})


def _one_hot(frame):
    import pandas as pd

    return pd.get_dummies(_standard(frame)).to_numpy(dtype=float)


def _gower_ward(frame, k: int) -> np.ndarray:
    import pandas as pd

    parts = []
    for name in frame:
        values = frame[name].to_numpy()
        if pd.api.types.is_numeric_dtype(frame[name]):
            parts.append(np.abs(values[:, None] - values) / np.ptp(values))
        else:
            parts.append((values[:, None] != values).astype(float))
    distances = np.mean(parts, axis=0)
    # Ward asks for coordinates: those of classical scaling.
    centred = -0.5 * (distances**2 - (distances**2).mean(axis=0))
    centred -= centred.mean(axis=1, keepdims=True)
    values, vectors = np.linalg.eigh(centred)
    kept = values > 1e-6 * values[-1]
    return AgglomerativeClustering(k).fit_predict(vectors[:, kept] * np.sqrt(values[kept]))


def streams(n_rows: int) -> str:
    """Batches of a stream beside one fit on all rows."""
    from .data import worms

    X, _ = worms(n_rows, random_state=0)
    options = {"n_clusters": 35, "n_landmarks": 1000, "random_state": 0}
    n_batches = 20
    lines = ["## Streams", "", f"{n_rows} rows in {n_batches} batches, in two orders: rows with the label of one"]
    lines += ["fit to all rows, and what the model keeps between batches.", ""]
    lines += ["| order | same labels as one fit | kept |", "|---|---|---|"]
    at_once = LandmarkClustering(**options).fit(X).labels_
    for name, order in (("as given", np.arange(n_rows)), ("shuffled", np.random.default_rng(1).permutation(n_rows))):
        model, sizes = LandmarkClustering(**options), []
        for batch in np.array_split(order, n_batches):
            model.partial_fit(X[batch])
            sizes.append(model.stream_.nbytes)
        same = float(np.mean(model.predict(X) == at_once))
        kept = f"{sizes[0] / 2**20:.1f} to {max(sizes) / 2**20:.1f} MiB"
        lines.append(f"| {name} | {same:.2%} | {kept} |")
    return "\n".join([*lines, ""])


SECTIONS = ("calibration", "outliers", "cuts", "pairs", "words", "streams")


def main(arguments: list[str] | None = None) -> None:
    """Measure the sections asked for and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=os.environ.get("EVENCUT_DATA"), help="folder of the sets")
    parser.add_argument("--section", choices=SECTIONS, action="append", help="what to measure [all]")
    parser.add_argument("--rows", type=int, default=1_000_000, help="of the stream")
    options = parser.parse_args(arguments)
    data = None if options.data is None else Path(options.data)
    groups = {"drawn sets": drawn(data), "tables": tables(data)}
    groups = {name: sets for name, sets in groups.items() if sets}
    some = groups["tables"][:12]
    measured = {}
    with threadpool_limits(1):
        for section in options.section or SECTIONS:
            work: dict[str, Callable[[], str]] = {
                "calibration": lambda: calibration(groups),
                "outliers": lambda: outliers(groups),
                "cuts": lambda: cuts(groups),
                "pairs": lambda: pairs(groups["tables"]),
                "words": lambda: words(some),
                "streams": lambda: streams(options.rows),
            }
            measured[section] = work[section]()
    print(publish("answers", measured))


if __name__ == "__main__":
    main()
