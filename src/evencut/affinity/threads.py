"""How many threads to use: what the user asks for, and no more than there are cores."""

from __future__ import annotations

import os


def n_threads(n_jobs: int | None) -> int:
    """Threads for a number of jobs as scikit-learn counts them; more than cores would only wait for each other.

    Examples
    --------
    >>> n_threads(None)
    1
    """
    from joblib import effective_n_jobs

    return max(1, min(effective_n_jobs(n_jobs), os.cpu_count() or 1))
