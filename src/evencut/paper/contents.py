"""What there is to reproduce: every figure, table, theorem, lemma, example and equation, and what makes it here."""

from __future__ import annotations

from .equation_table import N_EQUATIONS

__all__ = ["CONTENTS", "NEED_DATA", "UNTESTED", "heading_of"]

#: Every numbered item of the paper, in its order, with the names under which `evencut reproduce` makes it.
CONTENTS: dict[str, tuple[str, ...]] = {
    "Figure 1": ("fig1",),
    "Figure 2": ("fig2",),
    "Theorem 1": ("breiman",),
    "Theorem 2": ("breiman",),
    "Lemma 1": ("breiman",),
    "Lemma 2": ("breiman",),
    "Figure 3": ("labelme",),
    "Figure 4": ("weights",),
    "Figure 5": ("sigma",),
    "Example 1": ("riemann",),
    "Example 2": ("adaptive",),
    "Example 3": ("adaptive",),
    "Figure 6": ("riemann",),
    "Theorem 3": ("riemann", "mds"),
    "Figure 7": ("nash",),
    "Figure 8": ("grabcut",),
    "Table 1": ("table1", "photo_bandwidth", "photo_weight"),
    "Figure 9": ("ncut", "pairs"),
    "Figure 10": ("inversion",),
    "Figure 11": ("inversion",),
    **{f"Equation {number}": ("equations",) for number in range(1, N_EQUATIONS + 1)},
}

#: What is made from the data folder.
NEED_DATA = ("labelme", "grabcut", "table1", "photo_bandwidth", "photo_weight")

#: Sentences of the paper that nothing here decides: where, what it says, and why.
UNTESTED: tuple[tuple[str, str, str], ...] = (
    (
        "Section 1.1",
        "Kernel clustering has only a weak relation to mean-shift.",
        "How weak is not said, so that no number would decide it.",
    ),
    (
        "Section 1.2.1",
        "Gamma, Gibbs and other distributions can be the models of probabilistic k-means.",
        "Gaussians and histograms are made here; the others would need the same two functions.",
    ),
    (
        "Figure 3",
        "The numbers of the paper's own features.",
        "Its network and its choice of categories are not told; other features are judged in their place.",
    ),
    (
        "Section 5.1",
        "Local scaling was suggested for another problem of normalised cut with uneven data.",
        "The problem is that of another paper.",
    ),
    (
        "Footnote 6",
        "K-means is a common heuristic after spectral relaxation.",
        "It is a remark on the literature; evencut's own starts are made so.",
    ),
    ("Section 7", "Understanding these limits will matter across disciplines.", "It is an expectation."),
)


def heading_of(name: str) -> str:
    """The items that a name makes, in words.

    Examples
    --------
    >>> heading_of("breiman")
    'Theorem 1, Theorem 2, Lemma 1, Lemma 2'
    """
    if name == "equations":
        return f"Equations 1 to {N_EQUATIONS}"
    return ", ".join(item for item, names in CONTENTS.items() if name in names)
