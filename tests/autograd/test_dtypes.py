"""Promotion follows PyTorch: PyTorch 2.13 printed the tables (its complex32 is complex64 here)."""

from __future__ import annotations

import numpy as np
import pytest

import autograd as T

NAMES = ("bool uint8 int8 int16 int32 int64 float16 float32 float64 complex64 complex128").split()

# (row)[2] + (column)[2], the columns in the order of NAMES
WITH_TENSOR = {
    "bool": "bool uint8 int8 int16 int32 int64 float16 float32 float64 complex64 complex128",
    "uint8": "uint8 uint8 int16 int16 int32 int64 float16 float32 float64 complex64 complex128",
    "int8": "int8 int16 int8 int16 int32 int64 float16 float32 float64 complex64 complex128",
    "int16": "int16 int16 int16 int16 int32 int64 float16 float32 float64 complex64 complex128",
    "int32": "int32 int32 int32 int32 int32 int64 float16 float32 float64 complex64 complex128",
    "int64": "int64 int64 int64 int64 int64 int64 float16 float32 float64 complex64 complex128",
    "float16": "float16 float16 float16 float16 float16 float16 float16 float32 float64 "
    "complex64 complex128",
    "float32": "float32 float32 float32 float32 float32 float32 float32 float32 float64 "
    "complex64 complex128",
    "float64": "float64 float64 float64 float64 float64 float64 float64 float64 float64 "
    "complex128 complex128",
    "complex64": "complex64 complex64 complex64 complex64 complex64 complex64 complex64 "
    "complex64 complex128 complex64 complex128",
    "complex128": "complex128 complex128 complex128 complex128 complex128 complex128 complex128 "
    "complex128 complex128 complex128 complex128",
}

# (row)[2] + (column)[]
WITH_0D_TENSOR = {
    "bool": "bool uint8 int8 int16 int32 int64 float16 float32 float64 complex64 complex128",
    "uint8": "uint8 uint8 uint8 uint8 uint8 uint8 float16 float32 float64 complex64 complex128",
    "int8": "int8 int8 int8 int8 int8 int8 float16 float32 float64 complex64 complex128",
    "int16": "int16 int16 int16 int16 int16 int16 float16 float32 float64 complex64 complex128",
    "int32": "int32 int32 int32 int32 int32 int32 float16 float32 float64 complex64 complex128",
    "int64": "int64 int64 int64 int64 int64 int64 float16 float32 float64 complex64 complex128",
    "float16": "float16 float16 float16 float16 float16 float16 float16 float16 float16 "
    "complex64 complex64",
    "float32": "float32 float32 float32 float32 float32 float32 float32 float32 float32 "
    "complex64 complex64",
    "float64": "float64 float64 float64 float64 float64 float64 float64 float64 float64 "
    "complex128 complex128",
    "complex64": "complex64 complex64 complex64 complex64 complex64 complex64 complex64 "
    "complex64 complex64 complex64 complex64",
    "complex128": "complex128 complex128 complex128 complex128 complex128 complex128 complex128 "
    "complex128 complex128 complex128 complex128",
}

# a tensor, with or without dimensions, times True, 2, 2.0 and 2j
WITH_NUMBER = {
    "bool": "bool int64 float32 complex64",
    "uint8": "uint8 uint8 float32 complex64",
    "int8": "int8 int8 float32 complex64",
    "int16": "int16 int16 float32 complex64",
    "int32": "int32 int32 float32 complex64",
    "int64": "int64 int64 float32 complex64",
    "float16": "float16 float16 float16 complex64",
    "float32": "float32 float32 float32 complex64",
    "float64": "float64 float64 float64 complex128",
    "complex64": "complex64 complex64 complex64 complex64",
    "complex128": "complex128 complex128 complex128 complex128",
}


def ones(name: str, *shape: int) -> T.Tensor:
    return T.tensor(np.ones(shape, name))


@pytest.mark.parametrize("row", NAMES)
def test_tensors_with_dimensions(row):
    for column, expected in zip(NAMES, WITH_TENSOR[row].split(), strict=True):
        assert (ones(row, 2) + ones(column, 2)).dtype == expected, column
        assert (ones(column, 2) * ones(row, 2)).dtype == expected, column
        assert T.promote_types(np.dtype(row), np.dtype(column)) == expected
        quotient = (ones(row, 2) / ones(column, 2)).dtype
        assert quotient == (expected if expected[0] in "fc" else "float32"), column


@pytest.mark.parametrize("row", NAMES)
def test_a_0d_tensor_only_raises_the_category(row):
    for column, expected in zip(NAMES, WITH_0D_TENSOR[row].split(), strict=True):
        assert (ones(row, 2) + ones(column)).dtype == expected, column
        assert (ones(column) * ones(row, 2)).dtype == expected, column
        assert T.result_type(ones(row, 2), ones(column)) == expected


@pytest.mark.parametrize("row", NAMES)
@pytest.mark.parametrize("shape", [(2,), ()])
def test_a_number_only_raises_the_category(row, shape):
    for number, expected in zip((True, 2, 2.0, 2j), WITH_NUMBER[row].split(), strict=True):
        assert (ones(row, *shape) * number).dtype == expected, number
        assert (number * ones(row, *shape)).dtype == expected, number


def test_numbers_take_the_default_dtype_when_it_changes():
    T.set_default_dtype(T.float64)
    try:
        assert T.tensor(1.0).dtype == "float64" and T.tensor(1j).dtype == "complex128"
        assert (ones("int32", 2) * 2.0).dtype == "float64"
        assert (ones("int32", 2) / ones("int32", 2)).dtype == "float64"
        assert (ones("float32", 2) * 2.0).dtype == "float32"
        assert T.exp(ones("int32", 2)).dtype == "float64"
    finally:
        T.set_default_dtype(T.float32)
    with pytest.raises(TypeError, match="floating point"):
        T.set_default_dtype(T.int64)
    assert T.get_default_dtype() == "float32"


def test_dtypes_of_results():
    x = ones("int32", 3)
    flags = ones("bool", 3)
    expected = {
        "sum": "int64", "prod": "int64", "exp": "float32", "sqrt": "float32", "neg": "int32",
        "abs": "int32", "argmax": "int64", "any": "bool", "floor": "int32", "round": "int32",
        "sigmoid": "float32",
    }  # fmt: skip
    for name, dtype in expected.items():
        assert getattr(x, name)().dtype == dtype, name
    assert x.cumsum(0).dtype == "int64"
    assert flags.sum().dtype == "int64" and flags.prod().dtype == "int64"
    assert flags.exp().dtype == "float32" and flags.any().dtype == "bool"
    assert (x**2).dtype == "int32" and (x**2.0).dtype == "float32"
    assert (x // 2).dtype == "int32" and (x / 2).dtype == "float32" and (x % 2).dtype == "int32"
    assert (ones("float16", 2) / 2).dtype == "float16"
    assert (ones("float32", 3) > 0).dtype == "bool" and (x == x).dtype == "bool"
    for name, real in (("complex64", "float32"), ("complex128", "float64")):
        z = ones(name, 2)
        assert z.abs().dtype == real and T.real(z).dtype == real and z.angle().dtype == real
        assert z.exp().dtype == name and z.sum().dtype == name


def test_dtypes_of_created_tensors():
    assert T.arange(3).dtype == "int64" and T.arange(3.0).dtype == "float32"
    assert T.full((2,), 3).dtype == "int64" and T.full((2,), 3.0).dtype == "float32"
    assert T.full((2,), True).dtype == "bool"
    assert T.tensor([True]).dtype == "bool" and T.tensor(2).dtype == "int64"
    assert T.tensor(2j).dtype == "complex64" and T.tensor([1, 2.5]).dtype == "float32"
    assert T.linspace(0, 1, 3).dtype == "float32" and T.eye(2).dtype == "float32"
    assert T.tensor(np.ones(2)).dtype == "float64", "an array keeps its dtype"


def test_python_numbers_are_rounded_once_to_the_dtype_asked_for():
    assert T.tensor(0.3, dtype=T.float64).item() == 0.3
    assert T.tensor([0.3, 1], dtype=T.float64).tolist() == [0.3, 1.0]
    assert T.tensor([0.1 + 0.3j], dtype=T.complex128).tolist() == [0.1 + 0.3j]
    assert T.as_tensor([0.3], dtype=T.float64).tolist() == [0.3]
    assert T.tensor(0.3).item() == np.float32(0.3)
    assert T.tensor(2**24 + 1, dtype=T.int64).item() == 2**24 + 1
    x = T.ones(3, dtype=T.float64)
    assert T.full_like(x, 0.3).tolist() == [0.3] * 3 and x.new_tensor([0.3]).tolist() == [0.3]
    for change in (
        lambda t: t.fill_(0.3),
        lambda t: t.zero_().add_(0.3),
        lambda t: t.copy_(0.3),
        lambda t: t.mul_(0.3),
        lambda t: t.clamp_(0.0, 0.3),
        lambda t: t.__setitem__(slice(None), 0.3),
        lambda t: t.__setitem__([0, 1, 2], [0.3, 0.3, 0.3]),
        lambda t: t.__setitem__(T.tensor([True, True, True]), 0.3),
    ):
        y = x.clone()
        change(y)
        assert y.tolist() == [0.3] * 3
    c = T.tensor([True, True, True])
    for y in (
        x * 0.3, 0.3 * x, T.where(c, 0.3, x), T.where(~c, x, 0.3), T.clamp(x, 0.0, 0.3),
        x.masked_fill(c, 0.3), T.lerp(x * 0, x, 0.3), T.add(x * 0, x, alpha=0.3), 0.3 / x,
    ):  # fmt: skip
        assert y.tolist() == [0.3] * 3


def test_joins_and_choices_promote():
    assert T.cat([ones("float32", 2), ones("float64", 2)]).dtype == "float64"
    assert T.maximum(ones("int32", 2), ones("float32", 2)).dtype == "float32"
    assert T.where(ones("bool", 1), ones("float32", 1), ones("float64")).dtype == "float32"


@pytest.mark.parametrize("name", ["float16", "float32", "float64", "complex64", "complex128"])
def test_gradients_have_the_dtype_of_the_leaf(name):
    x = ones(name, 2).requires_grad_()
    weights = T.tensor(np.array([2.0, 3.0]))
    (x * weights).sum().real.backward() if x.is_complex() else (x * weights).sum().backward()
    assert x.grad.dtype == name
    assert x.grad.tolist() == [2.0, 3.0]


def test_no_numpy_scalar_escapes():
    x = T.tensor([1.0, 2.0], requires_grad=True)
    for result in (x.sum(), x.mean(), x.prod(), x[0], x.max(), x @ x, x.sum() * 2, x.norm()):
        assert isinstance(result, T.Tensor) and isinstance(result._data, np.ndarray)
        assert result.shape == ()
        (gradient,) = T.grad(result, x)
        assert isinstance(gradient._data, np.ndarray)
    assert type(x[0].item()) is float and type((x[0] > 0).item()) is bool
    assert type(T.tensor([1]).item()) is int


def test_unknown_dtypes_are_refused():
    for wrong in ("float128x", "U3", object, "datetime64[s]"):
        with pytest.raises(TypeError):
            T.tensor([1.0], dtype=wrong)
