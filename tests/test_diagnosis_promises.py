"""What a new user expects of a diagnosis: gaps are used, looks are paid for, one answer, and words that agree."""

import numpy as np
import pytest

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


def test_one_of_twelve_bandwidths_is_recommended_only_with_evidence_for_twelve():
    X, _ = make_clumped_moons(300, clump=0.3, random_state=0)
    sweep = bandwidth_sweep(X, 2, random_state=0)
    for row in sweep.rows:
        if row.bandwidth in sweep.working:
            assert row.p_value * len(sweep.rows) <= 0.05
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
