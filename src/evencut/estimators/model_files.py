"""Fitted models in files of the skops format: plain data whose types are checked before anything is loaded.

Never a pickle: a file is refused where it holds a type that no model has, and no code of it is run.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

from .._lazy import required
from .._runtime import one_line

_FORMAT = 2
# Types of other libraries that models hold and that skops does not trust by itself.
_ALSO_TRUSTED = ("numpy.dtype", "scipy.sparse._csr.csr_array")


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
    draft = Path(path).with_name(f".{Path(path).name}.{os.getpid()}.part")
    try:
        draft.write_bytes(content)
        draft.replace(path)
    finally:
        if draft.exists():
            draft.unlink()


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
    from .portable import portable

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
    skops = require_skops()
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        raise ValueError(f"cannot read {path}: {error.strerror}.") from error
    try:
        held = skops.get_untrusted_types(data=content)
    except Exception as error:
        raise ValueError(f"{path} is not a model that can be read ({one_line(error)}); save it again.") from error
    if strange := _strange(held):
        raise ValueError(
            f"{path} holds {strange[0]}, which no evencut model contains; it was not loaded. "
            "Check where the file comes from."
        )
    try:
        record: dict[str, Any] = skops.loads(content, trusted=held)
        written, by, _ = record["format"], record["evencut"], record["model"]
    except (KeyError, TypeError, AttributeError, ValueError, IndexError) as error:
        raise ValueError(f"{path} is not a model that evencut has saved ({one_line(error)}).") from error
    if written != _FORMAT:
        raise ValueError(
            f"{path} is a model of format {written}, and this evencut {_version()} reads format {_FORMAT}; use "
            f"evencut {by}, or save the model again."
        )
    if _minor(by) != _minor(_version()):
        raise ValueError(
            f"{path} was saved by evencut {by}, whose models this evencut {_version()} does not read: fit and save it "
            f"again, or install evencut {by}."
        )
    return record


def _minor(version: str) -> str:
    """The minor version: models of one are read by another of the same."""
    return ".".join(str(version).split(".")[:2])


def _version() -> str:
    # Of the package itself, which is loaded by now: no room may import it.
    return str(sys.modules[__name__.partition(".")[0]].__version__)


def _strange(held: list[str]) -> list[str]:
    """The types among those held that no model has."""
    from .portable import portable_types  # which loads every estimator: a command that saves nothing need not

    trusted = {f"{kind.__module__}.{kind.__qualname__}" for kind in portable_types()}
    return sorted(set(held) - trusted - set(_ALSO_TRUSTED))


def require_skops() -> Any:
    """The library that writes and reads the files; where it is missing, an error that says what to install."""
    return required("skops.io", "files of models need skops", "models")
