"""What a compiled function asks of tensors besides their numbers is as in the eager run."""

import numpy as np
import pytest

import autograd as T


def test_the_gradient_of_a_tensor_from_around_is_looked_at_again():
    weight, x = T.nn.Parameter(T.ones(2)), T.tensor([1.0, 3.0])
    compiled = T.compile(lambda x: (x * 2 if weight.grad is None else x * weight.grad).sum())
    assert compiled(x).item() == 8.0
    weight.grad = T.full((2,), 5.0)
    assert compiled(x).item() == 20.0
    weight.grad.mul_(2)
    assert compiled(x).item() == 40.0
    weight.grad = T.full((2,), 1.0)
    assert compiled(x).item() == 4.0
    weight.grad = None
    assert compiled(x).item() == 8.0


def test_a_loss_with_the_norm_of_the_last_gradient():
    layers = [T.nn.Linear(2, 1, dtype=T.float64) for _ in range(2)]
    layers[1].load_state_dict(layers[0].state_dict())

    def loss_of(layer):
        def loss(x):
            last = layer.weight.grad
            penalty = 0.0 if last is None else (last**2).sum()
            return (layer(x) ** 2).mean() + penalty

        return loss

    losses, x = [T.compile(loss_of(layers[0])), loss_of(layers[1])], T.rand(5, 2, dtype=T.float64)
    for _ in range(3):
        values = [loss(x) for loss in losses]
        for value in values:
            value.backward()
        np.testing.assert_allclose(*(value.detach() for value in values), rtol=1e-13)
        np.testing.assert_allclose(*(layer.weight.grad for layer in layers), rtol=1e-13)


def test_a_tensor_from_around_that_is_no_part_of_the_program_and_comes_to_require_gradients():
    other, x = T.ones(1), T.ones(1)
    compiled = T.compile(lambda x: x * 2 if other.requires_grad else x * 3)
    for flag in (False, True, False):
        other.requires_grad_(flag)
        assert compiled(x).item() == (2.0 if flag else 3.0)


def _double(tensor):
    tensor.data = tensor.data.double()


def _shorten(tensor):
    tensor.data = T.ones(1, dtype=tensor.data.dtype)


@pytest.mark.parametrize("make", [
    lambda: T.nn.Parameter(T.ones(3, dtype=T.float32)), lambda: T.ones(3, dtype=T.float32),
])  # fmt: skip
@pytest.mark.parametrize("ask, change", [
    (lambda t: t.shape[0], _shorten), (lambda t: t.size(0), _shorten), (len, _shorten),
    (lambda t: t.numel(), _shorten), (lambda t: 1 + (t.dtype == T.float64), _double),
    (lambda t: t.element_size(), _double), (lambda t: t.nbytes, _shorten),
    (lambda t: t.ndim, lambda t: setattr(t, "data", T.ones(1, 3))),
    (lambda t: 1 + t.is_complex(), lambda t: setattr(t, "data", t.data * 1j)),
])  # fmt: skip
def test_the_shape_and_dtype_of_what_is_not_read_are_looked_at_again(make, ask, change):
    other, x = make(), T.tensor([1.0, 3.0], requires_grad=True)

    def fn(x):
        return (x**2).sum() / ask(other)

    compiled = T.compile(fn)
    for _ in range(2):
        for value in (compiled(x), compiled(x)):
            assert value.item() == fn(x).item()
        np.testing.assert_allclose(*(T.autograd.grad(f(x), x)[0] for f in (compiled, fn)))
        change(other)


def test_who_reads_numbers_and_shape_is_not_recorded_more_often_for_that():
    layer, runs = T.nn.Linear(2, 1), []

    def loss(x):
        runs.append(1)
        return layer(x).sum() / layer.weight.numel()

    compiled = T.compile(loss)
    for _ in range(2):
        compiled(T.ones(3, 2))
    before = len(runs)
    layer.weight.data.mul_(2)
    layer.weight.data = layer.weight.data.clone()
    np.testing.assert_allclose(compiled(T.ones(3, 2)).item(), loss(T.ones(3, 2)).item(), rtol=1e-6)
    assert len(runs) == before + 1


ASKED = [
    (lambda x: x * (2 if x.is_leaf else 3), [T.ones(4, 3, requires_grad=True) * 2]),
    (lambda x: x * (2 if x.is_contiguous() else 3), [T.ones(3, 4).T, T.ones(4, 6)[:, ::2]]),
    (lambda x: x * x.stride(0) + x.stride()[1], [T.ones(3, 4).T, T.ones(4, 6)[:, ::2]]),
]


@pytest.mark.parametrize("points", [(), "x"])
@pytest.mark.parametrize("function, others", ASKED)
def test_an_argument_answers_for_what_stands_for_it(function, others, points):
    plain = T.ones(4, 3, requires_grad=True)
    compiled = T.compile(function, points=points)
    for x in (plain, *others, plain):
        assert compiled(x).tolist() == function(x).tolist()


@pytest.mark.parametrize("points", [(), "x"])
def test_the_gradient_of_an_argument(points):
    compiled = T.compile(lambda x: x * 2 if x.grad is None else x * 3, points=points)
    x = T.ones(4, requires_grad=True)
    for factor in (2.0, 3.0):
        result = compiled(x)
        assert result.tolist() == [factor] * 4
        result.sum().backward()  # recorded later, where the argument has a gradient
        assert x.grad.tolist() == [factor if factor == 2.0 else 5.0] * 4


def test_the_node_of_an_argument_is_refused():
    x = T.ones(2, requires_grad=True)
    compiled = T.compile(lambda x: x * 2 if x.grad_fn is None else x * 3)
    assert compiled(x).tolist() == [2.0, 2.0]
    with pytest.raises(T.TraceError, match="grad_fn of an argument"):
        compiled(x * 2)


def test_setting_a_gradient_while_recording_is_refused():
    weight = T.ones(2, requires_grad=True)

    def function(x):
        weight.grad = x.detach()
        return x * 2

    with pytest.raises(T.TraceError, match=r"setting \.grad inside a recorded step"):
        T.compile(function)(T.ones(2))


def test_a_gradient_that_would_be_that_of_another_function_is_refused():
    weight, x = T.ones(2, requires_grad=True), T.ones(2, requires_grad=True)
    compiled = T.compile(lambda x: x * 2 if weight.grad is None else x * 3)
    result = compiled(x)
    weight.grad = T.ones(2)
    with pytest.raises(RuntimeError, match=r"\.grad, .* or \.shape of a tensor .* has changed"):
        result.sum().backward()


def test_a_gradient_that_is_another_at_each_call_is_told_once():
    weight, x = T.ones(1, requires_grad=True), T.ones(1)
    compiled = T.compile(lambda x: x * 2 if weight.grad is None else x * weight.grad)
    with pytest.warns(RuntimeWarning, match="besides their numbers") as told:
        for k in range(12):
            weight.grad = T.full((1,), float(k))
            assert compiled(x).item() == k
    assert len(told) == 1


def test_what_is_made_inside_and_looked_at_costs_no_recording():
    recorded, weight = [], T.ones(2, requires_grad=True)

    def function(x):
        recorded.append(len(x))
        y = (x * weight).detach().requires_grad_()
        made = T.zeros(2)
        assert y.is_leaf and y.grad is None and made.is_contiguous() and not made.requires_grad
        return y * (weight.stride(0) + made)

    compiled = T.compile(function)
    compiled(T.ones(2))
    known = len(recorded)
    for _ in range(3):
        assert compiled(T.ones(2)).tolist() == [1.0, 1.0]
    assert len(recorded) == known
