"""A step on a device, counted: what is launched, what is copied, how often it is waited for."""

from __future__ import annotations

import numpy as np
import pytest

import autograd as T
import pinn
from autograd.devices import CPU, put
from autograd.strict import counted
from pinn.training.experiment import Experiment

LAUNCHES = 5
"""For each group of blocks: before, packed weights, all points, sums over lanes, after."""

FOR_A_STEP = 3
"""Theta is copied to its place, by way of a clone, and the results are joined."""


def objective(**options):
    x, t = pinn.Interval("x", -1, 1), pinn.Time("t", 0, 1)
    problem = pinn.Problem(
        domain=x * t,
        unknowns=["u"],
        equations={"burgers": "u_t + u*u_x - nu*u_xx"},
        parameters=[pinn.Parameter("nu", 0.1, lower=0)],
        conditions=[pinn.Initial("u", "-sin(pi*x)"), pinn.Dirichlet("u", 0.0)],
    )
    sampling = pinn.Sampling(interior=40, initial=10, boundary=10)
    settings = {"sampling": sampling, "model": pinn.MLP(6, 3), **options}
    return Experiment(problem, **settings).objective()


def test_a_step_is_five_launches_a_group_one_copy_there_and_one_back(stand_in):
    there, here = objective(device="cuda"), objective()
    theta = here.theta
    found, expected = there.value_and_gradient(theta), here.value_and_gradient(theta)
    np.testing.assert_allclose(found.loss, expected.loss, rtol=1e-13)
    np.testing.assert_allclose(found.gradient, expected.gradient, rtol=1e-11, atol=1e-14)
    for theta in (here.theta + 0.1, here.theta - 0.1):
        with counted() as counts:
            found = there.value_and_gradient(theta)
        assert counts.launches <= LAUNCHES * len(there.groups) + FOR_A_STEP
        assert (counts.uploads, counts.downloads, counts.synchronisations) == (1, 1, 1)
        expected = here.value_and_gradient(theta)
        np.testing.assert_allclose(found.gradient, expected.gradient, rtol=1e-11, atol=1e-14)


HEAT = pinn.Problem(
    domain=pinn.Interval("x", 0, 1) * pinn.Time("t", 0, 1),
    unknowns=["u"],
    equations={"heat": lambda s: s.u_t - s.where(s.x < 0.5, s.u_xx, s.at("u_xx", x=1 - s.x))},
    conditions=[pinn.Initial("u", "cos(pi*x)", hard=True), pinn.Neumann("u", 0.0, hard=True)],
)


@pytest.mark.parametrize("precision, tolerance", [("float64", 1e-12), ("float32", 2e-4)])
@pytest.mark.parametrize("model", [pinn.KAN(4, 1, basis="spline"), pinn.PirateNet(6, 1)])
def test_gradients_and_jacobians_are_those_of_the_host(gpu, model, precision, tolerance):
    sampling = pinn.Sampling(interior=20)
    settings = {"model": model, "sampling": sampling, "precision": precision}
    there = Experiment(HEAT, device="cuda", **settings).objective()
    here = Experiment(HEAT, **settings).objective()
    theta = here.theta + 0.05
    pairs = [
        (there.value_and_gradient(theta).gradient, here.value_and_gradient(theta).gradient),
        *zip(there.jacobian(theta), here.jacobian(theta), strict=True),
    ]
    for found, expected in pairs:
        scale = np.abs(expected).max()
        np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance * scale)


def test_launches_of_a_step_do_not_grow_with_points_or_layers(stand_in):
    found = []
    for sampling, depth in (((40, 10, 10), 3), ((400, 30, 30), 3), ((40, 10, 10), 6)):
        numbers = dict(zip(("interior", "initial", "boundary"), sampling, strict=True))
        there = objective(
            device="cuda", sampling=pinn.Sampling(**numbers), model=pinn.MLP(6, depth)
        )
        theta = there.theta
        there.value_and_gradient(theta)
        with counted() as counts:
            there.value_and_gradient(theta + 0.1)
        found.append(counts.launches)
    assert len(set(found)) == 1


def test_points_that_are_drawn_anew_are_one_copy(stand_in):
    there = objective(device="cuda")
    there.value_and_gradient(there.theta)
    points = {block.name: block.points for block in there.blocks}
    with counted() as counts:
        there.set_points(points)
    assert (counts.uploads, counts.launches, counts.synchronisations) == (1, 0, 0)


def test_other_weights_are_one_copy_at_the_next_step(stand_in):
    there = objective(device="cuda")
    there.value_and_gradient(there.theta)
    there.set_weights({"burgers": 3.0})
    theta, uploads = there.theta, []
    for step in (0.1, 0.2):
        with counted() as counts:
            there.value_and_gradient(theta + step)
        uploads.append(counts.uploads)
    assert uploads == [2, 1]  # theta, and once what the residuals' squares are multiplied by


def test_the_loss_alone_is_one_copy_there_and_one_back(stand_in):
    there, here = objective(device="cuda"), objective()
    theta = here.theta
    there.losses(theta + 0.1)
    with counted() as counts:
        found = there.losses(theta)
    assert (counts.uploads, counts.downloads, counts.synchronisations) == (1, 1, 1)
    assert counts.launches <= LAUNCHES * len(there.groups) + FOR_A_STEP
    for name, loss in here.losses(theta).items():
        np.testing.assert_allclose(found[name], loss, rtol=1e-13)


@pytest.mark.parametrize("engine", ["recorded", "eager"])
def test_several_thetas_are_told_of_together_with_the_bits_of_one(stand_in, engine):
    there = objective(device="cuda", engine=engine)
    thetas = [there.theta + shift for shift in (0.0, 0.1, -0.2)]
    each = [there.losses(theta) for theta in thetas]
    rows = [there.weighted_rows(theta) for theta in thetas]
    with counted() as counts:
        assert there.losses_at(thetas) == each
        found = there.rows_at(thetas)
    assert [one.tobytes() for one in found] == [one.tobytes() for one in rows]
    if engine == "recorded":
        assert (counts.uploads, counts.downloads, counts.synchronisations) == (6, 2, 2)
    np.testing.assert_allclose(
        there.values(thetas), [row @ row for row in rows], rtol=1e-12
    )


def test_theta_that_is_there_is_neither_sent_again_nor_fetched(stand_in):
    there = objective(device="cuda", precision="float32")
    theta = there.theta + 0.1
    first = there.value_and_gradient(theta)
    with counted() as counts:
        again = there.value_and_gradient(theta)
        np.testing.assert_array_equal(there.theta, theta.astype(np.float32))
    assert (counts.uploads, counts.downloads) == (0, 1)
    assert again.gradient.tobytes() == first.gradient.tobytes()
    there.value_and_gradient(theta + 0.1)  # another
    assert there.value_and_gradient(theta).gradient.tobytes() == first.gradient.tobytes()
    tensor = there.parameters.tensors[0]
    with T.no_grad():
        tensor.zero_()  # not by way of a vector: it is seen all the same
    assert (there.theta[: tensor.numel()] == 0).all()
    there.parameters.load(theta)
    there.parameters.load_there(there.parameters._flat._data.astype(np.float64) + 0.1)
    np.testing.assert_allclose(there.theta, theta + 0.1, rtol=0, atol=1e-6)
    assert there.value_and_gradient(theta).gradient.tobytes() == first.gradient.tobytes()


def test_minus_zero_is_another_number_than_zero(gpu):
    there = objective(device="cuda")
    theta = np.zeros(there.size)
    there.parameters.load(theta)
    there.parameters.load(-theta)
    assert np.signbit(there.parameters._flat.cpu().numpy()).all()


def test_batches_are_recorded_from_real_points(gpu):
    met = []

    def residual(s):
        met.append(put(s.x._data, CPU))
        return s.u_x + s.u

    problem = pinn.Problem(
        pinn.Interval("x", 1, 2), ["u"], {"decay": residual}, [pinn.Dirichlet("u", 1, hard=True)]
    )  # fmt: skip
    sampling = pinn.Sampling(interior=40)
    there = Experiment(problem, pinn.MLP(4, 1), sampling, device="cuda").objective()
    there.set_batches(lambda k: {"decay": np.arange(k, k + 20)})
    met.clear()
    assert there.on_device.held() is not None
    assert met
    for x in met:
        assert ((1 <= x) & (x <= 2)).all()
