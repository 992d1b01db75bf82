"""The equation at which an energy is stationary, and what a boundary that is free asks for."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest
from numpy.polynomial import polynomial as P

from pinn.equations.functions import NUMPY_FUNCTIONS
from pinn.equations.leaves import (
    Column,
    Constant,
    Coordinate,
    Derivative,
    Laplacian,
    ParameterRef,
    Supplied,
)
from pinn.equations.resolve import Vector, evaluate_resolved
from pinn.equations.scope import Scope
from pinn.equations.term import Term
from pinn.expressions import Call, ExpressionError, Name

SCOPE = Scope(
    unknowns=("u", "v"), coordinates=("x", "y", "t"), space=("x", "y"), constants={"c": 1.7},
    parameters=("k",), columns=("normal_x", "normal_y"),
)
RNG = np.random.default_rng(5)
START = RNG.bit_generator.state


@pytest.fixture(autouse=True)
def _the_same_numbers():
    """Each test draws its own, whichever ran before."""
    RNG.bit_generator.state = START


class Polynomials(Mapping):
    """Values of leaves where the unknowns are polynomials: derivatives of these by their rules."""

    def __init__(self, space="xy", **unknowns):
        self.unknowns, self.space = unknowns, space
        self.places = dict(zip("xyt", RNG.uniform(0.1, 0.9, (3, 20)), strict=True))
        self.normal = 0.6, 0.8

    def __getitem__(self, leaf):
        if isinstance(leaf, Coordinate):
            return self.places[leaf.name]
        if isinstance(leaf, Constant | ParameterRef):
            return {"c": 1.7, "k": 0.6}[leaf.name]
        if isinstance(leaf, Column):
            return self.normal["xy".index(leaf.name[-1])]
        if isinstance(leaf, Laplacian):
            return sum(n * self[Derivative(leaf.unknown, c)] for c, n in leaf.terms(self.space))
        found = self.unknowns[leaf.unknown]
        for name in leaf.coordinates:
            found = P.polyder(found, axis="xyt".index(name))
        return P.polyval3d(*self.places.values(), found)

    def __iter__(self):
        raise NotImplementedError

    def __len__(self):
        return 0

    def __contains__(self, leaf):
        return True


def drawn():
    return RNG.standard_normal((5, 5, 4)) / 8


def value(text, values):
    return evaluate_resolved(SCOPE.resolve(text), values, NUMPY_FUNCTIONS)


def slope_of(function, step=1e-3):
    """Return the slope of a function at 0 by a difference of fourth order."""
    near, far = (function(k * step) - function(-k * step) for k in (1, 2))
    return (8 * near - far) / (12 * step)


_EQUATIONS = [
    ("0.5*dot(grad(u), grad(u)) - x*u", "-laplacian(u) - x"),
    ("0.5*exp(x*y)*dot(grad(u), grad(u))", "-div(exp(x*y)*grad(u))"),
    ("sqrt(1 + dot(grad(u), grad(u)))", "-div(1/sqrt(1 + u_x**2 + u_y**2)*grad(u))"),
    ("0.5*c*u_t**2 - 0.5*dot(grad(u), grad(u))", "laplacian(u) - c*u_tt"),
    ("0.5*u_t**2 + c*cos(u)", "-u_tt - c*sin(u)"),
    ("0.5*k*u_xx**2 - y*u", "k*u_xxxx - y"),
    ("0.5*laplacian(u)**2 - u", "laplacian(laplacian(u)) - 1"),
    ("0.5*laplacian(laplacian(u))**2", "laplacian(laplacian(laplacian(laplacian(u))))"),
    # the determinant of second derivatives is a divergence: nothing of it is left
    ("0.5*laplacian(u)**2 - (1 - k)*(u_xx*u_yy - u_xy**2)", "laplacian(laplacian(u))"),
    ("u_x*v_y - u_y*v_x", "0*u"),
    ("0.5*dot(grad(u), grad(u)) + u*v*u_t", "-laplacian(u) - u*v_t"),
    ("0.5*(u_x + v_y)**2 + u*v", "-(u_xx + v_xy) + v"),
    ("where(x < 0.5, 1, 3)*u**2", "where(x < 0.5, 2, 6)*u"),
    ("abs(u)**3/3 + hypot(u_x, 1)", "abs(u)*u - diff(u_x/sqrt(1 + u_x**2), x)"),
]
_TRACTIONS = [
    ("0.5*exp(x)*dot(grad(u), grad(u)) - x*u", "exp(x)*dn(u)"),
    ("sqrt(1 + dot(grad(u), grad(u)))", "dn(u)/sqrt(1 + u_x**2 + u_y**2)"),
    ("0.5*u_t**2 - 0.5*c*u_x**2 + u**2", "-c*normal_x*u_x"),
    ("u_x*v_y - u_y*v_x", "normal_x*v_y - normal_y*v_x"),
]


@pytest.mark.parametrize(("operator", "energy", "known"), [
    *(("variation", *pair) for pair in _EQUATIONS), *(("natural", *pair) for pair in _TRACTIONS),
])  # fmt: skip
def test_energies_have_their_known_equations_and_natural_conditions(operator, energy, known):
    values = Polynomials(u=drawn(), v=drawn())
    found, expected = value(f"{operator}({energy}, u)", values), value(known, values)
    np.testing.assert_allclose(found, expected + np.zeros(20), rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("energy", [
    # rubber: compressible, of neo-Hooke's kind
    "0.5*(dot(grad(u), grad(u)) + dot(grad(v), grad(v)) + 2*u_x + 2*v_y)"
    " - log((1 + u_x)*(1 + v_y) - u_y*v_x) + 0.5*log((1 + u_x)*(1 + v_y) - u_y*v_x)**2",
    "exp(u_x*u)*cos(v_y) + u_xy**2*u + x*y*u*v",
    "0.5*laplacian(u)**2*v + u_xx*u_y**2",
])  # fmt: skip
@pytest.mark.parametrize("unknown", ["u", "v"])
def test_the_variation_is_the_slope_of_the_integral(energy, unknown):
    """Beside a difference of integrals over the unit square, in a direction that is 0 around it."""
    x, w = P.polyfromroots([0, 0, 1, 1]), P.polyfromroots([0, 0, 0, 1, 1])
    direction = 300 * np.einsum("i,j->ij", np.append(x, 0.0), w)[:, :, None]
    start = {name: RNG.standard_normal((3, 3, 1)) / 20 for name in "uv"}
    nodes, weights = np.polynomial.legendre.leggauss(20)

    def over_the_square(text, **unknowns):
        values = Polynomials(**unknowns)
        a, b = np.meshgrid((nodes + 1) / 2, (nodes + 1) / 2, indexing="ij")
        values.places = {"x": a.ravel(), "y": b.ravel(), "t": np.zeros(a.size)}
        found = value(text, values) * np.outer(weights, weights).ravel() / 4
        return found, values

    def energy_at(step):
        moved = np.zeros((6, 6, 1))
        moved[:3, :3] = start[unknown]
        moved[: direction.shape[0], : direction.shape[1]] += step * direction
        return over_the_square(energy, **{**start, unknown: moved})[0].sum()

    slope = slope_of(energy_at)
    found, values = over_the_square(f"variation({energy}, {unknown})", **start)
    along = P.polyval3d(*values.places.values(), direction)
    assert abs(slope) > 1e-4
    np.testing.assert_allclose((found * along).sum(), slope, rtol=1e-7)


BEAM = Scope(("u", "v"), ("x", "t"), ("x",), {"c": 1.7}, columns=("normal_x",))


@pytest.mark.parametrize(("energy", "shear", "moment"), [
    ("c/2*u_xx**2 - x*u", "-c*dn(u_xx)", "c*u_xx"),
    ("exp(x)/2*laplacian(u)**2 + u_x**2", "normal_x*(2*u_x - diff(exp(x)*u_xx, x))", "exp(x)*u_xx"),
    # a beam of Rayleigh's: its inertia of rotation is in the shear force
    ("u_t**2/2 + u_xt**2/2 - c/2*u_xx**2", "normal_x*(c*u_xxx - u_xtt)", "-c*u_xx"),
])  # fmt: skip
def test_a_free_end_of_a_beam_has_two(energy, shear, moment):
    values = Polynomials("x", u=drawn(), v=drawn())
    for found, expected in ((f"natural({energy}, u)", shear), (f"natural({energy}, u, 1)", moment)):
        one, other = (
            evaluate_resolved(BEAM.resolve(text), values, NUMPY_FUNCTIONS)
            for text in (found, expected)
        )
        # the moment has the square of the normal, which is 1 at an end
        square = values.normal[0] ** 2 if found.endswith("1)") else 1.0
        np.testing.assert_allclose(one / square, other, rtol=1e-11)


@pytest.mark.parametrize("energy", [
    "exp(u_xx)*cos(u) + u_x*u_xx**2", "u_xxx**2*(1 + u) + u_xx*u_x - u", "u_x**3 + x*u**2",
])  # fmt: skip
def test_what_an_integral_changes_by_is_inside_and_at_its_ends(energy):
    """Where neither u nor its slopes are held: each natural condition with its own slope."""
    start, direction = (RNG.standard_normal((6, 1, 1)) / 3 for _ in range(2))
    nodes, weights = np.polynomial.legendre.leggauss(30)
    inside, ends = (nodes + 1) / 2, np.array([0.0, 1.0])

    def at(places, text, moved):
        values = Polynomials(u=moved)
        values.places = {"x": places, "y": 0 * places, "t": 0 * places}
        values.normal = (2 * places - 1, None)
        return evaluate_resolved(BEAM.resolve(text), values, NUMPY_FUNCTIONS) + 0 * places

    def integral(step):
        return at(inside, energy, start + step * direction) @ weights / 2

    along = at(inside, "u", direction) * at(inside, f"variation({energy}, u)", start)
    found = along @ weights / 2
    normals = [at(ends, text, direction) for text in ("u", "dn(u)", "dn(dn(u))")]
    orders = 3 if "u_xxx" in energy else 2 if "u_xx" in energy else 1
    for number, moved in zip(range(orders), normals, strict=False):
        found += at(ends, f"natural({energy}, u, {number})", start) @ moved
    np.testing.assert_allclose(found, slope_of(integral), rtol=1e-8)


def test_several_unknowns_give_a_vector():
    energy = "0.5*(u_x + v_y)**2"
    both = SCOPE.resolve_any(f"variation({energy}, vec(u, v))")
    assert isinstance(both, Vector) and len(both) == 2
    values = Polynomials(u=drawn(), v=drawn())
    second = evaluate_resolved(both[1], values, NUMPY_FUNCTIONS)
    np.testing.assert_allclose(second, value(f"variation({energy}, v)", values), rtol=1e-14)


@pytest.mark.parametrize(("text", "said"), [
    ("variation(v**2, u)", "does not depend on 'u'"),
    ("variation(u**2, u_x)", "one of the unknowns u, v; got u_x"),
    ("variation(u**2, x)", "one of the unknowns u, v; got x"),
    ("variation(grad(u), u)", "takes a scalar here"),
    ("variation(u*at(u, x=0), u)", "asked for elsewhere, in at(u, x=0)"),
    ("variation(u*integral(u*s, s, 0, 1), u)", "asked for elsewhere"),
    ("variation(u*u_x, u)", "the variation in u is 0 whatever that is"),
    ("variation(integral(u**2, x, 0, 1), u)", "does not depend on 'u' at a point; give what is"),
    ("variation(u)", "variation takes 2 arguments, got 1"),
    ("natural(u_xx**2, u)", "with u_xx a free boundary has two conditions"),
    ("natural(laplacian(u)**2, u)", "first derivatives"),
    ("natural(u_x**2, u, 1)", "so a free boundary has 1 condition"),
    ("natural(u**2, u)", "so a free boundary has no condition"),
    ("natural(u_x**2, u, x)", "an unknown, and 1, 2, ... for what belongs"),
    ("natural(u_x**2, u, 0.5)", "an unknown, and 1, 2, ... for what belongs"),
])  # fmt: skip
def test_what_has_no_variation_is_refused(text, said):
    with pytest.raises(ExpressionError) as refused:
        SCOPE.resolve(text)
    assert said in str(refused.value)


def test_other_unknowns_may_be_asked_for_elsewhere():
    values = SCOPE.resolve("variation(u*at(v, x=0) + u_x**2, u) - (at(v, x=0) - 2*u_xx)")
    assert evaluate_resolved(values, _Elsewhere(u=drawn(), v=drawn())).max() < 1e-13


class _Elsewhere(Polynomials):
    def at(self, leaf, replacements):
        return 0.25


def test_natural_needs_a_boundary():
    inside = SCOPE.with_columns(())
    with pytest.raises(ExpressionError, match="natural needs the outward normal"):
        inside.resolve("natural(u_x**2, u)")


@pytest.mark.parametrize(("text", "function"), [
    ("u_t + variation(c/2*u_x**2 + cos(u)*v, u)",
     lambda s: s.u_t + s.variation(s.c / 2 * s.u_x**2 + s.cos(s.u) * s.v, "u")),
    ("variation(dot(grad(u), grad(u))/2, u)",
     lambda s: s.variation(s.dot(s.grad(s.u), s.grad(s.u)) / 2, s.u)),
    ("dot(variation(u_x*v_x, vec(u, v)), vec(x, 1))",
     lambda s: s.dot(s.variation("u_x*v_x", ("u", "v")), (s.x, 1))),
    ("natural(u_x**2*v, u)", lambda s: s.natural(s.u_x**2 * s.v, "u")),
])  # fmt: skip
def test_a_function_says_the_same(text, function):
    values = Polynomials(u=drawn(), v=drawn())
    tree = Term("term", function, SCOPE).tree
    found = evaluate_resolved(tree, values, NUMPY_FUNCTIONS)
    np.testing.assert_allclose(found, value(text, values), rtol=1e-13)


NARROWER = Scope(("u", "q"), ("x", "y"), ("x", "y"), {}, inputs={"q": ("x",)})


def test_an_unknown_of_fewer_coordinates_is_refused_where_an_integral_has_to_be_zero():
    for energy in ("q**2/2 - q*u", "q_x**2/2 + y*q"):
        with pytest.raises(ExpressionError, match="q depends on x alone, and . on more"):
            NARROWER.resolve(f"variation({energy}, q)")
    NARROWER.resolve("variation(q_x**2/2 + x*q + u, q)")  # of u nothing is left
    NARROWER.resolve("variation(q*dot(grad(u), grad(u)), u)")


def test_what_else_a_function_has_computed_is_told_of():
    computed = Call("variation", (Supplied(0, 0), Name("u")))
    with pytest.raises(ExpressionError, match=r"\(s.sin for autograd.sin\)"):
        SCOPE.resolve(computed)
