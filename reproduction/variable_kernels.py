"""Gaussian kernels of a matrix for each point, or of one volume for all, and the density estimate they make."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from evencut.affinity import AffinityLike, knn_radius
from evencut.affinity.density import gaussian_sums
from evencut.kernels import AdaptiveGaussian, Extension, Points
from evencut.tensors import AnyFloats, Floats


@dataclass(eq=False, repr=False)
class VariableGaussian(AdaptiveGaussian):
    r"""The adaptive Gaussian kernel of given matrices, or of one volume for all points.

    Parameters
    ----------
    covariances : array of shape (n_samples, n_features, n_features), optional
        A matrix :math:`\Sigma_p` for each point, instead of the density law.
    normalize : bool, default=False
        Give each point's kernel the same volume, :math:`|\Sigma_p|^{-1/2} \kappa_p` (eq. 12, footnote 3), up to one
        constant. Right for estimating a density (:func:`variable_density`) and wrong for clustering: it undoes the
        equalisation, and brings Breiman's bias back.

    Examples
    --------
    >>> VariableGaussian(covariances=np.ones((2, 1, 1))).affinity(np.array([[0.0], [1.0]])).round(3)
    array([[1.   , 0.607],
           [0.607, 1.   ]])
    """

    covariances: ArrayLike | None = None
    normalize: bool = False

    @property
    def is_tied_to_rows(self) -> bool:
        """With a matrix for each point."""
        return self.covariances is not None

    @property
    def needs_coordinates(self) -> bool:
        """Matrices and volumes need a dimension."""
        return True

    def affinity(self, X: Points, *, n_jobs: int | None = None) -> AffinityLike:
        """The affinity of all pairs, in memory."""
        one_way = self._of_centres(X, X, n_jobs)
        return 0.5 * (one_way + one_way.T)

    def extend(self, X: Points, *, n_jobs: int | None = None) -> Extension:
        """Affinities of new points, at the matrices of the points of `X`."""
        return partial(self._new_rows, X, n_jobs)

    def _new_rows(self, X: Points, n_jobs: int | None, Y: Points) -> AffinityLike:
        return self._of_centres(X, np.asarray(Y), n_jobs).T

    def _of_centres(self, X: Points, Y: Points, n_jobs: int | None) -> AnyFloats:
        """Row p: the kernel at point p of X for all points of Y."""
        if self.covariances is None:
            sigma = self.bandwidths(X, n_jobs)
            return self._at_one_volume(self._from_centres(X, Y, sigma), X.shape[1] * np.log(sigma))
        matrices = _matrix_per_point(self.covariances, X)
        squared = np.empty((len(X), len(Y)), dtype=X.dtype)
        for p, covariance in enumerate(matrices):
            offsets = Y - X[p]
            squared[p] = np.einsum("qi,qi->q", offsets, np.linalg.solve(covariance, offsets.T).T)
        return self._at_one_volume(np.exp(-0.5 * squared), 0.5 * np.linalg.slogdet(matrices)[1])

    def _at_one_volume(self, kernels: AnyFloats, log_volume: Floats) -> AnyFloats:
        """The kernels, one a row, over their volumes where asked for; the volumes in units of their geometric mean."""
        if not self.normalize:
            return kernels
        relative = log_volume.mean() - log_volume
        if np.ptp(relative) > 0.5 * np.log(np.finfo(kernels.dtype).max):
            raise ValueError(
                f"normalize=True: the volumes of the kernels span a factor of 1e{np.ptp(relative) / np.log(10):.0f}, "
                "more than the affinity can hold; reduce the number of features, or use normalize=False."
            )
        return kernels * np.exp(relative).astype(kernels.dtype)[:, None]


def _matrix_per_point(matrices: ArrayLike, X: Points) -> Floats:
    """The matrices given, one positive definite one for each point."""
    matrices = np.asarray(matrices, dtype=np.float64)
    n_samples, n_features = X.shape
    if matrices.shape != (n_samples, n_features, n_features):
        raise ValueError(
            f"covariances have shape {matrices.shape}; {n_samples} points with {n_features} features "
            f"need ({n_samples}, {n_features}, {n_features})."
        )
    if not np.isfinite(matrices).all() or np.linalg.eigvalsh(matrices).min() <= 0:
        raise ValueError("covariances must hold symmetric positive definite matrices.")
    return matrices


def variable_density(
    X: ArrayLike, n_neighbors: int = 20, at: ArrayLike | None = None, n_jobs: int | None = None
) -> Floats:
    r"""Density by normalised Gaussian kernels of variable bandwidth (footnote 3).

    .. math:: \rho(x) = \frac1n \sum_q (2\pi\sigma_q^2)^{-N/2} \exp\left(-\frac{\|x-f_q\|^2}{2\sigma_q^2}\right),
              \qquad \sigma_q = \frac{R_q^K}{\sqrt{N + 2}}

    A ball of radius R has this standard deviation in each direction. Where densities differ much, it is more accurate
    than :func:`evencut.affinity.parzen_density`, which smooths modes away or leaves tails ragged.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
    n_neighbors : int, default=20
        K.
    at : array of shape (n_queries, n_features), optional
        Where to estimate; at the points themselves by default.
    n_jobs : int, optional
        Threads of the neighbour search.

    Examples
    --------
    >>> variable_density([[0.0], [1.0], [3.0]], n_neighbors=1).round(3)
    array([0.286, 0.307, 0.116])
    """
    points = np.asarray(X, dtype=np.float64)
    queries = points if at is None else np.asarray(at, dtype=np.float64)
    n_features = points.shape[1]
    sigma = knn_radius(points, n_neighbors, n_jobs=n_jobs) / np.sqrt(n_features + 2)
    log_volume = n_features * (np.log(sigma) + 0.5 * np.log(2 * np.pi))
    return gaussian_sums(queries, points, sigma, log_volume) / len(points)
