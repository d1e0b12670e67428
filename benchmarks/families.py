"""Families of generated data sets that a default must handle: shapes, overlaps, noise, bridges, dimensions, sizes.

Every family is a function from a random generator to points and labels (label 0 is noise and is not scored), and
each of its draws picks its own sizes, densities, noise and overlap, so that hundreds of different sets come out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

Draw = tuple[np.ndarray, np.ndarray]
Rng = np.random.Generator


def _stack(parts: list[np.ndarray]) -> Draw:
    return np.vstack(parts), np.repeat(np.arange(1, len(parts) + 1), [len(part) for part in parts])


def _sizes(rng: Rng, n_clusters: int, total: int, imbalance: float) -> np.ndarray:
    share = np.exp(imbalance * rng.normal(size=n_clusters))
    return np.maximum((total * share / share.sum()).astype(int), 20)


def _centres(rng: Rng, n_clusters: int, dimension: int, gap: float) -> np.ndarray:
    """Random centres no closer than `gap`, in a box that grows until they fit."""
    side, centres = gap, [np.zeros(dimension)]
    while len(centres) < n_clusters:
        for _ in range(50):
            new = rng.uniform(-side, side, dimension)
            if min(np.linalg.norm(new - old) for old in centres) >= gap:
                centres.append(new)
                break
        else:
            side *= 1.15
    return np.array(centres)


def _rotation(rng: Rng, dimension: int) -> np.ndarray:
    return np.linalg.qr(rng.normal(size=(dimension, dimension)))[0]


def _along(rng: Rng, curve: np.ndarray, n_points: int, width: float, *, clump: float = 0.0) -> np.ndarray:
    """Points along a polyline with Gaussian width; a share `clump` gathers around one place of it."""
    length = np.concatenate([[0], np.cumsum(np.linalg.norm(np.diff(curve, axis=0), axis=1))])
    place = rng.uniform(0, length[-1], n_points)
    gathered = rng.random(n_points) < clump
    middle = length[-1] * rng.uniform(0.3, 0.7)
    place[gathered] = np.clip(middle + 0.06 * length[-1] * rng.normal(size=gathered.sum()), 0, length[-1])
    points = np.column_stack([np.interp(place, length, axis) for axis in curve.T])
    return points + width * rng.normal(size=points.shape)


def _with_noise(rng: Rng, X: np.ndarray, y: np.ndarray, share: float) -> Draw:
    n_noise = int(share * len(X))
    low, high = X.min(axis=0), X.max(axis=0)
    margin = 0.05 * (high - low)
    noise = rng.uniform(low - margin, high + margin, (n_noise, X.shape[1]))
    return np.vstack([X, noise]), np.concatenate([y, np.zeros(n_noise, dtype=int)])


def blobs_apart(rng: Rng) -> Draw:
    """Round Gaussians that hardly touch, with different sizes and spreads."""
    k, dimension = rng.integers(2, 10), rng.integers(2, 6)
    spread = np.exp(0.5 * rng.normal(size=k))
    centres = _centres(rng, k, dimension, 6.0 * spread.max())
    sizes = _sizes(rng, k, rng.integers(150, 2000), 0.6)
    return _stack([c + s * rng.normal(size=(n, dimension)) for c, s, n in zip(centres, spread, sizes)])


def blobs_overlapping(rng: Rng) -> Draw:
    """Round Gaussians of one spread whose borders mix."""
    k, dimension = rng.integers(2, 16), rng.integers(2, 4)
    centres = _centres(rng, k, dimension, rng.uniform(2.8, 4.5))
    sizes = _sizes(rng, k, rng.integers(60, 200) * k, 0.15)
    return _stack([c + rng.normal(size=(n, dimension)) for c, n in zip(centres, sizes)])


def blobs_stretched(rng: Rng) -> Draw:
    """Gaussians with random full covariances."""
    k, dimension = rng.integers(2, 7), rng.integers(2, 5)
    centres = _centres(rng, k, dimension, rng.uniform(5, 9))
    sizes = _sizes(rng, k, rng.integers(200, 2500), 0.3)
    parts = []
    for centre, n in zip(centres, sizes):
        axes = np.exp(0.7 * rng.normal(size=dimension))[:, None] * _rotation(rng, dimension)
        parts.append(centre + rng.normal(size=(n, dimension)) @ axes)
    return _stack(parts)


def blobs_many(rng: Rng) -> Draw:
    """Fifteen to thirty-six compact clusters close to one another."""
    k = rng.integers(15, 37)
    centres = _centres(rng, k, 2, rng.uniform(4.0, 6.5))
    sizes = _sizes(rng, k, rng.integers(30, 120) * k, rng.choice([0.0, 0.3]))
    return _stack([c + rng.normal(size=(n, 2)) for c, n in zip(centres, sizes)])


def blobs_unequal(rng: Rng) -> Draw:
    """A few heavy clusters beside light ones, with spreads that differ up to ten times."""
    k = rng.integers(2, 9)
    spread = np.exp(rng.uniform(0, 2.2, k))
    sizes = np.maximum((rng.integers(300, 3000) * rng.dirichlet(np.full(k, 0.9))).astype(int), 40)
    centres, side = [np.zeros(2)], spread.max()
    while len(centres) < k:
        new = rng.uniform(-side, side, 2)
        if all(np.linalg.norm(new - c) > 3.0 * (spread[len(centres)] + s) for c, s in zip(centres, spread)):
            centres.append(new)
        side *= 1.02
    return _stack([c + s * rng.normal(size=(n, 2)) for c, s, n in zip(centres, spread, sizes)])


def uniform_shapes(rng: Rng) -> Draw:
    """Discs, rectangles and diamonds of even density, some of them touching."""
    k = rng.integers(2, 7)
    gap, parts, left = rng.choice([0.0, 0.06, 0.15, 0.3]), [], 0.0
    for n in _sizes(rng, k, rng.integers(300, 2500), 0.3):
        points = rng.uniform(-1, 1, (3 * n, 2))
        norm = rng.choice([1.0, 2.0, np.inf])
        points = points[np.linalg.norm(points, ord=norm, axis=1) <= 1][:n] * rng.uniform(0.6, 1.4, 2)
        width = np.ptp(points[:, 0])
        parts.append(points - [points[:, 0].min(), 0] + [left, rng.uniform(-0.5, 0.5)])
        left += width + gap
    return _stack(parts)


def density_steps(rng: Rng) -> Draw:
    """Areas side by side that differ in density, with a narrow gap: a slope or a dense core in a sparse ring."""
    n = rng.integers(300, 2000)
    share = rng.uniform(0.5, 0.9)
    if rng.random() < 0.5:
        first = rng.uniform(0, 1, (int(share * n), 2)) ** [rng.uniform(0.5, 1.0), 1]
        second = rng.uniform(0, 1, (n - len(first), 2)) + [1 + rng.uniform(0.03, 0.15), rng.uniform(-0.5, 0.5)]
        return _stack([first, second])
    core = rng.normal(size=(int(share * n), 2)) * 0.2
    angle = rng.uniform(0, 2 * np.pi, n - len(core))
    radius = np.sqrt(rng.uniform(1.0, 3.0, len(angle)))
    return _stack([core, np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])])


def arcs(rng: Rng) -> Draw:
    """Interleaved half circles, each with its own density, clump and width."""
    k, n = rng.integers(2, 5), rng.integers(100, 600)
    width, clump = rng.uniform(0.03, 0.17), rng.choice([0.0, 0.0, 0.5])
    parts = []
    for i in range(k):
        angle = np.linspace(0, np.pi, 60)
        curve = np.column_stack([np.cos(angle) + 1.2 * i, np.sin(angle) * (-1) ** i + 0.4 * (i % 2)])
        parts.append(_along(rng, curve, int(n * rng.uniform(0.4, 1.6)), width, clump=clump))
    return _stack(parts)


def rings(rng: Rng) -> Draw:
    """Concentric circles, a filled centre at times, in the plane or as shells in space."""
    k, dimension = rng.integers(2, 5), rng.integers(2, 4)
    start, parts = rng.integers(0, 2), []
    width = rng.uniform(0.03, 0.16)
    for i in range(k):
        radius = i + start
        direction = rng.normal(size=(int(rng.uniform(80, 250) * max(radius, 0.5) ** (dimension - 1)), dimension))
        direction /= np.linalg.norm(direction, axis=1, keepdims=True)
        scatter = (2.0 if radius == 0 else 1.0) * width * rng.normal(size=direction.shape)
        parts.append(radius * direction + scatter)
    return _stack(parts)


def spirals(rng: Rng) -> Draw:
    """Two or three spiral arms that grow sparser outwards."""
    k, n = rng.integers(2, 4), rng.integers(80, 500)
    angle = np.linspace(0.5, rng.uniform(1.2, 3.0) * np.pi, 300)
    width = rng.uniform(0.05, 0.3)
    parts = []
    for i in range(k):
        turned = angle + 2 * np.pi * i / k
        place = np.sort(rng.random(n) ** rng.uniform(0.5, 1.0)) * (len(angle) - 1)
        curve = np.column_stack([angle * np.cos(turned), angle * np.sin(turned)])
        points = np.column_stack([np.interp(place, np.arange(len(angle)), axis) for axis in curve.T])
        parts.append(points + width * rng.normal(size=points.shape))
    return _stack(parts)


def linked(rng: Rng) -> Draw:
    """Closed curves linked in space."""
    k, angle, parts = rng.integers(2, 5), np.linspace(0, 2 * np.pi, 100), []
    for i in range(k):
        circle = np.column_stack([np.cos(angle) + i * rng.uniform(0.8, 1.2), np.sin(angle), 0 * angle])
        if i % 2:
            circle = circle[:, [0, 2, 1]]
        parts.append(_along(rng, circle, rng.integers(100, 500), rng.uniform(0.03, 0.14)))
    return _stack(parts)


def strands(rng: Rng) -> Draw:
    """Long thin random curves that pass near each other."""
    k, n, parts = rng.integers(2, 7), rng.integers(100, 700), []
    x = np.linspace(0, 6, 120)
    gap, width = rng.uniform(0.8, 1.3), rng.uniform(0.02, 0.1)
    bend = 0.4 * sum(rng.normal() * np.sin(f * x + rng.uniform(0, 6)) for f in (1.0, 1.7, 2.6))
    for i in range(k):
        wiggle = 0.08 * gap * sum(rng.normal() * np.sin(f * x + rng.uniform(0, 6)) for f in (2.0, 3.1))
        parts.append(_along(rng, np.column_stack([x, bend + wiggle + gap * i]), int(n * rng.uniform(0.5, 1.5)), width))
    return _stack(parts)


def zigzags(rng: Rng) -> Draw:
    """Broken lines of straight strokes with sharp corners, one nested in the next."""
    k, n, parts = rng.integers(2, 5), rng.integers(80, 500), []
    height, width = rng.uniform(0.5, 1.6), rng.uniform(0.02, 0.07)
    corners = np.arange(rng.integers(3, 7))
    for i in range(k):
        curve = np.column_stack([corners, height * (corners % 2) + rng.uniform(0.55, 0.8) * i])
        parts.append(_along(rng, curve, n, width))
    return _stack(parts)


def frames(rng: Rng) -> Draw:
    """Square frames around filled squares, and strokes that make faces and letters."""
    parts, n = [], rng.integers(150, 700)
    square = np.array([[0, 0], [1, 0], [1, 1], [0, 1], [0, 0]], dtype=float)
    for i in range(rng.integers(1, 4)):
        corner, size = np.array([2.6 * i, rng.uniform(-0.5, 0.5)]), rng.uniform(1.6, 2.2)
        parts.append(_along(rng, corner + size * (square - 0.5), n, rng.uniform(0.01, 0.05)))
        inner = rng.uniform(0.2, 0.55) * size
        kind = rng.integers(3)
        if kind == 0:
            parts.append(corner + inner * rng.uniform(-0.5, 0.5, (n // 3, 2)))
        elif kind == 1:
            parts.append(_along(rng, corner + inner * (square - 0.5), n // 2, 0.02))
        else:
            for side in (-1, 1):
                parts.append(corner + [side * inner / 1.7, 0] + 0.06 * size * rng.normal(size=(n // 5, 2)))
    return _stack(parts)


def nested(rng: Rng) -> Draw:
    """Dense blobs inside a sparse cloud or a half ring, and a pair of blobs that touch."""
    n = rng.integers(60, 500)
    angle = np.linspace(0.15 * np.pi, rng.uniform(1.3, 1.85) * np.pi, 80)
    ring = _along(rng, 3.2 * np.column_stack([np.sin(angle), -np.cos(angle)]), n, rng.uniform(0.1, 0.3))
    near = rng.uniform(0.8, 1.3)
    parts = [ring, 0.45 * rng.normal(size=(n, 2)) - [near, 0], 0.45 * rng.normal(size=(n, 2)) + [near, 0]]
    if rng.random() < 0.5:
        parts.append(rng.uniform(-1, 1, (n // 2, 2)) + [6.5, 0])
        parts.append(0.15 * rng.normal(size=(n, 2)) + [9.0, 1.0])
    return _stack(parts)


def bridges(rng: Rng) -> Draw:
    """Blobs or discs joined by thin chains of points."""
    k = rng.integers(2, 6)
    centres = _centres(rng, k, 2, rng.uniform(5.5, 8))
    sizes = _sizes(rng, k, rng.integers(100, 500) * k, 0.3)
    X, y = _stack([c + rng.normal(size=(n, 2)) for c, n in zip(centres, sizes)])
    chains = []
    for i in range(1, k):
        other = np.argmin(np.linalg.norm(centres[:i] - centres[i], axis=1))
        curve = np.array([centres[i], centres[other]])
        chains.append(_along(rng, curve, int(0.05 * sizes.min()) + rng.integers(5, 20), 0.08))
    chain = np.vstack(chains)
    return np.vstack([X, chain]), np.concatenate([y, np.zeros(len(chain), dtype=int)])


def noisy_shapes(rng: Rng) -> Draw:
    """One of the curved families under even background noise."""
    X, y = (arcs, rings, spirals, strands, zigzags, frames)[rng.integers(6)](rng)
    return _with_noise(rng, X, y, rng.uniform(0.03, 0.2))


def noisy_blobs(rng: Rng) -> Draw:
    """One of the blob families under even background noise."""
    X, y = (blobs_apart, blobs_stretched, blobs_unequal)[rng.integers(3)](rng)
    return _with_noise(rng, X, y, rng.uniform(0.03, 0.2))


def outliers(rng: Rng) -> Draw:
    """Compact shapes and a handful of points far away."""
    X, y = (blobs_apart, arcs, rings, uniform_shapes)[rng.integers(4)](rng)
    n_far = rng.integers(3, 25)
    far = X.mean(axis=0) + X.std(axis=0) * 3.0 * rng.standard_t(4, (n_far, X.shape[1]))
    return np.vstack([X, far]), np.concatenate([y, np.zeros(n_far, dtype=int)])


def strokes(rng: Rng) -> Draw:
    """Thousands of points: thick strokes and discs among background noise, as in pictures of text."""
    k, parts = rng.integers(4, 9), []
    for i in range(k):
        place = np.array([2.4 * (i % 4), 2.4 * (i // 4)])
        if rng.random() < 0.3:
            points = rng.uniform(-0.9, 0.9, (900, 2))
            parts.append(place + points[np.linalg.norm(points, axis=1) <= 0.9])
        else:
            angle = np.linspace(0, rng.uniform(1, 1.7) * np.pi, 40) + rng.uniform(0, 6)
            curve = place + 0.8 * np.column_stack([np.cos(angle), np.sin(angle) * rng.uniform(0.3, 1)])
            points = _along(rng, curve, int(rng.uniform(400, 900)), 0.0)
            parts.append(points + rng.uniform(-0.15, 0.15, points.shape))
    X, y = _stack(parts)
    return _with_noise(rng, X, y, rng.uniform(0.02, 0.1))


def mixed(rng: Rng) -> Draw:
    """Blobs, a ring, an arc and a line in one picture, each with its own density."""
    angle = np.linspace(0, 2 * np.pi, 80)
    makers = [
        lambda n: 0.5 * rng.normal(size=(n, 2)),
        lambda n: _along(rng, np.column_stack([np.cos(angle), np.sin(angle)]), n, 0.08),
        lambda n: _along(rng, 1.2 * np.column_stack([np.cos(angle / 2), np.sin(angle / 2)]), n, 0.1),
        lambda n: _along(rng, np.array([[-1.3, -1.0], [1.3, 1.0]]), n, 0.07),
        lambda n: rng.uniform(-0.8, 0.8, (n, 2)),
    ]
    k = rng.integers(3, 7)
    centres = _centres(rng, k, 2, rng.uniform(2.4, 3.2))
    return _stack([c + makers[rng.integers(5)](int(rng.uniform(60, 500))) for c in centres])


def high_dimension(rng: Rng) -> Draw:
    """Clusters in 8 to 60 dimensions that live near planes of few dimensions."""
    k, dimension, inner = rng.integers(2, 9), rng.integers(8, 61), rng.integers(2, 8)
    centres = rng.normal(size=(k, dimension)) * rng.uniform(0.35, 0.9)
    sizes, parts = _sizes(rng, k, rng.integers(150, 1800), 0.4), []
    for centre, n in zip(centres, sizes):
        plane = rng.normal(size=(inner, dimension)) / np.sqrt(inner) * rng.uniform(0.4, 0.9)
        parts.append(centre + rng.normal(size=(n, inner)) @ plane + 0.25 * rng.normal(size=(n, dimension)))
    return _stack(parts)


def tables(rng: Rng) -> Draw:
    """Table-like data: skewed correlated columns in different units, some of them without information."""
    k, informative, empty = rng.integers(2, 6), rng.integers(3, 9), rng.integers(0, 4)
    centres = rng.normal(size=(k, informative)) * rng.uniform(1.2, 2.2)
    sizes, parts = _sizes(rng, k, rng.integers(120, 1200), 0.5), []
    for centre, n in zip(centres, sizes):
        mix = np.eye(informative) + 0.3 * rng.normal(size=(informative, informative))
        parts.append(centre + rng.normal(size=(n, informative)) @ mix * rng.uniform(0.6, 1.3))
    X, y = _stack(parts)
    X = np.column_stack([X, rng.normal(size=(len(X), empty))])
    skewed = rng.random(X.shape[1]) < 0.3
    X[:, skewed] = np.exp(0.4 * X[:, skewed])
    return X * np.exp(rng.choice([0.0, 0.7, 2.0]) * rng.normal(size=X.shape[1])), y


def heavy_tails(rng: Rng) -> Draw:
    """Clusters drawn from Student's t with few degrees of freedom."""
    k, dimension = rng.integers(2, 7), rng.integers(2, 5)
    centres = _centres(rng, k, dimension, rng.uniform(6, 10))
    sizes = _sizes(rng, k, rng.integers(150, 1500), 0.3)
    return _stack([c + rng.standard_t(rng.uniform(2, 4), (n, dimension)) for c, n in zip(centres, sizes)])


def sizes_unequal(rng: Rng) -> Draw:
    """Two to four round or long Gaussians, the smallest with a tenth to a hundredth of the points of the largest."""
    k, ratio = rng.integers(2, 5), np.exp(rng.uniform(np.log(10), np.log(100)))
    sizes = np.geomspace(1.0, 1.0 / ratio, k)
    sizes = np.maximum((rng.integers(800, 3000) * sizes / sizes.sum()).astype(int), 10)
    length = rng.choice([1.0, 4.0])
    centres = _centres(rng, k, 2, rng.uniform(5.5, 8.0)) * [1.0, length]
    return _stack([c + rng.normal(size=(n, 2)) * [1.0, length] for c, n in zip(centres, sizes)])


def integers(rng: Rng) -> Draw:
    """Tables of small whole numbers, as of answers and counts, most of whose rows are repeated."""
    k, columns = rng.integers(2, 5), rng.integers(2, 5)
    centres = _centres(rng, k, columns, rng.uniform(2.5, 3.5))
    sizes = _sizes(rng, k, rng.integers(200, 2000), 0.4)
    X, y = _stack([c + 0.7 * rng.normal(size=(n, columns)) for c, n in zip(centres, sizes)])
    return np.rint((X - X.min(axis=0)) / rng.uniform(0.6, 1.2)), y


def discs_of_density(rng: Rng) -> Draw:
    """Discs side by side that nearly touch, up to twenty times as dense as the next."""
    k, gap, parts, left = rng.integers(2, 4), rng.uniform(0.02, 0.12), [], 0.0
    for dense in np.exp(rng.permutation(np.linspace(0.0, rng.uniform(1.0, 3.0), k))):
        radius = rng.uniform(0.7, 1.3)
        n = int(rng.integers(60, 150) * dense * radius**2)
        angle, away = rng.uniform(0, 2 * np.pi, n), radius * np.sqrt(rng.random(n))
        parts.append(np.column_stack([left + radius + away * np.cos(angle), away * np.sin(angle)]))
        left += 2 * radius + gap
    return _stack(parts)


def rings_of_density(rng: Rng) -> Draw:
    """Filled rings around a disc, each with its own density, and narrow gaps between them."""
    k, gap, parts, radius = rng.integers(2, 5), rng.uniform(0.1, 0.25), [], 0.0
    for dense in np.exp(rng.uniform(0.0, 1.6, k)):
        outer = radius + rng.uniform(0.4, 0.8)
        n = int(rng.integers(50, 120) * dense * (outer**2 - radius**2))
        angle, away = rng.uniform(0, 2 * np.pi, n), np.sqrt(rng.uniform(radius**2, outer**2, n))
        parts.append(np.column_stack([away * np.cos(angle), away * np.sin(angle)]))
        radius = outer + gap
    return _stack(parts)


def strands_in_noise(rng: Rng) -> Draw:
    """Thin strands, some joined by a chain of points, under even background noise."""
    X, y = strands(rng)
    if rng.random() < 0.5:
        ends = np.array([X[y == i][rng.integers((y == i).sum())] for i in (1, 2)])
        chain = _along(rng, ends, rng.integers(5, 15), 0.02)
        X, y = np.vstack([X, chain]), np.concatenate([y, np.zeros(len(chain), dtype=int)])
    return _with_noise(rng, X, y, rng.uniform(0.02, 0.1))


#: The families by name.
FAMILIES: dict[str, Callable[[Rng], Draw]] = {
    maker.__name__: maker
    for maker in (
        blobs_apart, blobs_overlapping, blobs_stretched, blobs_many, blobs_unequal, uniform_shapes, density_steps,
        arcs, rings, spirals, linked, strands, zigzags, frames, nested, bridges, noisy_shapes, noisy_blobs, outliers,
        strokes, mixed, high_dimension, tables, heavy_tails, sizes_unequal, integers, discs_of_density,
        rings_of_density, strands_in_noise,
    )
}  # fmt: skip
#: Thinning would leave a point or two of a small cluster of these.
NEVER_THINNED = ("sizes_unequal",)


def draws(per_family: int = 10, *, first: int = 0) -> Iterator[tuple[str, int, np.ndarray, np.ndarray]]:
    """Family, draw number, points and labels (0 is noise) of every generated set; the same on every machine.

    Every second draw is thinned to 35 to 120 points a cluster, since many real questions come with few points.
    """
    for position, (name, maker) in enumerate(FAMILIES.items()):
        for number in range(first, first + per_family):
            X, y = maker(np.random.default_rng([20_240, position, number]))
            rng = np.random.default_rng([7, position, number])
            order = rng.permutation(len(X))
            if number % 2 and name not in NEVER_THINNED:
                order = order[: max(100, int(y.max() * rng.uniform(35, 120)))]
            X, y = X[order], y[order]
            scored = y > 0
            y[scored] = 1 + np.unique(y[scored], return_inverse=True)[1]
            yield name, number, X, y
