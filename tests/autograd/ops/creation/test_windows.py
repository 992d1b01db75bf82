"""Windows against scipy's."""

import numpy as np
import pytest
import scipy.signal

import autograd as T


@pytest.mark.parametrize("name", ["hann", "hamming", "blackman", "bartlett"])
@pytest.mark.parametrize("length", [0, 1, 2, 5, 8])
def test_windows_are_those_of_scipy(name, length):
    make = getattr(T, f"{name}_window")
    for periodic in (True, False):
        expected = scipy.signal.get_window(name, length, fftbins=periodic) if length else []
        found = make(length, periodic, dtype=T.float64)
        np.testing.assert_allclose(found.numpy(), expected, atol=1e-15)
        assert make(length, periodic).dtype == T.float32


def test_coefficients_and_what_is_refused():
    found = T.hamming_window(3, True, 0.5, 0.5, dtype=T.float64, requires_grad=True)
    np.testing.assert_allclose(found.detach().numpy(), [0.0, 0.75, 0.75], atol=1e-15)
    assert found.requires_grad and found.is_leaf
    with pytest.raises(RuntimeError, match="expects floating point dtypes, got: int64"):
        T.hann_window(3, dtype=T.int64)
    with pytest.raises(RuntimeError, match="non-negative window_length, got window_length=-3"):
        T.blackman_window(-3)
