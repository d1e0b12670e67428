"""What a kernel does to the density: before, and after the embedding it implies (figure "nash" e)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_array

from ..affinity import degrees, knn_density
from ..kernels import KERNELS, Kernel
from ..tensors import Floats


@dataclass(frozen=True, eq=False)
class DensityMapping:
    """Densities of the points before and after a kernel's implicit embedding.

    Attributes
    ----------
    before, after : ndarray of shape (n_samples,)
        Each scaled to a geometric mean of one.
    spread_before, spread_after : float
        Standard deviation of log density: how far from even. Zero is an equal density; it does not depend on the
        unit of density, and for small values it is the coefficient of variation of the density itself.
    kernel : str
    """

    before: Floats
    after: Floats
    spread_before: float
    spread_after: float
    kernel: str

    def plot(self, ax: Any = None) -> Any:
        """The scatter of new over old density, both axes logarithmic; returns the axes."""
        from ..plotting.clusters import axes_for

        ax = axes_for(ax, (4.2, 3.8))
        ends = [self.before.min(), self.before.max()]
        ax.plot(ends, ends, color="0.6", lw=1, label="unchanged")
        ax.axhline(1.0, color="0.6", lw=1, ls="--", label="equal")
        ax.scatter(self.before, self.after, s=8, color="#0072b2", alpha=0.5, lw=0)
        low = min(ends[0], self.after.min())
        high = max(ends[1], self.after.max())
        ax.set(xscale="log", yscale="log", xlabel="original density", ylabel="new density")
        ax.set(xlim=(ends[0] / 1.2, ends[1] * 1.2), ylim=(low / 1.2, high * 1.2))
        title = f"{self.kernel}: spread {self.spread_before:.2f} before, {self.spread_after:.2f} after"
        ax.set_title(title, fontsize=10)
        ax.legend(frameon=False, fontsize=9)
        return ax


def density_mapping(X: ArrayLike, kernel: str | Kernel = "knn", *, n_jobs: int | None = None) -> DensityMapping:
    r"""Densities before and after the embedding in which an adaptive kernel is a fixed one.

    By Theorem 3 the affinity is a fixed radial function of distances :math:`\widetilde d_{pq}` in the new space,
    so the Parzen estimate there (eq. 11), with that very function, is the mean affinity of a point:

    .. math:: \rho'_p \propto \frac1n \sum_q A_{pq} = d_p / n

    An equalising kernel makes it constant; a fixed one leaves it as smooth a copy of the old density.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
    kernel : str or kernel object, default="knn"
        As in :class:`~evencut.KernelClustering`, but not precomputed.
    n_jobs : int or None, default=None

    Returns
    -------
    DensityMapping

    Examples
    --------
    >>> import numpy as np
    >>> from evencut.diagnosis import density_mapping
    >>> X = np.random.default_rng(0).normal(size=(300, 2))
    >>> mapping = density_mapping(X, "knn")
    >>> mapping.spread_after < 0.5 * mapping.spread_before
    True
    """
    points: Floats = check_array(X, dtype=np.float64, ensure_min_samples=3, input_name="X")
    if isinstance(kernel, str):
        if kernel not in KERNELS or kernel == "precomputed":
            known = sorted(set(KERNELS) - {"precomputed"})
            raise ValueError(f"kernel={kernel!r} is not known; choose one of {known} or an object of evencut.kernels.")
        kernel = KERNELS[kernel]()
    n_neighbors = min(len(points) - 1, max(10, round(len(points) ** 0.4)))
    before = np.log(knn_density(points, n_neighbors, n_jobs=n_jobs))
    after = np.log(degrees(kernel.affinity(points, n_jobs=n_jobs)))
    return DensityMapping(
        np.exp(before - before.mean()),
        np.exp(after - after.mean()),
        float(before.std()),
        float(after.std()),
        type(kernel).__name__,
    )
