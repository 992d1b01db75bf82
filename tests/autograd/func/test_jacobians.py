"""Jacobians and Hessians as functions, against derivatives in closed form."""

import numpy as np
import pytest

import autograd as T
from autograd import nn
from autograd.func import grad, hessian, jacfwd, jacrev, jvp, vmap

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


TRANSFORMS = [
    (outer, middle, inner)
    for outer in (jacrev, jacfwd) for middle in (jacrev, jacfwd) for inner in (jacrev, jacfwd, grad)
]  # fmt: skip


@pytest.mark.parametrize("transforms", TRANSFORMS, ids=lambda t: "-".join(f.__name__ for f in t))
def test_reverse_and_forward_mode_go_into_each_other(transforms):
    outer, middle, inner = transforms
    third = outer(middle(inner(lambda x: T.sin(x[0]) * x[1] ** 3)))
    x, y = X[:, 0].numpy(), X[:, 1].numpy()
    s, c = np.sin(x), np.cos(x)
    expected = np.empty((2, 2, 2, 2))
    expected[:, 0, 0, 0] = -c * y**3
    expected[:, 0, 0, 1] = expected[:, 0, 1, 0] = expected[:, 1, 0, 0] = -3 * s * y**2
    expected[:, 0, 1, 1] = expected[:, 1, 0, 1] = expected[:, 1, 1, 0] = 6 * c * y
    expected[:, 1, 1, 1] = 6 * s
    np.testing.assert_allclose(vmap(third)(X[:, :2]).numpy(), expected, atol=1e-14)
    np.testing.assert_allclose(third(X[0, :2]).numpy(), expected[0], atol=1e-14)


@pytest.mark.parametrize("transform", [jacrev, jacfwd])
def test_arguments_and_outputs_may_be_nested(transform):
    given = {"a": X[0], "b": [Y[0]]}
    found = transform(lambda p: (p["a"] * p["b"][0], {"s": p["a"].sum()}))(given)
    np.testing.assert_allclose(found[0]["a"].numpy(), np.diag(Y[0].numpy()))
    np.testing.assert_allclose(found[0]["b"][0].numpy(), np.diag(X[0].numpy()))
    np.testing.assert_allclose(found[1]["s"]["a"].numpy(), np.ones(3))
    np.testing.assert_allclose(found[1]["s"]["b"][0].numpy(), np.zeros(3))
    slope, aux = transform(lambda x: (x**2, {"twice": 2 * x}), has_aux=True)(X[0])
    np.testing.assert_allclose(slope.numpy(), np.diag(2 * X[0].numpy()))
    assert not aux["twice"].requires_grad and T.equal(aux["twice"], 2 * X[0])


def test_forward_mode_runs_the_function_once():
    calls = []
    jacfwd(lambda x: (calls.append(x.shape), x.sin())[1])(X)
    assert calls == [(2, 3)]


@pytest.mark.parametrize("chunk_size", [1, 4, 100])
def test_rows_of_many_outputs_in_chunks_are_the_rows(chunk_size):
    whole = jacrev(lambda x: T.outer(x, x).sin())(X[0])
    parts = jacrev(lambda x: T.outer(x, x).sin(), chunk_size=chunk_size)(X[0])
    np.testing.assert_allclose(parts.numpy(), whole.numpy(), rtol=1e-14)
    x = X[0].numpy()
    slopes = np.cos(np.outer(x, x))[:, :, None] * (
        np.eye(3)[:, None, :] * x[None, :, None] + x[:, None, None] * np.eye(3)[None]
    )
    np.testing.assert_allclose(whole.numpy(), slopes, rtol=1e-13)


def test_what_does_not_depend_on_an_argument_has_zeros():
    found = jacrev(lambda x, y: y.exp(), (0, 1))(X[0], Y[0])
    np.testing.assert_array_equal(found[0].numpy(), np.zeros((3, 3)))
    np.testing.assert_array_equal(jacfwd(lambda x: Y[0].exp())(X[0]).numpy(), np.zeros((3, 3)))
    of_each = vmap(jacrev(lambda x: Y[0].exp()))(X)
    np.testing.assert_array_equal(of_each.numpy(), np.zeros((2, 3, 3)))


def test_a_hessian_times_a_vector_by_forward_over_reverse_mode():
    v = Y[0]
    _, found = jvp(grad(lambda x: (x**4).sum() + x.prod()), (X[0],), (v,))
    a, b, c = X[0].numpy()
    matrix = np.diag(12 * X[0].numpy() ** 2) + np.array([[0, c, b], [c, 0, a], [b, a, 0]])
    np.testing.assert_allclose(found.numpy(), matrix @ v.numpy(), rtol=1e-13)


@pytest.mark.parametrize("outer", [jacrev, jacfwd])
@pytest.mark.parametrize("inner", [jacrev, jacfwd])
def test_a_jacobian_of_a_derivative_in_a_direction(outer, inner):
    def along(x):
        """Return the derivative of sin(a) (a, b) in the direction (b, 1)."""
        return jvp(lambda x: T.sin(x[0]) * x, (x,), (T.stack([x[1], x.new_ones(())]),))[1]

    a, b = X[:, 0].numpy(), X[:, 1].numpy()
    s, c = np.sin(a), np.cos(a)
    values = np.stack([c * b * a + s * b, c * b * b + s], -1)
    slopes = np.empty((2, 2, 2))
    slopes[:, 0, 0] = -s * b * a + 2 * c * b
    slopes[:, 0, 1] = c * a + s
    slopes[:, 1, 0] = -s * b * b + c
    slopes[:, 1, 1] = 2 * c * b
    np.testing.assert_allclose(vmap(along)(X[:, :2]).numpy(), values, rtol=1e-13)
    np.testing.assert_allclose(outer(along)(X[0, :2]).numpy(), slopes[0], atol=1e-14)
    np.testing.assert_allclose(vmap(outer(along))(X[:, :2]).numpy(), slopes, atol=1e-14)
    second = np.empty((2, 2, 2, 2))
    second[:, 0, 0, 0] = -c * b * a - 3 * s * b
    second[:, 0, 0, 1] = second[:, 0, 1, 0] = -s * a + 2 * c
    second[:, 1, 0, 0] = -c * b * b - s
    second[:, 1, 0, 1] = second[:, 1, 1, 0] = -2 * s * b
    second[:, 0, 1, 1] = 0
    second[:, 1, 1, 1] = 2 * c
    found = vmap(outer(inner(along)))(X[:, :2])
    np.testing.assert_allclose(found.numpy(), second, atol=1e-13)


def test_a_derivative_is_printed_with_the_values_of_all_examples():
    printed = []
    vmap(jacfwd(lambda x: (printed.append(repr(x)), x)[1]))(X[0])
    assert "Batched" in printed[0] and all(f"{x:.4f}" in printed[0] for x in X[0].tolist())


@pytest.mark.parametrize("transform", [jacrev, jacfwd, grad])
def test_what_is_detached_has_the_values_of_its_example(transform):
    x = X.flatten()
    for constant in (lambda x: x.detach(), lambda x: x.data, lambda x: x.clone().detach()):
        slopes = vmap(transform(lambda x, constant=constant: x * constant(x).exp()))(x)
        np.testing.assert_allclose(slopes.numpy(), np.exp(x.numpy()), rtol=1e-14)
    twice = vmap(jacfwd(transform(lambda x: x**2 * x.detach())))(x)
    np.testing.assert_allclose(twice.numpy(), 2 * x.numpy(), rtol=1e-14)


@pytest.mark.parametrize(
    "read", [float, bool, lambda x: x.item(), lambda x: x.tolist(), lambda x: x.detach().numpy(),
             lambda x: 0.0 in x, lambda x: x.data_ptr()],
)  # fmt: skip
def test_an_example_is_not_read_in_a_sweep_inside_of_a_map_either(read):
    def slope(x):
        return jacfwd(lambda x: x * (read(x) is not None))(x)

    assert slope(X[0, 0]).item() == 1
    with pytest.raises(RuntimeError, match="one value an example"):
        vmap(slope)(X[0])


@pytest.mark.parametrize("chunk_size", [1, 2, 3, 7])
def test_tangents_in_parts_give_what_all_at_once_do(chunk_size):
    def function(x):
        return {"outer": T.outer(x, x) ** 2, "sum": x.sum()}, x * 3

    at = X[0]
    found, aux = jacfwd(function, has_aux=True, chunk_size=chunk_size)(at)
    expected, other = jacfwd(function, has_aux=True)(at)
    for name in expected:
        np.testing.assert_allclose(found[name].numpy(), expected[name].numpy(), rtol=1e-14)
    np.testing.assert_array_equal(aux.numpy(), other.numpy())
    assert jacfwd(lambda x: x * 2, chunk_size=2)(at[:0]).shape == (0, 0)


def test_what_is_drawn_while_tangents_are_pushed_is_as_it_is_said():
    def noisy(x):
        return x * T.rand(2, dtype=T.float64)

    same = jacfwd(noisy, randomness="same")(T.ones(2, dtype=T.float64))
    assert (same.diagonal() > 0).all() and same[0, 1] == same[1, 0] == 0
    different = jacfwd(lambda x: x.sum() * T.rand(1, dtype=T.float64), randomness="different")
    first, second = different(T.ones(2, dtype=T.float64))[0].tolist()
    assert first != second
    with pytest.raises(RuntimeError, match="randomness='different' or 'same'"):
        jacfwd(noisy, randomness="error")(T.ones(2))
    with pytest.raises(RuntimeError, match="randomness must be one of"):
        jacfwd(noisy, randomness="many")
    with pytest.raises(ValueError, match="at least 1, got 0"):
        jacfwd(noisy, chunk_size=0)
