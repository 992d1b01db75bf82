"""Where elements lie: shapes, indices, parts joined and taken, order along dimensions."""

from . import arrange, gather, index, join, mask, shape

__all__ = ["arrange", "gather", "index", "join", "mask", "shape"]
