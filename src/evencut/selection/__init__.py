r"""What "auto" means: candidates of different principles, and the one that the others agree with most.

A judge of single partitions has a bias of its own: for equal sizes, for round shapes, for one scale. Agreement has
none of these: partitions found by cuts, by spanning trees and around centres, in several coordinate systems, err in
different ways, and what they have in common is in the data. :mod:`evencut.selection.consensus` has the formula,
:mod:`evencut.selection.centres` when centres vote in place of trees.
"""

from .candidates import Neighborhoods, Partition, cuts, find_neighborhoods, neighborhood_sizes, tree_cuts
from .centres import centres
from .choose import Selected, Selection, agree, neighborhoods_in_systems, select, select_number
from .consensus import agreement, consensus, shared_votes
from .number import MAX_CLUSTERS, NumberCandidate, choose_number, rank_numbers, rank_numbers_of_points

__all__ = [
    "MAX_CLUSTERS",
    "Neighborhoods",
    "NumberCandidate",
    "Partition",
    "Selected",
    "Selection",
    "agree",
    "agreement",
    "centres",
    "choose_number",
    "consensus",
    "cuts",
    "find_neighborhoods",
    "neighborhood_sizes",
    "neighborhoods_in_systems",
    "rank_numbers",
    "rank_numbers_of_points",
    "select",
    "select_number",
    "shared_votes",
    "tree_cuts",
]
