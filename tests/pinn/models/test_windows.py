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


IN_TIME = pinn.Time("t", 1, 4)


def build(order: int, domain=DOMAIN):
    model = pinn.Windows(3, SMALL, order=order)
    return model.build(domain, ["u", "v"], np.random.default_rng(3), T.float64)


def windows(order: int, domain=DOMAIN):
    """The window modules, each with the networks before it."""
    module = build(order, domain)
    return [module.within(k, module.networks[:k]) for k in range(3)]


def value_and_slope(module, *point: float):
    points = T.tensor([point], dtype=T.float64, requires_grad=True)
    values = module(points)
    slopes = [T.grad(values[0, j], points, retain_graph=True)[0].numpy()[0, -1] for j in range(2)]
    return values.detach().numpy()[0], np.array(slopes)


@pytest.mark.parametrize("domain", [DOMAIN, IN_TIME])
@pytest.mark.parametrize("order", [1, 2])
def test_a_window_begins_where_the_one_before_ends(order, domain):
    modules, x = windows(order, domain), (0.3,) * (len(domain.coordinates) - 1)
    for k in (1, 2):
        before, slope_before = value_and_slope(modules[k - 1], *x, EDGES[k])
        after, slope_after = value_and_slope(modules[k], *x, EDGES[k])
        if order == 2 and domain is IN_TIME:  # the value comes out of a sweep
            np.testing.assert_allclose(before, after, rtol=1e-15)
        else:
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
    past = meeting.past(1, t).numpy()
    assert past.min() == 0.0
    assert past.max() == pytest.approx(0.1, abs=1e-6)  # largest at z = 1: L / 10


def test_order_2_in_time_alone_is_the_tangent_of_the_window_before_and_its_own_network():
    module = build(2, IN_TIME)
    first, second, _ = module.networks
    value, slope = value_and_slope(first, 2.0)
    t = np.linspace(2.0, 3.0, 7, endpoint=False)[:, None]
    z = (t - 2) / 0.2
    q = 1 / (1 + z**2)
    own = second(T.tensor(t)).detach().numpy()
    expected = value + (t - 2) * q * slope + z**2 * q * own
    np.testing.assert_allclose(module(T.tensor(t)).detach().numpy(), expected, rtol=1e-14)


def test_a_window_that_is_trained_does_not_depend_on_those_before():
    *_, last = windows(2, IN_TIME)
    points = T.tensor([[3.5], [3.7]], dtype=T.float64)
    last(points).sum().backward()
    assert all(p.grad is not None for p in last.network.parameters())
    assert all(p.grad is None for one in last._earlier for p in one.parameters())


def test_random_features_are_trained_as_far_as_the_next_window_asks_them():
    features = pinn.RandomFeatures(8)
    times = [pinn.Windows(3, features, order=2).times(DOMAIN, number) for number in range(3)]
    assert times == [(1.0, pytest.approx(2.1)), (2.0, pytest.approx(3.1)), (3.0, 4.0)]
    assert pinn.Windows(3, features, order=1).times(DOMAIN, 0) == (1.0, 2.0)
    assert pinn.Windows(3, features, order=2).times(IN_TIME, 0) == (1.0, 2.0)
    assert pinn.Windows(3, SMALL, order=2).times(DOMAIN, 0) == (1.0, 2.0)


@pytest.mark.parametrize("domain", [DOMAIN, IN_TIME])
@pytest.mark.parametrize("order", [1, 2])
def test_points_take_the_window_that_they_are_in(order, domain):
    module = build(order, domain)
    places = np.column_stack([np.linspace(-1, 1, 9), np.linspace(1, 4, 9)])
    points = T.tensor(places[:, -len(domain.coordinates) :])
    whole = module(points).detach().numpy()
    for row, point in zip(whole, points, strict=True):
        k = min(int(point.numpy()[-1] - 1), 2)
        own = module.within(k, module.networks[:k])(point.reshape(1, -1)).detach().numpy()[0]
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
