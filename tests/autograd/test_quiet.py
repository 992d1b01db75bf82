"""Operations make infinities and NaN in silence, and leave numpy's setting as it was."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import autograd as T
from autograd import quiet


@pytest.fixture(params=["context variable", "errstate"])
def way(monkeypatch, request):
    if request.param == "errstate":
        monkeypatch.setattr(quiet, "SETTING", quiet._Errstate())
    return request.param


def test_operations_are_silent_and_numpy_is_not_afterwards(way):
    x = T.tensor([-1.0, 0.0])
    with np.errstate(all="raise"):
        assert T.isnan(T.log(x)[0]) and (1 / x)[1] == T.inf
        with pytest.raises(FloatingPointError):
            np.log(np.array([-1.0]))
    with warnings.catch_warnings(), np.errstate(all="warn"):
        warnings.simplefilter("error")
        with pytest.raises(RuntimeWarning):
            np.log(np.array([-1.0]))


def test_the_setting_comes_back_after_an_operation_that_fails(way):
    before = np.geterr()
    with pytest.raises(RuntimeError, match="must match the size"):
        T.ones(2) + T.ones(3)
    assert np.geterr() == before


def test_the_setting_of_numpy_is_found():
    assert not isinstance(quiet.SETTING, quiet._Errstate)
