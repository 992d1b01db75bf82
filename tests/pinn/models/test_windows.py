"""Networks of windows of time: how they meet, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

import autograd as T
import pinn
from pinn.geometry import during
from pinn.schema.errors import DeclarationError

DOMAIN = pinn.Interval("x", -1, 1) * pinn.Time("t", 1, 4)
EDGES = (1.0, 2.0, 3.0, 4.0)
SMALL = pinn.MLP(width=4, depth=1)


def build(order: int):
    model = pinn.Windows(3, SMALL, order=order)
    return model.build(DOMAIN, ["u", "v"], np.random.default_rng(3), T.float64)


def windows(order: int):
    """The window modules, each with the networks before it."""
    module = build(order)
    return [module.within(k, module.networks[:k]) for k in range(3)]


def value_and_slope(module, x: float, t: float):
    points = T.tensor([[x, t]], dtype=T.float64, requires_grad=True)
    values = module(points)
    slopes = [T.grad(values[0, j], points, retain_graph=True)[0].numpy()[0, 1] for j in range(2)]
    return values.detach().numpy()[0], np.array(slopes)


@pytest.mark.parametrize("order", [1, 2])
def test_a_window_begins_where_the_one_before_ends(order):
    modules = windows(order)
    for k in (1, 2):
        before, slope_before = value_and_slope(modules[k - 1], 0.3, EDGES[k])
        after, slope_after = value_and_slope(modules[k], 0.3, EDGES[k])
        assert np.array_equal(before, after)
        agree = np.abs(slope_before - slope_after) <= 1e-14 * (1 + np.abs(slope_before))
        assert agree.all() == (order == 2)


def test_order_1_is_the_end_of_the_window_before_and_a_ramp_times_the_network():
    module = build(1)
    first, second, _ = module.networks
    at = T.tensor([[0.4, 2.25]], dtype=T.float64)
    end = T.tensor([[0.4, 2.0]], dtype=T.float64)
    expected = first(end) + 0.25 * second(at)
    np.testing.assert_allclose(module(at).detach().numpy(), expected.detach().numpy(), rtol=1e-14)


def test_order_2_asks_the_window_before_no_further_than_a_tenth_beyond_its_end():
    meeting = windows(2)[0]._meeting
    t = T.tensor(np.linspace(2.0, 3.0, 1001)[:, None], dtype=T.float64)
    asked = meeting.before(1, t).numpy()
    assert asked.min() == 2.0
    assert asked.max() == pytest.approx(2.1, abs=1e-6)  # e q is largest at z = 1: L / 10


def test_random_features_are_trained_as_far_as_the_next_window_asks_them():
    features = pinn.RandomFeatures(8)
    times = [pinn.Windows(3, features, order=2).times(DOMAIN, number) for number in range(3)]
    assert times == [(1.0, pytest.approx(2.1)), (2.0, pytest.approx(3.1)), (3.0, 4.0)]
    assert pinn.Windows(3, features, order=1).times(DOMAIN, 0) == (1.0, 2.0)
    assert pinn.Windows(3, SMALL, order=2).times(DOMAIN, 0) == (1.0, 2.0)


def test_points_take_the_window_that_they_are_in():
    module = build(2)
    points = T.tensor(np.column_stack([np.linspace(-1, 1, 9), np.linspace(1, 4, 9)]))
    whole = module(points).detach().numpy()
    for row, point in zip(whole, points, strict=True):
        k = min(int(point.numpy()[1] - 1), 2)
        own = module.within(k, module.networks[:k])(point.reshape(1, 2)).detach().numpy()[0]
        np.testing.assert_allclose(row, own, atol=1e-14)


def test_each_network_sees_its_own_times():
    network = build(1).networks[1]
    alone = SMALL.build(
        during(DOMAIN, 2.0, 3.0), ["u", "v"], np.random.default_rng(3).spawn(3)[1], T.float64
    )
    points = T.tensor([[0.1, 2.6]], dtype=T.float64)
    np.testing.assert_array_equal(
        network(points).detach().numpy(), alone(points).detach().numpy()
    )


def test_parameters_are_counted():
    model = pinn.Windows(3, SMALL)
    assert model.parameter_count(DOMAIN, ["u"]) == 3 * SMALL.parameter_count(DOMAIN, ["u"])


def test_a_problem_without_time_is_refused():
    with pytest.raises(DeclarationError, match="a time coordinate"):
        pinn.Windows(2).check(pinn.Interval("x", 0, 1), ["u"])


def test_windows_in_windows_and_higher_orders_are_refused():
    with pytest.raises(DeclarationError, match="no windows itself"):
        pinn.Windows(2, pinn.Windows(2)).check(DOMAIN, ["u"])
    with pytest.raises(DeclarationError, match="1 or 2, got 3"):
        pinn.Windows(2, order=3)
