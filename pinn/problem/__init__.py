"""What is to be solved."""

from pinn.problem.parameter import Parameter
from pinn.problem.problem import Problem
from pinn.problem.references import Reference

__all__ = ["Parameter", "Problem", "Reference"]
