"""What `make` runs before anything of evencut is there: the installation, a compiler, and the translation of loops."""

import runpy
import subprocess
import sys
from pathlib import Path

import pytest

INSTALL = Path(__file__).parents[1] / "build_tools" / "install.py"
TRANSLATE = INSTALL.with_name("translate.py")
if not INSTALL.exists():
    pytest.skip("the tools that build the package are not part of this copy", allow_module_level=True)


@pytest.fixture
def installing(monkeypatch):
    """A function that goes through an installation without installing; returns what pip would have been asked."""
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.delenv("AR", raising=False)

    def go(path, *options):
        monkeypatch.setenv("PATH", str(path))
        asked = []
        main = runpy.run_path(str(INSTALL))["main"]
        main.__globals__["install"] = lambda arguments, surroundings: asked.append((arguments, surroundings)) or 0
        assert main("cli,plot", *options) == 0
        return asked

    return go


@pytest.mark.skipif(sys.platform == "win32", reason="meson looks for the compilers of Windows itself")
def test_without_a_c_compiler_one_is_installed_and_one_line_says_so(installing, tmp_path, capsys):
    tools, package = installing(tmp_path)
    said = [line for line in capsys.readouterr().out.splitlines() if "compiler" in line]
    assert len(said) == 1 and "ziglang" in said[0] and "CC=" in said[0]
    assert "ziglang" in tools[0]
    for _, surroundings in (tools, package):
        assert surroundings["CC"] == f"{sys.executable} -m ziglang cc"
        assert surroundings["AR"] == f"{sys.executable} -m ziglang ar"


@pytest.mark.parametrize("by_name", [True, False])
def test_a_compiler_that_is_there_is_taken(installing, tmp_path, capsys, monkeypatch, by_name):
    if by_name:
        monkeypatch.setenv("CC", "my-compiler")
    else:
        (tmp_path / "gcc").touch(mode=0o755)
    tools, package = installing(tmp_path)
    assert "compiler" not in capsys.readouterr().out
    assert "ziglang" not in tools[0]
    assert package[1].get("CC") == ("my-compiler" if by_name else None)


def test_what_it_takes_to_build_comes_first_and_options_get_a_folder_of_their_own(installing, tmp_path):
    tools, package = installing(tmp_path, "-Dboundscheck=true")
    assert any(requirement.startswith("meson-python") for requirement in tools[0])
    assert package[0][-2:] == ["--editable", f"{INSTALL.parents[1]}[cli,plot]"]
    assert "--no-build-isolation" in package[0]
    assert "-Csetup-args=-Dboundscheck=true" in package[0]
    assert "-Cbuild-dir=build/Dboundscheck-true" in package[0]


def translated(folder, *options):
    """Translate the loops of a folder; when each C file was written, or what went wrong."""
    pytest.importorskip("Cython")
    sources = sorted(map(str, folder.glob("*.py")))
    command = [sys.executable, TRANSLATE, str(folder), str(folder / "loops.dep"), *sources, "--", "-3", *options]
    done = subprocess.run(command, capture_output=True, text=True)
    return done.returncode, {path.name: path.stat().st_mtime_ns for path in folder.glob("*.c")}


def test_only_what_has_changed_is_translated_again(tmp_path):
    for name in ("first", "second"):
        (tmp_path / f"{name}.py").write_text("def answer():\n    return 42\n")
    code, begun = translated(tmp_path)
    assert code == 0 and sorted(begun) == ["first.c", "second.c"]
    outputs, needed = (tmp_path / "loops.dep").read_text().split(": ")
    assert outputs.split() == [str(tmp_path / "first.c"), str(tmp_path / "second.c")]
    assert str(tmp_path / "second.py") in needed and "_move_loops.pxd" in needed
    (tmp_path / "second.py").write_text("def answer():\n    return 43\n")
    _, again = translated(tmp_path)
    assert again["first.c"] == begun["first.c"] and again["second.c"] > begun["second.c"]
    _, otherwise = translated(tmp_path, "-X", "boundscheck=False")
    assert otherwise["first.c"] > again["first.c"] and otherwise["second.c"] > again["second.c"]


def test_a_loop_that_cannot_be_translated_leaves_no_file_that_could_be_compiled(tmp_path):
    (tmp_path / "first.py").write_text("def answer():\n    return 42\n")
    assert translated(tmp_path)[0] == 0
    (tmp_path / "first.py").write_text("def answer(:\n")
    code, made = translated(tmp_path)
    assert code != 0 and made == {}


def test_the_build_asks_for_no_program_named_python():
    """Where there is only python3, and in an environment that is not active, Meson runs scripts by its own Python."""
    root = Path(__file__).parents[1]
    text = (root / "meson.build").read_text(encoding="utf-8")
    assert "run_command('python" not in text
    assert (root / "build_tools" / "tree.py").read_text(encoding="utf-8").startswith("#!/usr/bin/env python3\n")
