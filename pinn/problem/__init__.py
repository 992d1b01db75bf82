"""What is to be solved."""

from pinn.problem.field import Field
from pinn.problem.parameter import Parameter
from pinn.problem.problem import Problem
from pinn.problem.references import Reference

__all__ = ["Field", "Parameter", "Problem", "Reference"]
