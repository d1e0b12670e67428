"""Topics: the terms of a cluster are those frequent inside and rare outside, from sparse or dense rows."""

import numpy as np
import pytest
from scipy import sparse

from evencut.text import Topic, describe

COUNTS = np.array([[2, 0, 1, 0], [3, 0, 1, 0], [0, 4, 1, 0], [0, 2, 1, 1]])
TERMS = ["apple", "car", "the", "rare"]


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array, sparse.csc_matrix])
def test_terms_tell_clusters_apart(kind):
    fruit, cars = describe(["f", "f", "c", "c"], kind(COUNTS), TERMS)[::-1]
    assert fruit == Topic("f", 2, ("apple",), (2.5,))
    assert cars.terms == ("car", "rare")
    assert cars.weights == (3.0, 0.5)
    assert str(fruit) == "f: 2 documents: apple"


def test_noise_is_no_topic_but_counts_as_outside():
    (only,) = describe([0, 0, -1, -1], COUNTS, TERMS, n_terms=1)
    assert only.terms == ("apple",)


def test_one_cluster_is_described_by_its_own_terms():
    (all_of_them,) = describe(np.zeros(4, int), COUNTS, TERMS, n_terms=2)
    assert all_of_them.terms == ("car", "apple")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0, 1], COUNTS, TERMS), r"labels have shape \(2,\), but there are 4 documents"),
        (([0, 1, 0, 1], COUNTS, TERMS[:2]), "2 terms are given for 4 columns"),
    ],
)
def test_wrong_shapes_are_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        describe(*arguments)


def test_a_wrong_number_of_terms_is_named():
    with pytest.raises(ValueError, match="n_terms=0 must be at least 1"):
        describe([0, 1, 0, 1], COUNTS, TERMS, n_terms=0)
