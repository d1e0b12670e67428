"""What the plugin does, without napari: the points of two layers become clicks, clicks become labels, and back."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..segmentation import Segmentation, read_volume, segment
from ..segmentation.volumes import is_volume_file

Clicks = tuple[tuple[Any, ...], ...]


def clicks_of(points: ArrayLike, kind: str) -> list[tuple[Any, ...]]:
    """Points of a layer, which are in the order of the axes, as clicks, which are x first.

    Examples
    --------
    >>> clicks_of([[1.2, 5.6, 7.0]], "object")
    [(7, 6, 1, 'object')]
    """
    places = np.rint(np.atleast_2d(np.asarray(points, dtype=float))).astype(int)
    return [(*(int(at) for at in place[::-1]), kind) for place in places if place.size]


class Clicking:
    """One image or volume and the clicks on it so far.

    Parameters
    ----------
    image : array of shape (M, N), (M, N, C), (D, M, N) or (D, M, N, C)
    n_axes : {2, 3}
    spacing : sequence of float, optional
        As in :func:`evencut.segmentation.segment`.

    Examples
    --------
    >>> import numpy as np
    >>> image = np.zeros((40, 40))
    >>> image[10:30, 10:30] = 1
    >>> clicking = Clicking(image, 2)
    >>> int(clicking.update([(20, 20)], []).sum()), int(clicking.undo().sum())
    (400, 0)
    """

    def __init__(self, image: ArrayLike, n_axes: int, spacing: Sequence[float] | None = None):
        self.image = np.asarray(image)
        self.n_axes = n_axes
        self.spacing = tuple(spacing) if spacing is not None else (1.0,) * n_axes
        self._clicks: list[Clicks] = [()]
        self._results: list[Segmentation | None] = [None]

    def update(self, on_object: ArrayLike, on_background: ArrayLike) -> NDArray[np.uint8]:
        """The labels after the points of both layers, 1 on the object; points that were there before cost nothing.

        Where points were moved or taken away, the object is cut out anew from all of them.
        """
        wanted = (*clicks_of(on_object, "object"), *clicks_of(on_background, "background"))
        last, result = self._clicks[-1], self._results[-1]
        if set(wanted) == set(last):
            return self.labels
        if result is not None and set(last) <= set(wanted):
            new: Segmentation = result.refine(clicks=[click for click in wanted if click not in last])
        else:
            new = segment(self.image, clicks=_object_first(wanted), spacing=self.spacing)
        self._clicks.append(wanted)
        self._results.append(new)
        return self.labels

    def undo(self) -> NDArray[np.uint8]:
        """The labels before the last update."""
        if len(self._clicks) > 1:
            self._clicks.pop()
            self._results.pop()
        return self.labels

    @property
    def labels(self) -> NDArray[np.uint8]:
        """1 on the object, 0 elsewhere and before the first point."""
        result = self._results[-1]
        return np.zeros(self.image.shape[: self.n_axes], np.uint8) if result is None else result.mask.astype(np.uint8)

    def points(self, kind: str) -> NDArray[np.float64]:
        """The points of one layer, "object" or "background", as they were at the last update."""
        places = [click[-2::-1] for click in self._clicks[-1] if click[-1] == kind]
        return np.array(places, dtype=float).reshape(-1, self.n_axes)


def reader_of(path: Any) -> Callable[[str], list[tuple[Any, ...]]] | None:
    """What reads a volume into a layer with the size of its voxels; None where the file is none.

    Examples
    --------
    >>> reader_of("photo.jpg") is None, reader_of("scan.nii.gz") is None
    (True, False)
    """
    return read_layers if isinstance(path, str) and is_volume_file(path) else None


def read_layers(path: str) -> list[tuple[Any, ...]]:
    """The volume of a file as layers of napari: data, what they are shown with, and "image"."""
    volume = read_volume(path)
    shown: dict[str, Any] = {"scale": volume.spacing}
    if volume.voxels.ndim == 4:
        shown |= {"channel_axis": 3}
    return [(volume.voxels, shown, "image")]


def _object_first(clicks: Iterable[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    return sorted(clicks, key=lambda click: click[-1] != "object")
