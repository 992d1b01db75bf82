"""Unknown coefficients that depend on the place: networks of their own in equations."""

import numpy as np
import pytest

import autograd as T
import pinn
from autograd.jets import choose_channels, sweep
from pinn.config import load
from pinn.diagnosis import preflight
from pinn.solution.accuracy import TestSet
from pinn.training.experiment import Experiment

X, Y, TIME = pinn.Interval("x", 0, 1), pinn.Interval("y", -1, 1), pinn.Time("t", 0, 2)
FEW = pinn.Sampling(interior=30, initial=8, boundary=8)
SOURCE = "pi**2*(1 + x)*sin(pi*x) - pi*cos(pi*x)"


def conduction(**changes):
    """-(a u')' = f with u = sin(pi x) and a = 1 + x, told at nine points and at one end."""
    places = np.linspace(0.1, 0.9, 9).tolist()
    arguments = {
        "domain": X,
        "unknowns": ["u"],
        "equations": {"flux": f"div(a*grad(u)) + {SOURCE}"},
        "conditions": [
            pinn.Dirichlet("u", 0, hard=True), pinn.Dirichlet("a", 1, on="x=0"),
            *(pinn.PointValue("u", float(np.sin(np.pi * x)), x=x) for x in places),
        ],
        "fields": [pinn.Field("a", ["x"], model=pinn.MLP(6, 2), lower=0.1, initial=1.0)],
        "reference": {"u": "sin(pi*x)", "a": "1 + x"},
    }  # fmt: skip
    return pinn.Problem(**{**arguments, **changes})


def heat(equation="u_t - div(a*grad(u)) - a_xy + at(a, x=0.5, t=t/2)*u", **changes):
    arguments = {
        "domain": X * Y * TIME,
        "unknowns": ["u"],
        "equations": {"heat": equation},
        "conditions": [pinn.Dirichlet("u", "t"), pinn.Dirichlet("a", 1, on="x=0")],
        "fields": [pinn.Field("a", ["y", "x"], model=pinn.MLP(5, 2), lower=0, upper=3)],
    }
    return pinn.Problem(**{**arguments, **changes})


@pytest.fixture(scope="module")
def solved():
    return pinn.solve(
        conduction(), pinn.MLP(6, 2), pinn.Sampling(interior=60),
        [pinn.Adam(steps=150, learning_rate=1e-2), pinn.SSBroyden(steps=150)],
    )  # fmt: skip


def test_a_field_is_recovered_and_compared_with_its_reference(solved):
    assert solved.report.rel_l2["a"] < 0.02 and solved.report.rel_l2["u"] < 2e-3
    assert set(solved.report.max_error) == {"u", "a"}


def test_it_is_evaluated_differentiated_drawn_saved_and_loaded(solved, tmp_path):
    xs = np.linspace(0, 1, 5)
    found = solved.evaluate(x=xs)
    assert set(found) == {"u", "a"} and found["a"].shape == (5,)
    step = 1e-6
    ahead, behind = (solved.evaluate(x=xs + h)["a"] for h in (step, -step))
    np.testing.assert_allclose(
        solved.derivative("a_x", x=xs), (ahead - behind) / (2 * step), rtol=1e-7
    )
    data = solved.field_data("a")
    np.testing.assert_array_equal(data.reference, 1 + data.coordinates["x"])
    solved.plot("a")
    solved.save(tmp_path / "flux.npz")
    again = pinn.load(tmp_path / "flux.npz")
    assert again.problem.fields == solved.problem.fields
    np.testing.assert_array_equal(again.evaluate(x=xs)["a"], found["a"])
    assert [name for name in again.named_theta if name.startswith("a.")][0] == "a.network.weight0"


def test_training_goes_on_from_a_solution_with_the_same_field_or_without_it(solved):
    stages = [pinn.Adam(steps=1, learning_rate=1e-12)]
    more = pinn.solve(conduction(), pinn.MLP(6, 2), FEW, stages, start=solved)
    np.testing.assert_allclose(more.theta, solved.theta, atol=1e-11)
    wider = conduction(fields=[pinn.Field("a", ["x"], model=pinn.MLP(9, 1))])
    other = pinn.solve(wider, pinn.MLP(6, 2), FEW, stages, start=solved)
    np.testing.assert_allclose(
        other.evaluate(x=0.3)["u"], solved.evaluate(x=0.3)["u"], atol=1e-10
    )


def test_jets_and_nested_derivatives_agree():
    found = {}
    for derivatives in ("jets", "nested"):
        objective = Experiment(heat(), pinn.MLP(6, 2), FEW, derivatives=derivatives).objective()
        found[derivatives] = objective.value_and_gradient(objective.theta)
    assert found["jets"].loss == pytest.approx(found["nested"].loss, rel=1e-12)
    scale = np.abs(found["nested"].gradient).max()
    np.testing.assert_allclose(
        found["jets"].gradient, found["nested"].gradient, atol=1e-12 * scale
    )


def test_its_network_carries_derivatives_in_its_own_coordinates_only():
    parameters = Experiment(heat(), pinn.MLP(6, 2), FEW).initial_parameters()
    columns = [T.ones(4, 1) for _ in range(3)]
    channels = choose_channels([(0, 0), (1, 1), (2,)], [])
    unknown, field = sweep(
        lambda *columns: parameters.module.forward_columns(columns), columns, channels
    )
    assert {(2,), (0, 0), (1, 1)} <= set(unknown)
    assert (2,) not in field and {(0, 0), (1, 1)} <= set(field)


@pytest.mark.parametrize(
    ("expression", "expanded"),
    [
        ("diff(a*u, t)", "a*u_t"),
        ("diff(laplacian(a), t)", "0"),
        ("at(a, t=3, y=0)", "at(a, y=0)"),
        ("diff(at(a, x=t), t)", "at(a_x, x=t)"),
    ],
)
def test_a_derivative_in_another_coordinate_is_zero(expression, expanded):
    scope = heat().scope
    assert str(scope.resolve(expression)) == str(scope.resolve(expanded))


def test_of_some_space_coordinates_a_laplacian_has_their_terms():
    scope = heat("u_t - laplacian(a)", fields=[pinn.Field("a", ["x", "t"])]).scope
    assert str(scope.resolve("laplacian(a) + div(grad(a))")) == "a_xx + a_xx"
    assert str(scope.resolve("diff(laplacian(a), t)")) == "a_xxt"


def test_functions_and_texts_mean_the_same():
    losses = []
    for equation in ("u_t - u*a_x*a", lambda s: s.u_t - s.u * s.a_x * s.a):
        objective = Experiment(heat(equation), pinn.MLP(4, 1), FEW).objective()
        losses.append(objective.value(objective.theta))
    assert losses[0] == pytest.approx(losses[1], rel=1e-13)


def test_values_stay_inside_the_bounds_and_begin_where_they_are_said_to():
    model = pinn.MLP(6, 2)
    for given, level in (
        ({"lower": 0, "upper": 3}, 1.5), ({"lower": 2, "initial": 2.5}, 2.5),
        ({"upper": 0, "scale": 0.1}, -0.1 * np.log(2)), ({"initial": 40.0}, 40.0),
    ):  # fmt: skip
        problem = heat("u_t - a*u", fields=[pinn.Field("a", ["x", "y"], model=model, **given)])
        experiment = Experiment(problem, pinn.MLP(4, 1), FEW)
        theta = experiment.initial_parameters()
        named = {n: 0 * part for n, part in theta.named(theta.theta).items()}
        solution = pinn.Solution(experiment, named, None)
        assert solution.evaluate(x=0.5, y=0.5)["a"] == pytest.approx(level, rel=1e-14)
        named["a.network.bias2"] = np.array([300.0])
        high = pinn.Solution(experiment, named, None).evaluate(x=0.5, y=0.5)["a"]
        assert problem.fields[0].bounds.holds(float(high)) and high > level


def test_only_its_own_coordinates_are_needed():
    experiment = Experiment(heat(), pinn.MLP(4, 1), FEW)
    solution = pinn.Solution(experiment, experiment.initial_parameters().theta, None)
    whole = solution.evaluate(x=0.2, y=[0.1, 0.3], t=1.0)
    part = solution.evaluate(x=0.2, y=[0.1, 0.3])
    assert list(whole) == ["u", "a"] and list(part) == ["a"]
    np.testing.assert_array_equal(whole["a"], part["a"])
    values = solution.derivative("a_x*x + at(a, y=0)", x=0.2, y=0.1)
    expected = solution.derivative("a_x", x=0.2, y=0.1) * 0.2 + solution.evaluate(x=0.2, y=0)["a"]
    assert values == pytest.approx(expected, rel=1e-14)
    with pytest.raises(TypeError, match="t is missing"):
        solution.derivative("a*u", x=0.2, y=0.1)
    with pytest.raises(TypeError, match="y, t are missing"):
        solution.evaluate(x=0.2)
    assert list(solution.field_data("a").coordinates) == ["x", "y"]
    assert solution.field_data("a").fixed == {}


def test_it_may_depend_on_time_and_on_a_family():
    problem = heat(
        "u_t - b*u_xx - k", families=[pinn.Family("k", 0.1, 10, spacing="log")],
        fields=[pinn.Field("b", ["k", "t"], model=pinn.MLP(4, 1))], conditions=[],
    )  # fmt: skip
    experiment = Experiment(problem, pinn.MLP(4, 1), FEW)
    solution = pinn.Solution(experiment, experiment.initial_parameters().theta, None)
    assert solution.evaluate(t=[0, 1, 2], k=0.5)["b"].shape == (3,)
    assert solution.derivative("b_t", t=1.0, k=0.5) != 0
    assert TestSet(problem, []).points.shape[1] == 4


def test_a_field_of_a_disk_lives_on_it():
    from pinn.geometry import projection

    assert projection(X * Y * TIME, ["t", "x"]) == X * TIME
    assert pinn.Field("a", ["t", "x"]).domain(X * Y * TIME) == X * TIME


def test_a_module_of_ones_own_is_given_again_on_loading(tmp_path):
    class Line(T.nn.Module):
        def __init__(self):
            super().__init__()
            self.slope = T.nn.Parameter(T.ones(1, 1, dtype=T.float64))

        def forward(self, points):
            return T.nn.functional.linear(points, self.slope)

    problem = conduction(fields=[pinn.Field("a", ["x"], model=Line())])
    solution = pinn.solve(problem, pinn.MLP(3, 1), FEW, [pinn.Adam(steps=2)])
    solution.save(tmp_path / "line.npz")
    with pytest.raises(ValueError, match=r"field 'a' is a Line.*pinn.load\(path, fields={'a'"):
        pinn.load(tmp_path / "line.npz")
    again = pinn.load(tmp_path / "line.npz", fields={"a": Line()})
    assert again.evaluate(x=0.5) == solution.evaluate(x=0.5)
    with pytest.raises(ValueError, match="fields: expected some of a, got 'b'"):
        pinn.load(tmp_path / "line.npz", fields={"b": Line()})


def test_it_is_written_in_a_config(tmp_path):
    path = tmp_path / "flux.yaml"
    text = """\
problem:
  domain: {x: [0, 1]}
  unknowns: [u]
  fields: {a: {coordinates: x, model: {mlp: {width: 6, depth: 2}}, lower: 0.1, initial: 1}}
  equations: {flux: div(a*grad(u)) + 1}
  conditions: [dirichlet: {unknown: u, value: 0}, dirichlet: {unknown: a, value: 1, on: x=0}]
"""
    path.write_text(text)
    config = load(path)
    assert config.experiment.problem.fields == conduction().fields
    path.write_text(config.text())
    assert load(path).experiment.problem.fields == conduction().fields
    for old, new, message in (
        ("coordinates: x", "coordinates: z", r"flux.yaml:4.*fields.a.coordinates: .* got 'z'"),
        ("initial: 1", "initial: 0", r"flux.yaml:4.*fields.a: 'a': expected lower < initial"),
        ("lower: 0.1", "lower: [0]", r"flux.yaml:4.*fields.a.lower: expected a number"),
    ):
        path.write_text(text.replace(old, new))
        with pytest.raises(ValueError, match=message):
            load(path)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"equation": "u_t - a_t*u"}, r"'a_t': 'a' depends on x, y alone, so this derivative"),
        ({"fields": [pinn.Field("a", ["x", "z"])]}, "fields.a.coordinates: expected some of"),
        ({"fields": [pinn.Field("u", ["x"])]}, "fields.u: 'u' is declared as an unknown and"),
        ({"fields": [pinn.Field("model", ["x"])]}, "fields.model: 'model' is what the network"),
        ({"equation": "u_t", "conditions": []}, "fields: a appear in no equation"),
        ({"conditions": [pinn.Dirichlet("b", 1, on="x=0", hard=True)]}, "expected one of the unk"),
        ({"conditions": [pinn.Dirichlet("u", "a")]}, "conditions.0.value: unknown name 'a'"),
        ({"reference": {"b": "x"}}, "reference.b: expected one of the unknowns u, a"),
    ],
)
def test_what_does_not_fit_is_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        heat(**changes)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"coordinates": ["x", "x"]}, "field: coordinates: expected each coordinate once"),
        ({"coordinates": []}, "field: coordinates: expected a list of coordinates"),
        ({"coordinates": ["x"], "lower": 1, "upper": 0}, "expected lower < upper, got 1.0 and 0.0"),
        ({"coordinates": ["x"], "lower": 1, "initial": 1}, "expected lower < initial < upper"),
        ({"coordinates": ["x"], "scale": 0}, "field: scale: expected a number > 0"),
    ],
)
def test_wrong_arguments_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        pinn.Field("a", **arguments)


def test_fields_that_nothing_tells_of_are_warned_about():
    small = {"model": pinn.MLP(3, 1), "sampling": FEW}
    undetermined = conduction(
        conditions=[pinn.Dirichlet("u", 0)], fields=[pinn.Field("a", ["x"], model=pinn.MLP(3, 1))]
    )
    (sentence,) = preflight(Experiment(undetermined, **small).objective())
    assert sentence.startswith("the field 'a' seems not to be determined: the conditions are just")
    idle = conduction(
        equations={"flux": lambda s: s.u_xx + 0 * s.a}, conditions=[pinn.Dirichlet("u", 0)]
    )
    found = preflight(Experiment(idle, **small).objective())
    assert any(sentence.startswith("the field 'a' changes no residual") for sentence in found)
    assert preflight(Experiment(conduction(), **small).objective()) == []
