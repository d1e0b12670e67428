"""What a user can choose for a clustering, checked, and the estimator it stands for; edits of clusters; the examples.

The same choices become code and a command line in `recipes`; a test runs those and compares the labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from .options import RequestError
from .tables import Sheet, SheetColumn

if TYPE_CHECKING:
    from evencut.kernels import Kernel


class StrictModel(BaseModel):
    """The fields of a request."""

    model_config = ConfigDict(extra="forbid")


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
        "1797 pictures of 8 by 8 pixels: 64 columns, shown on a map.",
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
    truth = SheetColumn("true", y.astype(np.int32), [str(label) for label in range(int(y.max()) + 1)], "words")
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


Name = Annotated[str, Field(max_length=1000)]


def known_kernels() -> dict[str, type[Kernel]]:
    """The kernels that the page offers: all that take points."""
    # They bring scikit-learn, for which the page need not wait.
    from evencut.kernels import KERNELS

    return {name: kernel for name, kernel in KERNELS.items() if not kernel.is_pairwise}


class Method(StrictModel):
    """One way to cluster.

    Examples
    --------
    >>> Method(tool="kernel", n_clusters=2, kernel="gaussian", parameters={"bandwidth": 0.3}).kernel_object()
    Gaussian(bandwidth=0.3)
    """

    tool: Literal["evencut", "kernel", "kmeans", "hdbscan"] = "evencut"
    n_clusters: Annotated[int, Field(ge=1, le=2000)] | Literal["auto"] = 2
    kernel: Name = "gaussian"
    parameters: dict[Name, int | Annotated[float, Field(allow_inf_nan=False)] | Name] = Field(default={})
    criterion: Literal["normalized_cut", "average_association", "average_cut"] = "normalized_cut"
    equalize: Literal["weights", "exact"] | None = None
    scale: Literal["auto", "standard"] | None = "auto"
    min_cluster_size: Annotated[int, Field(ge=2, le=100_000)] = 10
    seed: Annotated[int, Field(ge=0, lt=2**32)] = 0
    sample: Annotated[int, Field(ge=100, le=20_000)] = 3000

    @model_validator(mode="after")
    def _known(self) -> Method:
        """The kernel and its parameters are checked against what the kernel says of itself."""
        kernels = known_kernels()
        if self.kernel not in kernels:
            raise ValueError(f"kernel {self.kernel[:80]!r} is not known; choose one of {[*kernels]}")
        known = {setting.name: setting for setting in kernels[self.kernel].settings}
        for name, value in self.parameters.items():
            if name not in known:
                raise ValueError(f"the kernel {self.kernel} has no parameter {name[:80]!r}; it has {[*known]}")
            number = isinstance(value, float) and value.is_integer() and known[name].whole
            self.parameters[name] = known[name].read(str(int(value) if number else value))
        return self

    def kernel_object(self) -> Kernel:
        """The kernel with its parameters."""
        return known_kernels()[self.kernel](**self.parameters)

    def is_sampled(self, n_points: int) -> bool:
        """Whether it is fitted on a sample, the other points following: a dense kernel on many points."""
        return self.tool == "kernel" and not known_kernels()[self.kernel].is_graph and n_points > self.sample


def estimator(method: Method) -> Any:
    """The unfitted estimator of a method."""
    if method.tool == "kmeans":
        from sklearn.cluster import KMeans

        if method.n_clusters == "auto":
            raise RequestError("k-means cannot find the number of clusters; give it, or choose evencut.")
        return KMeans(method.n_clusters, n_init=10, random_state=method.seed)
    if method.tool == "hdbscan":
        from sklearn.cluster import HDBSCAN

        return HDBSCAN(min_cluster_size=method.min_cluster_size, copy=True)
    from evencut import EvenCut, KernelClustering

    if method.tool == "evencut":
        return EvenCut(method.n_clusters, scale=method.scale, random_state=method.seed)
    return KernelClustering(
        method.n_clusters,
        kernel=method.kernel_object(),
        criterion=method.criterion,
        equalize=method.equalize,
        scale=method.scale,
        random_state=method.seed,
    )


def scaled(method: Method, X: NDArray[Any]) -> NDArray[Any]:
    """The points as the estimator of a method takes them: ours scale by themselves, others get them scaled alike."""
    if method.tool in ("evencut", "kernel"):
        return X
    from evencut.points import feature_scale

    return X / feature_scale(X, method.scale)


def fit_labels(method: Method, X: NDArray[np.float64], held: NDArray[np.int64] | None = None) -> tuple[NDArray, Any]:
    """Labels of all points, and the fitted estimator; `held` are labels the user insists on (-1: none).

    The steps are those of the code that `recipes.python_code` writes; change both together.
    """
    model = estimator(method)
    if method.is_sampled(len(X)):
        rng = np.random.default_rng(method.seed)
        chosen = np.sort(rng.choice(len(X), method.sample, replace=False))
        if held is not None:
            # What the user has said must be seen by the fit, also where the draw has missed it.
            chosen = np.union1d(chosen, np.flatnonzero(held >= 0))
        model.fit(X[chosen], None if held is None else held[chosen])
        labels = model.predict(X)
        labels[chosen] = model.labels_
    else:
        model.fit(scaled(method, X), held)
        labels = np.array(model.labels_)
    return labels, model


def cure_of(model: Any) -> Method | None:
    """The method that an estimator stands for; None for one that the page cannot show.

    Examples
    --------
    >>> from evencut import KernelClustering
    >>> cure = cure_of(KernelClustering(2, kernel="knn", equalize="exact", random_state=0))
    >>> cure.tool, cure.kernel, cure.equalize, cure.n_clusters
    ('kernel', 'knn', 'exact', 2)
    """
    from evencut.estimators import EvenCut, KernelClustering
    from evencut.estimators.inputs import kernel_from
    from evencut.kernels import KERNELS

    if not isinstance(model, EvenCut | KernelClustering):
        return None
    choices: dict[str, Any] = {
        "n_clusters": model.n_clusters,
        "scale": model.scale,
        "seed": model.random_state if isinstance(model.random_state, int) else 0,
    }
    if model.metric != "euclidean":
        return None
    if isinstance(model, KernelClustering):
        kernel = kernel_from(model.kernel or "shared_neighbors")
        names = {kind: name for name, kind in KERNELS.items()}
        chosen = {setting.name: getattr(kernel, setting.name) for setting in kernel.settings}
        usual = type(kernel)()
        parameters = {name: value for name, value in chosen.items() if value != getattr(usual, name)}
        choices |= {"tool": "kernel", "kernel": names.get(type(kernel), ""), "parameters": parameters}
        choices |= {"criterion": model.criterion, "equalize": model.equalize}
    try:
        return Method(**choices)
    except ValidationError:
        return None


class Merge(StrictModel):
    """Several clusters become one."""

    kind: Literal["merge"] = "merge"
    labels: list[int]

    def code(self) -> list[str]:
        """Lines that do it to `labels`."""
        return [f"labels[np.isin(labels, {self.labels})] = {self.labels[0]}"]


class Split(StrictModel):
    """One cluster becomes two, by evencut on its points alone."""

    kind: Literal["split"] = "split"
    label: int

    def code(self) -> list[str]:
        """Lines that do it to `labels` of the points `X`."""
        return [
            f"part = labels == {self.label}",
            "second = EvenCut(2, random_state=0).fit_predict(X[part]) == 1",
            f"labels[part] = np.where(second, labels.max() + 1, {self.label})",
        ]


Edit = Merge | Split


def edited(labels: NDArray[np.int32], edit: Edit, X: NDArray[np.floating]) -> NDArray[np.int32]:
    """The labels after an edit; the steps are those of its code.

    Examples
    --------
    >>> edited(np.array([0, 1, 2, -1], dtype=np.int32), Merge(labels=[0, 1]), np.zeros((4, 1))).tolist()
    [0, 0, 2, -1]
    """
    labels = labels.copy()
    if isinstance(edit, Merge):
        labels[np.isin(labels, edit.labels)] = edit.labels[0]
        return labels
    from evencut import EvenCut

    inside = labels == edit.label
    second = EvenCut(2, random_state=0).fit_predict(X[inside]) == 1
    labels[inside] = np.where(second, labels.max() + 1, edit.label)
    return labels
