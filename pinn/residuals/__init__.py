"""Residuals: what has to vanish, and the points at which it does."""

from pinn.residuals.residual import Residual
from pinn.residuals.sources import Boundary, End, Interior, Listed, Source, Start

__all__ = ["Boundary", "End", "Interior", "Listed", "Residual", "Source", "Start"]
