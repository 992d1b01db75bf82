"""Hard conditions: they hold for any network, agree with each other, and can be differentiated."""

import itertools
import math

import numpy as np
import pytest

import autograd as T
import pinn
import pinn.config
from autograd.jets import choose_channels, sweep
from pinn.conditions.hard import HardModel
from pinn.conditions.hard.trees import freeze
from pinn.equations.functions import TENSOR_FUNCTIONS
from pinn.equations.jets import JetPlan, JetValues
from pinn.equations.leaves import Coordinate
from pinn.equations.nested import NestedPlan, NestedValues
from pinn.equations.resolve import evaluate_resolved
from pinn.equations.scope import Scope
from pinn.equations.term import Term
from pinn.equations.values import coordinate_columns
from pinn.expressions import FLOAT_FUNCTIONS
from pinn.training.experiment import Experiment

X, Y, TIME = pinn.Interval("x", -1, 1), pinn.Interval("y", 0, 3), pinn.Time("t", 0.5, 2)


def initial(unknown, value, order=0):
    return pinn.Initial(unknown, value, order=order, hard=True)


def dirichlet(unknown, value, on=None):
    return pinn.Dirichlet(unknown, value, on=on, hard=True)


def problem(domain, conditions, unknowns=("u",), **changes):
    equations = {f"eq_{u}": f"{u} - diff({u}, {domain.coordinates[0]})" for u in unknowns}
    return pinn.Problem(domain, unknowns, equations, conditions, **changes)


def random_model(case, seed=0, size=2.0):
    """A network inside the ansatz, with all its numbers random: its outputs are far from zero."""
    rng = np.random.default_rng(seed)
    network = pinn.MLP(width=7, depth=2).build(case.domain, case.unknowns, rng, T.float64)
    with T.no_grad():
        for parameter in network.parameters():
            noise = rng.uniform(-size, size, tuple(parameter.shape))
            parameter.copy_(T.tensor(noise, dtype=T.float64))
    return HardModel(network, case.ansatz)


def face_points(domain, coordinate, value, n=40, seed=1):
    """Random points of a face, and all its corners."""
    rng = np.random.default_rng(seed)
    low, high = np.array(list(domain.bounds.values())).T
    corners = np.array(list(itertools.product(*zip(low, high, strict=True))))
    points = np.concatenate([low + (high - low) * rng.random((n, len(low))), corners])
    points[:, domain.coordinates.index(coordinate)] = value
    return points


def values_at(model, points):
    with T.no_grad():
        return model(T.tensor(points, dtype=T.float64)).numpy()


def field_of(case, model, points, leaves, kind):
    columns = coordinate_columns(points, T.float64, "cpu")
    plan = (JetPlan if kind is JetValues else NestedPlan)(leaves, case.scope)
    return kind(model, case.scope, columns, {}, plan)


def derivatives_at(case, model, points, text, kind=NestedValues):
    term = Term("test", text, case.scope)
    field = field_of(case, model, points, term.leaves, kind)
    value = term.evaluate(field, TENSOR_FUNCTIONS)
    return value.detach().numpy()


# Name -> (domain, conditions, {(coordinate, value): exact values on that face}).
CASES = {
    "burgers": (
        X * TIME,
        [initial("u", "-sin(pi*x)"), dirichlet("u", 0)],
        {
            ("t", 0.5): lambda x, t: -np.sin(np.pi * x),
            ("x", -1): lambda x, t: 0 * x,
            ("x", 1): lambda x, t: 0 * x,
        },
    ),
    "moving ends": (
        TIME * X,
        [
            initial("u", "1 + x**3"),
            dirichlet("u", "c*(t - t0)", on="x=-1"),
            dirichlet("u", "2*exp(t0 - t)", on="x=1"),
        ],
        {
            ("t", 0.5): lambda t, x: 1 + x**3,
            ("x", -1): lambda t, x: 3 * (t - 0.5),
            ("x", 1): lambda t, x: 2 * np.exp(0.5 - t),
        },
    ),
    "one face": (
        X * Y * TIME,
        [dirichlet("u", "t*cos(x)", on="y=3")],
        {("y", 3): lambda x, y, t: t * np.cos(x)},
    ),
    "a face and the start": (
        Y * TIME,
        [initial("u", "cosh(y)"), dirichlet("u", "1 + sin(t - t0)", on="y=0")],
        {
            ("t", 0.5): lambda y, t: np.cosh(y),
            ("y", 0): lambda y, t: 1 + np.sin(t - 0.5),
        },
    ),
    "a box": (
        X * Y,
        [dirichlet("u", "exp(x)*sin(y) + x*y")],
        {
            (name, value): lambda x, y: np.exp(x) * np.sin(y) + x * y
            for name, value in (("x", -1), ("x", 1), ("y", 0), ("y", 3))
        },
    ),
    "a box, functions": (
        X * Y,
        [
            dirichlet("u", lambda s: s.exp(s.x) * s.sin(s.y), on="x=-1"),
            dirichlet("u", lambda s: (s.exp(s.x) * s.sin(s.y)).reshape(-1, 1), on="x=1"),
            dirichlet("u", lambda s: 0.0, on="y=0"),
            dirichlet("u", "exp(x)*sin(3)", on="y=3"),
        ],
        {
            (name, value): lambda x, y: np.exp(x) * np.sin(y)
            for name, value in (("x", -1), ("x", 1), ("y", 0), ("y", 3))
        },
    ),
    "a box in time": (
        X * Y * TIME,
        [initial("u", "sin(x)*cos(y)"), dirichlet("u", "exp(t0 - t)*sin(x)*cos(y)")],
        {
            (name, value): lambda x, y, t: np.exp(0.5 - t) * np.sin(x) * np.cos(y)
            for name, value in (("x", -1), ("x", 1), ("y", 0), ("y", 3), ("t", 0.5))
        },
    ),
    "a wave": (
        X * TIME,
        [
            initial("u", "sin(pi*x) + 0.5*sin(5*pi*x)"),
            initial("u", "x + c*(1 - x**2)", order=1),
            dirichlet("u", "x*sin(t - t0)"),
        ],
        {
            ("t", 0.5): lambda x, t: np.sin(np.pi * x) + 0.5 * np.sin(5 * np.pi * x),
            ("x", -1): lambda x, t: -np.sin(t - 0.5),
            ("x", 1): lambda x, t: np.sin(t - 0.5),
        },
    ),
    "a membrane, functions": (
        X * Y * TIME,
        [
            initial("u", lambda s: s.x * s.y),
            initial("u", lambda s: s.y, order=1),
            dirichlet("u", lambda s: s.x * s.y + s.y * s.sin(s.t - s.t0)),
        ],
        {
            (name, value): lambda x, y, t: x * y + y * np.sin(t - 0.5)
            for name, value in (("x", -1), ("x", 1), ("y", 0), ("y", 3), ("t", 0.5))
        },
    ),
    "an ordinary equation": (
        TIME,
        [initial("u", "c/2"), initial("u", -4, order=1)],
        {("t", 0.5): lambda t: 1.5 + 0 * t},
    ),
}  # fmt: skip
RATES = {
    "a wave": lambda x, t: x + 3 * (1 - x**2),
    "a membrane, functions": lambda x, y, t: y,
    "an ordinary equation": lambda t: -4 + 0 * t,
}


def case_of(name):
    domain, conditions, _ = CASES[name]
    return problem(domain, conditions, constants={"c": 3, "t0": 0.5})


@pytest.mark.parametrize("name", CASES)
def test_conditions_hold_for_any_network_on_faces_and_in_corners(name):
    case = case_of(name)
    for seed in range(3):
        model = random_model(case, seed)
        for (coordinate, value), exact in CASES[name][2].items():
            points = face_points(case.domain, coordinate, value, seed=seed)
            expected = exact(*points.T)
            np.testing.assert_allclose(values_at(model, points)[:, 0], expected, rtol=0, atol=1e-14)


@pytest.mark.parametrize("name", CASES)
def test_inside_the_network_is_free(name):
    case = case_of(name)
    rng = np.random.default_rng(3)
    low, high = np.array(list(case.domain.bounds.values())).T
    points = low + (high - low) * rng.uniform(0.1, 0.9, (50, len(low)))
    one, other = (values_at(random_model(case, seed), points) for seed in (0, 1))
    assert np.abs(one - other).min() > 1e-6
    # B is at most about 1: networks that differ by less than 100 give unknowns that do, too.
    assert np.abs(one - other).max() < 100


@pytest.mark.parametrize("kind", [NestedValues, JetValues])
@pytest.mark.parametrize("name", RATES)
def test_the_rate_of_change_at_the_start_holds_for_any_network(name, kind):
    case = case_of(name)
    for seed in range(3):
        points = face_points(case.domain, "t", 0.5, seed=seed)
        rates = derivatives_at(case, random_model(case, seed), points, "u_t", kind)
        np.testing.assert_allclose(rates, RATES[name](*points.T), rtol=0, atol=1e-14)


@pytest.mark.parametrize("kind", [NestedValues, JetValues])
def test_derivatives_of_the_formula_equal_the_closed_form(kind):
    """u = -sin(pi x) + t (1 - x^2) sin(x + 2 t), differentiated by hand."""

    class Known(T.nn.Module):
        def forward(self, p):
            return T.sin(p[:, 0:1] + 2 * p[:, 1:2])

    case = problem(X * pinn.Time("t", 0, 1), CASES["burgers"][1])
    points = np.random.default_rng(0).uniform(0, 1, (20, 2))
    x, t = points.T
    s, c, b = np.sin(x + 2 * t), np.cos(x + 2 * t), 1 - x**2
    exact = {
        "u": -np.sin(np.pi * x) + t * b * s,
        "u_x": -np.pi * np.cos(np.pi * x) - 2 * x * t * s + t * b * c,
        "u_t": b * s + 2 * t * b * c,
        "u_xx": np.pi**2 * np.sin(np.pi * x) - t * ((2 + b) * s + 4 * x * c),
        "u_xt": -2 * x * s + b * c - 4 * t * x * c - 2 * t * b * s,
        "u_tt": 4 * b * c - 4 * t * b * s,
    }
    for text, expected in exact.items():
        found = derivatives_at(case, HardModel(Known(), case.ansatz), points, text, kind)
        np.testing.assert_allclose(found, expected, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("name", CASES)
def test_jets_equal_nested_derivatives_and_finite_differences(name):
    case = case_of(name)
    model = random_model(case, size=0.7)
    rng = np.random.default_rng(5)
    low, high = np.array(list(case.domain.bounds.values())).T
    points = low + (high - low) * rng.uniform(0.05, 0.95, (9, len(low)))
    names = case.domain.coordinates
    texts = [f"u_{a}" for a in names] + [f"u_{a}{b}" for a in names for b in names]
    texts += [f"u_{a}{a}{a}{a}" for a in names]
    if case.domain.space:
        texts += ["laplacian(u)", "laplacian(laplacian(u))"]
    for text in texts:
        jets, nested = (
            derivatives_at(case, model, points, text, kind) for kind in (JetValues, NestedValues)
        )
        scale = np.abs(nested).max() + 1
        np.testing.assert_allclose(jets, nested, rtol=0, atol=1e-10 * scale)
    h = 1e-3
    for j, coordinate in enumerate(names):
        step = h * np.eye(len(names))[j]
        far, near, middle, before, ahead = (
            values_at(model, points + k * step)[:, 0] for k in (-2, -1, 0, 1, 2)
        )
        first = (far - 8 * near + 8 * before - ahead) / (12 * h)
        second = (-far + 16 * near - 30 * middle + 16 * before - ahead) / (12 * h * h)
        for text, difference in ((f"u_{coordinate}", first), (f"u_{coordinate * 2}", second)):
            found = derivatives_at(case, model, points, text, JetValues)
            scale = np.abs(found).max() + 1
            np.testing.assert_allclose(found, difference, rtol=0, atol=1e-7 * scale)


def test_points_and_columns_give_the_same():
    case = case_of("a box in time")
    model = random_model(case)
    points = np.random.default_rng(0).uniform(0.5, 1, (6, 3))
    columns = [T.tensor(points[:, j : j + 1]) for j in range(3)]
    (apart,) = model.forward_columns(columns)
    np.testing.assert_array_equal(model(T.tensor(points)).detach().numpy(), apart.detach().numpy())


def test_what_does_not_depend_on_time_has_no_channel_for_it():
    case = case_of("burgers")
    columns = [T.full((4, 1), 0.3, dtype=T.float64) for _ in range(2)]

    class Nothing(T.nn.Module):
        def forward(self, p):
            return T.zeros((4, 1), dtype=T.float64)

    for conditions, expected in (
        ([dirichlet("u", 0)], {(0,), (0, 0)}),  # only (1 - x^2) N is left
        ([initial("u", "-sin(pi*x)"), dirichlet("u", 0)], {(0,), (0, 0), (1,), (0, 1)}),
    ):
        model = HardModel(Nothing(), problem(case.domain, conditions).ansatz)
        channels = choose_channels([(0, 0), (0, 1), (1, 1)])
        (found,) = sweep(lambda *c, model=model: model.forward_columns(c), columns, channels)
        assert set(found) - {()} == expected


def test_several_unknowns_have_formulas_of_their_own():
    conditions = [initial("u", "x"), dirichlet("w", "t", on="x=1"), pinn.Initial("v", 2)]
    case = problem(X * TIME, conditions, ("u", "v", "w"))
    model = random_model(case)
    start = face_points(case.domain, "t", 0.5)
    end = face_points(case.domain, "x", 1)
    np.testing.assert_allclose(values_at(model, start)[:, 0], start[:, 0], rtol=0, atol=1e-15)
    np.testing.assert_allclose(values_at(model, end)[:, 2], end[:, 1], rtol=0, atol=1e-15)
    network = values_at(model.network, end)
    np.testing.assert_array_equal(values_at(model, end)[:, 1], network[:, 1])
    assert [residual.name for residual in case.residuals] == ["eq_u", "eq_v", "eq_w", "initial_v"]
    jets = derivatives_at(case, model, start, "u_xx + v_t*w_x", JetValues)
    nested = derivatives_at(case, model, start, "u_xx + v_t*w_x", NestedValues)
    np.testing.assert_allclose(jets, nested, rtol=1e-12, atol=1e-12)


def test_the_formula_is_short_where_the_data_are_simple():
    def text(domain, *conditions, **changes):
        return str(problem(domain, conditions, **changes).ansatz).replace(repr(np.pi), "pi")

    unit, square = pinn.Time("t", 0, 1), X * pinn.Interval("z", 0, 1)
    walled = f"{4 * math.sqrt(15 / 8)}*(x + 1)*(1 - x)*z*(1 - z)"
    start, walls = initial("u", "-sin(pi*x)"), dirichlet("u", 0)
    assert text(X * unit, start, walls) == "u = -sin(pi*x) + (x + 1)*(1 - x)*t*N"
    assert text(square, dirichlet("u", 7)) == f"u = 7 + {walled}*N"
    waves = initial("u", "sin(pi*x)*sin(pi*z)")
    assert text(square * unit, waves, walls) == (
        f"u = sin(pi*x)*sin(pi*z) + {walled}*t*N"
    )
    long = pinn.Time("t", 0, 40)
    square, faded = "t/8*(t/8)", "(1/(1 + t/8*(t/8)))"
    assert text(long, initial("u", 2), initial("u", "-c", 1), constants={"c": 3}) == (
        f"u = 2 + t*{faded}*-3 + {square}*{faded}*N"
    )
    assert text(X * Y, dirichlet("u", "exp(x)*y")).startswith("u = exp(x)*y + ")
    kinked = text(X * Y, dirichlet("u", "where(x < 1, 0, y)"))
    assert kinked.startswith("u = (x + 1)/2*y + y/3*(where(x < 1, 0, 3) - (x + 1)/2*3) + ")
    assert problem(X * unit, [pinn.Dirichlet("u", 0)]).ansatz is None


@pytest.mark.parametrize(
    "conditions, parts",
    [
        (
            [initial("u", "1 + x"), dirichlet("u", 0)],
            ["'initial_u' and 'dirichlet_u'", "x = 1, t = 0.5", "value 2", "second 0", "soft"],
        ),
        (
            [initial("u", 0), initial("u", "x", order=1), dirichlet("u", 0)],
            ["'initial_u_t' and 'dirichlet_u'", "x = -1, t = 0.5", "rate of change in time -1"],
        ),
        (
            [initial("u", "sin(x)"), dirichlet("u", lambda s: s.t * s.sin(s.x))],
            ["'initial_u' and 'dirichlet_u'", "value -0.841", "-0.42"],
        ),
        (
            [initial("u", 0), initial("u", 0, 1), dirichlet("u", lambda s: s.t - 0.5)],
            ["'initial_u_t' and 'dirichlet_u'", "in time 0, the second 1"],
        ),
        (
            [initial("u", 0), initial("u", 0, 1), dirichlet("u", "sqrt(t - 0.5)")],
            ["in time 0, the second inf"],
        ),
    ],
)  # fmt: skip
def test_conditions_that_disagree_are_refused(conditions, parts):
    with pytest.raises(ValueError, match="make one of them soft") as error:
        problem(X * TIME, conditions)
    for part in parts:
        assert part in str(error.value)


def test_faces_that_disagree_along_an_edge_only_are_refused():
    lid = "where(x < 1, where(x > -1, 1, 0), 0)"
    on_faces = [dirichlet("u", 0, on=f) for f in ("x=-1", "x=1", "y=0")]
    with pytest.raises(ValueError, match=r"'dirichlet_u_x_low' and 'dirichlet_u_y_high'.*x = -1"):
        problem(X * Y, [*on_faces, dirichlet("u", 1, on="y=3")])
    problem(X * Y, [*on_faces, dirichlet("u", lid, on="y=3")])
    with pytest.raises(ValueError, match="y = 3, t = 0.6"):
        problem(
            X * Y * pinn.Time("t", 0, 1.2),
            [dirichlet("u", 0, on="x=1"), dirichlet("u", "(1 - x)*t + t*(1.2 - t)*x", on="y=3")],
        )


def test_rounding_is_no_disagreement():
    problem(X * TIME, [initial("u", "1e6*sin(40*pi*x)"), dirichlet("u", 0)])
    problem(X * TIME, [initial("u", lambda s: 1e6 * s.sin(40 * s.pi * s.x)), dirichlet("u", 0)])
    with pytest.raises(ValueError, match="value 9.99.*e-07, the second 0"):
        problem(X * TIME, [initial("u", "sin(pi*x) + 1e-6"), dirichlet("u", 0)])


class Disc(pinn.geometry.Shape):
    """Some domain that is no box."""

    bounds = {"x": (-1.0, 1.0), "y": (-1.0, 1.0)}
    parts = (pinn.geometry.Part("rim"),)

    def contains(self, points, tolerance=0.0):
        return np.hypot(*points.T) <= 1 + tolerance

    def on_part(self, part, unit):
        points = np.stack([np.cos(2 * np.pi * unit[:, 0]), np.sin(2 * np.pi * unit[:, 0])], axis=1)
        return points, points


@pytest.mark.parametrize(
    "domain, conditions, message",
    [
        (Disc(), [dirichlet("u", 0)], "'dirichlet_u' cannot be hard: a Disc has no formula"),
        (Disc() * TIME, [dirichlet("u", 0)], "'dirichlet_u' cannot be hard: a Disc has no form"),
        (X * TIME, [initial("u", 0, 1)], "'initial_u_t' cannot be hard without a hard initial"),
        (X * TIME, [pinn.Initial("u", 0), initial("u", 0, 1)], "leave out hard here"),
        (X * TIME, [dirichlet("u", 0), dirichlet("u", 0, "x=1")],
         "u is given twice at x=1, where 'dirichlet_u' and"),
        (X * TIME, [initial("u", "k*x")], "depends on the trainable parameter 'k'"),
        (X * TIME, [initial("u", "1/(x + 1)")], "'initial_u', which is hard, is inf at x = -1"),
        (X * TIME, [initial("u", "sqrt(x)")], "is nan at x = -1, t = 0.5; expected a finite"),
        (X * TIME, [initial("u", lambda s: [1])], "expected a number or a tensor .* got list"),
        (X * TIME, [initial("u", lambda s: s.x[:2])], r"tensor of shape \(65,\)"),
        (X, [initial("u", 0)], "needs a time coordinate"),
    ],
)  # fmt: skip
def test_what_cannot_be_hard_is_refused(domain, conditions, message):
    parameters = [pinn.Parameter("k", 1.0)]
    with pytest.raises(ValueError, match=message):
        problem(domain, conditions, parameters=parameters)


def test_other_mistakes_are_refused():
    with pytest.raises(TypeError, match="hard: expected True or False, got 1"):
        pinn.Initial("u", 0, hard=1)
    k = pinn.Parameter("k", 1.0)
    with pytest.raises(ValueError, match="unknown name 'k'"):
        problem(X * TIME, [initial("u", lambda s: s.k * s.x)], parameters=[k])
    with pytest.raises(ValueError, match="hard ones do not count"):
        pinn.Problem(X * TIME, ["u", "v"], {"eq": "u_t"}, [initial("v", 0)])


@pytest.mark.parametrize(
    "text, place, held, value",
    [
        ("sin(pi*x)*cos(y)", {"x": 1}, "0", lambda y: 0),
        ("cos(pi*x/2) + y", {"x": -1}, "y", lambda y: y),
        ("x**2*y + y/x - 0*y", {"x": 1}, "y + y", lambda y: 2 * y),
        ("where(x > 0, 1/x, y)", {"x": 0}, "y", lambda y: y),
        ("where(y > x, x*y, 0*y)", {"x": 0}, "0", lambda y: 0),
        ("-(-y)*(x + 1)**c - -3 - x", {"x": 0}, "y + 3", lambda y: y + 3),
        ("y*x**c", {"x": 2}, None, lambda y: y * 2**1.5),
        ("x*y**3 + y**8 + y**2", {"x": 2}, None, lambda y: 2 * y**3 + y**8 + y**2),
        ("y**1 + y**7 + y**0 + y**16", {}, None, lambda y: y + y**7 + 1 + y**16),
        ("min(x, y) + max(c, x) + abs(-x)", {"x": -2}, None, lambda y: 1.5),
        ("tanh(x)/exp(x) + sqrt(x + 3)*log(4)", {"x": 1}, None,
         lambda y: np.tanh(1) / np.e + 2 * np.log(4)),
        ("sin(1e-9*x)", {"x": 1}, None, lambda y: 1e-9),
        ("y - (x + y)", {"x": 0}, "0", lambda y: 0),
    ],
)  # fmt: skip
def test_a_tree_held_at_a_place_has_its_values_there(text, place, held, value):
    tree = Scope((), ("x", "y"), ("x", "y"), {"c": 1.5}).resolve(text)
    frozen = freeze(tree, place, {"c": 1.5}, lambda given: given)
    if held is not None:
        assert str(frozen) == held
    for y in (-0.7, 0.3, 1.9):
        found = evaluate_resolved(frozen, {Coordinate("y"): y}, FLOAT_FUNCTIONS)
        assert found == pytest.approx(value(y), rel=1e-15, abs=1e-15)


# ---- in training, in files and in configs

BURGERS = pinn.Problem(
    X * pinn.Time("t", 0, 1), ["u"], {"burgers": "u_t + u*u_x - 0.05*u_xx"},
    CASES["burgers"][1], name="burgers",
)  # fmt: skip
HEAT = pinn.Problem(
    pinn.Interval("x", 0, 1) * pinn.Time("t", 0, 1), ["u"], {"heat": "u_t - k*u_xx"},
    [initial("u", "sin(pi*x) + x"), dirichlet("u", "x")], constants={"k": 0.1},
    reference={"u": "exp(-k*pi**2*t)*sin(pi*x) + x"},
)  # fmt: skip
SMALL = {"model": pinn.MLP(width=8, depth=2), "sampling": pinn.Sampling(interior=60)}


def test_hard_conditions_leave_no_blocks_to_train():
    assert [residual.name for residual in BURGERS.residuals] == ["burgers"]
    soft = pinn.Problem(
        BURGERS.domain, ["u"], BURGERS.equations,
        [pinn.Initial("u", "-sin(pi*x)"), dirichlet("u", 0)],
    )  # fmt: skip
    assert [residual.name for residual in soft.residuals] == ["burgers", "initial_u"]
    with pytest.raises(ValueError, match="a block out of burgers, got 'initial_u'"):
        pinn.solve(BURGERS, **SMALL, weighting={"initial_u": 2.0})


@pytest.mark.parametrize("value", ["-sin(pi*x)", lambda s: -s.sin(s.pi * s.x)])
def test_engines_and_kinds_of_derivatives_train_the_same(value):
    case = pinn.Problem(
        BURGERS.domain, ["u"], BURGERS.equations, [initial("u", value), dirichlet("u", 0)]
    )
    found = [
        pinn.solve(case, **SMALL, training=[pinn.Adam(3)], **settings)
        for settings in (
            {"engine": "recorded"},
            {"engine": "recorded", "threads": 1},
            {"engine": "eager"},
            {"derivatives": "nested"},
        )
    ]
    np.testing.assert_array_equal(found[0].theta, found[1].theta)
    for other in found[2:]:
        np.testing.assert_allclose(found[0].theta, other.theta, rtol=1e-10, atol=1e-12)


def test_the_jacobian_of_a_hard_model_equals_finite_differences():
    setup = Experiment(BURGERS, **SMALL)
    objective = setup.objective()
    theta = objective.theta + 0.1 * np.random.default_rng(0).standard_normal(objective.size)
    rows, jacobian = objective.jacobian(theta)
    direction = np.random.default_rng(1).standard_normal(objective.size)
    h = 1e-5
    ahead, behind = (
        objective.jacobian(theta + sign * h * direction)[0] for sign in (1, -1)
    )
    np.testing.assert_allclose(
        jacobian @ direction, (ahead - behind) / (2 * h), rtol=0, atol=1e-6 * np.abs(jacobian).max()
    )
    assert rows.shape == (60,)


@pytest.mark.parametrize("precision, rounding", [("float64", 1e-15), ("float32", 1e-6)])
def test_burgers_starts_exactly_after_any_training(precision, rounding):
    solution = pinn.solve(BURGERS, **SMALL, training=[pinn.Adam(20)], precision=precision)
    x, t = np.linspace(-1, 1, 41), np.linspace(0, 1, 9)
    np.testing.assert_allclose(
        solution.evaluate(x=x, t=0)["u"], -np.sin(np.pi * x), rtol=0, atol=rounding
    )
    for end in (-1, 1):
        np.testing.assert_allclose(solution.evaluate(x=end, t=t)["u"], 0, atol=rounding)
    slope = solution.derivative("u_x", x=x, t=0)
    np.testing.assert_allclose(slope, -np.pi * np.cos(np.pi * x), rtol=0, atol=30 * rounding)
    assert set(solution.report.losses) == {"burgers"}


def test_the_heat_equation_is_solved():
    solution = pinn.solve(HEAT, **SMALL, training=[pinn.LBFGS(300)])
    assert solution.report.rel_l2["u"] < 1e-4


def test_a_saved_solution_has_the_same_bits(tmp_path):
    solution = pinn.solve(HEAT, **SMALL, training=[pinn.Adam(5)])
    solution.save(tmp_path / "heat.npz")
    loaded = pinn.load(tmp_path / "heat.npz")
    assert loaded.problem.conditions == HEAT.conditions
    points = {"x": np.linspace(0, 1, 33), "t": 0.37}
    assert loaded.evaluate(**points)["u"].tobytes() == solution.evaluate(**points)["u"].tobytes()
    for text in ("u_t", "u_xx"):
        one, other = (each.derivative(text, **points) for each in (solution, loaded))
        assert one.tobytes() == other.tobytes()


@pytest.mark.filterwarnings("ignore::pinn.ProblemWarning")  # half a problem
def test_a_function_in_a_hard_condition_cannot_be_saved(tmp_path):
    case = pinn.Problem(BURGERS.domain, ["u"], BURGERS.equations, [initial("u", lambda s: s.x)])
    solution = pinn.solve(case, **SMALL, training=[pinn.Adam(1)])
    with pytest.raises(TypeError, match="hard condition 'initial_u' has a Python function"):
        solution.save(tmp_path / "function.npz")
    assert not list(tmp_path.iterdir())


CONFIG = """\
problem:
  domain: {x: [-1, 1], t: {time: [0, 1]}}
  unknowns: [u]
  equations: {burgers: u_t + u*u_x - 0.05*u_xx}
  conditions:
    - initial: {unknown: u, value: -sin(pi*x), hard: true}
    - dirichlet: {unknown: u, value: 0, on: x=-1, hard: true}
    - dirichlet: {unknown: u, value: 0, on: x=1}
"""


def test_a_config_says_which_conditions_are_hard(tmp_path):
    path = tmp_path / "case.yaml"
    path.write_text(CONFIG)
    config = pinn.config.load(path)
    conditions = config.experiment.problem.conditions
    assert [condition.hard for condition in conditions] == [True, True, False]
    path.write_text(config.text())
    again = pinn.config.load(path)
    assert again.data == config.data
    assert again.experiment.problem.conditions == conditions
    assert str(again.experiment.problem.ansatz) == str(config.experiment.problem.ansatz)


@pytest.mark.parametrize(
    "old, new, messages",
    [
        ("hard: true", "hard: 1", ["conditions.0.initial.hard: expected true or false"]),
        ("value: 0, on: x=-1", "value: t - 0.25, on: x=-1",
         [":5: problem.conditions: 'initial_u' and 'dirichlet_u_x_low' are both hard"]),
        ("problem:", "weighting: {initial_u: 2}\nproblem:",
         ["weighting.initial_u: expected a block", "burgers", "dirichlet_u_x_high"]),
    ],
)  # fmt: skip
def test_a_config_is_refused_with_its_line(tmp_path, old, new, messages):
    path = tmp_path / "case.yaml"
    path.write_text(CONFIG.replace(old, new, 1))
    with pytest.raises(pinn.config.ConfigError) as error:
        pinn.config.load(path)
    for message in messages:
        assert message in str(error.value)


def test_two_initial_values_are_told_by_what_they_give():
    with pytest.raises(ValueError, match="u is given twice at t=0.5, where two conditions"):
        pinn.Problem(
            X * TIME, ["u"], {"heat": "u_t - u_xx"},
            [pinn.Initial("u", "x", hard=True), pinn.Initial("u", "2*x", hard=True)],
        )
