"""Kernel clustering, and cures for its density biases."""

from typing import TYPE_CHECKING, Any

from ._lazy import lazy_names

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
        match,
        save,
    )

    def open_studio(X: Any, *, open_browser: bool = True, port: int = 0) -> Any:
        """Open the studio on a table; the room at the other end imports this one, not the reverse."""


__version__ = "0.4.0"
__all__ = [
    "DominantSets", "EvenCut", "KernelClustering", "KernelKMeans", "LandmarkClustering", "NormalizedCut",
    "ProbabilisticKMeans", "__version__", "bandwidth_sweep", "describe", "diagnose", "load", "match", "open_studio",
    "save",
]  # fmt: skip

__getattr__, __dir__ = lazy_names(
    __name__,
    diagnosis="bandwidth_sweep describe",
    estimators="DominantSets EvenCut KernelClustering KernelKMeans LandmarkClustering NormalizedCut "
    "ProbabilisticKMeans diagnose load match save",
    studio="open_studio",
)
