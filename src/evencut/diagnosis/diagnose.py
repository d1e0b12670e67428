"""One call that says whether a clustering, made by any tool, is biased by density."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..affinity import Affinity, AffinityLike, PreparedPoints, as_affinity, check_affinity
from ..criteria import average_association, normalized_cut
from ..io import as_rows
from ..kernels import KERNELS, KNN, Kernel
from ..landmarks.blocks import RowBlocks, is_lazy, sample
from ..landmarks.choosing import RowSample
from ..tensors import is_tensor, to_array, to_tensor
from .advice import advise
from .confidence import calibrated
from .connectivity import joining_neighbors
from .cures import after_trying, try_cures
from .evidence import GRAPH_NEIGHBORS, Evidence, gather, look_around
from .pictures import pictures
from .points import LabelledPoints, fitted_points, labelled_points
from .report import BiasReport, ClusterReport
from .verdicts import Finding, gravest, judge

__all__ = ["DensityBiasWarning", "diagnose", "diagnose_fitted"]

_FEWEST_JUDGED = 100


class DensityBiasWarning(UserWarning):
    """A clustering shows a density bias; `evencut.diagnose` tells more."""


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
    region is no bias but "overlap": density cannot tell.

    Parameters
    ----------
    X : array or tensor of shape (n_samples, n_features), memory map, Dask array or frame, or RowBlocks
        The points that were clustered. Of what is not in the memory of the CPU, only about `max_points` rows are
        looked at.
    labels : array of shape (n_samples,)
        Their clusters: numbers or strings. The number -1 marks noise, which is left out.
    sample_weight : array of shape (n_samples,), optional
        How many rows each stands for; a weight means the same as repetition.
    scale : {"auto", "standard", None}, default="auto"
        Division of the columns before distances are taken, as in :class:`~evencut.KernelClustering`. Repeated rows
        are one point with a weight; where their labels differ, it counts as the cluster of most of them. The report
        says what was done.
    kernel : str or kernel object, optional
        The kernel that was used, for the spread of its degrees; a 10-neighbour kernel by default.
    affinity : array of shape (n_samples, n_samples), optional
        The affinity that was used, instead of `kernel`.
    metric : str, default="euclidean"
        As in :class:`evencut.KernelClustering`. Sparse rows are judged along their 50 leading singular vectors, points
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
    >>> diagnose(X, X[:, 0] < 0).verdict  # one body cut in two, and no valley anywhere
    'overlap'
    >>> two = np.vstack([X, X + 9])
    >>> diagnose(two, np.repeat(["left", "right"], 400)).biased
    False
    """
    if is_tensor(X) or is_tensor(labels):
        X, labels, sample_weight, affinity = _arrays_of(X, (labels, sample_weight), affinity, max_points, random_state)
    if is_lazy(X) or is_lazy(labels) or isinstance(X, np.memmap | RowBlocks):
        if sample_weight is not None:
            raise ValueError("sample_weight needs X in memory; draw a sample of X, labels and weights first.")
        X, labels = sample(X, labels, n_samples=max_points, random_state=random_state)
    given = labelled_points(as_rows(X), labels, sample_weight, scale, metric)
    how: dict[str, Any] = {"kernel": kernel, "affinity": affinity, "cures": cures, "max_points": max_points}
    return _report(given, scale, random_state=random_state, n_jobs=n_jobs, **how)


def diagnose_fitted(
    prepared: PreparedPoints, labels: NDArray[np.int64], *, scale: str | None, **options: Any
) -> BiasReport:
    """Diagnose a model on the points as it prepared them (with `scale`), one label each; options of `diagnose`."""
    return _report(fitted_points(prepared, labels), scale, **options)


def _report(
    given: LabelledPoints,
    scale: str | None,
    *,
    kernel: str | Kernel | None = None,
    affinity: AffinityLike | None = None,
    cures: bool = True,
    max_points: int = 20_000,
    random_state: int = 0,
    n_jobs: int | None = None,
) -> BiasReport:
    if max_points < _FEWEST_JUDGED:
        raise ValueError(f"max_points={max_points} is too few to judge by; use {_FEWEST_JUDGED} or more.")
    drawn = _draw(len(given.points), max_points, random_state)
    around = look_around(given.points, given.prepared.weights, drawn, n_jobs)
    evidence = gather(around, given.codes, len(given.names))
    borders_say = judge(evidence)
    tried = try_cures(given, around, borders_say, scale) if cures else []
    findings = after_trying(borders_say, given.names, tried)
    verdict, clarity = gravest(findings, evidence.sizes)
    rows = [_row(k, given, evidence, finding) for k, finding in enumerate(findings)]
    advice, code = advise(verdict, rows, tried, len(given.points))
    kernel_name, matrix = _kernel_matrix(given, drawn, kernel, affinity, n_jobs)
    pieces = joining_neighbors(given.points[drawn], around.graph, around.indices[:, 1:], around.n_neighbors)
    return BiasReport(
        verdict=verdict,
        confidence=calibrated(verdict, clarity, tried),
        clusters=rows,
        advice=advice,
        code=code,
        cures=tried,
        preparation=given.preparation(),
        n_points=given.n_given,
        n_noise=given.n_noise,
        n_distinct=len(given.points),
        n_judged=len(drawn),
        degree_spread=_degree_spread(matrix),
        criteria_gap=_criteria_gap(matrix, given.codes if matrix.shape[0] == len(given.points) else given.codes[drawn]),
        kernel=kernel_name,
        n_components=pieces[0],
        joining_neighbors=pieces[1],
        n_neighbors=around.n_neighbors,
        dimension=around.dimension,
        pictures=pictures(given.points[drawn], evidence, findings),
    )


def _draw(n_points: int, max_points: int, random_state: int) -> NDArray[np.intp]:
    if n_points <= max_points:
        return np.arange(n_points)
    return np.sort(np.random.default_rng(random_state).choice(n_points, max_points, replace=False))


def _row(k: int, given: LabelledPoints, evidence: Evidence, finding: Finding) -> ClusterReport:
    border = finding.border
    weight = float(given.sizes[k])
    return ClusterReport(
        label=given.names[k],
        size=int(weight) if weight.is_integer() else weight,
        share=weight / float(given.sizes.sum()),
        density=float(evidence.density[k]),
        border_density=0.0 if border is None else float(np.exp(border.height - evidence.middle[k])),
        conductance=float(evidence.conductance[k]),
        neighbor=None if border is None else given.names[border.other(k)],
        verdict=finding.verdict,
        confidence=float(finding.confidence),
    )


def _arrays_of(X: Any, by_row: tuple[Any, Any], affinity: Any, max_points: int, random_state: int) -> tuple[Any, ...]:
    """Tensors as arrays: all of them where they are few or in the memory of the CPU, else the rows of a sample.

    `by_row` are labels and weights.
    """
    if not is_tensor(X) or X.device.type == "cpu" or len(X) <= max_points:
        every = (X, *by_row, affinity)
        return tuple(to_array(value) if is_tensor(value) else value for value in every)
    if len(by_row[0]) != len(X):
        raise ValueError(f"labels has {len(by_row[0])} entries, but X has {len(X)} rows; give one label a row.")
    if affinity is not None:
        raise ValueError(f"an affinity of {len(X)} points does not go with a sample of them; leave it out.")
    drawn = RowSample.of(max_points, len(X), random_state).places(len(X), 0)
    rows = to_tensor(drawn, X)
    some = [to_array(part[rows]) if is_tensor(part) else np.asarray(part)[drawn] for part in by_row if part is not None]
    return (to_array(X[rows]), *some, *([None] * (3 - len(some))))


def _kernel_matrix(
    given: LabelledPoints,
    drawn: NDArray[np.intp],
    kernel: Any,
    affinity: AffinityLike | None,
    n_jobs: int | None,
) -> tuple[str, Affinity]:
    """The affinity that degrees are read off, and its name."""
    if affinity is not None:
        matrix = as_affinity(check_affinity(affinity))
        if matrix.shape[0] <= given.rows.max():
            raise ValueError(f"affinity is of {matrix.shape[0]} points, but there are more labels; give all rows.")
        # Points are in an order of their own; copies are seen by the first of them.
        return "given", matrix.among(given.rows)
    if kernel is None:
        kernel = KNN(n_neighbors=GRAPH_NEIGHBORS)
    elif isinstance(kernel, str):
        known = sorted(set(KERNELS) - {"precomputed"})
        if kernel not in known:
            raise ValueError(f"kernel={kernel!r} is not known; choose one of {known}, or pass affinity=.")
        kernel = KERNELS[kernel]()
    return type(kernel).__name__, as_affinity(kernel.affinity(given.points[drawn], n_jobs=n_jobs))


def _degree_spread(matrix: Affinity) -> float:
    degree = matrix.degrees()
    return float(degree.std() / degree.mean()) if degree.mean() > 0 else float("inf")


def _criteria_gap(matrix: Affinity, codes: NDArray[np.int64]) -> float:
    """Average association in units of the mean degree against normalised cut, as a share of the latter."""
    degree = matrix.degrees()
    if not (degree > 0).all():
        return float("inf")
    codes = np.unique(codes, return_inverse=True)[1]
    association = average_association(matrix).energy(codes) / degree.mean()
    cut = normalized_cut(matrix).energy(codes)
    return float(abs(association - cut) / abs(cut)) if cut else 0.0
