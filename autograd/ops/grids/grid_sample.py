"""Images read at any points, between their elements by the four around each."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...devices import put
from ...tensor import Tensor
from ..elementwise.arithmetic import add, mul, sub
from ..elementwise.piecewise import clamp, floor, round
from ..layout.arrange import flip
from ..layout.join import cat
from ..layout.shape import reshape_op
from ..positions.weighted import weighted_read_op
from ..registry import Op, refuse_mixed

__all__ = ["grid_sample"]

_PADDINGS = ("zeros", "border")
_MODES = ("bilinear", "nearest")


def _located(grid: Tensor, sizes: np.ndarray, corners: bool, border: bool) -> Tensor:
    """Return coordinates in [-1, 1] as positions of elements, those beyond moved to the border.

    grid, sizes  of x and of y along the last dimension.
    """
    if corners:
        found = mul(add(grid, 1), _beside(grid, (sizes - 1) / 2))
    else:
        found = sub(mul(add(grid, 1), _beside(grid, sizes / 2)), 0.5)
    return clamp(found, 0, _beside(grid, sizes - 1)) if border else found


def _beside(grid: Tensor, numbers: np.ndarray) -> Tensor:
    """Return numbers in the dtype and on the device of the grid."""
    return Tensor(put(numbers.astype(grid.dtype), grid.device))


def _around(xp: Any, at: Any, *, height: int, width: int, corners: tuple) -> tuple:
    """Return the row-major numbers of elements beside positions, and 1 where there is one, or 0.

    at       (n, p, 2), whole numbers; (n, p, k) come out.
    corners  k pairs: how far down, how far to the right.
    """
    column, row = at[..., 0], at[..., 1]
    places, inside = [], []
    for down, along in corners:
        y, x = row + down, column + along
        within = (y >= 0) & (y <= height - 1) & (x >= 0) & (x <= width - 1)
        places.append(xp.where(within, y * width + x, 0))
        inside.append(within)
    return xp.stack(places, axis=-1).astype(np.int64), xp.stack(inside, axis=-1).astype(at.dtype)


around_op = Op("around", _around, outputs=2)
_HERE = ((0, 0),)
_CORNERS = ((0, 0), (0, 1), (1, 0), (1, 1))


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


def grid_sample(
    input: Tensor,
    grid: Tensor,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: bool | None = None,
) -> Tensor:
    """Return images (n, c, h, w) read at the points of `grid` (n, p, q, 2): (n, c, p, q).

    grid           x, then y of each point, from -1 (left, top) to 1 (right, bottom).
    mode           "bilinear", or "nearest" (without a gradient in the grid).
    padding_mode   beyond the ends: "zeros", or "border" (the nearest there is).
    align_corners  -1 and 1 are the centres of the outermost elements, instead of their outer edges.
    Raises ValueError for other modes, RuntimeError for shapes that do not fit and different dtypes.
    """
    if mode not in _MODES:
        raise ValueError(f"grid_sample(): expected mode to be one of {_MODES}, but got: {mode!r}")
    if padding_mode not in _PADDINGS:
        raise ValueError(
            f"grid_sample(): expected padding_mode to be one of {_PADDINGS}, but got: "
            f"{padding_mode!r}"
        )
    if input.ndim != 4 or grid.ndim != 4 or grid.shape[-1] != 2:
        raise RuntimeError(
            "grid_sample(): expected an input (n, c, h, w) and a grid (n, p, q, 2), got sizes "
            f"{list(input.shape)} and {list(grid.shape)}"
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
    n, channels, height, width = input.shape
    points = grid.shape[1] * grid.shape[2]
    flat = reshape_op(input, shape=(n, channels, height * width))
    pairs = reshape_op(grid, shape=(n, points, 2))
    sizes, border = np.array([width, height], np.float64), padding_mode == "border"
    at = _located(pairs, sizes, bool(align_corners), border)
    nearest = mode == "nearest"
    whole = round(at) if nearest else floor(at)
    places, weights = around_op(
        whole, height=height, width=width, corners=_HERE if nearest else _CORNERS
    )
    if not nearest:
        weights = shares_op(sub(at, whole), weights)
    result = weighted_read_op(flat, places, weights)
    return reshape_op(result, shape=(n, channels, *grid.shape[1:3]))
