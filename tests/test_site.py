"""The documentation builds without a warning, and what it shows is whole: links, pictures, formulas, names and options.

The site is built once, as `make docs` builds it, from a copy of the sources: a build writes pages and pictures beside
them, and another build at the same time would read those half written. Formulas are drawn by the MathJax that the site
ships, in the system's Chromium.
"""

import ast
import html
import inspect
import json
import re
import runpy
import shutil
import subprocess
import sys
import warnings
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import pytest

import evencut
from evencut.cli import COMMANDS, build_app

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PACKAGE = Path(evencut.__file__).parent
# What a page shows beside its sidebar without scrolling.
WIDEST_CODE = 92
# Rooms that other rooms are built on, and users are not: nothing in them is public.
INTERNAL = {"evencut.gpu", "evencut._lazy", "evencut.tensors"}
# What a build adds to the folder of the sources.
GENERATED = ("_build", "api", "gallery", "made", "results")
pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The built site."""
    for name in ("sphinx", "sphinx-mathjax-offline", "sphinx_gallery", "numpydoc", "myst_parser", "furo"):
        pytest.importorskip(name, reason="building the documentation needs the extra docs: make test installs it")
    out = tmp_path_factory.mktemp("site")
    root = out / "root"
    root.mkdir()
    for path in ROOT.iterdir():
        # Links of a page that is included are followed from where its file really lies.
        if path.is_file():
            shutil.copy(path, root)
        elif path != DOCS:
            (root / path.name).symlink_to(path)
    shutil.copytree(DOCS, root / "docs", ignore=shutil.ignore_patterns(*GENERATED))
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-d", str(out / "trees"), "docs"]
    built = subprocess.run([*command, str(out / "html")], capture_output=True, text=True, cwd=root)
    assert built.returncode == 0, built.stdout[-3000:] + built.stderr[-6000:]
    return out / "html"


@pytest.fixture(scope="module")
def links():
    """The extension that follows the links at the end of a build."""
    path = DOCS / "_ext" / "inner_links.py"
    return SimpleNamespace(**runpy.run_path(str(path)))


@pytest.fixture(scope="module")
def pages(site, links):
    """Every page of the site, read."""
    return links.read_pages(site)


def test_links_and_pictures_lead_somewhere(pages, links):
    assert not list(links.broken_links(pages))


def test_links_that_lead_nowhere_are_noticed(tmp_path, links):
    (tmp_path / "a.html").write_text('<p id="here"><a href="#here"></a><a href="b.html#there"></a>')
    (tmp_path / "b.html").write_text('<img src="gone.png"><a href="a.html#here"></a><a href="https://example.org"></a>')
    found = {link for _, link in links.broken_links(links.read_pages(tmp_path))}
    assert found == {"b.html#there", "gone.png"}


def test_the_site_needs_no_network(pages):
    loading = {"script": "src", "img": "src", "iframe": "src", "link": "href"}
    for path, page in pages.items():
        for tag, attrs in page.tags:
            address = attrs.get(loading.get(tag, "")) or ""
            assert not address.startswith(("http:", "https:", "//")), (path.name, tag, address)


def test_pictures_say_what_they_show(pages):
    pictures = [
        (path.name, attrs) for path, page in pages.items() for tag, attrs in page.tags if tag == "img"
    ]
    assert len(pictures) > 40
    for name, attrs in pictures:
        # The title stands beside a thumbnail.
        assert attrs.get("alt") or "_thumb" in attrs["src"], (name, attrs["src"])


def test_every_public_name_is_in_the_api(site):
    listed = [(site / "api" / f"{page}.html").read_text(encoding="utf-8") for page in ("index", "internals")]
    words = set(re.findall(r"\w+", html.unescape(re.sub(r"<[^>]+>", " ", " ".join(listed)))))
    rooms = [path for path in PACKAGE.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()]
    checked = 0
    for name in ["evencut", *(f"evencut.{path.stem}" for path in rooms if not path.stem.startswith("_"))]:
        if name not in INTERNAL:
            missing = {one for one in import_module(name).__all__ if not one.startswith("__")} - words
            assert not missing, (name, sorted(missing))
            checked += 1
    assert checked >= 15
    for one in ("dominant_set", "is_maximal_clique"):
        assert one in words


@pytest.mark.parametrize("name", ["EvenCut", "KernelKMeans", "NormalizedCut", "LandmarkClustering", "DominantSets"])
def test_the_page_of_an_estimator_lists_its_parameters_and_inherited_methods(site, name):
    page = (site / "api" / f"evencut.{name}.html").read_text(encoding="utf-8")
    shown = html.unescape(re.sub(r"<[^>]+>", " ", page))
    estimator = getattr(evencut, name)
    parameters = re.split(r"Attributes\s*:", re.split(r"Parameters\s*:", shown, maxsplit=1)[1], maxsplit=1)[0]
    for parameter in inspect.signature(estimator).parameters:
        assert re.search(rf"\b{parameter}\b", parameters), parameter
    for method in ("fit", "fit_predict", "predict", "get_params", "set_params"):
        assert re.search(rf"\b{method}\b", shown.split("Methods", 1)[1]), method
    assert f'id="evencut.{name}.predict"' in page


def test_every_option_is_on_the_page_of_the_command_line(site):
    from typer.main import get_command

    shown = re.sub(r"<[^>]+>", "", (site / "api" / "command_line.html").read_text(encoding="utf-8"))
    for name in COMMANDS:
        assert f"evencut {name}" in shown
        for parameter in get_command(build_app()).commands[name].params:
            for option in parameter.opts if parameter.param_type_name == "option" else ():
                assert option in shown, (name, option)


def test_the_gallery_shows_no_stray_values_and_no_warnings(site):
    for page in (site / "gallery").glob("plot_*.html"):
        text = page.read_text(encoding="utf-8")
        for output in re.findall(r'sphx-glr-script-out.*?<pre>(.*?)</pre>', text, re.S):
            assert " at 0x" not in output, page.name
            assert "Warning" not in output, page.name
        assert "sphx_glr_plot" in text, f"{page.name} shows no picture"


def cells_of(notebook):
    """The code of a notebook; what only a notebook understands is left out."""
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    return [re.sub(r"^%.*$", "", one, flags=re.M) for one in code]


def test_tutorials_and_the_gallery_download_as_notebooks_that_run(site, monkeypatch, tmp_path):
    import matplotlib

    matplotlib.use("agg")
    monkeypatch.chdir(tmp_path)
    notebooks = sorted((site / "_downloads").rglob("*.ipynb"))
    assert {"tutorial", "tutorial_table"} < {notebook.stem for notebook in notebooks}
    assert len(notebooks) >= 2 + len(list(DOCS.glob("examples/plot_*.py")))
    for notebook in notebooks:
        if notebook.stem == "plot_01_comparison":  # runs all tools; built from the same code as its page
            continue
        names = {"__name__": "__main__"}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for code in cells_of(notebook):
                exec(compile(code, notebook.name, "exec"), names)
        matplotlib.pyplot.close("all")


def test_code_is_not_clipped():
    for example in DOCS.glob("examples/plot_*.py"):
        text = example.read_text(encoding="utf-8")
        assert max(map(len, text.splitlines())) <= WIDEST_CODE, example.name
    for page in [*DOCS.glob("*.md"), *DOCS.glob("how_to/*.md")]:
        for kind, code in re.findall(r"^```(python|py)\n(.*?)^```", page.read_text(encoding="utf-8"), re.M | re.S):
            assert max(map(len, code.splitlines())) <= WIDEST_CODE, (page.name, kind)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_no_page_is_wider_than_the_screen_and_figures_stay_readable(site, pages, browser, width, scheme):
    context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme)
    tab = context.new_page()
    chosen = [path for path in sorted(pages) if path.parent in (site, site / "reproduced", site / "how_to")]
    assert len(chosen) >= 30
    for path in chosen:
        tab.goto(path.as_uri())
        assert tab.evaluate("document.documentElement.scrollWidth - window.innerWidth") <= 0, path.name
        if width == 390:
            # Letters of the paper's figures stay readable: the picture scrolls rather than shrinks.
            shown = "[...document.querySelectorAll('section[id^=made-] a > img')].map(one => one.clientWidth)"
            assert all(drawn > 600 for drawn in tab.evaluate(shown)), path.name
    context.close()


# ---- formulas


def formulas_of_docstrings():
    """The formulas of every docstring of the package, also of private ones."""
    for path in sorted(PACKAGE.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
                text = inspect.cleandoc(ast.get_docstring(node, clean=False) or "")
                yield from (one.replace("\n", " ") for one in re.findall(r":math:`([^`]+)`", text))
                for found in re.finditer(r"^( *)\.\. math::(.*(?:\n(?:\1 +\S.*| *))*)", text, re.M):
                    yield from filter(None, (part.strip() for part in re.split(r"\n\s*\n", found[2])))


def formulas_of_pages():
    """The formulas of the pages, as they are written."""
    for page in [*DOCS.glob("*.md"), *DOCS.glob("how_to/*.md")]:
        text = re.sub(r"^```.*?^```|`[^`\n]*`", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
        yield from (one for one in re.findall(r"\$\$(.+?)\$\$", text, re.S))
        yield from re.findall(r"(?<!\$)\$([^$\n]+)\$(?!\$)", text.replace("$$", "\n$$\n"))


@pytest.fixture(scope="module")
def mathjax(browser):
    """A function from TeX to the MathML that the MathJax of the site makes of it."""
    package = pytest.importorskip("sphinx-mathjax-offline", reason="MathJax comes with the extra docs")
    script = Path(package.__file__).parent / "static" / "mathjax" / "tex-chtml.js"
    page = browser.new_page()
    page.goto("about:blank")
    page.add_script_tag(content=script.read_text(encoding="utf-8"))
    page.evaluate("MathJax.startup.promise")
    yield lambda tex: re.sub(r"\s*\n\s*", "", page.evaluate("tex => MathJax.tex2mml(tex)", tex))
    page.close()


def is_wrong(mathml):
    """Whether MathJax could not read a formula: an error, or a command it does not know, which it shows in red."""
    return "merror" in mathml or 'mathcolor="red"' in mathml


def test_formulas_that_cannot_be_read_are_noticed(mathjax):
    assert is_wrong(mathjax(r"\frac{1}{"))
    assert is_wrong(mathjax(r"\notacommand x"))


def bare(mathml):
    """MathML without attributes and groups that change nothing."""
    mathml = re.sub(r"<(\w+)[^>]*>", r"<\1>", mathml)
    return re.sub(r"</?(?:math|mrow|mstyle)>", "", mathml)


def test_fractions_accents_and_primes_are_drawn_as_they_are_written(mathjax):
    half = "<mfrac><mn>1</mn><mn>2</mn></mfrac>"
    assert bare(mathjax(r"\tfrac12 x")) == f"{half}<mi>x</mi>"
    assert bare(mathjax(r"\frac1{n}")) == "<mfrac><mn>1</mn><mi>n</mi></mfrac>"
    assert bare(mathjax(r"\exp(-\tfrac12 x)")).count(half) == 1
    assert bare(mathjax(r"\tilde d_{pq}")) == "<msub><mover><mi>d</mi><mo>~</mo></mover><mi>p</mi><mi>q</mi></msub>"
    assert bare(mathjax(r"\rho'_p")) == "<msubsup><mi>&#x3C1;</mi><mi>p</mi><mo>&#x2032;</mo></msubsup>"


def test_every_formula_is_drawn_with_its_fractions(mathjax):
    formulas = sorted({*formulas_of_docstrings(), *formulas_of_pages()})
    assert len(formulas) > 150
    with_fractions = 0
    for tex in formulas:
        mathml = mathjax(tex)
        assert not is_wrong(mathml), tex
        fractions = len(re.findall(r"\\[td]?frac(?![a-z])", tex))
        assert mathml.count("<mfrac") == fractions, (tex, mathml)
        for top, bottom in re.findall(r"\\[td]?frac\s*(\d)\s*(\d)", tex):
            assert f"<mfrac><mn>{top}</mn><mn>{bottom}</mn></mfrac>" in bare(mathml), tex
        with_fractions += bool(fractions)
    assert with_fractions >= 20


def test_pages_show_their_formulas(site, pages, browser):
    """In the browser, on the built site: as many formulas drawn as there are, none of them as an error."""
    with_math = {path: page for path, page in sorted(pages.items()) if page.formulas}
    # The pages of single functions are alike: every eighth of them will do.
    alike = [path for path in with_math if path.name.startswith("evencut.")]
    with_math = {path: page for path, page in with_math.items() if path not in alike or path in alike[::8]}
    assert len(with_math) >= 8
    tab = browser.new_page()
    for path, page in with_math.items():
        tab.goto(path.as_uri())
        tab.wait_for_function("window.MathJax && MathJax.startup && MathJax.startup.promise", timeout=60_000)
        tab.evaluate("MathJax.startup.promise")
        drawn = tab.evaluate("document.querySelectorAll('mjx-container').length")
        assert drawn >= len(page.formulas), path.name
        wrong = "mjx-merror, [data-mjx-error], mjx-mtext[style*=red]"
        assert tab.evaluate(f"document.querySelectorAll('{wrong}').length") == 0, path.name
    tab.close()
