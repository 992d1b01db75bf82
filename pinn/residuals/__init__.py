"""Residuals: what has to vanish, and the points at which it does."""

from pinn.residuals.quadrature import WEIGHT, Nodes, space_of
from pinn.residuals.residual import Residual
from pinn.residuals.robust import Judged, judged
from pinn.residuals.sources import (
    Boundary,
    End,
    Interior,
    Listed,
    Measured,
    Section,
    Source,
    Start,
    Surface,
    Within,
)

__all__ = [
    "WEIGHT",
    "Boundary",
    "End",
    "Interior",
    "Judged",
    "Listed",
    "Measured",
    "Nodes",
    "Residual",
    "Section",
    "Source",
    "Start",
    "Surface",
    "Within",
    "judged",
    "space_of",
]
