"""Photos that are hard to cut out: made-up scenes in which colour says little, and real photos made harder.

The scenes are drawn anew from their number, always the same: objects of the ground's own texture seen by their contour
alone, by the direction or the grain of their texture, by a faint colour, patchy ones, and animals with thin legs and
horns. Truths and boxes are known exactly.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.ndimage import gaussian_filter

from reproduction.grabcut import Photo, tight_box

HEIGHT, WIDTH = 240, 320
#: How many scenes of each kind.
PER_KIND = 6
_MARGIN = 0.04


def texture(rng: np.random.Generator, grain: tuple[float, float], angle: float = 0.0) -> np.ndarray:
    """Smooth noise of unit deviation; its grain is so long along the angle and so long across it, in pixels."""
    spectrum = np.fft.rfft2(rng.normal(size=(HEIGHT, WIDTH)))
    v, u = np.meshgrid(np.fft.fftfreq(HEIGHT), np.fft.rfftfreq(WIDTH), indexing="ij")
    along, across = u * np.cos(angle) + v * np.sin(angle), v * np.cos(angle) - u * np.sin(angle)
    noise = np.fft.irfft2(spectrum * np.exp(-2 * np.pi**2 * ((grain[0] * along) ** 2 + (grain[1] * across) ** 2)))
    noise = noise[:HEIGHT, :WIDTH]
    return (noise - noise.mean()) / noise.std()


def blob(rng: np.random.Generator) -> np.ndarray:
    """A smooth shape in the middle of the scene, with a few lobes."""
    y, x = np.indices((HEIGHT, WIDTH))
    cx, cy = WIDTH * rng.uniform(0.4, 0.6), HEIGHT * rng.uniform(0.42, 0.58)
    turn = np.arctan2(y - cy, x - cx)
    radius = HEIGHT * rng.uniform(0.24, 0.32) * np.ones_like(turn)
    for lobes in range(2, 6):
        radius += HEIGHT * 0.09 / lobes * rng.normal() * np.cos(lobes * turn + rng.uniform(0, 2 * np.pi))
    return np.hypot((x - cx) / 1.2, y - cy) < radius


def animal(rng: np.random.Generator) -> np.ndarray:
    """A body on four thin legs, with neck, head, horns and a tail."""
    cx, cy = WIDTH * rng.uniform(0.42, 0.5), HEIGHT * rng.uniform(0.45, 0.52)
    long, tall = rng.uniform(55, 70), rng.uniform(26, 34)
    y, x = np.indices((HEIGHT, WIDTH))
    mask = ((x - cx) / long) ** 2 + ((y - cy) / tall) ** 2 < 1
    for place in (-0.75, -0.5, 0.45, 0.7):
        top = (cx + place * long, cy + 0.5 * tall)
        foot = (top[0] + rng.uniform(-8, 8), HEIGHT * rng.uniform(0.86, 0.92))
        mask |= _line([top, foot], rng.uniform(2.5, 4))
    head = (cx + 1.25 * long, cy - rng.uniform(1.3, 1.7) * tall)
    mask |= _line([(cx + 0.7 * long, cy - 0.2 * tall), head], 11) | (np.hypot(x - head[0], y - head[1]) < 16)
    for side in (-1.0, 0.6):
        turn = np.linspace(0, rng.uniform(1.2, 2.2), 12)
        size = rng.uniform(24, 36)
        horn = [(head[0] + side * size * np.sin(t), head[1] - 12 - size * (1 - np.cos(t))) for t in turn]
        mask |= _line(horn, rng.uniform(2, 3))
    tail = [(cx - 0.9 * long, cy - 0.3 * tall), (cx - 1.25 * long, cy), (cx - 1.3 * long, cy + rng.uniform(20, 45))]
    return mask | _line(tail, 2.5)


def _line(points: list[tuple[float, float]], radius: float) -> np.ndarray:
    y, x = np.indices((HEIGHT, WIDTH))
    mask = np.zeros((HEIGHT, WIDTH), dtype=bool)
    for (x0, y0), (x1, y1) in zip(points, points[1:]):
        dx, dy = x1 - x0, y1 - y0
        way = np.clip(((x - x0) * dx + (y - y0) * dy) / max(dx * dx + dy * dy, 1e-9), 0, 1)
        mask |= np.hypot(x - x0 - way * dx, y - y0 - way * dy) < radius
    return mask


def palette(rng: np.random.Generator, n_colors: int) -> np.ndarray:
    """Colours of rock, bark and fur: brownish, from dark to light."""
    light = np.linspace(60, 190, n_colors)[:, None]
    return light * (1 + rng.uniform(-0.12, 0.12, (n_colors, 3))) * np.array([1.08, 1.0, 0.82])


def painted(values: np.ndarray, colors: np.ndarray) -> np.ndarray:
    """The colours of a palette by the value of a texture: minus two deviations the first, plus two the last."""
    place = np.clip((values + 2) / 4, 0, 1) * (len(colors) - 1)
    low = np.minimum(place.astype(int), len(colors) - 2)
    share = (place - low)[..., None]
    return colors[low] * (1 - share) + colors[low + 1] * share


def camouflage(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Object and ground of one texture; light on one side of the object and shade on the other draw its contour."""
    mask, colors = blob(rng), palette(rng, 5)
    grain = (rng.uniform(1.5, 4),) * 2
    image = np.where(mask[..., None], painted(texture(rng, grain), colors), painted(texture(rng, grain), colors))
    relief = gaussian_filter(mask.astype(float), 2.5)
    down, right = np.gradient(relief)
    angle = rng.uniform(0, 2 * np.pi)
    slope = (np.cos(angle) * right + np.sin(angle) * down) * mask
    rim = np.hypot(down, right) * ~mask
    return image + 350 * slope[..., None] - 350 * rim[..., None], mask


def direction(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Grain that runs another way on the object, in the same colours."""
    mask, colors, angle = blob(rng), palette(rng, 5), rng.uniform(0, np.pi)
    fine = rng.uniform(1, 1.6)
    inside = texture(rng, (5 * fine, fine), angle + rng.uniform(1.2, 1.9))
    return painted(np.where(mask, inside, texture(rng, (5 * fine, fine), angle)), colors), mask


def grain(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Coarser grain on the object or around it, in the same colours."""
    mask, colors = blob(rng), palette(rng, 5)
    sizes = (rng.uniform(0.8, 1.1), rng.uniform(3, 4.5))
    outside, inside = sizes if rng.random() < 0.5 else sizes[::-1]
    return painted(np.where(mask, texture(rng, (inside,) * 2), texture(rng, (outside,) * 2)), colors), mask


def thin(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """An animal whose colours the ground also has in places."""
    mask = animal(rng)
    rock = palette(rng, 6)
    fur = rock * np.array([1.04, 1.0, 0.96])
    ground = painted(texture(rng, (14, 8), rng.uniform(0, np.pi)) + 0.4 * texture(rng, (1.5, 1.5)), rock)
    coat = painted(0.8 * texture(rng, (6, 4)) + 0.4 * texture(rng, (1.5, 1.5)) + rng.uniform(-0.6, 0.9), fur)
    image = np.where(mask[..., None], coat, ground)
    shade = gaussian_filter(mask.astype(float), 1.5) * ~mask
    return image * (1 - 0.5 * shade[..., None]), mask


def faint(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """A smooth object a little lighter or darker than an uneven ground, with the noise of a dark photo."""
    mask = blob(rng)
    light = 100 + 25 * texture(rng, (60, 60)) + 4 * texture(rng, (3, 3))
    light = light + rng.choice([-1, 1]) * rng.uniform(12, 18) * mask
    color = np.array([1.0, 1.0, 0.95]) + 0.03 * mask[..., None] * rng.normal(size=3)
    return light[..., None] * color, mask


def patches(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """A spotted animal on a spotted ground: three colours each, one of them in common."""
    mask, colors = animal(rng) if rng.random() < 0.5 else blob(rng), palette(rng, 5)[rng.permutation(5)]
    spots = (rng.uniform(3, 5),) * 2
    coat, ground = (np.digitize(texture(rng, spots), (-0.5, 0.6)) for _ in range(2))
    image = np.where(mask[..., None], colors[[0, 1, 2]][coat], colors[[0, 3, 4]][ground])
    return gaussian_filter(image, (0.7, 0.7, 0)), mask


KINDS: dict[str, Callable[[np.random.Generator], tuple[np.ndarray, np.ndarray]]] = {
    "contour alone": camouflage,
    "direction of grain": direction,
    "size of grain": grain,
    "thin parts": thin,
    "faint": faint,
    "patches": patches,
}


def scene(kind: str, number: int) -> Photo:
    """One scene; the box is the smallest one, grown by a twenty-fifth of the picture on every side."""
    rng = np.random.default_rng([number, list(KINDS).index(kind)])
    image, mask = KINDS[kind](rng)
    image = np.clip(image + rng.normal(0, 4, size=image.shape), 0, 255).astype(np.uint8)
    return boxed(f"{kind} {number}", image, np.where(mask, 255, 0).astype(np.uint8))


def boxed(name: str, image: np.ndarray, truth: np.ndarray) -> Photo:
    """A photo with a loose box around its object."""
    height, width = truth.shape
    x0, y0, x1, y1 = tight_box(Photo(name, image, truth, (0, 0, width, height)))
    across, down = round(_MARGIN * width), round(_MARGIN * height)
    box = (max(1, x0 - across), max(1, y0 - down), min(width - 1, x1 + across), min(height - 1, y1 + down))
    return Photo(name, image, truth, box)


def grey(photo: Photo, rng: np.random.Generator) -> np.ndarray:
    """Without colour."""
    return np.repeat((photo.image @ np.array([0.299, 0.587, 0.114]))[..., None], 3, axis=2)


def blended(photo: Photo, rng: np.random.Generator) -> np.ndarray:
    """The object in the colours of the background: mean and spread brought three quarters of the way to its own."""
    object_ = photo.truth != 0
    inside, outside = photo.image[object_].astype(float), photo.image[photo.truth == 0].astype(float)
    alike = (inside - inside.mean(axis=0)) / (inside.std(axis=0) + 1) * outside.std(axis=0) + outside.mean(axis=0)
    image = photo.image.astype(float)
    image[object_] = 0.25 * inside + 0.75 * alike
    return image


def noisy(photo: Photo, rng: np.random.Generator) -> np.ndarray:
    """With the noise of a night photo."""
    return photo.image + rng.normal(0, 30, size=photo.image.shape)


#: What makes real photos harder.
HARDENED: dict[str, Callable[[Photo, np.random.Generator], np.ndarray]] = {
    "grey": grey,
    "object in the colours of the background": blended,
    "noise of 30 grey levels": noisy,
}


def hardened(photo: Photo, kind: str) -> Photo:
    """A photo at half its size and made harder."""
    half = (photo.truth.shape[0] // 2, photo.truth.shape[1] // 2)
    small = photo.image[: 2 * half[0], : 2 * half[1]].reshape(half[0], 2, half[1], 2, 3).mean(axis=(1, 3))
    truth = photo.truth[: 2 * half[0] : 2, : 2 * half[1] : 2]
    left, top, right, bottom = (side // 2 for side in photo.box)
    box = (left, top, min(right, half[1]), min(bottom, half[0]))
    small_photo = Photo(photo.name, small.astype(np.uint8), truth, box)
    image = HARDENED[kind](small_photo, np.random.default_rng(sum(map(ord, photo.name))))
    return Photo(photo.name, np.clip(image, 0, 255).astype(np.uint8), truth, box)
