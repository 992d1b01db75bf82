"""What is to be solved."""

from pinn.problem.equation import Equation
from pinn.problem.field import Field
from pinn.problem.parameter import Parameter
from pinn.problem.problem import Problem
from pinn.problem.references import Reference
from pinn.problem.singularity import Singularity

__all__ = ["Equation", "Field", "Parameter", "Problem", "Reference", "Singularity"]
