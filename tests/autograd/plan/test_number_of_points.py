"""A function that does something else with many points than with few is refused."""

from __future__ import annotations

import numpy as np
import pytest

import autograd as T
from tests.autograd.plan.over_points import points

TABLE = T.tensor(np.random.default_rng(3).uniform(size=7))
MANY = 150  # more than there are in the recordings by which results are told apart


def _either(one, other):
    """The first with few points, the second with many."""
    return lambda x: (one if len(x) < MANY else other)(x)


def _one_of_two(x: T.Tensor) -> tuple[T.Tensor, T.Tensor]:
    pair = T.sin(x), T.cos(x)
    return pair[len(x) >= MANY]


OTHERWISE = {
    "the wiring": lambda x: T.sin([2 * x, 3 * x][len(x) >= MANY]) + 0 * x,
    "what is returned": _one_of_two,
    "a dimension": _either(lambda x: x[:, 0], lambda x: x[:, 1]),
    "a list": _either(lambda x: x[:, [0, 1]], lambda x: x[:, [1, 0]]),
    "a slice": _either(lambda x: x[:, 0:2], lambda x: x[:, 1:3]),
    "a number in an array": lambda x: x * T.tensor([1.0, 2.0, 3.0, float(max(len(x), MANY))]),
    "a lone number in an array": lambda x: x * T.tensor(float(max(len(x), MANY))),
    "a condition": lambda x: T.where(T.tensor(len(x) >= MANY), x, 2 * x),
    "positions": lambda x: T.index_select(x, 1, T.tensor([len(x) >= MANY, 2]).to(T.int64)),
    "rows of numbers": lambda x: x + T.full((len(x), 1), 1.0 + (len(x) >= MANY)),
    "a full array": lambda x: x * T.full((4,), float(max(len(x), MANY)), dtype=x.dtype),
}  # fmt: skip


@pytest.mark.parametrize("name", OTHERWISE)
def test_it_is_said_when_there_are_as_many(name):
    compiled = T.compile(OTHERWISE[name], points="x")
    few = points(60)
    np.testing.assert_allclose(compiled(few).detach(), OTHERWISE[name](few).detach(), rtol=1e-14)
    with pytest.raises(T.MixesPoints, match="depends on how many points there are"):
        compiled(points(400))


def test_an_index_of_what_knows_no_point_may_not_depend_on_them():
    with pytest.raises(T.MixesPoints, match="index that depends on how many points there are"):
        T.compile(lambda x: x * TABLE[len(x) % 7], points="x")(points(60))


def test_what_was_written_to_in_between_is_no_reason():
    """Neither what counts by its versions, nor an array that is read anew at each recording."""
    frozen, array = T.tensor([1.0, 2.0, 3.0, 4.0]), np.array([1.0, 2.0, 3.0, 4.0])
    compiled = T.compile(lambda x: x * frozen, points="x")
    of_array = T.compile(lambda x: x * T.tensor(array), points="x")
    for count in (30, 400, 1500):
        x = points(count)
        np.testing.assert_array_equal(compiled(x).detach(), (x * frozen).detach())
        of_array(x)
        frozen.mul_(2)
        array *= 2
