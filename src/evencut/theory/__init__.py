"""The paper's theory, one function an equation, and the embeddings in which kernels become k-means."""

from .embedding import *  # noqa: F403
from .embedding import __all__ as _of_embedding
from .equations import *  # noqa: F403
from .equations import __all__ as _of_equations
from .isoperimetry import *  # noqa: F403
from .isoperimetry import __all__ as _of_isoperimetry

__all__ = [*_of_embedding, *_of_equations, *_of_isoperimetry]
