"""Trained solutions: evaluated, compared with references, drawn, saved and loaded."""

from pinn.solution.report import Report
from pinn.solution.solution import Solution, load

__all__ = ["Report", "Solution", "load"]
