"""The check before training: counts against what a run then holds and does, refusals, advice."""

import dataclasses
import json
import math

import numpy as np
import pytest

import pinn
from autograd.plan.executors import NumpyExecutor
from pinn.diagnosis import check as diagnosis_of_runs
from pinn.diagnosis import weighed_by_errors
from pinn.diagnosis.check_table import bytes_text, seconds_text
from pinn.files import to_json
from pinn.training.experiment import Experiment

X, T = pinn.Interval("x", -1, 1), pinn.Time("t", 0, 1)
SMALL = pinn.Sampling(interior=400, initial=30, boundary=40, redraw=None, adaptive=None)
MODEL = pinn.MLP(width=12, depth=2)
STAGES = [pinn.Adam(7), pinn.LBFGS(5, memory=6), pinn.SSBroyden(4)]


def problem(equation="u_t + u*u_x - nu*u_xx", conditions=None, **changes):
    given = [pinn.Initial("u", "-sin(pi*x)"), pinn.Dirichlet("u", 0.0)]
    settings = {"constants": {"nu": 0.05}, "name": "burgers", **changes}
    return pinn.Problem(X * T, ["u"], {"flow": equation}, conditions or given, **settings)


def checked(problem, **arguments):
    settings = {"model": MODEL, "sampling": SMALL, "training": STAGES, **arguments}
    return pinn.check(problem, **settings)


@pytest.fixture(scope="module")
def check():
    return checked(problem())


def test_the_blocks_are_what_training_has(check):
    assert [(b.name, b.points, b.rows) for b in check.blocks] == [
        ("flow", 400, 400), ("initial_u", 30, 30), ("dirichlet_u", 40, 40)
    ]  # fmt: skip
    assert check.blocks[0].derivatives == ("u_t", "u", "u_x", "u_xx")
    assert [b.derivatives for b in check.blocks[1:]] == [("u",), ("u",)]
    assert {b.dtype for b in check.blocks} == {"float64"}
    setup = Experiment(problem(), MODEL, SMALL, training=STAGES)
    found = setup.objective()
    residuals = found.residuals(found.theta)
    for block in check.blocks:
        expected = np.sqrt(np.mean(residuals[block.name] ** 2))
        assert block.rms == pytest.approx(expected, rel=1e-12)
    weights = weighed_by_errors(setup)[0].weighting.initial
    assert [b.weight for b in check.blocks] == [weights["flow"], 1, 1] and weights["flow"] < 1
    squares = sum(b.weight * b.rms**2 for b in check.blocks)
    assert check.loss == pytest.approx(squares, rel=1e-12)
    assert check.parameters == found.size == 2 * 12 + 12 + 12 * 12 + 12 + 12 + 1
    assert check.works and check.errors == check.warnings == check.advice == ()


@pytest.mark.parametrize(("stages", "sampling", "said"), [
    ([pinn.Adam(1000)], {}, "drawn anew every 500 steps"),
    ([pinn.Adam(500)], {}, "kept"),
    ([pinn.Adam(501), pinn.LevenbergMarquardt(20, redraw=None)], {}, "drawn anew every 500 steps"),
    ([pinn.LevenbergMarquardt(20)], {}, "drawn anew when overfitted"),
    ([pinn.Adam(1000)], {"redraw": None}, "kept"),
    ([pinn.Adam(1000)], {"redraw": "auto"}, "drawn anew when overfitted"),
    ([pinn.LevenbergMarquardt(40, redraw=10), pinn.LevenbergMarquardt(90)], {"redraw": 50},
     "drawn anew every 10, then 25 steps, and when overfitted"),
    ([pinn.GaussNewton(9, redraw="never")], {}, "kept"),
])  # fmt: skip
def test_points_are_drawn_anew_as_often_as_the_stages_say(stages, sampling, said):
    points = pinn.Sampling(interior=400, initial=30, boundary=40, adaptive=None, **sampling)
    found = checked(problem(), training=stages, sampling=points)
    assert found.sampling == f"latin-hypercube, {said}"


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_memory_and_operations_are_those_of_a_step(monkeypatch, threads, precision):
    """Counted in the executors that a step binds and runs, some larger than one chunk."""
    options = {"threads": threads, "precision": precision}
    many = pinn.Sampling(interior=6000, initial=30, boundary=40, redraw=None, adaptive=None)
    found = checked(problem(), sampling=many, **options)
    bound, operations = [], []
    really_make, really_run = NumpyExecutor.__init__, NumpyExecutor.run

    def make(self, *arguments):
        really_make(self, *arguments)
        bound.append(self)

    def run(self, known=False):
        operations.append(self.program.work()[1])
        really_run(self, known)

    monkeypatch.setattr(NumpyExecutor, "__init__", make)
    monkeypatch.setattr(NumpyExecutor, "run", run)
    objective = Experiment(problem(), MODEL, many, training=STAGES, **options).objective()
    objective.value_and_gradient(objective.theta)
    assert sum(b.memory_bytes for b in found.blocks) == sum(len(e._arena) for e in bound)
    assert found.flops == sum(b.flops for b in found.blocks) == sum(operations)
    assert 1 <= found.threads <= threads


def test_a_stage_has_the_memory_that_its_state_takes():
    setup = Experiment(problem(), MODEL, SMALL)
    for stage, said in zip(STAGES, checked(problem()).stages, strict=True):
        objective = setup.objective()
        *_, last = _steps(stage, objective)
        vectors = [array.nbytes for array in last.values() if array.size > objective.size]
        single = [a for n, a in last.items() if a.size == objective.size and n != "gradient"]
        held = sum(vectors) + sum(array.nbytes for array in single)
        assert said.memory_bytes == held, stage.name
        assert (said.name, said.steps) == (stage.name, stage.steps)


def test_a_jacobian_and_what_is_made_of_it_are_counted():
    stages = [pinn.LevenbergMarquardt(steps=2), pinn.GaussNewton(steps=2)]
    found = pinn.check(problem(), MODEL, SMALL, stages)
    size, rows = found.parameters, sum(block.rows for block in found.blocks)
    for stage in found.stages:
        # J by itself, or a square of each number beside it
        assert 8 * min(rows, size) * size < stage.memory_bytes < 8 * 20 * rows * (rows + size)
        assert found.memory_bytes > stage.memory_bytes


@pytest.mark.parametrize("width", [8, 40], ids=["more rows", "more numbers"])
def test_a_step_takes_what_is_done_with_matrices_too(monkeypatch, width):
    monkeypatch.setattr(diagnosis_of_runs, "_flops_a_second", lambda: 1e6)
    stages = [pinn.Adam(steps=3), pinn.LevenbergMarquardt(steps=2)]
    found = pinn.check(problem(), pinn.MLP(width, 2), SMALL, stages)
    rows = sum(block.rows for block in found.blocks)
    small, large = sorted((rows, found.parameters))
    adam, of_matrices = found.stages
    assert adam.step_seconds == found.seconds
    least = (large * small**2 + small**3 // 3) / 1e6
    assert of_matrices.step_seconds == pytest.approx(least + 3.5 * found.seconds)
    total = 3 * adam.step_seconds + 2 * of_matrices.step_seconds
    assert f"{seconds_text(total)} or more for all 5 steps" in str(found)


@pytest.mark.parametrize(("stages", "seconds", "stage_said", "said"), [
    ("auto", 10, "steps until the limit of 10 s (", "10 s in all, which is the limit"),
    ([pinn.Adam(10**8)], 7, "adam steps until the limit of 7 s (", "7 s in all, which is the"),
    ([pinn.Adam(3)], 500, "adam 3 steps (", "or more for all 3 steps, 500 s at most"),
    ([pinn.Adam(3, seconds=5)], 500, "adam 3 steps (", "500 s in all at most"),
])  # fmt: skip
def test_what_is_told_of_the_time_is_within_the_limit(stages, seconds, stage_said, said):
    found = checked(problem(), training=stages, seconds=seconds)
    assert found.limit_seconds == seconds
    text = " ".join(str(found).split())
    assert stage_said in text and said in text
    assert " h or more" not in text and "10000000" not in text
    assert str(found).isascii() and max(map(len, str(found).splitlines())) <= 80


def test_operations_a_second_are_those_of_a_product():
    assert 1e7 < diagnosis_of_runs._flops_a_second() < 1e14


def _steps(stage, objective):
    for step in stage.run(objective, objective.theta):
        yield {name: np.array(array) for name, array in step.state.items()}


def test_blocks_at_the_same_points_are_counted_once():
    equations = {"first": "u_t - v_xx", "second": "v_t + u_xx"}
    conditions = [pinn.Initial("u", 0), pinn.Initial("v", 1), pinn.Dirichlet("u", 0),
                  pinn.Dirichlet("v", 1)]  # fmt: skip
    pair = pinn.Problem(X * T, ["u", "v"], equations, conditions)
    found = checked(pair)
    assert [b.after for b in found.blocks] == ["", "first", "", "initial_u", "", "dirichlet_u"]
    assert [b.flops > 0 for b in found.blocks] == [True, False] * 3


def test_the_eager_engine_counts_in_proportion():
    one, two = (
        checked(problem(), engine="eager", sampling=pinn.Sampling(
            interior=n, initial=64, boundary=64, redraw=None, adaptive=None)).blocks[0]
        for n in (640, 1280)
    )  # fmt: skip
    assert (two.flops, two.memory_bytes) == (2 * one.flops, 2 * one.memory_bytes)


def test_it_is_printed_in_80_columns_and_as_json(check):
    lines = str(check).splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[0] == "burgers     u on x in [-1, 1], t in [0, 1]"
    assert lines[-1] == "Nothing seems wrong."
    (row,) = [line for line in lines if line.startswith("flow ")]
    assert row.split()[:3] == ["flow", "400", "400"]
    assert "u_t, u, u_x, u_xx" in row and f"{check.blocks[0].rms:.1e}" in row
    (heading,) = [line for line in lines if line.startswith("block ")]
    place = slice(heading.index("weight"), heading.index("weight") + len("weight"))
    assert float(row[place]) == check.blocks[0].weight
    (total,) = [line for line in lines if line.startswith("total ")]
    assert total.split()[1:3] == ["470", "470"]
    data = json.loads(to_json(check.as_dict()))
    assert data["blocks"][0]["derivatives"] == ["u_t", "u", "u_x", "u_xx"]
    assert data["works"] is True and data["bounds"]["x"] == [-1, 1]
    assert [stage["name"] for stage in data["stages"]] == ["adam", "lbfgs", "ssbroyden"]


def test_weights_that_are_all_one_take_no_column():
    plain = str(checked(problem(), weighting={"flow": 1.0}))
    assert "weight" not in plain and "asks for" in plain


def test_long_names_and_many_derivatives_stay_in_80_columns():
    long = "a_name_that_is_longer_than_any_column_should_be"
    text = "u_t + " + " + ".join(f"diff(u, x, {k})" for k in range(1, 7))
    named = pinn.Problem(X * T, ["u"], {long: text}, [pinn.Initial("u", 0)], name="long-" * 15)
    lines = str(checked(named)).splitlines()
    assert max(map(len, lines)) <= 80
    assert "u_xxxxxx" in str(checked(named))


def test_the_problem_has_it_as_a_method(check):
    again = problem().check(model=MODEL, sampling=SMALL, training=STAGES)
    assert (again.loss, again.flops) == (check.loss, check.flops)


def test_nothing_is_trained_and_the_start_may_be_given(check):
    start = np.zeros(check.parameters)
    found = checked(problem(), start=start)
    assert found.blocks[0].rms == found.blocks[2].rms == 0.0
    assert found.blocks[1].rms == pytest.approx(math.sqrt(0.5), rel=0.2)


@pytest.mark.parametrize(("count", "said"), [
    (0, "0 B"), (812, "812 B"), (1500, "1.5 kB"), (999_999, "1 MB"), (3_400_000, "3.4 MB"),
    (250_000_000, "250 MB"), (7 * 10**9, "7 GB"), (4 * 10**12, "4000 GB"),
])  # fmt: skip
def test_bytes_are_short(count, said):
    assert bytes_text(count) == said


@pytest.mark.parametrize(("seconds", "said"), [
    (0.0, "0 us"), (1.2e-5, "12 us"), (3.44e-3, "3.4 ms"), (0.25, "250 ms"), (1.26, "1.3 s"),
    (42.0, "42 s"), (150.0, "2 min"), (7200.0, "2.0 h"),
])  # fmt: skip
def test_durations_are_short(seconds, said):
    assert seconds_text(seconds) == said


# ---- what cannot work


def test_a_start_without_a_value_is_an_error():
    found = checked(problem("u_t + log(u - 9)"))
    assert not found.works
    (error,) = found.errors
    assert error.startswith("training cannot begin: the residual of block 'flow' is not finite")
    assert "log(u - 9) is nan there" in error
    assert "error: training cannot begin" in str(found)


def test_a_function_whose_rows_depend_on_each_other_is_an_error():
    found = checked(problem(lambda s: s.u_t - s.u.mean()))
    (error,) = found.errors
    assert error.startswith("equation 'flow': a row of its function depends on other points")
    assert checked(problem(lambda s: s.u_t - s.u * s.u_xx)).errors == ()


BROADCAST = [
    (lambda s: s.u_t.reshape(-1, 1) - s.u, "one number a point, got (3, 3)"),
    (lambda s: s.u_t.sum(), "one number a point, got ()"),
]
NOT_VECTORISED = [
    lambda s: s.u_t - math.sin(s.u),
    lambda s: s.u_t if s.x > 0 else s.u,
    lambda s: s.u_t - max(s.u, s.x),
    lambda s: s.u_t - float(s.u),
]


@pytest.mark.parametrize(("function", "said"), BROADCAST)
def test_rows_that_broadcast_are_refused(function, said):
    with pytest.raises(ValueError) as raised:
        checked(problem(function))
    assert str(raised.value).startswith("equation 'flow': expected a residual of shape (3,)")
    assert said in str(raised.value)


@pytest.mark.parametrize("function", NOT_VECTORISED)
def test_a_function_of_one_point_is_refused(function):
    with pytest.raises(TypeError, match="equation 'flow': its function is called once with the v"):
        checked(problem(function))


def test_the_function_of_a_reference_is_called_with_all_points_too():
    with pytest.raises(TypeError, match="reference: its function is called once"):
        checked(problem(reference=lambda s: math.sin(s.x)))
    with pytest.raises(TypeError, match="reference: its function is called once"):
        checked(problem(reference=lambda s: s.x if s.x > 0 else s.t))


def test_an_equation_that_does_not_use_the_unknowns_is_refused():
    with pytest.raises(ValueError, match="expected at least one of the unknowns u in it"):
        problem("x*t")
    with pytest.raises(ValueError, match=r"one of the unknowns u in it, got 'x\*t'"):
        problem(lambda s: s.x * s.t)
    with pytest.raises(ValueError, match="'flow'.*depends on the unknowns"):
        checked(problem(lambda s: (s.x * s.t).clone()))


def test_an_empty_part_of_the_boundary_is_refused():
    with pytest.raises(ValueError, match="x < -5"):
        checked(problem(conditions=[pinn.Initial("u", 0), pinn.Dirichlet("u", 0, on="x < -5")]))


# ---- what seems wrong


def test_an_unknown_that_no_equation_uses_is_told_of():
    conditions = [pinn.Initial("u", 0), pinn.Dirichlet("u", 0), pinn.Dirichlet("v", 1)]
    pair = pinn.Problem(X * T, ["u", "v"], {"heat": "u_t - u_xx"}, conditions)
    (said,) = checked(pair).warnings
    assert said.startswith("no equation uses the unknown 'v'")


def test_a_missing_initial_condition_is_told_of():
    (said,) = checked(problem(conditions=[pinn.Dirichlet("u", 0)])).warnings
    assert said.startswith("the solution seems not to be determined in t")


def test_more_conditions_than_are_taken_are_warned_of():
    extra = [pinn.Initial("u", "sin(pi*x)"), pinn.Dirichlet("u", 0), pinn.Terminal("u", 0)]
    (said,) = checked(problem(conditions=extra)).warnings
    assert said.startswith("more is asked for in t than the equation 'flow' can be given: 2 ")
    assert "initial_u at t = 0" in said and "terminal_u at t = 1" in said


def test_of_very_many_conditions_the_first_are_named():
    inside = pinn.Operator("u", at={"x": list(np.linspace(-0.9, 0.9, 500))})
    poisson = pinn.Problem(X, ["u"], {"poisson": "u_xx + 1"}, [pinn.Dirichlet("u", 0), inside])
    (said,) = checked(poisson).warnings
    assert "502 conditions where 2 are taken, its order in x (dirichlet_u at x = -1, " in said
    assert " and 494 more); unless they agree, " in said and len(said) < 600


def test_an_unknown_field_needs_more_data_than_the_equation_takes():
    x = np.linspace(-1, 1, 9)
    conditions = [pinn.Dirichlet("u", 0), pinn.Data("u", {"x": x, "u": 1 - x**2})]
    source = pinn.Problem(
        X, ["u"], {"poisson": "u_xx - q"}, conditions, fields=[pinn.Field("q", ["x"])]
    )
    assert checked(source).advice == ()


def test_what_the_network_meets_up_to_rounding_is_not_weighed():
    periodic = [pinn.Initial("u", "cos(pi*x)"), pinn.Periodic("u", "x", orders=2)]
    heat = pinn.Problem(X * T, ["u"], {"heat": "u_t - u_xx"}, periodic)
    found = pinn.check(heat, pinn.MLP(features=["cos(pi*x)", "t"]))
    assert found.advice == ()


def test_pieces_of_one_face_are_no_surplus():
    x, y = pinn.Interval("x", 0, 1), pinn.Interval("y", 0, 1)
    pieces = [pinn.Dirichlet("u", 0, on=on) for on in ("x=1", "y=0", "y=1")]
    pieces += [pinn.Dirichlet("u", 0, on=["x=0"])]
    poisson = pinn.Problem(x * y, ["u"], {"poisson": "laplacian(u) + 1"}, pieces)
    assert checked(poisson).warnings == ()


def test_a_mean_is_no_surplus_beside_slopes_at_both_ends():
    level = [pinn.Neumann("u", 0), pinn.Integral("u", 0, mean=True)]
    line = pinn.Problem(X, ["u"], {"poisson": "u_xx + cos(pi*x)"}, level)
    assert checked(line).warnings == ()


def test_sides_that_no_line_meets_together_are_no_surplus():
    step = pinn.Polygon([(0, 0), (4, 0), (4, 2), (2, 2), (2, 1), (0, 1)])
    poisson = pinn.Problem(
        step, ["u"], {"poisson": "laplacian(u) + 1"},
        [pinn.Dirichlet("u", 0, on=on) for on in ("x=0", "x=2", "x=4", "y=0", "y=1", "y=2")],
    )
    assert checked(poisson).warnings == ()
    twice = dataclasses.replace(
        poisson, conditions=[*poisson.conditions, pinn.Neumann("u", 0, on="x=2")]
    )
    (said,) = checked(twice).warnings
    assert said.startswith("more is asked for in x than the equation 'poisson' can be given: 3 ")


def test_a_problem_in_units_that_are_scaled_gets_no_advice_on_them():
    steel = pinn.Interval("x", 0, 0.1) * pinn.Time("t", 0, 600)
    heat = pinn.Problem(
        steel, ["T"], {"heat": "rc*T_t - k*T_xx"},
        [pinn.Initial("T", "300 + 1000*x"), pinn.Dirichlet("T", 300)],
        constants={"rc": 4e6, "k": 50.0},
    )  # fmt: skip
    found = checked(heat)
    assert found.advice == ()
    assert [one.partition(":")[0] for one in found.decided] == ["scale of outputs", "weights"]
    told = " ".join(str(found).split())
    assert "chosen scale of outputs: T 100: T is about" in told and "chosen weights: heat " in told


def test_terms_a_million_times_apart_are_advice_in_widths_of_the_domain():
    thin = pinn.Interval("x", 0, 1e-4) * pinn.Time("t", 0, 1)
    heat = pinn.Problem(
        thin, ["u"], {"heat": "u_t - u_xx"}, [pinn.Initial("u", 0), pinn.Dirichlet("u", 1)]
    )
    said = checked(heat).advice
    assert said[0].startswith(
        "in equation 'heat' the coefficients of u_xx and u_t are a factor of 10^8 apart "
        "(about 1e+08 and 1, with coordinates measured in widths"
    )
    same = pinn.Problem(
        thin, ["u"], {"heat": "u_t - 1e-8*u_xx"}, [pinn.Initial("u", 0), pinn.Dirichlet("u", 1)]
    )
    assert not any("in equation" in sentence for sentence in checked(same).advice)


def test_losses_a_million_times_apart_are_advice():
    (said,) = checked(problem("1e5*(u_t + u*u_x - nu*u_xx)"), weighting={"flow": 1}).advice
    assert said.startswith("at the start the loss of flow (")
    assert "weighting: {flow: 1e-06}" in said


def test_losses_apart_by_units_are_no_reason_for_weights():
    raw = pinn.Interval("x", 0, 1) * pinn.Time("t", 0, 3e6)
    heat = pinn.Problem(
        raw, ["u"], {"heat": "u_t - 3e-7*u_xx"},
        [pinn.Initial("u", "2e6*sin(pi*x)"), pinn.Dirichlet("u", 0)],
    )  # fmt: skip
    found = pinn.check(heat, pinn.MLP(scale={"u": 1}), weighting={"heat": 1}).advice
    (said,) = [one for one in found if one.startswith("at the start the loss")]
    assert "the units (t is 3e+06 wide, initial_u gives u values of about 1e+06)" in said
    assert "scale: data" in said and "t in units of 3e+06" in said and "weighting" not in said


@pytest.mark.parametrize("hard", [False, True])
@pytest.mark.parametrize("orders", [1, 2, 3])
def test_slopes_of_a_period_are_no_surplus(hard, orders):
    period = [pinn.Periodic("u", "t", orders=orders, hard=hard)]
    forced = pinn.Problem(T, ["u"], {"forced": "u_t + u - cos(2*pi*t)"}, period)
    assert checked(forced).warnings == ()
    twice = dataclasses.replace(forced, conditions=[*period, pinn.Initial("u", 0.2)])
    (said,) = checked(twice).warnings
    assert said.startswith("more is asked for in t than the equation 'forced' can be given: 2 ")


def test_a_model_that_is_chosen_by_the_clock_is_told_as_that():
    smooth = pinn.Problem(
        pinn.Interval("x", 0, 1), ["u"], {"e": "u_xx + sin(3*x)"}, [pinn.Dirichlet("u", 0)]
    )

    def timed(**given):
        found = checked(smooth, sampling=pinn.Sampling(), training=pinn.Auto(), **given).decided
        return [one for one in found if one.startswith("by the clock")]

    (said,) = timed(model=pinn.AutoModel(), seconds=2)
    assert "another number of features, or another model" in said
    assert timed(model=pinn.AutoModel()) == timed(seconds=2) == []


def test_callbacks_hear_how_far_a_trial_has_come():
    class Listening(pinn.Callback):
        said = ()

        def on_choosing(self, sentence):
            self.said += (sentence,)

    line = pinn.Problem(pinn.Interval("x", 0, 1), ["u"], {"line": "u_xx - 1"},
                        [pinn.Dirichlet("u", 0)])  # fmt: skip
    listening = Listening()
    found = pinn.check(line, callbacks=[listening])
    assert "random features" in listening.said[0] and "random features" in str(found)
