"""Where a condition holds: parts of the boundary, the ends of time, points of the user's own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from pinn import expressions
from pinn.geometry import Face, Shape
from pinn.geometry.parts import is_comparison
from pinn.residuals import Boundary, End, Listed, Source, Start
from pinn.schema.errors import at as under
from pinn.schema.errors import refuse


def boundary(
    what: str, domain: Shape, on: str | Sequence[str] | None, normals: bool = False
) -> Boundary:
    """Return the points of some parts of the boundary in space; ValueError where there are none.

    what: names the condition in messages. normals: attach the outward normals.
    """
    if not domain.space:
        raise ValueError(
            f"{what} needs a space coordinate, and this domain has only "
            f"{', '.join(domain.coordinates)}; use an initial condition at the start of time"
        )
    with under("on"):
        return Boundary(domain, domain.select(on), normals)


def faces(name: str, domain: Shape, on: str | Sequence[str] | None) -> tuple[Face, ...]:
    """Return the whole faces that a hard condition on slopes holds on.

    name: that of the condition. Raises ValueError for parts that are none.
    """
    parts = boundary("a hard condition", domain, on).parts
    for part in parts:
        if not isinstance(part, Face):
            refuse(
                f"{name!r} cannot be hard on {part}, which is no whole face of a box; leave it out "
                "there, so that it is trained",
                "hard",
            )
    return parts


def places(
    what: str,
    domain: Shape,
    on: str | Sequence[str] | None,
    at: Mapping[str, Sequence[float]],
) -> dict[str, Source]:
    """Return where a condition on any expression holds, by label: "x_high", "t_low", "".

    on: parts of the boundary, the ends of time such as "t=0", several of these; None for the whole
    boundary in space, or for the points `at`. Parts of the boundary are one source, with normals.
    """
    if at:
        if on is not None:
            refuse("expected either `on` or `at`, got both", "at")
        with under("at"):
            return {"": listed(domain, at)}
    if on is None:
        return {"": boundary(what, domain, None, normals=True)}
    texts = [on] if isinstance(on, str) else list(on)
    ends = {text: end for text in texts if (end := _end_of_time(domain, text)) is not None}
    walls = [text for text in texts if text not in ends]
    found: dict[str, Source] = {}
    if walls:
        label = domain.label(walls[0] if len(walls) == 1 else walls)
        found[label] = boundary(what, domain, walls, normals=True)
    for end in ends.values():
        side = domain.start if isinstance(end, Start) else domain.end
        found[side.label] = end
    return found


def listed(domain: Shape, at: Mapping[str, Sequence[float]]) -> Listed:
    """Return points from the numbers of their coordinates; one number serves for all of them.

    A family without numbers is drawn from its range.
    Raises ValueError for a coordinate that is missing or unknown, lengths that differ, and a point
    that is none of the domain.
    """
    families = {family.name for family in domain.families}
    if set(at) | families != set(domain.coordinates):
        needed = [name for name in domain.coordinates if name not in families]
        refuse(
            f"expected a number for each of {', '.join(needed)}, "
            f"got {', '.join(at) or 'none'}"
        )
    counts = {name: len(numbers) for name, numbers in at.items() if len(numbers) != 1}
    if len(set(counts.values())) > 1:
        shown = ", ".join(f"{count} of {name}" for name, count in counts.items())
        refuse(f"expected as many numbers for every coordinate, or one, got {shown}")
    n = max(counts.values(), default=1)
    columns = [
        np.broadcast_to(np.asarray(at[name], dtype=np.float64), (n,)).tolist()
        if name in at else [None] * n
        for name in domain.coordinates
    ]  # fmt: skip
    source = Listed(domain, tuple(zip(*columns, strict=True)))
    source.check()
    return source


def _end_of_time(domain: Shape, text: str) -> Start | End | None:
    """Return the end of time that a text such as "t=0" names; None for one of something else."""
    name, equals, number = (piece.strip() for piece in text.partition("="))
    if not equals or name != domain.time or "=" in number or is_comparison(number):
        return None
    with under("on"):
        value = expressions.constant(number)
        low, high = domain.bounds[name]
        for end, bound in ((Start(domain), low), (End(domain), high)):
            if abs(bound - value) <= 1e-9 * (high - low):
                return end
        refuse(
            f"expected an end of time, {domain.start} or {domain.end}, got {text!r}; for another "
            "time list the points with `at`"
        )
