r"""How sure a label is: probabilities of the clusters of a point, and how far outside of all of them it lies.

A point p asks its neighbours. With :math:`s_{pk}` the share of its affinity that goes to cluster k, each neighbour
answering by its own share, and :math:`e_{pk}` what the other candidates say of it (where several were compared, each by
its votes and its agreement with the one chosen),

.. math:: P_{pk} \propto \bigl(s_{pk}^{1-g} e_{pk}^{g}\bigr)^{\beta}

A candidate says k as far as its cluster C of p is cluster k, by Jaccard's index, and nothing with the rest, which all
clusters share: one that splits k doubts it as well as one that merges it with others,

.. math:: e_{pk} = J_k + \frac{1 - \sum_l J_l}{K}, \qquad J_k = \frac{|C \cap S_k|}{|C \cup S_k|}

The sharpness :math:`\beta`, one over the temperature, is that of the highest likelihood of labels that had no part in
:math:`s`: those that the other candidates give, or, where there are none, those of the direct neighbours.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar

from ..affinity import Affinity
from ..tensors import Floats, Ints

__all__ = ["Certainty", "certainty_of", "opinions_of", "outlier_scores", "shares"]


#: Neighbours whose mean distance tells how far out a point lies.
N_NEAREST = 10
# Weight of the candidates' opinion against the neighbours': chosen on every second table of `benchmarks/answers.py`,
# where wrong rows are found as well, within .005, from .1 to .5.
_OPINION = 0.3
# A point counts as so many witnesses, beside one more who does not know: no share is exactly zero.
_WITNESSES = 100
# Half of the score is reached at so many deviations.
_DEVIATIONS = 3.0
# The typical distance of a cluster is that of its points and of so many from the whole table.
_FROM_THE_WHOLE = 100
# Distances that differ by less are the same.
_LEAST_SPREAD = 0.05
_TO_DEVIATION = 1.4826
# Even where all agree, no label is surer than this power of one witness among them says.
_SHARPEST = 2.0


@dataclass(frozen=True, eq=False)
class Certainty:
    """What it takes to tell how sure a label is.

    Parameters
    ----------
    field : ndarray of shape (n_points, n_clusters) or (n_points, 2 * n_clusters)
        What each fitted point answers: the shares of its affinity, and the opinion of the candidates where there are.
    n_clusters : int
    sharpness : float
    typical : ndarray of shape (n_clusters,)
        Logarithm of the distance to the nearest points that is typical of each cluster.
    spread : float
        Deviation of that logarithm.
    """

    field: Floats
    n_clusters: int
    sharpness: float
    typical: Floats
    spread: float

    def probabilities(self, answers: Floats, scores: Floats) -> Floats:
        """Probabilities from the mean answers of the neighbours; points far outside belong to each cluster alike.

        Parameters
        ----------
        answers : ndarray of shape (n, n_columns)
            Means of `field`, zero where a point has no neighbours.
        scores : ndarray of shape (n,)
            Outlier scores.
        """
        logs = self.sharpness * _evidence(answers, self.n_clusters)
        inside = np.exp(logs - logs.max(axis=1, keepdims=True))
        inside /= inside.sum(axis=1, keepdims=True)
        unknown = np.clip(2 * scores - 1, 0.0, 1.0)[:, None]
        return (1 - unknown) * inside + unknown / self.n_clusters

    def outlier_scores(self, distances: Floats, labels: Ints) -> Floats:
        """Outlier scores of points of known clusters, as :func:`outlier_scores`."""
        return outlier_scores(distances, self.typical[labels], self.spread)


def certainty_of(
    affinity: Affinity,
    labels: Ints,
    scale: Floats,
    distances: Floats,
    row_labels: Ints,
    opinions: Floats | None = None,
) -> tuple[Certainty, Floats]:
    """What fitted points, or landmarks, know of rows, and the mean answers that each of them gets from the others.

    Parameters
    ----------
    affinity : Affinity of shape (n, n)
    labels : ndarray of shape (n,)
    scale : ndarray of shape (n,)
        How much each point counts.
    distances : ndarray of shape (n_rows,)
        Mean distance of rows to the nearest of these points.
    row_labels : ndarray of shape (n_rows,)
        Clusters of those rows.
    opinions : ndarray of shape (n, n_clusters), optional
        Of the candidates, as :func:`opinions_of` gives them.
    """
    n_clusters = int(labels.max()) + 1
    own = shares(affinity, scale, np.eye(n_clusters)[labels])
    field = own if opinions is None else np.hstack([own, opinions])
    answers = shares(affinity, scale, field)
    heard = own if opinions is None else opinions
    sharpness = _sharpness(_evidence(answers, n_clusters), heard)
    return Certainty(field, n_clusters, sharpness, *_typical(distances, row_labels, n_clusters)), answers


def shares(affinity: Affinity, scale: Floats, field: Floats) -> Floats:
    """The mean of a field over the others, by affinity; zero for a point that has none.

    Examples
    --------
    >>> import numpy as np
    >>> from evencut.affinity import as_affinity
    >>> near = as_affinity(np.array([[9.0, 1.0, 0.0], [1.0, 9.0, 3.0], [0.0, 3.0, 9.0]]))
    >>> shares(near, np.ones(3), np.eye(2)[[0, 0, 1]])
    array([[1.  , 0.  ],
           [0.25, 0.75],
           [1.  , 0.  ]])
    """
    self_links = np.asarray(affinity.diagonal(), dtype=np.float64) * scale
    sums = np.asarray(affinity @ (scale[:, None] * field), dtype=np.float64) - self_links[:, None] * field
    total = np.asarray(affinity @ scale, dtype=np.float64) - self_links
    # What is left of a point whose affinity is all its own is rounding.
    has = total > 1e-12 * (np.abs(self_links) + np.abs(total))
    return np.where(has[:, None], np.clip(sums, 0.0, None) / np.where(has, total, 1.0)[:, None], 0.0)


def opinions_of(selection: Any, labels: Ints, weights: Floats) -> Floats | None:
    """What the other candidates say of each point: how far their cluster of it is each of those chosen.

    They count by their votes, and by how much they agree with the one that was chosen: who sees nothing
    of the structure has no opinion on it. None where there are no two of them to compare.

    Examples
    --------
    >>> import numpy as np
    >>> from types import SimpleNamespace
    >>> labels, split = np.array([0, 0, 0, 0, 1, 1]), np.array([0, 0, 1, 1, 2, 2])
    >>> two = (SimpleNamespace(point_labels=labels), SimpleNamespace(point_labels=split))
    >>> selection = SimpleNamespace(candidates=two, votes=np.ones(2), agreements=np.ones((2, 2)))
    >>> opinions_of(selection, labels, np.ones(6))[[0, 5]]
    array([[0.75, 0.25],
           [0.  , 1.  ]])
    """
    candidates = () if selection is None else selection.candidates
    if len(candidates) < 2:
        return None
    n_clusters = int(labels.max()) + 1
    opinions, total = np.zeros((len(labels), n_clusters)), 0.0
    for candidate, shared, agreed in zip(candidates[1:], selection.votes[1:], selection.agreements[0, 1:]):
        common = np.zeros((int(candidate.point_labels.max()) + 1, n_clusters))
        np.add.at(common, (candidate.point_labels, labels), weights)
        either = common.sum(axis=1, keepdims=True) + common.sum(axis=0) - common
        alike = common / np.maximum(either, np.finfo(float).tiny)
        alike += (1 - alike.sum(axis=1, keepdims=True)) / n_clusters
        vote = shared * max(float(agreed), 0.0)
        opinions += vote * alike[candidate.point_labels]
        total += vote
    return opinions / total if total > 0 else np.full_like(opinions, 1 / n_clusters)


def outlier_scores(distances: Floats, typical: Any, spread: float) -> Floats:
    r"""From 0 for points as near to others as is typical, or nearer, to 1 far outside.

    .. math:: \frac{z^2}{9 + z^2}, \qquad z = \max\left(0, \frac{\log D_p - \log t_k}{\sigma}\right)

    with :math:`D_p` the mean distance to the nearest points, typical of the cluster with :math:`t_k`, up to a deviation
    :math:`\sigma`: a half at three deviations.

    Examples
    --------
    >>> import numpy as np
    >>> outlier_scores(np.exp([0.0, 3.0, 9.0]), 0.0, 1.0)
    array([0. , 0.5, 0.9])
    """
    logs = np.log(np.maximum(distances, np.finfo(float).tiny))
    beyond = np.clip((logs - typical) / spread, 0.0, None)
    return np.asarray(beyond**2 / (_DEVIATIONS**2 + beyond**2))


def _evidence(answers: Floats, n_clusters: int) -> Floats:
    """Logarithm of what neighbours and candidates say of each cluster."""
    logs = np.log((_WITNESSES * answers + 1 / n_clusters) / (_WITNESSES + 1))
    if answers.shape[1] == n_clusters:
        return logs
    return (1 - _OPINION) * logs[:, :n_clusters] + _OPINION * logs[:, n_clusters:]


def _sharpness(evidence: Floats, heard: Floats) -> float:
    """The power of the evidence under which the labels heard are most likely."""
    if evidence.shape[1] == 1:
        return 1.0

    def cost(power: float) -> float:
        logs = power * evidence
        logs = logs - logs.max(axis=1, keepdims=True)
        return float(-np.sum(heard * (logs - np.log(np.exp(logs).sum(axis=1, keepdims=True)))))

    return float(minimize_scalar(cost, bounds=(0.0, _SHARPEST), method="bounded").x)


def _typical(distances: Floats, labels: Ints, n_clusters: int) -> tuple[Floats, float]:
    """Median logarithm of the distances in each cluster, and their deviation from it."""
    logs = np.log(np.maximum(distances, np.finfo(float).tiny))
    whole = float(np.median(logs))
    size = np.bincount(labels, minlength=n_clusters)
    own = np.array([np.median(logs[labels == k]) if size[k] else whole for k in range(n_clusters)])
    typical = (size * own + _FROM_THE_WHOLE * whole) / (size + _FROM_THE_WHOLE)
    return typical, max(_TO_DEVIATION * float(np.median(np.abs(logs - typical[labels]))), _LEAST_SPREAD)
