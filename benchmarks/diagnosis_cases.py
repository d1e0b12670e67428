"""Clusterings of known truth for the diagnosis: honest ones, and ones spoilt by each density bias on purpose.

A case is accepted by what its generator knows (the true components and their true density), never by `diagnose`.
Tuning cases and held-out cases come from different families of shapes and from different seeds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

from evencut import EvenCut
from evencut.criteria import CRITERIA
from evencut.diagnosis import EQUAL_SIZES as EQUAL
from evencut.diagnosis import MODE_ISOLATION as MODE
from evencut.diagnosis import OK
from evencut.diagnosis import SPARSE_SUBSET as SPARSE
from evencut.solvers import solve

Sampler = Callable[[int, np.random.Generator], tuple[NDArray, NDArray]]

KINDS = (OK, MODE, SPARSE, EQUAL)
# Data sets drawn from a family in vain before it loses its turn.
_TRIES = 15


@dataclass(frozen=True)
class Case:
    """One clustering: the points, the labels to judge, what is wrong with them and how they were made."""

    X: NDArray
    labels: NDArray
    maker: str
    kind: str
    family: str


# ---- shapes: a family draws a distribution, a distribution draws points ------------------------------------


def _centres(rng, n_clusters, dimension, radii, gap):
    """Random centres, each at least `gap` times the sum of the radii from every other."""
    centres = np.zeros((n_clusters, dimension))
    spread = gap * radii.max() * 2
    for k in range(n_clusters):
        while True:
            centres[k] = rng.normal(size=dimension) * spread / np.sqrt(min(dimension, 3))
            apart = np.linalg.norm(centres[:k] - centres[k], axis=1)
            if np.all(apart >= gap * (radii[:k] + radii[k])):
                break
            spread *= 1.02
    return centres


def _shares(rng, n_clusters, unequal):
    """Shares of the clusters; with `unequal`, one takes most of the points."""
    share = rng.uniform(0.5, 1.0, n_clusters) if not unequal else rng.uniform(0.03, 0.08, n_clusters)
    if unequal:
        share[0] = 1.0
    return share / share.sum()


def _mixture(share, draw) -> Sampler:
    """Points of `draw(k, size, rng)` in the shares asked for, at least 20 a cluster."""

    def sample(n, rng):
        sizes = np.maximum(np.round(share * n).astype(int), 20)
        X = np.vstack([draw(k, size, rng) for k, size in enumerate(sizes)])
        return X, np.repeat(np.arange(len(share)), sizes)

    return sample


def _lift(X, rng_matrix, noise, rng):
    """Turn a plane figure into a higher dimension: rotate, and add `noise` to the new coordinates."""
    dimension = len(rng_matrix)
    if dimension == X.shape[1]:
        return X
    padded = np.hstack([X, noise * rng.normal(size=(len(X), dimension - X.shape[1]))])
    return padded @ rng_matrix


def _rotation(rng, dimension):
    return np.linalg.qr(rng.normal(size=(dimension, dimension)))[0]


def gaussians(rng, n_clusters, dimension, style) -> Sampler:
    """Round or stretched Gaussians with a valley between any two."""
    scale = np.ones(n_clusters)
    unequal = style == "unequal"
    share = _shares(rng, n_clusters, unequal)
    if style == "dense small":
        share = _shares(rng, n_clusters, True)
        scale[1:] = rng.uniform(0.15, 0.3, n_clusters - 1)
    if style == "sparse":
        scale[0] = rng.uniform(3.0, 5.0)
        share[0] *= 0.6
        share /= share.sum()
    stretch = [np.eye(dimension) * s for s in scale]
    if style == "stretched":
        stretch = [_rotation(rng, dimension) * rng.uniform(0.5, 1.5, dimension) for _ in scale]
        scale = np.array([np.linalg.norm(m, 2) for m in stretch])
    centres = _centres(rng, n_clusters, dimension, scale, rng.uniform(2.0, 4.0))
    return _mixture(share, lambda k, m, g: centres[k] + g.normal(size=(m, dimension)) @ stretch[k])


def cored(rng, n_clusters, dimension, style) -> Sampler:
    """Clusters with a dense core in a wide, sparser body: what kernel k-means cuts wrongly."""
    share = _shares(rng, n_clusters, False)
    core = rng.uniform(0.2, 0.4, n_clusters) if dimension <= 5 else rng.uniform(0.4, 0.55, n_clusters)
    part = rng.uniform(0.25, 0.5, n_clusters)
    gap = rng.uniform(2.0, 2.5) if style == "close" else rng.uniform(2.8, 3.6)
    centres = _centres(rng, n_clusters, dimension, np.ones(n_clusters), gap)

    def draw(k, m, g):
        width = np.where(g.random(m) < part[k], core[k], 1.0)
        return centres[k] + width[:, None] * g.normal(size=(m, dimension))

    return _mixture(share, draw)


def moons(rng, n_clusters, dimension, style) -> Sampler:
    """Two interleaved half circles, with a clump of points on one of them when asked."""
    turn, noise = _rotation(rng, dimension), rng.uniform(0.04, 0.1)
    clump = rng.uniform(0.3, 0.5) if style == "clump" else 0.0

    def draw(k, m, g):
        angle = g.uniform(0, np.pi, m)
        in_clump = (g.random(m) < clump) & (k == 0)
        angle = np.where(in_clump, np.pi / 2 + 0.12 * g.normal(size=m), angle)
        X = np.column_stack([np.cos(angle), np.sin(angle)])
        if k == 1:
            X = np.column_stack([1 - X[:, 0], 0.5 - X[:, 1]])
        X += noise * g.normal(size=X.shape)
        return _lift(X, turn, noise, g)

    return _mixture(_shares(rng, 2, False), draw)


def rings(rng, n_clusters, dimension, style) -> Sampler:
    """Concentric circles."""
    n_rings = min(n_clusters, 3)
    turn, noise = _rotation(rng, dimension), rng.uniform(0.04, 0.09)

    def draw(k, m, g):
        angle = g.uniform(0, 2 * np.pi, m)
        X = (k + 0.6) * np.column_stack([np.cos(angle), np.sin(angle)]) + noise * g.normal(size=(m, 2))
        return _lift(X, turn, noise, g)

    share = np.arange(n_rings) + 0.8
    return _mixture(share / share.sum(), draw)


def heavy(rng, n_clusters, dimension, style) -> Sampler:
    """Student clusters with five degrees of freedom: Gaussians with long tails."""
    share = _shares(rng, n_clusters, style == "unequal")
    scale = rng.uniform(0.6, 1.4, n_clusters)
    centres = _centres(rng, n_clusters, dimension, scale, rng.uniform(4.0, 5.5))

    def draw(k, m, g):
        tail = np.sqrt(5 / g.chisquare(5, m))[:, None]
        return centres[k] + scale[k] * g.normal(size=(m, dimension)) * tail

    return _mixture(share, draw)


def boxes(rng, n_clusters, dimension, style) -> Sampler:
    """Uniform balls of equal or different density, a gap between any two."""
    radius = np.full(n_clusters, 1.0)
    share = _shares(rng, n_clusters, style == "unequal")
    if style == "dense small":
        radius[1:] = rng.uniform(0.25, 0.45, n_clusters - 1)
        share = _shares(rng, n_clusters, True)
    centres = _centres(rng, n_clusters, dimension, radius, rng.uniform(1.25, 1.8))

    def draw(k, m, g):
        X = g.normal(size=(m, dimension))
        X *= (g.random(m) ** (1 / dimension) / np.linalg.norm(X, axis=1))[:, None]
        return centres[k] + radius[k] * X

    return _mixture(share, draw)


def spirals(rng, n_clusters, dimension, style) -> Sampler:
    """Two or three arms of a spiral."""
    arms = min(n_clusters, 3)
    turn, noise = _rotation(rng, dimension), rng.uniform(0.02, 0.04)

    def draw(k, m, g):
        t = np.sqrt(g.uniform(0.05, 1, m))
        angle = 3.5 * t + 2 * np.pi * k / arms
        X = t[:, None] * np.column_stack([np.cos(angle), np.sin(angle)]) + noise * g.normal(size=(m, 2))
        return _lift(X, turn, noise, g)

    return _mixture(_shares(rng, arms, False), draw)


def peaked(rng, n_clusters, dimension, style) -> Sampler:
    """Laplace-like clusters: a sharp peak and slowly falling sides."""
    share = _shares(rng, n_clusters, False)
    centres = _centres(rng, n_clusters, dimension, np.ones(n_clusters), rng.uniform(4.0, 5.0))

    def draw(k, m, g):
        X = g.normal(size=(m, dimension))
        length = g.gamma(min(dimension, 4), 0.8, m) / np.sqrt(min(dimension, 4))
        return centres[k] + X * (length / np.linalg.norm(X, axis=1))[:, None]

    return _mixture(share, draw)


def bars(rng, n_clusters, dimension, style) -> Sampler:
    """Parallel long bars, which k-means cuts across."""
    n_bars = min(n_clusters, 4)
    turn, noise = _rotation(rng, dimension), rng.uniform(0.08, 0.13)
    length = rng.uniform(5.0, 8.0)

    def draw(k, m, g):
        X = np.column_stack([g.uniform(0, length, m), k + noise * g.normal(size=m)])
        return _lift(X, turn, noise, g)

    return _mixture(_shares(rng, n_bars, False), draw)


# ---- spoilt clusterings, and the test that they are spoilt the way they should be ---------------------------


def _gaussian_affinity(X, sigma):
    return np.exp(-cdist(X, X, "sqeuclidean") / (2 * sigma**2))


def _kernel_labels(X, sigma, n_clusters, criterion, seed):
    problem = CRITERIA[criterion](_gaussian_affinity(X, sigma))
    return solve(problem, n_clusters, random_state=seed).labels


def _true_log_density(sample: Sampler, X, rng):
    """Log density (up to a constant) from thousands of fresh points of the same distribution."""
    fresh, _ = sample(3000, rng)
    radius = np.partition(cdist(X, fresh), 15, axis=1)[:, 15]
    return -X.shape[1] * np.log(np.maximum(radius, 1e-12))


def _pieces(labels, truth):
    """Each (cluster, component) with most of the cluster in the component: its points, the rest of the component."""
    for k in np.unique(labels):
        inside = labels == k
        home = np.bincount(truth[inside]).argmax()
        if np.mean(truth[inside] == home) >= 0.9:
            yield inside, (truth == home) & ~inside, (truth == home)


def _is_mode_isolation(labels, truth, log_density):
    """A cluster is less than half of one component, and clearly denser than the rest of that component."""
    return any(
        10 <= inside.sum() < 0.5 * home.sum() and rest.any()
        and np.median(log_density[inside]) > np.quantile(log_density[rest], 0.75)
        for inside, rest, home in _pieces(labels, truth)
    )


def _is_sparse_subset(labels, truth, log_density):
    """A cluster is at most a tenth of one component, and sparser than three quarters of the rest of it."""
    return any(
        inside.sum() <= 0.1 * home.sum() and np.median(log_density[inside]) < np.quantile(log_density[rest], 0.25)
        for inside, rest, home in _pieces(labels, truth)
    )


def _is_equal_sizes(labels, truth):
    """A component is cut into large parts (each a fifth of it or more) and no cluster is tiny."""
    sizes = np.unique(labels, return_counts=True)[1]
    cut = False
    for home in np.unique(truth):
        part = np.sort(np.unique(labels[truth == home], return_counts=True)[1])[::-1]
        cut |= len(part) > 1 and part[1] >= 0.2 * part.sum()
    return cut and sizes.min() >= 0.3 * len(labels) / len(sizes)


def judge(labels, truth, log_density) -> str | None:
    """The kind of a spoilt clustering by its generator's knowledge; None where it is of a mixed kind."""
    mode = _is_mode_isolation(labels, truth, log_density)
    lone = _is_sparse_subset(labels, truth, log_density)
    found = [kind for kind, yes in ((MODE, mode), (SPARSE, lone)) if yes]
    if not found and _is_equal_sizes(labels, truth):
        found = [EQUAL]
    return found[0] if len(found) == 1 else None


def _reach(X):
    """Median distance to the tenth neighbour: the scale below which points stop seeing each other."""
    return float(np.median(np.partition(cdist(X, X), 10, axis=1)[:, 10]))


def _spoilers(X, n_clusters, kind, rng):
    """Labels by criteria that have the bias `kind`, over several bandwidths, each with its maker's name."""
    seed = int(rng.integers(2**31))
    if kind in (MODE, SPARSE):
        criterion, name = ("average_association", "AA") if kind == MODE else ("normalized_cut", "NC")
        for factor in rng.permutation([0.5, 0.7, 1.0, 1.4, 2.0] if kind == MODE else [0.3, 0.45, 0.6]):
            labels = _kernel_labels(X, factor * _reach(X), n_clusters, criterion, seed)
            yield labels, f"{name}, sigma {factor:g} of the 10-neighbour distance"
    elif len(X) > 1000 or rng.random() < 0.7:
        yield KMeans(n_clusters, n_init=4, random_state=seed).fit(X).labels_, "k-means"
    else:
        sigma = rng.uniform(1, 3) * np.sqrt(X.var(axis=0).sum())
        yield _kernel_labels(X, sigma, n_clusters, "average_association", seed), "AA, sigma above the data's spread"


def _honest(X, truth, rng):
    """The true labels, or those of a neighbour kernel where it has found them."""
    if len(X) <= 1500 and rng.random() < 0.5:
        model = EvenCut(len(np.unique(truth)), random_state=int(rng.integers(2**31)))
        found = model.fit_predict(X)
        if adjusted_rand_score(truth, found) >= 0.95:
            return found, "NC, neighbours"
    return truth, "truth"


TUNING = {
    OK: [(gaussians, s) for s in ("plain", "unequal", "dense small", "sparse", "stretched")]
    + [(cored, ""), (moons, ""), (moons, "clump"), (rings, "")],
    MODE: [(cored, ""), (moons, "clump"), (cored, "close"), (gaussians, "plain")],
    SPARSE: [(gaussians, "plain"), (gaussians, "sparse"), (moons, ""), (cored, "")],
    EQUAL: [(moons, ""), (rings, ""), (gaussians, "unequal"), (moons, "clump")],
}
HELD_OUT = {
    OK: [(heavy, ""), (heavy, "unequal"), (boxes, ""), (boxes, "unequal"), (boxes, "dense small"), (spirals, ""),
         (peaked, ""), (bars, "")],
    MODE: [(peaked, ""), (heavy, "")],
    SPARSE: [(heavy, ""), (peaked, ""), (bars, "")],
    EQUAL: [(spirals, ""), (bars, ""), (boxes, "unequal"), (heavy, "unequal")],
}


def cases(part: dict, n_each: int, seed: int) -> Iterator[Case | None]:
    """`n_each` cases of every bias and twice as many honest ones; None for each spoilt clustering not of its kind."""
    for kind, families in part.items():
        rng = np.random.default_rng([seed, KINDS.index(kind)])
        accepted, wanted, turn, tries = 0, n_each * (2 if kind == OK else 1), 0, 0
        while accepted < wanted:
            tries += 1
            if tries > _TRIES:  # this family hardly falls for the bias: the next one's turn
                turn, tries = turn + 1, 1
            family, style = families[turn % len(families)]
            dimension = int(rng.choice([2, 2, 3, 5, 8, 12, 20]))
            n_clusters = int(rng.integers(2, 7))
            largest = {OK: 5000, EQUAL: 3000, MODE: 1000, SPARSE: 1000}[kind]
            n_points = int(np.exp(rng.uniform(np.log(200), np.log(largest))))
            sample = family(rng, n_clusters, dimension, style)
            X, truth = sample(n_points, rng)
            name = f"{family.__name__} {style}".strip()
            if kind == OK:
                accepted, turn, tries = accepted + 1, turn + 1, 0
                yield Case(X, *_honest(X, truth, rng), OK, name)
                continue
            log_density = None
            for labels, maker in _spoilers(X, len(np.unique(truth)), kind, rng):
                if adjusted_rand_score(truth, labels) > 0.75:
                    yield None  # a good clustering after all
                    continue
                if log_density is None:
                    log_density = _true_log_density(sample, X, np.random.default_rng(seed))
                if judge(labels, truth, log_density) == kind:
                    accepted, turn, tries = accepted + 1, turn + 1, 0
                    yield Case(X, labels, maker, kind, name)
                    break
                yield None
