"""Fixtures of the tests of Taylor mode: nested reverse mode, the independent answer."""

from __future__ import annotations

import numpy as np
import pytest

import autograd as T
from autograd.jets import Sum


def _nested(fn, points: list[np.ndarray], keys) -> dict:
    """Return the derivatives `keys` of sum over rows of fn(*columns), by reverse mode repeated."""
    columns = [T.tensor(p, requires_grad=True) for p in points]
    known = {(): fn(*columns)}

    def single(index):
        if index not in known:
            inner = single(index[:-1])
            known[index] = (
                T.grad(
                    inner, columns[index[-1]], T.ones_like(inner), create_graph=True,
                    materialize_grads=True,
                )[0]
                if inner.requires_grad
                else T.zeros_like(inner)
            )  # fmt: skip
        return known[index]

    def value(key):
        if isinstance(key, Sum):
            return sum(w * single(index).detach().numpy() for index, w in key.terms)
        return single(key).detach().numpy()

    return {key: value(key) for key in keys}


@pytest.fixture(scope="session")
def nested():
    """A function `(fn, points, keys) -> arrays by key`; fn gives one number a row."""
    return _nested
