# mypy: allow-untyped-defs, allow-incomplete-defs
"""The fused kernel sum: a tile of exponents, their exponentials, and the product with V, all on the chip.

One kernel serves all forms and precisions; what it does is settled when it is compiled.
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
    x_points,
    y_points,
    x_norms,
    y_norms,
    x_rates,
    y_rates,
    values,
    low_values,
    sums,
    x_stride,
    y_stride,
    n_columns,
    columns_per_split,
    FORM: tl.constexpr,
    DIRECT: tl.constexpr,
    SPLIT: tl.constexpr,
    WIDTH: tl.constexpr,
    N_VECTORS: tl.constexpr,
    BLOCK_ROWS: tl.constexpr,
    BLOCK_COLUMNS: tl.constexpr,
    BLOCK_WIDTH: tl.constexpr,
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
