"""What a new user expects of a diagnosis: gaps are used, looks are paid for, one answer, and words that agree."""

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.datasets import load_diabetes

from evencut import EvenCut, KernelKMeans, bandwidth_sweep, diagnose
from evencut.datasets import make_clumped_moons
from evencut.kernels import Gaussian


@pytest.mark.parametrize(("n", "seed", "sigma"), [(300, 0, 0.3713), (400, 3, 0.25)])
def test_a_clustering_that_cuts_across_two_separate_pieces_is_not_ok(n, seed, sigma):
    X, _ = make_clumped_moons(n, clump=0.3, random_state=seed)
    labels = KernelKMeans(2, kernel=Gaussian(sigma), random_state=0).fit_predict(X)
    report = diagnose(X, labels)
    assert report.n_components == 2
    assert report.biased
    assert report.code


def test_a_gap_that_the_clustering_ignores_is_no_single_body():
    rng = np.random.default_rng(0)
    angle, radius = rng.uniform(0, 2 * np.pi, 700), np.sqrt(rng.uniform(0, 1, 700))
    radius[:250], radius[250:] = 0.3 * radius[:250], 0.6 + 0.4 * radius[250:]  # a dense disc within a sparse ring
    X = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
    report = diagnose(X, KMeans(2, n_init=3, random_state=0).fit_predict(X))
    assert report.biased
    assert report.code
    assert report.cures[0].n_bodies == 2


def texts(seed, sizes=(420, 260, 140, 60, 20)):
    """Means of word vectors: documents of topics that share most of their words, some of them rare."""
    rng = np.random.default_rng(seed)
    vectors, common = rng.normal(size=(800, 100)), rng.dirichlet(np.full(800, 0.1))
    rows = []
    for n_documents in sizes:
        topic = 0.6 * common + 0.4 * rng.dirichlet(np.full(800, 0.05))
        rows += [vectors[rng.choice(800, rng.integers(15, 80), p=topic)].mean(axis=0) for _ in range(n_documents)]
    X = np.array(rows)
    return X / np.linalg.norm(X, axis=1, keepdims=True), np.repeat(np.arange(len(sizes)), sizes)


@pytest.mark.parametrize("seed", [0, 1])
def test_true_topics_of_texts_are_not_called_biased(seed):
    X, topics = texts(seed)
    report = diagnose(X, topics)
    assert not report.biased
    assert report.verdict == "overlap"
    assert report.confidence < 0.7


def test_one_of_twelve_bandwidths_is_recommended_only_with_evidence_for_twelve():
    X, truth = make_clumped_moons(300, clump=0.3, random_state=0)
    sweep = bandwidth_sweep(X, 2, random_state=0)
    for row in sweep.rows:
        if row.bandwidth in sweep.working:
            assert row.p_value * len(sweep.rows) <= 0.05
            assert np.mean((row.labels == 0) == (truth == truth[row.labels == 0][0])) > 0.95
    noise = bandwidth_sweep(np.random.default_rng(0).normal(size=(200, 2)), 2, n_resamples=2, random_state=0)
    assert noise.best is None


def test_a_split_of_the_default_is_no_single_body_to_its_own_diagnosis():
    for draw in range(3):
        rng = np.random.default_rng(draw)
        X = np.vstack([rng.normal(size=(150, 4)), rng.normal(size=(150, 4)) + 2.5])
        model = EvenCut(2, random_state=0).fit(X)
        shown = model.evidence_[-1].adjusted <= 0.05
        assert model.diagnose().splits[-1].adjusted == pytest.approx(model.evidence_[-1].adjusted)
        assert not (shown and model.diagnose().verdict == "one body")


def test_a_number_that_the_default_finds_is_no_single_body_to_its_own_diagnosis():
    angle = np.random.default_rng(1).uniform(0, 3, 400)
    strand = 5 * np.column_stack([np.cos(angle), np.sin(angle)]) + 0.3 * np.random.default_rng(2).normal(size=(400, 2))
    models = [EvenCut(random_state=0).fit(X) for X in (load_diabetes().data, strand)]
    for model in [model for model in models if model.n_clusters_ > 1]:
        report = model.diagnose()
        assert report.verdict != "one body"
        assert report.biased or "several methods agree" in report.advice or report.splits.is_real().any()
        assert {row.verdict for row in report.clusters} != {"one body"}
    one = np.random.default_rng(0).normal(size=(400, 3))
    assert diagnose(one, one[:, 0] > 0).verdict == "one body"


def test_one_confidence_is_told_and_the_words_are_plain():
    X = np.random.default_rng(0).normal(size=(500, 2))
    report = diagnose(X, X[:, 0] > 0)
    text = str(report)
    assert text.count("confidence") == 1
    assert "(100%)" not in text
    assert "q5" not in text and "denser than" in text
    model = EvenCut(2, random_state=0).fit(np.vstack([X, X + 9]))
    assert "given kernel" not in str(model.diagnose())


def test_names_of_rows_are_not_called_unrelated_clusters():
    X = np.random.default_rng(0).normal(size=(50, 2))
    with pytest.raises(ValueError, match="names of rows"):
        diagnose(X, np.arange(50))
