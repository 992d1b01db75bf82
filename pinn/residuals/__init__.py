"""Residuals: what has to vanish, and the points at which it does."""

from pinn.residuals.residual import Residual
from pinn.residuals.sources import Boundary, Interior, Source, Start

__all__ = ["Boundary", "Interior", "Residual", "Source", "Start"]
