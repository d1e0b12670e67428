"""From pixel features to the affinity and the criterion: kernels that suit hundreds of thousands of points."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..affinity import AffinityLike
from ..affinity import equalize as even_out
from ..criteria import CRITERIA, EQUALIZATIONS, pose
from .bilateral import bilateral_gaussian
from .cells import CellKNN
from .terms import EntropyTerm, RatioTerm, Term

_MOST_DENSE = 12_000
_EVEN_TO = 1e-6


def pixel_affinity(features: NDArray[np.floating], kernel: Any, random_state: np.random.Generator) -> AffinityLike:
    """Affinity of the pixels, sparse or lazy.

    Parameters
    ----------
    features : ndarray of shape (n_pixels, n_features)
    kernel : {"knn", "gaussian"}, CellKNN or a kernel of `evencut.kernels`
        `"knn"` links cells of pixels of like colour (:class:`CellKNN`). `"gaussian"` goes through a grid over
        feature space, at Scott's rule; a `Gaussian` object does the same at its own bandwidth.
    random_state : numpy.random.Generator

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> pixel_affinity(rng.normal(size=(30, 3)), "knn", rng).shape
    (30, 30)
    """
    if kernel == "knn":
        kernel = CellKNN()
    if isinstance(kernel, CellKNN):
        return kernel.affinity(features, random_state)
    # The other kernels bring scikit-learn along, which takes longer to load than a photo to cut.
    from ..kernels import KNN, Gaussian

    if isinstance(kernel, str):
        if kernel != "gaussian":
            raise ValueError(f"kernel={kernel!r} is not known; choose 'gaussian', 'knn' or give an object.")
        kernel = Gaussian()
    if isinstance(kernel, Gaussian):
        return bilateral_gaussian(features, kernel.bandwidth)
    if not hasattr(kernel, "affinity"):
        raise ValueError(f"kernel={kernel!r} is not a kernel; choose 'knn', 'gaussian' or one of evencut.kernels.")
    if len(features) > _MOST_DENSE and not isinstance(kernel, KNN):
        raise ValueError(
            f"kernel={kernel!r} fills a matrix of {len(features)} by {len(features)} pixels, more than {_MOST_DENSE} "
            "a side; shrink the image or use kernel='knn' or 'gaussian'."
        )
    return kernel.affinity(np.asarray(features, dtype=np.float64))


def pose_term(affinity: AffinityLike, criterion: str, equalize: str | None, surcharge: tuple[float, ...]) -> Term:
    """The criterion to minimise, on the affinity as it is or equalised.

    Parameters
    ----------
    affinity : Affinity
    criterion : str
        `"entropy"`, or a name in :data:`evencut.criteria.CRITERIA`.
    equalize : {None, "weights", "exact"}
        Adaptive weights (eq. 43) or exactly equal degrees.
    surcharge : tuple of float
        What a pixel of each label pays in the entropy criterion.

    Examples
    --------
    >>> import numpy as np
    >>> term = pose_term(np.ones((4, 4)), "normalized_cut", None, (0.0, 0.0))
    >>> term.at(np.array([0, 0, 1, 1]), 2).energy
    -1.0
    """
    if criterion != "entropy" and criterion not in CRITERIA:
        raise ValueError(f"criterion={criterion!r} is not known; choose one of {('entropy', *CRITERIA)}.")
    if equalize not in EQUALIZATIONS:
        raise ValueError(f"equalize={equalize!r} is not known; choose None, 'weights' or 'exact'.")
    if criterion != "entropy":
        ones = np.ones(affinity.shape[0])
        return RatioTerm(pose(affinity, ones, criterion, equalize, tol=_EVEN_TO).problem)
    if equalize == "weights":
        raise ValueError("equalize='weights' has no meaning for criterion='entropy'; use 'exact' or None.")
    return EntropyTerm(even_out(affinity, tol=_EVEN_TO) if equalize == "exact" else affinity, surcharge)
