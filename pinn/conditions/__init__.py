"""What must hold at the start of time and on the boundary, one kind of condition a file."""

from pinn.conditions.condition import CONDITIONS, Condition, Exact, Value
from pinn.conditions.dirichlet import Dirichlet
from pinn.conditions.initial import Initial

__all__ = ["CONDITIONS", "Condition", "Dirichlet", "Exact", "Initial", "Value"]

CONDITIONS.add("initial", Initial)
CONDITIONS.add("dirichlet", Dirichlet)
