"""Sums over points that are only added to each other are one total, taken in one call."""

from __future__ import annotations

import numpy as np
import pytest

import autograd as T
from autograd.plan import trace
from autograd.plan.chunks import Chunked
from autograd.plan.executors.numpy_executor import NumpyExecutor
from autograd.plan.lanes import functions
from autograd.plan.lanes.instructions import Blank, Contraction, RowSum
from autograd.plan.lanes.prepared import lowered, prepared
from autograd.plan.lanes.totals import joined
from autograd.plan.passes import optimize

_RNG = np.random.default_rng(3)
_W = T.tensor(_RNG.standard_normal((4, 2)))


def _laid_out(function, columns=2, count=7):
    points = T.tensor(_RNG.standard_normal((count, columns)))
    program, _ = trace(lambda x: function([x]), [points])
    return _prepared(program)


def _prepared(program):
    whole = lowered(optimize(program), 1, functions.HELD)
    return prepared(whole, 1, ["sum"], functions.HELD)


def _agrees(function, count=100):
    rows = [np.ascontiguousarray(_RNG.standard_normal((count, 2)))]
    found, expected = (
        Chunked(function, [], ["sum"], executor=executor)(rows)[0] for executor in ("llvm", "numpy")
    )
    np.testing.assert_allclose(found, expected, rtol=1e-13)


def _two_products(given):
    x = given[0]
    return [x.sin().T @ x.cos() + x.exp().T @ (x * x)]


def _products_and_sums(given):
    x = given[0]
    return [x.cos().sum(0) + (x * x).sum(0) + (x.sin().T @ x).sum(0)]


def _read_twice(given):
    x = given[0]
    one = x.sin().T @ x
    return [(one + x.cos().T @ x) + one.T]


def test_products_that_are_added_are_one_call_and_one_total():
    parts, layout = _laid_out(_two_products)
    (call,) = [c for c in layout.calls if isinstance(c, Contraction)]
    assert call.a.shape == call.b.shape == (2, 2)
    assert layout.totals == [4] and parts.sums == 1
    assert not parts.after.instructions
    _agrees(_two_products)


def test_sums_of_rows_are_one_call_where_they_are_added():
    _, layout = _laid_out(_products_and_sums)
    assert len([c for c in layout.calls if isinstance(c, RowSum)]) == 1
    _agrees(_products_and_sums)


def test_a_sum_that_something_else_reads_keeps_a_total_of_its_own():
    parts, _ = _laid_out(_read_twice)
    assert parts.sums == 2
    _agrees(_read_twice)


def test_sums_of_other_shapes_are_not_joined():
    def broadcast(given):
        x = given[0]
        return [x.sin().T @ x + x.cos().sum(0)]

    parts, _ = _laid_out(broadcast)
    assert parts.sums == 2
    _agrees(broadcast)


def test_the_gradient_of_nested_gradients_has_one_call_a_matrix():
    def loss(given):
        x, w = given
        u = (x @ w.T).tanh().sum(1)
        (slope,) = T.grad(u.sum(), x, create_graph=True)
        value = (slope * slope).sum() + (u * u).sum()
        return T.grad(value, w)

    x = T.tensor(_RNG.standard_normal((7, 2)), requires_grad=True)
    w = _W.clone().requires_grad_()
    program, _ = trace(lambda *given: loss(given), [x, w])
    _, layout = _prepared(program)
    shapes = [(c.a.shape[1], c.b.shape[1]) for c in layout.calls if isinstance(c, Contraction)]
    assert len(shapes) == len(layout.totals) == 1


def test_rows_are_given_zeros_once_where_points_are_missing():
    def powers(given):
        x = given[0]
        return [x.sin().T @ x + x.cos().T @ x]

    _, layout = _laid_out(powers)
    rows = np.concatenate([c.rows for c in layout.calls if isinstance(c, Blank)])
    assert len(rows) == len(set(rows.tolist()))


@pytest.mark.parametrize("count", [1, 31, 33, 500])
def test_joined_totals_agree_for_any_number_of_points(count):
    _agrees(_two_products, count)
    _agrees(_products_and_sums, count)


def test_sums_are_joined_past_what_knows_no_point():
    """A loss at a wall comes first in the gradient's sums; those inside are one total anyway."""
    wall = T.tensor(_RNG.standard_normal((3, 2)), requires_grad=True)
    w = _W.clone().requires_grad_()

    def loss(x):
        u, at_wall = (_mean_squares(points, w) for points in (x, wall))
        return at_wall + u

    parts, layout = _laid_out(lambda given: T.grad(loss(given[0].detach().requires_grad_()), w))
    assert len([c for c in layout.calls if isinstance(c, Contraction)]) == 1
    assert parts.sums == 1 and parts.after.instructions

    x = T.tensor(_RNG.standard_normal((100, 2)), requires_grad=True)
    compiled = T.compile(loss, points="x", executor="llvm")
    found, expected = (T.grad(f(x), w)[0].numpy() for f in (compiled, loss))
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def _mean_squares(points, w):
    u = (points @ w.T).tanh().sum(1)
    (slope,) = T.grad(u.sum(), points, create_graph=True)
    return (slope * slope).mean() + (u * u).mean()


@pytest.mark.parametrize(("function", "totals"), [
    (lambda a, b, c, v, w: (v + a) + (w + b) + c, [0, 0, 0]),
    (lambda a, b, c, v, w: ((a + v) + v) + (w + w), [0, 1, 2]),
    (lambda a, b, c, v, w: [a + b, (c + v) + w], [0, 0, 1]),
    (lambda a, b, c, v, w: [(v + a) + b, b * c], [0, 1, 2]),
    (lambda a, b, c, v, w: (lambda one: [v + c + one, one * w])(a + b), [0, 0, 1]),
    (lambda a, b, c, v, w: (lambda one: [c + one, v + one])(v + a + b), [0, 0, 1]),
    (lambda a, b, c, v, w: v + (a + (w * b + c)), [0, 1, 0]),
    (lambda a, b, c, v, w: (w + b).T + (v + a) + c, [0, 1, 0]),
], ids=["sums and others", "others twice", "two results", "a sum that is read elsewhere",
        "read twice", "with others, read twice", "behind a product", "turned around"])  # fmt: skip
def test_sums_and_other_terms_are_added_wherever_they_stand(function, totals):
    arrays = [_RNG.standard_normal((2, 2)) for _ in range(5)]
    program, _ = trace(function, [T.tensor(a) for a in arrays])
    after, found = joined(program, 3)
    assert found == totals
    added = [np.zeros((2, 2)) for _ in range(max(totals) + 1)]
    for k, array in zip(totals, arrays, strict=False):
        added[k] += array
    for one, other in zip(_run(after, [*added, *arrays[3:]]), _run(program, arrays), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-14)


def _run(program, arrays):
    executor = NumpyExecutor(program, arrays)
    executor.run()
    return [np.array(one) for one in executor.outputs]
