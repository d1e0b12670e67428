"""One call that says whether a clustering, made by any tool, is biased by density."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.utils import check_array

from ..affinity import (
    METRICS,
    Affinity,
    AffinityLike,
    as_affinity,
    check_affinity,
    check_distances,
    coordinates,
    is_dense,
    points_in,
)
from ..criteria import average_association, normalized_cut
from ..gpu.tensors import is_tensor, to_array, to_tensor
from ..kernels import KERNELS, KNN, Kernel
from ..landmarks.blocks import RowBlocks, is_lazy, sample
from ..landmarks.choosing import RowSample
from .advice import advise
from .connectivity import joining_neighbors
from .evidence import GRAPH_NEIGHBORS, Evidence, gather
from .report import BiasReport, ClusterReport, Pictures
from .verdicts import Finding, gravest, judge

__all__ = ["DensityBiasWarning", "diagnose"]

#: Points drawn in the maps of a report.
_DRAWN = 1500


class DensityBiasWarning(UserWarning):
    """A clustering shows a density bias; `evencut.diagnose` tells more."""


def diagnose(
    X: ArrayLike,
    labels: ArrayLike,
    *,
    kernel: str | Kernel | None = None,
    affinity: AffinityLike | None = None,
    metric: str = "euclidean",
    max_points: int = 20_000,
    random_state: int = 0,
    n_jobs: int | None = None,
) -> BiasReport:
    """Say whether a clustering is an artefact of density, which bias it is, why, and what cures it.

    It looks at the points and labels alone: density and neighbour graph are estimated anew, and every border
    between two clusters is asked whether it lies in a valley of the density. "mode isolation" is a dense piece
    cut out of a larger body (Breiman's bias), "sparse subset" the opposite, a few sparse or isolated points, and
    "equal sizes" the cut through a body that k-means and kernels of large bandwidth make.

    Parameters
    ----------
    X : array or tensor of shape (n_samples, n_features), memory map, Dask array or frame, or RowBlocks
        The points that were clustered. Of what is not in the memory of the CPU, only about `max_points` rows are
        looked at.
    labels : array of shape (n_samples,)
        Their clusters: numbers or strings. The number -1 marks noise, which is left out.
    kernel : str or kernel object, optional
        The kernel that was used, for the spread of its degrees; a 10-neighbour kernel by default.
    affinity : array of shape (n_samples, n_samples), optional
        The affinity that was used, instead of `kernel`.
    metric : str, default="euclidean"
        As in :class:`evencut.KernelClustering`. Sparse rows are judged along their 50 leading singular vectors, points
        known by distances (at most 5000) by classical scaling.
    max_points : int, default=20000
        Larger data are judged on so many points drawn at random, and their smallest clusters on all points.
    random_state : int, default=0
        Of that draw.
    n_jobs : int or None, default=None
        Threads of the neighbour search.

    Returns
    -------
    BiasReport
        Print it; read `biased`, `verdict`, `clusters` and `advice`; or write it with `to_html(path)`.

    Examples
    --------
    >>> import numpy as np
    >>> from evencut import diagnose
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(400, 2))
    >>> centre = np.linalg.norm(X, axis=1) < 0.5  # a dense piece of one body
    >>> diagnose(X, centre).verdict
    'mode isolation'
    >>> two = np.vstack([X, X + 9])
    >>> diagnose(two, np.repeat(["left", "right"], 400)).biased
    False
    """
    if is_tensor(X) or is_tensor(labels):
        X, labels, affinity = _arrays_of(X, labels, affinity, max_points, random_state)
    if is_lazy(X) or is_lazy(labels) or isinstance(X, np.memmap | RowBlocks):
        X, labels = sample(X, labels, n_samples=max_points, random_state=random_state)
    given, all_names = _check(_coordinates(X, metric), labels, max_points)
    kept = np.flatnonzero(_is_no_noise(all_names))
    names, codes = np.unique(all_names[kept], return_inverse=True)
    if len(names) < 2:
        raise ValueError(
            f"labels hold {len(names)} cluster{'' if len(names) == 1 else 's'}, noise left out; a bias shows in how "
            "clusters part, so give at least 2."
        )
    points = given[kept]
    drawn = _draw(len(points), max_points, random_state)
    evidence = gather(points, codes, drawn, n_jobs)
    findings = judge(evidence)
    verdict, confidence = gravest(findings, evidence.sizes)
    rows = [_row(k, names.tolist(), evidence, finding) for k, finding in enumerate(findings)]
    advice, code = advise(verdict, rows, has_noise=len(kept) < len(given))
    kernel_name, matrix = _kernel_matrix(points, kept, drawn, kernel, affinity, n_jobs)
    pieces = joining_neighbors(points[drawn], evidence.graph, evidence.neighbors, evidence.n_neighbors)
    return BiasReport(
        verdict=verdict,
        confidence=confidence,
        clusters=rows,
        advice=advice,
        code=code,
        n_points=len(given),
        n_noise=len(given) - len(kept),
        n_judged=len(drawn),
        degree_spread=_degree_spread(matrix),
        criteria_gap=_criteria_gap(matrix, codes if matrix.shape[0] == len(points) else codes[drawn]),
        kernel=kernel_name,
        n_components=pieces[0],
        joining_neighbors=pieces[1],
        n_neighbors=evidence.n_neighbors,
        dimension=evidence.dimension,
        pictures=_pictures(points[drawn], evidence, findings),
    )


def _coordinates(X: Any, metric: str) -> Any:
    """Rows of coordinates to judge by, whatever the metric."""
    if metric not in METRICS:
        raise ValueError(f"metric={metric!r} is not known; choose one of {METRICS}.")
    if not is_dense(X) or sparse.issparse(X):
        return coordinates(points_in(X, metric))
    if metric == "euclidean":
        return X
    rows = check_array(X, dtype=[np.float64, np.float32], input_name="X")
    return coordinates(points_in(check_distances(rows) if metric == "precomputed" else rows, metric))


def _check(X: ArrayLike, labels: ArrayLike, max_points: int) -> tuple[NDArray[np.float64], NDArray]:
    points: NDArray[np.float64] = check_array(X, dtype=np.float64, ensure_min_samples=3, input_name="X")
    names = np.asarray(labels)
    if names.shape != (len(points),):
        raise ValueError(
            f"labels have shape {names.shape}, but X has {len(points)} points; give one label a point, in order."
        )
    if names.dtype.kind == "O":
        names = np.array([str(name) if isinstance(name, str) else name for name in names])
    if names.dtype.kind == "f" and not np.isfinite(names).all():
        raise ValueError("labels contain NaN or infinity; mark noise with -1.")
    if max_points < 100:
        raise ValueError(f"max_points={max_points} is too few to judge by; use 100 or more.")
    return points, names


def _is_no_noise(labels: NDArray) -> NDArray[np.bool_]:
    """All but the number -1, also where tables turned it into text."""
    if labels.dtype.kind in "US":
        return ~np.isin(labels, np.array(["-1"], dtype=labels.dtype))
    return labels != -1 if labels.dtype.kind in "if" else np.ones(len(labels), bool)


def _draw(n_points: int, max_points: int, random_state: int) -> NDArray[np.intp]:
    if n_points <= max_points:
        return np.arange(n_points)
    return np.sort(np.random.default_rng(random_state).choice(n_points, max_points, replace=False))


def _row(k: int, names: list[Any], evidence: Evidence, finding: Finding) -> ClusterReport:
    border, inside = finding.border, evidence.log_density[evidence.codes == k]
    against = 0.0 if border is None else float(np.exp(border.height - np.median(inside)))
    return ClusterReport(
        label=names[k],
        size=int(evidence.sizes[k]),
        share=float(evidence.sizes[k] / evidence.sizes.sum()),
        density=float(evidence.density[k]),
        border_density=against,
        conductance=float(evidence.conductance[k]),
        neighbor=None if border is None else names[border.other(k)],
        verdict=finding.verdict,
        confidence=float(finding.confidence),
    )


def _arrays_of(X: Any, labels: Any, affinity: Any, max_points: int, random_state: int) -> tuple[Any, Any, Any]:
    """Tensors as arrays: all of them where they are few or in the memory of the CPU, else the rows of a sample."""
    if not is_tensor(X) or X.device.type == "cpu" or len(X) <= max_points:
        return to_array(X), to_array(labels), to_array(affinity) if is_tensor(affinity) else affinity
    if len(labels) != len(X):
        raise ValueError(f"labels has {len(labels)} entries, but X has {len(X)} rows; give one label a row.")
    if affinity is not None:
        raise ValueError(f"an affinity of {len(X)} points does not go with a sample of them; leave it out.")
    drawn = RowSample.of(max_points, len(X), random_state).places(len(X), 0)
    rows = to_tensor(drawn, X)
    return to_array(X[rows]), to_array(labels[rows]) if is_tensor(labels) else np.asarray(labels)[drawn], None


def _kernel_matrix(
    points: NDArray[np.float64],
    kept: NDArray[np.intp],
    drawn: NDArray[np.intp],
    kernel: Any,
    affinity: AffinityLike | None,
    n_jobs: int | None,
) -> tuple[str, Affinity]:
    """The affinity that degrees are read off, and its name."""
    if affinity is not None:
        matrix = as_affinity(check_affinity(affinity))
        if kept[-1] >= matrix.shape[0]:
            raise ValueError(f"affinity is of {matrix.shape[0]} points, but there are more labels; give all rows.")
        return "given", matrix if len(kept) == matrix.shape[0] else matrix.among(kept)
    if kernel is None:
        kernel = KNN(n_neighbors=GRAPH_NEIGHBORS)
    elif isinstance(kernel, str):
        known = sorted(set(KERNELS) - {"precomputed"})
        if kernel not in known:
            raise ValueError(f"kernel={kernel!r} is not known; choose one of {known}, or pass affinity=.")
        kernel = KERNELS[kernel]()
    return type(kernel).__name__, as_affinity(kernel.affinity(points[drawn], n_jobs=n_jobs))


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


def _pictures(points: NDArray[np.float64], evidence: Evidence, findings: list[Finding]) -> Pictures:
    step = max(1, -(-len(points) // _DRAWN))
    thinned = np.arange(0, len(points), step)
    # Clusters too small to survive the thinning are what one wants to see: draw some points of each.
    some = max(5, min(50, _DRAWN // len(evidence.sizes)))
    few = [np.flatnonzero(evidence.codes == k)[:some] for k in range(len(evidence.sizes))]
    shown = np.union1d(thinned, np.concatenate(few))
    return Pictures(
        plane=_plane(points, shown),
        density=evidence.log_density[shown],
        codes=evidence.codes[shown],
        projected=points.shape[1] > 2,
        profiles=[_profile(k, finding) for k, finding in enumerate(findings)],
    )


def _plane(points: NDArray[np.float64], shown: NDArray[np.intp]) -> NDArray[np.float64]:
    """The points as they are in the plane; spread along a line; or their two leading principal components."""
    if points.shape[1] == 2:
        return points[shown]
    if points.shape[1] == 1:
        jitter = np.random.default_rng(0).uniform(-0.1, 0.1, len(shown)) * np.ptp(points)
        return np.column_stack([points[shown, 0], jitter])
    from sklearn.decomposition import PCA

    return PCA(2, svd_solver="full", random_state=0).fit(points).transform(points[shown])


def _profile(k: int, finding: Finding) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    """Layers of the cluster from its border inwards, then those of its neighbour."""
    border = finding.border
    if border is None:
        return None
    return border.profile if border.first == k else border.profile[::-1]
