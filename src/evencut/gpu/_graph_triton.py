# mypy: allow-untyped-defs, allow-incomplete-defs
"""The fused count of common neighbours: two short lists compared entry by entry on the chip."""

import triton
import triton.language as tl


@triton.jit
def common_counts(
    lists, other, left, right, counts, n_pairs, LENGTH: tl.constexpr, BLOCK_LENGTH: tl.constexpr, BLOCK: tl.constexpr
):
    """How many entries row `left` of `lists` and row `right` of `other` have in common; no list repeats an entry."""
    pair = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    listed = pair < n_pairs
    p = tl.load(left + pair, mask=listed, other=0).to(tl.int64)
    q = tl.load(right + pair, mask=listed, other=0).to(tl.int64)
    entry = tl.arange(0, BLOCK_LENGTH)
    inside = (entry < LENGTH)[None, :]
    # Padding differs on the two sides, so that it is never in common.
    mine = tl.load(lists + p[:, None] * LENGTH + entry[None, :], mask=inside, other=-1)
    found = tl.zeros([BLOCK], dtype=tl.int32)
    for place in tl.range(0, LENGTH):
        theirs = tl.load(other + q * LENGTH + place)
        found += tl.sum((mine == theirs[:, None]).to(tl.int32), axis=1)
    tl.store(counts + pair, found, mask=listed)
