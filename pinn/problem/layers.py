"""Residuals of a problem whose solution changes fast along walls."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from pinn.checks import nearest
from pinn.conditions import Condition, Periodic
from pinn.equations.leaves import parts_of
from pinn.equations.scope import Scope
from pinn.equations.term import Term
from pinn.geometry import Shape
from pinn.residuals import Boundary, End, Interior, Residual, Start
from pinn.sampling import Layers, Widths
from pinn.schema.errors import at, refuse

# Thinner layers, as shares of the coordinate, have no numbers in them.
_LEAST = 1e-15


def checked(given: Widths, domain: Shape, conditions: Sequence[Condition]) -> Layers:
    """Return layers; ValueError, with its key, for a coordinate without walls and for no layers."""
    for name, sides in given.items():
        with at(name):
            if name not in domain.space:
                among = ", ".join(domain.space)
                refuse(
                    f"expected some of the coordinates of space, {among}, got {name!r}"
                    f"{nearest(name, domain.space)}"
                )
            if not has_walls(domain, conditions, name):
                refuse(
                    "expected a coordinate with two faces, along which layers can lie, and no "
                    f"period; {name!r} is none"
                )
            least, most = range_of_widths(domain, name)
            for widths in sides:
                wrong = [width for width in widths or () if not least <= width < most]
                if wrong:
                    refuse(
                        f"expected widths from {least:.1g}, as far as numbers are told apart, to "
                        f"below {most:g}, the length of {name}, got {wrong[0]:g}"
                    )
                if len(set(widths or ())) < len(widths or ()):
                    refuse(f"expected different widths at one bound, got {list(widths)}")
    return Layers.of(given, domain.bounds)


def range_of_widths(domain: Shape, name: str) -> tuple[float, float]:
    """Return the width from which on layers along a coordinate have places in them, and its length.

    They are thinner than that length.
    """
    low, high = domain.bounds[name]
    return _LEAST * max(abs(low), abs(high)), high - low


def has_walls(domain: Shape, conditions: Sequence[Condition], name: str) -> bool:
    """Return whether a coordinate runs from one face of a domain to another, and no period."""
    if any(isinstance(one, Periodic) and one.coordinate == name for one in conditions):
        return False
    faces = [part.fixed[name] for part in domain.parts if set(part.fixed) == {name}]
    alone = any(factor.coordinates == (name,) for factor in domain.factors)
    return alone and sorted(faces) == sorted(domain.bounds[name])


def in_layers(residual: Residual, layers: Layers, scope: Scope | None = None) -> Residual:
    """Return a residual whose points lie closer in layers.

    scope: of the problem, for an equation, which then counts in layers by how long things are
    there.
    """
    source = residual.source
    if not layers or residual.whole or not isinstance(source, Interior | Boundary | Start | End):
        return residual
    found = dataclasses.replace(residual, source=dataclasses.replace(source, layers=layers))
    text = None if scope is None else layers.factor(balancing_orders(residual, scope.space))
    if text is None:
        return found
    return dataclasses.replace(found, scale=Term(residual.what, text, scope))


def balancing_orders(residual: Residual, space: Sequence[str]) -> dict[str, int]:
    """Return the order of the derivative in each coordinate next to the highest of an unknown.

    In a layer these two balance: u_x and u_xx, u_xx and u_xxxx.
    """
    orders: dict[str, dict[str, set[int]]] = {name: {} for name in space}
    for leaf in residual.leaves or ():
        for names, _ in parts_of(leaf, space):
            for name in space:
                orders[name].setdefault(leaf.unknown, set()).add(names.count(name))
    return {name: max(map(_next_to_highest, by.values()), default=0) for name, by in orders.items()}


def _next_to_highest(orders: set[int]) -> int:
    """Return the order that balances the highest one in a layer, 0 where there is none."""
    return sorted(orders)[-2] if max(orders) > 1 < len(orders) else 0
