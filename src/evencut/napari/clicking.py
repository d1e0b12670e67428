"""What the plugin does, without napari: the points of two layers become clicks, clicks become labels, and back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..segmentation import Segmentation, Volume, read_volume, segment, write_labels
from ..segmentation.volumes import is_volume_file

Clicks = tuple[tuple[Any, ...], ...]


def clicks_of(points: ArrayLike, kind: str) -> list[tuple[Any, ...]]:
    """Points of a layer, which are in the order of the axes, as clicks, which are x first.

    Examples
    --------
    >>> clicks_of([[1.2, 5.6, 7.0]], "object")
    [(7, 6, 1, 'object')]
    """
    positions = np.rint(np.atleast_2d(np.asarray(points, dtype=float))).astype(int)
    return [(*(int(at) for at in place[::-1]), kind) for place in positions if place.size]


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
        self._steps: list[tuple[Clicks, Segmentation | None]] = [((), None)]

    def update(self, on_object: ArrayLike, on_background: ArrayLike) -> NDArray[np.uint8]:
        """The labels after the points of both layers, 1 on the object; points that were there before cost nothing.

        Where points were moved or taken away, the object is cut out anew from all of them.
        """
        all_clicks = (*clicks_of(on_object, "object"), *clicks_of(on_background, "background"))
        last, result = self._steps[-1]
        if set(all_clicks) == set(last):
            return self.labels
        if result is not None and set(last) <= set(all_clicks):
            new: Segmentation = result.refine(clicks=[click for click in all_clicks if click not in last])
        else:
            new = segment(self.image, clicks=all_clicks, spacing=self.spacing)
        self._steps.append((all_clicks, new))
        return self.labels

    def undo(self) -> NDArray[np.uint8]:
        """The labels before the last update."""
        if len(self._steps) > 1:
            self._steps.pop()
        return self.labels

    @property
    def labels(self) -> NDArray[np.uint8]:
        """1 on the object, 0 elsewhere and before the first point."""
        _, result = self._steps[-1]
        return np.zeros(self.image.shape[: self.n_axes], np.uint8) if result is None else result.mask.astype(np.uint8)

    def painted(self, labels: NDArray[np.integer], number: int) -> NDArray[np.integer]:
        """A label map with this object under its number; other objects keep their pixels."""
        return np.where((labels == 0) | (labels == number), number * self.labels.astype(labels.dtype), labels)

    def points(self, kind: str) -> NDArray[np.float64]:
        """The points of one layer, "object" or "background", as they were at the last update."""
        clicks, _ = self._steps[-1]
        positions = [click[-2::-1] for click in clicks if click[-1] == kind]
        return np.array(positions, dtype=float).reshape(-1, self.n_axes)


def reader_of(path: Any) -> Callable[[str], list[tuple[Any, ...]]] | None:
    """What reads a volume into a layer with the size of its voxels; None where the file is none.

    Examples
    --------
    >>> reader_of("photo.jpg") is None, reader_of("scan.nii.gz") is None
    (True, False)
    """
    return read_layers if isinstance(path, str) and is_volume_file(path) else None


def read_layers(path: str) -> list[tuple[Any, ...]]:
    """The volume of a file as layers of napari: data, attributes, and "image"."""
    volume = read_volume(path)
    attributes: dict[str, Any] = {"scale": volume.spacing, "metadata": {"affine": volume.affine}}
    if volume.voxels.ndim == 4:
        attributes |= {"channel_axis": 3}
    return [(volume.voxels, attributes, "image")]


def write_layer(path: str, labels: NDArray[np.integer], attributes: dict[str, Any]) -> list[str]:
    """A labels layer written with the orientation and voxel size of the volume that it was made from."""
    scale = tuple(float(side) for side in attributes.get("scale", (1.0,) * labels.ndim))
    volume = Volume(labels, scale, attributes.get("metadata", {}).get("affine"))
    with open(path, "wb") as file:
        write_labels(path, file, labels, volume)
    return [path]
