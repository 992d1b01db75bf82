"""The names that an equation may use."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pinn import expressions
from pinn.equations.resolve import resolve


@dataclass(frozen=True)
class Scope:
    """The names that a text or a function may use."""

    unknowns: tuple[str, ...]
    coordinates: tuple[str, ...]
    space: tuple[str, ...]
    constants: Mapping[str, float]
    parameters: tuple[str, ...]
    # A function names the same things at every step; each is parsed once.
    _resolved: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)

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
            )
        return self._resolved[text]
