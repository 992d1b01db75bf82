"""Residuals: what has to vanish, and the points at which it does."""

from pinn.residuals.crossings import crossings, switched
from pinn.residuals.narrow import Narrow, narrow
from pinn.residuals.quadrature import WEIGHT, Nodes, space_of, usual_nodes
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
from pinn.residuals.spots import Spot, spots

__all__ = [
    "WEIGHT",
    "Boundary",
    "End",
    "Interior",
    "Judged",
    "Listed",
    "Measured",
    "Narrow",
    "Nodes",
    "Residual",
    "Section",
    "Source",
    "Spot",
    "Start",
    "Surface",
    "Within",
    "crossings",
    "judged",
    "narrow",
    "space_of",
    "spots",
    "switched",
    "usual_nodes",
]
