"""Trained solutions: evaluated, compared with references, drawn, saved and loaded."""

from pinn.solution.ensemble import Ensemble
from pinn.solution.recovery import DataFit, Recovery
from pinn.solution.report import Report
from pinn.solution.solution import Solution, load

__all__ = ["DataFit", "Ensemble", "Recovery", "Report", "Solution", "load"]
