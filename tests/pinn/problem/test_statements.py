"""Problems as they are stated: systems in time, complex unknowns, complementarity, polar ..."""

from __future__ import annotations

import numpy as np
import pytest

import pinn
from pinn.training.experiment import Experiment

TIME = pinn.Time("t", 0, 1)
X = pinn.Interval("x", -1, 1)
POLAR = pinn.Interval("r", 0, 1) * pinn.Interval("q", 0, 2 * np.pi)

STATEMENTS = {
    "predator and prey": dict(
        domain=TIME, unknowns=["r", "p"], constants={"a": "40", "b": "4*a"},
        equations={
            "prey": ("a*r - b*r*p - r_t", lambda s: s.a * s.r - s.b * s.r * s.p - s.r_t),
            "predator": ("p_t - 80*r*p + 21.2*p", lambda s: s.p_t - 80 * s.r * s.p + 21.2 * s.p),
        },
        conditions=[pinn.Initial("r", 0.5), pinn.Initial("p", 0.075)],
    ),
    "second order in time": dict(
        domain=TIME, unknowns=["u"],
        equations={"ode": ("u_tt - 10*u_t + 9*u - 5*t", lambda s: s.u_tt - 10 * s.u_t + 9 * s.u
                           - 5 * s.t)},
        conditions=[pinn.Initial("u", -1), pinn.Initial("u", 2, order=1)],
    ),
    "schroedinger": dict(
        domain=X * TIME, unknowns=["u", "v"],
        equations={
            "real": ("u_t + v_xx/2 + abs2(u, v)*v",
                     lambda s: s.u_t + s.v_xx / 2 + s.abs2("u", "v") * s.v),
            "imaginary": ("v_t - u_xx/2 - abs2(vec(u, v))*u",
                          lambda s: s.v_t - s.u_xx / 2 - s.abs2((s.u, s.v)) * s.u),
        },
        conditions=[pinn.Initial("u", "2*sech(x)"), pinn.Initial("v", 0)],
    ),
    "american put": dict(
        domain=pinn.Interval("S", 0, 4) * TIME, unknowns=["V"],
        constants={"r": 0.05, "s": 0.2, "K": 1},
        equations={
            "complementarity": (
                "min(V_t - s**2*S**2*V_SS/2 - r*S*V_S + r*V, V - max(K - S, 0))",
                lambda s: s.min(
                    s.V_t - s.s**2 * s.S**2 * s.V_SS / 2 - s.r * s.S * s.V_S + s.r * s.V,
                    s.V - s.max(s.K - s.S, 0),
                ),
            ),
        },
        conditions=[pinn.Initial("V", "max(K - S, 0)")],
    ),
    "polar": dict(
        domain=POLAR, unknowns=["u"],
        equations={"laplace": ("r**2*u_rr + r*u_r + u_qq", lambda s: s.r**2 * s.u_rr + s.r * s.u_r
                               + s.u_qq)},
        conditions=[pinn.Dirichlet("u", "cos(q)", on="r=1")],
    ),
    "flow": dict(
        domain=X * pinn.Interval("y", -1, 1), unknowns=["u", "v", "p"], constants={"nu": 0.05},
        equations={
            "x": ("dot(vec(u, v), grad(u)) + diff(p, x) - nu*div(grad(u))",
                  lambda s: s.u * s.u_x + s.v * s.u_y + s.p_x - s.nu * s.laplacian("u")),
            "y": ("u*v_x + v*v_y + p_y - nu*laplacian(v)",
                  lambda s: s.dot((s.u, s.v), s.grad("v")) + s.p_y - s.nu * s.laplacian(s.v)),
            "mass": ("div(vec(u, v))", lambda s: s.div((s.u, s.v))),
        },
        conditions=[pinn.Dirichlet("u", 0), pinn.Dirichlet("v", 0)],
    ),
}  # fmt: skip


def objective(name, form, **settings):
    stated = dict(STATEMENTS[name])
    equations = {key: pair[form] for key, pair in stated.pop("equations").items()}
    problem = pinn.Problem(equations=equations, **stated)
    return Experiment(
        problem, model=pinn.MLP(width=6, depth=2), sampling=pinn.Sampling(interior=40), **settings
    ).objective()


@pytest.mark.parametrize("name", STATEMENTS)
def test_texts_and_functions_give_the_same_loss_and_gradient(name):
    found = []
    for form in (0, 1):
        for derivatives in ("jets", "nested"):
            case = objective(name, form, derivatives=derivatives)
            loss, gradient, _ = case.value_and_gradient(case.theta)
            found.append((loss, gradient))
    for loss, gradient in found[1:]:
        np.testing.assert_allclose(loss, found[0][0], rtol=1e-11)
        size = np.abs(found[0][1]).max()
        np.testing.assert_allclose(gradient, found[0][1], rtol=0, atol=1e-10 * size)


@pytest.mark.parametrize("form", [0, 1])
def test_a_coefficient_that_vanishes_makes_no_division(form):
    """At r = 0 all derivatives are finite, and the residual is u_qq there."""
    case = objective("polar", form)
    points = np.column_stack([np.zeros(7), np.linspace(0, 6, 7)])
    case.set_points({"laplace": points, "dirichlet_u_r_high": points + [1, 0]})
    loss, gradient, _ = case.value_and_gradient(case.theta)
    residual, jacobian = case.jacobian(case.theta)
    for array in (loss, gradient, residual, jacobian):
        assert np.isfinite(array).all()
    plain = pinn.Problem(POLAR, ["u"], {"laplace": "u_qq"})
    alone = Experiment(plain, model=pinn.MLP(width=6, depth=2)).objective()
    np.testing.assert_allclose(
        case.residuals(case.theta)["laplace"],
        alone.residuals(case.theta, {"laplace": points})["laplace"], rtol=1e-11, atol=1e-12,
    )  # fmt: skip
