"""What a compiled function reads besides its arguments is looked at again at each call."""

import types

import numpy as np

import autograd as T
from autograd.plan.surroundings import surroundings

FACTOR = 2.0
SETTINGS = types.ModuleType("settings_of_a_user")
exec("GAIN = 2.0\ndef gained(x):\n    return x * GAIN\n", vars(SETTINGS))


def scaled(x):
    return x * FACTOR


class Part:
    def __init__(self, weight):
        self.weight = weight

    @property
    def half(self):
        return self.weight / 2


class Loss:
    def __init__(self):
        self.points = T.ones(3)
        self.options = {"wall": {"weight": 2.0}}
        self.part = Part(2.0)
        self.array = np.ones(3)

    def residual(self):
        return self.weighted(self.points) + T.tensor(self.array)

    def weighted(self, x):
        return x * self.options["wall"]["weight"] * self.part.half

    def __call__(self):
        return self.residual().sum()


class Scaled(T.nn.Module):
    def __init__(self):
        super().__init__()
        self.gain = 2.0

    def forward(self, x):
        return x * self.gain


def same_as_eager(function, compiled, *arguments):
    return compiled(*arguments).item() == function(*arguments).item()


def test_what_methods_read_that_a_method_calls_is_looked_at_again():
    loss = Loss()
    compiled = T.compile(loss)
    assert same_as_eager(loss, compiled)

    def points():
        loss.points = T.ones(5) * 3

    def option():
        loss.options["wall"]["weight"] = 5.0

    def part():
        loss.part.weight = 7.0

    def array():
        loss.array = np.full(5, 4.0)

    points_and_array = lambda: (points(), array())  # noqa: E731 - of one shape
    for change in (option, part, points_and_array):
        before = compiled().item()
        change()
        assert same_as_eager(loss, compiled) and compiled().item() != before


def test_what_called_functions_and_modules_read_is_looked_at_again(monkeypatch):
    net, x = Scaled(), T.ones(3)

    def function(x):
        return (net(scaled(x)) + SETTINGS.gained(x) * SETTINGS.GAIN).sum()

    compiled = T.compile(function)
    assert same_as_eager(function, compiled, x)
    changes = ((net, "gain"), (SETTINGS, "GAIN"))
    for owner, name in changes:
        before = compiled(x).item()
        monkeypatch.setattr(owner, name, 3.0)
        assert same_as_eager(function, compiled, x) and compiled(x).item() != before
    before = compiled(x).item()
    monkeypatch.setitem(globals(), "FACTOR", 5.0)
    assert same_as_eager(function, compiled, x) and compiled(x).item() != before


def test_functions_that_call_each_other_are_read_once():
    def even(n):
        return n == 0 or odd(n - 1)

    def odd(n):
        return n != 0 and even(n - 1)

    assert {name for name, _ in surroundings(even)} == set()


def test_the_library_is_not_looked_into():
    net = T.nn.Linear(2, 1)

    def function(x):
        return net(T.nn.functional.relu(x)).sum() * np.pi

    assert [name for name, _ in surroundings(function)] == ["net"]
