# mypy: allow-untyped-defs, allow-incomplete-defs
"""The fused parts of the exact neighbour search: minima of groups of points, and exact distances to candidates.

Distances between all pairs stay on the chip; only the least of every few leaves it.
"""

import triton
import triton.language as tl


@triton.jit
def group_minima(
    queries,
    points,
    half_norms,
    minima,
    super_minima,
    n_super,
    WIDTH: tl.constexpr,
    BLOCK_ROWS: tl.constexpr,
    BLOCK_COLUMNS: tl.constexpr,
    BLOCK_WIDTH: tl.constexpr,
    GROUP: tl.constexpr,
    SUPER: tl.constexpr,
    FLAT: tl.constexpr,
):
    """Least |y|^2/2 - xy over groups of GROUP points and over their SUPER groups, for a block of queries.

    Consecutive programs take blocks of queries and share the points of one super group, which stay in the cache.
    """
    row = tl.program_id(0).to(tl.int64) * BLOCK_ROWS + tl.arange(0, BLOCK_ROWS)
    super_group = tl.program_id(1)
    width = tl.arange(0, BLOCK_WIDTH)
    PARTS: tl.constexpr = WIDTH // BLOCK_WIDTH
    GROUPS: tl.constexpr = BLOCK_COLUMNS // GROUP
    group = tl.arange(0, GROUPS)
    query = queries + row[:, None] * WIDTH + width[None, :]
    first = super_group.to(tl.int64) * SUPER * GROUP
    point = points + first * WIDTH + tl.arange(0, BLOCK_COLUMNS)[:, None] * WIDTH + width[None, :]
    place = minima + (row * n_super + super_group)[:, None] * SUPER + group[None, :]
    least = tl.full([BLOCK_ROWS], float("inf"), dtype=tl.float32)
    if PARTS == 1:
        x = tl.load(query)
        for tile in tl.range(0, SUPER * GROUP // BLOCK_COLUMNS):
            y = tl.load(point + tile * BLOCK_COLUMNS * WIDTH)
            norm = tl.load(half_norms + first + tile * BLOCK_COLUMNS + tl.arange(0, BLOCK_COLUMNS))
            away = norm[None, :] - tl.dot(x, y.T)
            found = tl.min(tl.reshape(away, [BLOCK_ROWS, GROUPS, GROUP]), axis=2)
            tl.store(place + tile * GROUPS, found)
            least = tl.minimum(least, tl.min(found, axis=1))
    elif FLAT:
        # One flat loop over tiles and parts of their features, so that loads run ahead across tiles.
        product = tl.zeros([BLOCK_ROWS, BLOCK_COLUMNS], dtype=tl.float32)
        for step in tl.range(0, SUPER * GROUP // BLOCK_COLUMNS * PARTS):
            tile = step // PARTS
            part = step % PARTS
            x = tl.load(query + part * BLOCK_WIDTH)
            y = tl.load(point + tile * BLOCK_COLUMNS * WIDTH + part * BLOCK_WIDTH)
            product = tl.dot(x, y.T, product)
            if part == PARTS - 1:
                norm = tl.load(half_norms + first + tile * BLOCK_COLUMNS + tl.arange(0, BLOCK_COLUMNS))
                away = norm[None, :] - product
                found = tl.min(tl.reshape(away, [BLOCK_ROWS, GROUPS, GROUP]), axis=2)
                tl.store(place + tile * GROUPS, found)
                least = tl.minimum(least, tl.min(found, axis=1))
                product = tl.zeros([BLOCK_ROWS, BLOCK_COLUMNS], dtype=tl.float32)
    else:
        for tile in tl.range(0, SUPER * GROUP // BLOCK_COLUMNS):
            product = tl.zeros([BLOCK_ROWS, BLOCK_COLUMNS], dtype=tl.float32)
            for part in tl.range(0, PARTS):
                x = tl.load(query + part * BLOCK_WIDTH)
                y = tl.load(point + tile * BLOCK_COLUMNS * WIDTH + part * BLOCK_WIDTH)
                product = tl.dot(x, y.T, product)
            norm = tl.load(half_norms + first + tile * BLOCK_COLUMNS + tl.arange(0, BLOCK_COLUMNS))
            found = tl.min(tl.reshape(norm[None, :] - product, [BLOCK_ROWS, GROUPS, GROUP]), axis=2)
            tl.store(place + tile * GROUPS, found)
            least = tl.minimum(least, tl.min(found, axis=1))
    tl.store(super_minima + row * n_super + super_group, least)


@triton.jit
def candidate_distances(
    queries,
    points,
    groups,
    squared,
    n_points,
    n_features,
    query_stride,
    point_stride,
    N_GROUPS: tl.constexpr,
    GROUP: tl.constexpr,
    GROUPS_AT_ONCE: tl.constexpr,
    BLOCK_WIDTH: tl.constexpr,
):
    """Squared distances of a query to all points of a few of its groups, by differences; infinite beyond the last."""
    row = tl.program_id(0).to(tl.int64)
    item = tl.program_id(1) * GROUPS_AT_ONCE * GROUP + tl.arange(0, GROUPS_AT_ONCE * GROUP)
    group = tl.load(groups + row * N_GROUPS + item // GROUP)
    candidate = group.to(tl.int64) * GROUP + item % GROUP
    there = candidate < n_points
    total = tl.zeros([GROUPS_AT_ONCE * GROUP], dtype=squared.dtype.element_ty)
    for start in tl.range(0, n_features, BLOCK_WIDTH):
        feature = start + tl.arange(0, BLOCK_WIDTH)
        inside = feature < n_features
        x = tl.load(queries + row * query_stride + feature, mask=inside, other=0.0)
        both = there[:, None] & inside[None, :]
        y = tl.load(points + candidate[:, None] * point_stride + feature[None, :], mask=both, other=0.0)
        offset = x[None, :].to(total.dtype) - y.to(total.dtype)
        total += tl.sum(offset * offset, axis=1)
    total = tl.where(there, total, float("inf"))
    tl.store(squared + row * (N_GROUPS * GROUP) + item, total)


@triton.jit
def pair_distances(
    queries,
    points,
    left,
    right,
    squared,
    n_pairs,
    n_features,
    query_stride,
    point_stride,
    BLOCK_PAIRS: tl.constexpr,
    BLOCK_WIDTH: tl.constexpr,
):
    """Squared distances of listed pairs, differences and sums in float64."""
    pair = tl.program_id(0).to(tl.int64) * BLOCK_PAIRS + tl.arange(0, BLOCK_PAIRS)
    listed = pair < n_pairs
    p = tl.load(left + pair, mask=listed, other=0).to(tl.int64)
    q = tl.load(right + pair, mask=listed, other=0).to(tl.int64)
    total = tl.zeros([BLOCK_PAIRS], dtype=tl.float64)
    for start in tl.range(0, n_features, BLOCK_WIDTH):
        feature = start + tl.arange(0, BLOCK_WIDTH)
        inside = (feature < n_features)[None, :] & listed[:, None]
        x = tl.load(queries + p[:, None] * query_stride + feature[None, :], mask=inside, other=0.0)
        y = tl.load(points + q[:, None] * point_stride + feature[None, :], mask=inside, other=0.0)
        offset = x.to(tl.float64) - y.to(tl.float64)
        total += tl.sum(offset * offset, axis=1)
    tl.store(squared + pair, total, mask=listed)
