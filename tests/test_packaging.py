"""The wheel holds what it should, and works alone in an empty environment."""

import os
import re
import subprocess
import sys
import zipfile
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

import pytest

import evencut

ROOT = Path(__file__).parents[1]
pytestmark = pytest.mark.long

USE_IT = """
import sys, evencut
from evencut.datasets import make_clumped_moons
X, y = make_clumped_moons(200, random_state=0)
labels = evencut.EvenCut(2, random_state=0).fit_predict(X)
assert ((labels == y).all() or (labels == 1 - y).all()), labels
assert not {"matplotlib", "typer"} & set(sys.modules)
print(evencut.__version__, evencut.__file__)
"""

# What pip says when it cannot reach a package index, as opposed to when the wheel is wrong.
NO_INDEX = re.compile(r"No matching distribution|Temporary failure|Connection|timed out|Max retries|network", re.I)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The wheel in the folder that EVENCUT_WHEELS names, or one built now."""
    folder = Path(os.environ.get("EVENCUT_WHEELS") or tmp_path_factory.mktemp("dist"))
    if "EVENCUT_WHEELS" not in os.environ:
        pytest.importorskip("mesonpy", reason="building the wheel needs meson-python: make test installs it")
        # The tools of this environment, whether or not it is active.
        path = str(Path(sys.executable).parent) + os.pathsep + os.environ["PATH"]
        build = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "-w", str(folder)]
        subprocess.run([*build, str(ROOT)], check=True, capture_output=True, env=os.environ | {"PATH": path})
    (found,) = folder.glob("*.whl")
    return found


def test_the_wheel_holds_the_package_and_nothing_else(wheel):
    assert wheel.name.startswith(f"evencut-{evencut.__version__}-cp3")
    names = set(zipfile.ZipFile(wheel).namelist())
    source = ROOT / "src"
    files = {path.relative_to(source).as_posix() for path in (source / "evencut").rglob("*") if path.is_file()}
    files = {name for name in files if "__pycache__" not in name}
    compiled = {name for name in names if name.endswith(tuple(EXTENSION_SUFFIXES))}
    twins = {name.split(".")[0] + ".py" for name in compiled} - {"evencut/_shared_loops.py"}
    assert {name for name in names if name.startswith("evencut/")} == files | compiled
    assert twins == {name for name in files if re.search(r"/_\w*loops\.py$", name)}
    assert {name.split("/")[0] for name in names} == {"evencut", f"evencut-{evencut.__version__}.dist-info"}
    assert not [name for name in names if "__pycache__" in name]
    assert any(name.endswith("licenses/LICENSE") for name in names)


def test_every_page_tells_of_this_version():
    assert f"\n## {evencut.__version__}\n" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"\nversion: {evencut.__version__}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")


def test_the_wheel_works_alone_in_an_empty_environment(wheel, tmp_path):
    subprocess.run([sys.executable, "-m", "venv", str(tmp_path / "empty")], check=True)
    binaries = tmp_path / "empty" / ("Scripts" if sys.platform == "win32" else "bin")
    install = [binaries / "python", "-m", "pip", "install", "--quiet", "--retries", "1", "--no-compile", wheel]
    bare = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    installed = subprocess.run(install, capture_output=True, text=True, env=bare)
    if installed.returncode and NO_INDEX.search(installed.stderr):
        pytest.skip("no package index can be reached for numpy, scipy and scikit-learn")
    assert installed.returncode == 0, installed.stderr
    used = subprocess.run(
        [binaries / "python", "-c", USE_IT], cwd=tmp_path, capture_output=True, text=True, env=bare
    )
    assert used.returncode == 0, used.stderr
    version, place = used.stdout.split()
    assert version == evencut.__version__
    assert Path(place).is_relative_to(tmp_path)
    # The command is there, and says what it lacks.
    command = subprocess.run(
        [binaries / "evencut", "demo"], cwd=tmp_path, capture_output=True, text=True, env=bare
    )
    assert command.returncode == 2
    assert 'pip install "evencut[cli]"' in command.stderr
    assert command.stderr.count("\n") == 1
