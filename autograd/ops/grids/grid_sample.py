"""Images read at any points, between their elements by the four around each."""

from __future__ import annotations

import numpy as np

from ...tensor import Tensor
from ..elementwise.arithmetic import add, mul, sub
from ..elementwise.compare import logical_and
from ..elementwise.piecewise import clamp, floor, round
from ..layout.gather import gather_op
from ..layout.shape import expand, reshape_op
from ..registry import cast, refuse_mixed

__all__ = ["grid_sample"]

_PADDINGS = ("zeros", "border")
_MODES = ("bilinear", "nearest")
_INT64 = np.dtype(np.int64)


def _located(coordinate: Tensor, size: int, corners: bool, border: bool) -> Tensor:
    """Return coordinates in [-1, 1] as positions of elements, those beyond moved to the border."""
    if corners:
        found = mul(add(coordinate, 1), (size - 1) / 2)
    else:
        found = sub(mul(add(coordinate, 1), size / 2), 0.5)
    return clamp(found, 0, size - 1) if border else found


def _is_within(at: Tensor, size: int) -> Tensor:
    return logical_and(at >= 0, at <= size - 1)


def _read(flat: Tensor, rows: Tensor, columns: Tensor, sizes: tuple[int, int]) -> Tensor:
    """Return the elements (n, c, p) of images (n, c, h * w) at positions (n, p), 0 outside."""
    height, width = sizes
    inside = logical_and(_is_within(rows, height), _is_within(columns, width))
    row, column = (
        cast(clamp(at, 0, size - 1), _INT64) for at, size in ((rows, height), (columns, width))
    )
    places = add(mul(row, width), column)
    n, points = places._data.shape
    places = expand(reshape_op(places, shape=(n, 1, points)), (n, flat._data.shape[1], points))
    found = gather_op(flat, places, dim=2)
    return mul(found, reshape_op(cast(inside, flat.dtype), shape=(n, 1, points)))


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
    x, y = (
        _located(pairs[..., k], size, bool(align_corners), padding_mode == "border")
        for k, size in ((0, width), (1, height))
    )
    if mode == "nearest":
        result = _read(flat, round(y), round(x), (height, width))
    else:
        left, top = floor(x), floor(y)
        right_share, lower_share = sub(x, left), sub(y, top)
        result = None
        for down, row_share in ((0, sub(1, lower_share)), (1, lower_share)):
            for along, column_share in ((0, sub(1, right_share)), (1, right_share)):
                found = _read(flat, add(top, down), add(left, along), (height, width))
                share = reshape_op(mul(row_share, column_share), shape=(n, 1, points))
                part = mul(found, share)
                result = part if result is None else add(result, part)
    return reshape_op(result, shape=(n, channels, *grid.shape[1:3]))
