"""Solvers of least-squares problems, one a file; each is a training stage."""

from pinn.optimizers.adam import Adam
from pinn.optimizers.bfgs import BFGS
from pinn.optimizers.lbfgs import LBFGS
from pinn.optimizers.minimize import minimize
from pinn.optimizers.nncg import NNCG
from pinn.optimizers.solver import (
    STAGES,
    Diverged,
    LeastSquares,
    Stage,
    StageEnd,
    Step,
    StopReason,
)
from pinn.optimizers.ssbfgs import SSBFGS
from pinn.optimizers.ssbroyden import SSBroyden

__all__ = [
    "BFGS",
    "LBFGS",
    "NNCG",
    "SSBFGS",
    "STAGES",
    "Adam",
    "Diverged",
    "LeastSquares",
    "SSBroyden",
    "Stage",
    "StageEnd",
    "Step",
    "StopReason",
    "minimize",
]

for _solver in (Adam, LBFGS, BFGS, SSBFGS, SSBroyden, NNCG):
    STAGES.add(_solver.name, _solver)
