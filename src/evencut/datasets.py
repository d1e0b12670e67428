"""Synthetic sets that show the density biases of kernel clustering, and their cures.

Each function returns points `X` and a true `y`; the same `random_state` gives the same points.
"""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from .tensors import Floats, Ints

__all__ = ["make_clumped_moons", "make_growing_density", "make_rings", "make_sparse_subset", "make_volume"]



def make_clumped_moons(
    n_samples: int = 600, clump: float = 0.5, noise: float = 0.05, random_state: Any = None
) -> tuple[Floats, Ints]:
    r"""Two interleaved half circles, one with a dense clump: the paper's Figure 1.

    The points of the upper half circle lie at :math:`(\cos t, \sin t)`, those of the lower one at
    :math:`(1 - \cos t, \tfrac12 - \sin t)`, with `t` uniform on :math:`[0, \pi]`, save a share `clump` of the upper
    ones, for which `t` is normal with mean :math:`\pi/2` and deviation :math:`0.03\pi`.

    Parameters
    ----------
    n_samples : int, default=600
        Number of points, half of them on each half circle.
    clump : float in [0, 1], default=0.5
        Share of the upper half circle gathered in the clump; 0 gives both uniform density.
    noise : float, default=0.05
        Standard deviation of the Gaussian noise added to both coordinates.
    random_state : int, RandomState instance or None, default=None
        Pass an int for the same points every time.

    Returns
    -------
    X : ndarray of shape (n_samples, 2)
        The points.
    y : ndarray of shape (n_samples,)
        0 on the upper half circle, 1 on the lower one.

    Examples
    --------
    >>> from evencut.datasets import make_clumped_moons
    >>> X, y = make_clumped_moons(100, clump=0.8, random_state=0)
    >>> X.shape, int(y.sum())
    ((100, 2), 50)
    """
    _check_sample_count(n_samples, 2)
    _check_number("clump", clump, 0, 1)
    _check_number("noise", noise, 0)
    rng = check_random_state(random_state)
    upper = _circle(_angles(rng, n_samples - n_samples // 2, np.pi, clump))
    lower = [1, 0.5] - _circle(_angles(rng, n_samples // 2, np.pi, 0))
    return _noisy_and_shuffled(rng, upper, lower, noise)


def make_rings(
    n_samples: int = 600, clump: float = 0.0, factor: float = 0.4, noise: float = 0.05, random_state: Any = None
) -> tuple[Floats, Ints]:
    r"""Two concentric rings, the outer one of radius 1 with a dense clump if asked.

    Parameters
    ----------
    n_samples : int, default=600
        Number of points, half of them on each ring.
    clump : float in [0, 1], default=0.0
        Share of the outer ring gathered at angles of mean :math:`\pi/2` and deviation :math:`0.03\pi`.
    factor : float in (0, 1), default=0.4
        Radius of the inner ring.
    noise : float, default=0.05
        Standard deviation of the Gaussian noise added to both coordinates.
    random_state : int, RandomState instance or None, default=None
        Pass an int for the same points every time.

    Returns
    -------
    X : ndarray of shape (n_samples, 2)
        The points.
    y : ndarray of shape (n_samples,)
        0 on the outer ring, 1 on the inner one.

    Examples
    --------
    >>> from evencut.datasets import make_rings
    >>> X, y = make_rings(200, noise=0, random_state=0)
    >>> bool(((X[y == 0] ** 2).sum(axis=1) > (X[y == 1] ** 2).sum(axis=1).max()).all())
    True
    """
    _check_sample_count(n_samples, 2)
    _check_number("clump", clump, 0, 1)
    _check_number("factor", factor, 0, 1, open_ends=True)
    _check_number("noise", noise, 0)
    rng = check_random_state(random_state)
    outer = _circle(_angles(rng, n_samples - n_samples // 2, 2 * np.pi, clump))
    inner = factor * _circle(_angles(rng, n_samples // 2, 2 * np.pi, 0))
    return _noisy_and_shuffled(rng, outer, inner, noise)


def make_sparse_subset(
    n_samples: int = 600, sparse: float = 0.015, length: float = 3.0, noise: float = 0.05, random_state: Any = None
) -> tuple[Floats, Ints]:
    r"""Two half circles, one with a sparse tail of outliers: data for the sparse subset bias.

    The tail leaves the right end (2, 0.5) of the lower half circle along the direction (1, 1) and belongs
    to that half circle. Normalised cut with a Gaussian kernel of one bandwidth cuts off a piece of the tail
    instead of parting the half circles (the paper's Figure on the failures of NC); neighbour and locally
    scaled kernels do not.

    Parameters
    ----------
    n_samples : int, default=600
        Number of points, half of them on each half circle with its tail.
    sparse : float in [0, 0.5], default=0.015
        Share of all points that lie on the tail.
    length : float, default=3.0
        Length of the tail, in radii of the half circles.
    noise : float, default=0.05
        Standard deviation of the Gaussian noise added to both coordinates.
    random_state : int, RandomState instance or None, default=None
        Pass an int for the same points every time.

    Returns
    -------
    X : ndarray of shape (n_samples, 2)
        The points.
    y : ndarray of shape (n_samples,)
        0 on the upper half circle, 1 on the lower one and its tail.

    Examples
    --------
    >>> from evencut.datasets import make_sparse_subset
    >>> X, y = make_sparse_subset(200, sparse=0.05, noise=0, random_state=0)
    >>> int((X[:, 0] > 2).sum())
    10
    """
    _check_sample_count(n_samples, 2)
    _check_number("sparse", sparse, 0, 0.5)
    _check_number("length", length, 0, open_ends=True)
    _check_number("noise", noise, 0)
    rng = check_random_state(random_state)
    n_tail = min(round(sparse * n_samples), n_samples // 2)
    lower = [1, 0.5] - _circle(_angles(rng, n_samples // 2 - n_tail, np.pi, 0))
    # One point in each of n_tail equal steps: a tail drawn freely would break into pieces.
    along = (np.arange(n_tail) + rng.uniform(0, 1, n_tail)) * length / max(n_tail, 1)
    tail = [2, 0.5] + along[:, None] * np.sqrt(0.5)
    upper = _circle(_angles(rng, n_samples - n_samples // 2, np.pi, 0))
    return _noisy_and_shuffled(rng, upper, np.vstack([lower, tail]), noise)


def make_growing_density(n_samples: int = 200, ratio: float = 50.0, random_state: Any = None) -> tuple[Floats, Floats]:
    r"""Points on a line that grow denser along it: the paper's Figure on density inversion.

    On [0, 1] the density is exponential, :math:`\rho(x) = r^x \log r / (r - 1)` with `r` the `ratio`.

    Parameters
    ----------
    n_samples : int, default=200
        Number of points.
    ratio : float > 1, default=50.0
        How many times denser the points are at 1 than at 0.
    random_state : int, RandomState instance or None, default=None
        Pass an int for the same points every time.

    Returns
    -------
    X : ndarray of shape (n_samples, 1)
        The points, in increasing order.
    y : ndarray of shape (n_samples,)
        The true density at each point (there are no clusters in this set).

    Examples
    --------
    >>> from evencut.datasets import make_growing_density
    >>> X, y = make_growing_density(100, ratio=10, random_state=0)
    >>> bool(X.min() >= 0 and X.max() <= 1 and y.max() / y.min() <= 10)
    True
    """
    _check_sample_count(n_samples, 1)
    _check_number("ratio", ratio, 1, open_ends=True)
    rng = check_random_state(random_state)
    growth = np.log(ratio)
    x = np.sort(np.log1p(rng.uniform(0, 1, n_samples) * (ratio - 1)) / growth)
    return x[:, None], np.exp(growth * x) * growth / (ratio - 1)


#: What the shapes of :func:`make_volume` are, and how bright the ground and each of their labels is.
_SHAPES = {"tubes": (0.3, 0.6), "nested": (0.25, 0.5, 0.75), "blobs": (0.3, 0.6)}


def make_volume(
    kind: str = "nested",
    shape: tuple[int, int, int] = (32, 64, 64),
    spacing: tuple[float, float, float] = (2.0, 1.0, 1.0),
    noise: float = 0.1,
    bias: float = 0.2,
    random_state: Any = None,
) -> tuple[NDArray[np.float32], Ints]:
    r"""A synthetic scan of known shapes, with noise, a bias field and anisotropic voxels.

    .. math:: v(p) = (1 + b\, f(p))\, g_{y(p)} + \epsilon_p

    with `g` the brightness of each label, `f` a smooth field between -1 and 1 and normal noise. Shapes are drawn in
    space and then cut into voxels.

    Parameters
    ----------
    kind : {"nested", "tubes", "blobs"}
        A blob in a blob; two tubes that bend through the volume; five blobs alike, of which only the first has a label.
    shape : tuple of int
        Slices, rows and columns.
    spacing : tuple of float
        Size of a voxel along each axis.
    noise : float, default=0.1
        Standard deviation; the brightness of neighbouring labels differs by 0.25 or 0.3.
    bias : float, default=0.2
        How much the field changes the brightness, as a share of it.
    random_state : int, RandomState instance or None, default=None

    Returns
    -------
    volume : ndarray of float32 of shape `shape`
    y : ndarray of int of shape `shape`
        0 on the ground, 1 and 2 on the shapes.

    Examples
    --------
    >>> from evencut.datasets import make_volume
    >>> volume, y = make_volume("nested", (8, 32, 32), (4, 1, 1), random_state=0)
    >>> volume.shape, sorted(set(y.ravel().tolist()))
    ((8, 32, 32), [0, 1, 2])
    """
    if kind not in _SHAPES:
        raise ValueError(f"kind={kind!r} is not known; choose one of {tuple(_SHAPES)}.")
    _check_number("noise", noise, 0)
    _check_number("bias", bias, 0, 1)
    if len(shape) != 3 or min(shape) < 1 or len(spacing) != 3 or min(spacing) <= 0:
        raise ValueError(f"shape={shape} and spacing={spacing} must be three positive numbers each.")
    rng = check_random_state(random_state)
    sides = np.array(shape) * np.array(spacing, dtype=float)
    # Relative to the centre, in units of the shortest side.
    positions = np.stack(
        np.meshgrid(*((np.arange(n) + 0.5) * s - n * s / 2 for n, s in zip(shape, spacing)), indexing="ij"), axis=-1
    ) / sides.min()
    room = sides / sides.min() / 2
    y = {"nested": _nested, "tubes": _tubes, "blobs": _blobs}[kind](rng, positions, room)
    field = sum(np.cos(positions @ rng.normal(0, 2, 3) + rng.uniform(0, 2 * np.pi)) for _ in range(3)) / 3
    brightness = np.array([*_SHAPES[kind]])[np.where(y < 0, 1, y)]
    volume = (1 + bias * field) * brightness + rng.normal(0, noise, shape)
    return volume.astype(np.float32), np.maximum(y, 0)


def _wobbly(rng: np.random.RandomState, positions: Floats, centre: Any, radius: float) -> Any:
    """Inside a ball whose radius changes by a fifth with the direction."""
    offset = positions - centre
    length = np.linalg.norm(offset, axis=-1)
    direction = offset / np.maximum(length, 1e-9)[..., None]
    wave = sum(np.cos(3 * direction @ rng.normal(0, 1, 3) + rng.uniform(0, 2 * np.pi)) for _ in range(2)) / 2
    return length < radius * (1 + 0.2 * wave)


def _nested(rng: np.random.RandomState, positions: Floats, room: Floats) -> Ints:
    centre = rng.uniform(-0.06, 0.06, 3)
    outer = _wobbly(rng, positions, centre, 0.34)
    inner = _wobbly(rng, positions, centre + rng.uniform(-0.05, 0.05, 3), 0.16) & outer
    return outer.astype(np.int64) + inner


def _tubes(rng: np.random.RandomState, positions: Floats, room: Floats) -> Ints:
    """Balls along two curves that cross the volume side by side."""
    labels = np.zeros(positions.shape[:-1], dtype=np.int64)
    for shift in (-0.2, 0.2):
        phase, swing = rng.uniform(0, 2 * np.pi, 2), rng.uniform(0.05, 0.1, 2)
        # Along the longest side of the volume.
        axis_along = int(np.argmax(room))
        first, second = (axis for axis in range(3) if axis != axis_along)
        angle = positions[..., axis_along] / room[axis_along] * np.pi
        off = (positions[..., first] - swing[0] * np.sin(angle + phase[0])) ** 2
        off += (positions[..., second] - shift - swing[1] * np.cos(angle + phase[1])) ** 2
        labels[(off < 0.09**2) & (np.abs(positions[..., axis_along]) < 0.9 * room[axis_along])] = 1 if shift < 0 else -1
    return labels


def _blobs(rng: np.random.RandomState, positions: Floats, room: Floats) -> Ints:
    """The blob in the middle, and four like it around it."""
    labels = np.zeros(positions.shape[:-1], dtype=np.int64)
    for k, (u, v) in enumerate(((0.0, 0.0), (-0.55, -0.55), (-0.55, 0.55), (0.55, -0.55), (0.55, 0.55))):
        centre = np.array([rng.uniform(-0.05, 0.05), u * room[1], v * room[2]])
        labels[_wobbly(rng, positions, centre, 0.17 * min(1.0, float(room.min()) / 0.5))] = 1 if k == 0 else -1
    return labels


def _angles(rng: np.random.RandomState, n_points: int, turn: float, clump: float) -> Floats:
    """Uniform angles on [0, turn], a share `clump` of them gathered at the clump's angle."""
    n_clump = round(clump * n_points)
    gathered = rng.normal(np.pi / 2, 0.03 * np.pi, n_clump)
    return np.concatenate([rng.uniform(0, turn, n_points - n_clump), gathered])


def _circle(angles: Floats) -> Floats:
    return np.column_stack([np.cos(angles), np.sin(angles)])


def _noisy_and_shuffled(
    rng: np.random.RandomState, first: Floats, second: Floats, noise: float
) -> tuple[Floats, Ints]:
    """Two clusters as one table, with noise and in random order, and the cluster of each row."""
    X, y = np.vstack([first, second]), np.repeat([0, 1], [len(first), len(second)])
    order = rng.permutation(len(X))
    return (X + rng.normal(0, noise, X.shape))[order], y[order].astype(np.int64)


def _check_sample_count(n_samples: Any, smallest: int) -> None:
    if not isinstance(n_samples, Integral) or isinstance(n_samples, bool):
        raise TypeError(f"n_samples={n_samples!r} must be a whole number, not {type(n_samples).__name__}.")
    if n_samples < smallest:
        raise ValueError(f"n_samples={n_samples} is too few; ask for at least {smallest}.")


def _check_number(
    name: str, value: Any, low: float, high: float = np.inf, *, open_ends: bool = False
) -> None:
    """Accept a number in [low, high], or in (low, high) with open ends; infinity never."""
    if not isinstance(value, Real) or isinstance(value, bool):
        raise TypeError(f"{name}={value!r} must be a number, not {type(value).__name__}.")
    number = float(value)
    inside = low < number < high if open_ends else low <= number <= high
    if not (inside and np.isfinite(number)):
        span = f"{'(' if open_ends else '['}{low:g}, {high:g}{')' if open_ends or high == np.inf else ']'}"
        raise ValueError(f"{name}={value} is outside {span}; choose a value inside.")
