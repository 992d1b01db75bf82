"""What holds at the start of time."""

from __future__ import annotations

from collections.abc import Sequence

from pinn.conditions.condition import Condition, Exact, Value
from pinn.equations.leaves import Derivative
from pinn.equations.scope import Scope
from pinn.equations.term import Term
from pinn.geometry import AS_TIME, Shape
from pinn.residuals import Residual, Start
from pinn.schema import Name, Natural, declared
from pinn.schema.errors import at, refuse


@declared
class Initial(Condition):
    """u = value, or u_t = value with order=1, at the start of time.

    value: text, number or callable. hard: hold exactly instead of in training; order 1 then needs
    order 0 to be hard too. Raises ValueError for another order, and when the problem is made for a
    domain without a time coordinate.
    """

    unknown: Name
    value: Value
    order: Natural = 0
    hard: bool = False

    def __post_init__(self) -> None:
        if self.order > 1:
            refuse(
                "expected 0 (the unknown) or 1 (its derivative in time), "
                f"got {self.order!r}",
                "order",
            )

    def label(self, domain: Shape) -> str:
        return "_".join(["initial", self.unknown, *[str(domain.time)] * self.order])

    def residuals(self, domain: Shape, scope: Scope) -> Sequence[Residual]:
        need_time("an initial condition", domain)
        scope.check_unknown(self.unknown)
        name = self.label(domain)
        what = f"condition {name!r}"
        left = Term(what, str(Derivative(self.unknown, (domain.time,) * self.order)), scope)
        with at("value"):
            right = Term(what, self.value, scope.of_values(held=(str(domain.time),)))
        return [Residual(name, what, left, Start(domain), right)]

    def exact(self, domain: Shape) -> Sequence[Exact]:
        need_time("an initial condition", domain)
        return [Exact(self.label(domain), self.unknown, domain.start, self.value, self.order)]


def need_time(what: str, domain: Shape) -> None:
    """Raise ValueError, naming what needs it, for a domain without a time coordinate."""
    if domain.time is None:
        names = ", ".join(domain.coordinates)
        raise ValueError(
            f"{what} needs a time coordinate, and this domain has only {names}; "
            f"{AS_TIME}, or use a Dirichlet condition on a face"
        )
