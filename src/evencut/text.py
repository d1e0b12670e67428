"""What clusters of documents are about: the terms that are frequent inside and rare outside.

Clusters come from any estimator on TF-IDF rows, compared by cosine; the rows stay sparse.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from .diagnosis.description import contrasts

__all__ = ["Topic", "describe"]


@dataclass(frozen=True)
class Topic:
    """Description of a cluster of documents.

    Parameters
    ----------
    label : object
        Its label.
    size : int
        Number of documents.
    terms : tuple of str
        The terms that distinguish it from the others, strongest first.
    weights : tuple of float
        Mean weight of each term inside less its mean weight outside.
    """

    label: Any
    size: int
    terms: tuple[str, ...]
    weights: tuple[float, ...]

    def __str__(self) -> str:
        return f"{self.label}: {self.size} documents: {', '.join(self.terms)}"


def describe(labels: ArrayLike, matrix: Any, terms: Sequence[str], *, n_terms: int = 8) -> list[Topic]:
    r"""The terms that distinguish each cluster from the rest.

    .. math:: m_{kt} = \frac{1}{|S_k|} \sum_{p \in S_k} x_{pt} - \frac{1}{n - |S_k|} \sum_{p \notin S_k} x_{pt}

    Parameters
    ----------
    labels : array of shape (n_documents,)
        Clusters; the number -1 marks noise, which belongs to none.
    matrix : sparse matrix or array of shape (n_documents, n_terms)
        Weights of the terms, such as TF-IDF.
    terms : sequence of str
        What the columns are called: `vectorizer.get_feature_names_out()`.
    n_terms : int
        Most terms of each cluster; terms that are no more frequent inside than outside are left out.

    Returns
    -------
    list of Topic
        In the order of the labels.

    Examples
    --------
    >>> from sklearn.feature_extraction.text import TfidfVectorizer
    >>> words = ["red apple", "green apple", "apple pie", "fast car", "red car", "car race"]
    >>> vectorizer = TfidfVectorizer()
    >>> X = vectorizer.fit_transform(words)
    >>> labels = [0, 0, 0, 1, 1, 1]
    >>> [topic.terms[0] for topic in describe(labels, X, vectorizer.get_feature_names_out())]
    ['apple', 'car']
    """
    rows = sparse.csr_array(matrix)
    assigned = np.asarray(labels)
    if assigned.shape != (rows.shape[0],):
        raise ValueError(f"labels have shape {assigned.shape}, but there are {rows.shape[0]} documents; give one each.")
    if len(terms) != rows.shape[1]:
        raise ValueError(f"{len(terms)} terms are given for {rows.shape[1]} columns; give one name a column.")
    if n_terms < 1:
        raise ValueError(f"n_terms={n_terms} must be at least 1.")
    names, codes = np.unique(assigned, return_inverse=True)
    inside, outside = contrasts(rows, codes, len(names))
    sizes, telling = np.bincount(codes, minlength=len(names)), inside - outside
    topics = []
    for k, name in enumerate(names.tolist()):
        if name == -1:
            continue
        best = [t for t in np.argsort(-telling[k], kind="stable")[:n_terms] if telling[k, t] > 0]
        weights = tuple(float(telling[k, t]) for t in best)
        topics.append(Topic(name, int(sizes[k]), tuple(str(terms[t]) for t in best), weights))
    return topics
