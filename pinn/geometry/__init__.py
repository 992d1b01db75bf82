"""Shapes: intervals, time, the products that `*` makes of shapes, and the parts of boundaries."""

from pinn.geometry.box import Box
from pinn.geometry.declaration import SHAPES, AnyDomain, On
from pinn.geometry.interval import Interval, Time
from pinn.geometry.parts import Face, Part, Piece
from pinn.geometry.product import Product
from pinn.geometry.shape import TOLERANCE, Shape, check_value, normal_name
from pinn.geometry.unit_cube import UnitSampler

__all__ = [
    "SHAPES",
    "TOLERANCE",
    "AnyDomain",
    "Box",
    "Face",
    "Interval",
    "On",
    "Part",
    "Piece",
    "Product",
    "Shape",
    "Time",
    "UnitSampler",
    "check_value",
    "normal_name",
]

SHAPES.add("interval", Interval)
SHAPES.add("time", Time)
