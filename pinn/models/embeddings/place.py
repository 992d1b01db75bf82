"""Which inputs an embedding about a place takes, and what it may be a place of."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pinn.checks import nearest
from pinn.geometry import Shape
from pinn.models.embeddings.embedding import Piece
from pinn.schema.errors import refuse


def places_of(
    given: Sequence[Piece], names: Sequence[str] | None, count: int, key: str
) -> list[int]:
    """Return where the coordinates of a point are among what comes in.

    names: of the coordinates, the first `count` that come in where left out. key: that of the point
    in the declaration. Raises DeclarationError for names that do not come in, and too few of them.
    """
    known = {piece.name: k for k, piece in enumerate(given) if piece.extent is not None}
    names = names or tuple(known)[:count]
    for number, name in enumerate(names):
        if name not in known:
            refuse(
                f"expected some of the coordinates that come in, {', '.join(known) or 'none'}, "
                f"got {name!r}{nearest(name, known)}",
                "coordinates", number,
            )  # fmt: skip
    if len(names) < count:
        refuse(
            f"expected {len(names)} numbers, one for each of the coordinates that come in, "
            f"{', '.join(known) or 'none'}, got {count}",
            key,
        )
    return [known[name] for name in names]


def contains(domain: Shape, names: Sequence[str], points: np.ndarray) -> np.ndarray:
    """Return which points (n, d) of some coordinates lie in a domain whatever the others are.

    None do where these are not all coordinates of the shapes that the domain is a product of.
    """
    factors = [one for one in domain.factors if set(one.coordinates) & set(names)]
    if any(set(one.coordinates) - set(names) for one in factors):
        return np.zeros(len(points), bool)
    columns = dict(zip(names, points.T, strict=True))
    found = np.ones(len(points), bool)
    for one in factors:
        found &= one.contains(np.stack([columns[n] for n in one.coordinates], axis=1), 0.0)
    return found


def told(point: Sequence[float]) -> str:
    """Return a point as messages tell it."""
    return f"[{', '.join(f'{x:g}' for x in point)}]"
