"""The plan of the house holds: imports go up the table of rooms, and `import evencut` stays light."""

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import evencut

PACKAGE = Path(evencut.__file__).parent

# The rooms in the order of the data: a room imports rooms above it only. A new room needs a line here.
ROOMS = (
    "_lazy",
    "_runtime",
    "tensors",
    "gpu",
    "neighbors",
    "points",
    "affinity",
    "io",
    "kernels",
    "criteria",
    "solvers",
    "landmarks",
    "valley",
    "selection",
    "plotting",
    "diagnosis",
    "estimators",
    "theory",
    "segmentation",
    "datasets",
    "__init__",
    "anndata",
    "napari",
    "text",
    "studio",
    "cli",
    "__main__",
)
MAY_IMPORT = {room: set(ROOMS[:place]) for place, room in enumerate(ROOMS)}


def room_of(path):
    """The room a file belongs to: `solvers/descent.py` is in solvers."""
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imported_rooms(path):
    """The rooms a file imports anywhere, also inside functions; a name of the package itself counts as `__init__`."""
    parents = ("evencut", *path.relative_to(PACKAGE).parent.parts)
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            modules = [name.name for name in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = parents[: len(parents) + 1 - node.level] if node.level else ()
            module = ".".join([*base, *([node.module] if node.module else [])])
            modules = [f"evencut.{name.name}" for name in node.names] if module == "evencut" else [module]
        else:
            continue
        for module in modules:
            parts = module.removeprefix("cython.cimports.").split(".")
            if parts[0] == "evencut":
                room = room_of(PACKAGE / parts[1]) if len(parts) > 1 else "__init__"
                yield room if room in MAY_IMPORT else "__init__"


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.py")), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_go_up_the_table_only(path):
    room = room_of(path)
    assert room in MAY_IMPORT, f"{room} is not in the table of rooms: add it, with the rooms it may import"
    wrong = set(imported_rooms(path)) - MAY_IMPORT[room] - {room}
    assert not wrong, f"{path.name} is in {room}, which may not import {sorted(wrong)}"


def test_the_plan_can_be_seen_from_the_folder():
    small = {"__init__.py", "__main__.py", "_lazy.py", "_runtime.py", "py.typed", "__pycache__"}
    entries = {path.name for path in PACKAGE.iterdir()} - small
    doors = {"gpu", "studio", "anndata.py", "text.py", "napari"}  # to other worlds, loaded only when used
    assert len(entries - doors) <= 18, f"{len(entries)} entries: {sorted(entries)}"


def functions(path):
    """The functions and methods of a file, with their lines of code: no docstring, no comments, no blank lines."""
    lines = path.read_text(encoding="utf-8").splitlines()
    for node in ast.walk(ast.parse("\n".join(lines))):
        if isinstance(node, ast.FunctionDef):
            body = node.body[1:] if ast.get_docstring(node) else node.body
            inside = lines[body[0].lineno - 1 : node.end_lineno] if body else []
            code = [line for line in inside if line.strip() and not line.strip().startswith("#")]
            yield node, len(code)


def test_an_estimator_in_memory_is_three_classes():
    for name in ("EvenCut", "KernelClustering"):
        classes = [each.__name__ for each in getattr(evencut, name).__mro__ if each.__module__.startswith("evencut.")]
        assert classes == [name, "Clustering", "FittedClustering"]


@pytest.mark.parametrize("room", ["estimators", "selection"])
def test_functions_are_short(room):
    for path in (PACKAGE / room).glob("*.py"):
        for node, n_lines in functions(path):
            assert n_lines <= 40, f"{path.name}: {node.name} has {n_lines} lines of code"


def test_compiled_loops_take_few_arguments():
    for path in PACKAGE.rglob("_*loops.py"):
        for node, _ in functions(path):
            assert len(node.args.args) <= 8, f"{path.name}: {node.name} takes {len(node.args.args)} arguments"


def code_lines(text):
    """Lines of code: no docstring, no comments, no blank lines."""
    tree, documented = ast.parse(text), set()
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and ast.get_docstring(node) is not None:
            documented |= set(range(node.body[0].lineno, node.body[0].end_lineno + 1))
    lines = enumerate(text.splitlines(), 1)
    return sum(bool(line.strip()) and line.strip()[0] != "#" and row not in documented for row, line in lines)


def test_files_say_what_they_are_for_and_stay_short():
    for path in PACKAGE.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        assert ast.get_docstring(ast.parse(text)), f"{path} has no docstring at its top"
        n_lines = code_lines(text)
        assert n_lines <= 320, f"{path} has {n_lines} lines of code: it is asking to become two ideas"


IMPORTS = """
import json, sys, warnings
import numpy as np
loaded = {}
def note(step): loaded[step] = sorted(sys.modules)
warnings.simplefilter("ignore")
import evencut
note("import")
image = np.zeros((12, 12, 3)); image[4:8, 4:8] = 1
from evencut.segmentation import segment
segment(image, box=(2, 2, 10, 10), clicks=[(6, 6, "object")])
note("photo")
rooms = [evencut.kernels.KNN.__name__, evencut.KernelClustering.__name__, "diagnose" in dir(evencut)]
evencut.EvenCut(2, random_state=0).fit(np.random.default_rng(0).normal(size=(60, 2)))
note("fit")
import sklearn.cluster
note("scikit-learn")
for name in evencut.__all__: getattr(evencut, name)
note("names")
print(json.dumps([rooms, loaded]))
"""


@pytest.fixture(scope="module")
def imports():
    """What its rooms answer, and what is loaded after each step, in one fresh process."""
    environment = {**os.environ, "PYTHONPATH": str(PACKAGE.parent)}
    run = [sys.executable, "-c", IMPORTS]
    answer = subprocess.run(run, capture_output=True, text=True, check=True, env=environment)
    rooms, loaded = json.loads(answer.stdout.splitlines()[-1])
    return rooms, {step: set(modules) for step, modules in loaded.items()}


def test_importing_evencut_adds_nothing_but_evencut(imports):
    """Nothing slow is loaded: matplotlib and typer wait until they are needed."""
    _, loaded = imports
    new = {name.split(".")[0] for name in loaded["names"] - loaded["scikit-learn"]}
    foreign = new - {"evencut", "sklearn", "scipy", "numpy"} - set(sys.stdlib_module_names)
    foreign |= {"matplotlib", "typer", "torch", "dask", "skops", "faiss"} & loaded["names"]
    assert not foreign, f"import evencut also loads {sorted(foreign)}"
    assert "evencut" in new


@pytest.mark.parametrize("step", ["import", "photo"])
def test_photos_wait_for_no_scikit_learn(imports, step):
    """Loading it takes longer than cutting out a photo; whatever needs it loads it then."""
    assert not imports[1][step] & {"sklearn", "pandas", "matplotlib"}


def test_rooms_are_found_without_being_imported_first(imports):
    assert imports[0] == ["KNN", "KernelClustering", True]
    with pytest.raises(AttributeError, match="no attribute 'no_such_room'"):
        _ = evencut.no_such_room


def test_an_estimator_waits_for_nothing_that_its_fit_does_not_use(imports):
    unused = ("diagnosis", "plotting", "landmarks", "io.read", "estimators.model_files", "estimators.dominant_sets")
    assert "evencut.estimators.even_cut" in imports[1]["fit"]
    assert not imports[1]["fit"] & {f"evencut.{name}" for name in unused}


COMMANDS = """
import contextlib, json, sys
from evencut.cli import main
for arguments in (["segment-folder", "--help"], ["cluster", "points.csv", "-k", "2", "-o", "labels.csv"]):
    with contextlib.suppress(SystemExit): main(arguments)
    print(json.dumps(sorted(sys.modules)))
"""


def test_a_command_waits_for_nothing_that_it_does_not_use(tmp_path):
    """Help needs no scikit-learn, and clusters no diagnosis."""
    (tmp_path / "points.csv").write_text("x,y\n" + "".join(f"{i % 2 * 9},{i}\n" for i in range(30)))
    run = [sys.executable, "-c", COMMANDS]
    answer = subprocess.run(run, capture_output=True, text=True, check=True, cwd=tmp_path)
    of_help, of_cluster = (set(json.loads(line)) for line in answer.stdout.splitlines() if line.startswith("["))
    assert not of_help & {"sklearn", "pandas", "matplotlib"}
    assert (tmp_path / "labels.csv").exists()
    assert not of_cluster & {"evencut.diagnosis", "evencut.estimators.dominant_sets", "matplotlib", "skops"}


def test_a_name_that_is_not_there_asks_no_importer(monkeypatch):
    """Libraries that save models try hundreds of names; some importers take a second for each."""

    class Listener:
        def find_spec(self, name, path=None, target=None):
            if name.startswith("evencut."):
                asked.append(name)

    asked = []
    monkeypatch.setattr(sys, "meta_path", [Listener(), *sys.meta_path])
    for package in (evencut, evencut.kernels, evencut.io):
        dir(package)
        asked.clear()
        assert not any(hasattr(package, f"no_such_name_{i}") for i in range(50))
        assert asked == []


def test_dir_names_what_a_user_may_call():
    public = [name for name in dir(evencut) if not name.startswith("_")]
    assert "Any" not in public
    assert "TYPE_CHECKING" not in public
    assert {"EvenCut", "diagnose", "kernels", "segmentation"} <= set(public)
