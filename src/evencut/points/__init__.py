"""From rows of a table to the points that are clustered: units, coordinate systems, copies merged."""

from .distinct import DistinctPoints, condense, distinct_points
from .prepare import PreparedPoints, prepare_points
from .scale import (
    COMPONENTS,
    GIVEN,
    ONE_DEVIATION,
    RANKS,
    SCALES,
    CoordinateSystem,
    coordinate_systems,
    draw_in,
    extreme_rows,
    feature_scale,
)

__all__ = [
    "COMPONENTS", "GIVEN", "ONE_DEVIATION", "RANKS", "SCALES", "CoordinateSystem", "DistinctPoints", "PreparedPoints",
    "condense", "coordinate_systems", "distinct_points", "draw_in", "extreme_rows", "feature_scale", "prepare_points",
]  # fmt: skip
