"""Figures 4, 6, 10 and 11, and the pictures of Sections 4.3 and 5.2: weights and kernels as changes of density."""

from __future__ import annotations

from importlib.util import find_spec
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from scipy.stats import spearmanr

from evencut import theory
from evencut.affinity import degrees, density_law, knn_density, knn_radius, parzen_density
from evencut.criteria import energy
from evencut.datasets import make_clumped_moons, make_growing_density
from evencut.kernels import Gaussian, Geodesic
from evencut.neighbors import squared_distances
from evencut.plotting import PALETTE, make_figure
from evencut.tensors import Floats, Ints

from .draw import BLUE, COLORMAP, GREEN, GREY, ORANGE, canvas, clusters, curves, heading, ink, solid, values
from .fast_marching import GridGeodesic
from .frame import Named, Run
from .solver import SEED, Solver, score

_BALL = 0.09
_CENTRES = np.array([[0.15, 0.2], [0.5, 0.5], [0.85, 0.25], [0.2, 0.85], [0.8, 0.8]])
_DIMENSION = 20
_NEIGHBORS = 8
_SIGMAS = (0.002, 0.02, 0.2)
_TRANSFORMS = {"τ(ρ) = const": "constant", "τ(ρ) = log(1 + αρ)/α": "log", "τ(ρ) = ρ": "identity"}


def _variation(values_of: NDArray) -> float:
    return float(values_of.std() / values_of.mean())


def weights(run: Run) -> Any:
    """Figure 4: density transforms, and a uniform density by replicating points or by moving them apart."""
    X, _ = make_growing_density(150 if run.small else 400, ratio=20, random_state=0)
    # Away from the ends of the line, where every estimate falls off.
    inner = slice(len(X) // 20, -len(X) // 20)
    rho = parzen_density(X, 0.04)
    wanted = density_law(rho, "constant", dimension=1)
    copies = np.maximum(1, np.round(wanted / wanted.min())).astype(int)
    moved = _moved_apart(X)
    after = parzen_density(np.repeat(X, copies, axis=0), 0.04, at=X)
    embedded = parzen_density(moved, 0.04)
    before, by_weights, by_kernel = (_variation(one[inner]) for one in (rho, after, embedded))
    transformed = {t: _variation((rho * density_law(rho, t))[inner]) for t in ("identity", "log", "constant")}
    identity = _replication_error(X, copies)
    run.words = {"before": before, "identity": identity, "transformed": Named(transformed)}
    run.words |= {"by_weights": by_weights, "by_kernel": by_kernel}
    run.numbers = {"variation": [before, by_weights, by_kernel], "identity_error": identity, "transformed": transformed}
    picture, axes = make_figure(1, 3, size=(12, 3.8))
    grid = np.linspace(0.01, 3.5, 200)
    shown = {name: grid * density_law(grid, transform) for name, transform in _TRANSFORMS.items()}
    words: dict[str, Any] = {"xlabel": "density ρ", "ylabel": "new density τ(ρ)", "xlim": (0, 3.5), "ylim": (0, 2.6)}
    curves(axes[0], grid, shown, "(a) density transforms", {"fontsize": 9, "loc": "upper left"}, **words)
    x, y = X[:, 0], moved[:, 0]
    some = np.arange(0, len(x), max(1, len(x) // 60))
    for ax, at, density, color, title in (
        (axes[1], x, after / np.mean(after), BLUE, "(b) adaptive weights: replication"),
        (axes[2], y, embedded, GREEN, "(c) adaptive kernels: embedding"),
    ):
        ax.plot(x, rho, color=GREY, ls=":", lw=2, label="density before")
        ax.plot(at, density, color=color, lw=2, label="density after (mean 1)")
        ax.plot(x[some], np.full(len(some), -1.6), "|", ms=9, color=ink())
        ax.text(0.3, -1.15, "some of the data", fontsize=9, ha="center")
        heading(ax, title, xlabel="x", yticks=[0, 1, 2, 3, 4])
        ax.legend(fontsize=9, loc="upper left")
    for p in some:
        axes[1].plot(np.full(copies[p], x[p]), -2.3 - 0.22 * np.arange(copies[p]), ".", ms=2.5, color=ORANGE)
        axes[2].plot([x[p], y[p]], [-1.6, -4.4], color=GREY, alpha=0.4, lw=0.5, zorder=0)
    axes[1].text(0.62, -4.6, "copies: wₚ ∝ 1/ρₚ", fontsize=9, color=ORANGE)
    axes[2].plot(y[some], np.full(len(some), -4.4), "|", ms=9, color=GREEN)
    return picture


def _moved_apart(X: NDArray) -> NDArray:
    """Points on a line whose distances are the geodesic ones of the metric I/R², scaled to the length of the data."""
    squared = Geodesic(n_neighbors=25, metric=knn_radius(X, 12) ** -2.0).distances(X) ** 2
    moved = theory.classical_mds(squared, 1)
    moved *= np.sign(moved[-1] - moved[0])
    return (moved - moved.min()) / np.ptp(moved) * np.ptp(X) + X.min()


def _replication_error(X: NDArray, copies: Ints) -> float:
    """Relative difference of eq. 42 and of eq. 9 on the replicated points, for one split."""
    labels, kernel = (X[:, 0] > np.median(X)).astype(int), Gaussian(0.1)
    weighted = energy(kernel.affinity(X), labels, "average_association", copies)
    repeated = kernel.affinity(np.repeat(X, copies, axis=0))
    return abs(energy(repeated, np.repeat(labels, copies), "average_association") / weighted - 1)


def riemann(run: Run) -> Any:
    """Figure 6: unit balls of a metric tensor become balls, and how well geodesic distances are approximated.

    The tensor is that of a known map of the plane, so the exact geodesic distances are known too.
    """
    X = points_of_square(500 if run.small else 1500)
    tensor, image, exact = tensor_at(X), map_of(X), exact_distances(X)
    paths = Geodesic(n_neighbors=24, metric=tensor).distances(X)
    edges = np.linspace(0, np.quantile(exact, 0.99), 13)
    middle = 0.5 * (edges[1:] + edges[:-1])
    straight = mahalanobis(X, tensor)
    errors = {"Mahalanobis": _errors(exact, straight, edges), "Dijkstra": _errors(exact, paths, edges)}
    theorem, shift = _theorem_error(paths[:200, :200])
    marched = _fast_marching_errors(X[:: len(X) // 200])
    densities = theory.transformed_density(knn_density(X, 30), tensor), knn_density(image, 30)
    law = np.corrcoef(np.log(densities))[0, 1]
    round_ones = [_roundness(centre) for centre in _CENTRES]
    near, far = errors["Mahalanobis"][[0, -1]]
    pairs = (exact > 0) & (exact < 0.15)
    profiles = [np.exp(-((d[pairs] / 0.05) ** 2) / 2) for d in (exact, straight)]
    run.words = {"ball": _BALL, "low": min(round_ones), "high": max(round_ones), "near": near, "far": far, "law": law}
    run.words |= {"at": middle[[0, -1]], "dijkstra": errors["Dijkstra"][-1], "theorem": theorem, "shift": shift}
    run.words |= {"marched": marched, "kernels": float(np.median(np.abs(profiles[0] - profiles[1])))}
    run.decide("marching", marched["fast marching"] < 0.02 if marched else None)
    run.numbers = {"distance": middle, "median_error": errors, "theorem_3_error": theorem, "density_law": law}
    picture, axes = make_figure(1, 3, size=(12, 4))
    titles = ("(a) balls of the metric tensor", "(b) the same, embedded")
    for ax, points, title in zip(axes, (X, image), titles):
        ax.scatter(*points.T, s=2, color=GREY, alpha=0.5, linewidths=0)
        heading(ax, title, aspect="equal", xticks=[], yticks=[])
    for centre, color in zip(_CENTRES, PALETTE):
        for ax, ball in zip(axes, (ellipse(centre), map_of(ellipse(centre)))):
            ax.fill(*ball.T, color=color, alpha=0.35, lw=0)
            ax.plot(*ball.T, color=color, lw=1.5)
    percent = {name: 100 * error for name, error in errors.items()}
    words: dict[str, Any] = {"xlabel": "geodesic distance", "ylabel": "median relative error, %", "ylim": (0, None)}
    curves(axes[2], middle, percent, "(c) approximations of the distance", marks="o", **words)
    return picture


def _fast_marching_errors(X: NDArray) -> Named:
    """Median relative errors of both kinds of paths under the tensor of z + 0.3 z²; none without scikit-fmm."""
    if find_spec("skfmm") is None:
        return Named()
    z = X[:, 0] + 1j * X[:, 1]
    exact = np.abs(np.subtract.outer(z + 0.3 * z**2, z + 0.3 * z**2))
    errors = Named()
    for name, kernel in (("fast marching", GridGeodesic), ("Dijkstra", Geodesic)):
        lengths = kernel(24, metric=_conformal_tensor).distances(X)
        errors[name] = float(np.median(np.abs(lengths[exact > 0] / exact[exact > 0] - 1)))
    return errors


def _conformal_tensor(X: NDArray) -> Floats:
    """The tensor of z + 0.3 z², a map that keeps angles: a multiple of the identity."""
    return np.asarray(np.abs(1 + 0.6 * (X[:, 0] + 1j * X[:, 1])) ** 2)


def points_of_square(n_samples: int) -> Floats:
    """Points of the unit square, not uniform: denser to the upper right."""
    return np.random.default_rng(0).uniform(size=(n_samples, 2)) ** 0.8


def map_of(X: NDArray) -> Floats:
    """A smooth map of the unit square onto a convex region, so that straight lines there are geodesics here."""
    x, y = X.T
    return np.column_stack([x + 0.6 * x**2, y * (0.45 + 0.55 * y) + 0.5 * x])


def exact_distances(X: NDArray) -> Floats:
    """Geodesic distances under the metric that the map pulls back: straight lines of its image."""
    return cdist(map_of(X), map_of(X))


def tensor_at(X: NDArray) -> Floats:
    """The metric the map pulls back: J'J with J its matrix of derivatives."""
    jacobian = np.zeros((len(X), 2, 2))
    jacobian[:, 0, 0] = 1 + 1.2 * X[:, 0]
    jacobian[:, 1, 0] = 0.5
    jacobian[:, 1, 1] = 0.45 + 1.1 * X[:, 1]
    return np.transpose(jacobian, (0, 2, 1)) @ jacobian


def mahalanobis(X: NDArray, tensor: NDArray) -> Floats:
    """Distances between all points by the tensor at the first of each pair."""
    offsets = X[None] - X[:, None]
    return np.sqrt(np.einsum("pqi,pij,pqj->pq", offsets, tensor, offsets))


def _errors(exact: NDArray, lengths: NDArray, edges: NDArray) -> Floats:
    """Median relative error in each range of distances."""
    off = ~np.eye(len(exact), dtype=bool)
    error, place = np.abs(lengths[off] / exact[off] - 1), np.digitize(exact[off], edges) - 1
    return np.array([np.median(error[place == i]) for i in range(len(edges) - 1)])


def _theorem_error(distances: NDArray) -> tuple[float, float]:
    """Largest difference of the geodesic kernel and of the fixed kernel of embedded points, and the shift."""

    def psi(t: NDArray) -> NDArray:
        return np.exp(-(t**2) / (2 * 0.3**2))

    embedded, shift = theory.euclidean_embedding(distances**2)
    kernel = theory.embedded_profile(psi, shift)(cdist(embedded, embedded))
    return float(np.abs(kernel - psi(distances)).max()), shift


def ellipse(centre: NDArray, radius: float = _BALL) -> Floats:
    """Points at a distance of the centre under the tensor there."""
    angle = np.linspace(0, 2 * np.pi, 100)
    circle = radius * np.column_stack([np.cos(angle), np.sin(angle)])
    return centre + np.linalg.solve(np.linalg.cholesky(tensor_at(centre[None])[0]).T, circle.T).T


def _roundness(centre: NDArray) -> float:
    radius = np.linalg.norm(map_of(ellipse(centre)) - map_of(centre[None]), axis=1)
    return float(radius.max() / radius.min())


def mds(run: Run) -> Any:
    """Section 4.3: the moons with a clump, embedded by their adaptive kernel, in three dimensions."""
    X, truth = make_clumped_moons(600, clump=0.5, random_state=SEED)
    squared, adaptive = squared_distances(X), _adaptive_squared(X)
    embedded, shift = theory.euclidean_embedding(adaptive)
    kernel = theory.embedded_profile(_psi, shift)(np.sqrt(squared_distances(embedded)))

    def measure(solver: Solver) -> SimpleNamespace:
        plain, even = solver.cut(X, Gaussian(0.2)), solver.cut(kernel, "precomputed")
        # The first point has one colour in both panels.
        even = even if even[0] == plain[0] else 1 - even
        return SimpleNamespace(plain=plain, even=even, ari=[score(truth, plain), score(truth, even)])

    by = run.both(measure)
    spread = [_unevenness(one) for one in (squared, adaptive)]
    same = float(np.abs(kernel - _psi(np.sqrt(adaptive))).max())
    run.words = {"same": same, "spread": spread}
    run.numbers = {"variation": spread, "shift": shift, "dimensions": embedded.shape[1]}
    run.numbers |= {name: m.ari for name, m in vars(by).items()}
    m = by.steps
    picture, axes = make_figure(1, 2, size=(9.5, 4))
    clusters(axes[0], X, m.plain, f"(a) data: fixed kernel, ARI {m.ari[0]:.2f}", size=8)
    place, title = axes[1].get_subplotspec(), f"(b) embedding: fixed kernel, ARI {m.ari[1]:.2f}"
    axes[1].remove()
    solid(picture, place, theory.classical_mds(np.sqrt(adaptive), 3), title, m.even, 8, elev=30, azim=-60)
    return picture


def _psi(t: NDArray) -> Floats:
    return np.exp(-(t**2) / 2)


def _adaptive_squared(X: NDArray) -> Floats:
    """Squared distances of which the mean of both points' Gaussian kernels (Figure 1's) is the Gaussian of bandwidth 1.

    Logarithms are added because the kernel of far points is too small for a float.
    """
    variance = (0.7 * knn_radius(X, 7)) ** 2
    squared = squared_distances(X)
    both = np.logaddexp(-squared / (2 * variance), -squared / (2 * variance[:, None]))
    return np.maximum(-2 * (both - np.log(2)), 0.0)


def _unevenness(squared: NDArray) -> float:
    """Spread of the number of points within a ball, at the radius that holds ten points in the median."""
    radius = np.median(np.sort(squared, axis=1)[:, 10])
    return _variation((squared <= radius).sum(axis=1))


def inversion(run: Run) -> Any:
    """Figures 10 and 11: normalisation turns densities upside down where points are sparse."""
    X, rho = make_growing_density(150 if run.small else 300, ratio=100, random_state=0)
    hat = theory.modified_distances(squared_distances(X), 0.1)
    embedded = theory.metric_mds(hat, 3)
    np.fill_diagonal(hat, 0.0)
    full, _ = theory.euclidean_embedding(hat)
    reach = knn_radius(full, _NEIGHBORS)
    # Far neighbours are sparse ones: a rank correlation above zero turns the density upside down.
    order = [float(spearmanr(rho, radius).statistic) for radius in (reach, knn_radius(embedded, _NEIGHBORS))]
    minima = [theory.density_inversion_minimum(embedding_dimension=_DIMENSION, weighted=w) for w in (False, True)]
    steps = [theory.density_inversion_minimum(embedding_dimension=d) for d in (20, 40, 60)]
    affinity, labels = Gaussian(0.1).affinity(X), (X[:, 0] > 0.5).astype(int)
    weighted = energy(theory.normalized_affinity(affinity), labels, "average_association", degrees(affinity))
    identity = abs(weighted / energy(affinity, labels, "normalized_cut") - 1)
    turns = sum(_falls_then_rises(lowest, bool(weighted)) for weighted, lowest in enumerate(minima))
    run.words = {"identity": identity, "minima": minima, "turns": turns, "steps": steps, "order": order}
    run.words |= {"neighbors": _NEIGHBORS, "dimensions": full.shape[1]}
    logs = np.diff(np.log(steps))
    run.decide("exponential", np.isclose(logs[0], logs[1]) and steps[1] > 100 * steps[0])
    run.numbers = {"minima": minima, "rank_correlation": order}
    return _draw_inversion(X, rho, embedded, reach, minima)


def _falls_then_rises(lowest: float, weighted: bool) -> bool:
    x = lowest * np.array([0.3, 1.0, 3.0])
    y = theory.density_inversion(x, embedding_dimension=_DIMENSION, weighted=weighted)
    return bool(y[0] > y[1] < y[2])


def _draw_inversion(X: NDArray, rho: NDArray, embedded: NDArray, reach: NDArray, minima: list[float]) -> Any:
    picture = canvas(11, 6.4)
    grid = picture.add_gridspec(2, 6, height_ratios=(1, 1.1))
    spans = ((1500, 60_000, "x/(1 + log x)¹⁰", BLUE), (20, 400, "x²/(1 + log x)¹⁰", ORANGE))
    titles = ("(a) kernel normalisation only", "(b) with point weights: normalised cut")
    for place, ((low, high, formula, color), title) in enumerate(zip(spans, titles)):
        ax = picture.add_subplot(grid[0, 3 * place : 3 * place + 3])
        x = np.linspace(low, high, 300)
        ax.plot(x, theory.density_inversion(x, embedding_dimension=_DIMENSION, weighted=place == 1), color=color, lw=2)
        ax.axvline(minima[place], color=ink(), lw=0.8, ls="--")
        told = f"τ(x) = {formula}\nleast at x* = {minima[place]:.0f}"
        ax.text(0.5, 0.85, told, transform=ax.transAxes, ha="center")
        heading(ax, title, xlabel="density x", yticks=[], ylabel="density seen")
    line, spread = picture.add_subplot(grid[1, :2]), picture.add_subplot(grid[1, 4:])
    shade = {"c": np.log10(rho), "cmap": COLORMAP}
    shown = line.scatter(X[:, 0], np.zeros(len(X)), marker="|", s=500, linewidths=0.8, **shade)
    heading(line, "(c) data, ever denser", yticks=[], ylim=(-1, 1), xlabel="x")
    cube = solid(picture, grid[1, 2:4], embedded, "(d) embedding in three dimensions", elev=30, azim=-60)
    values(cube, embedded, np.log10(rho), "(d) embedding in three dimensions", size=9)
    spread.scatter(rho, reach, s=9, linewidths=0, **shade)
    words = {"xlabel": "density in (c)", "ylabel": f"distance to neighbour {_NEIGHBORS}"}
    heading(spread, "(e) in the full embedding", xscale="log", **words)
    picture.colorbar(shown, ax=[line, cube, spread], label="log₁₀ of the density in (c)", shrink=0.8)
    return picture


def degree(run: Run) -> Any:
    """Section 5.2: node degrees of a Gaussian kernel follow the density, from 1 up to the number of points."""
    n = 300 if run.small else 1000
    samples = [_peak(n, seed) for seed in range(3 if run.small else 10)]
    rho = np.concatenate([density for _, density in samples])
    of = {s: np.concatenate([degrees(Gaussian(s).affinity(X)) for X, _ in samples]) for s in _SIGMAS}
    # The degree that a constant density rho would give: rho n times the integral of the kernel.
    ideal = {s: n * rho * s * np.sqrt(2 * np.pi) for s in _SIGMAS}
    thin, dense = rho < np.quantile(rho, 0.05), rho > np.quantile(rho, 0.95)
    over, under = ([float(np.median((of[s] / ideal[s])[part])) for s in _SIGMAS] for part in (thin, dense))
    follow = float(np.corrcoef(of[0.02], ideal[0.02])[0, 1])
    alone, together = degrees(Gaussian(1e-6).affinity(samples[0][0])), degrees(Gaussian(1e3).affinity(samples[0][0]))
    run.words = {"n": n, "low": min(map(np.min, of.values())), "high": max(map(np.max, of.values())), "follow": follow}
    run.words |= {"alone": alone.max(), "together": together.min(), "others": n - 1, "over": over, "under": under}
    run.numbers = {"over": over, "under": under, "correlation": follow}
    picture, ax = make_figure(size=(7, 5))
    order = np.argsort(rho[:n])
    for s, color in zip(_SIGMAS, (BLUE, ORANGE, GREEN)):
        ax.plot(rho[:n], of[s][:n], ".", ms=3, color=color, label=f"σ = {s}")
        ax.plot(rho[:n][order], ideal[s][:n][order], "-", lw=0.8, color=color)
    for level, shift, name, va in ((1, 0.8, "1: an isolated point", "top"), (n, 1.1, f"N = {n}", "bottom")):
        ax.text(rho.min() * 1.6, level * shift, name, fontsize=9, color=GREY, va=va)
        ax.axhline(level, color=GREY, ls="--", lw=1)
    ax.legend(fontsize=9, markerscale=4, loc="upper left", bbox_to_anchor=(0, 0.84))
    words = {"xlabel": "density ρ", "ylabel": "node degree d", "ylim": (0.3, n * 4)}
    heading(ax, "node degrees follow the density, between 1 and N", xscale="log", yscale="log", **words)
    return picture


def _peak(n_samples: int, seed: int) -> tuple[NDArray, NDArray]:
    """Points that grow denser towards the middle of [0, 2], and their true density."""
    left, rho_left = make_growing_density(n_samples // 2, ratio=200, random_state=2 * seed)
    right, rho_right = make_growing_density(n_samples - n_samples // 2, ratio=200, random_state=2 * seed + 1)
    return np.vstack([left, 2 - right]), np.concatenate([rho_left, rho_right]) / 2
