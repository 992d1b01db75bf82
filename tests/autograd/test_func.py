"""Functions made of functions, against derivatives in closed form."""

import numpy as np
import pytest

import autograd as T
from autograd import nn
from autograd.func import functional_call, hessian, jacfwd, jacrev

X = T.tensor([[0.3, -0.7, 1.1], [0.9, 0.2, -0.4]], dtype=T.float64)
Y = T.tensor([[1.3, 0.7, -1.1], [0.1, 2.2, 0.6]], dtype=T.float64)


def squares(x, y):
    """Return what is linear in y and quadratic in x, of shape (3,)."""
    return (x * x * y).sum(0)


def diagonal(values):
    """Return d out[k] / d in[i, j], which is not zero where j = k alone."""
    return np.einsum("kj,ij->kij", np.eye(3), values)


@pytest.mark.parametrize("transform", [jacrev, jacfwd])
def test_jacobians(transform):
    x, y = X.numpy(), Y.numpy()
    np.testing.assert_allclose(transform(squares)(X, Y).numpy(), diagonal(2 * x * y))
    np.testing.assert_allclose(transform(squares, 1)(X, Y).numpy(), diagonal(x * x))
    both = transform(squares, (0, -1))(X, Y)
    assert isinstance(both, tuple)
    np.testing.assert_allclose(both[1].numpy(), diagonal(x * x))
    several = transform(lambda x: (x.sum(), x * 2))(X)
    assert [s.shape for s in several] == [(2, 3), (2, 3, 2, 3)]
    np.testing.assert_allclose(transform(lambda x, k: k * x.sum())(X, k=3.0).numpy(), 3)


def test_second_derivatives():
    found = hessian(squares)(X, Y).numpy()
    eye = np.eye(3)
    expected = np.einsum("kj,km,in,ij->kijnm", eye, eye, np.eye(2), 2 * Y.numpy())
    np.testing.assert_allclose(found, expected, atol=1e-15)
    np.testing.assert_allclose(jacrev(jacfwd(squares))(X, Y).numpy(), expected, atol=1e-15)
    blocks = hessian(lambda x, y: (x * y).sum(), (0, 1))(X, Y)
    np.testing.assert_allclose(blocks[0][1].numpy().reshape(6, 6), np.eye(6))
    third = jacrev(hessian(lambda x: (x**3).sum()))(X[0])
    assert third[1, 1, 1].item() == pytest.approx(6)


@pytest.mark.parametrize("transform", [jacrev, jacfwd])
def test_results_are_in_the_graph_where_something_requires_grad(transform):
    assert not transform(squares)(X, Y).requires_grad
    x = X.clone().requires_grad_()
    jacobian = transform(squares)(x, Y)
    assert T.grad((jacobian**2).sum(), x)[0].shape == X.shape
    with T.no_grad():
        assert not transform(squares)(x, Y).requires_grad
    net = nn.Linear(3, 1, dtype=T.float64)
    slope = transform(lambda x: net(x).tanh())(X[0])
    (g,) = T.grad(slope.sum(), net.weight)
    assert T.is_tensor(g) and X.grad is None


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: jacrev(squares, 2)(X, Y), IndexError, "out of range for 2 positional"),
        (lambda: jacfwd(squares)(1.0, Y), TypeError, "argument 0 must be a Tensor, got float"),
        (lambda: jacrev(lambda x: 1.0)(X), TypeError, "must be a Tensor"),
    ],
)
def test_bad_arguments_are_refused(call, error, words):
    with pytest.raises(error, match=words):
        call()


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
