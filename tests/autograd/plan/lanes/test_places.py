"""Elements that are moved are told from those that are added on the way."""

from __future__ import annotations

import numpy as np

import autograd as T
from autograd.plan import trace
from autograd.plan.lanes.places import moved, moves


def _last_of(function, *arrays):
    return trace(function, [T.tensor(a) for a in arrays])[0].instructions[-1]


def _gradient_of_reading(positions):
    weights = T.tensor([0.5, 1.5, 2.5], dtype=T.float64, requires_grad=True)
    return _last_of(
        lambda g: [T.grad((weights[positions] * g).sum(), weights)[0]], np.ones(len(positions))
    )


def test_a_gradient_of_reading_twice_is_no_move():
    once, twice = _gradient_of_reading([2, 0]), _gradient_of_reading([2, 0, 2])
    assert once.op.name == twice.op.name == "embed"
    assert moves(once) and not moves(twice)
    (places,) = moved(once, [np.array([10, 11])])
    np.testing.assert_array_equal(places, [11, -1, 10])


def test_lists_and_triangles_are_moves():
    for function, expected in {
        (lambda x: [x[:, [1, 1, 0]]]): [[1, 1, 0], [3, 3, 2]],
        (lambda x: [T.flip(x, (1,))]): [[1, 0], [3, 2]],
        (lambda x: [T.tril(x)]): [[0, -1], [2, 3]],
        (lambda x: [T.tile(x, (1, 2))]): [[0, 1, 0, 1], [2, 3, 2, 3]],
    }.items():
        one = _last_of(function, np.ones((2, 2)))
        assert moves(one)
        np.testing.assert_array_equal(moved(one, [np.arange(4).reshape(2, 2)])[0], expected)


def test_what_is_added_where_positions_repeat_is_added_in_tiles():
    """It was looked through as a move would be: of two numbers one was read."""
    weights = T.tensor([1.0, 2.0, 5.0], dtype=T.float64, requires_grad=True)
    factors = T.tensor([1.0, 20.0, 300.0, 4000.0], dtype=T.float64, requires_grad=True)

    def function(x):
        read = weights[[0, 0, 1, 2]]
        return T.tanh(x * T.grad((read * factors).sum(), weights, create_graph=True)[0])

    x = T.tensor(np.random.default_rng(0).uniform(size=(200, 3)) * 1e-3, dtype=T.float64)
    found = T.compile(function, points="x", executor="llvm")(x)
    np.testing.assert_allclose(found.detach().numpy(), function(x).detach().numpy(), rtol=1e-13)
