"""What "auto" means: how the default chooses the scale of the kernel, the start, and the number of clusters."""

from .choose import Selected, Selection, select, select_number
from .number import MAX_CLUSTERS, NumberCandidate, rank_numbers
from .scale import Candidate, neighborhood_sizes, quality

__all__ = [
    "MAX_CLUSTERS",
    "Candidate",
    "NumberCandidate",
    "Selected",
    "Selection",
    "neighborhood_sizes",
    "quality",
    "rank_numbers",
    "select",
    "select_number",
]
