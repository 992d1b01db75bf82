"""Images and volumes read at any points, between their elements by those around each."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import numpy as np

from ...devices import put
from ...tensor import Tensor
from ..elementwise.arithmetic import add, mul, sub
from ..elementwise.piecewise import clamp, floor, round, where
from ..layout.arrange import flip
from ..layout.join import cat
from ..layout.shape import reshape_op
from ..positions.weighted import weighted_read_op
from ..registry import Op, refuse_mixed
from .cubic import OFFSETS, cubic_shares

__all__ = ["grid_sample"]

_PADDINGS = ("zeros", "border", "reflection")
_MODES = ("bilinear", "nearest", "bicubic")


# ---- positions


def _located(grid: Tensor, sizes: np.ndarray, corners: bool) -> Tensor:
    """Return coordinates in [-1, 1] as positions of elements.

    grid, sizes  of x, of y (and of z) along the last dimension.
    """
    if corners:
        return mul(add(grid, 1), _beside(grid, (sizes - 1) / 2))
    return sub(mul(add(grid, 1), _beside(grid, sizes / 2)), 0.5)


def _moved(at: Tensor, sizes: np.ndarray, padding: str, corners: bool) -> Tensor:
    """Return positions with those beyond the ends moved inside, unless there are zeros.

    A position at an end, or beyond, has no slope, as in PyTorch.
    """
    if padding == "zeros":
        return at
    if padding == "reflection":
        low, span = _mirrors(sizes, corners)
        at = _reflected(at, low, _beside(at, span))
    last = _beside(at, sizes - 1)
    return where((at > 0) & (at < last), at, clamp(at.detach(), 0, last))


def _mirrors(sizes: Any, corners: bool) -> tuple:
    """Return where the first mirror stands and how far away the second does.

    They stand at the outermost centres, or at the outer edges; one element has no two centres.
    """
    return (0.0, np.maximum(sizes - 1, 1)) if corners else (-0.5, sizes)


def _reflected(at: Any, low: float, span: Any) -> Any:
    return span - abs((at - low) % (2 * span) - span) + low


def _beside(grid: Tensor, numbers: np.ndarray) -> Tensor:
    """Return numbers in the dtype and on the device of the grid."""
    return Tensor(put(numbers.astype(grid.dtype), grid.device))


def _around(
    xp: Any, at: Any, *, sizes: tuple, near: tuple, padding: str = "zeros", corners: bool = False
) -> tuple:
    """Return the row-major numbers of elements beside positions, and 1 where there is one, or 0.

    at       (n, p, d), whole numbers, of x first; (n, p, k) come out.
    sizes    d numbers of elements, that along x last.
    near     how far away the elements are in each dimension; k are all combinations.
    padding  which element is meant beyond the ends; with corners, see `_mirrors`.
    """
    ways = [
        [_there(xp, at[..., -1 - k] + step, size, padding, corners) for step in near]
        for k, size in enumerate(sizes)
    ]
    places, inside = [], []
    for steps in product(*ways):
        number, within = steps[0], None
        for k, (one, size) in enumerate(zip(steps, sizes, strict=True)):
            number = one if k == 0 else number * size + one
            fits = (one >= 0) & (one <= size - 1)
            within = fits if within is None else within & fits
        places.append(xp.where(within, number, 0))
        inside.append(within)
    return xp.stack(places, axis=-1).astype(np.int64), xp.stack(inside, axis=-1).astype(at.dtype)


def _there(xp: Any, one: Any, size: int, padding: str, corners: bool) -> Any:
    """Return whole positions along one dimension, moved inside as `_moved` does."""
    if padding == "zeros":
        return one
    if padding == "reflection":
        one = _reflected(one, *_mirrors(size, corners))
    return xp.clip(one, 0, size - 1)


around_op = Op("around", _around, outputs=2)


# ---- what each of four elements around a position has of it: w = s_down s_along, 0 where none is


def _shares(xp: Any, after: Any, inside: Any) -> Any:
    x, y = after[..., 0], after[..., 1]
    left, above = 1 - x, 1 - y
    shares = xp.stack([above * left, above * x, y * left, y * x], axis=-1)
    shares *= inside
    return shares


def _slopes(xp: Any, y: Any, after: Any, inside: Any) -> Any:
    """Compute the sums of y dw over the four, by x and by y, (n, p, 2)."""
    g = y * inside
    x, y = after[..., 0], after[..., 1]
    upper, lower = g[..., 1] - g[..., 0], g[..., 3] - g[..., 2]
    left, right = g[..., 2] - g[..., 0], g[..., 3] - g[..., 1]
    return xp.stack([upper * (1 - y) + lower * y, left * (1 - x) + right * x], axis=-1)


def _tangent(v: Tensor, after: Tensor, inside: Tensor) -> Tensor:
    """Return v_x dw/dx + v_y dw/dy of the four, (n, p, 4)."""
    (x, y), (along, down) = ([t.narrow(-1, k, 1) for k in range(2)] for t in (after, v))
    left, above = sub(1, x), sub(1, y)
    upper, lower, before, behind = mul(along, above), mul(along, y), mul(down, left), mul(down, x)
    four = [-add(upper, before), sub(upper, behind), sub(before, lower), add(lower, behind)]
    return mul(cat(four, -1), inside)


def _twist(v: Tensor, g: Tensor, inside: Tensor) -> Tensor:
    """Return the gradient of what `_slopes` gives in the shares: d2w/dxdy is all there is."""
    signs = _beside(g, np.array([1.0, -1.0, -1.0, 1.0]))
    mixed = mul(mul(g, inside), signs).sum(-1, True)
    return mul(mixed, flip(v, (-1,)))


shares_op = Op(
    "grid_shares",
    _shares,
    {"after": lambda g, after, inside: slopes_op(g, after, inside)},
    taylor="nested",
)
slopes_op = Op(
    "grid_slopes",
    _slopes,
    {
        "y": lambda g, after, inside: _tangent(g, after, inside),
        "after": lambda g, y, inside: _twist(g, y, inside),
    },
    taylor="nested",
)


# ---- shares of more elements, or in more dimensions: products of those along each


def _products(shares: Tensor, inside: Tensor) -> Tensor:
    """Return the products of one share along each dimension: of (n, p, d, k), as (n, p, k^d).

    Shares along x come first.  The last dimension counts along x fastest, as `around_op` does.
    """
    dims, each = shares.shape[2:]
    total = shares.select(2, dims - 1)
    for k in range(dims - 2, -1, -1):
        pairs = mul(total.unsqueeze(-1), shares.select(2, k).unsqueeze(-2))
        total = reshape_op(pairs, shape=(*pairs.shape[:2], pairs.shape[2] * each))
    return mul(total, inside)


def _linear_shares(after: Tensor) -> Tensor:
    after = after.unsqueeze(-1)
    return cat([sub(1, after), after], -1)


def grid_sample(
    input: Tensor,
    grid: Tensor,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: bool | None = None,
) -> Tensor:
    """Return images (n, c, h, w) read at the points of `grid` (n, p, q, 2): (n, c, p, q).

    input          or volumes (n, c, d, h, w), with a grid (n, p, q, r, 3): (n, c, p, q, r).
    grid           x, then y (and z) of each point, from -1 (left, top) to 1 (right, bottom).
    mode           "bilinear", "nearest" (without a gradient in the grid), or "bicubic", for images
                   only (Keys 1981, with the slope -3/4).
    padding_mode   beyond the ends: "zeros", "border" (the nearest there is), or "reflection" (what
                   is as far inside of the end).
    align_corners  -1 and 1 are the centres of the outermost elements, instead of their outer edges;
                   reflection is there, too.
    Raises ValueError for other modes, RuntimeError for shapes that do not fit and different dtypes.
    """
    if mode not in _MODES:
        raise ValueError(f"grid_sample(): expected mode to be one of {_MODES}, but got: {mode!r}")
    if padding_mode not in _PADDINGS:
        raise ValueError(
            f"grid_sample(): expected padding_mode to be one of {_PADDINGS}, but got: "
            f"{padding_mode!r}"
        )
    dims = input.ndim - 2
    if dims not in (2, 3) or grid.ndim != input.ndim or grid.shape[-1] != dims:
        raise RuntimeError(
            "grid_sample(): expected an input (n, c, h, w) and a grid (n, p, q, 2), or "
            "(n, c, d, h, w) and (n, p, q, r, 3), got sizes "
            f"{list(input.shape)} and {list(grid.shape)}"
        )
    if mode == "bicubic" and dims != 2:
        raise RuntimeError(
            "grid_sample(): bicubic interpolation only supports 4D input, got sizes "
            f"{list(input.shape)}; use 'bilinear'"
        )
    if input.shape[0] != grid.shape[0]:
        raise RuntimeError(
            "grid_sample(): expected grid and input to have same batch size, but got input with "
            f"sizes {list(input.shape)} and grid with sizes {list(grid.shape)}"
        )
    if not all(input.shape[2:]):
        raise RuntimeError(
            "grid_sample(): expected input to have non-empty spatial dimensions, but input has "
            f"sizes {list(input.shape)}"
        )
    refuse_mixed("grid_sample", input, grid)
    n, channels, *sizes = input.shape
    points = grid.shape[1:-1]
    flat = reshape_op(input, shape=(n, channels, math.prod(sizes)))
    at = reshape_op(grid, shape=(n, math.prod(points), dims))
    places, weights = _reading(at, tuple(sizes), mode, padding_mode, bool(align_corners))
    result = weighted_read_op(flat, places, weights)
    return reshape_op(result, shape=(n, channels, *points))


def _reading(
    grid: Tensor, sizes: tuple, mode: str, padding: str, corners: bool
) -> tuple[Tensor, Tensor]:
    """Return which elements are read at the points (n, p, d) of a grid, and how much of each."""
    along = np.array(sizes[::-1], np.float64)
    at = _located(grid, along, corners)
    if mode == "bicubic":  # its elements are moved inside, one by one, and not the point
        whole = floor(at)
        places, inside = around_op(
            whole, sizes=sizes, near=OFFSETS, padding=padding, corners=corners
        )
        return places, _products(cubic_shares(sub(at, whole)), inside)
    at = _moved(at, along, padding, corners)
    if mode == "nearest":
        return around_op(round(at), sizes=sizes, near=(0,))
    whole = floor(at)
    places, inside = around_op(whole, sizes=sizes, near=(0, 1))
    after = sub(at, whole)
    if len(sizes) == 2:
        return places, shares_op(after, inside)
    return places, _products(_linear_shares(after), inside)
