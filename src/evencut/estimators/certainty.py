r"""Probabilities of the clusters of a point, and outlier scores.

Let :math:`s_{pk}` be the mean share of cluster k among the neighbours of point p, weighted by affinity, and
:math:`e_{pk}` the support for cluster k among the other candidate partitions (if several were compared). Then

.. math:: P_{pk} \propto \bigl(s_{pk}^{1-g} e_{pk}^{g}\bigr)^{\beta}

A candidate that puts p in its cluster C supports the clusters :math:`S_k` by their Jaccard index with C. The remainder
is spread evenly, so a candidate that splits or merges :math:`S_k` lowers its probability:

.. math:: e_{pk} = J_k + \frac{1 - \sum_l J_l}{K}, \qquad J_k = \frac{|C \cap S_k|}{|C \cup S_k|}

The inverse temperature :math:`\beta` maximises the likelihood of labels that were not used for :math:`s`: those of the
other candidates or, without candidates, those of the direct neighbours. On average the largest probability is at most
the expected share of right labels, given the confidence in the whole partition.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import brentq, minimize_scalar
from scipy.special import log_softmax, softmax

from ..affinity import Affinity
from ..tensors import Floats, Ints, to_array

#: Outlier scores use the mean distance to this many nearest points.
N_NEAREST = 10
# Weight g of the candidates. On every second table of `benchmarks/answers.py` the ranking of wrong rows is the same
# within .005 for values from .1 to .5.
_CANDIDATE_WEIGHT = 0.3
# Additive smoothing: a share counts as 100 observations, and 1 is spread evenly over the clusters.
_OBSERVATIONS = 100
# The median distance of a cluster is shrunk towards that of the table, which counts as this many rows.
_SHRINKAGE_ROWS = 100


@dataclass(frozen=True, eq=False)
class Certainty:
    """A fitted model of how certain labels are.

    Parameters
    ----------
    support : ndarray of shape (n_points, n_clusters) or (n_points, 2 * n_clusters)
        For each fitted point, the share of its affinity in each cluster and, if there are candidates, their support.
    n_clusters : int
    inverse_temperature : float
    median_log_distance : ndarray of shape (n_clusters,)
        Median logarithm of the distance to the nearest points in each cluster.
    log_distance_scale : float
        Standard deviation of that logarithm within the clusters.
    """

    support: Floats
    n_clusters: int
    inverse_temperature: float
    median_log_distance: Floats
    log_distance_scale: float

    def probabilities(self, neighbor_support: Floats, scores: Floats) -> Floats:
        """Probabilities of the clusters; they approach equality as the outlier score rises from 0.5 to 1.

        Parameters
        ----------
        neighbor_support : ndarray of shape (n, n_columns)
            Means of `support` over the neighbours of each point; zero without neighbours.
        scores : ndarray of shape (n,)
            Outlier scores.
        """
        logits = self.inverse_temperature * _log_support(neighbor_support, self.n_clusters)
        probabilities = softmax(logits, axis=1)
        uniform_share = np.clip(2 * scores - 1, 0.0, 1.0)[:, None]
        return (1 - uniform_share) * probabilities + uniform_share / self.n_clusters

    def outlier_scores(self, distances: Floats, labels: Ints) -> Floats:
        r"""Outlier scores, from 0 at or below the median distance of the cluster to 1 far outside.

        .. math:: \frac{z^2}{9 + z^2}, \qquad z = \max\left(0, \frac{\log D_p - m_k}{\sigma}\right)

        with :math:`D_p` the mean distance to the nearest points, and :math:`m_k` and :math:`\sigma` the median and the
        standard deviation of its logarithm in the cluster. The score is 0.5 at three standard deviations.

        Examples
        --------
        >>> import numpy as np
        >>> certainty = Certainty(np.ones((1, 1)), 1, 1.0, np.zeros(1), 1.0)
        >>> certainty.outlier_scores(np.exp([0.0, 3.0, 9.0]), np.zeros(3, dtype=int))
        array([0. , 0.5, 0.9])
        """
        log_distances = np.log(np.maximum(distances, np.finfo(float).tiny))
        z = np.clip((log_distances - self.median_log_distance[labels]) / self.log_distance_scale, 0.0, None)
        return np.asarray(z**2 / (3.0**2 + z**2))


def fit_certainty(
    affinity: Affinity,
    labels: Ints,
    weights: Floats,
    distances: Floats,
    row_labels: Ints,
    of_candidates: Floats | None = None,
    confidence: float = 1.0,
) -> tuple[Certainty, Floats]:
    """Fit the model to points (or landmarks); also return the mean support among the neighbours of each of them.

    Parameters
    ----------
    affinity : Affinity of shape (n, n)
    labels : ndarray of shape (n,)
    weights : ndarray of shape (n,)
    distances : ndarray of shape (n_rows,)
        Mean distance of each row to the nearest points.
    row_labels : ndarray of shape (n_rows,)
        Clusters of those rows.
    of_candidates : ndarray of shape (n, n_clusters), optional
        The result of :func:`candidate_support`.
    confidence : float, default=1.0
        Expected adjusted Rand index of the labels with the true clusters.
    """
    n_clusters = int(labels.max()) + 1
    shares = np.eye(n_clusters)[labels]
    # Each in its own cluster, points have no neighbours to ask.
    are_alone = len(labels) == n_clusters
    shares = shares if are_alone else neighbor_mean(affinity, weights, shares)
    support = shares if of_candidates is None else np.hstack([shares, of_candidates])
    neighbor_support = support if are_alone else neighbor_mean(affinity, weights, support)
    held_out_labels = shares if of_candidates is None else of_candidates
    # The share of right labels with this index, if wrong ones are spread over all clusters.
    accuracy = (1 + (n_clusters - 1) * np.sqrt(np.clip(confidence, 0.0, 1.0))) / n_clusters
    log_support = _log_support(neighbor_support, n_clusters)
    inverse_temperature = _fit_inverse_temperature(log_support, held_out_labels, accuracy)
    medians, scale = _log_distance_statistics(distances, row_labels, n_clusters)
    return Certainty(support, n_clusters, inverse_temperature, medians, scale), neighbor_support


def neighbor_mean(affinity: Affinity, weights: Floats, values: Floats) -> Floats:
    """Affinity-weighted mean of the values of the other points; zero for a point without affinity to others.

    Examples
    --------
    >>> import numpy as np
    >>> from evencut.affinity import as_affinity
    >>> affinity = as_affinity(np.array([[9.0, 1.0, 0.0], [1.0, 9.0, 3.0], [0.0, 3.0, 9.0]]))
    >>> neighbor_mean(affinity, np.ones(3), np.eye(2)[[0, 0, 1]])
    array([[1.  , 0.  ],
           [0.25, 0.75],
           [1.  , 0.  ]])
    """
    self_affinity = to_array(affinity.diagonal()).astype(np.float64) * weights
    sums = to_array(affinity @ affinity.asarray(weights[:, None] * values)).astype(np.float64)
    sums = sums - self_affinity[:, None] * values
    total = to_array(affinity @ affinity.asarray(weights)).astype(np.float64) - self_affinity
    # For a point whose only affinity is its own, the difference is a rounding error.
    has_neighbors = total > 1e-12 * (np.abs(self_affinity) + np.abs(total))
    means = np.clip(sums, 0.0, None) / np.where(has_neighbors, total, 1.0)[:, None]
    return np.where(has_neighbors[:, None], means, 0.0)


def candidate_support(selection: Any, labels: Ints, weights: Floats) -> Floats | None:
    """Support of the other candidates for each cluster, at each point; None with fewer than two candidates.

    A candidate counts by its vote times its agreement with the partition that was chosen.

    Examples
    --------
    >>> import numpy as np
    >>> from types import SimpleNamespace
    >>> labels, split = np.array([0, 0, 0, 0, 1, 1]), np.array([0, 0, 1, 1, 2, 2])
    >>> candidates = (SimpleNamespace(point_labels=labels), SimpleNamespace(point_labels=split))
    >>> selection = SimpleNamespace(candidates=candidates, votes=np.ones(2), agreements=np.ones((2, 2)))
    >>> candidate_support(selection, labels, np.ones(6))[[0, 5]]
    array([[0.75, 0.25],
           [0.  , 1.  ]])
    """
    candidates = () if selection is None else selection.candidates
    if len(candidates) < 2:
        return None
    n_clusters = int(labels.max()) + 1
    support, total = np.zeros((len(labels), n_clusters)), 0.0
    for candidate, vote, agreement in zip(candidates[1:], selection.votes[1:], selection.agreements[0, 1:]):
        intersection = np.zeros((int(candidate.point_labels.max()) + 1, n_clusters))
        np.add.at(intersection, (candidate.point_labels, labels), weights)
        union = intersection.sum(axis=1, keepdims=True) + intersection.sum(axis=0) - intersection
        jaccard = intersection / np.maximum(union, np.finfo(float).tiny)
        jaccard += (1 - jaccard.sum(axis=1, keepdims=True)) / n_clusters
        vote = vote * max(float(agreement), 0.0)
        support += vote * jaccard[candidate.point_labels]
        total += vote
    return support / total if total > 0 else np.full_like(support, 1 / n_clusters)


def _log_support(neighbor_support: Floats, n_clusters: int) -> Floats:
    """Logarithm of the smoothed support of the neighbours and, if there are any, of the candidates."""
    logs = np.log((_OBSERVATIONS * neighbor_support + 1 / n_clusters) / (_OBSERVATIONS + 1))
    if neighbor_support.shape[1] == n_clusters:
        return logs
    return (1 - _CANDIDATE_WEIGHT) * logs[:, :n_clusters] + _CANDIDATE_WEIGHT * logs[:, n_clusters:]


def _fit_inverse_temperature(log_support: Floats, soft_labels: Floats, accuracy: float) -> float:
    """The inverse temperature with the lowest cross-entropy against soft labels; at most `accuracy` on average."""
    if log_support.shape[1] == 1:
        return 1.0

    def cross_entropy(inverse_temperature: float) -> float:
        return -float(np.sum(soft_labels * log_softmax(inverse_temperature * log_support, axis=1)))

    def excess(inverse_temperature: float) -> float:
        return float(np.exp(log_softmax(inverse_temperature * log_support, axis=1)).max(axis=1).mean()) - accuracy

    # The upper bound matters only if all candidates agree.
    best = float(minimize_scalar(cross_entropy, bounds=(0.0, 2.0), method="bounded").x)
    return best if excess(best) <= 0 else float(brentq(excess, 0.0, best))


def _log_distance_statistics(distances: Floats, labels: Ints, n_clusters: int) -> tuple[Floats, float]:
    """Median logarithm of the distances in each cluster, shrunk towards that of all rows, and the deviation from it."""
    log_distances = np.log(np.maximum(distances, np.finfo(float).tiny))
    overall = float(np.median(log_distances))
    size = np.bincount(labels, minlength=n_clusters)
    own = np.array([np.median(log_distances[labels == k]) if size[k] else overall for k in range(n_clusters)])
    medians = (size * own + _SHRINKAGE_ROWS * overall) / (size + _SHRINKAGE_ROWS)
    mad = float(np.median(np.abs(log_distances - medians[labels])))
    # The factor from the median absolute deviation to the standard deviation, and a minimum.
    return medians, max(1.4826 * mad, 0.05)
