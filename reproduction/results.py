"""The results of all figures as one table, and the pages of the documentation that are made from it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from .equation_table import N_EQUATIONS, equations
from .frame import TEXTS, UNTESTED, worst

#: The parts of the paper, a page each: what they are called.
PARTS = {
    "lowest": "Lower energies of average association are more biased",
    "bias": "Breiman's bias",
    "cures": "Adaptive weights and kernels",
    "photos": "Photos",
    "cuts": "Normalised cut, and one criterion for all",
    "equations": "The numbered equations",
}
_MARKS = {"pass": "pass", "fail": "**fail**", "not tested": "*not tested*"}
_TERMS = {"none": "none", "length": "Euclidean length", "contrast": "contrast-sensitive"}
# Whose numbers the pages tell.
_WITH_NUMBERS = ("table1", "lower_energies")

Results = dict[str, Any]


def results_of(figures: Sequence[Results], skipped: Sequence[tuple[str, str]] = ()) -> Results:
    """Claims and verdicts of all figures, without the numbers behind most pictures.

    Parameters
    ----------
    figures : sequence of dict
        From :meth:`reproduction.Figure.as_dict`.
    skipped : sequence of (name, reason)
        What was not made.

    Examples
    --------
    >>> results_of([], [("labelme", "needs data")])["skipped"]
    [['labelme', 'needs data']]
    """
    from evencut import __version__

    kept = [f if f["name"] in _WITH_NUMBERS else {k: v for k, v in f.items() if k != "numbers"} for f in figures]
    return {"version": __version__, "figures": kept, "skipped": [list(pair) for pair in skipped]}


def counts_of(figures: Sequence[Results]) -> dict[str, dict[str, int]]:
    """How many claims and equations pass, fail and are not tested; definitions, which cannot fail, apart.

    Examples
    --------
    >>> counts_of([])["claims of the paper, by Lloyd's steps"]
    {'pass': 0, 'fail': 0, 'not tested': 0}
    """
    claims = [claim for figure in figures if figure["name"] != "equations" for claim in figure["claims"]]
    paper = [claim for claim in claims if not claim["ours"]]
    defines = {f"eq. {one.number}": one.defines for one in equations()}
    checked = [claim for figure in figures if figure["name"] == "equations" for claim in figure["claims"]]
    groups = {
        "claims of the paper, by Lloyd's steps": [c["steps"] for c in paper],
        "of these judged twice, by Lloyd's steps": [c["steps"] for c in paper if c["lowest"]],
        "the same at the lowest energy found": [c["lowest"] for c in paper if c["lowest"]],
        "equations that state something": [c["steps"] for c in checked if not defines[c["at"]]],
        "findings of our own": [v for c in claims if c["ours"] for v in (c["steps"], c["lowest"]) if v],
    }
    return {name: {v: sum(one["verdict"] == v for one in of) for v in _MARKS} for name, of in groups.items()}


def items() -> dict[str, tuple[str, ...]]:
    """Every numbered item of the paper, and the names under which `python -m reproduction` makes it.

    Examples
    --------
    >>> items()["Figure 9"]
    ('ncut', 'pairs')
    """
    made: dict[str, tuple[str, ...]] = {}
    for name, text in TEXTS.items():
        for item in text.get("items", []):
            made[item] = (*made.get(item, ()), name)
    return made | {f"Equation {number}": ("equations",) for number in range(1, N_EQUATIONS + 1)}


def pages_of(results: Results, pictures: dict[str, str]) -> dict[str, str]:
    """The pages as Markdown: "body", which tells the outcome with the failures first, and one for each of `PARTS`.

    Parameters
    ----------
    results : dict
        From :func:`results_of`, or read from `results.json`.
    pictures : dict
        The path of each figure's picture, as seen from the pages; those without one are told how to make it.

    Examples
    --------
    >>> "| claims of the paper, by Lloyd's steps | 0 | 0 | 0 |" in pages_of(results_of([]), {})["body"]
    True
    """
    figures = results["figures"]
    parts = {part: [f for f in figures if TEXTS[f["name"]]["part"] == part] for part in PARTS}
    pages = {}
    for part, chosen in parts.items():
        sections = [_section(figure, pictures.get(figure["name"])) for figure in chosen]
        pages[part] = "\n\n".join([f"# {PARTS[part]}", _failures(chosen), *sections]) + "\n"
    skipped = [f"`{name}` {why}" for name, why in results["skipped"]]
    body = [
        f"Measured with evencut {results['version']}.",
        _headline(figures),
        "```{toctree}\n:maxdepth: 1\n\n" + "\n".join(f"reproduced/{part}" for part in PARTS) + "\n```",
        "## What does not hold",
        _failures(figures, "reproduced/") or "Everything holds.",
        "## Every figure, table, theorem, lemma and example",
        _contents(figures),
        "## What is not tested",
        "Statements of the paper that no measurement here decides, and why.",
        _bullets(f"{one['at']}: {one['says']} *{one['why']}*" for one in UNTESTED),
        *(["## Not made here", _bullets(skipped)] if skipped else []),
    ]
    pages["body"] = "\n\n".join(body) + "\n"
    return pages


def _headline(figures: list[Results]) -> str:
    rows = [" | ".join((name, *map(str, count.values()))) for name, count in counts_of(figures).items()]
    n_defined = sum(one.defines for one in equations())
    table = _table("what is judged | pass | fail | not tested", rows)
    told = "define terms and are not counted: only a mistake in evencut's own code could fail them."
    return f"{table}\n\nThe other {n_defined} equations {told}"


def _failures(figures: list[Results], folder: str = "") -> str:
    """Every claim with a verdict that is no pass, with both verdicts."""
    rows = []
    for figure in figures:
        where = f"[`{figure['name']}`]({folder}{TEXTS[figure['name']]['part']}.md#{_anchor(figure['name'])})"
        for claim in figure["claims"]:
            verdicts = [claim[key]["verdict"] if claim[key] else "" for key in ("steps", "lowest")]
            if worst(v for v in verdicts if v) != "pass":
                ours = "*ours:* " if claim["ours"] else ""
                rows.append(" | ".join((where, ours + _cell(claim["says"]), *(_MARKS.get(v, "–") for v in verdicts))))
    return _table("figure | claim | Lloyd's steps | lowest energy", rows) if rows else ""


def _contents(figures: list[Results]) -> str:
    made = {figure["name"] for figure in figures}
    rows = []
    for item, names in items().items():
        if not item.startswith("Equation"):
            links = [f"[`{n}`](reproduced/{TEXTS[n]['part']}.md#{_anchor(n)})" for n in names if n in made]
            about = claims_about(item, figures)
            counted = [_counted([c[key] for c in about if c[key]]) for key in ("steps", "lowest")]
            rows.append(" | ".join((item, ", ".join(links) or "–", *(one or "–" for one in counted))))
    return _table("item | made by | by Lloyd's steps | at the lowest energy", rows)


def claims_about(item: str, figures: list[Results]) -> list[Results]:
    """The paper's claims about one numbered item: those that name it, and of its own figure those that name no other.

    Examples
    --------
    >>> claim = {"says": "a", "at": "Figure 1c", "ours": False}
    >>> figures = [{"name": "dominant", "title": "Section 2.3", "claims": [claim]}]
    >>> claims_about("Figure 1", figures) == [claim], claims_about("Figure 11", figures)
    (True, [])
    """
    named = re.compile(rf"{item}(?!\d)")
    about = []
    for figure in figures:
        # A figure may check several theorems, lemmas and examples: each is credited with the claims that name it.
        listed = item in TEXTS[figure["name"]].get("items", []) and item.startswith(("Figure", "Table"))
        own = bool(named.search(figure["title"])) or listed
        for claim in figure["claims"]:
            is_elsewhere = claim["at"].split(" ")[0] in ("Figure", "Table", "Theorem", "Lemma", "Example")
            if not claim["ours"] and (named.match(claim["at"]) or (own and not is_elsewhere)):
                about.append(claim)
    return about


def _counted(verdicts: list[dict[str, str]]) -> str:
    count = {v: sum(one["verdict"] == v for one in verdicts) for v in _MARKS}
    return ", ".join(f"{number} {_MARKS[v]}" for v, number in count.items() if number)


def _section(figure: Results, picture: str | None) -> str:
    name, text = figure["name"], TEXTS[figure["name"]]
    lines = [f"({_anchor(name)})=", f"## {figure['title']}", ""]
    if picture:
        # A page shows a figure small; its link shows it in full.
        lines += [f"```{{image}} {picture}", f":alt: {figure['title']}", f":target: ../_images/{picture}", "```", ""]
        lines += [figure["caption"]]
    else:
        lines += [figure["caption"], "", "The picture shows photos that are not part of the project; this makes it:"]
    needs_data = " --data DIR" if text.get("data") else ""
    test = "on_real_data_hold" if text.get("data") else "hold"
    tested = "test_equation[N]" if name == "equations" else f"test_the_claims_{test}[{name}]"
    lines += ["", f"`python -m reproduction {name}{needs_data}`, tested by `{tested}`.", ""]
    if name == "table1":
        lines += [_twelve_cells(figure["numbers"]), ""]
    if name == "lower_energies":
        lines += [_cures(figure["numbers"]), ""]
    return "\n".join([*lines, _equation_rows(figure) if name == "equations" else _claim_rows(figure["claims"])])


def _claim_rows(claims: list[Results]) -> str:
    """Both verdicts side by side."""
    rows = []
    for claim in claims:
        ours = "*Ours, not the paper's:* " if claim["ours"] else ""
        says = ours + _cell(claim["says"]) + (f" ({claim['at']})" if claim["at"] else "")
        rows.append(f"{says} | {_verdict_cell(claim['steps'])} | {_verdict_cell(claim['lowest'])}")
    return _table("the paper claims | by Lloyd's steps | at the lowest energy", rows)


def _verdict_cell(verdict: dict[str, str] | None) -> str:
    if verdict is None:
        return "–"
    why = f" *Because {_cell(verdict['why'])}.*" if verdict["why"] else ""
    return f"{_MARKS[verdict['verdict']]}: {_cell(verdict['measured'])}.{why}"


def _twelve_cells(numbers: Results) -> str:
    """Table 1 beside the paper's."""
    from .table1 import CELLS

    rows = []
    for term, words in _TERMS.items():
        cells = {" ".join(cell): paper for cell, paper in CELLS.items() if cell[2] == term}
        row = [f"{numbers['mean'][cell]:.1f} [{paper:.1f}]" for cell, paper in cells.items()]
        rows.append(" | ".join((words, *row)))
    table = _table("boundary term | Gaussian AA | Gaussian NC | KNN AA | KNN NC", rows)
    return f"Mean errors in percent on {numbers['photos']} photos; the paper's in brackets.\n\n{table}"


def _cures(numbers: Results) -> str:
    """Mean ARI of each cure on each data set: by the steps, and at the lowest energy."""
    steps, lowest = numbers["steps"], numbers["lowest"]
    sets = list(next(iter(steps.values())))
    # A cell breaks after the arrow alone.
    cell = "{:.2f}\N{NO-BREAK SPACE}→ {:.2f}"
    rows = [" | ".join((cure, *(cell.format(steps[cure][s], lowest[cure][s]) for s in sets))) for cure in steps]
    return "Mean ARI by Lloyd's steps → at the lowest energy found.\n\n" + _table(" | ".join(("cure", *sets)), rows)


def _equation_rows(figure: Results) -> str:
    checked = {claim["at"]: claim["steps"] for claim in figure["claims"]}
    rows = []
    for one in equations():
        verdict = checked[f"eq. {one.number}"]
        functions = ", ".join(f"`{name}`" for name in one.functions)
        kind = "definition" if one.defines else _MARKS[verdict["verdict"]]
        rows.append(" | ".join((str(one.number), _cell(one.says), functions, _cell(verdict["measured"]), kind)))
    return _table("eq. | says | function | measured | verdict", rows)


def _table(head: str, rows: Iterable[str]) -> str:
    lines = [head, "|".join("---" for _ in head.split(" | ")), *rows]
    return "\n".join(f"| {line} |" for line in lines)


def _bullets(lines: Iterable[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)


def _anchor(name: str) -> str:
    return f"made-{name.replace('_', '-')}"


def _cell(text: str) -> str:
    """Text that does not end a cell of a table, nor begins emphasis or mathematics."""
    return re.sub(r"([|*$_])", r"\\\1", text.rstrip("."))
