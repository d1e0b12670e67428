"""The shell lines of the pages are true: commands run as they stand, targets and extras exist."""

import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_wine

from evencut.cli import COMMANDS, main
from evencut.datasets import make_clumped_moons

ROOT = Path(__file__).parents[1]
PAGES = sorted({*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), *(ROOT / "docs" / "how_to").glob("*.md")})
# The real data they want are not part of the project; all figures take minutes, so each is tested in test_paper.py.
# Lines that want data the project does not have, or that serve until they are stopped, are only checked to exist; the
# studio has browser tests of its own. So has a GPU, and a scheduler.
ONLY_CHECKED = re.compile(r"--data\b|-m reproduction|^evencut studio|--device cuda|--scheduler")


def shell_blocks(page):
    return re.findall(r"^```(?:sh|bash|shell|console)\n(.*?)^```", page.read_text(encoding="utf-8"), re.M | re.S)


def lines_of(page):
    """The commands in the shell blocks of a page, without comments; a backslash joins lines."""
    for block in shell_blocks(page):
        for line in block.replace("\\\n", " ").splitlines():
            words = shlex.split(line, comments=True)
            if words:
                yield words


def commands_in(text):
    """What stands in backquotes and looks like a command of ours, a target of make, or an installation."""
    return [found.split() for found in re.findall(r"`((?:evencut|make|pip install) [^`]+)`", text)]


LINES = [(page, words) for page in PAGES for words in lines_of(page)]
TARGETS = set(re.findall(r"^([a-z-]+):.*##", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M))
EXTRAS = set(
    tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
)


def run_evencut(words):
    with pytest.raises(SystemExit) as left:
        main(words)
    return left.value.code


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with small files under the names that the pages use."""
    monkeypatch.chdir(tmp_path)
    X, y = make_clumped_moons(150, clump=0.5, random_state=0)
    np.savetxt("points.csv", X, delimiter=",", header="x,y", comments="")
    np.savetxt("new.csv", X[:20] + 0.01, delimiter=",", header="x,y", comments="")
    np.savetxt("labels.csv", y, fmt="%d", header="label", comments="")
    wine = load_wine(as_frame=True).data
    wine.to_csv("wine.csv", index=False)
    wine.head().to_csv("new_wine.csv", index=False)
    from PIL import Image

    photo = np.zeros((40, 60, 3), dtype=np.uint8)
    photo[10:30, 20:40] = (250, 60, 40)
    Image.fromarray(photo).save("photo.jpg")
    Image.fromarray(photo).save("photo.png")
    Path("data").mkdir()
    for part in range(2):
        np.save(f"data/{part}.npy", X[part::2])
        pd.DataFrame(X[part::2], columns=["x", "y"]).to_parquet(f"data/{part}.parquet")
    vectors = pd.DataFrame({"embedding": list(X)})
    vectors.to_parquet("vectors.parquet")
    Path("store").mkdir()
    vectors.to_parquet("store/0.parquet")
    Path("saved").mkdir()
    vectors.to_feather("saved/data-00000-of-00001.arrow")
    return tmp_path


@pytest.mark.parametrize("page", [page for page in PAGES if list(lines_of(page))], ids=lambda page: page.name)
def test_the_shell_lines_of_a_page_run(page, folder, capsys):
    for words in lines_of(page):
        check_line(words)
        if ONLY_CHECKED.search(" ".join(words)):
            continue
        if words[0] == "evencut":
            # diagnose leaves with 1 where it finds a bias.
            allowed = (0, 1) if words[1] == "diagnose" else (0,)
            assert run_evencut(words[1:]) in allowed, (words, capsys.readouterr().err)
        elif words[0] == "python":
            subprocess.run([sys.executable, *words[1:]], check=True, capture_output=True, cwd=folder)


def check_line(words):
    """A command that exists: a target of the Makefile, an extra, a command of evencut with options it has."""
    if words[0] == "make":
        assert {word for word in words[1:] if "=" not in word} <= TARGETS, words
    elif words[:2] == ["pip", "install"]:
        asked = {extra for found in re.findall(r"\[([^]]*)\]", " ".join(words)) for extra in found.split(",")}
        assert asked <= EXTRAS, words
    elif words[0] == "evencut":
        # Versions before 0.4 had the command reproduce; it says now where the figures are made.
        assert words[1] in (*COMMANDS, "reproduce") or words[1].startswith("-"), words
    else:
        assert words[0] in ("python", "git", "cd", "pre-commit", "dask"), f"{words} is no command this test knows"


def options_of(command, capsys):
    assert run_evencut([command, "--help"]) == 0
    return set(re.findall(r"(?<![\w-])--?[a-z][\w-]*", capsys.readouterr().out))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_in_the_text_of_a_page_exist(page, capsys):
    for words in commands_in(page.read_text(encoding="utf-8")):
        check_line(words)
        if words[0] == "evencut" and words[1] in COMMANDS:
            given = {word.split("=")[0] for word in words[2:] if re.match(r"--?[a-z]", word)}
            assert given <= options_of(words[1], capsys), words


def test_there_are_lines_to_run():
    assert sum(words[0] == "evencut" for _, words in LINES) >= 4
    assert any(words[0] == "make" for _, words in LINES)
