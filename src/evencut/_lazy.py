"""What an import waits for: names loaded on first use, optional libraries, loops that must be compiled."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

VARIABLE = "EVENCUT_INTERPRETED"


def lazy_names(package: str, **modules: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """The `__getattr__` and the `__dir__` of a package whose names each have a module as their home.

    Its modules, too, are found without being imported first.

    Examples
    --------
    >>> getter, names = lazy_names("evencut.estimators", even_cut="EvenCut", model_files="load save")
    >>> getter("EvenCut").__module__
    'evencut.estimators.even_cut'
    >>> "EvenCut" in names()
    True
    """
    homes = {name: module for module, names in modules.items() for name in names.split()}

    @cache
    def submodules() -> set[str]:
        # Listed once: other libraries try hundreds of names, and an importer may take a second to say no to each.
        return {module.name for module in iter_modules(sys.modules[package].__path__) if module.name[0] != "_"}

    def getter(name: str) -> Any:
        if name in homes:
            value = getattr(import_module(f"{package}.{homes[name]}"), name)
            setattr(sys.modules[package], name, value)
            return value
        if not name.startswith("_") and name in submodules():
            return import_module(f"{package}.{name}")
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    def names() -> list[str]:
        special = (name for name in vars(sys.modules[package]) if name.startswith("__"))
        return sorted({*special, *getattr(sys.modules[package], "__all__", homes), *submodules()})

    return getter, names


def require(module: str, need: str, extra: str) -> Any:
    """A module of an optional library; where that is missing, an error that says what to install.

    Examples
    --------
    >>> require("no_such_library", "Drawing needs no-such-library", "plot")
    Traceback (most recent call last):
    ModuleNotFoundError: Drawing needs no-such-library, which is not installed: pip install "evencut[plot]"
    """
    library = module.partition(".")[0]
    try:
        import_module(library)
        return import_module(module)
    except ModuleNotFoundError as missing:
        message = f'{need}, which is not installed: pip install "evencut[{extra}]"'
        raise ModuleNotFoundError(message, name=library) from missing


def require_compiled(file: str) -> None:
    """Raise if the module in `file` is Python source, unless the variable allows it."""
    if file.endswith(".py") and os.environ.get(VARIABLE, "0") in ("", "0"):
        raise ImportError(
            f"{file} was not compiled, and takes a thousand times longer as it stands. Install evencut (in its folder: "
            f"make run, or pip install .), or set {VARIABLE}=1 to step through it with a debugger, which needs Cython."
        )
