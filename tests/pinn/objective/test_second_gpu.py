"""Training on a device that is not the current one: kernels and new arrays go where it is."""

from __future__ import annotations

import numpy as np
import pytest

import pinn
from autograd.devices import DeviceError
from autograd.plan.executors.cupy_executor import CupyExecutor
from autograd.strict.cuda import current
from pinn.training.experiment import Experiment

PROBLEM = pinn.Problem(
    domain=pinn.Interval("x", 0, 1), unknowns=["u"], equations={"decay": "u_x + k*u"},
    parameters=[pinn.Parameter("k", 1.0, lower=0)],
    conditions=[pinn.Dirichlet("u", 1, on="x=0"), pinn.Data("u", {"x": [0.5], "u": [0.6]})],
)  # fmt: skip


@pytest.fixture(autouse=True)
def first_is_current(stand_in):
    with stand_in.current(0):
        yield


def objective(device, **options):
    given = {"model": pinn.MLP(3, 1), "sampling": pinn.Sampling(interior=20), **options}
    return Experiment(PROBLEM, device=device, **given).objective()


def thetas(stage, function):
    """The thetas of all steps of a solver, and where it ends."""
    steps, found = stage.run(function, function.theta), []
    while True:
        try:
            found.append(next(steps).theta)
        except StopIteration as stopped:
            return [*found, stopped.value.theta]


@pytest.mark.parametrize("options", [{}, {"engine": "eager"}])
@pytest.mark.parametrize("stage", [pinn.Adam(steps=4), pinn.LevenbergMarquardt(steps=2)])
def test_a_solver_takes_the_steps_of_the_first(stage, options):
    found, expected = (
        thetas(stage, objective(device, **options)) for device in ("cuda:1", "cuda:0")
    )
    assert len(found) > 2
    np.testing.assert_array_equal(found, expected)


def test_two_objectives_take_turns_on_two_devices(stand_in):
    theta = objective("cuda:0").theta
    for function in (objective("cuda:1"), objective("cuda:0")) * 2:
        loss, gradient, _ = function.value_and_gradient(theta)
        rows, jacobian = function.jacobian(theta)
        np.testing.assert_allclose(2 * rows @ jacobian, gradient, rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(rows @ rows, loss, rtol=1e-12)
        found = function.on_device
        to = stand_in.xp.empty((found.blocks + found.groups * found.size,), np.float64)
        found.evaluate(stand_in.from_host(theta, found.device.index), to)
        assert to.index == found.device.index == current()


def test_what_kernels_do_not_hold_runs_there_too(stand_in, monkeypatch):
    monkeypatch.setattr("autograd.plan.chunks.tiled_or_none", lambda *_: None)
    made = []
    usual = CupyExecutor.__init__

    def noted(self, *arguments):
        usual(self, *arguments)
        made.append({a.index for a in (*self.inputs, *self.outputs)})

    monkeypatch.setattr(CupyExecutor, "__init__", noted)
    function = objective("cuda:1")
    function.value_and_gradient(function.theta)
    assert made and all(one == {1} for one in made)


@pytest.mark.filterwarnings("ignore::pinn.ProblemWarning")
def test_a_whole_run_goes_by_the_number_of_its_device(stand_in, tmp_path):
    given = {
        "model": pinn.MLP(3, 1), "sampling": pinn.Sampling(interior=20, redraw=3),
        "training": [pinn.Adam(steps=8), pinn.LBFGS(steps=2)],
    }  # fmt: skip
    found, expected = (pinn.solve(PROBLEM, device=one, **given) for one in ("cuda:1", "cuda"))
    assert found.theta.tobytes() == expected.theta.tobytes()
    assert found.report.fresh_loss == expected.report.fresh_loss
    found.save(tmp_path / "there.npz")
    again = pinn.load(tmp_path / "there.npz")
    assert again.experiment.device == "cuda:1"
    x = np.linspace(0, 1, 5)
    np.testing.assert_array_equal(again.evaluate(x=x)["u"], expected.evaluate(x=x)["u"])


def test_a_number_that_is_not_there_is_refused_before_training(stand_in):
    with pytest.raises(DeviceError, match="there are 2, numbers 0 to 1"):
        pinn.solve(PROBLEM, device="cuda:7", training=[pinn.Adam(steps=1)])
