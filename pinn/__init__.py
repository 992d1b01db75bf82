"""Solve differential equations with neural networks."""

from pinn.conditions import Dirichlet, Initial
from pinn.geometry import Box, Interval, Time
from pinn.models import MLP
from pinn.optimizers import LBFGS, Adam, SSBroyden, StopReason
from pinn.parameters import Parameter
from pinn.problem import Problem
from pinn.sampling import Sampling
from pinn.solution import Report, Solution, load
from pinn.solve import solve
from pinn.training import Callback, Progress, default_training

__all__ = [
    "LBFGS",
    "MLP",
    "Adam",
    "Box",
    "Callback",
    "Dirichlet",
    "Initial",
    "Interval",
    "Parameter",
    "Problem",
    "Progress",
    "Report",
    "SSBroyden",
    "Sampling",
    "Solution",
    "StopReason",
    "Time",
    "default_training",
    "load",
    "solve",
]
