"""Recorded functions that are called with any arrays of a device, against numpy."""

from __future__ import annotations

import numpy as np
import pytest

import autograd as T
from autograd.devices import as_device
from autograd.plan import TraceError
from autograd.plan.captured import captured
from autograd.plan.unbound import Unbound
from autograd.strict import StrictArray, counted

rng = np.random.default_rng(0)
X, Y = rng.standard_normal((2, 7))


def adam(rate, number, x, y):
    """A step along x, scaled by y, beside a sum: kernels, and what is none."""
    mean = x / (1 - 0.9**number)
    return [mean - rate * mean / (T.sqrt(y * y) + 1e-8), (x * y).sum(), x[2:5]]


def expected(rate, number, x, y):
    mean = x / (1 - 0.9**number)
    return [mean - rate * mean / (np.abs(y) + 1e-8), (x * y).sum(), x[2:5]]


def called(function, rate, number, *arrays, **options):
    scalars = StrictArray(np.array(function.scalars(rate, number)))
    return function(scalars, *(StrictArray(a.copy()) for a in arrays), **options)


def test_results_are_those_of_numpy_and_new_arrays_in_each_call(stand_in):
    function = Unbound(adam, 2, [(7,), (7,)], as_device("cuda"))
    first = called(function, 0.1, 3, X, Y)
    called(function, 0.2, 4, Y, X)
    for found, wanted in zip(first, expected(0.1, 3, X, Y), strict=True):
        np.testing.assert_allclose(found._host, wanted, rtol=1e-15, atol=1e-15)


def test_what_is_made_of_numbers_alone_is_made_on_the_host(stand_in):
    function = Unbound(adam, 2, [(7,), (7,)], as_device("cuda"))
    assert sorted(function.scalars(0.1, 3)) == sorted([0.1, 1 - 0.9**3])
    scalars = StrictArray(np.array(function.scalars(0.1, 3)))
    x, y = StrictArray(X.copy()), StrictArray(Y.copy())
    with counted() as counts:
        function(scalars, x, y)
    # one kernel for what is made of each number, and the products' sum
    assert (counts.launches, counts.uploads, counts.synchronisations) == (2, 0, 0)


def test_results_are_written_where_they_are_wanted(stand_in):
    function = Unbound(adam, 2, [(7,), (7,)], as_device("cuda"))
    places = {k: StrictArray(np.full(n, np.nan)) for k, n in ((0, 7), (2, 3))}
    found = called(function, 0.1, 3, X, Y, out=places)
    wanted = expected(0.1, 3, X, Y)
    for k, place in places.items():
        assert found[k] is place
        np.testing.assert_allclose(place._host, wanted[k], rtol=1e-15, atol=1e-15)


def test_arrays_that_were_there_before_are_constants(stand_in):
    mask = np.arange(7) < 3
    there = T.tensor(mask, device="cuda")
    function = Unbound(lambda x: [T.where(there, 2 * x, x)], 0, [(7,)], as_device("cuda"))
    (found,) = function(StrictArray(np.zeros(0)), StrictArray(X.copy()))
    np.testing.assert_array_equal(found._host, np.where(mask, 2 * X, X))


@pytest.mark.parametrize("step", [
    lambda x: T.where((x > 0) & (x < 1), x, 0.0),
    lambda x: T.where(T.isfinite(1 / x), x, -1.0),
    lambda x: T.where(~(x > 0) | T.isnan(x), 2 * x, x),
])  # fmt: skip
def test_yes_and_no_go_through_calls_and_kernels(stand_in, step):
    function = Unbound(lambda x: [step(x)], 0, [(7,)], as_device("cuda"))
    x = np.array([0.0, 0.5, -0.5, 2.0, np.inf, np.nan, -2.0])
    with np.errstate(all="ignore"):
        expected = step(T.tensor(x)).numpy()
        (found,) = function(StrictArray(np.zeros(0)), StrictArray(x.copy()))
    np.testing.assert_array_equal(found._host, expected)


def test_results_of_another_dtype_are_refused(gpu):
    with pytest.raises(TypeError, match="results of a recorded step are float64, got bool"):
        Unbound(lambda x: [x > 0], 0, [(7,)], as_device("cuda"))


def turned(x, mask, places):
    """What a step of matrices is made of, and a result that nothing is done to."""
    stack = x[places]
    sizes = T.sqrt((stack * stack).sum((1, 2), keepdims=True))
    stack = stack / T.where(sizes > 0, sizes, 1.0)
    square = stack @ stack.swapaxes(1, 2)
    along = (2 * (square @ stack).swapaxes(1, 2)).reshape(-1)
    return [T.cat([T.where(mask, x, -x), along]), x]


def test_a_step_of_matrices_is_kernels_alone_that_take_no_memory_after_the_first_call(stand_in):
    x, mask = rng.standard_normal(30), np.arange(30) % 3 == 0
    places = rng.permutation(30)[:24].reshape(2, 4, 3)
    own = T.tensor(mask, device="cuda"), T.tensor(places, device="cuda")
    function = Unbound(lambda x: turned(x, *own), 0, [(30,)], as_device("cuda"))
    there, none = StrictArray(x.copy()), StrictArray(np.zeros(0))
    out, kept = {k: StrictArray(np.full(n, np.nan)) for k, n in ((0, 54), (1, 30))}, {}

    def run():
        function(none, there, out=out, kept=kept)

    run()
    expected = turned(T.tensor(x), T.tensor(mask), T.tensor(places))
    graph = captured(run, stand_in.xp)
    for one in out.values():
        one._host[...] = np.nan
    graph.launch()
    for k, one in enumerate(expected):
        np.testing.assert_allclose(out[k]._host, one.numpy(), rtol=1e-13, atol=1e-14)


def test_what_looks_at_values_is_refused(gpu):
    with pytest.raises(TraceError, match=r"item\(\)"):
        Unbound(lambda x: [x * x.sum().item()], 0, [(7,)], as_device("cuda"))
