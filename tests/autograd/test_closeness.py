"""assert_close: what is close, and what is said where it is not."""

import math

import numpy as np
import pytest

import autograd as T
from autograd.testing import assert_close


def failure(actual, expected, **options):
    with pytest.raises(AssertionError) as caught:
        assert_close(actual, expected, **options)
    return str(caught.value)


@pytest.mark.parametrize(
    ("dtype", "rtol", "atol"),
    [(T.float16, 1e-3, 1e-5), (T.float32, 1.3e-6, 1e-5), (T.float64, 1e-7, 1e-7),
     (T.complex64, 1.3e-6, 1e-5), (T.complex128, 1e-7, 1e-7)],
    ids=str,
)  # fmt: skip
def test_the_tolerances_are_those_of_the_dtype(dtype, rtol, atol):
    expected = T.tensor([100.0, 0.0], dtype=dtype)
    wide = [100.0 * (1 + 0.8 * rtol), 0.8 * atol]
    assert_close(T.tensor(wide, dtype=dtype), expected)
    for position in (0, 1):
        far = list(wide)
        far[position] = [100.0 * (1 + 2.5 * rtol) + 2 * atol, 1.5 * atol][position]
        assert "are not close" in failure(T.tensor(far, dtype=dtype), expected)


def test_a_message_names_the_worst_places():
    actual = T.tensor([[1.0, 2.0], [3.5, 0.25]], dtype=T.float64)
    expected = T.tensor([[1.0, 2.0], [3.0, 0.125]], dtype=T.float64, requires_grad=True)
    assert failure(actual, expected) == (
        "Tensor-likes are not close!\n\n"
        "Mismatched elements: 2 / 4 (50.0%)\n"
        "Greatest absolute difference: 0.5 at index (1, 0) (up to 1e-07 allowed)\n"
        "Greatest relative difference: 1.0 at index (1, 1) (up to 1e-07 allowed)"
    )


def test_integers_and_bools_are_equal_or_not():
    big = 2**60
    assert_close(T.tensor([big]), T.tensor([big]))
    assert "Tensor-likes are not equal!" in failure(T.tensor([big]), T.tensor([big + 1]))
    unsigned = failure(T.tensor([0], dtype=T.uint8), T.tensor([255], dtype=T.uint8))
    assert "difference: 255.0 at index (0,)" in unsigned
    assert "not equal" in failure(T.tensor([True]), T.tensor([False]))
    assert "not equal" in failure(2**70, 2**70 + 1)


def test_nan_is_close_by_wish_and_infinities_to_themselves():
    nan, ends = T.tensor([math.nan]), T.tensor([math.inf, -math.inf])
    assert "difference: nan at index (0,)" in failure(nan, nan)
    assert_close(nan, nan, equal_nan=True)
    assert_close(ends, ends)
    failure(ends, -ends)
    failure(T.tensor([1.0]), T.tensor([math.inf]))
    assert "(1,)" in failure(T.tensor([math.inf, 1.0]), T.tensor([math.inf, 2.0]))


def test_facts_are_compared_before_the_values():
    x = T.ones(2)
    assert "'shape' do not match: Size([2]) != Size([1])" in failure(x, T.ones(1))
    assert "'dtype' do not match: float32 != float64" in failure(x, x.double())
    assert_close(x, x.double(), check_dtype=False)
    assert "'stride()'" in failure(T.ones(2, 3).t(), T.ones(3, 2), check_stride=True)
    assert "(d)types do not match" in failure(1, 1.0)
    assert_close(1, 1.0, check_dtype=False)


@pytest.mark.parametrize("one, other", [
    (1.0, np.float64(1)), (np.float32(0.1), 0.1), (np.float32(1), np.float64(1)), (1, np.int64(1)),
    (True, np.bool_(True)), (1j, np.complex64(1j)), (np.int32(1), np.int64(1)),
])  # fmt: skip
def test_numbers_of_numpy_are_those_of_python(one, other):
    assert_close(one, other)
    assert_close(other, one)


def test_numbers_of_numpy_are_of_a_kind_and_a_size():
    assert "(d)types do not match" in failure(np.int64(1), 1.0)
    assert "Expected 1.0 but got 1.5" in failure(np.float64(1.5), 1.0)


def test_none_is_close_to_none_alone():
    assert_close([None, 1.0], [None, 1.0])
    for other in (1, T.ones(2), "a", [1]):
        assert "expected None, got" in failure(other, None)
        assert "None is close to None alone" in failure(None, other)
    assert failure([1.0, None], [1.0, 2.0]).endswith("occurred for item [1]")


def test_what_is_nested_is_compared_item_by_item():
    one = {"a": [T.ones(2), 1.0], "b": (2, None, np.ones(2))}
    other = {"b": (2, None, np.ones(2)), "a": [T.ones(2), 1.5]}
    assert_close(one, one)
    assert failure(one, other).endswith("The failure occurred for item ['a'][1]")
    assert "Missing keys in the actual mapping: ['c']" in failure({"d": 1}, {"c": 1})
    assert "length of the sequences mismatch: 1 != 2" in failure([1], [1, 2])


def test_messages_and_tolerances_may_be_given():
    near = (T.tensor([1.0]), T.tensor([1.1]))
    assert_close(*near, rtol=0.1, atol=0.0)
    assert failure(*near, msg="mine") == "mine"
    assert failure(*near, msg=lambda told: "mine: " + told).startswith("mine: Tensor-likes")
    with pytest.raises(ValueError, match="both be specified"):
        assert_close(*near, rtol=0.1)
    for pair in ((T.ones(1), 1.0), ("a", "a"), (True, 1)):
        with pytest.raises(TypeError, match="cannot be compared"):
            assert_close(*pair)
    with pytest.raises(TypeError, match="cannot be compared"):
        assert_close(T.nn.Parameter(T.ones(1)), T.ones(1), allow_subclasses=False)
