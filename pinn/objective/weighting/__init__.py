"""How blocks and rows are weighed while training goes on; a scheme a file."""

from pinn.objective.weighting.declaration import AnyWeighting
from pinn.objective.weighting.fixed import Fixed
from pinn.objective.weighting.view import View
from pinn.objective.weighting.weighting import WEIGHTINGS, State, Weighting, Weights, reweigh

WEIGHTINGS.add("fixed", Fixed)

__all__ = [
    "WEIGHTINGS", "AnyWeighting", "Fixed", "State", "View", "Weighting", "Weights", "reweigh",
]
