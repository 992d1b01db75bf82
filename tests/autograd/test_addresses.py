"""Addresses of arrays are those that numpy tells."""

import ctypes

import numpy as np
import pytest

from autograd import addresses
from autograd.addresses import address_of

X = np.arange(24.0).reshape(4, 6)
OF_A_FILE = np.frombuffer(b"12345678" * 3)


@pytest.mark.parametrize("array", [
    X, X[1:, 2:], X.T, X[::-1], X[:, 3], X.astype("f4"), np.zeros((0, 3)), np.array(2.0),
    np.zeros(3, ">f8"), OF_A_FILE, np.broadcast_to(X[0], (4, 6)),
])  # fmt: skip
def test_an_address_is_that_of_the_first_number(array):
    assert address_of(array) == array.ctypes.data
    if array.size and array.dtype == "f8" and array.dtype.isnative:
        first = ctypes.c_double.from_address(address_of(array)).value
        assert first == array[(0,) * array.ndim]


def test_other_interpreters_ask_numpy(monkeypatch):
    monkeypatch.setattr(addresses.sys.implementation, "name", "pypy")
    assert addresses._quickest() is addresses._of_ctypes
    assert addresses._of_ctypes(X) == X.ctypes.data
