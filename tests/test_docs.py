"""What the documentation shows is true: the code of its pages prints what they say.

The examples of the gallery run when the site is built, in test_site.py.
"""

import ast
import re
import runpy
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_blobs

DOCS = Path(__file__).parents[1] / "docs"
PAGES = sorted({*DOCS.glob("*.md"), *DOCS.glob("how_to/*.md")})
EXAMPLES = sorted(DOCS.glob("examples/plot_*.py"))


def steps(text, mark="python"):
    """The python blocks of a page in order, each with the text block that follows it, if any."""
    parts = text.split("```")[1::2]
    for block, after in zip(parts, [*parts[1:], ""]):
        if block.startswith(f"{mark}\n"):
            yield block.removeprefix(f"{mark}\n"), after.removeprefix("text\n") if after.startswith("text\n") else None


@pytest.fixture(autouse=True)
def _no_window(monkeypatch):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    yield
    import matplotlib.pyplot as plt

    plt.close("all")


@pytest.fixture
def files(tmp_path, monkeypatch):
    """A folder with small files under the names that the pages use for large ones."""
    monkeypatch.chdir(tmp_path)
    X, _ = make_blobs(900, centers=20, n_features=3, random_state=0)
    np.save("points.npy", X)
    Path("data").mkdir()
    for part in range(3):
        pd.DataFrame(X[part::3], columns=["x", "y", "z"]).to_parquet(f"data/{part}.parquet")


WITH_CODE = [page for page in PAGES if "```python\n" in page.read_text(encoding="utf-8")]


@pytest.mark.filterwarnings("ignore:.* missing values? in .* filled from the nearest rows:UserWarning")
@pytest.mark.parametrize("page", WITH_CODE, ids=lambda page: page.stem)
def test_the_code_of_a_page_prints_what_it_says(page, capsys, files):
    names = {"__name__": "__main__"}
    for code, printed in steps(page.read_text(encoding="utf-8")):
        exec(compile(code, str(page), "exec"), names)
        out = capsys.readouterr().out
        assert out == (printed or ""), code


def test_the_code_about_cells_prints_what_it_says(capsys):
    """Its blocks are marked `py`: they need what the other pages do without."""
    for name in ("anndata", "scanpy", "leidenalg"):
        pytest.importorskip(name, reason=f"{name} is not installed")
    names = {"__name__": "__main__"}
    page = (DOCS / "how_to" / "cluster_cells.md").read_text(encoding="utf-8")
    found = list(steps(page, "py"))
    assert len(found) == 4
    for code, printed in found:
        with warnings.catch_warnings():
            # scanpy and what it loads speak of their own futures.
            warnings.simplefilter("ignore")
            exec(compile(code, "cluster_cells.md", "exec"), names)
        assert capsys.readouterr().out == printed


@pytest.mark.parametrize("name", ["embeddings", "documents", "cells"])
def test_a_picture_of_a_guide_is_drawn_and_shown(name):
    if name == "cells":
        pytest.importorskip("anndata", reason="anndata is not installed")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            pytest.importorskip("scanpy", reason="scanpy is not installed")
    pictures = runpy.run_path(str(DOCS / "pictures.py"))["PICTURES"]
    assert len(pictures[name]().axes) >= 2
    assert f"(../images/{name}.png)" in (DOCS / "how_to" / f"cluster_{name}.md").read_text(encoding="utf-8")
    assert (DOCS / "images" / f"{name}.png").stat().st_size > 5000


def test_the_pictures_of_the_default_are_shown_and_drawn_from_its_own_steps():
    pictures = runpy.run_path(str(DOCS / "pictures.py"))["PICTURES"]
    page = (DOCS / "how_evencut_works.md").read_text(encoding="utf-8")
    names = [name for name in pictures if name.startswith("how_")]
    assert len(names) == 6
    for name in names:
        assert f"(images/{name}.png)" in page
        assert (DOCS / "images" / f"{name}.png").stat().st_size > 5000
    for name in ("how_systems", "how_votes", "how_election"):
        assert len(pictures[name]().axes) >= 2


def test_the_picture_of_the_front_page_shows_four_methods_and_none_beats_the_last():
    axes = runpy.run_path(str(DOCS / "pictures.py"))["PICTURES"]["front"]().axes
    titles = [ax.get_title().split("\n") for ax in axes]
    assert [title[0] for title in titles[:4]] == ["k-means", "HDBSCAN", "Spectral clustering", "EvenCut"]
    for row in np.reshape([float(title[-1]) for title in titles], (3, 4)):
        assert row[-1] == row.max()
    assert "](docs/images/front.png)" in (DOCS.parent / "README.md").read_text(encoding="utf-8")
    assert "](images/front.png)" in (DOCS / "index.md").read_text(encoding="utf-8")


# What the list of words in CONTRIBUTING.md replaces, as far as a phrase has no other meaning.
REPLACED = (
    *("straggler", "dearer", "not to be had", "leaves with 1", "is told the number", "steal", "even the density out"),
    *("block by block", "thin place", "hang together", "tell apart", "whole or not at all", "one label a row"),
)


@pytest.mark.parametrize("phrase", REPLACED)
def test_pages_use_the_words_of_the_list(phrase):
    root = DOCS.parent
    words = (root / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert phrase.removesuffix(" 1") in words.split("## Words")[1].split("\n## ")[0]
    changes = (root / "CHANGELOG.md").read_text(encoding="utf-8").split("## 0.2.0")[0]
    for text in (changes, *(page.read_text(encoding="utf-8") for page in (root / "README.md", *PAGES, *EXAMPLES))):
        found = re.search(rf".*\b{phrase}.*", text, re.I)
        assert not found, found[0]


def test_pages_are_written_for_a_reader_in_a_hurry():
    for page in PAGES:
        assert len(page.read_text(encoding="utf-8").split()) < 1500, page
    for example in EXAMPLES:
        assert ast.get_docstring(ast.parse(example.read_text(encoding="utf-8"))), example
