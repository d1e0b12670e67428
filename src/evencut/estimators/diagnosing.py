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
    """Say whether a clustering is an artefact of density, which bias it is, why, and what cures it.

    It looks at the points and labels alone: density and neighbour graph are estimated anew, and every border
    between two clusters is asked whether it lies in a valley of the density. "mode isolation" is a dense piece
    cut out of a larger body (Breiman's bias), "sparse subset" the opposite, a few sparse or isolated points, and
    "equal sizes" the cut through a body that k-means and kernels of large bandwidth make. Where borders are not ok,
    cures are tried and judged in the same way. One that is better is advised; where none is, a cut through a dense
    region is no bias but "overlap": density cannot tell. It is "one body" where there is no valley at all, and
    "unrelated" where the labels have nothing to do with the points. On fewer than 20 points nothing is called biased.

    Parameters
    ----------
    X : array or tensor of shape (n_samples, n_features), memory map, Dask array or frame, or RowBlocks
        The points that were clustered. Of what is not in the memory of the CPU, only about `max_points` rows are
        looked at.
    labels : array of shape (n_samples,)
        Their clusters: whole numbers or strings. The number -1 marks noise, which is left out; the headline tells its
        share.
    sample_weight : array of shape (n_samples,), optional
        How many rows each stands for; a weight means the same as repetition.
    scale : {"auto", "standard", None}, default="auto"
        Division of the columns before distances are taken, as in :class:`~evencut.EvenCut`; where "auto"
        leaves columns of very unequal deviations as they are, scaling them is the first cure tried. Repeated rows
        are one point with a weight; where their labels differ, it counts as the cluster of most of them. The report
        says what was done.
    kernel : str or kernel object, optional
        The kernel that was used, for the spread of its degrees; a 10-neighbour kernel by default.
    affinity : array of shape (n_samples, n_samples), optional
        The affinity that was used, instead of `kernel`.
    metric : str, default="euclidean"
        As in :class:`evencut.EvenCut`. Sparse rows are judged along their 50 leading singular vectors, points
        known by distances (at most 5000) by classical scaling.
    cures : bool, default=True
        Whether cures are tried, on the points that are looked at. Without, the verdict rests on the borders alone
        and is never "overlap".
    max_points : int, default=20000
        Larger data are judged on so many points drawn at random, and their smallest clusters on all points.
    random_state : int, default=0
        Of that draw.
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
