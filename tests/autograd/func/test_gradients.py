"""Gradients and products with Jacobians as functions, against derivatives in closed form."""

from collections import defaultdict

import numpy as np
import pytest

import autograd as T
from autograd.func import grad, grad_and_value, jacrev, jvp, linearize, vjp, vmap

X = T.tensor([0.3, -0.7, 1.1], dtype=T.float64)
Y = T.tensor([1.3, 0.7, -1.1], dtype=T.float64)


def close(found, expected, **how):
    np.testing.assert_allclose(found.detach().numpy(), expected, **{"rtol": 1e-13, **how})


def test_gradients_of_arguments():
    x, y = X.numpy(), Y.numpy()
    close(grad(lambda a, b: (a * b**2).sum())(X, Y), y**2)
    close(grad(lambda a, b: (a * b**2).sum(), 1)(X, Y), 2 * x * y)
    first, second = grad(lambda a, b: (a * b**2).sum(), argnums=(-2, -1))(X, Y)
    close(first, y**2)
    close(second, 2 * x * y)
    close(grad(lambda a, scale: scale * a.sum())(X, scale=3.0), 3.0)
    assert not first.requires_grad and not X.requires_grad


def test_an_argument_may_be_nested_and_so_is_its_gradient():
    given = {"a": X, "b": (Y, [X * 2])}
    found = grad(lambda p: (p["a"] * p["b"][0]).sum() + (p["b"][1][0] ** 2).sum())(given)
    close(found["a"], Y.numpy())
    close(found["b"][0], X.numpy())
    close(found["b"][1][0], 4 * X.numpy())
    assert isinstance(found["b"], tuple) and isinstance(found["b"][1], list)


def test_values_and_what_else_is_returned():
    slope, value = grad_and_value(lambda x: (x**2).sum())(X)
    close(slope, 2 * X.numpy())
    assert value.item() == pytest.approx((X.numpy() ** 2).sum()) and not value.requires_grad
    slope, aux = grad(lambda x: ((x**2).sum(), {"x": 3 * x, "name": "x"}), has_aux=True)(X)
    assert aux["name"] == "x" and not aux["x"].requires_grad
    slope, (value, aux) = grad_and_value(lambda x: ((x**2).sum(), x.exp()), has_aux=True)(X)
    close(aux, np.exp(X.numpy()))


def test_derivatives_of_any_order():
    t = T.tensor(0.4, dtype=T.float64)
    function, expected = lambda t: T.sin(3 * t), (np.sin, np.cos)
    for order in range(1, 6):
        function = grad(function)
        sign = -1 if order // 2 % 2 else 1
        close(function(t), sign * 3**order * expected[order % 2](1.2))
    points = T.linspace(-1, 1, 7, dtype=T.float64)
    third = vmap(grad(grad(grad(lambda t: t**5))))(points)
    close(third, 60 * points.numpy() ** 2)


def test_only_what_is_computed_from_the_argument_is_differentiated():
    # not what the function holds of the same tensor
    x = T.tensor(2.0, dtype=T.float64)
    assert grad(lambda x: grad(lambda y: x * y)(x))(x).item() == 1.0
    held = x.clone().requires_grad_()
    assert grad(lambda y: held * y)(held).item() == 2.0


def test_results_are_in_the_graph_where_something_requires_grad():
    w = Y.clone().requires_grad_()
    slope = grad(lambda x: (w * x**2).sum())(X)
    (found,) = T.grad(slope.sum(), w)
    close(found, 2 * X.numpy())
    x = X.clone().requires_grad_()
    (found,) = T.grad(grad(lambda x: (x**3).sum())(x).sum(), x)
    close(found, 6 * X.numpy())
    with T.no_grad():
        assert not grad(lambda x: (w * x**2).sum())(x).requires_grad
        close(grad(lambda x: grad(lambda x: (x**3).sum())(x).sum())(x), 6 * X.numpy())


def test_what_an_output_does_not_depend_on_has_zeros():
    close(grad(lambda x, y: y.sum())(X, Y), np.zeros(3))
    close(vmap(grad(lambda x, y: y.sum()))(X, Y), np.zeros(3))


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: grad(lambda x: x)(X), RuntimeError, r"of shape \[\], got shape \[3\]"),
        (lambda: grad(lambda x: 1.0)(X), TypeError, "must be a Tensor, got float"),
        (lambda: grad(lambda x: x.sum(), 1)(X), IndexError, "out of range for 1 positional"),
        (lambda: grad(lambda x: x.sum())(1.0), TypeError, "argument 0 must be a Tensor"),
        (lambda: grad(lambda x: x.sum())(T.tensor([1])), RuntimeError, "floating point"),
        (lambda: grad(lambda x: x.sum(), has_aux=True)(X), TypeError, r"a pair \(output, aux\)"),
        (lambda: grad(lambda x: (x * 1j).sum())(X), RuntimeError, "real floating point"),
        (lambda: vjp(lambda: X), RuntimeError, "at least one primal"),
        (lambda: vjp(lambda x: x, X)[1](X[:2]), RuntimeError, "a cotangent of the shapes"),
        (lambda: jvp(lambda x: x, X, X), TypeError, "must be a tuple"),
        (lambda: jvp(lambda x: x, (X,), (X, X)), RuntimeError, "nested as the primals"),
        (lambda: jvp(lambda x: x, (X,), (X[:2],)), RuntimeError, r"has shape \[2\]"),
        (lambda: jvp(lambda x: x, (1.0,), (X,)), TypeError, "must be Tensors, got float"),
        (lambda: jvp(lambda x: Y, (X,), (X,), strict=True), RuntimeError, "does not depend"),
        (lambda: linearize(lambda x: x, X)[1](X[:2]), RuntimeError, "tangents of the shapes"),
        (lambda: linearize(lambda: X), RuntimeError, "at least one primal"),
    ],
)
def test_bad_arguments_are_refused(call, error, words):
    with pytest.raises(error, match=words):
        call()


def matrix(x):
    """Return the Jacobian of `sines`."""
    return np.diag(np.cos(x) * x.sum()) + np.sin(x)[:, None]


def sines(x):
    return T.sin(x) * x.sum()


def test_products_with_jacobians_from_both_sides():
    expected, v = matrix(X.numpy()), Y.numpy()
    value, pull = vjp(sines, X)
    close(value, np.sin(X.numpy()) * X.numpy().sum())
    close(pull(Y)[0], v @ expected)
    close(pull(Y)[0], v @ expected)  # as often as one likes
    close(jvp(sines, (X,), (Y,))[1], expected @ v)
    value, push = linearize(sines, X)
    close(push(Y), expected @ v)
    close(push(2 * Y), 2 * expected @ v)
    assert not value.requires_grad and not push(Y).requires_grad


def test_all_rows_and_all_columns_of_a_jacobian_at_once():
    expected, basis = matrix(X.numpy()), T.eye(3, dtype=T.float64)
    _, pull = vjp(sines, X)
    _, push = linearize(sines, X)
    close(vmap(pull)(basis)[0], expected)
    close(vmap(push, out_dims=1)(basis), expected)
    close(vmap(lambda v: jvp(sines, (X,), (v,))[1], out_dims=1)(basis), expected)
    close(vmap(pull, in_dims=1, out_dims=0)(basis)[0], expected)


def test_products_of_nested_arguments_and_outputs():
    out, pull, aux = vjp(lambda p, y: ({"o": p["x"] * y}, 7), {"x": X}, Y, has_aux=True)
    by_p, by_y = pull({"o": T.ones(3, dtype=T.float64)})
    close(by_p["x"], Y.numpy())
    close(by_y, X.numpy())
    assert aux == 7 and set(out) == {"o"}
    out, slope, aux = jvp(lambda p: ([p["x"] ** 2], "aux"), ({"x": X},), ({"x": Y},), has_aux=True)
    close(slope[0], 2 * X.numpy() * Y.numpy())
    assert aux == "aux"


def test_entries_of_dicts_go_together_by_their_keys():
    one, zero = T.tensor(1.0, dtype=T.float64), T.tensor(0.0, dtype=T.float64)
    at, turned = {"a": one, "b": one}, {"b": one, "a": zero}

    def function(p):
        return 10 * p["a"] + p["b"]

    assert jvp(function, (at,), (turned,))[1].item() == 1.0
    assert linearize(function, at)[1](turned).item() == 1.0
    _, pull = vjp(lambda x: {"a": 10 * x, "b": x}, one)
    assert pull(turned)[0].item() == 1.0


def test_dicts_of_any_class_stay_what_they_are():
    given = defaultdict(list, a=X)
    found = grad(lambda p: (p["a"] ** 2).sum())(given)
    close(found["a"], 2 * X.numpy())
    assert type(found) is defaultdict and found["b"] == []


def test_products_can_be_differentiated():
    close(grad(lambda x: vjp(T.sin, x)[1](Y)[0].sum())(X), -np.sin(X.numpy()) * Y.numpy())
    close(grad(lambda x: jvp(T.sin, (x,), (Y,))[1].sum())(X), -np.sin(X.numpy()) * Y.numpy())
    close(grad(lambda v: jvp(T.sin, (X,), (v,))[1].sum())(Y), np.cos(X.numpy()))
    close(grad(lambda v: linearize(T.sin, X)[1](v).sum())(Y), np.cos(X.numpy()))
    w = Y.clone().requires_grad_()
    _, pull = vjp(lambda x: w * x**2, X)
    (found,) = T.grad(pull(T.ones(3, dtype=T.float64))[0].sum(), w)
    close(found, 2 * X.numpy())
    assert pull(w)[0].requires_grad


def test_products_inside_of_vmap_are_those_of_each_example():
    points = T.stack([X, Y])
    each = np.stack([matrix(p) for p in points.numpy()])
    v = T.tensor([1.0, -2.0, 0.5], dtype=T.float64)
    many = {"in_dims": (0, None)}
    close(vmap(lambda x, v: jvp(sines, (x,), (v,))[1], **many)(points, v), each @ v.numpy())
    close(vmap(lambda x, v: vjp(sines, x)[1](v)[0], **many)(points, v), v.numpy() @ each)
    close(vmap(lambda x, v: linearize(sines, x)[1](v), **many)(points, v), each @ v.numpy())
    close(vmap(jacrev(sines))(points), each)
