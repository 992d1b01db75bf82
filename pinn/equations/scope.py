"""The names that an equation may use."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pinn import expressions
from pinn.checks import nearest
from pinn.equations.resolve import resolve
from pinn.schema.errors import refuse


@dataclass(frozen=True)
class Scope:
    """The names that a text or a function may use.

    columns: the names of what is attached to the points, such as a normal's components.
    """

    unknowns: tuple[str, ...]
    coordinates: tuple[str, ...]
    space: tuple[str, ...]
    constants: Mapping[str, float]
    parameters: tuple[str, ...]
    columns: tuple[str, ...] = ()
    # A function names the same things at every step; each is parsed once.
    _resolved: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)

    def of_values(self, *, parameters: bool = True) -> Scope:
        """Return the scope of a value: the same names without the unknowns."""
        return Scope(
            (),
            self.coordinates,
            self.space,
            self.constants,
            self.parameters if parameters else (),
            self.columns,
        )

    def check_unknown(self, name: object) -> None:
        """Raise DeclarationError, at the key "unknown", unless `name` is one."""
        if name not in self.unknowns:
            refuse(
                f"expected one of the unknowns {', '.join(self.unknowns)}, got {name!r}"
                f"{nearest(name, self.unknowns)}",
                "unknown",
            )

    def resolve(self, text: str) -> Any:
        """Return the resolved tree of a text; ExpressionError for what it cannot mean."""
        if text not in self._resolved:
            self._resolved[text] = resolve(
                expressions.parse(text),
                unknowns=self.unknowns,
                coordinates=self.coordinates,
                space=self.space,
                constants=tuple(self.constants),
                parameters=self.parameters,
                columns=self.columns,
            )
        return self._resolved[text]
