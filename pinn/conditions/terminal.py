"""What holds at the end of time."""

from __future__ import annotations

from collections.abc import Sequence

from pinn.conditions.condition import Condition, Exact, Value
from pinn.conditions.initial import need_time
from pinn.equations.scope import Scope
from pinn.equations.term import Term
from pinn.geometry import Shape
from pinn.residuals import End, Residual
from pinn.schema import Name, declared
from pinn.schema.errors import at


@declared
class Terminal(Condition):
    """u = value at the end of time, for equations that run backwards.

    value: text, number or callable. Raises ValueError when the problem is made for a domain without
    a time coordinate. It has as many points as an initial condition, `Sampling.initial`. hard: hold
    exactly instead of in training.
    """

    unknown: Name
    value: Value
    hard: bool = False

    def label(self, domain: Shape) -> str:
        return f"terminal_{self.unknown}"

    def residuals(self, domain: Shape, scope: Scope) -> Sequence[Residual]:
        need_time("a terminal condition", domain)
        scope.check_unknown(self.unknown)
        name = self.label(domain)
        what = f"condition {name!r}"
        left = Term(what, self.unknown, scope)
        with at("value"):
            right = Term(what, self.value, scope.of_values(held=(str(domain.time),)))
        return [Residual(name, what, left, End(domain), right)]

    def exact(self, domain: Shape) -> Sequence[Exact]:
        need_time("a terminal condition", domain)
        return [Exact(self.label(domain), self.unknown, domain.end, self.value)]
