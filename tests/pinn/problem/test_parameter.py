"""Trainable coefficients and the flat vector."""

import math

import numpy as np
import pytest

import autograd as T
import pinn
from pinn.config import ConfigError, load
from pinn.objective.flat_parameters import FlatParameters

RAWS = np.linspace(-6, 6, 41)


def value(parameter, raw):
    return parameter.value(T.tensor(raw, dtype=T.float64)).item()


CASES = [
    pinn.Parameter("k", 0.3),
    pinn.Parameter("k", -40.0),
    pinn.Parameter("k", 0.1, lower=0),
    pinn.Parameter("k", 5.0, lower=-2.5),
    pinn.Parameter("k", -3.0, upper=0),
    pinn.Parameter("k", 0.2, lower=0, upper=10),
    pinn.Parameter("k", 3e-4, scale=1e-3),
    pinn.Parameter("k", 0.1, lower=0, scale=5.0),
    pinn.Parameter("k", 900.0, lower=0, scale=5.0),
    pinn.Parameter("k", -3.0, upper=0, scale=0.2),
]


@pytest.mark.parametrize("parameter", CASES)
def test_it_starts_at_its_initial_value(parameter):
    assert value(parameter, parameter.raw_initial) == pytest.approx(parameter.initial, rel=1e-14)


def test_it_may_start_next_to_a_bound():
    near = pinn.Parameter("k", 1 - 1e-12, lower=-1e10, upper=1)  # a share of 1 - 1e-22
    # float64 resolves 1 - 1e-12 to 1e-4 of its distance from the bound.
    assert near.raw_initial == pytest.approx(math.log(1e22), rel=1e-5)
    assert pinn.Parameter("k", 1e-200, 0, 1e200).raw_initial == pytest.approx(-400 * math.log(10))


@pytest.mark.parametrize("parameter", CASES)
def test_it_increases_and_stays_in_its_bounds(parameter):
    values = [value(parameter, raw) for raw in RAWS]
    assert (np.diff(values) > 0).all()
    low = -math.inf if parameter.lower is None else parameter.lower
    high = math.inf if parameter.upper is None else parameter.upper
    assert low < min(values) and max(values) < high


@pytest.mark.parametrize(
    ("parameter", "formula"),
    [
        (pinn.Parameter("k", 4.0), lambda raw: 4 * raw),
        (pinn.Parameter("k", 0.5), lambda raw: raw),
        (pinn.Parameter("k", 3.0, lower=1),
         lambda raw: 1 + 2 * np.log1p(np.exp(raw)) / np.log(2)),
        (pinn.Parameter("k", 3.0, upper=4),
         lambda raw: 4 - np.log1p(np.exp(-raw)) / np.log(2)),
        (pinn.Parameter("k", 3.0, lower=2, upper=4), lambda raw: 2 + 2 / (1 + np.exp(-raw))),
        (pinn.Parameter("k", 0.5, scale=3.0), lambda raw: 3 * raw),
        (pinn.Parameter("k", 0.5, lower=0, scale=3.0), lambda raw: 3 * np.log1p(np.exp(raw))),
    ],
)  # fmt: skip
def test_the_documented_formulas(parameter, formula):
    values = [value(parameter, raw) for raw in RAWS]
    # bounds are kept off by a few units in their last place, here of 4 at most
    np.testing.assert_allclose(values, formula(RAWS), rtol=1e-13, atol=4 * 4 * 2.3e-16)


@pytest.mark.parametrize("dtype", [T.float64, T.float32])
@pytest.mark.parametrize("raw", [-1e30, -700.0, -40.0, 40.0, 700.0, 1e30])
def test_rounding_puts_none_on_its_bound_and_slopes_stay_finite(raw, dtype):
    raw = T.tensor(raw, dtype=dtype, requires_grad=True)
    for parameter in CASES:
        value = parameter.value(raw)
        assert value.dtype == dtype
        (slope,) = T.grad(value, [raw])
        assert np.isfinite(slope.item()) and slope.item() >= 0
        number = value.detach().numpy()
        for bound, sign in ((parameter.lower, 1), (parameter.upper, -1)):
            if bound is not None:
                assert sign * (number - number.dtype.type(bound)) > 0


@pytest.mark.parametrize("parameter", CASES)
def test_slopes_agree_with_differences(parameter):
    raw = T.tensor(RAWS, dtype=T.float64, requires_grad=True)
    (slopes,) = T.grad(parameter.value(raw).sum(), [raw])
    step = 1e-6
    values = [parameter.value(T.tensor(RAWS + h, dtype=T.float64)).numpy() for h in (step, -step)]
    differences = (values[0] - values[1]) / (2 * step)
    rounding = 1e-15 * np.abs(values[0]).max() / step
    np.testing.assert_allclose(slopes.numpy(), differences, rtol=1e-8, atol=rounding)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (("k", 1.0, 0.0, 2.0, 1.0), ValueError, "parameter: scale: 'k': two bounds say"),
        (("k", 1.0, None, None, 0.0), ValueError, "parameter: scale: expected a number > 0"),
        (("k", 0.0, 0.0), ValueError, "parameter: 'k': expected lower < initial < upper, strictly"),
        (("k", 2.0, None, 1.0), ValueError, "upper = 1.0"),
        (("k", 0.5, 1.0, 0.0), ValueError, "strictly"),
        (("k", math.inf), ValueError, "parameter: initial: expected a finite number"),
        (("k", "1"), TypeError, "initial: expected a number, got '1'"),
        (("k k", 1.0), ValueError, "starts with a letter, got 'k k'"),
    ],
)
def test_bad_parameters_are_refused(arguments, error, message):
    with pytest.raises(error, match=message):
        pinn.Parameter(*arguments)


def flat():
    module = pinn.MLP(width=3, depth=1).build(
        pinn.Interval("x", 0, 1), ["u", "v"], np.random.default_rng(0), T.float64
    )
    return FlatParameters(module, [pinn.Parameter("k", 2.0, lower=1.0)], T.float64, "cpu")


def test_the_vector_is_the_models_parameters_in_order_then_the_coefficients():
    parameters = flat()
    assert {part.name: part.shape for part in parameters.layout.parts} == {
        "model.weight0": (3, 1),
        "model.bias0": (3,),
        "model.weight1": (2, 3),
        "model.bias1": (2,),
        "k": (),
    }
    assert parameters.size == 3 + 3 + 6 + 2 + 1
    weight = dict(parameters.module.named_parameters())["weight1"].detach().numpy()
    np.testing.assert_array_equal(parameters.theta[6:12].reshape(2, 3), weight)
    assert parameters.theta[-1] == 0.0


def test_loading_a_vector_changes_the_model_and_the_coefficients():
    parameters = flat()
    theta = np.arange(parameters.size) / 8
    parameters.load(theta)
    np.testing.assert_array_equal(parameters.theta, theta)
    assert parameters.module.bias0.detach().numpy().tolist() == [3 / 8, 4 / 8, 5 / 8]
    coefficient = parameters.coefficients()["k"].item()
    assert coefficient == pytest.approx(1 + math.log1p(math.exp(14 / 8)) / math.log(2))


def test_named_parts_and_back():
    parameters = flat()
    theta = np.arange(parameters.size) / 8
    named = parameters.named(theta)
    assert named["model.weight1"].tolist() == (np.arange(6, 12).reshape(2, 3) / 8).tolist()
    np.testing.assert_array_equal(parameters.from_named(named), theta)


def test_other_parts_are_refused_by_name():
    parameters = flat()
    named = parameters.named(parameters.theta)
    with pytest.raises(ValueError, match="missing: k, not known: l"):
        parameters.from_named({("l" if name == "k" else name): a for name, a in named.items()})
    with pytest.raises(ValueError, match=r"parameter k: expected shape \(\), got \(2,\)"):
        parameters.from_named({**named, "k": np.zeros(2)})
    with pytest.raises(ValueError, match=r"expected a vector of shape \(15,\), got \(14,\)"):
        parameters.load(np.zeros(14))


# ---- by name in a problem

PROBLEM = {
    "domain": pinn.Time("t", 0, 1),
    "unknowns": ["u"],
    "equations": {"decay": "u_t + a*u - b"},
    "conditions": [pinn.Initial("u", 1), pinn.Data("u", {"t": [0.5], "u": [0.7]})],
}
CONFIG = """\
problem:
  domain: {t: {time: [0, 1]}}
  unknowns: u
  equations: {decay: u_t + a*u - b}
  conditions: [initial: {unknown: u, value: 1}, data: {unknown: u, table: {t: 0.5, u: 0.7}}]
  parameters: PARAMETERS
"""


def test_a_number_alone_is_where_a_coefficient_starts(tmp_path):
    listed = (pinn.Parameter("a", 0.1), pinn.Parameter("b", 2.0, lower=0))
    for given in (
        {"a": 0.1, "b": {"initial": 2, "lower": 0}},
        {"a": {"initial": 0.1}, "b": listed[1]},
    ):
        assert pinn.Problem(**PROBLEM, parameters=given).parameters == listed
    path = tmp_path / "case.yaml"
    path.write_text(CONFIG.replace("PARAMETERS", "{a: 1/10, b: {initial: 2, lower: 0}}"))
    config = load(path)
    assert config.experiment.problem.parameters == listed
    path.write_text(config.text())
    assert load(path).experiment.problem.parameters == listed


def test_fields_families_and_tables_by_name(tmp_path):
    (tmp_path / "f.csv").write_text("x,f\n0,1\n1,2\n")
    problem = pinn.Problem(
        pinn.Interval("x", 0, 1), ["u"], {"e": "c*u_xx + f + k*u"}, [pinn.Dirichlet("u", 0)],
        fields={"c": {"coordinates": ["x"]}}, families={"k": (1, 2)},
        tables={"f": tmp_path / "f.csv"},
    )  # fmt: skip
    assert problem.families == (pinn.Family("k", 1, 2),)
    assert problem.fields[0] == pinn.Field("c", ["x"])
    assert problem.tables[0].at(0.5) == 1.5


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"a": "x"}, "parameters.a.initial: expected a number, got 'x'"),
        ({"a": None}, "parameters.a.initial: expected a number, got None"),
        ({"a": {"start": 1}}, "parameters.a.start: unknown argument; expected name, initial"),
        ({"a": pinn.Parameter("k", 1)}, "parameters.a: expected one of this name, got 'k'"),
        ({"a a": 1}, "parameters.a a.name: expected a name"),
    ],
)
def test_what_is_no_coefficient_is_told_under_its_name(given, message):
    with pytest.raises((ValueError, TypeError), match=message):
        pinn.Problem(**PROBLEM, parameters=given)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{a: one}", "case.yaml:6: problem.parameters.a.initial: expected a number such as"),
        ("{a: [1, 2]}", "case.yaml:6: problem.parameters.a: expected a mapping with keys out of"),
        ("{a: }", "case.yaml:6: problem.parameters.a.initial: missing; expected a number"),
        ("3", "case.yaml:6: problem.parameters: expected a mapping from names to starting values"),
    ],
)
def test_a_config_is_told_the_line(tmp_path, text, message):
    (tmp_path / "case.yaml").write_text(CONFIG.replace("PARAMETERS", text))
    with pytest.raises(ConfigError, match=message.replace("[", r"\[")):
        load(tmp_path / "case.yaml")
