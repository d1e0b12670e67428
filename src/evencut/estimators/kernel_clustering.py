"""One criterion on one kernel by one solver, with optional density equalisation; two criteria under their names."""

from __future__ import annotations

import inspect
import re
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, Self

import numpy as np

from .._runtime import step
from ..affinity import as_affinity
from ..kernels import Kernel, SharedNeighbors, affinity_of
from ..points import PreparedPoints
from ..selection import Selection, number_of_affinity
from ..tensors import is_tensor, to_array
from .clustering import Choice, Clustering, FitInput, FitResult
from .fitting import number_from_sample
from .inputs import check_metric, check_problem, kernel_from, problem_of


@dataclass(eq=False, repr=False)
class KernelClustering(Clustering):
    r"""Kernel clustering: the partition of lowest energy of one criterion on the affinity of one kernel.

    .. math:: -\sum_k \frac{\sum_{pq \in S_k} A_{pq}}{\sum_{p \in S_k} w_p}, \qquad
              w_p = d_p \text{ (normalised cut, eq. 10)}, \quad w_p = 1 \text{ (kernel k-means, eqs 8, 9)}

    The criteria have density biases (:func:`evencut.diagnose` reports them); `equalize` and adaptive kernels counter
    them. For clusters without choosing a kernel use :class:`EvenCut`.

    Parameters
    ----------
    n_clusters : int or "auto", default=8
        `"auto"` chooses the number from 2 to 64 whose worst conductance on the affinity is lowest relative to one
        cluster more (:func:`evencut.selection.number_of_affinity`).
    kernel : str or kernel object, default=None
        `"shared_neighbors"`, `"knn"`, `"gaussian"`, `"disc"`, `"adaptive_gaussian"`, `"local_scaling"`, `"geodesic"`,
        `"precomputed"`, or an object of :mod:`evencut.kernels`. None means `SharedNeighbors()`.
    criterion : {"normalized_cut", "average_association", "average_cut"}, default="normalized_cut"
        Average association is kernel k-means.
    equalize : {None, "weights", "exact"}, default=None
        `"weights"`: point weights :math:`w_p = 1/\rho_p` (eq. 43), with the density estimated by the degrees (eq. 67).
        `"exact"`: affinities are scaled until all degrees are equal; all criteria are then the same.
    solver : {"auto", "spectral", "multilevel", "lloyd"}, default="auto"
        As in :func:`evencut.solvers.solve`.
    scale : {"auto", "standard", None}, default="auto"
        `"standard"` divides the columns by their standard deviations. `"auto"` does so if these differ by more than ten
        times, as in a table of different units, unless the kernel has a length, such as `Gaussian(0.5)`.
        `None` leaves the columns unchanged. A precomputed affinity is never scaled.
    metric : str, default="euclidean"
        As in :class:`EvenCut`.
    n_init : int, default=4
        Number of starts; the one of lowest energy is kept.
    max_iter : int, default=100
        Maximum number of refinement sweeps for each start.
    min_size, max_size : float or None, default=None
        Limits on the rows of a cluster (on their weight, if rows have weights): hard bounds on `labels_`, for any
        kernel and criterion. New points are not counted.
    random_state : int, RandomState or None, default=None
        The same seed gives the same labels, for any `n_jobs`.
    n_jobs : int or None, default=None
        Threads of the neighbour search and of affinities computed in blocks; -1 uses all cores.
    verbose : int, default=0
        1 reports the progress of the fit on stderr, as a bar on a terminal.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of each row; cluster 0 is the largest.
    probabilities_ : ndarray of shape (n_samples,)
        Probability that a row belongs to its cluster, as :meth:`predict_proba` but computed without the row itself; 1
        for rows whose label you passed as `y`.
    outlier_scores_ : ndarray of shape (n_samples,)
        0 for a row as close to others as is typical of its cluster, 0.5 at three standard deviations, up to 1 far away.
    n_clusters_ : int
        Number of clusters, set or chosen.
    selection_ : Selection
        With `n_clusters="auto"`: the numbers of clusters compared, best first; :meth:`plot_selection` draws them.
    feature_scale_ : ndarray of shape (n_features_in_,)
        What the columns were divided by.
    point_of_row_ : ndarray of shape (n_samples,)
        The point that represents each row: equal rows are one point. -1 for rows of weight zero.
    affinity_ : ndarray or CSR array of shape (n_points, n_points)
        The affinity of the kernel between the points, before equalisation; a copy.
    weights_ : ndarray of shape (n_points,)
        Point weights: sample weights, summed over equal rows, times adaptive weights.
    equalizing_scale_ : ndarray of shape (n_points,)
        The scale :math:`s_p` of exact equalisation; ones without it.
    degrees_ : ndarray of shape (n_points,)
        Node degrees of `affinity_`.
    energy_ : float
        Value of the criterion at `labels_`, in the paper's sign and scale; lower is better.
    energy_trace_ : ndarray
        Energies of the start that won, before and after each sweep; they never rise.
    n_iter_ : int
        Sweeps of the start that won.
    classes_ : ndarray
        Names of the clusters 0, 1, ...; only if the partial labels are names.
    tree_ : ndarray of shape (n_leaves - 1, 4)
        Hierarchy from many small groups through the clusters to one, in SciPy's linkage format. :meth:`cut` returns the
        labels of any level, :meth:`plot_tree` draws it.
    leaf_of_row_ : ndarray of shape (n_samples,)
        The leaf of `tree_` that contains each row.
    table_ : Preparation
        Print it to see how each column was prepared; only for tables with words, dates or missing values.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Only if the columns have names.

    Notes
    -----
    A row that occurs c times is one point of weight c, for every kernel. Neighbours are counted among distinct points,
    so copies do not fill a neighbourhood, and a sample weight means the same as repetition. Rows closer to each other
    than a thousandth of the distance to any other row count as copies. A row of weight zero has no influence; it is
    labelled afterwards, like a new point.

    New points go to the cluster of lowest cost under the bound of the Lloyd step,
    :math:`-2 (M S_k)_p / w(S_k) + w_p M(S_k, S_k)/w(S_k)^2`.

    Examples
    --------
    >>> from evencut import KernelClustering
    >>> from evencut.datasets import make_clumped_moons
    >>> X, y = make_clumped_moons(600, clump=0.5, random_state=0)
    >>> model = KernelClustering(2, kernel="knn", equalize="exact", random_state=0).fit(X)
    >>> sorted(int(size) for size in (sum(model.labels_ == 0), sum(model.labels_ == 1)))
    [300, 300]
    """

    n_clusters: int | str = 8
    _: KW_ONLY
    kernel: str | Kernel | None = None
    criterion: str = "normalized_cut"
    equalize: str | None = None
    solver: str = "auto"
    n_init: int = 4
    max_iter: int = 100

    def _check_parameters(self) -> Kernel:
        check_problem(self)
        kernel = SharedNeighbors() if self.kernel is None else kernel_from(self.kernel)
        check_metric(self.metric, kernel)
        return kernel

    def _scaling(self, X: Any = None) -> str | None:
        # The length of a kernel is one of the columns unchanged.
        has_units = self.kernel is not None and kernel_from(self.kernel).has_units
        return None if self.scale == "auto" and has_units else self.scale

    def _choose(self, prepared: PreparedPoints, inputs: FitInput, seed: int, min_clusters: int) -> Choice:
        assert inputs.kernel is not None
        step("neighbours and affinity", 1, 3)
        points, weights, selection = prepared.points, prepared.weights, None
        affinity, extension = affinity_of(inputs.kernel, points, weights=weights, n_jobs=self.n_jobs)
        if not isinstance(self.n_clusters, str):
            n_clusters = int(self.n_clusters)
        elif is_tensor(points):
            n_clusters = number_from_sample(self, points, seed)
        else:
            selection = Selection.of_numbers(number_of_affinity(affinity, weights, seed), min_clusters)
            n_clusters = selection.n_clusters
        return Choice(inputs.kernel, affinity, extension, n_clusters, problem_of(self), selection)

    def _record(self, inputs: FitInput, result: FitResult) -> Self:
        solution, order = result.solution, result.points.given_order
        self.equalizing_scale_ = result.posed.scale[order]
        self.degrees_ = to_array(as_affinity(result.choice.affinity).degrees())[order]
        self.energy_, self.energy_trace_ = solution.energy, np.array(solution.trace)
        self.n_iter_ = solution.n_iter
        return super()._record(inputs, result)


def _with_sections(own: str, general: str) -> str:
    """A docstring with the parameters and attributes of the general estimator, without `criterion`."""
    sections = general[general.index("Parameters\n---") : general.index("Notes\n---")]
    sections = re.sub(r"^criterion :.*\n(?: .*\n)+", "", sections, flags=re.MULTILINE)
    introduction, examples = own.split("Examples\n---")
    return f"{introduction}{sections}Examples\n---{examples}"


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

    Prone to isolating dense clumps (Breiman's bias) unless `equalize` or an adaptive kernel equalises the density; with
    a Gaussian kernel of large bandwidth it is k-means (eq. 44).

    Examples
    --------
    >>> from evencut import KernelKMeans
    >>> KernelKMeans(2, kernel="gaussian", random_state=0).fit_predict([[0.0], [0.1], [3.0], [3.1]])
    array([0, 0, 1, 1])
    """

    criterion: str = field(default="average_association", init=False)
