"""The cure that a diagnosis advises, as choices the page can apply.

`cure_of` takes the estimator itself. A report that holds only a line of code is read as syntax, never run: only
classes and arguments known here count.
"""

from __future__ import annotations

import ast
from typing import Any

from pydantic import ValidationError

from evencut.kernels import KERNELS

from .methods import Method

__all__ = ["cure_of", "cured_model"]

_SHOWN = ("criterion", "equalize", "scale")


def cure_of(model: Any, seed: int = 0) -> Method | None:
    """The method an estimator stands for; None where the page has no choices for it.

    Examples
    --------
    >>> from evencut import KernelClustering
    >>> cure = cure_of(KernelClustering(2, kernel="knn", equalize="exact"))
    >>> cure.kernel, cure.equalize, cure.n_clusters
    ('knn', 'exact', 2)
    """
    from evencut import EvenCut, KernelClustering

    if not isinstance(model, EvenCut | KernelClustering):
        return None
    given = model.get_params(deep=False)
    choices: dict[str, Any] = {part: getattr(model, part) for part in _SHOWN if hasattr(model, part)}
    choices["n_clusters"] = given["n_clusters"]
    choices["seed"] = seed if given["random_state"] is None else given["random_state"]
    choices["tool"] = "evencut" if isinstance(model, EvenCut) else "kernel"
    if choices["tool"] == "kernel":
        kernel = given["kernel"]
        if kernel is None:  # the estimator chooses one, which the page cannot show
            return None
        named = isinstance(kernel, str)
        choices["kernel"] = kernel if named else _names().get(type(kernel))
        choices["parameters"] = {} if named else _parameters(kernel)
    try:
        return Method(**choices)
    except ValidationError:
        return None


def _names() -> dict[type, str]:
    return {kernel: name for name, kernel in KERNELS.items()}


def _parameters(kernel: Any) -> dict[str, Any]:
    """The settings of a kernel that differ from its own defaults."""
    own = type(kernel)()
    settings = [setting.name for setting in type(kernel).settings]
    return {name: getattr(kernel, name) for name in settings if getattr(kernel, name) != getattr(own, name)}


def cured_model(report: Any) -> Any:
    """The estimator that a report advises, None where it advises none."""
    for cure in report.cures:
        if cure.offered and getattr(cure, "model", None) is not None:
            return cure.model
    return _from_code(report.code) if report.code else None


def _from_code(code: str) -> Any:
    """The estimator in a line of code; classes of the library with literal arguments, all else is None."""
    import evencut

    classes = {kernel.__name__: kernel for kernel in KERNELS.values()}
    classes |= {name: getattr(evencut, name) for name in ("EvenCut", "KernelClustering", "KernelKMeans")}
    classes["NormalizedCut"] = evencut.NormalizedCut
    try:
        calls = [node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Call)]
        return next(_built(call, classes) for call in calls if _name(call.func) in classes)
    except (SyntaxError, StopIteration, ValueError, TypeError):
        return None


def _built(node: ast.expr, classes: dict[str, Any]) -> Any:
    if isinstance(node, ast.Call):
        if _name(node.func) not in classes or any(part.arg is None for part in node.keywords):
            raise ValueError("a call that is not known")
        named = {str(part.arg): _built(part.value, classes) for part in node.keywords}
        return classes[_name(node.func)](*(_built(value, classes) for value in node.args), **named)
    return ast.literal_eval(node)


def _name(function: ast.expr) -> str:
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
