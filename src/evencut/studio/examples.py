"""Points and photos that come with the studio, each with the code that makes it.

What the page shows as the code of an example is what makes it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .sheets import Sheet, SheetColumn


@dataclass(frozen=True)
class PointsExample:
    """Points with their true labels.

    Attributes
    ----------
    title, story : str
        What it is, and what it shows.
    code : tuple of str
        Lines that make `X` and `y`.
    n_clusters : int
    """

    title: str
    story: str
    code: tuple[str, ...]
    n_clusters: int


@dataclass(frozen=True)
class PhotoExample:
    """A photo that some installed library carries, with the code that loads it as `image`."""

    title: str
    code: tuple[str, ...]


#: The embedded sets of points, by name; the first is shown first.
POINTS: dict[str, PointsExample] = {
    "moons": PointsExample(
        "Moons with a clump",
        "Two moons, one with a dense clump: kernel k-means isolates the clump at every bandwidth.",
        (
            "from evencut.datasets import make_clumped_moons",
            "X, y = make_clumped_moons(600, clump=0.5, random_state=0)",
        ),
        2,
    ),
    "stragglers": PointsExample(
        "Stragglers",
        "Two half circles, one with a thin tail: normalised cut with one bandwidth cuts off a piece of the tail.",
        ("from evencut.datasets import make_sparse_subset", "X, y = make_sparse_subset(600, random_state=0)"),
        2,
    ),
    "rings": PointsExample(
        "Rings",
        "Two rings, the outer one with a clump: no straight border separates them.",
        ("from evencut.datasets import make_rings", "X, y = make_rings(600, clump=0.4, random_state=0)"),
        2,
    ),
    "blobs": PointsExample(
        "Unequal blobs",
        "600, 200 and 40 points of different spread: methods that like equal sizes cut the largest.",
        (
            "from sklearn.datasets import make_blobs",
            "X, y = make_blobs([600, 200, 40], centers=[[0, 0], [5, 1.5], [1, 5]], cluster_std=[1.2, 0.5, 0.25], "
            "random_state=0)[:2]",
        ),
        3,
    ),
    "digits": PointsExample(
        "Handwritten digits",
        "1797 pictures of 8 by 8 pixels: 64 columns, shown by their principal components.",
        (
            "from sklearn.datasets import load_digits",
            "digits = load_digits()",
            "X, y = digits.data, digits.target",
        ),
        10,
    ),
}


def load_points(name: str) -> Sheet:
    """The table of an example.

    Examples
    --------
    >>> table = load_points("moons")
    >>> table.n_rows, [column.name for column in table.columns]
    (600, ['x', 'y', 'true'])
    """
    made = _run(POINTS[name].code)
    X, y = made["X"], made["y"]
    names = ["x", "y"] if X.shape[1] == 2 else [f"pixel {i}" for i in range(X.shape[1])]
    columns = [SheetColumn(title, np.array(values, dtype=np.float64)) for title, values in zip(names, X.T)]
    truth = SheetColumn("true", y.astype(np.int32), [str(label) for label in range(int(y.max()) + 1)])
    return Sheet([*columns, truth], {"kind": "example", "example": name, "name": f"{name}.csv"})


def load_photo(name: str) -> NDArray[np.uint8]:
    """The pixels of an example."""
    return _run(PHOTOS[name].code)["image"]


def _run(code: tuple[str, ...]) -> dict[str, Any]:
    """What lines of this module define."""
    made: dict[str, Any] = {}
    exec("\n".join(code), made)
    return made


def _from_skimage(title: str, name: str) -> PhotoExample:
    return PhotoExample(title, ("from skimage import data", f"image = data.{name}()"))


#: The embedded photos, by name; all lie in the files of installed libraries.
PHOTOS: dict[str, PhotoExample] = {
    "flower": PhotoExample(
        "Flower", ("from sklearn.datasets import load_sample_image", 'image = load_sample_image("flower.jpg")')
    ),
    "coffee": _from_skimage("Coffee", "coffee"),
    "cat": _from_skimage("Cat", "chelsea"),
    "astronaut": _from_skimage("Astronaut", "astronaut"),
    "rocket": _from_skimage("Rocket", "rocket"),
}
