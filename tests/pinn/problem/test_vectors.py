"""Which unknowns are the components of a vector."""

import pytest

import pinn

PLANE = pinn.Interval("x", 0, 1) * pinn.Interval("y", 0, 1)
SPACE = PLANE * pinn.Interval("z", 0, 1)


def vectors(equations, unknowns=("u", "v", "p"), domain=PLANE, **constants):
    names = {f"e{i}": text for i, text in enumerate(equations)}
    return pinn.Problem(domain, unknowns, names, constants=constants).vectors


@pytest.mark.parametrize(
    "divergence",
    ["u_x + v_y", "div(vec(u, v))", "2*c*(u_x + v_y) - p - sin(x)",
     "u_x + c*exp(x) + v_y", lambda s: s.u_x + s.v_y],
)  # fmt: skip
def test_two_unknowns_are_a_vector_where_an_equation_has_their_divergence(divergence):
    momentum = ["u*u_x + v*u_y + p_x - laplacian(u)", "u*v_x + v*v_y + p_y - laplacian(v)"]
    assert vectors([*momentum, divergence], c=3) == (("u", "v"),)


def test_the_time_may_go_along_and_three_coordinates_have_three_components():
    equations = ["p_t + u_x + v_y + w_z", "u_t + p_x", "v_t + p_y", "w_t + p_z"]
    found = vectors(equations, ("p", "u", "v", "w"), SPACE * pinn.Time("t", 0, 1))
    assert found == (("u", "v", "w"),)


@pytest.mark.parametrize(
    "equations",
    [
        ["laplacian(u) + laplacian(v) + p"],
        ["u_x + 2*v_y - p"],
        ["u_x + u*v_y - p"],
        ["u_x - v_y - p"],
        ["u_y + v_x - p"],  # a shear
        ["u_x + v_y + p_x"],
        ["u_x + v_y", "v_x + p_y"],  # rows of a tensor
        ["u_x + v_yy + p"],
        [lambda s: s.u_x - s.v_y + s.p],
    ],
)
def test_what_is_no_divergence_makes_no_vector(equations):
    assert vectors([*equations, "u + v + p"]) == ()


def test_one_coordinate_has_no_vectors():
    assert vectors(["u_x"], ("u",), pinn.Interval("x", 0, 1)) == ()


def test_unknowns_that_are_named_after_the_coordinates_are_a_vector():
    equations = ["laplacian(ux) + p", "laplacian(uy)", "p + Ex"]
    assert vectors(equations, ("ux", "uy", "p", "Ex")) == (("ux", "uy"),)
    assert vectors([*equations, "ux_x + uy_y"], ("ux", "uy", "p", "Ex")) == (("ux", "uy"),)
