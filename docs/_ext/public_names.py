"""Writes the API reference: every module with an `__all__`, and the names in it; nothing is listed by hand."""

import inspect
from importlib import import_module
from pathlib import Path

from sphinx.ext import autosummary

#: The documented modules, in the order of the page; what is not in one of them is private.
MODULES = (
    ("evencut", "Estimators and diagnosis"),
    ("evencut.kernels", "Kernels"),
    ("evencut.criteria", "Criteria"),
    ("evencut.solvers", "Solvers"),
    ("evencut.affinity", "Affinities: neighbours, densities, equalisation"),
    ("evencut.selection", "What auto chooses"),
    ("evencut.landmarks", "Landmarks"),
    ("evencut.diagnosis", "Diagnosis"),
    ("evencut.theory", "Theory and embeddings"),
    ("evencut.segmentation", "Segmentation"),
    ("evencut.datasets", "Data sets"),
    ("evencut.plotting", "Displays"),
    ("evencut.anndata", "Single cells"),
    ("evencut.text", "Documents"),
)


def setup(app):
    """Write the page before Sphinx reads the sources."""
    # A summary does not end at the name of an equation, "(eq. NC)".
    autosummary.WELL_KNOWN_ABBREVIATIONS += ("eq.", "eqs.")
    app.connect("config-inited", write_reference)
    app.connect("autodoc-process-docstring", quote_trailing_underscores, priority=100)
    return {"parallel_read_safe": True}


def write_reference(app, config):
    """Write api/index.rst."""
    folder = Path(app.srcdir) / "api"
    folder.mkdir(exist_ok=True)
    shown = []
    text = "API reference\n=============\n\n" + "\n".join(
        section(name, title, shown) for name, title in MODULES
    )
    # Pages of names that are gone would be built again and lead nowhere.
    known = {f"{name}.{one}" for name, _ in MODULES for one in import_module(name).__all__}
    for page in folder.glob("evencut*.rst"):
        if page.stem not in known:
            page.unlink()
    target = folder / "index.rst"
    if not target.exists() or target.read_text(encoding="utf-8") != text:
        target.write_text(text, encoding="utf-8")


def quote_trailing_underscores(app, what, name, obj, options, lines):
    """scikit-learn's `n_features_in_` in a shape would read as a link; quoted it is a name."""
    lines[:] = [line.replace("(n_features_in_,)", "(`n_features_in_`,)") for line in lines]


def section(name, title, shown):
    """The section of one module: its docstring, and a table of its functions and classes not shown before."""
    module = import_module(name)
    names = []
    for one in module.__all__:
        thing = getattr(module, one)
        if (inspect.isclass(thing) or inspect.isfunction(thing)) and thing not in shown:
            shown.append(thing)
            names.append(one)
    lines = [title, "-" * len(title), "", f".. automodule:: {name}", "   :no-members:", ""]
    if names:
        lines += [f".. currentmodule:: {name}", "", ".. autosummary::", "   :toctree: .", ""]
        lines += [*(f"   {one}" for one in names), ""]
    return "\n".join(lines)
