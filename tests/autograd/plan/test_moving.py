"""Random numbers and iterators are refused in a recording, also where they come out alike."""

import itertools
import random
import time
from time import perf_counter
from types import SimpleNamespace

import numpy as np
import pytest

import autograd as T
from autograd.plan.moving import Moving, moves

OWN = SimpleNamespace(
    rng=np.random.default_rng(0), old=np.random.RandomState(0), python=random.Random(0)
)
TURNS, COUNTS = itertools.cycle([2.0, 2.0]), itertools.count()
LISTED, MADE = iter([2.0] * 100), (2.0 for _ in range(100))

ALIKE = {
    "the module random": lambda x: x * (2.0 if random.random() < 2.0 else 3.0),
    "numpy.random": lambda x: x * random_of_numpy(),
    "OWN.rng": lambda x: x * (2.0 if OWN.rng.uniform() < 2.0 else 3.0),
    "OWN.old": lambda x: x * (2.0 if OWN.old.uniform() < 2.0 else 3.0),
    "OWN.python": lambda x: x * (2.0 if OWN.python.random() < 2.0 else 3.0),
    "TURNS": lambda x: x * next(TURNS),
    "COUNTS": lambda x: x * (2.0 if next(COUNTS) < 1000 else 3.0),
    "LISTED": lambda x: x * next(LISTED),
    "MADE": lambda x: x * next(MADE),
}


def random_of_numpy():
    return 2.0 if np.random.rand() < 2.0 else 3.0


@pytest.mark.parametrize("points", [(), "x"])
@pytest.mark.parametrize("name", ALIKE)
def test_what_comes_next_and_happens_to_be_alike_is_refused(name, points):
    with pytest.raises(T.TraceError, match=f"takes what comes next of {name}.*pass it as an arg"):
        T.compile(ALIKE[name], points=points)(T.ones(20))


def test_what_is_seeded_within_is_the_same_at_each_call():
    def function(x):
        np.random.seed(0)
        random.seed(1)
        return x * np.random.default_rng(2).uniform() * np.random.rand() * random.random()

    compiled, x = T.compile(function), T.ones(3)
    for _ in range(2):
        assert T.allclose(compiled(x), function(x))


def test_what_begins_anew_at_each_call_is_no_matter():
    net = T.nn.Linear(3, 1)
    compiled = T.compile(lambda x: net(x).to(next(net.parameters()).dtype) * next(iter([2.0])))
    x = T.ones(4, 3)
    assert T.allclose(compiled(x), net(x) * 2)


@pytest.mark.parametrize(
    "advance",
    [
        (np.random.default_rng(0), lambda one: one.random()),
        (np.random.Generator(np.random.MT19937(0)), lambda one: one.random()),
        (np.random.PCG64(0), lambda one: one.random_raw()),
        (np.random.RandomState(0), lambda one: one.rand()),
        (random.Random(0), lambda one: one.random()),
        *((one, next) for one in (itertools.count(), itertools.cycle("aaa"), iter("aaa"),
                                  iter(range(9)), (k for k in "aaa"), iter({1: 1, 2: 2}))),
    ],
    ids=lambda pair: type(pair[0]).__name__,
)  # fmt: skip
def test_how_far_each_of_them_is(advance):
    one, take = advance
    moving = Moving({"one": one})
    assert moves(one) and moving.stand() == moving.stand()
    for _ in range(2):
        before = moving.stand()
        take(one)
        assert moving.stand()["one"] != before["one"]


def test_a_cycle_in_its_second_turn_moves():
    turns = itertools.cycle([1.0, 1.0, 1.0])
    moving = Moving({"turns": turns})
    for _ in range(7):
        before = moving.stand()
        next(turns)
        assert moving.stand()["turns"] != before["turns"]


def test_lists_and_numbers_do_not_move():
    assert not any(map(moves, ([1.0], 1.0, {"a": 1}, "text", np.ones(3), range(3), T.ones(2))))


@pytest.mark.parametrize(
    ("function", "clock"),
    [
        (lambda x: x * (2.0 if time.monotonic() > -1 else 3.0), "time.monotonic"),
        (lambda x: x * (2.0 if perf_counter() > -1 else 3.0), "perf_counter"),
    ],
)
def test_a_clock_that_is_asked_is_said_once(function, clock):
    compiled = T.compile(function)
    with pytest.warns(RuntimeWarning, match=f"asks {clock} for the time") as said:
        compiled(T.ones(2))
    assert len(said) == 1
    assert compiled(T.ones(3)).tolist() == [2.0, 2.0, 2.0]
