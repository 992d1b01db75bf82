"""What must hold at the start of time and on the boundary, one kind of condition a file."""

from pinn.conditions.condition import Condition
from pinn.conditions.dirichlet import Dirichlet
from pinn.conditions.initial import Initial

__all__ = ["CONDITIONS", "Condition", "Dirichlet", "Initial"]

# The conditions by the names that configs and saved solutions use.
CONDITIONS: dict[str, type[Condition]] = {"initial": Initial, "dirichlet": Dirichlet}
