"""What is to be solved."""

from pinn.problem.parameter import Parameter
from pinn.problem.problem import Problem

__all__ = ["Parameter", "Problem"]
