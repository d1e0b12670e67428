"""The results of all figures as one small table, and the page of the documentation that is made from it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from .contents import CONTENTS, NEED_DATA, UNTESTED, heading_of
from .equation_table import equations
from .frame import OURS, Figure

__all__ = ["claims_about", "page_of", "results_of"]

_MARKS = {"pass": "pass", "fail": "**fail**", "not tested": "*not tested*"}
_TEST = "tests/test_paper.py"
_TERMS = {"none": "none", "length": "Euclidean length", "contrast": "contrast-sensitive"}


def results_of(figures: Sequence[Figure], skipped: Sequence[tuple[str, str]] = ()) -> dict[str, Any]:
    """Claims and verdicts of all figures, without the numbers behind the pictures; of Table 1 with its cells.

    Parameters
    ----------
    figures : sequence of Figure
    skipped : sequence of (name, reason)
        What was not made.

    Examples
    --------
    >>> results_of([], [("labelme", "needs data")])["skipped"]
    [['labelme', 'needs data']]
    """
    kept = []
    for figure in figures:
        told = figure.as_dict()
        numbers = told.pop("numbers")
        kept.append(told | ({"numbers": numbers} if figure.name == "table1" else {}))
    return {"figures": kept, "skipped": [list(pair) for pair in skipped]}


def page_of(results: dict[str, Any], pictures: dict[str, str]) -> str:
    """The body of the page, as Markdown.

    Parameters
    ----------
    results : dict
        From :func:`results_of`, or read from `results.json`.
    pictures : dict
        The path of each figure's picture, as seen from the page; those without one are told how to make it.

    Examples
    --------
    >>> "0 claims of the paper" in page_of({"figures": [], "skipped": []}, {})
    True
    """
    figures = results["figures"]
    parts = [_summary(figures), _contents(figures)]
    parts += [_section(figure, pictures.get(figure["name"])) for figure in figures if figure["name"] != "equations"]
    if results["skipped"]:
        parts.append("## Not made here\n\n" + _bullets(f"`{name}` {why}" for name, why in results["skipped"]))
    equation_figure = next((figure for figure in figures if figure["name"] == "equations"), None)
    if equation_figure is not None:
        parts.append(_equations(equation_figure, pictures.get("equations")))
    parts += [_untested(), _all_claims(figures)]
    return "\n\n".join(parts) + "\n"


def _summary(figures: list[dict[str, Any]]) -> str:
    claims = [claim for figure in figures for claim in figure["claims"]]
    lines = []
    for who, chosen in (
        ("of the paper", [c for c in claims if not c["says"].startswith(OURS)]),
        ("more that are not in the paper", [c for c in claims if c["says"].startswith(OURS)]),
    ):
        count = [f"{sum(c['verdict'] == verdict for c in chosen)} {verdict}" for verdict in _MARKS]
        lines.append(f"- {len(chosen)} claims {who}: {', '.join(count)}")
    return "\n".join(lines)


def _contents(figures: list[dict[str, Any]]) -> str:
    """Every numbered figure, table, theorem, lemma and example with the verdicts of its claims, and the equations."""
    made = {figure["name"] for figure in figures}
    rows = ["| item of the paper | made by | claims |", "|---|---|---|"]
    for item, names in CONTENTS.items():
        if item.startswith("Equation"):
            continue
        links = ", ".join(f"[`{name}`](#{_anchor(name)})" for name in names if name in made)
        rows.append(f"| {item} | {links or '-'} | {_counted(claims_about(item, figures)) or 'not made'} |")
    found = [claim for figure in figures if figure["name"] == "equations" for claim in figure["claims"]]
    if found:
        rows.append(f"| Equations 1 to {len(found)} | [`equations`](#{_anchor('equations')}) | {_counted(found)} |")
    return "\n".join(rows)


def claims_about(item: str, figures: list[dict[str, Any]]) -> list[dict[str, str]]:
    """The paper's claims about one numbered item: those that name it, and of its own figure those that name no other.

    Examples
    --------
    >>> claim = {"says": "a", "at": "Figure 1c"}
    >>> figures = [{"name": "dominant", "title": "Section 2.3", "claims": [claim]}]
    >>> claims_about("Figure 1", figures), claims_about("Figure 11", figures)
    ([{'says': 'a', 'at': 'Figure 1c'}], [])
    """
    named = re.compile(rf"{item}(?!\d)")
    found = []
    for figure in figures:
        own = bool(named.search(figure["title"]))
        for claim in figure["claims"]:
            is_elsewhere = claim["at"].split(" ")[0] in ("Figure", "Table", "Theorem", "Lemma", "Example")
            if named.match(claim["at"]) or (own and not is_elsewhere):
                found.append(claim)
    return [claim for claim in found if not claim["says"].startswith(OURS)]


def _counted(claims: list[dict[str, str]]) -> str:
    count = {verdict: sum(claim["verdict"] == verdict for claim in claims) for verdict in _MARKS}
    return ", ".join(f"{number} {_MARKS[verdict]}" for verdict, number in count.items() if number)


def _section(figure: dict[str, Any], picture: str | None) -> str:
    name = figure["name"]
    items = heading_of(name)
    lines = [f"({_anchor(name)})=", f"## {figure['title']}", ""]
    if items and items not in figure["title"]:
        lines += [f"Here: {items}.", ""]
    if picture:
        lines += [f"![{figure['title']}]({picture})", "", figure["caption"]]
    else:
        lines += [figure["caption"], "", "The picture shows photos that are not part of the project; this makes it:"]
    lines += ["", _line(name), ""]
    if name == "table1":
        lines += [_twelve_cells(figure["numbers"]), ""]
    return "\n".join([*lines, _claims(figure["claims"])])


def _line(name: str) -> str:
    data = " --data DIR" if name in NEED_DATA else ""
    return f"`evencut reproduce {name}{data}`"


def _claims(claims: list[dict[str, str]]) -> str:
    rows = ["| the paper claims | measured | verdict |", "|---|---|---|"]
    for claim in claims:
        where = f" ({claim['at']})" if claim["at"] else ""
        why = f" *Because {_cell(claim['why'])}.*" if claim["why"] else ""
        measured = f"{_cell(claim['measured'])}.{why}"
        rows.append(f"| {_cell(claim['says'])}{where} | {measured} | {_MARKS[claim['verdict']]} |")
    return "\n".join(rows)


def _twelve_cells(numbers: dict[str, Any]) -> str:
    """Table 1 beside the paper's."""
    from .table1 import CELLS

    rows = [
        f"Mean errors in percent on {numbers['photos']} photos; the paper's in brackets.",
        "",
        "| boundary term | Gaussian AA | Gaussian NC | KNN AA | KNN NC |",
        "|---|---|---|---|---|",
    ]
    for term, words in _TERMS.items():
        row = {" ".join(cell): paper for cell, paper in CELLS.items() if cell[2] == term}
        cells = [f"{numbers['mean'][cell]:.1f} [{paper:.1f}]" for cell, paper in row.items()]
        rows.append(f"| {words} | " + " | ".join(cells) + " |")
    return "\n".join(rows)


def _equations(figure: dict[str, Any], picture: str | None) -> str:
    """The table equation, function, test."""
    lines = [f"({_anchor('equations')})=", f"## {figure['title']}", ""]
    if picture:
        lines += [f"![{figure['title']}]({picture})", "", figure["caption"], ""]
    test = "`tests/test_paper_equations.py::test_equation[N]`"
    lines += [_line("equations"), "", f"Each is checked by {test} too, N its number.", ""]
    lines += ["| eq. | says | function | measured | verdict |", "|---|---|---|---|---|"]
    checked = {claim["at"]: claim for claim in figure["claims"]}
    for one in equations():
        claim = checked.get(f"eq. {one.number}")
        measured, verdict = (_cell(claim["measured"]), _MARKS[claim["verdict"]]) if claim else ("-", "not made")
        functions = ", ".join(f"`{name.removeprefix('evencut.')}`" for name in one.functions)
        lines.append(f"| {one.number} | {_cell(one.says)} | {functions} | {measured} | {verdict} |")
    return "\n".join(lines)


def _untested() -> str:
    rows = ["## What is not tested", "", "Sentences of the paper that nothing here decides, and why.", ""]
    return "\n".join([*rows, _bullets(f"{where}: {says} *{why}*" for where, says, why in UNTESTED)])


def _all_claims(figures: list[dict[str, Any]]) -> str:
    """Every claim with where it is tested."""
    rows = ["## Every claim and its test", "", "| where | claim | verdict | test |", "|---|---|---|---|"]
    for figure in figures:
        if figure["name"] == "equations":
            continue
        kind = "real_data_" if figure["name"] in NEED_DATA else ""
        test = f"`test_the_claims_{'on_' if kind else ''}{kind}hold[{figure['name']}]`"
        place = figure["title"].split(":")[0]
        for claim in figure["claims"]:
            rows.append(f"| {claim['at'] or place} | {_cell(claim['says'])} | {_MARKS[claim['verdict']]} | {test} |")
    rows.append("| eqs 1 to 68 | each of the table above | see there | `test_equation[N]` |")
    return "\n".join(rows) + f"\n\nThe tests are in `{_TEST}`, on smaller data where that takes minutes."


def _bullets(lines: Any) -> str:
    return "\n".join(f"- {line}" for line in lines)


def _anchor(name: str) -> str:
    return f"made-{name.replace('_', '-')}"


def _cell(text: str) -> str:
    """Text that does not end a cell of a table, nor begins emphasis or mathematics."""
    return text.rstrip(".").replace("|", "\\|").replace("*", "\\*").replace("$", "\\$").replace("_", "\\_")
