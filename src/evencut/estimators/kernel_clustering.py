"""Kernel clustering: one criterion on one kernel, by one solver, with density equalisation where asked for."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from sklearn.utils import Tags

from ..affinity import as_affinity
from ..criteria import PosedProblem
from ..kernels import Kernel, SharedNeighbors, affinity_of
from ..points import PreparedPoints
from ..selection import Selection, number_of_affinity
from ..solvers import Solution, solve
from ..tensors import is_tensor, to_array
from .clustering import Chosen, Clustering
from .constraints import Links
from .devices import number_on_device
from .inputs import check_metric, check_problem, kernel_from, tags_of_inputs


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
        times, as in a table of different units, unless the kernel has a length of its own, such as `Gaussian(0.5)`.
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
        """Raise for parameters out of range; the kernel as an object."""
        check_problem(self)
        kernel = self._kernel()
        check_metric(self.metric, kernel)
        return kernel

    def _kernel(self) -> Kernel:
        return SharedNeighbors() if self.kernel is None else kernel_from(self.kernel)

    def _scaling(self, X: Any = None) -> str | None:
        # A length that was given with the kernel is one of the columns as they are.
        measured = self.kernel is not None and kernel_from(self.kernel).has_units
        return None if self.scale == "auto" and measured else self.scale

    def _choose(
        self, prepared: PreparedPoints, kernel: Kernel | None, seed: int, least: int, links: Links | None
    ) -> Chosen:
        """The kernel's affinity and, with `n_clusters="auto"`, the number of clusters that suits it."""
        assert kernel is not None
        points, weights = prepared.points, prepared.weights
        affinity, extension = affinity_of(kernel, points, weights=weights, n_jobs=self.n_jobs)
        if is_tensor(points) or not isinstance(self.n_clusters, str):
            return Chosen(kernel, affinity, extension, number_on_device(self, points, seed))
        selection = Selection.of_numbers(number_of_affinity(affinity, weights, seed), least)
        n_clusters = selection.n_clusters
        return Chosen(kernel, affinity, extension, n_clusters, selection)

    def _problem(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in ("criterion", "equalize", "solver", "n_init", "max_iter")}

    def _solve(self, posed: PosedProblem, chosen: Chosen, seed: int) -> Solution:
        options = {name: getattr(self, name) for name in ("solver", "n_init", "max_iter")}
        return solve(posed.problem, chosen.n_clusters, random_state=seed, **options)

    def _record(self, prepared: PreparedPoints, chosen: Chosen, posed: PosedProblem, solution: Solution) -> None:
        super()._record(prepared, chosen, posed, solution)
        order = prepared.given_order
        self.equalizing_scale_ = posed.scale[order]
        self.degrees_ = to_array(as_affinity(chosen.affinity).degrees())[order]
        self.energy_ = solution.energy
        self.energy_trace_ = np.array(solution.trace)
        self.n_iter_ = solution.n_iter

    def __sklearn_tags__(self) -> Tags:
        return tags_of_inputs(super().__sklearn_tags__(), self.kernel, self.metric)
