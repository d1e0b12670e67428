# mypy: allow-untyped-defs, allow-incomplete-defs
"""Fused kernels: sums of affinities, the exact neighbour search, common neighbours; what is large stays on the chip.

A kernel sum takes a tile of exponents, their exponentials, and the product with V. One kernel serves all forms and
precisions; which one is settled when it is compiled. Of the distances between all pairs only the least of every few
leaves the chip.
"""

import triton
import triton.language as tl

# Affinities are held as fp16 numbers up to 2^15, so that they keep their relative precision down to 2^-29.
LOG_UNIT = tl.constexpr(15.0)
UNIT = tl.constexpr(2.0**-15)
# The forms of the affinity; the third is the product of two bandwidths.
GAUSSIAN = tl.constexpr(0)
MEAN = tl.constexpr(1)


@triton.jit
def _affinities(power, x_rate, y_rate, FORM: tl.constexpr):
    """2^15 times the affinity; `power` is minus a squared distance, in units whose exponential is a power of two.

    That of the Gaussian comes with the 15 added: a sum that starts there costs nothing.
    """
    if FORM == GAUSSIAN:
        result = tl.exp2(power)
    elif FORM == MEAN:
        half: tl.constexpr = LOG_UNIT - 1.0
        result = tl.exp2(power * x_rate[:, None] + half) + tl.exp2(power * y_rate[None, :] + half)
    else:
        result = tl.exp2(power * x_rate[:, None] * y_rate[None, :] + LOG_UNIT)
    return result


@triton.jit
def kernel_sums(
    x_points, y_points, x_norms, y_norms, x_rates, y_rates, values, low_values, sums, x_stride, y_stride, n_columns,
    columns_per_split, FORM: tl.constexpr, DIRECT: tl.constexpr, SPLIT: tl.constexpr, WIDTH: tl.constexpr,
    N_VECTORS: tl.constexpr, BLOCK_ROWS: tl.constexpr, BLOCK_COLUMNS: tl.constexpr, BLOCK_WIDTH: tl.constexpr,
):
    """Rows of K(X, Y) V for one block of rows and one split of the columns of K.

    DIRECT takes differences of float32 coordinates, feature by feature (points stored feature-first); otherwise the
    points are fp16 operands whose product is minus twice the inner product. SPLIT carries the affinities and V as two
    fp16 parts each. N_VECTORS = 0 sums against one vector in float32, without a matrix product. Nothing is masked: all
    arrays are padded to whole blocks, V with zeros.
    """
    row = tl.program_id(0).to(tl.int64) * BLOCK_ROWS + tl.arange(0, BLOCK_ROWS)
    local = tl.arange(0, BLOCK_COLUMNS)
    width = tl.arange(0, BLOCK_WIDTH)
    begin = tl.program_id(1) * columns_per_split
    end = tl.minimum(begin + columns_per_split, n_columns)
    SHIFT: tl.constexpr = LOG_UNIT if FORM == GAUSSIAN else 0.0
    if not DIRECT:
        x_power = SHIFT - tl.load(x_norms + row)
        y_offsets = local[:, None] * y_stride + width[None, :]
        if BLOCK_WIDTH == WIDTH:
            x_tile = tl.load(x_points + row[:, None] * x_stride + width[None, :])
    x_rate = tl.load(x_rates + row)
    if N_VECTORS == 0:
        total = tl.zeros([BLOCK_ROWS, BLOCK_COLUMNS], dtype=tl.float32)
    else:
        total = tl.zeros([BLOCK_ROWS, N_VECTORS], dtype=tl.float32)
        lane = tl.arange(0, N_VECTORS)
        value_offsets = local[:, None] * N_VECTORS + lane[None, :]

    for start in tl.range(begin, end, BLOCK_COLUMNS):
        far = begin.to(tl.int64) + (start - begin)
        if DIRECT:
            power = tl.full([BLOCK_ROWS, BLOCK_COLUMNS], SHIFT, dtype=tl.float32)
            for feature in tl.static_range(WIDTH):
                x = tl.load(x_points + feature * x_stride + row)
                y = tl.load(y_points + feature * y_stride + far + local)
                offset = x[:, None] - y[None, :]
                power -= offset * offset
        else:
            y_tiles = y_points + far * y_stride
            if BLOCK_WIDTH == WIDTH:
                product = tl.dot(x_tile, tl.load(y_tiles + y_offsets).T)
            else:
                product = tl.zeros([BLOCK_ROWS, BLOCK_COLUMNS], dtype=tl.float32)
                for part in tl.range(0, WIDTH // BLOCK_WIDTH):
                    x_part = tl.load(x_points + row[:, None] * x_stride + part * BLOCK_WIDTH + width[None, :])
                    product = tl.dot(x_part, tl.load(y_tiles + part * BLOCK_WIDTH + y_offsets).T, product)
            y_norm = tl.load(y_norms + far + local)
            # Were the product added, it would start from the norms: as many steps, and more registers.
            power = (x_power[:, None] - product) - y_norm[None, :]
            if FORM != GAUSSIAN:
                # A squared distance that rounding made negative would grow with the rate of a dense place.
                power = tl.minimum(power, 0.0)
        # Unused loads cost nothing: the compiler drops them.
        y_rate = tl.load(y_rates + far + local)
        affinity = _affinities(power, x_rate, y_rate, FORM)
        if N_VECTORS == 0:
            total += affinity * tl.load(values + far + local)[None, :]
        else:
            high = affinity.to(tl.float16)
            value = tl.load(values + far * N_VECTORS + value_offsets)
            share = tl.dot(high, value)
            if SPLIT:
                low = (affinity - high.to(tl.float32)).to(tl.float16)
                low_value = tl.load(low_values + far * N_VECTORS + value_offsets)
                share = tl.dot(low, value, share)
                share = tl.dot(high, low_value, share)
            # Matrix units cut off what they add up; a fresh sum for each tile keeps that from piling up.
            total += share * UNIT
    place = tl.program_id(1).to(tl.int64) * tl.num_programs(0) * BLOCK_ROWS + row
    if N_VECTORS == 0:
        tl.store(sums + place, tl.sum(total, axis=1) * UNIT)
    else:
        tl.store(sums + place[:, None] * N_VECTORS + lane[None, :], total)


@triton.jit
def group_minima(
    queries, points, half_norms, minima, super_minima, n_super, WIDTH: tl.constexpr, BLOCK_ROWS: tl.constexpr,
    BLOCK_COLUMNS: tl.constexpr, BLOCK_WIDTH: tl.constexpr, GROUP: tl.constexpr, SUPER: tl.constexpr,
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
    queries, points, groups, squared, n_points, n_features, query_stride, point_stride, N_GROUPS: tl.constexpr,
    GROUP: tl.constexpr, GROUPS_AT_ONCE: tl.constexpr, BLOCK_WIDTH: tl.constexpr,
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
    queries, points, left, right, squared, n_pairs, n_features, query_stride, point_stride, BLOCK_PAIRS: tl.constexpr,
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
