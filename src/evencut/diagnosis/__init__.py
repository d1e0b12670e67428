"""Is this clustering biased by density, how, and what cures it."""

from .description import ClusterDescription, ColumnEffect, Description, describe
from .diagnose import DensityBiasWarning, diagnose_fitted, diagnose_labels
from .report import BiasReport, ClusterReport, TriedCure
from .sweep import BandwidthSweep, SweepRow, bandwidth_sweep
from .verdicts import (
    BIASES,
    EQUAL_SIZES,
    MODE_ISOLATION,
    OK,
    ONE_BODY,
    OVERLAP,
    SPARSE_SUBSET,
    TOO_FEW,
    UNRELATED,
    VERDICTS,
)

__all__ = [
    "BIASES", "EQUAL_SIZES", "MODE_ISOLATION", "OK", "ONE_BODY", "OVERLAP", "SPARSE_SUBSET", "TOO_FEW", "UNRELATED",
    "VERDICTS", "BandwidthSweep", "BiasReport", "ClusterDescription", "ClusterReport", "ColumnEffect",
    "DensityBiasWarning", "Description", "SweepRow", "TriedCure", "bandwidth_sweep",
    "describe", "diagnose_fitted", "diagnose_labels",
]  # fmt: skip
