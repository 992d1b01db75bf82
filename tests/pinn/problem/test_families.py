"""Problems with families: one network for a range of constants."""

import numpy as np
import pytest

import pinn
from pinn.config import load
from pinn.problem.references import cole_hopf
from pinn.solution.accuracy import TestSet
from pinn.training.experiment import Experiment

X, TIME = pinn.Interval("x", -1, 1), pinn.Time("t", 0, 1)
NU = pinn.Family("nu", 0.05, 0.5, spacing="log")
FEW = pinn.Sampling(interior=40, initial=10, boundary=10)


def heat(**changes):
    arguments = {
        "domain": X * TIME,
        "unknowns": ["u"],
        "equations": {"heat": "u_t - nu*u_xx"},
        "conditions": [pinn.Initial("u", "sin(pi*x)"), pinn.Dirichlet("u", 0)],
        "families": [NU],
        "reference": {"u": "exp(-nu*pi**2*t)*sin(pi*x)"},
    }
    return pinn.Problem(**{**arguments, **changes})


def decay(**changes):
    arguments = {
        "domain": pinn.Time("t", 0, 1),
        "unknowns": ["u"],
        "equations": {"decay": "u_t + k*u"},
        "conditions": [pinn.Initial("u", "1 + c*k", hard=True)],
        "constants": {"c": 0.5},
        "families": [pinn.Family("k", 0.5, 2)],
        "reference": {"u": "(1 + c*k)*exp(-k*t)"},
    }
    return pinn.Problem(**{**arguments, **changes})


@pytest.fixture(scope="module")
def solved():
    return pinn.solve(
        decay(), pinn.MLP(8, 2), pinn.Sampling(interior=150, initial=10, redraw=None),
        [pinn.Adam(steps=100, learning_rate=1e-2), pinn.SSBroyden(steps=150)],
    )  # fmt: skip


def test_one_training_solves_the_problem_for_the_whole_range(solved):
    assert solved.report.rel_l2["u"] < 1e-3
    times = np.linspace(0, 1, 7)
    for k in (0.5, 0.93, 2.0):
        exact = (1 + 0.5 * k) * np.exp(-k * times)
        np.testing.assert_allclose(solved.evaluate(t=times, k=k)["u"], exact, atol=5e-3)


def test_a_hard_condition_depends_on_it_exactly(solved):
    values = np.linspace(0.5, 2, 11)
    np.testing.assert_allclose(
        solved.evaluate(t=0.0, k=values)["u"], 1 + 0.5 * values, rtol=1e-15
    )


def test_how_the_solution_changes_with_it_is_a_derivative(solved):
    slope = solved.derivative("diff(u, k)", t=0.6, k=1.1)
    step = 1e-5
    ahead, behind = (solved.evaluate(t=0.6, k=1.1 + h)["u"] for h in (step, -step))
    assert slope == pytest.approx((ahead - behind) / (2 * step), rel=1e-8)


def test_it_is_saved_loaded_and_drawn_at_a_stated_value(solved, tmp_path):
    solved.save(tmp_path / "decay.npz")
    again = pinn.load(tmp_path / "decay.npz")
    assert again.problem.families == solved.problem.families
    assert again.problem.domain == solved.problem.domain
    np.testing.assert_array_equal(
        again.evaluate(t=[0.1, 0.2], k=0.7)["u"], solved.evaluate(t=[0.1, 0.2], k=0.7)["u"]
    )
    data = again.field_data("u", k=2.0)
    assert list(data.coordinates) == ["t"] and data.fixed == {"k": 2.0}
    np.testing.assert_allclose(data.reference, 2 * np.exp(-2 * data.coordinates["t"]))
    assert again.field_data("u").fixed == {"k": 1.25}
    assert list(again.field_data("u", t=1.0).coordinates) == ["k"]
    again.plot("u", k=[0.5, 1.0, 2.0])


def test_jets_and_nested_derivatives_agree():
    found = {}
    for derivatives in ("jets", "nested"):
        experiment = Experiment(heat(), pinn.MLP(6, 2), FEW, derivatives=derivatives)
        objective = experiment.objective()
        found[derivatives] = objective.value_and_gradient(objective.theta)
    assert found["jets"].loss == pytest.approx(found["nested"].loss, rel=1e-12)
    np.testing.assert_allclose(found["jets"].gradient, found["nested"].gradient, atol=1e-12)


def test_the_network_is_shown_the_logarithm_of_a_logarithmic_range():
    class Inputs(pinn.Model):
        def build(self, domain, unknowns, rng, dtype, device="cpu"):
            assert domain.coordinates == ("x", "t", "nu")
            import autograd as T

            class Third(T.nn.Module):
                def __init__(self):
                    super().__init__()
                    self.factor = T.nn.Parameter(T.ones(1, dtype=dtype))

                def forward(self, points):
                    return self.factor * points[:, 2:3]

            return Third()

    experiment = Experiment(heat(reference=None), Inputs(), FEW)
    solution = pinn.Solution(experiment, experiment.initial_parameters().theta, None)
    values = np.geomspace(0.05, 0.5, 5)
    np.testing.assert_allclose(
        solution.evaluate(x=0, t=0, nu=values)["u"], np.linspace(0.05, 0.5, 5), rtol=1e-14
    )


def test_references_get_its_values():
    points = {"x": np.array([0.1, -0.4, 0.1]), "t": np.array([0.3, 0.5, 0.3]),
              "nu": np.array([0.1, 0.2, 0.2])}  # fmt: skip
    exact = heat(reference="cole-hopf", equations={"b": "u_t + u*u_x - nu*u_xx"}).exact(points)
    each = [float(cole_hopf(*row)) for row in zip(*points.values(), strict=True)]
    np.testing.assert_array_equal(exact["u"], each)
    points = {name: array.reshape(3, 1) for name, array in points.items()}
    assert heat().exact(points)["u"].shape == (3, 1)


def test_errors_are_measured_at_a_few_of_its_values():
    test = TestSet(heat(), [])
    values = np.unique(test.coordinates["nu"])
    np.testing.assert_allclose(values, np.geomspace(0.05, 0.5, 5), rtol=1e-12)
    assert 20_000 < len(test.points) < 30_000
    two = TestSet(heat(families=[NU, pinn.Family("c", 0, 1)], equations={"h": "u_t - c*u_xx"}), [])
    assert len(np.unique(two.points[:, 2:], axis=0)) == 9


def test_a_value_at_a_point_holds_for_the_whole_range_or_one_member():
    made = heat(conditions=[
        pinn.PointValue("u", "nu", x=0, t=0), pinn.PointValue("u", 0, x=0, t=1, nu=0.1),
    ])  # fmt: skip
    points = Experiment(made, sampling=FEW).draw_points()
    drawn = points["value_u_x_0_t_0"].coordinates
    assert drawn.shape == (10, 3) and (drawn[:, :2] == 0).all() and np.ptp(drawn[:, 2]) > 0.2
    assert points["value_u_x_0_t_1_nu_0.1"].coordinates.tolist() == [[0, 1, 0.1]]


def test_it_may_be_a_factor_of_the_domain():
    assert heat(domain=X * NU * TIME, families=()).domain == heat().domain
    assert heat(domain=X * NU * TIME).families == (NU,)


def test_it_is_written_in_a_config(tmp_path):
    path = tmp_path / "heat.yaml"
    text = """\
problem:
  domain: {x: [-1, 1], t: {time: [0, 1]}}
  unknowns: [u]
  families: {nu: {low: 0.1/2, high: 0.5, spacing: log}}
  equations: {heat: u_t - nu*u_xx}
  conditions: [initial: {unknown: u, value: sin(pi*x)}, dirichlet: {unknown: u, value: 0}]
  reference: {u: exp(-nu*pi**2*t)*sin(pi*x)}
"""
    path.write_text(text)
    config = load(path)
    problem = config.experiment.problem
    assert (problem.domain, problem.families) == (X * TIME * NU, (NU,))
    path.write_text(config.text())
    assert load(path).experiment.problem.domain == problem.domain
    path.write_text(text.replace("{low: 0.1/2, high: 0.5, spacing: log}", "[0.1/2, 0.5]"))
    assert load(path).experiment.problem.families == (pinn.Family("nu", 0.05, 0.5),)
    path.write_text(text.replace("{low: 0.1/2, high: 0.5, spacing: log}", "[0.5]"))
    with pytest.raises(ValueError, match=r"heat.yaml:4.*families.nu: expected a mapping with keys"):
        load(path)
    path.write_text(text.replace("low: 0.1/2", "low: 0"))
    with pytest.raises(ValueError, match=r"heat.yaml:4.*families.nu.low: expected low > 0"):
        load(path)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"constants": {"nu": 0.1}}, "constants.nu: 'nu' is declared as a family and again"),
        ({"families": [NU, pinn.Family("x", 0, 1)]}, "families.x: 'x' is declared as a coordinate"),
        ({"families": [pinn.Family("u", 0, 1)]}, "families.u: 'u' is declared as an unknown"),
        ({"conditions": [pinn.Dirichlet("u", 0, on="nu=0.5")]}, "no face 'nu=0.5'"),
        ({"domain": NU}, "domain: expected a coordinate besides the families"),
    ],
)
def test_what_does_not_fit_is_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        heat(**changes)
