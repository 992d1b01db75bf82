"""Units of the names of a problem."""

import pytest

import pinn
from pinn.schema import DeclarationError

DOMAIN = pinn.Interval("r", 0, 1) * pinn.Interval("q", 0, 6) * pinn.Time("t", 0, 1)


def problem(**units):
    return pinn.Problem(
        DOMAIN, ["u"], {"e": "u_t - k*laplacian(u)"}, constants={"k": 2}, units=units
    )


def test_units_belong_to_names_of_the_problem():
    assert problem(r="m", u="m/s", k="m^2 s^-1").units == {"r": "m", "u": "m/s", "k": "m^2 s^-1"}
    assert problem().units == {}


@pytest.mark.parametrize(
    "units, message",
    [
        ({"v": "m"}, "units.v: expected one of the names r, q, t, u, k, got 'v'"),
        ({"u": "$x$"}, r"units.u: expected a unit such as m/s, .*, got '\$x\$'"),
        ({"u": "a\nb"}, "units.u: expected a unit"),
        ({"u": "m" * 41}, "units.u: expected a unit"),
        ({"u": 3}, "units.u: expected a unit"),
    ],
)
def test_units_that_mean_nothing_are_refused(units, message):
    with pytest.raises(DeclarationError, match=message):
        problem(**units)


def test_lengths_in_one_unit_are_drawn_to_scale():
    assert problem().to_scale(["r", "q"]) and problem(r="m", q="m").to_scale(["r", "q"])
    assert not problem(r="m").to_scale(["r", "q"])
    assert not problem(q="rad").to_scale(["r", "q"])
    assert not problem().to_scale(["r", "t"])


def test_a_solution_keeps_its_units(tmp_path):
    made = pinn.Problem(
        pinn.Interval("x", 0, 1), ["u"], {"e": "u_x - 1"}, [pinn.Dirichlet("u", 0, on="x=0")],
        units={"x": "m", "u": "°C"},
    )  # fmt: skip
    solution = pinn.solve(made, pinn.MLP(4, 1), training=[pinn.Adam(1)], error_bars=False)
    solution.save(tmp_path / "s.npz")
    assert pinn.load(tmp_path / "s.npz").problem.units == {"x": "m", "u": "°C"}
