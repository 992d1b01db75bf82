"""A network for each unknown: the columns of one set of values from several modules."""

import json

import numpy as np
import pytest

import autograd as T
import pinn
from pinn.config import load
from pinn.equations.jets import JetPlan, JetValues
from pinn.equations.leaves import Derivative
from pinn.equations.nested import NestedPlan, NestedValues
from pinn.equations.scope import Scope
from pinn.equations.values import coordinate_columns
from pinn.models import Joined
from pinn.schema import dump

DOMAIN = pinn.Interval("x", -1, 3) * pinn.Time("t", 0, 0.5)
POINTS = np.random.default_rng(1).uniform([-1, 0], [3, 0.5], (9, 2))
SMALL, WIDE = pinn.MLP(width=3, depth=1), pinn.MLP(width=5, depth=2, activation="sin")


def build(spec, unknowns=("u", "p", "v"), seed=0):
    return spec.build(DOMAIN, unknowns, np.random.default_rng(seed), T.float64)


def test_each_column_is_the_output_of_the_unknowns_own_network():
    module = build(pinn.PerUnknown(SMALL, {"p": WIDE}))
    points = T.tensor(POINTS)
    parts = dict(module.named_children())
    assert list(parts) == ["network_u", "network_p", "network_v"]
    got = module(points).detach().numpy()
    for j, part in enumerate(parts.values()):
        assert np.array_equal(got[:, j : j + 1], part(points).detach().numpy())
    assert parts["network_p"].weight1.shape == (5, 5)
    assert not np.array_equal(got[:, 0], got[:, 2])  # the same model, other random numbers


def test_a_network_elsewhere_leaves_the_random_numbers_as_they_are():
    one = build(pinn.PerUnknown(SMALL))
    other = build(pinn.PerUnknown(SMALL, {"p": WIDE}))
    for name in ("network_u.weight0", "network_v.weight1"):
        first, second = (dict(m.named_parameters())[name].detach().numpy() for m in (one, other))
        assert np.array_equal(first, second)


def test_parameters_are_counted_without_building():
    spec = pinn.PerUnknown(SMALL, {"p": WIDE})
    built = sum(p.numel() for p in build(spec).parameters())
    assert spec.parameter_count(DOMAIN, ("u", "p", "v")) == built
    own = pinn.PerUnknown(build(WIDE, ["u"]))
    assert own.parameter_count(DOMAIN, ["u"]) == WIDE.parameter_count(DOMAIN, ["u"])


def test_an_unknown_may_be_called_as_a_method_of_modules():
    module = build(pinn.PerUnknown(SMALL), unknowns=("forward", "apply"))
    assert tuple(module(T.tensor(POINTS)).shape) == (9, 2)


def test_a_name_that_is_no_unknown_is_refused():
    with pytest.raises(ValueError, match="expected some of the unknowns u, p, v, got 'vv'; did"):
        build(pinn.PerUnknown(networks={"vv": SMALL}))


def test_a_module_of_x_alone_has_no_derivative_in_time_in_both_ways():
    """The network of "a" sees x only; "u" sees both coordinates."""
    rng = np.random.default_rng(0)
    u = SMALL.build(DOMAIN, ["u"], rng, T.float64)
    a = WIDE.build(pinn.Interval("x", -1, 3), ["a"], rng, T.float64)
    module = Joined({"u": u, "a": a}, {"a": [0]})
    scope = Scope(("u", "a"), ("x", "t"), ("x",), {})
    leaves = [
        Derivative(name, tuple(of)) for name in "ua" for of in ("", "x", "t", "xx", "xt", "xxx")
    ]
    columns = coordinate_columns(POINTS, T.float64, "cpu")
    jets = JetValues(module, scope, columns, {}, JetPlan(leaves, scope))
    nested = NestedValues(module, scope, columns, {}, NestedPlan(leaves, scope))
    for leaf in leaves:
        expected = nested[leaf].detach().numpy()
        np.testing.assert_allclose(jets[leaf].detach().numpy(), expected, rtol=1e-10, atol=1e-13)
        assert np.any(expected) != (leaf.unknown == "a" and "t" in leaf.coordinates)
    np.testing.assert_array_equal(
        jets[Derivative("a")].detach().numpy(), a(T.tensor(POINTS[:, :1])).detach().numpy()[:, 0]
    )
    assert tuple(module(T.tensor(POINTS)).shape) == (9, 2)


PROBLEM = pinn.Problem(
    domain=pinn.Time("t", 0, 1), unknowns=["u", "v"],
    equations={"first": "u_t - v", "second": "v_t + u"},
    conditions=[pinn.Initial("u", 0.0, hard=True), pinn.Initial("v", 1.0)],
)  # fmt: skip


def test_it_is_trained_beside_a_hard_condition_and_saved(tmp_path):
    spec = pinn.PerUnknown(pinn.MLP(width=8, depth=1), {"v": pinn.MLP(width=6, depth=2)})
    solution = pinn.solve(
        PROBLEM, spec, pinn.Sampling(interior=40),
        [pinn.Adam(steps=50, learning_rate=0.01), pinn.SSBroyden(steps=150)],
    )  # fmt: skip
    t = np.linspace(0, 1, 21)
    got = solution.evaluate(t=t)
    np.testing.assert_allclose(got["u"], np.sin(t), atol=1e-4)
    np.testing.assert_allclose(got["v"], np.cos(t), atol=1e-4)
    solution.save(tmp_path / "s.npz")
    again = pinn.load(tmp_path / "s.npz")
    assert np.array_equal(again.evaluate(t=t)["v"], got["v"])
    assert again.experiment.model == spec


def test_recorded_and_eager_objectives_are_equal():
    from pinn.training.experiment import Experiment

    def value(engine):
        experiment = Experiment(PROBLEM, pinn.PerUnknown(SMALL, {"v": WIDE}), engine=engine)
        objective = experiment.objective()
        return objective.value_and_gradient(objective.theta)

    recorded, eager = value("recorded"), value("eager")
    assert recorded.loss == pytest.approx(eager.loss, rel=1e-13)
    scale = np.abs(eager.gradient).max()
    np.testing.assert_allclose(recorded.gradient, eager.gradient, rtol=0, atol=1e-12 * scale)


def test_a_config_says_the_same(tmp_path):
    path = tmp_path / "c.yaml"
    path.write_text(
        "problem:\n  domain: {t: {time: [0, 1]}}\n  unknowns: [u, v]\n"
        "  equations: {first: u_t - v, second: v_t + u}\n"
        "model: {per_unknown: {each: {mlp: {width: 3, depth: 1}}, networks: {v: mlp}}}\n"
    )
    config = load(path)
    expected = pinn.PerUnknown(SMALL, {"v": pinn.MLP()})
    assert config.experiment.model == expected
    path.write_text(config.text())
    assert load(path).experiment.model == expected
    assert json.loads(json.dumps(dump(expected)))["networks"]["v"]["mlp"]["activation"] == "tanh"
