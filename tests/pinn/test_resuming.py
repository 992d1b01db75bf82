"""pinn.solve(resume=...): from any checkpoint the bits of a run that never stopped."""

import dataclasses
import json
import re
from contextlib import contextmanager

import numpy as np
import pytest

import autograd as T
import pinn
from pinn.files import DamagedFile, read_npz, write_npz
from pinn.objective.weighting import WEIGHTINGS
from pinn.sampling import ADAPTIVE, METHODS
from pinn.schema import declared
from pinn.solution.resuming import _short
from pinn.training import choosing
from pinn.training.course import Choice
from pinn.training.plan import PLANS

TIME = pinn.Time("t", 0, 1)
X = pinn.Interval("x", 0, 1)
SMALL = pinn.MLP(width=5, depth=1)
FEW = {"interior": 24, "initial": 8, "boundary": 8, "candidates": 60}


def decay(**changes):
    given = {
        "equations": {"decay": "u_t + u"}, "conditions": [pinn.Initial("u", 1, hard=True)],
        "reference": {"u": "exp(-t)"}, **changes,
    }  # fmt: skip
    return pinn.Problem(TIME, ["u"], **given)


def heat():
    return pinn.Problem(
        pinn.Interval("x", 0, 1) * TIME, ["u", "v"],
        {"heat": "u_t - 0.1*u_xx + v", "other": "v - u_x"},
        [pinn.Initial("u", "sin(pi*x)"), pinn.Dirichlet("u", 0, hard=True)],
    )  # fmt: skip


def inverse(sigma=None):
    data = pinn.Data("u", {"t": [0.25, 0.5, 1.0], "u": [0.78, 0.61, 0.37]}, sigma=sigma)
    return pinn.Problem(
        TIME, ["u"], {"decay": "u_t + k*u"}, [pinn.Initial("u", 1), data],
        parameters=[pinn.Parameter("k", 0.5, lower=0.1)],
    )  # fmt: skip


def comparable(solution):
    """All that is told of a run, but for the times that it took."""
    told = solution.report.as_dict()
    told.pop("wall_seconds")
    told["stages"] = [{**stage, "seconds": 0.0} for stage in told["stages"]]
    told["history"] = [{**line, "wall_s": 0.0} for line in told["history"]]
    told["error_estimate"] = {**told["error_estimate"], "seconds": 0.0}
    return told


class Checkpoints(pinn.Callback):
    """Writes a checkpoint after some of the steps, as a run does."""

    def __init__(self, folder, steps):
        self.folder, self.steps = folder, steps

    def on_start(self, session):
        self.session = session

    def on_step(self, record):
        if record.step in self.steps:
            arrays = self.session.solution(record).checkpoint()
            write_npz(self.folder / f"{record.step}.npz", arrays)


def same_from_every_checkpoint(folder, steps, until=None, **arguments):
    """Solve, go on from each of the checkpoints, and compare; returns the solution.

    until: the step at which a callback ends training.
    """
    heard = Checkpoints(folder, steps)

    def stop(record):
        return record.step == until

    whole = pinn.solve(**arguments, callbacks=[heard, stop])
    paths = sorted(folder.glob("*.npz"))
    assert len(paths) == len(steps)
    for path in paths:
        first = []
        rest = pinn.solve(
            **arguments, resume=path,
            callbacks=[lambda record, seen=first: seen.append(record), stop],
        )
        assert rest.theta.tobytes() == whole.theta.tobytes()
        assert comparable(rest) == comparable(whole)
        after = int(path.stem)
        assert [record.step for record in first] == list(range(after + 1, whole.report.steps + 1))
        # what it leaves can be gone on from as well
        a, b = rest.checkpoint(), whole.checkpoint()
        assert a.keys() == b.keys()
        for name in a.keys() - {"report", "progress"}:
            assert a[name].tobytes() == b[name].tobytes(), name
    return whole


def test_features_for_each_family_go_on_with_the_same_bits(tmp_path):
    problem = pinn.Problem(
        pinn.Interval("x", 0, 1), ["u"], {"e": "u_xx + a + b*x"}, [pinn.Dirichlet("u", 0)],
        families={"a": [0, 1], "b": [0, 1], "c": [0, 1]},
    )  # fmt: skip
    model = pinn.DeepONet(pinn.RandomFeatures(30, (0.5, 4.0)), branch=None)
    same_from_every_checkpoint(
        tmp_path, [1], problem=problem, model=model, sampling=pinn.Sampling(interior=120),
        error_bars=False,
    )  # fmt: skip


@pytest.mark.parametrize("value, told", [
    ({"width": 40, "depth": 3}, '{"width": 40, "depth": 3}'),
    ({"mlp": {"width": 40, "depth": 3, "activation": "tanh", "features": [], "scale": {}}},
     '{"mlp": {"width": 40, "depth": 3, ...}}'),
    ({f"k{i}": 77 for i in range(30)}, '{"k0": 77, "k1": 77, "k2": 77, "k3": 77, "k4": 77, ...}'),
    ([0.1234567] * 30, "[" + "0.1234567, " * 5 + "...]"),
    ({"x" * 100: 1}, "{...}"),
    ({"b": 1, "a": "x" * 100, "c": 2}, '{"b": 1, "a": "' + "x" * 35 + '...", ...}'),
    ("x" * 100, '"' + "x" * 55 + '..."'),
    (["x" * 35, 0.12345678901234568, 1], '["' + "x" * 35 + '", ...]'),
])  # fmt: skip
def test_long_values_are_cut_between_their_items(value, told):
    assert _short(value) == told and len(told) <= 60


def test_stages_in_turn_points_that_change_and_data(tmp_path):
    same_from_every_checkpoint(
        tmp_path, [1, 7, 10, 12, 15, 20, 23, 25], problem=inverse(), model=SMALL,
        sampling=pinn.Sampling(**FEW, redraw=5, adaptive="rad"),
        training=[pinn.Adam(12), pinn.SSBroyden(8), pinn.LevenbergMarquardt(5, redraw=2)],
    )  # fmt: skip


@pytest.mark.parametrize("adaptive", [*ADAPTIVE, None])
@pytest.mark.parametrize("redraw", [3, "auto"])
def test_every_adaptive_method(tmp_path, adaptive, redraw):
    sampling = pinn.Sampling(**{**FEW, "interior": 12}, redraw=redraw, adaptive=adaptive)
    same_from_every_checkpoint(
        tmp_path, [2, 9], problem=heat(), model=SMALL, sampling=sampling,
        training=[pinn.LevenbergMarquardt(12, redraw=None)],
    )  # fmt: skip


@pytest.mark.parametrize("method", METHODS)
def test_every_method_of_placing_points(tmp_path, method):
    sampling = pinn.Sampling(**FEW, method=method, redraw=4, adaptive=None, keep=0.25)
    same_from_every_checkpoint(
        tmp_path, [3, 6], problem=heat(), model=SMALL, sampling=sampling, training=[pinn.Adam(9)]
    )


@pytest.mark.filterwarnings("ignore:the data do not determine")
@pytest.mark.parametrize("name", [name for name in WEIGHTINGS if name not in ("fixed", "combined")])
def test_every_weighting(tmp_path, name):
    sampling = pinn.Sampling(**FEW, redraw=4, adaptive="rad")
    scheme = WEIGHTINGS[name]()
    if hasattr(scheme, "every"):
        scheme = dataclasses.replace(scheme, every=3)
    # noise is so large that its data are fitted at once
    problem = inverse(sigma=0.3) if name == "discrepancy" else heat()
    same_from_every_checkpoint(
        tmp_path, [2, 5, 9], problem=problem, model=SMALL, sampling=sampling, weighting=scheme,
        training=[pinn.Adam(11)],
    )  # fmt: skip


def test_batches(tmp_path):
    same_from_every_checkpoint(
        tmp_path, [2, 5, 9], problem=heat(), model=SMALL,
        sampling=pinn.Sampling(**FEW, redraw=4, batch=7), training=[pinn.Adam(11)],
    )  # fmt: skip


def test_float32_steps_in_more_digits_than_its_network_has(tmp_path):
    same_from_every_checkpoint(
        tmp_path, [3, 6, 8], problem=heat(), model=SMALL, sampling=pinn.Sampling(**FEW),
        training=[pinn.Adam(4), pinn.LBFGS(5)], precision="float32",
    )  # fmt: skip


class Cubic(T.nn.Module):
    """A model of one's own, which a file cannot hold."""

    def __init__(self):
        super().__init__()
        self.numbers = T.nn.Parameter(T.tensor([0.1, 0.2, 0.3], dtype=T.float64))

    def forward(self, points):
        return points * self.numbers[0] + points**2 * self.numbers[1] + points**3 * self.numbers[2]


def test_a_model_of_ones_own(tmp_path):
    same_from_every_checkpoint(
        tmp_path, [3, 6], problem=decay(conditions=[pinn.Initial("u", 1, hard=True)]),
        model=Cubic(), sampling=pinn.Sampling(**FEW), training=[pinn.Adam(9)],
    )  # fmt: skip


def test_a_plan_of_ones_own_keeps_the_stages_that_it_chose(tmp_path):
    class Shorter(pinn.Plan):
        def next(self, now):
            return Choice(None if now.stages else pinn.Adam(6), "it will do")

        def foreseen(self, scale):
            return (pinn.Adam(9),)

    problem = decay()
    heard = Checkpoints(tmp_path, [4])
    run = {"problem": problem, "model": SMALL, "sampling": pinn.Sampling(**FEW)}
    with registered(Shorter):
        whole = pinn.solve(**run, training=Shorter(), callbacks=[heard])
        rest = pinn.solve(**run, training=Shorter(), resume=tmp_path / "4.npz")
    assert rest.report.steps == whole.report.steps == 6
    assert rest.theta.tobytes() == whole.theta.tobytes()


@contextmanager
def registered(plan):
    """Let files hold a plan, while the block lasts."""
    declared(plan)
    PLANS.add("shorter", plan)
    try:
        yield
    finally:
        PLANS.remove("shorter")


def test_the_loss_of_a_last_step_on_a_batch_is_that_on_all_points(tmp_path):
    whole = same_from_every_checkpoint(
        tmp_path, [10, 11], problem=heat(), model=SMALL,
        sampling=pinn.Sampling(**FEW, redraw=4, batch=7), training=[pinn.Adam(11)],
    )  # fmt: skip
    assert whole.report.steps == 11


def test_after_a_setback_other_points_are_drawn(tmp_path):
    class Stop(Checkpoints):
        def on_setback(self, record):
            write_npz(self.folder / "setback.npz", self.session.solution(record).checkpoint())

    problem = pinn.Problem(TIME, ["u"], {"e": "u_t + u*log(u + 0.6)"}, [pinn.Initial("u", 0.1)])
    run = {
        "problem": problem, "model": SMALL,
        "sampling": pinn.Sampling(interior=20, redraw=2, adaptive=None),
        "training": [pinn.Adam(30, learning_rate=0.3)],
    }  # fmt: skip
    heard = Stop(tmp_path, [])
    whole = pinn.solve(**run, callbacks=[heard])
    assert whole.report.setbacks
    rest = pinn.solve(**run, resume=tmp_path / "setback.npz")
    assert rest.theta.tobytes() == whole.theta.tobytes()
    assert comparable(rest) == comparable(whole)


def test_a_checkpoint_of_another_format_is_left_to_the_version_that_wrote_it(tmp_path):
    run = {
        "problem": decay(), "model": SMALL, "sampling": pinn.Sampling(**FEW),
        "training": [pinn.Adam(4)],
    }  # fmt: skip
    pinn.solve(**run, callbacks=[Checkpoints(tmp_path, [3])])
    arrays = read_npz(tmp_path / "3.npz")
    progress = json.loads(arrays["progress"].tobytes()) | {"format": "pinn checkpoint 1"}
    arrays["progress"] = np.frombuffer(json.dumps(progress).encode(), np.uint8)
    write_npz(tmp_path / "3.npz", arrays)
    with pytest.raises(DamagedFile, match="'pinn checkpoint 1'.* go on with the version of pinn"):
        pinn.solve(**run, resume=tmp_path / "3.npz")


def test_a_limit_in_time_of_a_stage_is_that_of_all_its_parts(tmp_path):
    class Later(Checkpoints):
        """As if the stage had taken more than its limit by then."""

        def on_step(self, record):
            if record.step == 6:
                arrays = self.session.solution(record).checkpoint()
                progress = json.loads(arrays["progress"].tobytes())
                assert 0 < progress["last"]["stage_seconds"] <= record.seconds
                progress["last"]["stage_seconds"] = 2000.0
                arrays["progress"] = np.frombuffer(json.dumps(progress).encode(), np.uint8)
                write_npz(self.folder / "6.npz", arrays)

    run = {
        "problem": decay(), "model": SMALL, "sampling": pinn.Sampling(**FEW),
        "training": [pinn.Adam(9, seconds=1000.0), pinn.LBFGS(2)],
    }  # fmt: skip
    pinn.solve(**run, callbacks=[Later(tmp_path, [])])
    rest = pinn.solve(**run, resume=tmp_path / "6.npz")
    assert [(stage.steps, stage.reason) for stage in rest.report.stages] == [
        (6, "time limit"), (2, "step limit")
    ]  # fmt: skip
    assert rest.report.stages[0].seconds >= 2000


def test_what_differs_is_named_and_limits_of_stages_to_come_are_not(tmp_path):
    def run(first=6, second=5, rate=1e-3, **more):
        return {
            "problem": decay(), "model": SMALL, "sampling": pinn.Sampling(**FEW),
            "training": [pinn.Adam(first, learning_rate=rate), pinn.LBFGS(second)], **more,
        }  # fmt: skip

    pinn.solve(**run(), callbacks=[Checkpoints(tmp_path, [3, 8])])
    longer = pinn.solve(**run(second=9), resume=tmp_path / "8.npz")
    assert longer.theta.tobytes() == pinn.solve(**run(second=9)).theta.tobytes()
    assert pinn.solve(**run(first=8), resume=tmp_path / "3.npz").report.steps == 13
    for changes, said in [
        ({"first": 8}, "training.0.adam.steps is 6 there and 8 here"),
        ({"rate": 0.1}, "training.0.adam.learning_rate is 0.001 there and 0.1 here"),
        ({"seed": 1}, "seed is 0 there and 1 here"),
        ({"precision": "float32"}, 'precision is "float64" there and "float32" here'),
    ]:
        with pytest.raises(ValueError, match=re.escape(said)):
            pinn.solve(**run(**changes), resume=tmp_path / "8.npz")


def test_the_first_gpu_has_two_names_and_is_one_device(gpu, tmp_path):
    def run(device):
        return {
            "problem": decay(), "model": SMALL, "sampling": pinn.Sampling(interior=12),
            "training": [pinn.Adam(5)], "device": device, "error_bars": False,
        }  # fmt: skip

    whole = pinn.solve(**run("cuda"), callbacks=[Checkpoints(tmp_path, [3])])
    rest = pinn.solve(**run("cuda:0"), resume=tmp_path / "3.npz")
    assert rest.theta.tobytes() == whole.theta.tobytes()
    with pytest.raises(ValueError, match='device is "cuda" there and "cuda:1" here'):
        pinn.solve(**run("cuda:1"), resume=tmp_path / "3.npz")


@pytest.mark.parametrize("asked", ["", "[]", "{", "[" * 900 + "]" * 900, '{"a":' * 900])
def test_a_declaration_that_is_damaged_is_told_as_such(tmp_path, asked):
    run = {"problem": decay(), "model": SMALL, "sampling": pinn.Sampling(**FEW),
           "training": [pinn.Adam(3)]}  # fmt: skip
    arrays = pinn.solve(**run).checkpoint()
    write_npz(tmp_path / "bad.npz", {**arrays, "asked": np.frombuffer(asked.encode(), np.uint8)})
    with pytest.raises(DamagedFile, match=r"bad\.npz: "):
        pinn.solve(**run, resume=tmp_path / "bad.npz")


def test_a_step_that_is_not_the_last_one_makes_no_checkpoint():
    seen = []

    class Late(pinn.Callback):
        def on_start(self, session):
            self.session = session

        def on_step(self, record):
            seen.append(record)
            if record.step == 3:
                with pytest.raises(RuntimeError, match="the last step of training"):
                    self.session.solution(seen[0]).checkpoint()

    pinn.solve(decay(), SMALL, pinn.Sampling(**FEW), [pinn.Adam(4)], callbacks=[Late()])
    assert len(seen) == 4


def test_stages_that_are_chosen_on_the_way(tmp_path):
    problem = pinn.Problem(TIME, ["u"], {"e": "u_t + u**3"}, [pinn.Initial("u", 1)])
    whole = same_from_every_checkpoint(
        tmp_path, [3, 40, 41, 60], problem=problem, model=SMALL,
        sampling=pinn.Sampling(**FEW),
    )  # fmt: skip
    assert len(whole.report.stages) == 2 and len(whole.report.decisions) >= 2


def test_features_that_a_trial_chose_are_not_tried_again(tmp_path, monkeypatch):
    trials, really = [], choosing._tried
    monkeypatch.setattr(
        choosing, "_tried", lambda *given: trials.append(given) or really(*given)
    )
    problem = decay(equations={"decay": "u_t + u**3"}, reference=None)
    heard = Checkpoints(tmp_path, [1])
    whole = pinn.solve(problem, callbacks=[heard])
    assert "random features" in str(whole.report.decisions[0])
    tried = len(trials)
    rest = pinn.solve(problem, resume=tmp_path / "1.npz")
    assert tried == len(trials) > 0
    assert rest.theta.tobytes() == whole.theta.tobytes()
    assert comparable(rest) == comparable(whole)


@pytest.mark.parametrize("hole", [False, True])
def test_features_that_a_trial_chose_keep_their_points_along_walls_and_around_holes(tmp_path, hole):
    square = pinn.Interval("x", 0, 1) * pinn.Interval("y", 0, 1)
    problem = pinn.Problem(
        square - pinn.Disk((0.5, 0.5), 0.2) if hole else square, ["u"],
        {"e": "laplacian(u) - u**3 - 1"}, [pinn.Dirichlet("u", 0)],
    )
    found = same_from_every_checkpoint(tmp_path, [1], problem=problem, error_bars=False)
    assert len(found.experiment.draw_points()["dirichlet_u"]) > 200
    assert (found.experiment.sampling.density is not None) is hole


@pytest.mark.parametrize("units", [1.0, 1e6])
def test_what_a_problem_says_of_weights_and_scales_is_said_again(tmp_path, units):
    """Of a network that is given, whose run goes on without a trial."""
    problem = pinn.Problem(
        pinn.Interval("x", 0, 1), ["u"], {"e": f"u_xx + {units}*u**2"},
        [pinn.Dirichlet("u", f"{units}*x")],
    )
    found = same_from_every_checkpoint(
        tmp_path, [3], problem=problem, model=SMALL, sampling=pinn.Sampling(**FEW),
        training=[pinn.Adam(steps=6)], error_bars=False,
    )
    assert found.experiment.weighting.initial
    assert (found.experiment.model.scale != {}) is (units > 1)


def test_weights_that_were_chosen_stay_where_a_target_is_added(tmp_path):
    """Where a target is given from the start nothing is chosen: it is a number of that loss."""
    given = {
        "problem": pinn.Problem(X, ["u"], {"e": "u_xx - 1"}, [pinn.Dirichlet("u", 0)]),
        "model": SMALL, "sampling": pinn.Sampling(**FEW), "training": [pinn.Adam(steps=6)],
        "error_bars": False,
    }  # fmt: skip
    whole = pinn.solve(**given, callbacks=[Checkpoints(tmp_path, [3])])
    rest = pinn.solve(**given, target=1e-30, resume=tmp_path / "3.npz")
    assert rest.theta.tobytes() == whole.theta.tobytes()
    assert rest.experiment.weighting.initial == whole.experiment.weighting.initial == {"e": 0.1}
    assert not pinn.solve(**given, target=1e-30).experiment.weighting.initial


def test_layers_that_a_trial_chose_keep_their_points(tmp_path, monkeypatch):
    monkeypatch.setattr(choosing, "_LONG_POINTS", 2800)
    monkeypatch.setattr(choosing, "_may_have_windows", lambda _: False)
    problem = decay(equations={"decay": "u_t + u - sin(3000*t)"}, reference=None)
    with pytest.warns(pinn.UnsolvedWarning):
        whole = same_from_every_checkpoint(
            tmp_path, [2], until=4, problem=problem, seconds=3600.0
        )
    assert "4 trained hidden layers" in str(whole.report.decisions[0])


def test_windows_that_a_trial_chose(tmp_path, monkeypatch):
    monkeypatch.setattr(choosing, "_in_windows", lambda *_: None)
    problem = decay(equations={"decay": "u_t + u - sin(3000*t)"}, reference=None)
    with pytest.warns(pinn.UnsolvedWarning):
        whole = same_from_every_checkpoint(
            tmp_path, [2], until=4, problem=problem, sampling=pinn.Sampling(**FEW)
        )
    assert "in each of 4 windows of time" in str(whole.report.decisions[0])


def test_windows_of_time(tmp_path):
    whole = same_from_every_checkpoint(
        tmp_path, [1, 8, 9, 13, 16, 17], problem=decay(), model=pinn.Windows(3, SMALL),
        sampling=pinn.Sampling(**FEW, redraw=3),
        training=[pinn.Adam(4), pinn.LevenbergMarquardt(4, redraw=3)], error_bars=False,
    )  # fmt: skip
    assert whole.report.steps == 24


def test_a_continuation(tmp_path):
    problem = decay(equations={"decay": "u_t + k*u"}, constants={"k": 1.0})
    whole = same_from_every_checkpoint(
        tmp_path, [1, 4, 5, 9], problem=problem, model=SMALL, sampling=pinn.Sampling(**FEW),
        training=[pinn.LevenbergMarquardt(5)], continuation={"k": [0.1, 0.4]},
    )  # fmt: skip
    assert len(whole.report.decisions) == 3
