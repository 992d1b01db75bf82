"""Conditions that hold exactly: u = A + B*N, made from what a problem declares on its box."""

from pinn.conditions.hard.ansatz import Ansatz
from pinn.conditions.hard.model import HardModel

__all__ = ["Ansatz", "HardModel"]
