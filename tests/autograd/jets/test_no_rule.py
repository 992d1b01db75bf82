"""What cannot be pushed through says so: the operation, the layer, and the remedy."""

from __future__ import annotations

import numpy as np
import pytest

import autograd as T
from autograd.jets import NoTaylorRule, partials
from autograd.ops.registry import REGISTRY, Op


class Cube(T.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x * x

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 3 * g * x * x


class CubeLayer(T.nn.Module):
    def forward(self, x):
        return Cube.apply(x)


class Net(T.nn.Module):
    def __init__(self):
        super().__init__()
        self.body = T.nn.Sequential(T.nn.Linear(1, 4), CubeLayer(), T.nn.Linear(4, 1))

    def forward(self, x):
        return self.body(x)


X = np.array([[0.3], [0.7]])


def test_a_custom_function_names_itself_its_layer_and_the_remedy():
    with pytest.raises(NoTaylorRule) as caught:
        partials(Net().double(), [T.tensor(X)], [(0, 0)])
    assert str(caught.value) == (
        "custom Function 'Cube' in layer 'body.1' (CubeLayer) has no Taylor rule, so no derivative "
        "in the coordinates can be pushed through it; use nested differentiation instead "
        "(derivatives: nested in a config, autograd.grad(create_graph=True) in Python)"
    )
    assert isinstance(caught.value, RuntimeError)


def test_outside_any_layer_the_message_does_without_one():
    with pytest.raises(NoTaylorRule, match="^custom Function 'Cube' has no Taylor rule"):
        partials(Cube.apply, [T.tensor(X)], [(0,)])


def test_a_single_module_is_named_by_its_class():
    with pytest.raises(NoTaylorRule, match=r"'Cube' in layer \(CubeLayer\) has"):
        partials(CubeLayer(), [T.tensor(X)], [(0,)])


def test_the_remedy_works():
    x = T.tensor(X, requires_grad=True)
    net = Net().double()
    (first,) = T.grad(net(x).sum(), x, create_graph=True)
    (second,) = T.grad(first.sum(), x)
    h = 1e-4
    with T.no_grad():
        u = [net(T.tensor(X + k * h)).numpy() for k in (-1, 0, 1)]
    expected = (u[0] - 2 * u[1] + u[2]) / h**2
    np.testing.assert_allclose(second.numpy(), expected, rtol=1e-5, atol=1e-6)


def test_an_operation_without_a_rule_is_named():
    op = Op("no_rule_here", lambda xp, x: xp.sin(x), {"x": lambda g, x: g * T.cos(x)})
    del REGISTRY[op.name]
    with pytest.raises(NoTaylorRule, match="^operation 'no_rule_here' has no Taylor rule"):
        partials(op, [T.tensor(X)], [(0,)])


@pytest.mark.parametrize("taylor", ["nested", "smooth", lambda op, args, _: T.sin(args[0])])
def test_a_new_operation_says_its_rule(taylor):
    op = Op(
        "sine_of_the_tests", lambda xp, x: xp.sin(x), {"x": lambda g, x: g * T.cos(x)},
        elementwise=True, taylor=taylor,
    )  # fmt: skip
    try:
        found = partials(op, [T.tensor(X)], [(0,), (0, 0, 0)])
    finally:
        del REGISTRY[op.name]
    np.testing.assert_allclose(found[(0,)].numpy(), np.cos(X), rtol=1e-14)
    np.testing.assert_allclose(found[(0, 0, 0)].numpy(), -np.cos(X), rtol=1e-14)


def test_sweeps_do_not_nest():
    x = T.tensor(X)

    def inner(y):
        return partials(T.sin, [y], [(0,)])[(0,)]

    with pytest.raises(RuntimeError, match="sweeps do not nest; ask one sweep"):
        partials(inner, [x], [(0,)])
    with pytest.raises(RuntimeError, match="sweeps do not nest; ask one sweep"):
        partials(lambda y: partials(lambda z: y * z, [x], [(0,)])[(0,)], [x], [(0, 0)])


def test_writing_into_a_jet_is_refused():
    with pytest.raises(RuntimeError, match="in-place operation on a Jet is not supported"):
        partials(lambda x: (x * 2).add_(1), [T.tensor(X)], [(0,)])
