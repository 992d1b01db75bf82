"""Rows 83-99: grad modes, modules and parameters."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import autograd as T
from autograd import nn
from autograd.strict import strict_cuda


def test_row_083_no_grad_records_nothing(dtype):
    x = T.tensor([2.0], dtype=dtype, requires_grad=True)
    with T.no_grad():
        y = x * x
    assert y.requires_grad is False and y.is_leaf is True and y.grad_fn is None
    with pytest.raises(
        RuntimeError,
        match="element 0 of tensors does not require grad and does not have a grad_fn",
    ):
        y.backward()
    assert (x * x).requires_grad is True


def test_row_084_no_grad_decorates_functions_and_generators():
    @T.no_grad()
    def with_parentheses():
        """Say it."""
        return T.is_grad_enabled()

    @T.no_grad
    def without():
        return T.is_grad_enabled()

    assert with_parentheses() is False and without() is False
    assert with_parentheses.__name__ == "with_parentheses"
    assert with_parentheses.__doc__ == "Say it."
    assert T.is_grad_enabled() is True

    @T.no_grad()
    def steps():
        received = yield T.is_grad_enabled()
        try:
            yield received, T.is_grad_enabled()
        except ValueError:
            yield "caught", T.is_grad_enabled()
        return T.is_grad_enabled()

    generator = steps()
    assert next(generator) is False
    assert T.is_grad_enabled() is True, "left at the yield"
    assert generator.send("sent") == ("sent", False)
    assert generator.throw(ValueError()) == ("caught", False)
    assert T.is_grad_enabled() is True
    with pytest.raises(StopIteration) as stop:
        next(generator)
    assert stop.value.value is False
    assert T.is_grad_enabled() is True

    @T.no_grad
    def bare_steps():
        yield T.is_grad_enabled()

    for inside in bare_steps():
        assert inside is False and T.is_grad_enabled() is True

    at_the_end = []

    @T.no_grad()
    def closed_early():
        try:
            yield
        finally:
            at_the_end.append(T.is_grad_enabled())

    generator = closed_early()
    next(generator)
    generator.close()
    assert at_the_end == [False] and T.is_grad_enabled() is True


def test_row_085_enable_grad_inside_no_grad(dtype):
    x = T.tensor([2.0], dtype=dtype, requires_grad=True)

    @T.enable_grad()
    def square():
        return x * x

    with T.no_grad():
        with T.enable_grad():
            y = x * x
        z = x * x
        w = square()
    assert y.requires_grad is True and w.requires_grad is True
    assert z.requires_grad is False


def test_inference_mode_records_nothing_and_leaves_ordinary_leaves():
    x = T.tensor(3.0, requires_grad=True)
    with T.inference_mode():
        y = x * x
        assert not T.is_grad_enabled()
        with T.inference_mode(mode=False):
            assert (x * x).requires_grad
    assert T.is_grad_enabled() and y.is_leaf and not y.requires_grad
    # PyTorch refuses both of these
    y += 1.0
    (x * y).backward()
    assert x.grad.item() == 10.0


def test_inference_mode_is_known_inside_and_forgotten_after_an_error():
    assert T.is_inference_mode_enabled() is False
    with T.inference_mode():
        assert T.is_inference_mode_enabled() is True
        with T.inference_mode(False), T.no_grad():
            assert T.is_inference_mode_enabled() is False
        assert T.is_inference_mode_enabled() is True
    with pytest.raises(ZeroDivisionError), T.inference_mode():
        1 / 0  # noqa: B018
    assert T.is_inference_mode_enabled() is False


def test_inference_mode_decorates_with_and_without_parentheses():
    x = T.tensor(3.0, requires_grad=True)

    @T.inference_mode
    def bare():
        return x * x

    @T.inference_mode()
    def called():
        return x * x

    @T.inference_mode(False)
    def recorded():
        return x * x

    @T.inference_mode
    def steps():
        yield x * x

    assert not bare().requires_grad and not called().requires_grad
    assert not next(steps()).requires_grad
    with T.no_grad():
        assert recorded().requires_grad
    assert T.is_grad_enabled() and bare.__name__ == "bare"


def test_row_086_set_grad_enabled_as_context_and_statement():
    try:
        T.set_grad_enabled(False)
        assert T.is_grad_enabled() is False
        with T.set_grad_enabled(True):
            assert T.is_grad_enabled() is True
            with T.set_grad_enabled(False):
                assert T.is_grad_enabled() is False
            assert T.is_grad_enabled() is True
        assert T.is_grad_enabled() is False
    finally:
        T.set_grad_enabled(True)

    @T.set_grad_enabled(False)
    def decorated():
        return T.is_grad_enabled()

    assert T.is_grad_enabled() is True
    assert decorated() is False and T.is_grad_enabled() is True
    for context in (T.set_grad_enabled(False), T.no_grad()):
        T.set_grad_enabled(True)
        with pytest.raises(ZeroDivisionError):
            with context:
                assert T.is_grad_enabled() is False
                raise ZeroDivisionError
        assert T.is_grad_enabled() is True


def test_row_087_grad_mode_belongs_to_the_thread():
    assert T.is_grad_enabled() is True
    seen = []

    def look():
        seen.append(T.is_grad_enabled())
        T.set_grad_enabled(False)
        seen.append(T.is_grad_enabled())

    with T.no_grad():
        thread = threading.Thread(target=look)
        thread.start()
        thread.join()
        assert T.is_grad_enabled() is False
    assert seen == [True, False]
    assert T.is_grad_enabled() is True


def test_row_088_requires_grad_set_inside_no_grad_is_kept(dtype):
    with T.no_grad():
        made = T.tensor([2.0], dtype=dtype, requires_grad=True)
        switched = (made * 2).requires_grad_()
    assert made.requires_grad is True and switched.requires_grad is True
    assert switched.is_leaf is True
    (made * switched).backward()
    assert made.grad.tolist() == [4.0] and switched.grad.tolist() == [2.0]


def test_row_089_a_built_graph_is_differentiated_inside_no_grad(dtype):
    x = T.tensor([2.0], dtype=dtype, requires_grad=True)
    y = x * x * x
    with T.no_grad():
        assert T.grad(y, x, retain_graph=True)[0].tolist() == [12.0]
        (first,) = T.grad(y, x, create_graph=True)
        assert first.requires_grad is True
        assert T.grad(first, x, retain_graph=True)[0].tolist() == [12.0]
        y.backward()
        assert T.is_grad_enabled() is False
    assert x.grad.tolist() == [12.0]


def test_row_090_a_parameter_is_a_leaf_that_requires_grad(dtype):
    p = nn.Parameter(T.rand(3, dtype=dtype))
    assert isinstance(p, T.Tensor)
    assert p.is_leaf is True and p.requires_grad is True and p.dtype == dtype
    x = T.rand(3, dtype=dtype, requires_grad=True)
    from_non_leaf = nn.Parameter(x * 2)
    assert from_non_leaf.is_leaf is True and from_non_leaf.grad_fn is None
    (from_non_leaf * 3).sum().backward()
    assert from_non_leaf.grad.tolist() == [3.0, 3.0, 3.0]
    assert x.grad is None
    assert nn.Parameter(T.rand(3), requires_grad=False).requires_grad is False


def test_row_091_shapes_of_a_linear_layer():
    layer = nn.Linear(3, 5)
    assert layer.weight.shape == (5, 3) and layer.bias.shape == (5,)
    assert nn.Linear(3, 5, bias=False).bias is None


def test_row_092_parameters_get_gradients_and_the_rest_does_not(dtype):
    layer = nn.Linear(3, 5).to(dtype)
    x = T.rand(4, 3, dtype=dtype)
    y = layer(x)
    loss = y.sum()
    loss.backward()
    assert layer.weight.grad.shape == (5, 3) and layer.weight.grad.dtype == dtype
    assert layer.bias.grad.tolist() == [4.0] * 5
    assert x.grad is None
    for computed in (y, loss):
        with pytest.warns(UserWarning, match="not a leaf"):
            assert computed.grad is None


def test_row_093_l1_loss_is_a_scalar(dtype):
    y = T.tensor([[1.0, -2.0], [3.0, 5.0]], dtype=dtype, requires_grad=True)
    gt = T.tensor([[0.0, 2.0], [3.5, 1.0]], dtype=dtype)
    loss = nn.L1Loss()(y, gt)
    assert loss.shape == () and loss.item() == (1 + 4 + 0.5 + 4) / 4
    loss.backward()
    assert y.grad.tolist() == [[0.25, -0.25], [-0.25, 0.25]]


def test_row_094_a_frozen_parameter_gets_no_gradient(dtype):
    layer = nn.Linear(3, 5).to(dtype)
    layer.weight.requires_grad = False
    layer(T.rand(4, 3, dtype=dtype)).sum().backward()
    assert layer.weight.grad is None
    assert layer.bias.grad.tolist() == [4.0] * 5
    layer.bias.requires_grad_(False)
    assert layer(T.rand(4, 3, dtype=dtype)).requires_grad is False


def test_row_095_eval_switches_training_and_nothing_else(dtype):
    model = nn.Sequential(nn.Linear(2, 3), nn.Sequential(nn.Tanh(), nn.Linear(3, 1))).to(dtype)
    assert all(m.training is True for m in model.modules())
    assert model.eval() is model
    assert all(m.training is False for m in model.modules())
    model(T.rand(4, 2, dtype=dtype)).sum().backward()
    assert all(p.grad is not None for p in model.parameters())
    assert model.train() is model
    assert all(m.training is True for m in model.modules())


def test_row_096_eval_with_no_grad_records_nothing(dtype):
    model = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1)).to(dtype).eval()
    with T.no_grad():
        y = model(T.rand(4, 2, dtype=dtype))
    assert y.requires_grad is False and y.is_leaf is True and y.grad_fn is None


def test_row_097_moved_modules_keep_their_parameters():
    model = nn.Sequential(nn.Linear(2, 3), nn.Linear(3, 1))
    parameters = list(model.parameters())

    def check(dtype, is_cuda):
        now = list(model.parameters())
        assert len(now) == len(parameters) == 4
        for p, q in zip(now, parameters, strict=True):
            assert p is q
            assert p.is_leaf is True and p.requires_grad is True
            assert p.dtype == dtype and p.is_cuda is is_cuda

    assert model.double() is model
    check(np.float64, False)
    assert model.to(T.float32) is model
    check(np.float32, False)
    with strict_cuda():
        assert model.cuda() is model
        check(np.float32, True)
        model(T.rand(3, 2, device="cuda")).sum().backward()
        assert all(p.grad.is_cuda for p in parameters)
        model.to("cpu", T.float64)
        check(np.float64, False)
        assert all(p.grad.dtype == np.float64 and not p.grad.is_cuda for p in parameters)


def test_row_098_grad_fn_shows_the_graph(dtype):
    x = T.tensor([2.0], dtype=dtype, requires_grad=True)
    constant = T.tensor([3.0], dtype=dtype)
    y = T.sin(x)
    z = y * constant
    assert z.grad_fn.name() == "MulBackward0"
    assert y.grad_fn.name() == "SinBackward0"
    (first, second) = z.grad_fn.next_functions
    assert first == (y.grad_fn, 0)
    assert second[0] is None
    (sink,) = y.grad_fn.next_functions
    assert "AccumulateGrad" in sink[0].name()
    assert sink[0].variable is x
    assert sink[0].next_functions == ()


def test_row_099_modules_register_what_is_assigned(dtype):
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = nn.Linear(2, 3)
            self.scale = nn.Parameter(T.tensor([2.0]))
            self.plain = T.tensor([1.0])

        def forward(self, x):
            return self.inner(x).sum() * self.scale

    net = Net().to(dtype)
    names = [name for name, _ in net.named_parameters()]
    assert sorted(names) == ["inner.bias", "inner.weight", "scale"]
    assert "inner" in dict(net.named_children())
    state = net.state_dict()
    assert sorted(state) == ["inner.bias", "inner.weight", "scale"]
    other = Net().to(dtype)
    before = other.inner.weight
    other.load_state_dict(state)
    assert other.inner.weight is before and before.requires_grad is True
    x = T.rand(4, 2, dtype=dtype)
    assert other(x).tolist() == net(x).tolist()
    net(x).backward()
    assert net.scale.grad is not None and other.scale.grad is None
    with pytest.raises((RuntimeError, KeyError), match="scale"):
        other.load_state_dict({k: v for k, v in state.items() if k != "scale"})
    net.scale = nn.Parameter(T.tensor([5.0]))
    assert net.state_dict()["scale"].tolist() == [5.0]
    del net.scale
    assert "scale" not in net.state_dict()
