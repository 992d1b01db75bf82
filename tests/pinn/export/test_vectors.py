"""Which unknowns are the components of a vector."""

import pytest

from pinn.export.vectors import vectors_of


@pytest.mark.parametrize(
    ("names", "space", "found"),
    [
        ("u v p", "xy", {"uv": ("u", "v")}),
        ("u v w p", "xyz", {"uvw": ("u", "v", "w")}),
        ("u v", "xyz", {}),
        ("u v", "x", {}),
        ("ux uy p", "xy", {"u": ("ux", "uy")}),
        ("u ux uy", "xy", {}),
        ("Ex Ey Ez Bx By", "xyz", {"E": ("Ex", "Ey", "Ez")}),
        ("u v", "ab", {"uv": ("u", "v")}),
        ("ua ub", "ab", {"u": ("ua", "ub")}),
    ],
)
def test_vectors_have_a_component_for_each_coordinate(names, space, found):
    assert vectors_of(names.split(), tuple(space)) == found
