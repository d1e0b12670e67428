"""Fitted models in files of the skops format: plain data whose types are checked before anything is loaded.

Never a pickle: a file with a type that no model has is refused, and no code of it is run.
"""

from __future__ import annotations

import copy
import io
import json
import sys
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

from .._lazy import require
from .._runtime import atomic_write, one_line
from ..criteria import CRITERIA
from ..io import Preparation
from ..kernels import KERNELS
from ..landmarks import Attachment, RowReservoir
from ..neighbors import GivenDistances, MetricPoints, SparsePoints
from ..points import CoordinateSystem, PreparedPoints
from ..tensors import in_memory, is_tensor
from .certainty import Certainty
from .clustering import Clustering
from .dominant_sets import DominantSets
from .even_cut import EvenCut
from .hierarchy import Hierarchy
from .kernel_clustering import KernelClustering, KernelKMeans, NormalizedCut
from .landmark_clustering import LandmarkClustering
from .matching import ClusterChange, Matching
from .model import FittedModel
from .probabilistic_kmeans import GaussianModel, HistogramModel, ProbabilisticKMeans

_FORMAT = 2


def save(model: Any, path: str | Path) -> None:
    """Save a fitted model to a file for :func:`load`, without the affinity, which only the fit needs.

    Parameters
    ----------
    model : fitted estimator
    path : str or Path
        Written completely or not at all, in the skops format, without pickles; needs
        `pip install "evencut[models]"`.

    Examples
    --------
    >>> import os, tempfile
    >>> import evencut
    >>> X = [[0.0], [0.1], [3.0], [3.1]]
    >>> model = evencut.KernelClustering(2, kernel="gaussian", random_state=0).fit(X)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "model.skops")
    ...     evencut.save(model, path)
    ...     evencut.load(path).predict([[0.2], [2.9]])
    array([0, 1])
    """
    content = record_bytes(model)
    with atomic_write(path) as file:
        file.write(content)


def load(path: str | Path) -> Any:
    """Load a model; a file that contains any type other than those of a model is refused.

    Parameters
    ----------
    path : str or Path
        A file of :func:`save`, or of `evencut cluster --save`.

    Returns
    -------
    fitted estimator
        It predicts the same; `affinity_`, `selection_` and `diagnose()` are not saved.

    Examples
    --------
    >>> import evencut
    >>> evencut.load("model.skops")  # doctest: +SKIP
    KernelClustering(n_clusters=2)
    """
    return read_record(path)["model"]


def record_bytes(model: Any, **more: Any) -> bytes:
    """A model, and plain data beside it, as the bytes of a file."""
    record = {"format": _FORMAT, "evencut": _version(), "model": portable(model), **more}
    content: bytes = require_skops().dumps(record)
    strange = _strange(require_skops().get_untrusted_types(data=content))
    if strange:
        raise TypeError(
            f"the model holds {strange[0]}, your own code, which a data file cannot hold; fit with kernels and "
            "parameters of evencut, or keep the model as a pickle that you trust."
        )
    return content


def read_record(path: str | Path) -> dict[str, Any]:
    """What a file of a model holds; a ValueError says what is wrong with it."""
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        raise ValueError(f"cannot read {path}: {error.strerror}.") from error
    if not zipfile.is_zipfile(io.BytesIO(content)):
        cure = "give a file that evencut.save or `evencut cluster --save` wrote"
        raise ValueError(f"{path} is not a model that can be read; {cure}.")
    skops = require_skops()
    try:
        held = skops.get_untrusted_types(data=content)
    except Exception as error:
        raise ValueError(f"{path} is not a model that can be read ({one_line(error)}); save it again.") from error
    # A file of another version may hold types that this one does not know: name the version first.
    written, by = _written_by(content)
    if by is not None and written != _FORMAT:
        raise ValueError(
            f"{path} is a model of format {written}, and this evencut {_version()} reads format {_FORMAT}; use "
            f"evencut {by}, or save the model again."
        )
    if by is not None and _minor(by) != _minor(_version()):
        raise ValueError(
            f"{path} was saved by evencut {by}, whose models this evencut {_version()} does not read: fit and save it "
            f"again, or install evencut {by}."
        )
    if strange := _strange(held):
        raise ValueError(
            f"{path} holds {strange[0]}, which no evencut model contains; it was not loaded. "
            "Check where the file comes from."
        )
    try:
        record: dict[str, Any] = skops.loads(content, trusted=held)
        _ = record["format"], record["evencut"], record["model"]
    except (KeyError, TypeError, AttributeError, ValueError, IndexError) as error:
        raise ValueError(f"{path} is not a model that evencut has saved ({one_line(error)}).") from error
    return record


def portable(model: Any) -> Any:
    """A copy of a fitted model that predicts the same and holds neither the affinity nor functions.

    Examples
    --------
    >>> import numpy as np
    >>> from evencut import KernelClustering
    >>> X = np.array([[0.0], [0.1], [3.0], [3.1]])
    >>> model = KernelClustering(2, kernel="gaussian", random_state=0).fit(X)
    >>> portable(model).predict(X)
    array([0, 0, 1, 1])
    """
    copied = copy.copy(model)
    for name, value in vars(model).items():
        setattr(copied, name, in_memory(value))
    if isinstance(model, Clustering):
        if not is_tensor(model._fitted_points):
            copied._derived = {"certainty": model._certainty(), "tree": model._tree()}
        # Made again from the kernel and the points when first needed.
        copied._prepared = model._prepared.in_memory
        copied._model = replace(model._model, points=copied._prepared.points, extension=None)
        for name in ("_affinity", "_left_out", "selection_"):
            vars(copied).pop(name, None)
    elif isinstance(model, LandmarkClustering):
        copied.attachment_ = model.attachment_.in_memory
        if model._fitted_rows is not None:
            copied._of_rows = model._row_certainty()
        copied._fitted_rows = None
    return copied


def portable_types() -> list[type]:
    """Every type a portable model is made of, besides those of NumPy, SciPy and Python."""
    kernels = [KernelClustering, KernelKMeans, NormalizedCut]
    models = [EvenCut, *kernels, LandmarkClustering, DominantSets, ProbabilisticKMeans]
    criteria = [type(criterion) for criterion in CRITERIA.values()]
    points = [SparsePoints, MetricPoints, GivenDistances]
    distributions = [GaussianModel, HistogramModel]
    parts = [FittedModel, Certainty, Hierarchy, PreparedPoints, Preparation, Attachment, RowReservoir]
    memory = [Matching, ClusterChange]
    return [*models, *distributions, *parts, *memory, CoordinateSystem, *points, *KERNELS.values(), *criteria]


def _written_by(content: bytes) -> tuple[Any, Any]:
    """Format and version of evencut that a file names, read without loading it; None if it names none."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            fields = json.loads(archive.read("schema.json"))["content"]
        return json.loads(fields["format"]["content"]), json.loads(fields["evencut"]["content"])
    except (KeyError, TypeError, ValueError, zipfile.BadZipFile):
        return None, None


def _minor(version: str) -> str:
    """The minor version: models of one are read by another of the same."""
    return ".".join(str(version).split(".")[:2])


def _version() -> str:
    # Of the package itself, which is loaded by now: no room may import it.
    return str(sys.modules[__name__.partition(".")[0]].__version__)


def _strange(held: list[str]) -> list[str]:
    """The types among those held that no model has."""
    trusted = {f"{kind.__module__}.{kind.__qualname__}" for kind in portable_types()}
    # Types of other libraries that skops does not trust by itself.
    return sorted(set(held) - trusted - {"numpy.dtype", "scipy.sparse._csr.csr_array"})


def require_skops() -> Any:
    """The library that writes and reads the files; where it is missing, an error that says what to install."""
    return require("skops.io", "files of models need skops", "models")
