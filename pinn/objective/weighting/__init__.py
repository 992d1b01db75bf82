"""How blocks and rows are weighed while training goes on; a scheme a file."""

from pinn.objective.weighting.fixed import Fixed
from pinn.objective.weighting.view import View
from pinn.objective.weighting.weighting import State, Weighting, Weights, reweigh

WEIGHTINGS: dict[str, type[Weighting]] = {"fixed": Fixed}

__all__ = ["WEIGHTINGS", "Fixed", "State", "View", "Weighting", "Weights", "reweigh"]
