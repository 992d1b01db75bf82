"""What must hold at the start of time and on the boundary, one kind of condition a file."""

from pinn.conditions.condition import CONDITIONS, Condition, Exact, ExactAt, Repeats, Value
from pinn.conditions.data import Data
from pinn.conditions.dirichlet import Dirichlet
from pinn.conditions.initial import Initial
from pinn.conditions.integral import Integral
from pinn.conditions.interface import Interface
from pinn.conditions.neumann import Neumann
from pinn.conditions.operator import Operator
from pinn.conditions.periodic import Periodic
from pinn.conditions.point_value import PointValue
from pinn.conditions.robin import Robin
from pinn.conditions.terminal import Terminal

__all__ = [
    "CONDITIONS",
    "Condition",
    "Data",
    "Dirichlet",
    "Exact",
    "ExactAt",
    "Initial",
    "Integral",
    "Interface",
    "Neumann",
    "Operator",
    "Periodic",
    "PointValue",
    "Repeats",
    "Robin",
    "Terminal",
    "Value",
]

CONDITIONS.add("initial", Initial)
CONDITIONS.add("dirichlet", Dirichlet)
CONDITIONS.add("neumann", Neumann)
CONDITIONS.add("robin", Robin)
CONDITIONS.add("operator", Operator)
CONDITIONS.add("terminal", Terminal)
CONDITIONS.add("point_value", PointValue)
CONDITIONS.add("periodic", Periodic)
CONDITIONS.add("interface", Interface)
CONDITIONS.add("integral", Integral)
CONDITIONS.add("data", Data)
