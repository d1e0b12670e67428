"""The matrix of cures: what was kept can be measured again, and the pages say what it says."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))
from benchmarks import cures

CLUMP, STRAGGLERS = cures.BIASES


@pytest.fixture(scope="module")
def result():
    return cures.read()


def share(result, bias, kernel, cure):
    """How often a kernel works under a cure, by its reach."""
    asked = (bias, kernel, cure)
    return {
        row["reach"]: cures.works(row) for row in result["rows"] if (row["bias"], row["kernel"], row["cure"]) == asked
    }


def test_every_combination_was_measured(result):
    kept = [(row["bias"], row["kernel"], row["cure"], row["reach"]) for row in result["rows"]]
    assert kept == list(cures.cells())
    assert all(len(row["scores"]) == result["draws"] for row in result["rows"])


def test_the_page_is_that_of_the_kept_scores(result):
    page = (cures.HERE / "CURES.md").read_text(encoding="utf-8")
    title, rest = cures.page(result).strip().split("\n", 1)
    assert page.startswith(title) and rest in page


@pytest.mark.parametrize(
    ("bias", "kernel", "cure", "reach"),
    [
        (CLUMP, "Gaussian", None, 0.102),
        (CLUMP, "Gaussian", "exact", 0.102),
        (CLUMP, "KNN", None, 10),
        (STRAGGLERS, "Gaussian", "exact", 0.102),
        (STRAGGLERS, "LocalScaling", None, 7),
        (STRAGGLERS, "default", None, "auto"),
    ],
)
def test_a_score_can_be_measured_again(result, bias, kernel, cure, reach):
    row = next(
        r for r in result["rows"] if (r["bias"], r["kernel"], r["cure"], r["reach"]) == (bias, kernel, cure, reach)
    )
    assert cures.score(bias, kernel, cure, reach, 0, result["points"]) == pytest.approx(row["scores"][0], abs=0.02)


def test_the_page_of_cures_tells_what_was_measured(result):
    """The sentences of docs/cures.md, one by one."""
    assert not any(share(result, CLUMP, "Gaussian", None).values())
    for cure in ("weights", "exact"):
        good = [reach for reach, found in share(result, CLUMP, "Gaussian", cure).items() if found == 1]
        assert good and max(good) < 0.3
        assert sum(found == 1 for found in share(result, STRAGGLERS, "Gaussian", cure).values()) <= 1
    assert min(share(result, CLUMP, "Gaussian", "exact")) in good
    for bias in cures.BIASES:
        assert all(found == 1 for reach, found in share(result, bias, "KNN", None).items() if reach >= 10)
        assert share(result, bias, "default", None) == {"auto": 1}
    for kernel in ("LocalScaling", "AdaptiveGaussian", "SharedNeighbors"):
        assert 1 not in share(result, CLUMP, kernel, None).values()
        assert 1 in share(result, CLUMP, kernel, "exact").values()
    for cure in cures.CURES:
        assert 1 in share(result, STRAGGLERS, "LocalScaling", cure).values()
        assert 1 in share(result, STRAGGLERS, "SharedNeighbors", cure).values()
        works = [found == 1 for found in share(result, STRAGGLERS, "AdaptiveGaussian", cure).values()]
        assert any(works) == (cure is not None)
