"""Shapes: intervals, disks, polygons ..., what | & - * make of them, the parts of boundaries."""

from pinn.geometry.ball import Ball, Disk
from pinn.geometry.box import Box
from pinn.geometry.cloud import PointCloud
from pinn.geometry.combined import Difference, Intersection, Union
from pinn.geometry.declaration import SHAPES, AnyDomain, On
from pinn.geometry.ellipse import Ellipse
from pinn.geometry.family import Family, apart
from pinn.geometry.inside import check_inside, domain_in_words, shown_point
from pinn.geometry.interval import Interval, Time
from pinn.geometry.mesh import Mesh
from pinn.geometry.parts import Face, Part, Piece
from pinn.geometry.placed import Moved, Named, Rotated
from pinn.geometry.polygon import Polygon, Triangle
from pinn.geometry.product import Product, during
from pinn.geometry.shape import AS_TIME, TOLERANCE, Shape, check_value, projection
from pinn.geometry.surface import Surface
from pinn.geometry.unit_cube import UnitSampler

__all__ = [
    "AS_TIME",
    "SHAPES",
    "TOLERANCE",
    "AnyDomain",
    "Ball",
    "Box",
    "Difference",
    "Disk",
    "Ellipse",
    "Face",
    "Family",
    "Intersection",
    "Interval",
    "Mesh",
    "Moved",
    "Named",
    "On",
    "Part",
    "Piece",
    "PointCloud",
    "Polygon",
    "Product",
    "Rotated",
    "Shape",
    "Surface",
    "Time",
    "Triangle",
    "Union",
    "UnitSampler",
    "apart",
    "check_inside",
    "check_value",
    "domain_in_words",
    "during",
    "projection",
    "shown_point",
]

SHAPES.add("interval", Interval)
SHAPES.add("time", Time)
SHAPES.add("disk", Disk)
SHAPES.add("ball", Ball)
SHAPES.add("ellipse", Ellipse)
SHAPES.add("triangle", Triangle)
SHAPES.add("polygon", Polygon)
SHAPES.add("point_cloud", PointCloud)
SHAPES.add("mesh", Mesh)
SHAPES.add("surface", Surface)
SHAPES.add("union", Union)
SHAPES.add("intersection", Intersection)
SHAPES.add("difference", Difference)
SHAPES.add("moved", Moved)
SHAPES.add("rotated", Rotated)
SHAPES.add("named", Named)
