"""How many points are many: the numbers that several rooms share, each read as an attribute of this module."""

from __future__ import annotations

#: Above it points are put in an order that keeps neighbours near in memory, and graphs are refined along the borders
#: of their clusters only.
MANY_POINTS = 20_000

#: The default clusters so many points as they are; more are condensed to so many centres, or to so many a cluster.
MOST_COMPARED = 5000
POINTS_PER_CLUSTER = 20
