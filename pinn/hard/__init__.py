"""Conditions that hold exactly: u = A + B*N, made from what a problem declares on its box."""

from pinn.hard.ansatz import Ansatz
from pinn.hard.model import HardModel

__all__ = ["Ansatz", "HardModel"]
