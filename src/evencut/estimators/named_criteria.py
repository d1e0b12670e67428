"""Normalised cut and kernel k-means: `KernelClustering` with its criterion fixed, under the names that people know."""

from __future__ import annotations

import inspect
import re
from dataclasses import dataclass, field

from .kernel_clustering import KernelClustering


def _with_sections(own: str, general: str) -> str:
    """A docstring with the parameters and attributes of the general estimator, without `criterion`."""
    sections = general[general.index("Parameters\n---") : general.index("Notes\n---")]
    sections = re.sub(r"^criterion :.*\n(?: .*\n)+", "", sections, flags=re.MULTILINE)
    before, examples = own.split("Examples\n---")
    return f"{before}{sections}Examples\n---{examples}"


class _NamedCriterion(KernelClustering):
    def __init_subclass__(cls, **options: object) -> None:
        super().__init_subclass__(**options)
        if cls.__doc__ and KernelClustering.__doc__:  # neither is there under python -OO
            cls.__doc__ = _with_sections(inspect.cleandoc(cls.__doc__), inspect.cleandoc(KernelClustering.__doc__))


@dataclass(eq=False, repr=False)
class NormalizedCut(_NamedCriterion):
    r"""Normalised cut: :class:`KernelClustering` with its default criterion, under its own name (eq. 10).

    .. math:: -\sum_k \frac{\sum_{pq \in S_k} A_{pq}}{\sum_{p \in S_k} d_p}

    Examples
    --------
    >>> from evencut import NormalizedCut
    >>> NormalizedCut(2, kernel="gaussian", random_state=0).fit_predict([[0.0], [0.1], [3.0], [3.1]])
    array([0, 0, 1, 1])
    """

    criterion: str = field(default="normalized_cut", init=False)


@dataclass(eq=False, repr=False)
class KernelKMeans(_NamedCriterion):
    r"""Kernel k-means: :class:`KernelClustering` with the average association criterion (eqs 8, 9).

    .. math:: -\sum_k \frac{\sum_{pq \in S_k} A_{pq}}{|S_k|}

    Prone to isolating dense clumps (Breiman's bias) unless `equalize` or an adaptive kernel evens the density; with a
    Gaussian kernel of large bandwidth it is k-means (eq. 44).

    Examples
    --------
    >>> from evencut import KernelKMeans
    >>> KernelKMeans(2, kernel="gaussian", random_state=0).fit_predict([[0.0], [0.1], [3.0], [3.1]])
    array([0, 0, 1, 1])
    """

    criterion: str = field(default="average_association", init=False)
