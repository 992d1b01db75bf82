"""A Jacobian that stays on the device: the numbers of the host, and what is copied for it."""

from __future__ import annotations

import numpy as np
import pytest

import autograd as T
import pinn
from autograd.devices import CPU, put
from autograd.strict import counted
from pinn.equations.term import Term
from pinn.objective import Objective
from pinn.objective.flat_parameters import FlatParameters
from pinn.residuals import Interior, Residual
from pinn.training.experiment import Experiment

PLATE = pinn.Problem(
    pinn.Interval("x", 0, 1) * pinn.Interval("y", 0, 1), ["u"], {"plate": "laplacian(u) + u**2"},
    [pinn.Dirichlet("u", 0.0), pinn.Integral("u", 0.1)],
)  # fmt: skip


def objective(device="cuda", problem=PLATE, **options):
    sampling = pinn.Sampling(interior=30, boundary=12)
    settings = {"model": pinn.MLP(5, 2), "sampling": sampling, **options}
    return Experiment(problem, device=device, **settings).objective()


def left_there(function, theta):
    """Rows and Jacobian in memory of the device, as told by what is copied home here."""
    xp = function.on_device.xp
    memory = xp.empty((function.rows, function.size), np.float64)
    rows, found = function.jacobian(theta, memory)
    assert found is memory and type(rows) is type(memory)
    assert rows.dtype == found.dtype == np.float64
    return put(rows, CPU), put(found, CPU)


@pytest.mark.parametrize("precision, tolerance", [("float64", 1e-12), ("float32", 2e-4)])
@pytest.mark.parametrize("weighted", [False, True])
def test_it_is_that_of_the_host_in_any_precision_with_row_weights(
    gpu, precision, tolerance, weighted
):
    there, here = (objective(device, precision=precision) for device in ("cuda", "cpu"))
    if weighted:
        for function in (there, here):
            rows = {"plate": np.linspace(0, 2, 30)}
            function.set_weights({"plate": 3.0, "integral_u": 0.5}, rows)
    theta = here.theta + 0.05
    for found, expected in zip(left_there(there, theta), here.jacobian(theta), strict=True):
        scale = np.abs(expected).max()
        np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance * scale)
    # the same where the host asks for it
    for found, expected in zip(left_there(there, theta), there.jacobian(theta), strict=True):
        np.testing.assert_array_equal(found, expected)


def test_only_the_seeds_of_rows_are_copied_and_nothing_is_waited_for(stand_in):
    there = objective()
    theta, memory = there.theta, there.on_device.xp.empty((there.rows, there.size), np.float64)
    there.jacobian(theta, memory)
    with counted() as counts:
        there.jacobian(theta + 0.1, memory)
    # theta; weights of each block as seeds and as factors
    assert counts.uploads == 1 + 2 * len(there.blocks)
    assert (counts.downloads, counts.synchronisations) == (0, 0)
    assert counts.sent <= 8 * (there.size + 2 * there.rows)


def test_residuals_of_the_points_as_a_whole_stay_there_too(stand_in):
    def made(device):
        problem = pinn.Problem(pinn.Interval("x", -1, 1), ["u"], {"e": "u_xx + u"})
        term = Term("spread", lambda s: s.u - s.u.mean(), problem.scope)
        added = Residual("spread", "spread", term, Interior(problem.domain), None, whole=True)
        problem.__dict__["residuals"] = (*problem.residuals, added)
        return objective(device, problem, sampling=pinn.Sampling(interior=7))

    there, here = made("cuda"), made("cpu")
    theta = here.theta + 0.05
    for found, expected in zip(left_there(there, theta), here.jacobian(theta), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-13)
    with counted() as counts:
        left_there(there, theta + 0.1)
    # theta, weights of both blocks as seeds and as factors; the downloads are of this test
    assert (counts.uploads, counts.downloads) == (1 + 2 * 2, 2)


class Odd(T.nn.Module):
    """Reads its weights in a way whose rows a recorded sweep cannot tell apart."""

    def __init__(self, device):
        super().__init__()
        w, v = np.linspace(-1, 1, 8).reshape(2, 4), np.linspace(0.5, 1, 4)
        self.w = T.nn.Parameter(T.tensor(w, device=device))
        self.v = T.nn.Parameter(T.tensor(v, device=device))

    def forward(self, p):
        return (T.tanh(p @ T.cumsum(self.w, dim=1)) * T.flip(self.v, [0])).sum(1, keepdim=True)


def test_rows_that_are_computed_one_by_one_stay_there_too(stand_in):
    def made(device):
        parameters = FlatParameters(Odd(device), (), T.float64, device)
        return Objective(PLATE, parameters, points, dtype=T.float64, device=device)

    points = {block.name: block.points for block in objective("cpu").blocks}
    there, here = made("cuda"), made("cpu")
    theta = here.theta + 0.05
    with pytest.warns(RuntimeWarning, match="one by one"):
        found = left_there(there, theta)
    with pytest.warns(RuntimeWarning, match="one by one"):
        expected = here.jacobian(theta)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-11, atol=1e-13)
    with counted() as counts:
        left_there(there, theta)
    assert counts.downloads == 2  # of this test
