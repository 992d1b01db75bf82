"""How tensors are shown, and who decides."""

import pytest

import autograd as T


@pytest.fixture(autouse=True)
def usual_options():
    yield
    T.set_printoptions(profile="default")


def test_digits_and_powers_are_chosen():
    x = T.tensor([1.23456789, 2.0])
    assert repr(x) == "tensor([1.2346, 2.0000])"
    T.set_printoptions(precision=2)
    assert repr(x) == "tensor([1.23, 2.00])"
    T.set_printoptions(sci_mode=True)
    assert repr(x) == "tensor([1.23e+00, 2.00e+00])"
    assert repr(T.ones(1)) == "tensor([1.00e+00])"
    T.set_printoptions(sci_mode=False)
    assert repr(T.tensor([1e-6, 1e3])) == "tensor([0.00, 1000.00])"
    T.set_printoptions(profile="default")
    assert repr(T.tensor([1e-6, 1e3])) == "tensor([1.0000e-06, 1.0000e+03])"


def test_the_middle_of_many_elements_is_left_out():
    x = T.arange(1001)
    T.set_printoptions(edgeitems=1, threshold=2)
    assert repr(T.arange(5)) == "tensor([0, ..., 4])"
    T.set_printoptions(profile="short")
    assert "..." in repr(x) and "..." not in repr(T.arange(5))
    T.set_printoptions(profile="full")
    assert "..." not in repr(x)
    T.set_printoptions(profile="default", linewidth=20)
    assert repr(T.arange(8)).count("\n") > 0
    with pytest.raises(ValueError, match="profile must be one of"):
        T.set_printoptions(profile="long")
