"""From rows to clusters of landmarks: choose them, sum their graph over the blocks, solve it, label all of them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from ..affinity import as_affinity
from ..neighbors import MAX_TREE_FEATURES, kneighbors
from ..points import prepare_points
from ..tensors import Floats, Ints, Places, arange_like, asarray_like, is_tensor, stable_order, to_array
from .attachment import Attachment, symmetric_graph
from .blocks import row_blocks
from .sampling import RowReservoir, choose_landmarks


@dataclass(frozen=True, eq=False)
class LandmarkGraph:
    r"""Landmarks, the weights of rows on them, and the landmark graph.

    Parameters
    ----------
    attachment : Attachment
    affinity : CSR array of shape (n_landmarks, n_landmarks)
        :math:`B^T B` over the sample, each row of which stands for as many.
    pilot : array of shape (n_kept, n_features)
        The sample.
    """

    attachment: Attachment
    affinity: sparse.csr_array
    pilot: Any

    @property
    def weights(self) -> Floats:
        """How many rows each landmark stands for."""
        return as_affinity(self.affinity).degrees()

    @property
    def are_all_points(self) -> bool:
        """Whether every distinct row is a landmark, so that they are points without a graph."""
        return self.attachment.n_nearest == 1 and self.affinity.shape[0] > 1

    @property
    def used(self) -> Places:
        """The landmarks that rows are linked to."""
        return np.flatnonzero(self.weights > 0)

    @property
    def used_affinity(self) -> sparse.csr_array:
        """The graph between those."""
        return self.affinity[self.used][:, self.used]

    def labelled(self, labels: Ints) -> Attachment:
        """The attachment once the landmarks in use have clusters; the others go with the nearest of those.

        A cluster of a few landmarks may be outvoted on every row by those around it. Rows then take the cluster of
        their nearest landmark.
        """
        landmarks = self.attachment.landmarks
        used = asarray_like(landmarks, self.used) if is_tensor(landmarks) else self.used
        everyone = labels[to_array(kneighbors(landmarks[used], 1, at=landmarks)[1][:, 0])]
        everyone[self.used] = labels
        voting = self.attachment.labelled(everyone)
        return voting if _has_every_cluster(voting, self.pilot) else replace(voting, n_nearest=1)


def _has_every_cluster(attachment: Attachment, rows: Any) -> bool:
    """Whether each cluster is that of some row."""
    assert attachment.labels is not None
    missing = set(range(int(attachment.labels.max()) + 1))
    for begin in range(0, rows.shape[0], 4096):
        missing -= set(to_array(attachment.predict(rows[begin : begin + 4096])).tolist())
        if not missing:
            return True
    return False


def default_landmarks(n_rows: int, n_features: int, n_clusters: int) -> int:
    """Default number of landmarks: 30 times the square root of the rows, within limits, and 20 for each cluster.

    Examples
    --------
    >>> default_landmarks(10**6, 2, 20)
    10000
    """
    # Without a tree to find the nearest one, each landmark costs more.
    limit = 10_000 if n_features <= MAX_TREE_FEATURES else 3000
    return min(max(min(max(30 * math.isqrt(n_rows), 1000), limit), 20 * n_clusters), n_rows)


def pilot_rows(n_landmarks: int, n_features: int) -> int:
    """How many rows the sample has that landmarks are chosen from.

    Examples
    --------
    >>> pilot_rows(3000, 2)
    60000
    """
    # Enough for a density at the scale of the landmarks; a cluster of one row in a thousand is then in the sample.
    a_landmark = 20 if n_features <= MAX_TREE_FEATURES else 7
    return max(a_landmark * n_landmarks, 20_000)


def sample_rows(n_landmarks: int, n_features: int) -> int:
    """Size of the sample of distinct rows that links the landmarks.

    Examples
    --------
    >>> sample_rows(3000, 2), sample_rows(3000, 784)
    (200000, 42799)
    """
    # As many as the largest pilot sample has, within 268 MB; with a million, labels do not improve.
    return max(pilot_rows(n_landmarks, n_features), min(200_000, 2**25 // n_features))


def landmark_graph(
    drawn: RowReservoir,
    n_landmarks: int,
    *,
    n_nearest: int = 5,
    density: str | Callable[[Floats], ArrayLike] = "constant",
    scale: str | None = None,
    n_jobs: int | None = None,
    metric: str = "euclidean",
    unit: bool = False,
    mass_unit: float = 1.0,
) -> LandmarkGraph:
    """Landmarks of a sample of rows and the graph between them.

    Parameters
    ----------
    drawn : RowReservoir
        Each of its rows stands for as many: for itself where all distinct rows are there.
    n_landmarks : int
        Fewer if fewer rows are distinct.
    n_nearest : int
        Landmarks that each row is linked to.
    density : str or callable
        The density wanted of the landmarks, as in :func:`evencut.affinity.density_law`.
    scale : {"auto", "standard", None}
        Scaling of the columns, as in :func:`evencut.points.feature_scale`.
    n_jobs : int, optional
    metric : {"euclidean", "cosine"}
    unit : bool
        Whether the sample has rows of unit length already.
    mass_unit : float
        The weight of one count.

    Examples
    --------
    >>> import numpy as np
    >>> drawn = RowReservoir.of(np.random.default_rng(0).normal(size=(500, 2)), 1000, seed=0)
    >>> landmark_graph(drawn, 50).affinity.shape
    (50, 50)
    """
    n_pilot = pilot_rows(n_landmarks, drawn.rows.shape[1])
    order = _order_of_values(drawn.rows[:n_pilot])
    prepared = prepare_points(
        _floats(drawn.rows[:n_pilot][order]),
        drawn.counts[:n_pilot][to_array(order)].astype(np.float64),
        scale=None if unit else scale,
        merge=False,
        metric="euclidean" if unit else metric,
    )
    landmarks = choose_landmarks(prepared.points, n_landmarks, density, np.random.default_rng(drawn.seed), n_jobs)
    n_nearest = landmarks_per_row(len(landmarks), n_landmarks, len(drawn.hashes), n_nearest)
    attachment = Attachment.to(landmarks, n_nearest, prepared.feature_scale, prepared.metric)
    upper = row_blocks(drawn.rows, n_jobs).total(partial(attachment.graph, mass=drawn.counts))
    unit_weight = mass_unit * (drawn.n_seen / float(drawn.counts.sum()))
    return LandmarkGraph(replace(attachment, metric=metric), symmetric_graph(upper, unit_weight), drawn.rows)


def _order_of_values(rows: Any) -> Any:
    """The order of dense rows by their first column, then the second, ...: the same in other units."""
    order, width = arange_like(rows, rows.shape[0]), rows.shape[1]
    if sparse.issparse(rows):
        return order
    # A few columns distinguish most rows; more are compared if they do not.
    for n_columns in (*(n for n in (1, 8) if n < width), width):
        for column in range(n_columns)[::-1]:
            order = order[stable_order(rows[order, column])]
        compared = rows[order, :n_columns]
        if not (compared[1:] == compared[:-1]).all(1).any():
            break
    return order


def landmarks_per_row(n_found: int, n_asked: int, n_distinct: int, n_nearest: int) -> int:
    """Number of landmarks that rows are linked to: 1 if every distinct row is a landmark.

    Examples
    --------
    >>> landmarks_per_row(100, 100, 5000, 5), landmarks_per_row(60, 100, 5000, 5), landmarks_per_row(100, 100, 100, 5)
    (5, 1, 1)
    """
    return 1 if n_found < n_asked or n_found == n_distinct else min(n_nearest, n_found)


def _floats(rows: Any) -> Any:
    return rows if is_tensor(rows) or rows.dtype in (np.float32, np.float64) else rows.astype(np.float64)
