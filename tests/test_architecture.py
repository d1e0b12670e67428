"""The plan of the house holds: imports go up the table of rooms, and `import evencut` stays light."""

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

import evencut

PACKAGE = Path(evencut.__file__).parent

# Each room and the rooms it may import, top of the table first. A new room needs a line here.
_KERNEL_PARTS = {"affinity", "neighbors", "lazy", "density", "equalization"}
_KERNELS = {"kernel", "shared_neighbors", "kernels"}
_JUDGES = {"progress", "cluster_number", "selection", "scaling", "validation"}
_CORE = {*_KERNEL_PARTS, *_KERNELS, *_JUDGES, "criteria", "solvers", "assignment", "clustering", "named"}
MAY_IMPORT = {
    "affinity": set(),
    "neighbors": set(),
    "lazy": set(),
    "progress": set(),
    "density": {"neighbors"},
    "equalization": {"affinity", "density"},
    "kernel": {"affinity"},
    "shared_neighbors": {"affinity", "neighbors", "kernel"},
    "kernels": {*_KERNEL_PARTS, "kernel", "shared_neighbors"},
    "criteria": {"affinity"},
    "solvers": {"affinity", "criteria"},
    "assignment": {"affinity", "kernels", "criteria", "solvers"},
    "cluster_number": {"affinity", "criteria", "solvers"},
    "selection": {"affinity", "neighbors", "kernel", "shared_neighbors", "criteria", "solvers", "cluster_number"},
    "scaling": set(),
    "validation": set(),
    "clustering": {*_CORE, "plotting"} - {"clustering", "named"},
    "named": {"clustering", "kernels"},
    "landmarks": _CORE,
    "diagnosis": {*_CORE, "landmarks"},
    "dominant_sets": {*_KERNEL_PARTS, "kernels", "diagnosis"},
    "embedding": {*_CORE, "landmarks"},
    "theory": {*_CORE, "landmarks", "diagnosis"},
    "segmentation": {*_KERNEL_PARTS, "kernels", "criteria", "solvers"},
    "datasets": set(),
    "plotting": set(),
}
# The only imports down the table, loaded when called: a fitted model offers its diagnosis as a method, and many points
# start from landmarks, which the same estimator clusters.
CALLS_DOWN = {"clustering": {"diagnosis"}, "selection": {"landmarks"}}
_EVERYTHING = {*MAY_IMPORT, "__init__"}
MAY_IMPORT["paper"] = _EVERYTHING
MAY_IMPORT["studio"] = _EVERYTHING
MAY_IMPORT["cli"] = {*_EVERYTHING, "paper", "studio"}
MAY_IMPORT["__main__"] = {"cli"}
MAY_IMPORT["__init__"] = set(MAY_IMPORT) - {"__main__", "__init__", "cli", "paper", "plotting", "studio"}


def room_of(path):
    """The room a file belongs to: `solvers/lloyd.py` is in solvers, `_kernels_loops.py` in kernels."""
    first = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
    return first if first.startswith("__") else first.removeprefix("_").removesuffix("_loops")


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
            parts = module.split(".")
            if parts[0] == "evencut":
                room = room_of(PACKAGE / parts[1]) if len(parts) > 1 else "__init__"
                yield room if room in MAY_IMPORT else "__init__"


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.py")), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_go_up_the_table_only(path):
    room = room_of(path)
    assert room in MAY_IMPORT, f"{room} is not in the table of rooms: add it, with the rooms it may import"
    wrong = set(imported_rooms(path)) - MAY_IMPORT[room] - CALLS_DOWN.get(room, set()) - {room}
    assert not wrong, f"{path.name} is in {room}, which may not import {sorted(wrong)}"


def test_the_table_has_no_circles():
    def reach(room, seen=frozenset()):
        assert room not in seen, f"{room} imports itself through {sorted(seen)}"
        for other in MAY_IMPORT[room] - {"__init__"}:
            reach(other, seen | {room})

    for room in MAY_IMPORT:
        reach(room)


def test_files_say_what_they_are_for_and_stay_short():
    for path in PACKAGE.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        assert ast.get_docstring(ast.parse(text)), f"{path} has no docstring at its top"
        assert text.count("\n") <= 450, f"{path} has {text.count(chr(10))} lines: it is asking to become two ideas"


def test_importing_evencut_adds_nothing_but_evencut():
    """Nothing is compiled and nothing slow is loaded: numba, matplotlib and typer wait until they are needed."""
    source = str(PACKAGE.parent)
    script = (
        f"import sys, json, sklearn.cluster; sys.path.insert(0, {source!r})\n"
        "before = set(sys.modules)\n"
        "import evencut\n"
        "for name in evencut.__all__: getattr(evencut, name)\n"
        "print(json.dumps(sorted(set(sys.modules) - before)))"
    )
    answer = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    new = {name.split(".")[0] for name in json.loads(answer.stdout)}
    foreign = new - {"evencut", "sklearn", "scipy", "numpy"} - set(sys.stdlib_module_names)
    assert not foreign, f"import evencut also loads {sorted(foreign)}"
    assert "evencut" in new
