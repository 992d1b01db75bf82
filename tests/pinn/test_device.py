"""A whole run on the strict test device: nothing of it may touch the host's arrays by accident."""

import numpy as np
import pytest

import pinn
from autograd.devices import cuda_is_available
from autograd.strict import strict_cuda
from pinn.objective.weighting import NTK, Attention, Causal, Combined, GradNorm
from pinn.training.experiment import Experiment
from pinn.training.judging.noise import of_one_standard_error, to_be_had

X, Y, T = pinn.Interval("x", 0, 1), pinn.Interval("y", 0, 1), pinn.Time("t", 0, 1)
SQUARE = X * Y
PLACES = np.random.default_rng(0).random((12, 2))
XS = np.linspace(0, 1, 11)
SIGNAL = pinn.Table("f", {"x": XS, "f": np.sin(np.pi * XS)}, method="spline")
FIELD = dict(zip("xy", PLACES.T, strict=True))
SCATTERED = {
    method: pinn.Table("a", {**FIELD, "a": 1 + PLACES.sum(axis=1)}, method=method,
                       outside="nearest")
    for method in ("nearest", "linear", "spline")
}  # fmt: skip
MEASURED = pinn.Data("u", {**FIELD, "u": PLACES[:, 0]}, sigma=0.1, robust="huber")
START, EDGE = pinn.Initial("u", "sin(pi*x)"), pinn.Dirichlet("u", 0.0)


def heat(*conditions, **settings):
    given = {"equations": {"heat": "u_t - 0.1*u_xx"}, "conditions": conditions or (START, EDGE)}
    return pinn.Problem(X * T, ["u"], **{**given, **settings})


def plate(equation, *conditions, **settings):
    return pinn.Problem(SQUARE, ["u"], {"plate": equation}, conditions or (EDGE,), **settings)


HOLE = SQUARE - pinn.Disk((0.5, 0.5), 0.2, name="hole")
PROBLEMS = {
    "soft": heat(),
    "hard": heat(pinn.Initial("u", SIGNAL, hard=True), pinn.Dirichlet("u", 0.0, hard=True)),
    "slopes": heat(pinn.Initial("u", "cos(pi*x)", hard=True), pinn.Neumann("u", 0.0, hard=True)),
    "periods": heat(pinn.Initial("u", "sin(2*pi*x)"), pinn.Periodic("u", "x", hard=True)),
    "functions": heat(
        pinn.Initial("u", lambda s: s.sin(s.x), hard=True), EDGE,
        equations={"heat": lambda s: s.u_t - s.where(s.x < 0.5, s.u_xx, s.at("u_xx", x=1 - s.x))},
    ),
    "words": heat(equations={"e": "u_t + min(u, t) + erf(u) + atan2(u, 1) + sech(u) + abs(u_x)"}),
    "family": heat(
        equations={"heat": "u_t - nu*u_xx"}, families=[pinn.Family("nu", 0.01, 1, spacing="log")]
    ),
    "hole": pinn.Problem(
        HOLE, ["u"], {"poisson": "k*laplacian(u) + 1"},
        [
            pinn.Dirichlet("u", 0.0, on="x=0"), pinn.Robin("u", 1, 2, "x", on="hole"),
            pinn.Operator("dn(u) - normal_x", on="x > 0.5"), pinn.PointValue("u", 0.0, x=0, y=0),
            pinn.Integral("u", 0.1), pinn.Integral("integral(u, x, 0, 1)", 0.0, name="line"),
        ],
        regions={"left": "x < 0.5"}, piecewise={"k": {"left": 1, "elsewhere": 2}},
    ),
    "disk": pinn.Problem(
        pinn.Disk(), ["u"], {"e": "fractional_laplacian(u, k, steps=8, directions=3) - 1"},
        [pinn.Dirichlet("u", 0.0, hard=True)],
        parameters=[pinn.Parameter("k", 1.5, lower=1, upper=2)],
    ),
    "history": pinn.Problem(
        T, ["u"], {"e": "u_t + at(u, t=max(t - 0.5, 0)) - integral(at(u, t=s), s, 0, t)"},
        [pinn.Initial("u", 1.0)],
    ),
    "sides": pinn.Problem(
        X, ["u", "v"], {"e": "diff(u, x, 2) - 1", "f": "diff(v, x, 2)"},
        [pinn.Interface("x=0.5", "u", "v", 1, 2), EDGE],
    ),
    "inverse": plate(
        "div(k*c*grad(u)) + 1", EDGE, MEASURED, parameters=[pinn.Parameter("c", 0.5, lower=0)],
        fields=[pinn.Field("k", ["x"], pinn.MLP(4, 1), lower=0)],
    ),
    **{m: plate("a*laplacian(u) + 1", tables=[table]) for m, table in SCATTERED.items()},
}  # fmt: skip
MODELS = {
    "mlp": pinn.MLP(
        6, 2, adaptive="neuron", factorization=pinn.Factorization(), scale="data",
        features=["x", "t", "sin(t)"], embedding=[pinn.FourierEmbedding(3)],
    ),
    "waves": pinn.MLP(6, 2, embedding=pinn.PeriodicEmbedding("x", trainable=True)),
    "siren": pinn.Siren(6, 2),
    "random features": pinn.RandomFeatures(6),
    "pirate_net": pinn.PirateNet(6, 1),
    "kan": pinn.KAN(4, 1, basis="spline"),
    "separable": pinn.Separable(pinn.MLP(6, 1), rank=3),
    "per_unknown": pinn.PerUnknown(pinn.MultiScale(count=3, width=6)),
}  # fmt: skip
WEIGHTINGS = {
    "norms": GradNorm(every=1),
    "kernel": NTK(every=1),
    "rows": Combined([Causal(every=1), Attention(every=1)]),
}
NETWORK = pinn.MLP(6, 2)
SAMPLING = pinn.Sampling(interior=16, initial=4, boundary=8, redraw=2)
STAGES = [pinn.Adam(steps=2), pinn.SSBroyden(steps=2)]


def trained(problem, device, **settings):
    given = {"model": NETWORK, "sampling": SAMPLING, "training": STAGES}
    solution = pinn.solve(problem, device=device, engine="eager", **{**given, **settings})
    points = {name: np.linspace(*pair, 5) for name, pair in problem.domain.bounds.items()}
    return solution, {**solution.evaluate_anywhere(**points), **solution.parameters}


def same_on_the_device(problem, **settings):
    expected, numbers = trained(problem, "cpu", **settings)
    with strict_cuda():
        found, others = trained(problem, "cuda", **settings)
        assert all(tensor.is_cuda for tensor in found._parameters.tensors)
    assert found.report.loss == expected.report.loss and np.isfinite(found.report.loss)
    assert found.report.residual == expected.report.residual
    assert found.report.recovery == expected.report.recovery
    for name, values in numbers.items():
        np.testing.assert_array_equal(others[name], values)


@pytest.mark.filterwarnings("ignore::pinn.ProblemWarning")
@pytest.mark.parametrize("name", PROBLEMS)
def test_every_kind_of_problem_trains_there(name):
    same_on_the_device(PROBLEMS[name])


@pytest.mark.filterwarnings("ignore::pinn.ProblemWarning")
@pytest.mark.parametrize("name", MODELS)
def test_every_kind_of_network_trains_there(name):
    same_on_the_device(heat(), model=MODELS[name])


@pytest.mark.filterwarnings("ignore::pinn.ProblemWarning")
@pytest.mark.parametrize("name", WEIGHTINGS)
def test_weights_are_chosen_there(name):
    same_on_the_device(heat(), weighting=WEIGHTINGS[name])


@pytest.mark.filterwarnings("ignore::pinn.ProblemWarning")
def test_it_is_float32_there_and_nested_derivatives_and_batches():
    fewer = pinn.Sampling(interior=16, initial=4, boundary=8, batch=6, adaptive="r3", redraw=2)
    same_on_the_device(heat(), precision="float32", derivatives="nested", sampling=fewer)


@pytest.mark.filterwarnings("ignore::pinn.ProblemWarning")
def test_standard_errors_at_points_are_the_same():
    def errors(device):
        solution, _ = trained(PROBLEMS["inverse"], device)
        return pinn.standard_errors(solution, x=[0.2, 0.7], y=0.5)["u"]

    expected = errors("cpu")
    with strict_cuda():
        np.testing.assert_array_equal(errors("cuda"), expected)
    assert (expected > 0).all()


def test_what_noise_leaves_to_be_had_is_the_same():
    def left(device):
        setup = Experiment(PROBLEMS["inverse"], NETWORK, SAMPLING, device=device, engine="eager")
        objective = setup.objective()
        unit = of_one_standard_error(objective)
        return unit, to_be_had(objective, objective.theta, unit)

    expected = left("cpu")
    with strict_cuda():
        found = left("cuda")
    assert found == pytest.approx(expected, rel=1e-9) and min(expected) > 0


def test_a_check_and_numbers_that_are_not_finite_tell_the_same():
    problem = heat(equations={"e": "u_t + log(-1 - u*u)"})
    said = pinn.check(problem, sampling=SAMPLING, engine="eager").errors
    with strict_cuda():
        found = pinn.check(problem, sampling=SAMPLING, engine="eager", device="cuda")
    assert found.errors == said and "log(-1 - u*u) is nan there" in said[0]


@pytest.mark.filterwarnings("ignore::pinn.ProblemWarning")
def test_a_run_of_recorded_steps_is_that_of_the_host_to_rounding(gpu):
    # One step differs by 1e-16 or so, each takes on what the one before differs by.
    stages = [pinn.Adam(steps=4), pinn.SSBroyden(steps=6), pinn.LBFGS(steps=5)]
    settings = {"model": pinn.MLP(6, 2), "sampling": SAMPLING, "training": stages}
    points = {"x": np.linspace(0, 1, 5), "t": np.linspace(0, 1, 5)}
    expected = pinn.solve(heat(), **settings)
    found = pinn.solve(heat(), device="cuda", **settings)
    assert found.report.steps == expected.report.steps == 15
    assert found.report.stop_reason == expected.report.stop_reason
    np.testing.assert_allclose(found.report.loss, expected.report.loss, rtol=1e-9)
    np.testing.assert_allclose(found.evaluate(**points)["u"], expected.evaluate(**points)["u"],
                               rtol=0, atol=1e-9)  # fmt: skip


EVERY = {
    **{name: {"problem": one} for name, one in PROBLEMS.items()},
    **{name: {"problem": heat(), "model": one} for name, one in MODELS.items()},
    "weighted": {"problem": heat(), "weighted": True},
}


def of_objective(device, precision, *, problem, model=NETWORK, weighted=False):
    """All that an objective computes at one theta, by name."""
    experiment = Experiment(problem, model, SAMPLING, precision=precision, device=device)
    objective = experiment.objective()
    if weighted:
        name = objective.blocks[0].name
        rows = np.linspace(0.5, 2, objective.blocks[0].rows)
        objective.set_weights({name: 3.0}, {name: rows})
    theta = objective.theta + 0.01
    along = np.random.default_rng(1).standard_normal(objective.size)
    found = objective.value_and_gradient(theta)
    rows, jacobian = objective.jacobian(theta)
    return {
        "loss": found.loss, "gradient": found.gradient, "rows": rows, "jacobian": jacobian,
        "jvp": objective.jvp(theta, along), "vjp": objective.vjp(theta, rows),
        "hvp": objective.hvp(theta, along), "bend": objective.second_jvp(theta, along),
        "kernel": np.concatenate(list(objective.kernel_diagonals(theta).values())),
    }  # fmt: skip


def agrees_there(name, precision):
    tolerance = {"float64": 1e-10, "float32": 2e-3}[precision]
    expected = of_objective("cpu", precision, **EVERY[name])
    for what, found in of_objective("cuda", precision, **EVERY[name]).items():
        scale = np.abs(expected[what]).max()
        np.testing.assert_allclose(found, expected[what], rtol=0, atol=tolerance * scale,
                                   err_msg=f"{name}: {what}")  # fmt: skip


@pytest.mark.filterwarnings("ignore::pinn.ProblemWarning")
def test_all_that_an_objective_computes_there_is_that_of_the_host(stand_in):
    agrees_there("soft", "float64")


@pytest.mark.gpu
@pytest.mark.filterwarnings("ignore::pinn.ProblemWarning")
@pytest.mark.parametrize("precision", ["float64", "float32"])
@pytest.mark.parametrize("name", EVERY)
def test_on_a_gpu_too_for_every_kind_of_problem_and_network(name, precision):
    if not cuda_is_available():
        pytest.skip("no usable GPU")
    agrees_there(name, precision)
