"""Models that are linear in families and functions are solved for one of these after the other."""

import itertools
import re
from dataclasses import replace

import numpy as np
import pytest

import pinn
from pinn.optimizers.least_squares.reduced import may_keep, reduced_bytes
from pinn.training import choosing
from pinn.training.experiment import Experiment

LINE = pinn.Interval("x", 0, 1)
FEATURES = pinn.DeepONet(pinn.RandomFeatures(40, (0.5, 4.0)), branch=None)


@pytest.fixture
def few(monkeypatch):
    """A trial of a size that suits tests."""
    small = {"_FEW": 60, "_LEAST_FEW": 30, "_MANY": 80, "_LEAST_MANY": 40, "_MOST_MANY": 80}
    for name, value in {**small, "_ON_A_LINE": 1.0}.items():
        monkeypatch.setattr(choosing, name, value)


def problem(equation="u_xx + v + a", hard=True, **others):
    return pinn.Problem(**{
        "domain": LINE, "unknowns": ["u"], "equations": {"e": equation},
        "families": {"a": [1, 3]},
        "function_spaces": {"v": {"over": "x", "length": 0.5, "modes": 2, "mean": "x"}},
        "conditions": [pinn.Dirichlet("u", 0, hard=hard)], **others,
    })  # fmt: skip


SEVERAL = problem(
    unknowns=["u", "p"], equations={"e": "p_x + v + a*x", "f": "u_x - 2*p"}, families={"a": [0, 2]},
    conditions=[pinn.Dirichlet("u", "a", on="x=0"), pinn.Dirichlet("u", 0, on="x=1")],
)  # fmt: skip


def everywhere(objective, problem):
    """Give an objective points whose means over families are those of all their values.

    Of something quadratic in them, two values of each do (Gauss): -1 and 1 deviations.
    """
    names = [one.name for one in problem.domain.families]
    columns = [problem.domain.coordinates.index(name) for name in names]
    bounds = [problem.domain.bounds[name] for name in names]
    nodes = [
        (-1.0, 1.0) if one.spacing == "normal"
        else tuple((low + high) / 2 + np.array([-1, 1]) * (high - low) / 2 / np.sqrt(3))
        for one, (low, high) in zip(problem.domain.families, bounds, strict=True)
    ]  # fmt: skip
    found = {}
    for block in objective.blocks:
        pieces = []
        for values in itertools.product(*nodes):
            piece = block.points.coordinates.copy()
            piece[:, columns] = values
            pieces.append(piece)
        found[block.name] = np.concatenate(pieces)
    objective.set_points(found)


@pytest.mark.parametrize("stated", [problem(), problem(hard=False), SEVERAL])
def test_a_step_is_the_least_squares_one_over_all_values(stated):
    """Beside the rows of the whole at points of all values, and their slopes."""
    model = replace(FEATURES, trunk=pinn.RandomFeatures(4, (0.5, 2.0)))
    model = model.scaled_as(pinn.MLP(scale={"u": 2.0}, offset={"u": 0.3}), stated.domain,
                            stated.unknowns)  # fmt: skip
    run = Experiment(stated, model=model, sampling=pinn.Sampling(interior=30, boundary=10))
    objective = run.objective()
    theta = np.random.default_rng(0).standard_normal(objective.size)
    found = objective.superposition.reduced(theta, 1e-12)
    step = found.damped((1e-12 * found.largest) ** 2, np.ones(objective.size))
    everywhere(objective, stated)
    before = objective.value_and_gradient(theta)
    np.testing.assert_allclose(
        found.gradient, before.gradient, rtol=1e-9, atol=1e-11 * np.abs(before.gradient).max()
    )
    rows, jacobian = objective.jacobian(theta)
    least = np.linalg.lstsq(jacobian, -rows, rcond=1e-12)[0]
    after = objective.value(theta + step.step)
    assert after <= objective.value(theta + least) * (1 + 1e-9) + 1e-20 * before.loss
    assert before.loss - after == pytest.approx(step.promised, rel=1e-9)


def test_points_weights_and_what_was_reduced_are_those_of_the_run():
    run = Experiment(problem(hard=False), model=FEATURES, sampling=pinn.Sampling(interior=90))
    objective = run.objective()
    whole = objective.superposition
    theta = np.random.default_rng(0).standard_normal(objective.size)
    first = whole.reduced(theta, 1e-12)
    triangle = first._triangle
    assert whole.reduced(theta + 1, 1e-12)._triangle is triangle
    objective.set_weights({"dirichlet_u": 100.0})
    heavier = whole.reduced(theta, 1e-12)
    assert heavier._triangle is not triangle
    # no derivative sees the last number, which is a bias: conditions alone
    assert heavier.gradient[-1] == pytest.approx(100 * first.gradient[-1])
    objective.set_points(run.draw_points(1))
    assert whole.reduced(theta, 1e-12)._triangle is not heavier._triangle


def test_functions_and_families_are_solved_to_many_digits(few):
    """u'' = -v - a with v = x + c psi: by the trial, in one step and one that mends rounding."""
    found = pinn.solve(problem(), error_bars=False, threads=1)
    assert isinstance(found.experiment.model.trunk, pinn.RandomFeatures)
    model = [one for one in found.report.decisions if one.what.startswith("model: ")][-1]
    assert re.fullmatch(r"model: \d+ random features for each mode of v, a", model.what)
    assert [stage.name for stage in found.report.stages] == ["gauss_newton"]
    assert found.report.steps <= 2 and found.report.fresh_loss < 1e-16
    v = found.problem.functions["v"].draw(3)
    x = np.linspace(0, 1, 21)
    t, w = np.polynomial.legendre.leggauss(20)
    expected = 2.5 * x * (1 - x) / 2  # and the integral over s of G(x, s) v(s), which bends at x
    for low, high in ((0 * x, x), (x, 0 * x + 1)):
        s = low[:, None] + (high - low)[:, None] * (t + 1) / 2
        green = np.minimum(x[:, None], s) * (1 - np.maximum(x[:, None], s))
        expected += (high - low) / 2 * ((green * v(s)) @ w)
    u = found.evaluate(x=x, v=v, a=2.5)["u"]
    np.testing.assert_allclose(u, expected, atol=1e-9)


def test_equal_runs_have_equal_bits_for_any_number_of_threads():
    one, two = (
        pinn.solve(
            problem(), FEATURES, pinn.Sampling(interior=160), error_bars=False, threads=threads
        )
        for threads in (1, 2)
    )  # fmt: skip
    assert one.theta.tobytes() == two.theta.tobytes()


@pytest.mark.parametrize(("others", "what"), [
    ({"parameters": {"k": 1.0}}, "a problem without parameters"),
    ({"families": {"a": {"low": 1, "high": 2, "spacing": "log"}}}, "got a with spacing: log"),
    ({"conditions": [pinn.Data("u", {"x": [0.5], "a": [1.0], "v1": [0.0], "v2": [0.0],
                                     "u": [1.0]})]}, "got data_u, which has values of its own"),
])  # fmt: skip
def test_what_belongs_to_all_of_them_is_refused(others, what):
    equation = "u_xx + v + k*a" if "parameters" in others else "u_xx + v + a"
    with pytest.raises(ValueError, match=what):
        Experiment(problem(equation, **others), model=FEATURES)


def test_scales_that_differ_for_one_unknown_are_refused():
    model = replace(FEATURES, trunk=replace(FEATURES.trunk, scale={"u1": 2.0}))
    with pytest.raises(ValueError, match="expected one scale for u0 ... u3"):
        Experiment(problem(), model=model)


@pytest.mark.parametrize(("modes", "width"), [(5, 12), (12, 26), (None, None), (30, None)])
def test_the_last_layer_is_a_basis_for_all_modes_while_there_is_room(modes, width):
    space = {"over": ["x", "t"], "length": 0.4, "modes": modes}
    stated = problem(
        "u_t - u_xx - v", domain=LINE * pinn.Time("t", 0, 1), families={},
        function_spaces={"v": space},
    )  # fmt: skip
    found, most = choosing._with_basis(pinn.DeepONet(branch=None), Experiment(stated)), 2000
    widths, domain = found.trunk.widths, stated.domain
    assert widths[:2] == (20, 20)
    count = found.parameter_count(domain, ["u"])
    if width is None:
        next_one = count + 21 + len(domain.families) + 1
        assert count <= most < next_one and widths[2] > 20
    else:
        assert widths[2] == max(width, 20)


def test_few_points_take_a_smaller_basis():
    run = Experiment(problem(), sampling=pinn.Sampling(interior=1000))
    found = choosing._with_basis(pinn.DeepONet(branch=None), run)
    assert found.trunk.widths == (20, 20, 20)


def test_what_features_do_not_follow_gets_layers(few):
    """A thousand radians along x are more than any of the features that are tried have."""
    stated = problem("u_x - v*cos(1000*x)", conditions=[pinn.Dirichlet("u", 0, on="x=0")])
    model = choosing.with_model(
        Experiment(stated, model=pinn.DeepONet(pinn.AutoModel(), branch=None))
    ).experiment.model  # fmt: skip
    assert isinstance(model.trunk, pinn.MLP) and model.branch is None


def test_a_device_takes_the_step_of_the_host(gpu):
    def step(device):
        run = Experiment(
            SEVERAL, model=replace(FEATURES, trunk=pinn.RandomFeatures(8, (0.5, 2.0))),
            sampling=pinn.Sampling(interior=60, boundary=10), device=device,
        )  # fmt: skip
        objective = run.objective()
        theta = np.random.default_rng(0).standard_normal(objective.size)
        found = objective.superposition.reduced(theta, 1e-8)
        damped = found.damped((1e-8 * found.largest) ** 2, np.ones(objective.size))
        return theta + damped.step, damped.promised, found.gradient

    for there, here in zip(step("cuda"), step("cpu"), strict=True):
        np.testing.assert_allclose(there, here, rtol=1e-7, atol=1e-7 * np.abs(here).max())


def test_where_the_limit_cuts_a_trial_short_features_are_taken(few):
    """Layers for all modes would not have begun in that time."""
    found = choosing.with_model(Experiment(
        problem(), model=pinn.DeepONet(pinn.AutoModel(), branch=None), seconds=1e-3
    ))  # fmt: skip
    assert isinstance(found.experiment.model.trunk, pinn.RandomFeatures)
    assert "the limit in time cut it short" in found.decisions[0].why


def test_why_features_are_not_tried_is_said():
    data = pinn.Data("u", {"x": [0.5], "u": [1.0]}, at={"a": 1, "v1": 0, "v2": 0})
    conditions = [pinn.Dirichlet("u", 0, hard=True), data]
    found = choosing.with_model(Experiment(
        problem(conditions=conditions), model=pinn.DeepONet(pinn.AutoModel(), branch=None)
    ))  # fmt: skip
    assert isinstance(found.experiment.model.trunk, pinn.MLP)
    assert "got data_u, which has values of its own" in found.decisions[0].why


def test_what_is_not_recorded_takes_the_same_step():
    def step(engine):
        run = Experiment(
            problem(), model=FEATURES, sampling=pinn.Sampling(interior=60), engine=engine
        )
        objective = run.objective()
        found = objective.superposition.reduced(np.ones(objective.size), 1e-10)
        return found.gradient

    np.testing.assert_allclose(step("eager"), step("recorded"), rtol=1e-10)


def test_the_memory_that_is_foretold_is_that_of_a_triangle_that_is_kept():
    """Also of so many rows that a step alone would not keep what they are reduced by."""
    model = replace(FEATURES, trunk=pinn.RandomFeatures(4, (0.5, 2.0)))
    objective = Experiment(problem(), model=model, sampling=pinn.Sampling(interior=900)).objective()
    one = objective.superposition.objective
    assert not may_keep(one)
    stage = pinn.GaussNewton()
    assert stage.working_bytes(objective) == reduced_bytes(one, keep=True)
    assert stage.working_bytes(objective) > stage.working_bytes(one)
