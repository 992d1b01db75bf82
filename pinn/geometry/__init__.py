"""Shapes: intervals, time, the products that `*` makes of shapes, and the parts of boundaries."""

from pinn.geometry.box import Box
from pinn.geometry.declaration import SHAPES, AnyDomain, On
from pinn.geometry.family import Family, apart
from pinn.geometry.interval import Interval, Time
from pinn.geometry.parts import Face, Part, Piece
from pinn.geometry.product import Product
from pinn.geometry.shape import TOLERANCE, Shape, check_value, projection
from pinn.geometry.unit_cube import UnitSampler

__all__ = [
    "SHAPES",
    "TOLERANCE",
    "AnyDomain",
    "Box",
    "Face",
    "Family",
    "Interval",
    "On",
    "Part",
    "Piece",
    "Product",
    "Shape",
    "Time",
    "UnitSampler",
    "apart",
    "check_value",
    "projection",
]

SHAPES.add("interval", Interval)
SHAPES.add("time", Time)
