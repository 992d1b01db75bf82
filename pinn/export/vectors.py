"""Which unknowns are the components of a vector."""

from __future__ import annotations

from collections.abc import Collection, Sequence

# Components by the names that fluids and solids have for them.
_USUAL = ("u", "v", "w")


def vectors_of(names: Collection[str], space: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return the vectors among unknowns by name, with a component for each coordinate in space.

    They are u, v (and w), as the vector uv (uvw), and names that end in the coordinates: ux, uy or
    u_x, u_y as the vector u. There is none of a single component, and none whose name is taken.
    """
    if len(space) not in (2, 3):
        return {}
    usual = _USUAL[: len(space)]
    found = {"".join(usual): usual}
    for name in names:
        stem = name.removesuffix(space[0])
        if stem and stem != name:
            found[stem.rstrip("_") or name] = tuple(stem + coordinate for coordinate in space)
    return {
        name: parts for name, parts in found.items()
        if name not in names and all(part in names for part in parts)
    }  # fmt: skip
