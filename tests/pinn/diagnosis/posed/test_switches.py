"""Where conditions change along a wall from values to slopes."""

import math

import pytest

import pinn
from pinn.diagnosis.posed.switches import switches

HALF = pinn.Interval("x", -1, 1) * pinn.Interval("y", 0, 1)


def problem(*conditions, domain=HALF, unknowns=("u",)):
    equations = {f"e_{name}": f"laplacian({name})" for name in unknowns}
    return pinn.Problem(domain, list(unknowns), equations, list(conditions))


def test_along_a_side():
    asked = problem(
        pinn.Dirichlet("u", 0, on="y=0 and x < 0.25"), pinn.Neumann("u", 0, on="y=0 and x > 0.25"),
        pinn.Dirichlet("u", 1, on=["x=-1", "x=1", "y=1"]),
    )  # fmt: skip
    found = sorted(switches(asked), key=lambda one: one.at)
    assert [one.at for one in found] == [pytest.approx((0.25, 0)), pytest.approx((1, 0))]
    angles = [math.degrees(one.angle) for one in found]
    assert angles == pytest.approx([180, 90], abs=1e-6)


def test_conditions_that_hold_exactly_are_looked_at_too():
    asked = problem(
        pinn.Dirichlet("u", 0, on="x=-1", hard=True), pinn.Neumann("u", 0, on="y=0"),
        pinn.Dirichlet("u", 1, on=["x=1", "y=1"]),
    )  # fmt: skip
    assert sorted(one.at for one in switches(asked)) == [(-1, 0), (1, 0)]


@pytest.mark.parametrize("conditions", [
    (pinn.Dirichlet("u", 0),),
    (pinn.Dirichlet("u", 0, on="y=0 and x < 0"), pinn.Dirichlet("u", 1, on="y=0 and x > 0")),
    (pinn.Dirichlet("u", 0, on="x=-1"), pinn.Neumann("u", 0, on="x=1")),
    (pinn.Dirichlet("u", 0, on="y=0"), pinn.Neumann("v", 0, on="x=1")),
    (pinn.Dirichlet("u", 0, on="y=0 and x < 0"), pinn.Neumann("u", 0, on="y=0 and x < 0")),
])  # fmt: skip
def test_no_change_of_one_unknown_at_one_place_is_none(conditions):
    assert switches(problem(*conditions, unknowns=("u", "v"))) == ()


def test_in_time_and_in_space_nothing_is_looked_at():
    asked = problem(
        pinn.Dirichlet("u", 0, on="x=-1"), pinn.Neumann("u", 0, on=["y=0", "y=1", "x=1"]),
        domain=HALF * pinn.Interval("z", 0, 1),
    )  # fmt: skip
    assert switches(asked) == ()


CLAMPED = [pinn.Dirichlet("u", 0, on="x=-1"), pinn.Dirichlet("v", 0, on="x=-1")]
FREE = [
    pinn.Operator("u_x + 0.3*v_y", on="x=1"), pinn.Operator("v_y + 0.3*u_x", on="y=0"),
    pinn.Operator("u_y + v_x", on=["x=1", "y=0", "y=1"]),
]  # fmt: skip


@pytest.mark.parametrize(("conditions", "places"), [
    ([*CLAMPED, *FREE, pinn.Operator("v_y + 0.3*u_x", on="y=1")], [(-1, 0), (-1, 1)]),
    ([*CLAMPED, *FREE, pinn.Dirichlet("v", 0, on="y=1")], [(-1, 0)]),  # it may slide along there
    ([CLAMPED[0], *FREE, pinn.Operator("u_y + v_x", on="x=-1")], []),
    ([*CLAMPED, pinn.Dirichlet("u", 0, on="y=0"), pinn.Dirichlet("v", 0, on="y=0")], []),
    ([*CLAMPED, pinn.Neumann("u", 0, on=["y=0", "y=1"])], []),
])  # fmt: skip
def test_values_of_all_unknowns_together_and_as_many_slopes(conditions, places):
    asked = problem(*conditions, unknowns=("u", "v"))
    assert sorted(one.at for one in switches(asked, together=True)) == places
