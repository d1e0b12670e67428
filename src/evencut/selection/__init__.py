"""What `EvenCut` does: proposals by different principles, the one that the others agree with, the number of clusters.

The walk is :func:`select`; :mod:`evencut.selection.propose` has the principles and their votes,
:mod:`evencut.selection.vote` the election and :mod:`evencut.selection.number` the number of clusters.
"""

from .graphs import NeighborGraphs, intrinsic_dimension, neighbor_graphs, neighborhood_sizes
from .number import NumberCandidate, Population, find_number, number_of_affinity
from .propose import Candidate, Proposal, propose
from .select import select
from .vote import Selection, agreement, consensus, rank_candidates

__all__ = [
    "Candidate",
    "NeighborGraphs",
    "NumberCandidate",
    "Population",
    "Proposal",
    "Selection",
    "agreement",
    "consensus",
    "find_number",
    "intrinsic_dimension",
    "neighbor_graphs",
    "neighborhood_sizes",
    "number_of_affinity",
    "propose",
    "rank_candidates",
    "select",
]
