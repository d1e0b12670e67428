"""The habits of the project hold: workflows call real targets, tests share no random state, pages show the plan."""

import ast
import re
import sys
from pathlib import Path

import numpy as np
import pytest
from test_architecture import ROOMS

import evencut
from evencut import EvenCut, KernelClustering

ROOT = Path(__file__).parents[1]
TESTS = sorted((ROOT / "tests").glob("*.py"))


def test_workflows_call_targets_of_the_makefile():
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M))
    workflow = (ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8")
    called = set(re.findall(r"run: make ([\w-]+)", workflow))
    assert {"lint", "test", "docs", "dist"} <= called <= targets
    for system in ("ubuntu", "macos", "windows"):
        assert f"{system}-latest" in workflow
    for version in ("3.11", "3.12", "3.13", "3.14"):
        assert f'"{version}"' in workflow


def test_a_commit_is_checked_by_what_make_lint_runs():
    hooks = (ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8")
    lint = (ROOT / "Makefile").read_text(encoding="utf-8").split("\nlint:")[1].split("\n\n")[0]
    for tool in ("ruff", "mypy"):
        assert f"entry: python -m {tool}" in hooks
        assert f"$(BIN)/{tool}" in lint


@pytest.mark.parametrize("path", TESTS, ids=lambda path: path.name)
def test_no_test_module_keeps_random_state(path):
    """A generator at the top of a module is used up in whatever order the tests run in."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
            made = ast.unparse(node.value.func)
            assert made not in ("np.random.default_rng", "np.random.RandomState"), f"{path.name}, line {node.lineno}"


def test_the_page_of_the_architecture_lists_the_rooms_in_their_order():
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\| `(\w+)` \|", page, re.M)
    assert listed == [room for room in ROOMS if not room.startswith("__")]


@pytest.mark.parametrize(("column", "estimator"), [(1, EvenCut), (2, KernelClustering)])
def test_a_fit_goes_through_the_six_stations_of_the_page(column, estimator):
    """Each function of the table is called, from the file named, and first in the order of the table."""
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    table = [line.strip("|").split("|") for line in page.splitlines() if re.match(r"\| \w+ \| `\w+` \(`", line)]
    stations = [tuple(re.findall(r"`([^`]+)`", row[column])) for row in table]
    package = Path(evencut.__file__).parent
    X = np.concatenate([np.random.default_rng(0).normal(size=(40, 2)) + place for place in (0, 6)])
    model, called = estimator(2, random_state=0), []

    def look(frame, event, _):
        path = Path(frame.f_code.co_filename)
        if event == "call" and path.is_relative_to(package):
            called.append((frame.f_code.co_name, path.relative_to(package).as_posix()))

    model.fit(X)  # whatever is loaded on first use is loaded now
    sys.setprofile(look)
    try:
        model.fit(X)
    finally:
        sys.setprofile(None)
    firsts = [called.index(station) for station in stations]
    assert len(stations) == 6
    assert firsts == sorted(firsts)
