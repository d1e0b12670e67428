"""The help of the command: quick, complete, and in plain words."""

import inspect
import json
import os
import subprocess
import sys
from importlib import import_module

import pytest

from evencut.cli import COMMANDS, options
from evencut.criteria import CRITERIA
from evencut.io import MISSING
from evencut.kernels import KERNELS
from evencut.neighbors import METRICS
from evencut.solvers import SOLVERS

HEAVY = {"numpy", "scipy", "sklearn", "pandas", "pyarrow", "matplotlib", "rich"}


def loaded_by(*arguments, environment=()):
    """The large libraries that a command loads."""
    script = (
        "import atexit, json, sys\n"
        f"atexit.register(lambda: print(json.dumps(sorted({HEAVY!r} & set(sys.modules))), file=sys.stderr))\n"
        f"from evencut.cli import main; main({list(arguments)!r})"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, env={**os.environ, **dict(environment)}
    )
    assert done.returncode == 0, done.stderr
    return done.stdout, json.loads(done.stderr.splitlines()[-1])


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], *([name, "--help"] for name in COMMANDS)])
def test_help_loads_no_library_of_numbers(arguments):
    shown, loaded = loaded_by(*arguments)
    assert shown
    assert loaded == []


@pytest.mark.parametrize("line", ["evencut cl", "evencut cluster points.csv --st", "evencut cluster p.csv --kernel ge"])
def test_completion_by_the_shell_loads_no_library_of_numbers(line):
    asked = {"COMP_WORDS": line, "COMP_CWORD": str(len(line.split()) - 1), "_EVENCUT_COMPLETE": "complete_bash"}
    shown, loaded = loaded_by(environment=asked.items())
    assert shown.strip() in ("cluster", "--standardize", "geodesic")
    assert loaded == []


def test_options_name_all_that_the_library_knows():
    assert options.METRICS == tuple(METRICS)
    assert options.CRITERIA == tuple(CRITERIA)
    assert options.KERNELS == tuple(KERNELS)
    assert options.SOLVERS == tuple(SOLVERS)
    assert options.MISSING == tuple(MISSING)


def test_a_kernel_of_your_own_can_be_named(run, monkeypatch):
    monkeypatch.setitem(KERNELS, "knn_again", KERNELS["knn"])
    with open("p.csv", "w") as file:
        file.write("x,y\n" + "".join(f"{i % 5 + 20 * (i % 2)},{i % 7}\n" for i in range(40)))
    assert run("cluster", "p.csv", "-k", 2, "--kernel", "knn_again").code == 0


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_is_introduced_by_a_whole_sentence(run, name):
    module, summary = COMMANDS[name]
    function = getattr(import_module(f"evencut.cli.{module}"), name.replace("-", "_"))
    assert inspect.getdoc(function).split("\n")[0] == summary
    page = " ".join(run("--help").out.split())
    assert summary in page
    assert "..." not in page.replace("[ARGS]...", "")


@pytest.mark.parametrize("name", COMMANDS)
def test_help_names_values_in_plain_words(run, name):
    page = run(name, "--help").out
    assert "<" not in page and "list[" not in page
