"""What trained networks say at points: unknowns, what is made of them, and any expression."""

from pinn.evaluation.evaluation import Evaluation
from pinn.evaluation.extrapolation import ExtrapolationWarning

__all__ = ["Evaluation", "ExtrapolationWarning"]
