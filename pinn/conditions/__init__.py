"""What must hold at the start of time and on the boundary, one kind of condition a file."""

from pinn.conditions.condition import CONDITIONS, Condition, Exact, Value
from pinn.conditions.dirichlet import Dirichlet
from pinn.conditions.initial import Initial
from pinn.conditions.point_value import PointValue
from pinn.conditions.terminal import Terminal

__all__ = [
    "CONDITIONS", "Condition", "Dirichlet", "Exact", "Initial", "PointValue", "Terminal", "Value",
]

CONDITIONS.add("initial", Initial)
CONDITIONS.add("dirichlet", Dirichlet)
CONDITIONS.add("terminal", Terminal)
CONDITIONS.add("point_value", PointValue)
