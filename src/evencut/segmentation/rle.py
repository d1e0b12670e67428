"""Masks as run lengths in the form of COCO: columns from top to bottom, runs of background and object in turn."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def encode_mask(mask: NDArray[np.bool_]) -> dict[str, list[int]]:
    """The run lengths of a mask, background first.

    Examples
    --------
    >>> import numpy as np
    >>> encode_mask(np.array([[False, True], [True, True]]))
    {'size': [2, 2], 'counts': [1, 3]}
    """
    flat = np.asarray(mask, dtype=bool).ravel(order="F")
    ends = np.flatnonzero(np.diff(flat)) + 1
    runs = np.diff([0, *ends, flat.size]).tolist()
    return {"size": [int(side) for side in mask.shape], "counts": [0, *runs] if flat.size and flat[0] else runs}


def decode_mask(rle: dict[str, Any]) -> NDArray[np.bool_]:
    """The mask of run lengths.

    Examples
    --------
    >>> decode_mask({"size": [2, 2], "counts": [1, 3]})
    array([[False,  True],
           [ True,  True]])
    """
    counts = np.asarray(rle["counts"], dtype=np.int64)
    flat = np.repeat(np.arange(len(counts)) % 2 == 1, counts)
    height, width = rle["size"]
    if flat.size != height * width:
        raise ValueError(f"the runs cover {flat.size} pixels; the mask has {height} by {width}.")
    return flat.reshape((height, width), order="F")
