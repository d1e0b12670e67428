r"""What "auto" means: candidates of different principles, and the one that the others agree with most.

A judge of single partitions has a bias of its own: for equal sizes, for round shapes, for one scale. Agreement has
none of these: partitions found by cuts, by spanning trees and by a mixture err in different ways, and what they have
in common is in the data. :mod:`evencut.selection.consensus` has the formula. Only a tenth of the votes is a judge's: it
keeps small clusters that few candidates find (:mod:`evencut.selection.leaks`).
"""

from .candidates import Neighborhoods, Partition, candidates, look_around, neighborhood_sizes
from .choose import VOTES, Selected, Selection, agree, select, select_number
from .consensus import agreement, consensus
from .number import MAX_CLUSTERS, NumberCandidate, choose_number, rank_numbers, rank_numbers_of_points

__all__ = [
    "MAX_CLUSTERS",
    "VOTES",
    "Neighborhoods",
    "NumberCandidate",
    "Partition",
    "Selected",
    "Selection",
    "agree",
    "agreement",
    "candidates",
    "choose_number",
    "consensus",
    "look_around",
    "neighborhood_sizes",
    "rank_numbers",
    "rank_numbers_of_points",
    "select",
    "select_number",
]
