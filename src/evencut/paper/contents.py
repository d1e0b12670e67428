"""What there is to reproduce: every figure, table, theorem, lemma, example and equation, and what makes it here."""

from __future__ import annotations

from .equation_table import N_EQUATIONS

__all__ = ["CONTENTS", "heading_of"]

#: Every numbered item of the paper, in its order, with the names under which `evencut reproduce` makes it.
CONTENTS: dict[str, tuple[str, ...]] = {
    "Figure 1": ("fig1",),
    "Figure 2": ("fig2",),
    "Theorem 1": ("breiman",),
    "Theorem 2": ("breiman", "clusters"),
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
    "Table 1": ("table1",),
    "Figure 9": ("ncut", "pairs"),
    "Figure 10": ("inversion",),
    "Figure 11": ("inversion",),
    **{f"Equation {number}": ("equations",) for number in range(1, N_EQUATIONS + 1)},
}


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
