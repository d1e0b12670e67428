"""From rows of a table to the points that are clustered: units, coordinate systems, copies merged."""

from .distinct import DistinctPoints, condense, distinct_points
from .prepare import PreparedPoints, prepare
from .scale import GIVEN, ONE_DEVIATION, RANKS, SCALES, CoordinateSystem, coordinate_systems, far_rows, feature_scale

__all__ = [
    "GIVEN", "ONE_DEVIATION", "RANKS", "SCALES", "CoordinateSystem", "DistinctPoints", "PreparedPoints", "condense",
    "coordinate_systems", "distinct_points", "far_rows", "feature_scale", "prepare",
]  # fmt: skip
