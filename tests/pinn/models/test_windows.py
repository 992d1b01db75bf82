"""Networks of windows of time: how they meet, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

import autograd as T
import pinn
from pinn.geometry import during
from pinn.models.windows import Window
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
    return [window(module, k) for k in range(3)]


def window(module, k: int):
    return Window(module.networks[:k], module.networks[k], module._meeting)


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
    past = meeting.times(1).past(t).numpy()
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
        own = window(module, k)(point.reshape(1, -1)).detach().numpy()[0]
        np.testing.assert_allclose(row, own, atol=1e-14)


@pytest.mark.parametrize("order", [1, 2])
def test_the_model_in_a_window_is_that_of_all_of_them_there(order):
    whole, model = build(order, IN_TIME), pinn.Windows(3, SMALL, order=order)
    arguments = IN_TIME, ["u", "v"], np.random.default_rng(3), T.float64
    alone = model.in_window(2, whole.networks[:2]).build(*arguments)
    points = T.tensor([[3.2], [3.9]], dtype=T.float64)
    np.testing.assert_allclose(
        alone(points).detach().numpy(), whole(points).detach().numpy(), rtol=1e-15
    )


@pytest.mark.parametrize("order", [1, 2])
def test_in_time_alone_a_window_becomes_another_one_in_the_same_memory(order):
    moving, module = windows(order, IN_TIME)[1], build(order, IN_TIME)
    last = window(module, 2)
    tensors = [*moving.parameters(), *moving.buffers()]
    memory = [tensor.data_ptr() for tensor in tensors]
    assert moving.can_become(last) and not moving.can_become(window(module, 0))
    moving.become(last)
    points = T.tensor([[3.2], [3.9]], dtype=T.float64)
    assert np.array_equal(moving(points).detach().numpy(), last(points).detach().numpy())
    assert [tensor.data_ptr() for tensor in tensors] == memory
    with T.no_grad():
        for parameter in moving.parameters():
            parameter.mul_(2.0)
    trained = moving.trained()  # is that of the window, which stays when the other moves on
    assert trained is last.network
    assert not any(p.requires_grad for p in trained.parameters())
    assert np.array_equal(trained(points).numpy(), moving.network(points).detach().numpy())


def test_with_other_coordinates_windows_do_not_move():
    first, second, third = windows(1)
    assert not second.can_become(third)


@pytest.mark.parametrize("order", [1, 2])
def test_all_points_share_the_numbers_that_go_over_in_time_alone(order):
    """As the window was trained, with and without gradients, whatever many rows round to."""
    module = build(order, IN_TIME)
    points = T.tensor(np.linspace(3, 4, 13)[:, None])
    trained = window(module, 2)(points).detach().numpy()
    assert np.array_equal(module(points).detach().numpy(), trained)
    with T.no_grad():
        assert np.array_equal(module(points).numpy(), trained)


@pytest.mark.parametrize("order", [1, 2])
def test_gradients_go_through_what_goes_over(order):
    module = build(order, IN_TIME)
    points = T.tensor([[2.4], [3.2], [3.9]], dtype=T.float64)
    parameters = list(module.parameters())
    gradients = T.grad(module(points).sum(), parameters)
    h = 1e-6
    for parameter, gradient in zip(parameters, gradients, strict=True):
        flat = parameter.detach().reshape(-1)
        with T.no_grad():
            flat[0] += h
            ahead = module(points).sum().item()
            flat[0] -= 2 * h
            behind = module(points).sum().item()
            flat[0] += h
        assert gradient.numpy().flat[0] == pytest.approx((ahead - behind) / (2 * h), abs=1e-7)


def test_breaks_are_where_windows_meet():
    model = pinn.Windows(model=SMALL, breaks=[1.01, 1.5])
    assert model.count == 3
    assert model.edges(IN_TIME).tolist() == [1.0, 1.01, 1.5, 4.0]
    assert model.times(IN_TIME, 1) == (1.01, 1.5)
    module = model.build(IN_TIME, ["u"], np.random.default_rng(3), T.float64)
    at = T.tensor([[1.01], [1.5]], dtype=T.float64)
    below = T.tensor(np.nextafter(at.numpy(), 0.0))
    np.testing.assert_allclose(module(at).detach().numpy(), module(below).detach().numpy())


def test_without_a_count_or_breaks_there_are_four_windows():
    assert pinn.Windows().count == 4 == len(pinn.Windows().edges(IN_TIME)) - 1
    assert pinn.Windows(3, breaks=[2, 3]) == pinn.Windows(breaks=[2, 3])


@pytest.mark.parametrize(("given", "said"), [
    ({"breaks": [2, 2]}, "breaks: expected each time after the one before, got 2 after 2"),
    ({"breaks": [3, 2]}, "breaks: expected each time after the one before, got 2 after 3"),
    ({"breaks": []}, "breaks: expected"),
    ({"breaks": [2], "count": 3}, "count: expected 2, one more than there are breaks"),
])  # fmt: skip
def test_breaks_that_cannot_be_are_refused(given, said):
    with pytest.raises(DeclarationError, match=said):
        pinn.Windows(**given)


@pytest.mark.parametrize("outside", [1, 4, 4.5])
def test_breaks_outside_of_the_times_are_refused(outside):
    with pytest.raises(DeclarationError, match="breaks: expected times between 1 and 4"):
        pinn.Windows(breaks=[outside]).check(IN_TIME, ["u"])


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


def test_windows_after_a_time_are_not_trained():
    model = pinn.Windows(model=pinn.MLP(4, 1), breaks=[0.5, 1.5], until=1.5)
    assert (model.count, model.trained) == (3, 2)
    assert pinn.Windows(3).trained == 3


def test_the_time_until_which_windows_are_trained_is_a_break():
    with pytest.raises(DeclarationError, match="until: expected one of the breaks, got 1"):
        pinn.Windows(breaks=[0.5, 1.5], until=1.0)
