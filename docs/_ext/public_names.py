"""Writes the API reference: every module with an `__all__`, and the names in it; nothing is listed by hand."""

import inspect
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

#: The modules in the order of the page; those not there (yet) are left out.
MODULES = (
    ("evencut", "Estimators and diagnosis"),
    ("evencut.kernels", "Kernels"),
    ("evencut.criteria", "Criteria"),
    ("evencut.equalization", "Equalisation"),
    ("evencut.density", "Density"),
    ("evencut.neighbors", "Neighbours"),
    ("evencut.affinity", "Affinities"),
    ("evencut.solvers", "Solvers"),
    ("evencut.selection", "Selection"),
    ("evencut.diagnosis", "Diagnosis"),
    ("evencut.theory", "Theory"),
    ("evencut.embedding", "Embeddings"),
    ("evencut.landmarks", "Landmarks"),
    ("evencut.segmentation", "Segmentation"),
    ("evencut.datasets", "Data sets"),
    ("evencut.plotting", "Displays"),
    ("evencut.paper", "The paper"),
)


def setup(app):
    """Write the page before Sphinx reads the sources."""
    app.connect("config-inited", write_reference)
    app.connect("autodoc-process-docstring", quote_trailing_underscores, priority=100)
    return {"parallel_read_safe": True}


def write_reference(app, config):
    """Write api/index.rst."""
    folder = Path(app.srcdir) / "api"
    folder.mkdir(exist_ok=True)
    text = "API reference\n=============\n\n" + "\n".join(
        section(name, title) for name, title in MODULES if find_spec(name) is not None
    )
    target = folder / "index.rst"
    if not target.exists() or target.read_text(encoding="utf-8") != text:
        target.write_text(text, encoding="utf-8")


def quote_trailing_underscores(app, what, name, obj, options, lines):
    """scikit-learn's `n_features_in_` in a shape would read as a link; quoted it is a name."""
    lines[:] = [line.replace("(n_features_in_,)", "(`n_features_in_`,)") for line in lines]


def section(name, title):
    """The section of one module: its docstring, and a table of its functions and classes."""
    module = import_module(name)
    shown = [n for n in module.__all__ if inspect.isclass(getattr(module, n)) or inspect.isfunction(getattr(module, n))]
    if name != "evencut":
        # A name that evencut itself offers is documented there.
        shown = [n for n in shown if n not in import_module("evencut").__all__]
    lines = [title, "-" * len(title), "", f".. automodule:: {name}", "   :no-members:", ""]
    if shown:
        lines += [f".. currentmodule:: {name}", "", ".. autosummary::", "   :toctree: .", ""]
        lines += [*(f"   {n}" for n in shown), ""]
    return "\n".join(lines)
