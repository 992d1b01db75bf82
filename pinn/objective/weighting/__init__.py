"""How blocks and rows are weighed while training goes on; a scheme a file."""

from pinn.objective.weighting.annealing import LRA
from pinn.objective.weighting.attention import Attention
from pinn.objective.weighting.causal import Causal
from pinn.objective.weighting.combined import Combined
from pinn.objective.weighting.declaration import AnyWeighting
from pinn.objective.weighting.discrepancy import Discrepancy
from pinn.objective.weighting.equal_losses import EqualLosses
from pinn.objective.weighting.fixed import Fixed
from pinn.objective.weighting.grad_norm import GradNorm
from pinn.objective.weighting.ntk import NTK
from pinn.objective.weighting.relobralo import ReLoBRaLo
from pinn.objective.weighting.self_adaptive import SelfAdaptive
from pinn.objective.weighting.softadapt import SoftAdapt
from pinn.objective.weighting.view import View
from pinn.objective.weighting.weighting import (
    WEIGHTINGS,
    State,
    Weighting,
    Weights,
    alike,
    reweigh,
)

WEIGHTINGS.add("fixed", Fixed)
WEIGHTINGS.add("equal_losses", EqualLosses)
WEIGHTINGS.add("grad_norm", GradNorm)
WEIGHTINGS.add("ntk", NTK)
WEIGHTINGS.add("lra", LRA)
WEIGHTINGS.add("relobralo", ReLoBRaLo)
WEIGHTINGS.add("softadapt", SoftAdapt)
WEIGHTINGS.add("self_adaptive", SelfAdaptive)
WEIGHTINGS.add("attention", Attention)
WEIGHTINGS.add("causal", Causal)
WEIGHTINGS.add("discrepancy", Discrepancy)
WEIGHTINGS.add("combined", Combined)

__all__ = [
    "LRA", "NTK", "WEIGHTINGS", "AnyWeighting", "Attention", "Causal", "Combined", "Discrepancy",
    "EqualLosses", "Fixed", "GradNorm", "ReLoBRaLo", "SelfAdaptive", "SoftAdapt", "State", "View",
    "Weighting", "Weights", "alike", "reweigh",
]
