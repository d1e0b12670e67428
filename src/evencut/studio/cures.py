"""The cure that a diagnosis advises, as choices the page can apply.

The report gives a line of code; it is read as syntax, never run, and only calls and arguments known here count.
"""

from __future__ import annotations

import ast
from typing import Any

from pydantic import ValidationError

from .methods import Method

__all__ = ["cure_of"]

_CRITERIA = {
    "EvenCut": None,
    "KernelClustering": None,
    "KernelKMeans": "average_association",
    "NormalizedCut": "normalized_cut",
}
_KERNELS = {
    "Gaussian": "gaussian",
    "KNN": "knn",
    "AdaptiveGaussian": "adaptive_gaussian",
    "LocalScaling": "local_scaling",
    "Geodesic": "geodesic",
    "SharedNeighbors": "shared_neighbors",
}


def cure_of(code: str, seed: int = 0) -> Method | None:
    """The method a line of advice stands for; None where there is none, or one that the page cannot show.

    Examples
    --------
    >>> cure = cure_of('labels = evencut.KernelClustering(2, kernel="knn", equalize="exact").fit_predict(X)')
    >>> cure.kernel, cure.equalize, cure.n_clusters
    ('knn', 'exact', 2)
    """
    try:
        tree = ast.parse(code)
    except SyntaxError:
        return None
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _name(node.func) in _CRITERIA:
            return _method(node, seed)
    return None


def _method(call: ast.Call, seed: int) -> Method | None:
    given: dict[str, Any] = {"seed": seed, "tool": "evencut" if _name(call.func) == "EvenCut" else "kernel"}
    if _CRITERIA[_name(call.func)]:
        given["criterion"] = _CRITERIA[_name(call.func)]
    for position, value in enumerate(call.args):
        if position:
            return None
        given["n_clusters"] = _value(value)
    for keyword in call.keywords:
        if keyword.arg == "kernel" and isinstance(keyword.value, ast.Call):
            kernel = keyword.value
            given["kernel"] = _KERNELS.get(_name(kernel.func))
            given.update({part.arg: _value(part.value) for part in kernel.keywords if part.arg})
            if kernel.args:
                given["bandwidth" if given["kernel"] == "gaussian" else "n_neighbors"] = _value(kernel.args[0])
        elif keyword.arg == "random_state":
            given["seed"] = _value(keyword.value)
        elif keyword.arg is not None:
            given[keyword.arg] = _value(keyword.value)
    try:
        return Method(**given)
    except ValidationError:
        return None


def _name(function: ast.expr) -> str:
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def _value(node: ast.expr) -> Any:
    return node.value if isinstance(node, ast.Constant) else None
