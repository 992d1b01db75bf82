"""What points alone make is made once, by whatever operation; what parameters make is not."""

from __future__ import annotations

import numpy as np
import pytest

import autograd as T
from autograd.ops.pointwise import pointwise
from autograd.plan.chunks import Chunked
from autograd.plan.lanes import at_points


class Counted:
    """The function x**2 sin(y), and how often it was asked for."""

    def __init__(self):
        self.asked = 0

    def values(self, xp, xs, orders):
        self.asked += 1
        x, y = xs
        x = xp.cbrt(x * x * x)  # an operation of none of ours
        first = {0: x * x, 1: 2 * x, 2: 2.0}.get(orders[0], 0.0)
        return first * xp.sin(y + orders[1] * np.pi / 2) + 0 * x


def _problem(function):
    p = [T.tensor(np.array([0.7, -0.2]), requires_grad=True)]

    def fn(rows):
        x, y = rows
        both = T.stack([x * 1.5, y], dim=0)  # the same of several values at once
        known = pointwise(function, both, y.expand(2, *y.shape))
        slope = pointwise(function, x, y, orders=(1, 0))
        r = (p[0][0] * x * slope + p[0][1] * known[1] * T.tanh(p[0][0] * y)).reshape(-1)
        r = r + known[0].reshape(-1) + T.lgamma(x + 3).reshape(-1)
        apart = T.logical_xor(x > 0.1, y > 0) | (x + 0.5).bool()
        r = T.where(apart.reshape(-1), r, 2 * r)
        total = (r * r).sum()
        return [total.detach(), *T.grad(total, p), r.detach()]

    return p, fn, ["sum", "sum", "rows"]


def _rows(count=83, seed=0):
    rng = np.random.default_rng(seed)
    return [rng.uniform(-1, 1, (count, 1)), rng.uniform(-1, 1, (count, 1))]


def _agree(found, expected):
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-13)


def test_a_table_of_the_coordinates_is_asked_for_once_as_long_as_the_points_are_the_same():
    function = Counted()
    p, fn, kinds = _problem(function)
    step, plain = (Chunked(fn, p, kinds, executor=e) for e in ("llvm", "numpy"))
    rows = _rows()
    _agree(step(rows), plain(rows))
    assert None not in step._tiles.values()
    asked = function.asked
    p[0].data.mul_(1.3)
    found = step(rows)
    assert function.asked == asked
    _agree(found, plain(rows))
    asked = function.asked
    rows[0][17] = 0.5  # in place
    found = step(rows)
    assert function.asked > asked
    _agree(found, plain(rows))
    _agree(step(_rows(140, 1)), plain(_rows(140, 1)))


def test_points_that_are_not_numbers_are_the_same_points_too():
    function = Counted()
    p, fn, kinds = _problem(function)
    step = Chunked(fn, p, kinds, executor="llvm")
    rows = _rows()
    rows[1][3] = np.nan
    first = step(rows)[2]
    asked = function.asked
    second = step(rows)[2]
    assert function.asked == asked
    assert np.isnan(first[3]) and np.isfinite(np.delete(first, 3)).all()
    np.testing.assert_array_equal(first, second)


def test_a_zero_that_changes_its_sign_is_another_point():
    class Side(Counted):
        def values(self, xp, xs, orders):
            return xp.copysign(1.0, xs[0])

    side, p = Side(), T.tensor(np.array([0.7]), requires_grad=True)
    step = Chunked(lambda rows: [p * pointwise(side, rows[0])], [p], ["rows"], executor="llvm")
    x = np.zeros((70, 1))
    assert (step([x])[0] == 0.7).all()
    x[11] = -0.0  # in place
    assert step([x])[0][11] == -0.7
    assert None not in step._tiles.values()


def test_points_where_an_operation_has_no_value_are_no_warning():
    p = T.tensor(np.array([0.7]), requires_grad=True)

    def fn(rows):
        return [p * T.fmod(rows[0], rows[1])]

    step, plain = (Chunked(fn, [p], ["rows"], executor=e) for e in ("llvm", "numpy"))
    rows = _rows()
    rows[1][5] = 0.0
    found = step(rows)
    assert None not in step._tiles.values() and np.isnan(found[0][5])
    _agree(found, plain(rows))


def test_many_points_are_taken_piece_by_piece(monkeypatch):
    class Widest(Counted):
        points = 0

        def values(self, xp, xs, orders):
            self.points = max(self.points, xs[0].shape[-1])
            return super().values(xp, xs, orders)

    monkeypatch.setattr(at_points, "_TOGETHER", 32)
    function = Widest()
    p, fn, kinds = _problem(function)
    step, plain = (Chunked(fn, p, kinds, executor=e) for e in ("llvm", "numpy"))
    rows = _rows(101)
    found = step(rows)
    assert None not in step._tiles.values() and function.points == 32
    _agree(found, plain(rows))


def test_a_failure_is_told_and_the_next_points_are_made_anew():
    class Bounded(Counted):
        def values(self, xp, xs, orders):
            if np.max(xs[0]) > 1.4:
                raise ValueError("outside")
            return super().values(xp, xs, orders)

    p, fn, kinds = _problem(Bounded())
    step, plain = (Chunked(fn, p, kinds, executor=e) for e in ("llvm", "numpy"))
    rows = [0.9 * row for row in _rows()]
    _agree(step(rows), plain(rows))
    rows[0][-1] = 2.0
    with pytest.raises(ValueError, match="outside"):
        step(rows)
    rows[0][-1] = 0.1
    _agree(step(rows), plain(rows))


def test_a_table_of_what_is_sought_runs_as_without_tiles():
    function = Counted()
    p = [T.tensor(np.array([0.7]), requires_grad=True)]

    def fn(rows):
        total = pointwise(function, p[0] * rows[0], rows[1]).square().sum()
        return [total.detach(), *T.grad(total, p)]

    step, plain = (Chunked(fn, p, ["sum", "sum"], executor=e) for e in ("llvm", "numpy"))
    _agree(step(_rows()), plain(_rows()))
    assert list(step._tiles.values()) == [None]
