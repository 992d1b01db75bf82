"""Jacobians, Hessians and their products, against closed forms and each other."""

import numpy as np
import pytest

import autograd as T
from autograd import functional as F

RNG = np.random.default_rng(11)
A = RNG.normal(size=(3, 4))
X4 = RNG.normal(size=4)
Y3 = RNG.normal(size=3)


def linear(x):
    return T.tensor(A) @ x


def field(x, y):
    """(sin(A x) y, sum of x^2): two outputs of two inputs."""
    return T.sin(T.tensor(A) @ x) * y, (x * x).sum()


def energy(x, y):
    return (T.exp(x[:3]) * y * y).sum() + (x**3).sum()


def jacobian_of_field():
    z = A @ X4
    return (
        (np.cos(z)[:, None] * A * Y3[:, None], np.diag(np.sin(z))),
        (2 * X4, np.zeros(3)),
    )


def hessian_of_energy():
    xx = np.diag(6 * X4)
    xx[:3, :3] += np.diag(np.exp(X4[:3]) * Y3**2)
    xy = np.zeros((4, 3))
    xy[:3] = np.diag(2 * np.exp(X4[:3]) * Y3)
    return (xx, xy), (xy.T, np.diag(2 * np.exp(X4[:3])))


def inputs():
    return T.tensor(X4), T.tensor(Y3)


def assert_nested(found, expected):
    if isinstance(expected, tuple):
        assert isinstance(found, tuple) and len(found) == len(expected)
        for f, e in zip(found, expected, strict=True):
            assert_nested(f, e)
    else:
        assert found.shape == np.shape(expected)
        np.testing.assert_allclose(found.detach().numpy(), expected, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize(
    "options",
    [{}, {"vectorize": True}, {"strategy": "forward-mode"}],
    ids=["loop", "batched", "forward"],
)
@pytest.mark.parametrize("create_graph", [False, True])
def test_row_103_jacobian_three_ways(options, create_graph):
    found = F.jacobian(field, inputs(), create_graph=create_graph, **options)
    assert_nested(found, jacobian_of_field())
    single = F.jacobian(linear, T.tensor(X4), create_graph=create_graph, **options)
    assert_nested(single, A)
    assert not single.requires_grad


@pytest.mark.parametrize("strategy", F.STRATEGIES)
def test_jacobian_with_create_graph_can_be_differentiated(strategy):
    x = T.tensor(X4, requires_grad=True)
    j = F.jacobian(lambda v: v**3, x, create_graph=True, strategy=strategy)
    j.sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), 6 * X4)


def test_jacobian_shapes_of_scalars_and_empty_tensors():
    x = T.tensor(2.0, dtype=T.float64)
    assert F.jacobian(lambda v: v * v, x).item() == 4.0
    for strategy in F.STRATEGIES:
        empty = T.zeros(0, 2, dtype=T.float64)
        assert F.jacobian(lambda v: v * 2, empty, strategy=strategy).shape == (0, 2, 0, 2)


@pytest.mark.parametrize("outer", F.STRATEGIES)
@pytest.mark.parametrize("vectorize", [False, True])
def test_hessian_blocks(outer, vectorize):
    found = F.hessian(energy, inputs(), vectorize=vectorize, outer_jacobian_strategy=outer)
    assert_nested(found, hessian_of_energy())
    single = F.hessian(lambda x: (x**3).sum(), T.tensor(X4), outer_jacobian_strategy=outer)
    assert_nested(single, np.diag(6 * X4))


def test_row_104_products_agree_with_the_matrices():
    v = (T.tensor(RNG.normal(size=4)), T.tensor(RNG.normal(size=3)))
    w = (T.tensor(RNG.normal(size=3)), T.tensor(RNG.normal()))
    jac = jacobian_of_field()
    pushed = tuple(sum(j @ d.numpy() for j, d in zip(row, v, strict=True)) for row in jac)
    pulled = tuple(jac[0][k].T @ w[0].numpy() + jac[1][k] * w[1].item() for k in range(2))
    for strategy in F.STRATEGIES:
        outputs, jv = F.jvp(field, inputs(), v, strategy=strategy)
        assert_nested(jv, pushed)
        assert_nested(outputs, (np.sin(A @ X4) * Y3, (X4**2).sum()))
    _, vj = F.vjp(field, inputs(), w)
    assert_nested(vj, pulled)
    hess = hessian_of_energy()
    curved = tuple(sum(h @ d.numpy() for h, d in zip(row, v, strict=True)) for row in hess)
    for product in (F.hvp, F.vhp):
        value, hv = product(energy, inputs(), v)
        assert_nested(hv, curved)
        assert value.item() == pytest.approx(energy(*inputs()).item())


def test_complex_jvp_is_the_derivative_in_the_direction():
    z = np.array([0.3 + 0.4j, -1.0 + 0.2j])
    v = np.array([1.0 - 2.0j, 0.5j])
    for strategy in F.STRATEGIES:
        _, jv = F.jvp(lambda x: x * x * x, T.tensor(z), T.tensor(v), strategy=strategy)
        np.testing.assert_allclose(jv.numpy(), 3 * z**2 * v, rtol=1e-12)


def test_results_are_detached_unless_asked():
    x = T.tensor(X4, requires_grad=True)
    value, product = F.vjp(lambda t: (t**3).sum(), x)
    assert not value.requires_grad and not product.requires_grad
    value, product = F.vjp(lambda t: (t**3).sum(), x, create_graph=True)
    (second,) = T.grad(product.sum(), x)
    np.testing.assert_allclose(second.numpy(), 6 * X4)
    _, jv = F.jvp(lambda t: t**3, x, T.ones(4).double(), create_graph=True)
    (second,) = T.grad(jv.sum(), x)
    np.testing.assert_allclose(second.numpy(), 6 * X4)
    _, hv = F.hvp(lambda t: (t**3).sum(), x, T.ones(4).double(), create_graph=True)
    (third,) = T.grad(hv.sum(), x)
    np.testing.assert_allclose(third.numpy(), 6 * np.ones(4))
    assert x.grad is None


def test_the_callers_tensors_keep_their_flags():
    x = T.tensor(X4)
    F.hessian(lambda t: (t**3).sum(), x)
    assert x.requires_grad is False and x.grad is None
    with T.no_grad():
        assert_nested(F.jacobian(linear, x), A)


def test_independence_gives_zeros_or_an_error_when_strict():
    x, y = inputs()

    def first_only(a, b):
        return a * 2

    assert F.jacobian(first_only, (x, y))[1].tolist() == np.zeros((4, 3)).tolist()
    assert F.jvp(lambda a: T.ones(2).double(), x, x)[1].tolist() == [0.0, 0.0]
    for call in (
        lambda: F.jacobian(first_only, (x, y), strict=True),
        lambda: F.vjp(first_only, (x, y), x, strict=True),
        lambda: F.jvp(first_only, (x, y), (x, y), strict=True),
        lambda: F.jvp(first_only, (x, y), (x, y), strict=True, strategy="forward-mode"),
        lambda: F.hessian(lambda a, b: (a**2).sum(), (x, y), strict=True),
    ):
        with pytest.raises(RuntimeError, match="independent of input 1"):
            call()
    with pytest.raises(RuntimeError, match="Output 0 .* does not require gradients"):
        F.vjp(lambda a: T.ones(1), x, T.ones(1), strict=True)


@pytest.mark.parametrize("name", ["vjp", "jvp", "hvp", "vhp", "jacobian", "hessian"])
def test_a_list_of_tensors_stands_for_a_tuple(name):
    x, y = T.tensor([1.0, 2.0]), T.tensor([3.0, -1.0])
    call = getattr(F, name)

    def given(sequence):
        v = {"vjp": (T.tensor(2.0),), "jacobian": (), "hessian": ()}.get(name, (sequence([y, x]),))
        return call(lambda a, b: (a * a * b).sum(), sequence([x, y]), *v)

    def numbers(found):
        return [numbers(one) for one in found] if isinstance(found, tuple) else found.tolist()

    assert numbers(given(list)) == numbers(given(tuple))
    assert isinstance(given(list)[0], tuple) == (name == "hessian")


def test_bad_arguments_are_refused():
    x, _ = inputs()
    with pytest.raises(TypeError, match="inputs must be a Tensor or a tuple"):
        F.vjp(linear, 3.0)
    with pytest.raises(TypeError, match="inputs 0 must be a Tensor, got float"):
        F.jvp(linear, (3.0,))
    with pytest.raises(TypeError, match="outputs of the user-provided function"):
        F.jacobian(lambda a: 3.0, x)
    with pytest.raises(RuntimeError, match="v can only be None"):
        F.vjp(linear, x)
    with pytest.raises(RuntimeError, match=r"v\[0\] has shape \[2\], input 0 has \[4\]"):
        F.jvp(linear, x, T.ones(2))
    with pytest.raises(RuntimeError, match="got 1 tensors in v for 2 inputs"):
        F.jvp(field, inputs(), x)
    with pytest.raises(RuntimeError, match="given to hvp should contain a single element"):
        F.hvp(linear, x, x)
    with pytest.raises(RuntimeError, match="given to hessian should contain a single element"):
        F.hessian(linear, x)
    with pytest.raises(ValueError, match="strategy must be one of"):
        F.jacobian(linear, x, strategy="backward")


def test_row_102_elementwise_derivative_of_an_elementwise_function():
    x = T.tensor(X4, requires_grad=True)
    found = F.elementwise_derivative(T.sin(x), x, create_graph=True)
    np.testing.assert_allclose(found.detach().numpy(), np.cos(X4))
    second = F.elementwise_derivative(found, x)
    np.testing.assert_allclose(second.numpy(), -np.sin(X4))


@pytest.mark.parametrize("column", [False, True])
def test_row_102_rows_of_points(column):
    points = RNG.normal(size=(5, 2))
    x = T.tensor(points, requires_grad=True)
    u = T.sin(x[:, 0]) * x[:, 1]
    found = F.elementwise_derivative(u.reshape(5, 1) if column else u, x)
    expected = np.stack([np.cos(points[:, 0]) * points[:, 1], np.sin(points[:, 0])], axis=1)
    np.testing.assert_allclose(found.numpy(), expected)


@pytest.mark.parametrize("dtype", [T.float32, T.float64])
@pytest.mark.parametrize(
    "function",
    [
        lambda x: T.softmax(x, 0),
        lambda x: x - x.mean(),
        lambda x: T.sin(x).flip(0),
        lambda x: x + 0.01 * x.roll(1, 0),
    ],
)
def test_row_102_coupled_elements_are_noticed(function, dtype):
    x = T.tensor(X4, dtype=dtype, requires_grad=True)
    with pytest.raises(RuntimeError, match="not the elementwise derivative"):
        F.elementwise_derivative(function(x), x)


def test_row_102_shapes_that_do_not_pair_are_refused():
    x = T.tensor(X4, requires_grad=True)
    with pytest.raises(ValueError, match=r"y has shape \[2\], x has \[4\]"):
        F.elementwise_derivative(x[:2] * 1, x)
