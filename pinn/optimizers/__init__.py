"""Solvers over one flat vector, one a file; each is a training stage."""

from pinn.optimizers.adam import Adam
from pinn.optimizers.lbfgs import LBFGS
from pinn.optimizers.ssbroyden import SSBroyden
from pinn.optimizers.stage import STAGES, Diverged, Stage, StageEnd, StageStopped, Step, StopReason

__all__ = [
    "LBFGS",
    "STAGES",
    "Adam",
    "Diverged",
    "SSBroyden",
    "Stage",
    "StageEnd",
    "StageStopped",
    "Step",
    "StopReason",
]

for _solver in (Adam, LBFGS, SSBroyden):
    STAGES.add(_solver.name, _solver)
