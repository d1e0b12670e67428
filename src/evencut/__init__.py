"""Kernel clustering, and cures for its density biases."""

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .diagnosis import bandwidth_sweep, describe
    from .estimators import (
        DominantSets,
        EvenCut,
        KernelClustering,
        KernelKMeans,
        LandmarkClustering,
        NormalizedCut,
        ProbabilisticKMeans,
        diagnose,
        load,
        save,
    )

    def open_studio(X: Any, *, open_browser: bool = True, port: int = 0) -> Any:
        """Open the studio on a table; the room at the other end imports this one, not the reverse."""


__version__ = "0.3.0.dev0"
__all__ = [
    "DominantSets",
    "EvenCut",
    "KernelClustering",
    "KernelKMeans",
    "LandmarkClustering",
    "NormalizedCut",
    "ProbabilisticKMeans",
    "__version__",
    "bandwidth_sweep",
    "describe",
    "diagnose",
    "load",
    "open_studio",
    "save",
]

_ROOMS = {"bandwidth_sweep": "diagnosis", "describe": "diagnosis", "open_studio": "studio"}


def __getattr__(name: str) -> Any:
    """What is asked for is loaded then, so that a command waits only for what it uses."""
    if name in __all__:
        room = _ROOMS.get(name, "estimators")
        return getattr(import_module(f"{__name__}.{room}"), name)
    if not name.startswith("_") and find_spec(f"{__name__}.{name}") is not None:
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__} - {"TYPE_CHECKING", "Any", "find_spec", "import_module"})
