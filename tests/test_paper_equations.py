"""The table of equations is the paper's: its numbers, all of them, functions that cite them, and checks that hold."""

import os
import re
from pathlib import Path
from pydoc import locate

import pytest

from reproduction import FIGURES
from reproduction.equation_table import N_EQUATIONS, Checked, differ, equations, exceed
from reproduction.results import items

SOURCE = Path(__file__).parents[1] / "src"
#: What a few equations are called in the paper's source, by their printed number.
LABELS = {
    1: "eq:gauss_k",
    2: "eq:kmeans",
    8: "eq:kKmeans3",
    9: "eq:AA",
    10: "eq:NC",
    15: "eq:Parzen_energy",
    17: "entropy_criterion",
    18: "eq:gini_criterion",
    20: "eq:cont gini criterion",
    32: "eq:gini:main",
    37: "eq:lim2",
    39: "eq:dset",
    42: "eq:wAA",
    48: "eq:non normalized adaptive",
    50: "eq:d tilde",
    57: "eq:density_transform",
    59: "eq:adaptive_sigma",
    61: "eq:knn bandwidth",
    66: "eq:density_transform_Amod_weights",
    68: "eq:clustering equivalence",
}
CITED = re.compile(r"\beqs?\.?\s+(\d+(?:(?:,\s+|\s+and\s+|\s+to\s+)\d+)*)")


def numbers_in(text):
    """The equations that a text cites: (eq. 9), (eqs 3, 4 and 7)."""
    found = set()
    for cited in CITED.findall(text):
        numbers = [int(n) for n in re.findall(r"\d+", cited)]
        found.update(range(numbers[0], numbers[-1] + 1) if " to " in cited else numbers)
    return found


def numbered(tex):
    """Labels of the numbered equations in their order; None where one has no label."""
    tex = re.sub(r"(?<!\\)%.*", "", tex)
    labels = []
    for name, body in re.findall(r"\\begin\{(equation|align)\}(.*?)\\end\{\1\}", tex, re.S):
        # Line breaks inside braces or inner environments do not begin a new row.
        body = re.sub(r"\\begin\{(cases|aligned)\}.*?\\end\{\1\}", "", body, flags=re.S)
        body = re.sub(r"\\parbox\{[^}]*\}\{[^}]*\}", "", body)
        for row in re.split(r"\\\\", body) if name == "align" else [body]:
            if r"\notag" not in row:
                label = re.search(r"\\label\{([^}]*)\}", row)
                labels.append(label[1] if label else None)
    return labels


@pytest.fixture(scope="session")
def tex(data_folder):
    path = Path(os.environ.get("EVENCUT_PAPER", data_folder.parent / "paper.tex"))
    if not path.is_file():
        pytest.skip("the paper's source is absent; name it with EVENCUT_PAPER")
    return path.read_text(encoding="utf-8")


def test_numbers_are_those_of_the_paper(tex):
    labels = numbered(tex)
    assert len(labels) == N_EQUATIONS
    assert {number: labels[number - 1] for number in LABELS} == LABELS


def test_figures_tables_and_theorems_are_all_listed(tex):
    kinds = {"Figure": r"figure\*?", "Table": "table", "Theorem": "theor", "Lemma": "lem", "Example": "example"}
    for name, begin in kinds.items():
        n_items = len(re.findall(rf"\\begin\{{{begin}\}}", tex))
        listed = {item for item in items() if item.startswith(f"{name} ")}
        assert {f"{name} {i}" for i in range(1, n_items + 1)} == listed


def test_every_item_is_made_by_something():
    assert {name for names in items().values() for name in names} <= set(FIGURES)


def test_every_equation_is_in_the_table_once():
    assert [one.number for one in equations()] == list(range(1, N_EQUATIONS + 1))


@pytest.mark.parametrize("one", equations(), ids=lambda one: one.number)
def test_equation(one):
    checked = one.check()
    assert checked.holds, checked
    assert one.functions
    for name in one.functions:
        assert one.number in numbers_in(locate(f"evencut.{name}").__doc__), f"{name} does not cite eq. {one.number}"


def test_equations_are_cited_by_number_alone():
    for path in [*SOURCE.rglob("*.py"), *(SOURCE.parent / "docs").glob("*.md")]:
        text = path.read_text(encoding="utf-8")
        named = re.findall(r"\beqs?\. +[A-Za-z][\w :=-]*", text)
        assert not named, f"{path} cites {named} by a name of the paper's source"
        assert numbers_in(text) <= set(range(1, N_EQUATIONS + 1)), path


def test_a_check_can_fail():
    assert not differ(1.0, 1.1).holds
    assert not exceed(2.0, 1.0).holds
    assert not Checked(0.2, 0.1, "error").holds
