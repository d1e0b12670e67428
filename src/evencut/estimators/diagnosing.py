"""The front door of the diagnosis: points, labels of any tool, and the default estimator as the cure to try."""

from __future__ import annotations

from numpy.typing import ArrayLike

from ..affinity import AffinityLike
from ..diagnosis import BiasReport, diagnose_labels
from ..kernels import Kernel
from .even_cut import EvenCut


def diagnose(
    X: ArrayLike,
    labels: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    scale: str | None = "auto",
    kernel: str | Kernel | None = None,
    affinity: AffinityLike | None = None,
    metric: str = "euclidean",
    cures: bool = True,
    max_points: int = 20_000,
    random_state: int = 0,
    n_jobs: int | None = None,
) -> BiasReport:
    """Report whether a clustering is an artefact of density, which bias it has, why, and what cures it.

    It uses only the points and the labels: it estimates density and neighbour graph again, and tests whether every
    border between two clusters lies in a valley of the density. "mode isolation" is a dense piece cut out of a larger
    group (Breiman's bias), "sparse subset" a few sparse or isolated points that are split off, and "equal sizes" a
    cut through a group, typical of k-means and of large bandwidths. If a border is not in a valley, cures are tried and
    tested in the same way, and the report suggests one that is better. If none is, the verdict is "overlap": density
    cannot decide. "one body" means that there is no valley at all, "unrelated" that the labels do not depend on the
    points. Fewer than 20 points are never called biased.

    Parameters
    ----------
    X : array or tensor of shape (n_samples, n_features), memory map, Dask array or frame, or RowBlocks
        The points that were clustered. If they are not in the memory of the CPU, a sample of about `max_points` rows is
        used.
    labels : array of shape (n_samples,)
        Their clusters: whole numbers or strings. -1 marks noise, which is not judged; the headline reports its share.
    sample_weight : array of shape (n_samples,), optional
        Counts a row as that many copies.
    scale : {"auto", "standard", None}, default="auto"
        Scaling of the columns, as in :class:`~evencut.KernelClustering`. If "auto" does not scale but the standard
        deviations differ by more than three times, scaling is the first cure tried. Repeated rows are one point with a
        weight; if their labels differ, the most frequent one counts. The report lists these steps.
    kernel : str or kernel object, optional
        The kernel that was used, to report the spread of its degrees; `KNN(10)` by default.
    affinity : array of shape (n_samples, n_samples), optional
        The affinity that was used, instead of `kernel`.
    metric : str, default="euclidean"
        As in :class:`evencut.EvenCut`. Sparse rows are judged along their 50 leading singular vectors, precomputed
        distances (of at most 5000 points) by classical scaling.
    cures : bool, default=True
        Whether to try cures. If False, the verdict depends on the borders alone and is never "overlap".
    max_points : int, default=20000
        Larger data are judged on a random sample of this size, and their smallest clusters on all points.
    random_state : int, default=0
        Of the sample.
    n_jobs : int or None, default=None
        Threads of the neighbour search.

    Returns
    -------
    BiasReport
        Print it; read `biased`, `verdict`, `clusters`, `cures` and `advice`; or write it with `to_html(path)`.

    Examples
    --------
    >>> import numpy as np
    >>> from evencut import diagnose
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(400, 2))
    >>> centre = np.linalg.norm(X, axis=1) < 0.5  # a dense piece of one body
    >>> diagnose(X, centre).verdict
    'mode isolation'
    >>> diagnose(X, X[:, 0] < 0).verdict  # cut in two, and no valley anywhere
    'one body'
    >>> diagnose(X, rng.permutation(np.repeat([0, 1], 200))).verdict  # labels in random order
    'unrelated'
    >>> two = np.vstack([X, X + 9])
    >>> diagnose(two, np.repeat(["left", "right"], 400)).biased
    False
    """
    return diagnose_labels(
        X,
        labels,
        cure=EvenCut(scale=scale, metric=metric, random_state=0) if cures else None,
        sample_weight=sample_weight,
        scale=scale,
        kernel=kernel,
        affinity=affinity,
        metric=metric,
        max_points=max_points,
        random_state=random_state,
        n_jobs=n_jobs,
    )
