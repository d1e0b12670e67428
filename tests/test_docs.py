"""What the documentation shows is true: the code of its pages prints what they say.

The examples of the gallery run when the site is built, in test_site.py.
"""

import ast
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"
# Going further works on files too large to bring along.
PAGES = sorted({*DOCS.glob("*.md"), *DOCS.glob("how_to/*.md")} - {DOCS / "going_further.md"})
EXAMPLES = sorted(DOCS.glob("examples/plot_*.py"))


def steps(text):
    """The python blocks of a page in order, each with the text block that follows it, if any."""
    parts = text.split("```")[1::2]
    for block, after in zip(parts, [*parts[1:], ""]):
        if block.startswith("python\n"):
            yield block.removeprefix("python\n"), after.removeprefix("text\n") if after.startswith("text\n") else None


@pytest.fixture(autouse=True)
def _no_window(monkeypatch):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    yield
    import matplotlib.pyplot as plt

    plt.close("all")


WITH_CODE = [page for page in PAGES if "```python\n" in page.read_text(encoding="utf-8")]


@pytest.mark.parametrize("page", WITH_CODE, ids=lambda page: page.stem)
def test_the_code_of_a_page_prints_what_it_says(page, capsys):
    names = {"__name__": "__main__"}
    for code, printed in steps(page.read_text(encoding="utf-8")):
        exec(compile(code, str(page), "exec"), names)
        out = capsys.readouterr().out
        assert out == (printed or ""), code


def test_pages_are_written_for_a_reader_in_a_hurry():
    for page in PAGES:
        assert len(page.read_text(encoding="utf-8").split()) < 1500, page
    for example in EXAMPLES:
        assert ast.get_docstring(ast.parse(example.read_text(encoding="utf-8"))), example
