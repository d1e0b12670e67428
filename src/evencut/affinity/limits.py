"""How many points are many: one number that the order of points, the choice of a start and the refinement share."""

from __future__ import annotations

__all__ = ["MANY_POINTS"]

#: Above it points are put in an order that keeps neighbours near in memory, the default starts from landmarks instead
#: of judging candidates, and graphs are refined along the borders of their clusters only. Read as an attribute of
#: this module, never imported by name, so that it has one value everywhere.
MANY_POINTS = 20_000
