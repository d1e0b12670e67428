"""The habits of the project hold: workflows call real targets, tests share no random state, pages show the plan."""

import ast
import re
from pathlib import Path

import pytest
from test_architecture import ROOMS

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
