"""Names and operators of an equation: against mpmath's derivatives of closed forms."""

import pickle
import re

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pinn.equations.calculus import MAX_EXPANSION
from pinn.equations.leaves import (
    Constant,
    Coordinate,
    Derivative,
    Laplacian,
    ParameterRef,
    derivatives_in,
)
from pinn.equations.names import check_names, parse_name
from pinn.equations.resolve import evaluate_resolved
from pinn.equations.scope import Scope
from pinn.expressions import Binary, Call, ExpressionError, Name, Number, nodes, parse

CONSTANTS = {"nu": 0.3}
PARAMETERS = {"k": 1.7}


def resolved(text, **changes):
    problem = dict(
        unknowns=("u", "v"),
        coordinates=("x", "y", "t"),
        space=("x", "y"),
        constants=CONSTANTS,
        parameters=tuple(PARAMETERS),
    )
    return Scope(**{**problem, **changes}).resolve(text)


def leaf_names(tree):
    return [str(leaf) for leaf in derivatives_in(tree)]


# ------------------------------------------------------------------- closed forms, and their values

MP = {
    **{name: getattr(mpmath, name) for name in ("sin", "cos", "tan", "exp", "log", "sqrt")},
    **{name: getattr(mpmath, name) for name in ("tanh", "sinh", "cosh", "sech", "asin", "acos")},
    **{name: getattr(mpmath, name) for name in ("atan", "atan2", "hypot", "erf", "sign", "floor")},
    "abs": abs,
    "min": min,
    "max": max,
    "where": lambda condition, yes, no: yes if condition else no,
}


def plane_wave(rates, phase):
    """sin of a linear form plus an exponential of it: every derivative in closed form."""

    def value(point, orders=(0, 0, 0)):
        form = phase + sum(r * p for r, p in zip(rates, point, strict=True))
        factor = mpmath.mpf(1)
        for rate, order in zip(rates, orders, strict=True):
            factor *= mpmath.mpf(rate) ** order
        total = sum(orders)
        return factor * (mpmath.sin(form + total * mpmath.pi / 2) + mpmath.exp(form) / 2)

    return value


FIELDS = {
    "u": plane_wave((1.3, -0.7, 0.4), 0.2),
    "v": plane_wave((-0.5, 0.9, -1.1), 0.6),
}


def exact_values(tree, point):
    """Give every leaf of a resolved tree its value at a point."""
    order_of = {"x": 0, "y": 1, "t": 2}
    values = {}
    for leaf in nodes(tree):
        if isinstance(leaf, Derivative):
            orders = [0, 0, 0]
            for name in leaf.coordinates:
                orders[order_of[name]] += 1
            values[leaf] = FIELDS[leaf.unknown](point, orders)
        elif isinstance(leaf, Laplacian):
            values[leaf] = sum(
                mpmath.binomial(leaf.times, i)
                * FIELDS[leaf.unknown](point, (2 * i, 2 * (leaf.times - i), 0))
                for i in range(leaf.times + 1)
            )
        elif isinstance(leaf, Coordinate):
            values[leaf] = point[order_of[leaf.name]]
        elif isinstance(leaf, Constant):
            values[leaf] = mpmath.mpf(CONSTANTS[leaf.name])
        elif isinstance(leaf, ParameterRef):
            values[leaf] = mpmath.mpf(PARAMETERS[leaf.name])
    return values


def value_at(tree, point):
    return mpmath.mpf(evaluate_resolved(tree, exact_values(tree, point), MP))


def numeric_derivative(text, point, orders):
    """Differentiate the undifferentiated expression by mpmath's high-precision differences."""
    tree = resolved(text)
    return mpmath.diff(lambda *p: value_at(tree, p), point, orders)


def assert_close(got, expected, tolerance=1e-11):
    assert abs(got - expected) <= tolerance * max(1, abs(expected))


POINT = (mpmath.mpf("0.37"), mpmath.mpf("-0.81"), mpmath.mpf("0.55"))


@pytest.fixture(autouse=True)
def many_digits():
    with mpmath.workdps(40):
        yield


# ------------------------------------------------------------------------------------------- names


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("u", Derivative("u")),
        ("u_x", Derivative("u", ("x",))),
        ("u_tx", Derivative("u", ("x", "t"))),
        ("u_xtx", Derivative("u", ("x", "x", "t"))),
        ("c_1", Derivative("c_1")),
        ("c_1_t", Derivative("c_1", ("t",))),
        ("u_xz", None),
        ("u_", None),
        ("w_x", None),
        ("u_x1", None),
        ("nu", None),
        ("u_" + "x" * 17, None),
    ],
)
def test_parse_name_reads_suffixes_in_domain_order(name, expected):
    assert parse_name(name, ["u", "c_1"], {"x": 0, "x1": 1, "t": 2}) == expected


def test_resolve_gives_typed_leaves():
    tree = resolved("u_t + k*u*u_tx - nu*pi*x")
    leaves = [node for node in nodes(tree) if not node.children]
    assert leaves[:4] == [
        Derivative("u", ("t",)),
        ParameterRef("k"),
        Derivative("u"),
        Derivative("u", ("x", "t")),
    ]
    assert leaves[4:] == [Constant("nu"), Number(np.pi), Coordinate("x")]
    assert not any(isinstance(node, Name) for node in nodes(tree))


def test_derivatives_are_listed_once_in_order_of_appearance():
    tree = resolved("u_t + u*u_x - nu*u_xx + laplacian(v) + u_x")
    assert leaf_names(tree) == ["u_t", "u", "u_x", "u_xx", "laplacian(v)"]
    assert derivatives_in(resolved("x + nu")) == ()


def test_equal_leaves_are_one_key_wherever_they_stand():
    a, b = derivatives_in(resolved("u_xx + diff(u, x, 2)")), Derivative("u", ["x", "x"])
    assert a == (b,) and hash(a[0]) == hash(b) and b.order == 2
    assert Derivative("u") != Coordinate("u") and Laplacian("u") != Laplacian("u", 2)
    assert pickle.loads(pickle.dumps(resolved("u_xx + k"))) == resolved("u_xx + k")


def test_longer_coordinate_names_are_read_by_diff():
    names = dict(coordinates=["x1", "x2", "t"], space=["x1", "x2"], unknowns=["u"])
    tree = resolved("diff(u, t, x1, 2) + u_t + laplacian(u)", **names)
    assert derivatives_in(tree) == (
        Derivative("u", ("x1", "x1", "t")),
        Derivative("u", ("t",)),
        Laplacian("u"),
    )
    assert str(tree) == "diff(u, x1, 2, t) + u_t + laplacian(u)"
    assert resolved(str(tree), **names) == tree
    for name, written in {
        "u_x1": "diff(u, x1)",
        "u_x1x1": "diff(u, x1, 2)",
        "u_x1_x1": "diff(u, x1, 2)",
        "u_tx2_x1t": "diff(u, x1, x2, t, 2)",
    }.items():
        with pytest.raises(ExpressionError, match=re.escape(f"are written {written}")):
            resolved(name, **names)
    with pytest.raises(ExpressionError, match="'x' is not a coordinate"):
        resolved("u_x3", **names)


@pytest.mark.parametrize(
    ("name", "written"), [("u_x_x", "u_xx"), ("u_t_xx", "u_txx"), ("u_x_t_x", "u_xtx")]
)
def test_one_letter_coordinates_follow_one_underscore(name, written):
    with pytest.raises(ExpressionError, match=f"has one underscore; write {written}\n") as caught:
        resolved(f"1 + {name}", coordinates=["x", "t"], space=["x"], unknowns=["u"])
    assert caught.value.position == 4
    resolved(written, coordinates=["x", "t"], space=["x"], unknowns=["u"])


# --------------------------------------------------------------------------------------- operators


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("diff(u, x)", "u_x"),
        ("diff(u_t, x, 2)", "u_xxt"),
        ("diff(diff(u, t), x)", "u_xt"),
        ("diff(2*u, x)", "2*u_x"),
        ("diff(x*u, x)", "u + x*u_x"),
        ("diff(u**2, x)", "2*u*u_x"),
        ("diff(u**1, x)", "u_x"),
        ("diff(u + x, x)", "u_x + 1"),
        ("diff(nu*t + k, x)", "0"),
        ("diff(x**2, x, 2)", "2"),
        ("diff(sin(u), x)", "cos(u)*u_x"),
        ("laplacian(u)", "laplacian(u)"),
        ("laplacian(laplacian(u))", "laplacian(laplacian(u))"),
        ("div(grad(u))", "laplacian(u)"),
        ("div(nu*grad(u))", "nu*u_xx + nu*u_yy"),
        ("dot(vec(u, v), grad(u))", "u*u_x + v*u_y"),
        ("div(vec(u, v))", "u_x + v_y"),
        ("laplacian(u_t)", "u_xxt + u_yyt"),
        ("diff(laplacian(laplacian(u)), t)", "u_xxxxt + 2*u_xxyyt + u_yyyyt"),
        ("dot(grad(u), vec(1, 0))", "u_x"),
    ],
)
def test_operators_expand_to_simple_text(text, expected):
    assert str(resolved(text)) == expected


def test_laplacian_runs_over_space_only_and_stays_whole_in_one_dimension():
    names = dict(coordinates=["x", "t"], space=["x"])
    assert leaf_names(resolved("laplacian(u)", **names)) == ["laplacian(u)"]
    assert str(resolved("laplacian(u*x)", **names)) == "u_xx*x + u_x + u_x"
    assert str(resolved("dot(vec(u), grad(v))", **names)) == "u*v_x"


@pytest.mark.parametrize(
    ("text", "orders"),
    [
        (text, orders)
        for text in (
            "u*v*x", "u/v", "x/(2 + u**2)", "(2 + u**2)**v", "(3 + x)**1.5", "x**-2", "2**u",
            "(1 + u**2)**(1/2)", "(5 + u)**nu", "sin(u*x)", "cos(u*x)", "tan(u/3)", "exp(-u*v)",
            "log(3 + u)", "sqrt(3 + u*v)", "tanh(u*x)", "sinh(u)", "cosh(u*x)", "abs(u - 9)",
            "abs(u)", "min(u, v)", "max(u, v)", "min(x*u, 1)", "where(x < y, u, u*v)",
            "where(x > y, u, u*v)", "-u*(+v)", "k*u_x*u_xy + nu*laplacian(v)", "sech(u*x)",
            "asin(u/9)", "acos(u*v/9)", "atan(u*x)", "erf(u)", "atan2(u, v)", "atan2(x, u*v)",
            "hypot(u, x*v)", "u*sign(x - 3)", "u*floor(9*x)",
        )
        for orders in ((1, 0, 0), (2, 1, 0), (0, 1, 1))
    ],
)  # fmt: skip
def test_symbolic_derivatives_agree_with_high_precision_differences(text, orders):
    counts = [f"{c}, {n}" for c, n in zip("xyt", orders, strict=True) if n]
    tree = resolved(f"diff({text}, {', '.join(counts)})")
    assert_close(value_at(tree, POINT), numeric_derivative(text, POINT, orders))


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("laplacian(u*v)", [("u*v", (2, 0, 0)), ("u*v", (0, 2, 0))]),
        ("laplacian(sin(u))", [("sin(u)", (2, 0, 0)), ("sin(u)", (0, 2, 0))]),
        ("div(vec(u**2, u*v))", [("u**2", (1, 0, 0)), ("u*v", (0, 1, 0))]),
        ("div((1 + u**2)*grad(v))", [("(1 + u**2)*v_x", (1, 0, 0)), ("(1 + u**2)*v_y", (0, 1, 0))]),
        ("div(grad(u)/x - vec(v, 2*v))", [("u_x/x - v", (1, 0, 0)), ("u_y/x - 2*v", (0, 1, 0))]),
        ("div(-grad(u) + grad(u)*x)", [("u_x*(x - 1)", (1, 0, 0)), ("u_y*(x - 1)", (0, 1, 0))]),
        ("laplacian(u*laplacian(v))",
         [("u*(v_xx + v_yy)", (2, 0, 0)), ("u*(v_xx + v_yy)", (0, 2, 0))]),
        ("dot(grad(u*v), vec(1, 1))", [("u*v", (1, 0, 0)), ("u*v", (0, 1, 0))]),
    ],
)  # fmt: skip
def test_vector_operators_agree_with_high_precision_differences(text, parts):
    expected = sum(numeric_derivative(part, POINT, orders) for part, orders in parts)
    assert_close(value_at(resolved(text), POINT), expected)


def smooth_texts():
    """Texts without poles or overflow near the point, so that differences are a fair judge."""
    leaves = st.sampled_from(["x", "t", "u", "v", "u_x", "nu", "k", "0.5", "2", "pi"])

    def grow(inner):
        wrapped = [
            "sin({})", "cos({})", "tanh({})", "exp(tanh({}))", "log(2 + ({})**2)", "-({})",
            "sqrt(1 + ({})**2)", "sinh(sin({}))", "cosh(tanh({}))", "tan(tanh({})/2)", "abs({})",
            "(2 + sin({}))**-1.5",
        ]  # fmt: skip
        paired = [
            "({}) + ({})", "({}) - ({})", "({})*({})", "({})/(3 + sin({}))", "max({}, {})",
            "min({}, {})", "(2 + cos({}))**sin({})", "where(x < 0, {}, {})", "where(t > 0, {}, {})",
        ]  # fmt: skip
        return st.one_of(
            st.builds(str.format, st.sampled_from(wrapped), inner),
            st.builds(str.format, st.sampled_from(paired), inner, inner),
        )

    return st.recursive(leaves, grow, max_leaves=8)


@settings(max_examples=80, derandomize=True, deadline=None)
@given(smooth_texts(), st.sampled_from(["x", "t"]))
def test_derivative_of_random_expressions_agrees_with_high_precision_differences(text, name):
    with mpmath.workdps(40):
        orders = (1, 0, 0) if name == "x" else (0, 0, 1)
        tree = resolved(f"diff({text}, {name})")
        assert_close(value_at(tree, POINT), numeric_derivative(text, POINT, orders), 1e-10)
        assert resolved(str(tree)) == tree


def test_abs_has_slope_zero_at_its_kink_and_ties_follow_the_first():
    values = {Coordinate("x"): np.array([-2.0, 0.0, 2.0])}
    slope = evaluate_resolved(resolved("diff(abs(x), x)"), values, {"where": np.where})
    np.testing.assert_array_equal(slope, [-1.0, 0.0, 1.0])
    first = evaluate_resolved(resolved("diff(max(x, 3*x), x)"), values, {"where": np.where})
    np.testing.assert_array_equal(first, [1.0, 1.0, 3.0])


def test_burgers_residual_of_arrays():
    tree = resolved("u_t + u*u_x - nu*u_xx")
    rng = np.random.default_rng(0)
    u_t, u, u_x, u_xx = rng.normal(size=(4, 7))
    values = dict(zip(derivatives_in(tree), (u_t, u, u_x, u_xx), strict=True))
    values[Constant("nu")] = 0.01
    np.testing.assert_array_equal(
        evaluate_resolved(tree, values, {}), u_t + u * u_x - 0.01 * u_xx
    )


# ------------------------------------------------------------------------------------------ errors


@pytest.mark.parametrize(
    ("text", "position", "message"),
    [
        ("u_t + uu", 6, "unknown name 'uu'; did you mean 'u'.*The names here are u, v, x, y, t"),
        ("u_xz + 1", 3, "'z' is not a coordinate; the coordinates are x, y, t"),
        ("1 + nu_x", 4, "'nu' is not an unknown"),
        ("x_t", 0, "'x' is not an unknown"),
        ("w_xx", 0, "unknown name 'w_xx'; the names here are u, v, x"),
        ("x__class__", 0, "unknown name 'x__class__'"),
        ("u_" + "x" * 17, 2, "order 17; orders go up to 16"),
        ("u_" + "x" * 60_000, 2, "order 60000"),
        ("diff(u, z)", 8, "unknown name 'z'"),
        ("diff(u, u)", 8, r"as in diff\(u, x, 2\); got u; the coordinates are x, y, t"),
        ("diff(u, nu)", 8, "got nu"),
        ("diff(u, 2)", 8, "got 2"),
        ("diff(u, x, 1.5)", 11, "whole number from 1 to 16, got 1.5"),
        ("diff(u, x, 0)", 11, "whole number from 1 to 16, got 0"),
        ("diff(u, x, -1)", 11, "got -1"),
        ("diff(u, x, 99)", 11, "whole number from 1 to 16, got 99"),
        ("diff(u, x, 2, 2)", 14, "got 2"),
        ("diff(x**2, x, 9, y, 9)", 0, "order 18"),
        ("diff(u_xx, x, 15)", 0, "order 17"),
        ("grad(u)", 0, "a vector of 2 components, but a scalar belongs here"),
        ("grad(u)*grad(v)", 7, r"use dot\(a, b\)"),
        ("1 + grad(u)", 2, "'\\+' has no meaning between a scalar and a vector of 2"),
        ("1/grad(u)", 1, "'/' has no meaning"),
        ("dot(u, v)", 4, "dot takes a vector here"),
        ("dot(grad(u), vec(u))", 0, "equal length, got 2 and 1"),
        ("div(u)", 4, "div takes a vector here"),
        ("div(vec(u))", 4, "one component for each of x, y; this one has 1"),
        ("sin(grad(u))", 0, "sin takes scalars"),
        ("grad(grad(u))", 5, "takes a scalar here"),
        ("grad(grad(u))", 5, "takes a scalar here"),
        ("vec(grad(u), u)", 4, "takes a scalar here"),
        ("dn(grad(u))", 3, "takes a scalar here"),
        ("where(grad(u) < 1, 1, 2)", 14, "has no meaning"),
        ("laplacian(" * 9 + "u" + ")" * 9, 0, "order 18"),
    ],
)
def test_meaningless_equation_is_refused_at_the_place(text, position, message, calls_made):
    def refused():
        with pytest.raises(ExpressionError, match=message) as caught:
            resolved(text)
        return caught

    caught = refused()
    assert calls_made(refused) < 10_000
    assert caught.value.position == position and caught.value.text == text
    assert str(caught.value).endswith("^")


def test_without_space_coordinates_there_is_no_laplacian():
    with pytest.raises(ExpressionError, match="laplacian needs a space coordinate"):
        resolved("laplacian(u)", coordinates=["t"], space=[])


@pytest.mark.parametrize("operand", ["exp(u*v)", "u*v**x"])
def test_expansion_beyond_reason_is_refused_after_bounded_work(operand, calls_made, monkeypatch):
    assert MAX_EXPANSION == 40_000
    monkeypatch.setattr("pinn.equations.calculus.MAX_EXPANSION", 2_000)

    def refused():
        with pytest.raises(ExpressionError, match="laplacian expands to too many terms"):
            resolved("laplacian(" * 8 + operand + ")" * 8)

    assert calls_made(refused) < 200 * 2_000


def test_powers_of_a_laplacian_in_many_dimensions_are_whole_or_refused_at_once(calls_made):
    space = [f"x{i}" for i in range(100)]
    names = dict(coordinates=space, space=space)

    def power(order):
        return "laplacian(" * order + "u" + ")" * order

    assert derivatives_in(resolved(power(3), **names)) == (Laplacian("u", 3),)

    def refused():
        with pytest.raises(ExpressionError, match="diff expands to too many terms"):
            resolved(f"diff({power(7)}, x1)", **names)

    assert calls_made(refused) < 10_000
    with pytest.raises(ExpressionError, match="the chain rule .* has more than 5000 terms"):
        resolved(power(7), **names)


def test_long_sums_resolve_and_differentiate():
    terms = 2000
    total = "+".join(f"{i}*u*u" for i in range(terms))
    tree = resolved(f"diff({total}, x)")
    assert set(leaf_names(tree)) == {"u_x", "u"}
    got = evaluate_resolved(tree, {Derivative("u"): 2.0, Derivative("u", ("x",)): 3.0})
    assert got == sum(range(terms)) * 2 * 2.0 * 3.0
    product = resolved("diff(" + "*".join(["u"] * 2000) + ", x)")
    assert evaluate_resolved(product, {Derivative("u"): 1.0, Derivative("u", ("x",)): 3.0}) == 6000


def test_missing_value_is_named():
    values = {Derivative("u"): 1.0, Derivative("u", ("x",)): 2.0}
    with pytest.raises(ExpressionError, match="no value was given for u_xx; did you mean 'u_x'"):
        evaluate_resolved(resolved("u + u_xx"), values)


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (dict(unknowns=["pi"]), "word of the expression language"),
        (dict(unknowns=["diff"]), "word of the expression language"),
        (dict(constants=["x"]), "'x' is declared as a coordinate and again as a constant"),
        (dict(unknowns=["u", "u"]), "declared as an unknown and again"),
        (dict(constants=["u_x"]), "reads as a derivative of the unknown 'u'"),
        (dict(unknowns=["u", "u_t"]), "'u_t' cannot name an unknown: it reads as"),
        (dict(parameters=["2k"]), "the name of a parameter is a letter followed by"),
        (dict(coordinates=["x", "_t"]), "got '_t'"),
        (dict(unknowns=[3]), "got 3"),
    ],
)
def test_unusable_names_are_refused(names, message):
    with pytest.raises(ValueError, match=message):
        check_names(**{**dict(unknowns=["u"], coordinates=["x", "t"]), **names})


def test_resolve_takes_text_or_tree_and_leaves_the_rest_alone():
    tree = resolved(parse("u_x*exp(-x)"))
    assert tree == resolved("u_x*exp(-x)")
    assert isinstance(tree, Binary) and isinstance(tree.right, Call)


# ------------------------------------------------------------------------------------- vectors


FLOW = dict(unknowns=("u", "v", "w", "p"), coordinates=("x", "y", "z", "t"), space=("x", "y", "z"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("curl(vec(u, v))", "v_x - u_y"),
        ("dot(curl(u), vec(3, 5))", "3*u_y - 5*u_x"),
        ("div(curl(u))", "0*u"),
        ("curl(grad(u*v))", "0*u"),
        ("div(k*grad(u))", "k*laplacian(u)"),
        ("div(x*u*grad(v))", "x*u*laplacian(v) + (u + x*u_x)*v_x + x*u_y*v_y"),
        ("dot(laplacian(vec(u, v)), vec(1, x))", "laplacian(u) + x*laplacian(v)"),
        ("dot(diff(u*vec(v, t), x, t), vec(1, 2))", "diff(u*v, x, t) + 2*diff(u*t, x, t)"),
        ("abs2(u, v, 2)", "u*u + v*v + 4"),
        ("abs2(grad(u))", "u_x**2 + u_y**2"),
        ("abs2(vec(u, v))*u", "u**3 + v**2*u"),
        ("dot(vec(u, v), grad(u)) + curl(vec(v, u))", "u*u_x + v*u_y + u_x - v_y"),
    ],
)
def test_vectors_in_two_dimensions(text, expected):
    assert_close(value_at(resolved(text), POINT), value_at(resolved(expected), POINT))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("dot(curl(vec(u, v, w)), vec(1, 2, 3))", "w_y - v_z + 2*(u_z - w_x) + 3*(v_x - u_y)"),
        ("div(curl(vec(u, v*w, w)))", "0"),
        ("dot(curl(grad(u*v)), vec(1, 2, 3))", "0"),
        (
            "dot(curl(curl(vec(u, v, w))), vec(1, 2, 3))",
            "dot(grad(div(vec(u, v, w))) - laplacian(vec(u, v, w)), vec(1, 2, 3))",
        ),
    ],
)
def test_vectors_in_three_dimensions(text, expected):
    """As polynomials in the leaves: at random numbers for them."""
    rng = np.random.default_rng(0)
    trees = [Scope(**FLOW, constants={}).resolve(one) for one in (text, expected)]
    leaves = {leaf: rng.standard_normal() for tree in trees for leaf in derivatives_in(tree)}
    for leaf in leaves:
        if isinstance(leaf, Laplacian):
            parts = [Derivative(leaf.unknown, (x, x)) for x in "xyz"]
            leaves[leaf] = sum(leaves.setdefault(part, 0.5) for part in parts)
    got, wanted = (float(evaluate_resolved(tree, leaves)) for tree in trees)
    assert_close(got, wanted, 1e-13)


@pytest.mark.parametrize(
    ("text", "position", "message"),
    [
        ("where(u, 1, 2)", 6, "the first argument of where is a comparison"),
        ("u + where(x < 0 and nu, 1, 2)", 20, "what 'and' joins is a comparison"),
        ("grad(u) < 2", 8, "a comparison is no number"),
        ("where(grad(u) < 2, 1, 2)", 14, "'<' has no meaning between a vector"),
    ],
)
def test_a_number_is_no_condition(text, position, message):
    with pytest.raises(ExpressionError, match=message) as caught:
        resolved(text)
    assert caught.value.position == position


@pytest.mark.parametrize(
    ("text", "changes", "message"),
    [
        ("curl(vec(u, v, u))", {}, "a vector of 3 in x, y"),
        ("curl(u)", {"space": ("x",)}, "a scalar in x"),
        ("curl(u)", FLOW, "got a scalar in x, y, z"),
        ("curl(vec(u, v))", FLOW, "got a vector of 2 in x, y, z"),
        ("curl(u)", {"space": ()}, "a scalar in none"),
    ],
)
def test_a_curl_that_is_none_is_refused(text, changes, message):
    with pytest.raises(ExpressionError, match=message):
        resolved(text, **changes)
