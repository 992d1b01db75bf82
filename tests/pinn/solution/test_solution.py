"""Solutions: evaluate, differentiate, draw, save and load."""

import json
from dataclasses import replace

import numpy as np
import pytest

import autograd as T
import pinn
from pinn.files import DamagedFile, read_npz, write_npz
from pinn.models import parameter_count
from pinn.runs import figures
from pinn.runs.run import Run
from pinn.solution.storage import experiment_json

# One face is left free, which is no matter here.
pytestmark = pytest.mark.filterwarnings("ignore::pinn.ProblemWarning")

X, TIME = pinn.Interval("x", -1, 1), pinn.Time("t", 0, 0.5)
STAGES = [pinn.Adam(15, schedule=pinn.ExponentialDecay(1e-4)), pinn.LBFGS(12)]


def heat(**changes):
    arguments = {
        "equations": {"heat": "u_t - k*u_xx + c*v", "other": "v - u_x"},
        "conditions": [pinn.Initial("u", "sin(pi*x)"), pinn.Dirichlet("u", 0, on="x=1")],
        "constants": {"c": "1/3"},
        "parameters": [pinn.Parameter("k", 0.1, lower=0, upper=1)],
        "reference": {"u": "exp(-t)*sin(pi*x)"},
    }
    return pinn.Problem(X * TIME, ["u", "v"], name="heat", **{**arguments, **changes})


def solve(problem=None, **changes):
    arguments = {
        "model": pinn.MLP(width=6, depth=2, activation="sin"),
        "sampling": pinn.Sampling(30, 10, 10, "sobol"),
        "training": STAGES,
        "weighting": {"initial_u": 5.0},
        "seed": 7,
    }
    return pinn.solve(problem or heat(), **{**arguments, **changes})


@pytest.fixture(scope="module")
def solution():
    return solve()


XS, TS = np.linspace(-1, 1, 5), np.linspace(0, 0.5, 3)


def test_coordinates_broadcast_and_shapes_are_kept(solution):
    grid = solution.evaluate(x=XS[:, None], t=TS)
    assert {name: values.shape for name, values in grid.items()} == {"u": (5, 3), "v": (5, 3)}
    for i, x in enumerate(XS):
        for j, t in enumerate(TS):
            one = solution.evaluate(t=t, x=float(x))
            assert one["u"].shape == ()
            np.testing.assert_allclose(one["u"], grid["u"][i, j], rtol=1e-12)
    assert solution.evaluate(x=XS.tolist(), t=0)["v"].shape == (5,)
    assert solution.evaluate(x=np.zeros((2, 0)), t=0.1)["u"].shape == (2, 0)


def test_large_sets_of_points_equal_small_ones(solution):
    x = np.linspace(-1, 1, 20_001)
    whole = solution.evaluate(x=x, t=0.2)["u"]
    few = solution.evaluate(x=x[::4000], t=0.2)["u"]
    np.testing.assert_allclose(whole[::4000], few, rtol=1e-12)
    slope = solution.derivative("u_x", x=x, t=0.2)
    assert slope.shape == x.shape
    np.testing.assert_allclose(
        slope[::4000], solution.derivative("u_x", x=x[::4000], t=0.2), rtol=1e-11
    )


def test_derivatives_equal_finite_differences(solution):
    h = 1e-4

    def u(x, t):
        return solution.evaluate(x=x, t=t)["u"]

    x, t = XS[1:4], 0.2
    values = {
        "u": u(x, t),
        "u_x": (u(x + h, t) - u(x - h, t)) / (2 * h),
        "u_t": (u(x, t + h) - u(x, t - h)) / (2 * h),
        "u_xx": (u(x + h, t) - 2 * u(x, t) + u(x - h, t)) / h**2,
        "u_xt": (u(x + h, t + h) - u(x + h, t - h) - u(x - h, t + h) + u(x - h, t - h))
        / (4 * h**2),
        "laplacian(u)": (u(x + h, t) - 2 * u(x, t) + u(x - h, t)) / h**2,
    }
    for text, expected in values.items():
        got = solution.derivative(text, x=x, t=t)
        np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-6)


def test_any_expression_of_the_problem_can_be_evaluated(solution):
    at = {"x": XS[:, None], "t": TS}
    values = {n: solution.derivative(n, **at) for n in ("u_t", "u_xx", "v")}
    k = solution.parameters["k"]
    expected = values["u_t"] - k * values["u_xx"] + values["v"] / 3
    got = solution.derivative("u_t - k*u_xx + c*v", **at)
    np.testing.assert_allclose(got, expected, rtol=1e-12, atol=1e-14)
    assert solution.derivative("2*c", **at).tolist() == [[2 / 3] * 3] * 5


@pytest.mark.parametrize(
    ("coordinates", "error", "message"),
    [
        ({"x": 0}, TypeError, r"t is missing: give its value, as in evaluate\(x=\.\.\., t"),
        ({"x": 0, "t": "a"}, TypeError, "t: expected a number or an array of numbers, got 'a'"),
        ({"x": 0, "t": 0, "z": 0}, TypeError, "'z' is no coordinate of this problem"),
        ({"x": np.zeros(3), "t": np.zeros(4)}, ValueError, r"together: x \(3,\), t \(4,\)"),
        ({"x": [1, "a"], "t": 0}, TypeError, "x: expected a number or an array of numbers"),
    ],
)
def test_other_coordinates_are_refused(solution, coordinates, error, message):
    with pytest.raises(error, match=message):
        solution.evaluate(**coordinates)
    with pytest.raises(error, match=message):
        solution.derivative("u_x", **coordinates)


def test_coordinates_are_given_by_name(solution):
    with pytest.raises(TypeError, match=r"by name: evaluate\(x=\.\.\., t=\.\.\.\)"):
        solution.evaluate(np.zeros((10, 2)))


def test_one_expression_is_no_list_of_them(solution):
    with pytest.raises(TypeError, match=r"got 'u_x'; put it in \[ \], or take `derivative`"):
        solution.derivatives("u_x", x=0, t=0)


def test_a_normal_is_on_the_boundary_only(solution):
    with pytest.raises(ValueError, match="which only the points of a boundary have; .*such as u_x"):
        solution.derivative("dn(u)", x=0, t=0)


def test_the_directory_of_a_run_has_its_solution(tmp_path, solution):
    with pytest.raises(FileNotFoundError, match="solution.npz"):
        pinn.load(tmp_path)
    solution.save(tmp_path / "solution.npz")
    for path in (tmp_path, str(tmp_path)):
        assert pinn.load(path).evaluate(x=0, t=0) == solution.evaluate(x=0, t=0)


def test_other_texts_are_refused(solution):
    with pytest.raises(ValueError, match="unknown name 'w_x'"):
        solution.derivative("w_x", x=0, t=0)


def test_a_solution_has_its_own_model():
    snapshots = []

    class Keep(pinn.Callback):
        def on_start(self, session):
            self.session = session

        def on_step(self, record):
            if record.step == 1:
                snapshots.append((self.session.solution(record), record))

    solve(callbacks=[Keep()])
    snapshot, record = snapshots[0]
    np.testing.assert_array_equal(snapshot.theta, record.theta)


# ---- figures


def test_plots(solution):
    figure = solution.plot("u")
    assert type(figure).__name__ == "Figure"
    data = solution.field_data("u")
    assert list(data.coordinates) == ["x", "t"] and data.time == "t"
    x, t = data.coordinates["x"], data.coordinates["t"]
    np.testing.assert_array_equal(data.values, solution.evaluate(x=x[:, None], t=t)["u"])
    np.testing.assert_allclose(data.reference, np.exp(-t) * np.sin(np.pi * x[:, None]), rtol=1e-14)
    assert solution.field_data("v").reference is None


def test_a_cut_through_a_solution(solution):
    data = solution.field_data("u", t=0.25)
    assert list(data.coordinates) == ["x"] and data.fixed == {"t": 0.25}
    np.testing.assert_allclose(
        data.values, solution.evaluate(x=data.coordinates["x"], t=0.25)["u"], rtol=1e-12
    )
    assert type(solution.plot("u", t=0.25)).__name__ == "Figure"


def test_derivatives_and_expressions_are_drawn_as_unknowns_are(solution):
    data = solution.field_data("u_x")
    x, t = data.coordinates["x"], data.coordinates["t"]
    u = solution.evaluate(x=x[:, None], t=t)["u"]
    slopes = np.gradient(u, x, axis=0, edge_order=2)
    np.testing.assert_allclose(data.values, slopes, atol=1e-3 * np.abs(slopes).max())
    assert data.reference is None and data.title() == "$u_{\\mathrm{x}}$($x$, $t$)"
    data = solution.field_data("u*u_x - v", t=0.25)
    expected = solution.derivative("u*u_x - v", x=data.coordinates["x"], t=0.25)
    np.testing.assert_array_equal(data.values, expected)
    assert data.title() == "u*u_x - v, $t$ = 0.25"
    axes = solution.plot(["u", "u_x"], t=0.25).axes[0]
    assert axes.get_ylabel() == "$u$, $u_{\\mathrm{x}}$"
    assert type(solution.plot("u_t", t=[0, 0.5])).__name__ == "Figure"


def test_an_expression_is_drawn_over_the_coordinates_that_it_depends_on(solution):
    data = solution.field_data("integral(u, x, 0, 1)")
    t = data.coordinates["t"]
    assert list(data.coordinates) == ["t"]
    x, weights = np.polynomial.legendre.leggauss(20)
    u = solution.evaluate(x=(x[:, None] + 1) / 2, t=t)["u"]
    np.testing.assert_allclose(data.values, weights @ u / 2, rtol=1e-7)


def test_lines_over_each_other(solution):
    axes = solution.plot("v", t=[0, 0.25, 0.5]).axes[0]
    assert [line.get_label() for line in axes.get_lines()] == [
        "$t$ = 0", "$t$ = 0.25", "$t$ = 0.5"
    ]  # fmt: skip
    last = axes.get_lines()[2]
    np.testing.assert_allclose(
        last.get_ydata(), solution.evaluate(x=last.get_xdata(), t=0.5)["v"], rtol=1e-12
    )
    axes = solution.plot(["u", "v"], t=0.25).axes[0]
    assert axes.get_ylabel() == "$u$, $v$"
    axes = solution.plot(["u", "v"], x=[0, 1], vmin=-2, vmax=2).axes[0]
    labels = [line.get_label() for line in axes.get_lines()]
    assert [label for label in labels if label != "reference"] == [
        "$u$, $x$ = 0", "$u$, $x$ = 1", "$v$, $x$ = 0", "$v$, $x$ = 1"
    ]  # fmt: skip
    assert axes.get_ylim() == (-2, 2)


def test_colours_are_those_asked_for(solution):
    assert solution.plot("u", vmin=-3, vmax=0.5).axes[0].collections[0].get_clim() == (-3, 0.5)
    assert solution.plot("v", log=True) is not None


def orbit():
    return solve(pinn.Problem(
        pinn.Time("t", 0, 1), ["r", "p"], {"r": "r_t - p", "p": "p_t + r"},
        [pinn.Initial("r", 1.0), pinn.Initial("p", 0.0)],
    ), weighting=None, training=[pinn.Adam(2)])  # fmt: skip


def test_curves_of_one_coordinate_are_drawn_together():
    solution = orbit()
    top = solution.plot().axes[0]
    assert [line.get_label() for line in top.get_lines()] == ["$r$", "$p$"]
    for line, name in zip(top.get_lines(), "rp", strict=True):
        there = solution.evaluate(t=line.get_xdata())[name]
        np.testing.assert_allclose(line.get_ydata(), there, rtol=1e-12)
    assert len(solution.plot("p").axes[0].get_lines()) == 1
    assert solution.plot("p").get_suptitle() == ""


def test_figures_of_training_that_diverged_say_so(tmp_path, monkeypatch):
    solution = orbit()
    solution.report = replace(solution.report, stop_reason="diverged")
    for asked in (None, "r"):
        assert solution.plot(asked).get_suptitle() == "training diverged: its last good state"
    drawn = []
    monkeypatch.setattr(figures, "figure_bytes", lambda figure, *_: drawn.append(figure) or b"")
    figures.draw_run(Run.create(tmp_path / "run"), solution)
    assert len(drawn) == 4
    assert all("training diverged" in figure.get_suptitle() for figure in drawn)


def test_a_moving_plane_is_drawn_at_the_start_the_middle_and_the_end(tmp_path, monkeypatch):
    plane = pinn.Disk((0, 0), 1) * pinn.Time("t", -1, 1)
    problem = pinn.Problem(plane, ["u"], {"heat": "u_t - laplacian(u)"}, [pinn.Initial("u", 1.0)])
    solution = solve(problem, weighting=None, training=[pinn.Adam(1)])
    drawn = []
    monkeypatch.setattr(figures, "figure_bytes", lambda figure, *_: drawn.append(figure) or b"")
    monkeypatch.setattr(figures, "_UNASKED_SECONDS", 0.0)
    paths = figures.draw_run(Run.create(tmp_path / "run"), solution)
    assert [path.stem for path in paths] == ["field_u", "slices_u", "points"]
    times = ["$t$ = \N{MINUS SIGN}1", "$t$ = 0", "$t$ = 1"]
    for figure in (drawn[1], solution.plot("u", t=[-1, 0, 1])):
        assert [axes.get_title(loc="left") for axes in figure.axes[:3]] == times
    rim = drawn[0].axes[0].patches[0].get_path().vertices
    np.testing.assert_allclose(np.hypot(*rim.T), 1, atol=1e-7)


def test_what_is_left_of_the_equations_is_their_value(solution):
    left = solution.residuals(x=XS[:, None], t=TS)
    texts = {"heat": "u_t - k*u_xx + c*v", "other": "v - u_x"}
    assert left.keys() == texts.keys()
    for name, text in texts.items():
        there = solution.derivative(text, x=XS[:, None], t=TS)
        np.testing.assert_array_equal(left[name], there)
    with pytest.raises(TypeError, match="t is missing"):
        solution.residuals(x=XS)


def test_bad_plots_are_refused(solution):
    with pytest.raises(ValueError, match="hold the others fixed"):
        solution.plot(["u", "v"])
    with pytest.raises(ValueError, match="lists for x, t; hold the others at one value"):
        solution.plot("u", x=[0, 1], t=[0, 1])
    with pytest.raises(ValueError, match="no point of the domain has t = 7; t goes from 0 to 0.5$"):
        solution.plot("u", t=7)
    with pytest.raises(ValueError, match="unknown name 'w'; the names here are u, v, x, t,"):
        solution.plot("w")
    with pytest.raises(ValueError, match=r"'2\*pi' is the same everywhere, and no field; expected "
                       r"an unknown \(u, v.*\) or an expression"):  # fmt: skip
        solution.plot("2*pi")
    with pytest.raises(ValueError, match="the expression is a vector of 1 comp"):
        solution.plot("grad(u)")
    with pytest.raises(ValueError, match="expected coordinates out of x, t, got 'y'"):
        solution.plot("u", y=0)
    with pytest.raises(ValueError, match="every coordinate is held"):
        solution.plot("u", x=0, t=0)


# ---- files


@pytest.mark.parametrize("what", ["solution", "checkpoint"])
def test_what_is_loaded_has_the_same_bits(tmp_path, solution, what):
    path = tmp_path / "saved.npz"
    if what == "solution":
        solution.save(path)
    else:
        write_npz(path, solution.checkpoint())
    loaded = pinn.load(path)
    assert loaded.theta.tobytes() == solution.theta.tobytes()
    assert loaded.report == solution.report
    assert loaded.experiment.model == solution.experiment.model
    assert loaded.experiment.training == solution.experiment.training
    assert experiment_json(loaded.experiment) == experiment_json(solution.experiment)
    at = {"x": XS[:, None], "t": TS}
    for name, values in solution.evaluate(**at).items():
        assert loaded.evaluate(**at)[name].tobytes() == values.tobytes()
    residual = "u_t - k*u_xx + c*v"
    assert (
        loaded.derivative(residual, **at).tobytes() == solution.derivative(residual, **at).tobytes()
    )
    assert loaded.errors() == (solution.report.rel_l2, solution.report.max_error)


def test_a_loaded_setup_trains_to_the_same_bits(tmp_path, solution):
    solution.save(tmp_path / "saved.npz")
    setup = pinn.load(tmp_path / "saved.npz").experiment
    again = pinn.solve(
        setup.problem, setup.model, setup.sampling, setup.training, setup.weighting, setup.seed
    )
    assert again.theta.tobytes() == solution.theta.tobytes()


def test_a_checkpoint_holds_the_state_of_training():
    def interrupt(record):
        if record.step == 9:
            raise KeyboardInterrupt

    records = []
    stopped = solve(callbacks=[records.append, interrupt])
    arrays = stopped.checkpoint()
    progress = json.loads(arrays["progress"].tobytes())["last"]
    told = {
        "stage_index": 0, "stage_step": 9, "step": 9, "draw": 0,
        "lowest": min(sum(record.losses.values()) for record in records), "setbacks": [],
    }  # fmt: skip
    assert told.items() <= progress.items()
    assert [list(choice["stage"]) for choice in progress["choices"]] == [["adam"]]
    np.testing.assert_array_equal(arrays["solver/first"], records[-1].solver_state["first"])
    assert arrays["points/heat"].shape == (30, 2)
    assert arrays["theta/model.weight0"].shape == (6, 2)
    assert arrays["theta/k"].shape == ()


def test_a_problem_with_functions_loads_for_evaluation(tmp_path):
    problem = heat(
        equations={"heat": lambda s: s.u_t - s.k * s.u_xx, "other": "v - u_x"},
        conditions=[pinn.Initial("u", lambda s: s.sin(s.pi * s.x))],
        reference=lambda s: {"u": s.x},
    )
    solution = solve(problem, weighting=None)
    solution.save(tmp_path / "saved.npz")
    loaded = pinn.load(tmp_path / "saved.npz")
    at = {"x": XS, "t": 0.1}
    assert loaded.evaluate(**at)["u"].tobytes() == solution.evaluate(**at)["u"].tobytes()
    assert loaded.problem.equations["other"] == "v - u_x"
    with pytest.raises(RuntimeError, match="heat: it was a Python function"):
        pinn.solve(loaded.problem)


class Own:
    """A recipe that no table knows."""

    def build(self, domain, unknowns, rng, dtype, device="cpu"):
        return pinn.MLP(3, 1).build(domain, unknowns, rng, dtype, device)


def module():
    return T.nn.Sequential(
        T.nn.Linear(2, 5, dtype=T.float64), T.nn.Tanh(), T.nn.Linear(5, 2, dtype=T.float64)
    )


@pytest.mark.parametrize("make", [Own, module])
def test_a_model_of_the_users_own_is_given_again_when_it_is_loaded(tmp_path, make):
    model = make()
    solution = solve(model=model)
    solution.save(tmp_path / "saved.npz")
    name = type(model).__name__
    with pytest.raises(ValueError, match=f"its model is a {name}.*give it: pinn.load"):
        pinn.load(tmp_path / "saved.npz")
    loaded = pinn.load(tmp_path / "saved.npz", model=make())
    assert loaded.evaluate(x=0.3, t=0.1) == solution.evaluate(x=0.3, t=0.1)
    with pytest.raises(DamagedFile, match="expected shape|expected the parameters"):
        pinn.load(tmp_path / "saved.npz", model=pinn.MLP(2, 1))


def test_training_leaves_a_module_that_was_given_as_it_is():
    own = module()
    before = [parameter.numpy(force=True).copy() for parameter in own.parameters()]
    solve(model=own)
    for old, parameter in zip(before, own.parameters(), strict=True):
        np.testing.assert_array_equal(old, parameter.numpy(force=True))


def test_parameters_that_are_frozen_stay_as_they_are(tmp_path):
    """As buffers do: the features of a network, or layers that were trained elsewhere."""

    def features(frozen):
        own = module()
        first = next(own.parameters())
        if frozen:
            first.requires_grad_(False)
        return own, first.detach().numpy().copy()

    (model, kept), (free, _) = features(True), features(False)
    solution, other = solve(model=model), solve(model=free)
    assert solution.theta.size == other.theta.size - kept.size
    assert kept.tobytes() not in solution.theta.tobytes()
    with pytest.raises(AssertionError):
        np.testing.assert_array_equal(solution.theta, other.theta[kept.size :])
    solution.save(tmp_path / "saved.npz")
    loaded = pinn.load(tmp_path / "saved.npz", model=model)
    assert loaded.evaluate(x=0.3, t=0.1) == solution.evaluate(x=0.3, t=0.1)
    with pytest.raises(ValueError, match=r"model\.0\.weight of the module that was given is not"):
        pinn.load(tmp_path / "saved.npz", model=features(True)[0])


@pytest.mark.parametrize("around", [
    lambda own: pinn.Windows(2, model=own), lambda own: pinn.PerUnknown(each=own),
], ids=["windows", "per unknown"])  # fmt: skip
def test_frozen_parameters_of_parts_are_told_apart_too(tmp_path, around):
    def part():
        own = T.nn.Sequential(
            T.nn.Linear(2, 5, dtype=T.float64), T.nn.Tanh(), T.nn.Linear(5, 1, dtype=T.float64)
        )
        next(own.parameters()).requires_grad_(False)
        return own

    own, problem = part(), pinn.Problem(
        pinn.Interval("x", 0, 1) * pinn.Time("t", 0, 1), ["u"], {"e": "u_t - 0.1*u_xx"},
        [pinn.Initial("u", "sin(pi*x)"), pinn.Dirichlet("u", 0)],
    )  # fmt: skip
    solution = pinn.solve(problem, around(own), pinn.Sampling(interior=40), STAGES)
    solution.save(tmp_path / "saved.npz")
    loaded = pinn.load(tmp_path / "saved.npz", model=around(own))
    assert loaded.evaluate(x=0.3, t=0.6) == solution.evaluate(x=0.3, t=0.6)
    with pytest.raises(ValueError, match="weight of the module that was given is not what it was"):
        pinn.load(tmp_path / "saved.npz", model=around(part()))


def test_the_error_of_a_network_with_frozen_parameters_is_estimated():
    own = module()
    next(own.parameters()).requires_grad_(False)
    solution = solve(model=own)
    trained = solution.theta.size - len(solution.parameters)
    assert parameter_count(own, solution.problem.domain, ["u"]) == trained
    assert solution.error_estimate().relative_l2


def test_buffers_that_are_not_those_of_training_are_refused(tmp_path):
    own = module()
    own.register_buffer("scale", T.tensor([2.0], dtype=T.float64))
    solution = solve(model=own)
    solution.save(tmp_path / "saved.npz")
    assert pinn.load(tmp_path / "saved.npz", model=own).held == solution.held
    own.scale = T.tensor([3.0], dtype=T.float64)
    with pytest.raises(ValueError, match=r"model\.scale of the module.*load_state_dict"):
        pinn.load(tmp_path / "saved.npz", model=own)


def test_hooks_of_parameters_are_refused_since_nothing_would_call_them():
    own = module()
    first = next(own.parameters())
    for register in (first.register_hook, first.register_post_accumulate_grad_hook):
        handle = register(lambda gradient: None)
        with pytest.raises(ValueError, match="has a hook, which training does not call.*freezes"):
            solve(model=own)
        handle.remove()
    assert solve(model=own).report.steps > 0


class Returns:
    def __init__(self, made):
        self.made = made

    def build(self, domain, unknowns, rng, dtype, device="cpu"):
        return self.made


@pytest.mark.parametrize(
    ("model", "error", "message"),
    [
        (Returns(None), TypeError, "expected an autograd.nn.Module from Returns.build.* NoneType"),
        (Returns(T.nn.Tanh()), ValueError, "Returns has no parameters to train"),
        (T.nn.Linear(2, 2), ValueError, "'weight' of Linear is float32, but the run is float64"),
    ],
)
def test_models_that_cannot_be_trained_are_refused(model, error, message):
    with pytest.raises(error, match=message):
        solve(model=model)


def test_a_diverged_report_survives_the_file(tmp_path):
    bad = pinn.Problem(TIME, ["u"], {"e": "u*sqrt(t - 1)"})
    solution = pinn.solve(bad, pinn.MLP(3, 1), training=STAGES)
    assert solution.report.stop_reason == "diverged"
    solution.save(tmp_path / "saved.npz")
    loaded = pinn.load(tmp_path / "saved.npz").report
    assert np.isnan(loaded.loss) and loaded.message == solution.report.message


def test_bad_files_are_refused(tmp_path, solution):
    with pytest.raises(ValueError, match="ends in .npz, got"):
        solution.save(tmp_path / "saved.txt")
    with pytest.raises(FileNotFoundError):
        pinn.load(tmp_path / "none.npz")
    path = tmp_path / "saved.npz"
    write_npz(path, {"a": np.zeros(3)})
    with pytest.raises(DamagedFile, match="saved.npz: expected a solution .*no 'format'"):
        pinn.load(path)
    solution.save(path)
    arrays = read_npz(path)
    for changed, message in [
        ({"format": np.array("other 9")}, "its format is 'other 9'"),
        ({"experiment": np.array("{")}, "saved.npz: expected a solution"),
        ({"experiment": np.array("[1]")}, "saved.npz: expected a solution"),
        ({"report": np.array("{}")}, "report: expected an object of stop_reason, message"),
        ({"theta/model.weight0": np.zeros((2, 6))}, r"model.weight0: expected shape \(6, 2\)"),
    ]:
        write_npz(path, {**arrays, **changed})
        with pytest.raises(DamagedFile, match=message):
            pinn.load(path)
    path.write_bytes(path.read_bytes()[:1000])
    with pytest.raises(DamagedFile):
        pinn.load(path)
