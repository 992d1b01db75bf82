"""The operations, a room a family; importing this package fills the registry."""

from . import (
    creation,
    elementwise,
    grids,
    layout,
    matrices,
    pointwise,
    positions,
    reductions,
    registry,
    special,
)

__all__ = [
    "creation",
    "elementwise",
    "grids",
    "layout",
    "matrices",
    "pointwise",
    "positions",
    "reductions",
    "registry",
    "special",
]
