"""Displays of clusterings, in the style of scikit-learn's Display classes.

matplotlib is imported only when something is drawn.
"""

from . import clusters, overlays
from .clusters import *  # noqa: F403
from .overlays import *  # noqa: F403

__all__: list[str] = []
__all__ += clusters.__all__
__all__ += overlays.__all__
