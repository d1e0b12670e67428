"""Methods that answer clicks one by one, ours and its peers, behind one small interface: `click(x, y, is_object)`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from evencut.segmentation import segment
from evencut.segmentation.cuts import GridCut, boundary_weights
from evencut.segmentation.grid import enlarge, halve
from evencut.segmentation.images import as_image

RADIUS = 5


def disc(shape: tuple[int, ...], x: int, y: int, radius: int = RADIUS) -> np.ndarray:
    rows, columns = np.ogrid[: shape[0], : shape[1]]
    return (rows - y) ** 2 + (columns - x) ** 2 <= radius**2


class Evencut:
    """`segment` from the first click, `refine` for every other; after a box where one is given."""

    def __init__(self, image: np.ndarray, box=None):
        self.image = image
        self.result = None if box is None else segment(image, box=box)

    @property
    def mask(self) -> np.ndarray | None:
        return None if self.result is None else self.result.mask

    def click(self, x: int, y: int, is_object: bool) -> np.ndarray:
        clicks = [(x, y, "object" if is_object else "background")]
        answer = self.answer(clicks) if self.result is None else self.result.refine(clicks=clicks)
        # Undo is not needed here, and the whole chain would be kept.
        self.result = replace(answer, previous=None)
        return self.result.mask

    def answer(self, clicks):
        return segment(self.image, clicks=clicks)


class Seeded(ABC):
    """Peers that take hard seeds: discs of the clicks, and the rim for background until one is clicked."""

    mask = None

    def __init__(self, image: np.ndarray):
        self.image = image
        self.clicks: list[tuple[int, int, bool]] = []

    def seeds(self) -> np.ndarray:
        """1 background, 2 object, 0 elsewhere."""
        seeds = np.zeros(self.image.shape[:2], dtype=np.int64)
        if all(is_object for _, _, is_object in self.clicks):
            seeds[0] = seeds[-1] = seeds[:, 0] = seeds[:, -1] = 1
        for x, y, is_object in self.clicks:
            seeds[disc(seeds.shape, x, y)] = 2 if is_object else 1
        return seeds

    def click(self, x: int, y: int, is_object: bool) -> np.ndarray:
        self.clicks.append((x, y, is_object))
        self.mask = self.solve(self.seeds())
        return self.mask

    @abstractmethod
    def solve(self, seeds: np.ndarray) -> np.ndarray:
        """The mask that the seeds lead to."""


class GraphCut(Seeded):
    """Boykov and Jolly (2001): colour histograms of the seeds, a contrast boundary, one cut by our max-flow."""

    bins, smoothness = 8, 16.0

    def __init__(self, image: np.ndarray):
        super().__init__(image)
        pixels = as_image(image)
        self.cells = np.ravel_multi_index(
            tuple(np.minimum((pixels * self.bins).astype(int), self.bins - 1).transpose(2, 0, 1)), (self.bins,) * 3
        )
        self.weights = self.smoothness * boundary_weights(pixels)

    def solve(self, seeds: np.ndarray) -> np.ndarray:
        costs = []
        for label in (1, 2):
            counts = np.bincount(self.cells[seeds == label], minlength=self.bins**3) + 0.05
            costs.append(-np.log(counts / counts.sum())[self.cells])
        force = 1e6
        unary = np.where(seeds == 1, force, np.where(seeds == 2, -force, costs[1] - costs[0]))
        return GridCut(self.weights).minimize(unary)


class RandomWalker(Seeded):
    """Grady (2006) as in scikit-image, at its default beta, on the photo halved to at most 100 000 pixels."""

    def solve(self, seeds: np.ndarray) -> np.ndarray:
        from skimage.segmentation import random_walker

        small, labels, shapes = as_image(self.image), seeds, []
        while small[..., 0].size > 100_000:
            shapes.append(labels.shape)
            small = halve(small)
            counts = np.stack([halve((labels == k).astype(np.float32)) for k in (1, 2)])
            labels = np.where(counts.max(axis=0) > 0, counts.argmax(axis=0) + 1, 0)
        found = random_walker(small, labels, beta=130, mode="cg_j", channel_axis=-1) == 2
        for shape in reversed(shapes):
            found = enlarge(found, shape)
        return found


class OpenCV(Seeded):
    """OpenCV's grabCut, five iterations; unmarked pixels are what the last mask says, at first what is near."""

    def solve(self, seeds: np.ndarray) -> np.ndarray:
        import cv2

        cv2.setNumThreads(1)
        cv2.setRNGSeed(0)
        if self.mask is None:
            x, y, _ = self.clicks[0]
            likely = disc(seeds.shape, x, y, int(np.hypot(*seeds.shape) / 4))
        else:
            likely = self.mask
        marks = np.where(likely, cv2.GC_PR_FGD, cv2.GC_PR_BGD).astype(np.uint8)
        marks[seeds == 1], marks[seeds == 2] = cv2.GC_BGD, cv2.GC_FGD
        models = np.zeros((1, 65)), np.zeros((1, 65))
        bgr = np.ascontiguousarray(self.image[..., ::-1])
        cv2.grabCut(bgr, marks, None, *models, 5, cv2.GC_INIT_WITH_MASK)
        return (marks == cv2.GC_FGD) | (marks == cv2.GC_PR_FGD)


#: The peers by the name of their row.
PEERS: dict[str, Callable[[np.ndarray], Seeded]] = {
    "graph cut, Boykov and Jolly (our max-flow)": GraphCut,
    "random walker (scikit-image)": RandomWalker,
    "grabCut (OpenCV)": OpenCV,
}
