"""Writes the API reference by task: every name of an `__all__` is in it, once, where a reader would look for it.

Two pages: what most readers need, and the parts that the library is made of. A task lists modules, or names of them;
what a module has and no task has listed goes where the whole module stands.
"""

import inspect
import pkgutil
from functools import cached_property
from importlib import import_module
from pathlib import Path

from sphinx.ext import autosummary
from sphinx.pycode import ModuleAnalyzer

#: The tasks of a page in order: title, what it is about, modules with the names taken (None: all that is left).
CORE = (
    (
        "Cluster points",
        "scikit-learn estimators. Start with `EvenCut`.",
        (
            (
                "evencut",
                (
                    "EvenCut",
                    "KernelClustering",
                    "KernelKMeans",
                    "NormalizedCut",
                    "LandmarkClustering",
                    "DominantSets",
                    "ProbabilisticKMeans",
                ),
            ),
        ),
    ),
    (
        "Judge a clustering",
        "Is a clustering, made by any tool, an artefact of density? What distinguishes its clusters?",
        (
            ("evencut", ("diagnose", "describe", "bandwidth_sweep")),
            ("evencut.diagnosis", None),
            ("evencut.valley", None),
        ),
    ),
    ("Save models, open the studio", "Models as checked data; the studio from a notebook.", (("evencut", None),)),
    (
        "Choose a kernel",
        "From points to affinities. Estimators take a name or one of these objects.",
        (("evencut.kernels", None),),
    ),
    (
        "Equalise the density",
        "Weights, scaling to equal degrees, the density law, and density estimates.",
        (
            (
                "evencut.affinity",
                (
                    "equalize",
                    "equalizing_scale",
                    "density_law",
                    "degrees",
                    "knn_density",
                    "knn_radius",
                    "parzen_density",
                    "scott_bandwidth",
                    "silverman_bandwidth",
                ),
            ),
        ),
    ),
    ("Cut out an object", "From a box, clicks or strokes to a mask.", (("evencut.segmentation", None),)),
    (
        "Go beyond memory",
        "Landmarks of arrays, files and Dask collections, in blocks.",
        (("evencut.landmarks", None),),
    ),
    ("Draw", "Displays that draw on your axes or make a figure.", (("evencut.plotting", None),)),
    ("Find data", "Data sets that show the biases.", (("evencut.datasets", None),)),
    ("Describe documents", "The terms that distinguish a cluster of texts.", (("evencut.text", None),)),
    ("Cluster single cells", "For AnnData objects.", (("evencut.anndata", None),)),
    ("Read and write tables", "The formats of the command line, from Python.", (("evencut.io", None),)),
)
INTERNALS = (
    (
        "Find one dominant set",
        "What `DominantSets` repeats, as functions.",
        (("evencut.estimators", None),),
    ),
    (
        "See what was chosen",
        'How `"auto"` decides: candidates, their consensus, and the number of clusters.',
        (("evencut.selection", None),),
    ),
    (
        "Search neighbours, build affinities",
        "What kernels are made of, for kernels of your own.",
        (("evencut.neighbors", None), ("evencut.points", None), ("evencut.affinity", None)),
    ),
    (
        "Pose and solve a problem",
        "Criteria pose a problem, solvers solve it.",
        (("evencut.criteria", None), ("evencut.solvers", None)),
    ),
    (
        "Check the theory",
        "The paper's equations and theorems as functions, and its embeddings.",
        (("evencut.theory", None),),
    ),
    (
        "Run the programs",
        "The command, the studio and the plugin for napari, for those who build on them.",
        (("evencut.cli", None), ("evencut.studio", None), ("evencut.napari", None)),
    ),
)
#: Pages: file, title, introduction, tasks.
PAGES = (
    (
        "index",
        "API reference",
        """By task. Names that are not listed here or under :doc:`internals <internals>` are private.
:doc:`The command line <command_line>` has its own page.

.. toctree::
   :hidden:

   command_line
   internals
""",
        CORE,
    ),
    (
        "internals",
        "API of the internals",
        """The parts that the estimators are made of: for kernels, criteria and solvers of your own, for checking the
theory, and for programs that embed evencut. They follow the same rules of versioning as :doc:`the rest <index>`.
""",
        INTERNALS,
    ),
)
#: Methods of scikit-learn that a reader never calls.
_ROUTING = ("get_metadata_routing", "_request")
_LONGEST_VALUE = 110


def setup(app):
    """Write the page before Sphinx reads the sources."""
    # A summary does not end at the name of an equation, "(eq. 10)".
    autosummary.WELL_KNOWN_ABBREVIATIONS += ("eq.", "eqs.")
    app.connect("config-inited", write_reference)
    app.connect("autodoc-process-docstring", quote_trailing_underscores, priority=100)
    return {"parallel_read_safe": True}


def write_reference(app, config):
    """Write the pages, and forget those of names that are gone: they would be built again and lead nowhere."""
    folder = Path(app.srcdir) / "api"
    folder.mkdir(exist_ok=True)
    shown = Shown()
    for name, title, about, tasks in PAGES:
        heading = f"{title}\n{'=' * len(title)}\n\n{about}\n"
        text = heading + "\n".join(task(*one, shown) for one in tasks)
        target = folder / f"{name}.rst"
        if not target.exists() or target.read_text(encoding="utf-8") != text:
            target.write_text(text, encoding="utf-8")
    for page in folder.glob("evencut*.rst"):
        if page.stem not in shown.pages:
            page.unlink()
    classes = [thing for thing in shown.things if inspect.isclass(thing)]
    config.autosummary_context = {"methods_of": {one.__qualname__: list(methods_of(one)) for one in classes}}


def methods_of(thing):
    """The methods that a page of a class lists, own and inherited, each with whether evencut defines it."""
    for method in inspect.classify_class_attrs(thing):
        hidden = method.name.startswith("_") or any(word in method.name for word in _ROUTING)
        called = method.kind in ("method", "class method", "static method")
        # A cached property counts as a method until it has been used.
        called &= not isinstance(method.object, cached_property)
        if called and not hidden and method.defining_class.__module__.startswith(("evencut", "sklearn")):
            yield method.name, method.defining_class.__module__.startswith("evencut")


def quote_trailing_underscores(app, what, name, obj, options, lines):
    """scikit-learn's `n_features_in_` in a shape would read as a link; quoted it is a name."""
    lines[:] = [line.replace("(n_features_in_,)", "(`n_features_in_`,)") for line in lines]


class Shown:
    """What the page has already: a thing that two modules export is shown once."""

    def __init__(self):
        self.things, self.pages = [], set()
        parts = [part for *_, tasks in PAGES for *_, listed in tasks for part in listed]
        self.listed = {(module, name) for module, names in parts for name in names or ()}

    def take(self, module, name, thing):
        """Whether the thing is new; from now on it is not."""
        if any(thing is other for other in self.things):
            return False
        self.things.append(thing)
        self.pages.add(f"{module}.{name}")
        return True


def task(title, about, parts, shown):
    """One section: tables of functions and classes, then the constants."""
    lines = [title, "-" * len(title), "", about.replace("`", "``"), ""]
    for name, wanted in parts:
        module = import_module(name)
        left = [one for one in module.__all__ if (name, one) not in shown.listed and not one.startswith("__")]
        called, constants = [], []
        for one in wanted or left:
            thing = getattr(module, one)
            if not (inspect.isclass(thing) or inspect.isfunction(thing)):
                constants.append(one)
            elif shown.take(name, one, thing):
                called.append(one)
        lines += [f".. currentmodule:: {name}", ""]
        if called:
            lines += [".. autosummary::", "   :toctree: .", "   :nosignatures:", ""]
            lines += [*(f"   {one}" for one in called), ""]
        lines += [line for one in constants for line in constant(module, one)]
    return "\n".join(lines)


def constant(module, name):
    """A constant with what the comment above it says, and its value where that is short."""
    value = repr(getattr(module, name))
    lines = [f".. py:data:: {name}", f"   :module: {module.__name__}"]
    if len(value) <= _LONGEST_VALUE and " at 0x" not in value:
        lines.append(f"   :value: {value}")
    return [*lines, "", *(f"   {line}" for line in comment(module, name)), ""]


def comment(module, name):
    """The lines of the `#:` comment of a constant, wherever in the module's folder it is defined."""
    inside = getattr(module, "__path__", None)
    # Private modules are compiled: there is no comment to read in them.
    open_ones = [one.name for one in pkgutil.iter_modules(inside or []) if not one.name.startswith("_")]
    names = [module.__name__, *(f"{module.__name__}.{one}" for one in open_ones)]
    for one in names:
        found = ModuleAnalyzer.for_module(one).find_attr_docs().get(("", name))
        if found:
            return found
    return []
