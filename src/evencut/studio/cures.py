"""The cure that a diagnosis advises, as choices the page can apply."""

from __future__ import annotations

from typing import Any

from pydantic import ValidationError

from evencut.estimators import EvenCut, KernelClustering
from evencut.estimators.inputs import kernel_from
from evencut.kernels import KERNELS

from .methods import Method


def cure_of(model: Any) -> Method | None:
    """The method that an estimator stands for; None for one that the page cannot show.

    Examples
    --------
    >>> from evencut import KernelClustering
    >>> cure = cure_of(KernelClustering(2, kernel="knn", equalize="exact", random_state=0))
    >>> cure.tool, cure.kernel, cure.equalize, cure.n_clusters
    ('kernel', 'knn', 'exact', 2)
    """
    if not isinstance(model, EvenCut | KernelClustering):
        return None
    choices: dict[str, Any] = {
        "n_clusters": model.n_clusters,
        "scale": model.scale,
        "seed": model.random_state if isinstance(model.random_state, int) else 0,
    }
    if model.metric != "euclidean":
        return None
    if isinstance(model, KernelClustering):
        kernel = kernel_from(model.kernel or "shared_neighbors")
        names = {kind: name for name, kind in KERNELS.items()}
        chosen = {setting.name: getattr(kernel, setting.name) for setting in kernel.settings}
        usual = type(kernel)()
        parameters = {name: value for name, value in chosen.items() if value != getattr(usual, name)}
        choices |= {"tool": "kernel", "kernel": names.get(type(kernel), ""), "parameters": parameters}
        choices |= {"criterion": model.criterion, "equalize": model.equalize}
    try:
        return Method(**choices)
    except ValidationError:
        return None
