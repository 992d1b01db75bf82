"""Sweeps for each example of a vmap, and maps inside of sweeps."""

import numpy as np
import pytest

import autograd as T
from autograd.func import vmap
from autograd.jets import partials

X = T.tensor(np.random.default_rng(0).uniform(size=(4, 3, 1)))


def second(function, x):
    return partials(function, [x], [(0, 0)])[0, 0]


def test_what_is_detached_has_the_values_of_its_example():
    expected = 2 * np.exp(X.numpy())
    for constant in (lambda x: x.detach(), lambda x: x.data):
        found = vmap(lambda x, c=constant: second(lambda x: x**2 * c(x).exp(), x))(X)
        np.testing.assert_allclose(found.numpy(), expected, rtol=1e-13)
        found = second(lambda x, c=constant: vmap(lambda y: y**2 * c(y).exp())(x), X[0])
        np.testing.assert_allclose(found.numpy(), expected[0], rtol=1e-13)


@pytest.mark.parametrize("read", [lambda x: x.sum().item(), lambda x: bool(x[0, 0] > 0)])
def test_an_example_is_not_read(read):
    assert second(lambda x: x**2 * (read(x) is not None), X[0]).tolist() == [[2.0]] * 3
    with pytest.raises(RuntimeError, match="one value an example"):
        vmap(lambda x: second(lambda x: x**2 * read(x), x))(X)
