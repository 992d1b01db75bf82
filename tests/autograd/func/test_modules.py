"""Modules as functions of their parameters, one and several at a time."""

import numpy as np
import pytest

import autograd as T
from autograd import nn
from autograd.func import functional_call, grad, jacrev, stack_module_state, vmap

X = T.tensor([[0.3, -0.7, 1.1], [0.9, 0.2, -0.4]], dtype=T.float64)


def test_a_module_as_a_function_of_its_parameters():
    net = nn.Sequential(nn.Linear(3, 2, dtype=T.float64), nn.Tanh())
    net.register_buffer("shift", T.zeros(1))
    own = dict(net.named_parameters())
    given = {name: (p.detach() * 2).requires_grad_() for name, p in own.items()}
    found = functional_call(net, given, X)
    expected = T.tanh(X @ given["0.weight"].T + given["0.bias"])
    np.testing.assert_allclose(found.detach().numpy(), expected.detach().numpy(), rtol=1e-14)
    found.sum().backward()
    assert given["0.bias"].grad is not None and own["0.bias"].grad is None
    assert dict(net.named_parameters()) == own
    part = functional_call(net, [{"0.weight": given["0.weight"]}, {"shift": T.ones(1)}], (X,))
    expected = T.tanh(X @ given["0.weight"].T + own["0.bias"])
    np.testing.assert_allclose(part.detach().numpy(), expected.detach().numpy(), rtol=1e-14)
    by_weights = jacrev(lambda w: functional_call(net, {"0.weight": w}, X).sum())
    assert by_weights(given["0.weight"]).shape == (2, 3)


def test_shared_parameters_are_replaced_together_and_errors_put_them_back():
    net = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2))
    net[1].weight = net[0].weight
    seen = []

    class Fails(nn.Module):
        def forward(self, x):
            seen.extend([net[0].weight, net[1].weight])
            raise ValueError("on purpose")

    net.append(Fails())
    own, other = net[0].weight, T.ones(2, 2)
    with pytest.raises(ValueError, match="on purpose"):
        functional_call(net, {"1.weight": other}, T.ones(2))
    assert len(seen) == 2 and all(one is other for one in seen)
    assert net[0].weight is own and net[1].weight is own
    with pytest.raises(RuntimeError, match=r"no parameters or buffers \['weight'\]; it has"):
        functional_call(net, {"weight": other}, T.ones(2))
    with pytest.raises(TypeError, match="'0.weight' must be a Tensor, got float"):
        functional_call(net, {"0.weight": 1.0}, T.ones(2))


def test_a_compiled_function_may_call_a_module_with_other_parameters():
    net = nn.Linear(3, 1, dtype=T.float64)
    loss = T.compile(lambda w: (functional_call(net, {"weight": w}, X) ** 2).sum())
    for scale in (1.0, 2.0):
        w = (T.ones(1, 3, dtype=T.float64) * scale).requires_grad_()
        expected = ((X @ w.T + net.bias) ** 2).sum()
        assert loss(w).item() == pytest.approx(expected.item(), rel=1e-13)


def linear(inputs=3, outputs=2):
    return nn.Linear(inputs, outputs, dtype=T.float64)


def test_an_ensemble_is_one_call_with_stacked_parameters():
    nets = [nn.Sequential(linear(), nn.Tanh(), linear(2, 1)) for _ in range(4)]
    for k, net in enumerate(nets):
        net.register_buffer("number", T.tensor([float(k)]))
    parameters, buffers = stack_module_state(nets)
    assert parameters["0.weight"].shape == (4, 2, 3) and parameters["0.weight"].is_leaf
    assert all(p.requires_grad for p in parameters.values())
    np.testing.assert_array_equal(buffers["number"].numpy(), [[0.0], [1.0], [2.0], [3.0]])

    def values(p, b, x):
        return functional_call(nets[0], (p, b), (x,))

    found = vmap(values, in_dims=(0, 0, None))(parameters, buffers, X)
    expected = T.stack([net(X) for net in nets])
    np.testing.assert_allclose(found.detach().numpy(), expected.detach().numpy(), rtol=1e-14)
    found.sum().backward()
    expected.sum().backward()
    own = T.stack([net[0].weight.grad for net in nets])
    np.testing.assert_allclose(parameters["0.weight"].grad.numpy(), own.numpy(), rtol=1e-13)


@pytest.mark.parametrize(
    ("models", "words"),
    [
        ([], "at least one module"),
        ([nn.Linear(1, 1), nn.Tanh()], "one class"),
        ([nn.Linear(1, 1), nn.Linear(2, 1)], "of one shape"),
        ([nn.Linear(1, 1), nn.Linear(1, 1).requires_grad_(False)], "requires grad in some"),
    ],
)
def test_modules_that_cannot_be_stacked_are_refused(models, words):
    with pytest.raises(RuntimeError, match=words):
        stack_module_state(models)


def test_gradients_of_each_example_by_the_parameters_are_those_of_a_loop():
    net = nn.Sequential(linear(), nn.Tanh(), linear(2, 1))
    parameters = {name: p.detach() for name, p in net.named_parameters()}
    targets = T.tensor([0.5, -1.0], dtype=T.float64)

    def loss(p, x, y):
        return (functional_call(net, p, (x,)).squeeze(-1) - y) ** 2

    found = vmap(grad(loss), in_dims=(None, 0, 0))(parameters, X, targets)
    for k in range(2):
        value = (net(X[k]).squeeze(-1) - targets[k]) ** 2
        each = T.grad(value, list(net.parameters()))
        for (name, one), expected in zip(found.items(), each, strict=True):
            np.testing.assert_allclose(
                one[k].numpy(), expected.numpy(), rtol=1e-13, atol=1e-15, err_msg=name
            )
