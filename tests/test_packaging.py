"""The wheel holds what it should, and works alone in an empty environment."""

import os
import re
import subprocess
import sys
import zipfile
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
    pytest.importorskip("hatchling", reason="building the wheel needs hatchling: make test installs it")
    folder = tmp_path_factory.mktemp("dist")
    build = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (path,) = folder.glob("*.whl")
    return path


def test_the_wheel_holds_the_package_and_nothing_else(wheel):
    assert wheel.name == f"evencut-{evencut.__version__}-py3-none-any.whl"
    names = set(zipfile.ZipFile(wheel).namelist())
    source = ROOT / "src"
    modules = {path.relative_to(source).as_posix() for path in source.rglob("*.py")}
    assert modules | {"evencut/py.typed"} <= names
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
        pytest.skip("no package index can be reached for numpy, scipy, scikit-learn and numba")
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
