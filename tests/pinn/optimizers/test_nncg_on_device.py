"""NNCG whose vectors lie on a device: the steps of the host, and what is asked of the device."""

from __future__ import annotations

import numpy as np
import pytest

import pinn
from autograd.devices import as_device, put
from autograd.strict import StrictArray, counted
from pinn.optimizers import Diverged
from pinn.optimizers.nystrom import nystrom
from pinn.training.experiment import Experiment
from pinn.training.judging.watched import Watched

PROBLEM = pinn.Problem(
    pinn.Interval("x", 0, 1) * pinn.Time("t", 0, 1), ["u"], {"heat": "u_t - k*u_xx + u**2"},
    [pinn.Initial("u", "sin(pi*x)"), pinn.Dirichlet("u", 0.0)],
    parameters=[pinn.Parameter("k", 0.1, lower=0)],
)  # fmt: skip
STAGE = pinn.NNCG(6, rank=8, refresh=3, products=4)


def objective(device="cuda", **options):
    sampling = pinn.Sampling(interior=12, initial=4, boundary=4)
    settings = {"model": pinn.MLP(4, 1), "sampling": sampling, **options}
    return Experiment(PROBLEM, device=device, **settings).objective()


def told(stage, function, theta=None, state=None):
    """The steps of a solver, and how it ends."""
    steps, found = stage.run(function, function.theta if theta is None else theta, state), []
    while True:
        try:
            found.append(next(steps))
        except StopIteration as stopped:
            return found, stopped.value


@pytest.mark.parametrize("stage", [STAGE, pinn.NNCG(20, rank=8, gradient_tolerance=0.05)])
def test_steps_are_those_of_the_host(gpu, stage):
    found, end = told(stage, objective())
    expected, last = told(stage, objective("cpu"))
    for a, b in zip(found, expected, strict=True):
        assert a.number == b.number and type(a.theta) is np.ndarray
        assert int(a.state["products"]) == int(b.state["products"])
        np.testing.assert_allclose(a.loss, b.loss, rtol=1e-9)
        np.testing.assert_allclose(a.theta, b.theta, rtol=0, atol=1e-9)
        np.testing.assert_allclose(a.state["damping"], b.state["damping"], rtol=1e-6)
    assert (end.reason, end.message) == (last.reason, last.message)


def test_going_on_from_any_step_gives_the_same_bits(gpu):
    whole, _ = told(STAGE, objective())
    for stop in (1, 3, 4):
        state = {name: np.array(array) for name, array in whole[stop - 1].state.items()}
        rest, _ = told(STAGE, objective(), whole[stop - 1].theta.copy(), state)
        assert [step.theta.tobytes() for step in rest] == [
            step.theta.tobytes() for step in whole[stop:]
        ]


def test_no_vector_is_sent_or_fetched_for_a_product(stand_in, monkeypatch):
    """But for those of the sketch, which is made on the host; each trial brings theta home."""
    function, trials = Watched(objective(model=pinn.MLP(40, 2))), []
    usual = function.told
    monkeypatch.setattr(function, "told", lambda *given: trials.append(1) or usual(*given))
    stage = pinn.NNCG(6, rank=4, products=6, tolerance=1e-12)
    steps = stage.run(function, function._objective.theta)
    step = next(steps)
    for _ in range(3):
        made = int(step.state["products"])
        trials.clear()
        with counted() as counts:
            step = next(steps)
        made = int(step.state["products"]) - made
        assert made > 1 and counts.uploads == 0
        # a product: whether it is finite, its curvature, what is left, and what follows; a step:
        # its first numbers, the slope and the model
        assert counts.downloads == counts.synchronisations <= 4 * made + len(trials) + 4
        assert counts.fetched < 8 * (len(trials) * (function.size + 5) + 6 * made + 6)


def test_products_there_are_those_of_the_host(stand_in):
    function, rng = objective(), np.random.default_rng(0)
    theta, v = function.theta + 0.1, rng.standard_normal(function.size)
    there = function.on_device.device
    function.hvp(theta, put(v, there))  # records
    own = put(v, there)
    with counted() as counts:
        found = function.hvp(theta, own)
    assert type(found) is StrictArray and (counts.uploads, counts.downloads) == (0, 0)
    np.testing.assert_allclose(found._host, objective("cpu").hvp(theta, v), rtol=1e-11, atol=1e-12)
    with pytest.raises(ValueError, match="expected a vector of shape"):
        function.hvp(theta, put(v[1:], there))


def test_a_product_that_is_not_finite_is_told(gpu):
    function = Watched(objective())
    theta, v = function._objective.theta, np.full(function.size, np.inf)
    device = function.on_device.device
    with pytest.raises(Diverged, match="second derivative of the loss is not finite"):
        function.hvp(theta, put(v, device))


def test_the_preconditioner_is_that_of_the_host(stand_in):
    rng = np.random.default_rng(1)
    root = rng.standard_normal((30, 30))
    sketch = nystrom(lambda v: root @ (root.T @ v), 30, 6, rng)
    v, device = rng.standard_normal(30), as_device("cuda")
    with counted() as counts:
        there = sketch.placed(device)
    assert counts.uploads == 2
    with counted() as counts:
        found = there.solve(StrictArray(v), 1e-3)
    assert (counts.uploads, counts.downloads) == (0, 0)
    np.testing.assert_allclose(found._host, sketch.solve(v, 1e-3), rtol=1e-11, atol=1e-9)
