"""Solvers of least-squares problems, one a file; each is a training stage."""

from pinn.optimizers.adam import Adam
from pinn.optimizers.bfgs import BFGS
from pinn.optimizers.dsgnar import DSGNAR
from pinn.optimizers.engd import ENGD
from pinn.optimizers.first_order.arrays import functions_of
from pinn.optimizers.first_order.base import FirstOrder
from pinn.optimizers.gauss_newton import GaussNewton
from pinn.optimizers.lbfgs import LBFGS
from pinn.optimizers.levenberg_marquardt import LevenbergMarquardt
from pinn.optimizers.minimize import minimize
from pinn.optimizers.muon import Muon
from pinn.optimizers.nncg import NNCG
from pinn.optimizers.schedules import (
    SCHEDULES,
    ConstantRate,
    CosineDecay,
    ExponentialDecay,
    PlateauDecay,
    Schedule,
)
from pinn.optimizers.soap import SOAP
from pinn.optimizers.solver import (
    STAGES,
    Diverged,
    LeastSquares,
    Stage,
    StageEnd,
    Step,
    StopReason,
)
from pinn.optimizers.spring import SPRING
from pinn.optimizers.ssbfgs import SSBFGS
from pinn.optimizers.ssbroyden import SSBroyden

__all__ = [
    "BFGS",
    "DSGNAR",
    "ENGD",
    "LBFGS",
    "NNCG",
    "SCHEDULES",
    "SOAP",
    "SPRING",
    "SSBFGS",
    "STAGES",
    "Adam",
    "ConstantRate",
    "CosineDecay",
    "Diverged",
    "ExponentialDecay",
    "FirstOrder",
    "GaussNewton",
    "LeastSquares",
    "Muon",
    "PlateauDecay",
    "LevenbergMarquardt",
    "SSBroyden",
    "Schedule",
    "Stage",
    "StageEnd",
    "Step",
    "StopReason",
    "functions_of",
    "minimize",
]

for _solver in (
    Adam, SOAP, Muon, LBFGS, BFGS, SSBFGS, SSBroyden, NNCG, GaussNewton, LevenbergMarquardt,
    DSGNAR, ENGD, SPRING,
):  # fmt: skip
    STAGES.add(_solver.name, _solver)
