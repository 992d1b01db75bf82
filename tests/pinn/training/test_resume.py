"""Going on from any step: the bits of a run that was never stopped, for every solver."""

import dataclasses

import numpy as np
import pytest

import pinn
from pinn.training.experiment import Experiment
from pinn.training.loop import Redraw, train
from pinn.training.records import Resume

PROBLEM = pinn.Problem(
    pinn.Time("t", 0, 1), ["u"], {"decay": "u_t + u"}, [pinn.Initial("u", 1)],
)  # fmt: skip
SETUP = Experiment(
    PROBLEM, pinn.MLP(width=6, depth=1),
    pinn.Sampling(interior=20, redraw=5, adaptive="rad", candidates=60),
)  # fmt: skip
STAGES = {
    "adam": [pinn.Adam(23, learning_rate=0.01, schedule=pinn.ExponentialDecay(1e-3), warmup=3)],
    "adam on plateaus": [pinn.Adam(23, schedule=pinn.PlateauDecay(0.7, patience=2))],
    "soap": [pinn.SOAP(23, learning_rate=0.01, every=3, weight_decay=0.1)],
    "muon": [pinn.Muon(23, learning_rate=0.01, schedule=pinn.CosineDecay())],
    "lbfgs": [pinn.LBFGS(23, memory=4)],
    "ssbroyden": [pinn.SSBroyden(23)],
    "gauss_newton": [pinn.GaussNewton(23, redraw=4)],
    "levenberg_marquardt": [pinn.LevenbergMarquardt(23, redraw=4)],
    "engd": [pinn.ENGD(23, redraw=4)],
    "spring": [pinn.SPRING(23, schedule=pinn.PlateauDecay(patience=2), redraw=3)],
    "dsgnar": [pinn.DSGNAR(23, radii=6, redraw=4)],
    "all in turn": [pinn.Adam(8), pinn.LBFGS(7), pinn.SSBroyden(8)],
}


def run(stages, callbacks=(), resume=None):
    objective = SETUP.objective()

    def draw(number):
        return SETUP.draw_points(number, lambda at: objective.residuals(objective.theta, at))

    return train(objective, stages, callbacks, Redraw(5, draw), resume=resume)


def kept(record):
    """The record with its solver's state as it is now: a checkpoint in memory."""
    state = {name: np.array(array) for name, array in record.solver_state.items()}
    return dataclasses.replace(record, solver_state=state)


@pytest.mark.parametrize("name", STAGES)
# Before, at and after new points, in the first and the last step.
@pytest.mark.parametrize("stop", [1, 4, 5, 8, 10, 12, 15, 23])
def test_a_run_that_goes_on_gives_the_same_bits(name, stop):
    records, rest = [], []
    whole = run(STAGES[name], [lambda record: records.append(kept(record))])
    resume = Resume(records[stop - 1])
    result = run(STAGES[name], [lambda record: rest.append(kept(record))], resume)
    assert result.theta.tobytes() == whole.theta.tobytes()
    assert (result.loss, result.losses) == (whole.loss, whole.losses)
    assert (result.steps, result.reason) == (whole.steps, whole.reason)
    for a, b in zip(records[stop:], rest, strict=True):
        assert (a.step, a.stage, a.stage_step, a.draw) == (b.step, b.stage, b.stage_step, b.draw)
        assert (a.loss, a.theta.tobytes()) == (b.loss, b.theta.tobytes())
        for block, points in a.points.items():
            assert points.coordinates.tobytes() == b.points[block].coordinates.tobytes()
        assert a.solver_state.keys() == b.solver_state.keys()
        for array in a.solver_state:
            assert a.solver_state[array].tobytes() == b.solver_state[array].tobytes(), array


def test_history_and_reports_of_before_are_kept():
    records = []
    whole = run(STAGES["all in turn"], [lambda record: records.append(kept(record))])
    before = [line for line in whole.history if line["step"] <= 12]
    rest = run(STAGES["all in turn"], (), Resume(records[11], before, whole.stages[:1]))
    assert [line["step"] for line in rest.history] == [line["step"] for line in whole.history]
    assert [(s.name, s.steps, s.message) for s in rest.stages] == [
        (s.name, s.steps, s.message) for s in whole.stages
    ]
    assert rest.seconds >= records[11].seconds
