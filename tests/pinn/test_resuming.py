"""pinn.solve(resume=...): from any checkpoint the bits of a run that never stopped."""

import dataclasses

import pytest

import pinn
from pinn.files import write_npz
from pinn.objective.weighting import WEIGHTINGS
from pinn.sampling import ADAPTIVE, METHODS
from pinn.training import choosing

T = pinn.Time("t", 0, 1)
SMALL = pinn.MLP(width=5, depth=1)
FEW = {"interior": 24, "initial": 8, "boundary": 8, "candidates": 60}


def decay(**changes):
    given = {
        "equations": {"decay": "u_t + u"}, "conditions": [pinn.Initial("u", 1, hard=True)],
        "reference": {"u": "exp(-t)"}, **changes,
    }  # fmt: skip
    return pinn.Problem(T, ["u"], **given)


def heat():
    return pinn.Problem(
        pinn.Interval("x", 0, 1) * T, ["u", "v"],
        {"heat": "u_t - 0.1*u_xx + v", "other": "v - u_x"},
        [pinn.Initial("u", "sin(pi*x)"), pinn.Dirichlet("u", 0, hard=True)],
    )  # fmt: skip


def inverse():
    data = pinn.Data("u", {"t": [0.25, 0.5, 1.0], "u": [0.78, 0.61, 0.37]})
    return pinn.Problem(
        T, ["u"], {"decay": "u_t + k*u"}, [pinn.Initial("u", 1), data],
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


@pytest.mark.parametrize("name", [name for name in WEIGHTINGS if name not in ("fixed", "combined")])
def test_every_weighting(tmp_path, name):
    sampling = pinn.Sampling(**FEW, redraw=4, adaptive="rad")
    scheme = WEIGHTINGS[name]()
    if hasattr(scheme, "every"):
        scheme = dataclasses.replace(scheme, every=3)
    same_from_every_checkpoint(
        tmp_path, [2, 5, 9], problem=heat(), model=SMALL, sampling=sampling, weighting=scheme,
        training=[pinn.Adam(11)],
    )  # fmt: skip


def test_batches(tmp_path):
    same_from_every_checkpoint(
        tmp_path, [2, 5, 9], problem=heat(), model=SMALL,
        sampling=pinn.Sampling(**FEW, redraw=4, batch=7), training=[pinn.Adam(11)],
    )  # fmt: skip


@pytest.mark.parametrize("training", ["auto", None])
def test_stages_that_are_chosen_on_the_way(tmp_path, training):
    problem = pinn.Problem(T, ["u"], {"e": "u_t + u**3"}, [pinn.Initial("u", 1)])
    whole = same_from_every_checkpoint(
        tmp_path, [3, 40, 41, 60], problem=problem, model=SMALL,
        sampling=pinn.Sampling(**FEW), training=training,
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


def test_layers_that_a_trial_chose_keep_their_points(tmp_path, monkeypatch):
    monkeypatch.setattr(choosing, "_LONG_POINTS", 2800)
    problem = decay(equations={"decay": "u_t + u - sin(3000*t)"}, reference=None)
    with pytest.warns(pinn.UnsolvedWarning):
        whole = same_from_every_checkpoint(
            tmp_path, [2], until=4, problem=problem, seconds=3600.0
        )
    assert "4 trained hidden layers" in str(whole.report.decisions[0])


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
