"""Arithmetic: values, derivatives, powers at zero, remainders, Python numbers, dtypes."""

from __future__ import annotations

import cmath
import itertools

import numpy as np
import pytest

import autograd
from autograd import Tensor
from autograd.gradcheck import gradcheck
from autograd.ops.elementwise import arithmetic
from autograd.ops.elementwise.arithmetic import power
from autograd.ops.registry import REGISTRY
from autograd.testing import BINARY_SHAPES, OpCase, check_op


def leaf(values, dtype=np.float64) -> Tensor:
    return Tensor(np.array(values, dtype), requires_grad=True)


def derivatives(function, x: Tensor, order: int) -> list[np.ndarray]:
    y = function(x)
    values = [y.detach().numpy()]
    for _ in range(order):
        if not y.requires_grad:
            values.append(np.zeros(x.shape))
            continue
        (y,) = autograd.grad(y.sum(), x, create_graph=True)
        values.append(y.detach().numpy())
    return values


def count_nodes(tensor: Tensor) -> int:
    seen, stack = set(), [tensor.grad_fn]
    while stack:
        node = stack.pop()
        if node is not None and node not in seen:
            seen.add(node)
            stack += [edge[0] for edge in node.edges if edge is not None]
    return len(seen)


@pytest.mark.parametrize(
    "case",
    [
        OpCase("add", arithmetic.add, BINARY_SHAPES, reference=np.add, complex=True),
        OpCase("sub", arithmetic.sub, BINARY_SHAPES, reference=np.subtract, complex=True),
        OpCase("mul", arithmetic.mul, BINARY_SHAPES, reference=np.multiply, complex=True),
        OpCase(
            "div",
            arithmetic.div,
            BINARY_SHAPES,
            domain=((-2, 2), (0.5, 2)),
            reference=np.divide,
            order=3,
        ),
        OpCase(
            "div complex",
            arithmetic.div,
            [((3,), (2, 3))],
            domain=((-2, 2), (1.5, 2)),
            reference=np.divide,
            complex=True,
        ),
        OpCase(
            "pow",
            arithmetic.pow,
            BINARY_SHAPES,
            domain=((0.3, 2), (-2, 2)),
            reference=np.power,
            order=3,
        ),
        OpCase(
            "pow complex",
            arithmetic.pow,
            [((3,), (2, 3))],
            domain=((1.2, 2), (-1, 1)),
            reference=np.power,
            complex=True,
        ),
        OpCase(
            "remainder",
            arithmetic.remainder,
            BINARY_SHAPES,
            domain=((0.1, 0.4), (0.5, 2)),
            reference=np.remainder,
        ),
        OpCase(
            "fmod",
            arithmetic.fmod,
            BINARY_SHAPES,
            domain=((-0.4, -0.1), (0.5, 2)),
            reference=np.fmod,
        ),
        OpCase(
            "floor_divide",
            arithmetic.floor_divide,
            BINARY_SHAPES,
            domain=((0.1, 0.4), (0.5, 2)),
            reference=np.floor_divide,
        ),
        OpCase(
            "trunc div",
            lambda x, y: arithmetic.div(x, y, rounding_mode="trunc"),
            BINARY_SHAPES,
            domain=((-0.4, -0.1), (0.5, 2)),
            reference=lambda x, y: np.trunc(x / y),
        ),
        OpCase("neg", arithmetic.neg, reference=np.negative, complex=True),
        OpCase("conj", arithmetic.conj, reference=np.conj, complex=True),
        OpCase(
            "add alpha",
            lambda x, y: arithmetic.add(x, y, alpha=3),
            BINARY_SHAPES,
            reference=lambda x, y: x + 3 * y,
        ),
        OpCase(
            "number over tensor",
            lambda x: 3 / x,
            domain=(0.5, 2),
            order=4,
            reference=lambda x: 3 / x,
        ),
        OpCase("number to the tensor", lambda x: 3**x, order=4, reference=lambda x: 3.0**x),
        OpCase(
            "number modulo tensor",
            lambda x: 1.5 % x,
            domain=(1.1, 1.4),
            reference=lambda x: 1.5 % x,
        ),
    ],
    ids=str,
)
def test_every_shape_dtype_layout_and_device(case):
    check_op(case)


EXPONENTS = [0, 1, 2, 3, 4, 7, 16, -1, -2, -5, 0.5, -0.5, 1.5, 2.5, -1.5, 0.3, -1.7, 20, 2.0]


@pytest.mark.parametrize("exponent", EXPONENTS)
def test_derivatives_of_powers_with_a_number_for_exponent(exponent):
    points = np.array([0.4, 0.9, 1.7])
    found = derivatives(lambda x: x**exponent, leaf(points), 5)
    factor = 1.0
    for order, values in enumerate(found):
        expected = factor * points ** float(exponent - order) if factor else np.zeros(3)
        np.testing.assert_allclose(values, expected, rtol=1e-13, err_msg=f"order {order}")
        factor *= exponent - order


def test_integer_powers_of_negative_and_complex_numbers():
    points = np.array([-1.5, -0.2, 3.0])
    for exponent in (2, 3, 5, -1, -3, 3.0):
        np.testing.assert_allclose(
            (leaf(points) ** exponent).detach().numpy(), points ** float(exponent), rtol=1e-14
        )
    check_op(OpCase("cube", lambda z: z**3, complex=True, reference=lambda z: z**3, order=3))
    z = Tensor(np.array([1.2 + 0.5j, 2.0 - 1j]), requires_grad=True)
    gradcheck(lambda z: z ** (0.5 + 0.3j), z, 2)
    x = leaf([1.5, 2.0])
    gradcheck(lambda x: (x ** (0.5 + 0.3j)).real, x, 2)


def test_small_integer_powers_use_no_transcendental_function(monkeypatch):
    def refuse(*args, **kwargs):
        raise AssertionError("np.power was called")

    monkeypatch.setattr(np, "power", refuse)
    for exponent in (2, 3, 16, -4, 0.5, 2.5, -0.5):
        derivatives(lambda x, p=exponent: x**p, leaf([0.5, 2.0]), 3)


def test_the_tower_of_a_power_or_a_quotient_is_linear():
    for function in (lambda x: x**7.5, lambda x: 2 / x, lambda x: x**-2, lambda x: 2**x):
        x, sizes = leaf([0.5, 2.0]), []
        y = function(x)
        for _ in range(7):
            (y,) = autograd.grad(y.sum(), x, create_graph=True)
            sizes.append(count_nodes(y))
        assert max(sizes[1:]) == min(sizes[1:]) <= 5


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda x: x**1, [1, 0]),
        (lambda x: x**1.0, [1, 0]),
        (lambda x: x**2, [3, 2, 0]),
        (autograd.square, [3, 2, 0]),
        (lambda x: x**3, [6.75, 9, 6, 0]),
    ],
)
def test_a_polynomial_is_differentiated_until_it_vanishes(function, expected):
    x = leaf([1.5])
    value = function(x)
    for k, derivative in enumerate(expected, 1):
        (value,) = autograd.grad(value, x, create_graph=True)
        assert value.tolist() == [derivative]
        assert value.requires_grad is (k < len(expected))


def test_powers_at_zero_have_no_nan():
    for exponent, expected in [
        (0, [1, 0, 0, 0]),
        (1, [0, 1, 0, 0]),
        (2, [0, 0, 2, 0]),
        (3, [0, 0, 0, 6]),
        (1.5, [0, 0, np.inf, -np.inf]),
        (0.5, [0, np.inf, -np.inf, np.inf]),
    ]:
        found = derivatives(lambda x, p=exponent: x**p, leaf([0.0]), 3)
        assert [v.item() for v in found] == expected, exponent
    # the same with exponents in a tensor
    for exponent, expected in [(0, [1, 0, 0]), (1, [0, 1, 0]), (2, [0, 0, 2]), (3, [0, 0, 0])]:
        p = Tensor(np.array([float(exponent)]))
        found = derivatives(lambda x, p=p: x**p, leaf([0.0]), 2)
        assert [v.item() for v in found] == expected, exponent


def test_gradient_for_the_exponent_at_base_zero():
    x, y = leaf([0.0, 0.0, 0.0]), leaf([0.0, 1.0, 2.0])
    gx, gy = autograd.grad((x**y).sum(), (x, y), create_graph=True)
    assert gx.detach().numpy().tolist() == [0.0, 1.0, 0.0]
    assert gy.detach().numpy().tolist() == [0.0, 0.0, 0.0]
    for g in (gx, gy):
        for second in autograd.grad(g.sum(), (x, y), retain_graph=True):
            assert np.all(np.isfinite(second.numpy()))
    for base in (0, 0.0):
        y = leaf([0.0, 2.0, -1.0])
        assert autograd.grad((base**y).sum(), y)[0].numpy().tolist() == [0.0, 0.0, -np.inf]


def test_power_writes_into_out_and_leaves_its_input():
    for exponent, scale in itertools.product((0, 1, 2, 5, -2, 0.5, -0.5, 2.5, 0.3), (1, 3)):
        x, out = np.array([0.5, 2.0]), np.empty(2)
        assert power(np, x, exponent, scale, out) is out
        np.testing.assert_allclose(out, scale * np.array([0.5, 2.0]) ** exponent, rtol=1e-15)
        assert x.tolist() == [0.5, 2.0]
        assert not np.shares_memory(power(np, x, exponent, scale), x)


def test_integer_division_and_remainders():
    x, y = Tensor(np.array([5, -5, 7, -7])), Tensor(np.array([3, 3, -3, 2]))
    pairs = list(zip([5, -5, 7, -7], [3, 3, -3, 2], strict=True))
    assert (x // y).numpy().tolist() == [a // b for a, b in pairs]
    assert (x % y).numpy().tolist() == [a % b for a, b in pairs]
    truncated = arithmetic.div(x, y, rounding_mode="trunc")
    assert truncated.numpy().tolist() == [int(a / b) for a, b in pairs]
    assert truncated.dtype == np.int64
    assert arithmetic.fmod(x, y).numpy().tolist() == [a - b * int(a / b) for a, b in pairs]
    floored = arithmetic.div(x, y, rounding_mode="floor")
    assert floored.numpy().tolist() == [a // b for a, b in pairs]
    assert (x / y).dtype == np.float32
    for operation in (lambda: x // 0, lambda: x % 0, lambda: arithmetic.fmod(x, y * 0)):
        with pytest.raises(RuntimeError, match="ZeroDivisionError"):
            operation()
    assert (x / 0).numpy().tolist() == [np.inf, -np.inf, np.inf, -np.inf]
    with pytest.raises(ValueError, match="rounding_mode"):
        arithmetic.div(x, y, rounding_mode="up")


def test_numbers_stay_numbers():
    x = leaf([1.0, 2.0], np.float32)
    for y in (x + 1, 1 + x, x * 2.5, 2.5 / x, x**2, 2**x, x - True, x // 2, 7 % x):
        assert y.dtype == np.float32
    assert (x + 1j).dtype == np.complex64
    node = (x * 3).grad_fn
    assert node.saved == {"y": 3}
    assert (x + 3).grad_fn.saved == {}
    integers = Tensor(np.array([1, 2]))
    assert (integers * 2).dtype == np.int64
    assert (integers * 2.0).dtype == np.float32
    assert (integers**2).dtype == np.int64 and (integers**2.0).dtype == np.float32
    assert (1 / integers).dtype == np.float32


def test_zero_dimensional_results_are_arrays():
    a, b = Tensor(np.array(3.0)), Tensor(np.array(2.0))
    for y in (a + b, a - b, a * b, a / b, a**b, a**2, 2**a, a // b, a % b, -a, 2 / a):
        assert isinstance(y._data, np.ndarray) and y.shape == ()


def test_refusals_name_the_remedy():
    with pytest.raises(RuntimeError, match="negative integer powers are not allowed.*-2.0"):
        Tensor(np.array([2])) ** -2
    with pytest.raises(RuntimeError, match="on a bool tensor is not supported.*logical_not"):
        -Tensor(np.array([True]))


def _elementwise_cases():
    """Every elementwise operation, with inputs, for the checks of `out=`."""
    x, y = np.array([[0.3, 0.7, 0.2]]), np.array([[0.5], [1.5]])
    bits = np.array([1, 2, 3])
    attributes = {
        "monomial": {"exponent": 2.5, "scale": 2},
        "leaky_relu": {"slope": 0.1},
        "leak": {"slope": 0.1},
        "inside": {"low": 0.25, "high": 0.5},
        "clamp": {"low": 0.25, "high": 0.5},
        "elu_slope": {"alpha": 1.0, "outer": 2.0},
        "round": {"decimals": 1},
        "slope_of_line": {"scale": 2},
    }
    modules = ("arithmetic", "smooth", "activations", "piecewise", "compare", "complex")
    for name, op in sorted(REGISTRY.items()):
        module = op.forward.__module__.rpartition(".")[2]
        if module not in modules or op.view:
            continue
        options = dict(attributes.get(name, {}))
        inputs = [x, y] if op.broadcasts else [x, 0.5 * x, 0.25 * x]
        if "order" in op.attributes:
            options["order"] = 3
        if name.startswith("bitwise"):
            inputs = [bits, bits[::-1]]
        if name == "where":
            inputs = [x > 0.25, x, y]
        if name == "winner":
            inputs = [np.ones((2, 3)), x, y]
        if name == "acosh":
            inputs = [1 + x]
        yield pytest.param(op, inputs[: len(op.inputs)], options, id=name)


@pytest.mark.parametrize(("op", "inputs", "options"), list(_elementwise_cases()))
def test_forward_writes_into_out_and_leaves_its_inputs(op, inputs, options):
    before = [a.copy() for a in inputs]
    with np.errstate(all="ignore"):
        expected = op.forward(np, *inputs, **options)
        out = np.full_like(expected, 7 if expected.dtype.kind != "b" else True)
        assert op.forward(np, *inputs, out=out, **options) is out
    assert np.array_equal(out, expected, equal_nan=expected.dtype.kind == "f")
    for a, original in zip(inputs, before, strict=True):
        assert np.array_equal(a, original)


@pytest.mark.parametrize("base", [-1, -2.5, 1j])
def test_gradient_of_a_negative_number_to_a_complex_power(base):
    """d base**z / dz = log(base) base**z, with the principal logarithm."""
    value = 0.5 + 0.2j
    z = autograd.tensor(value, dtype=autograd.complex128, requires_grad=True)
    power = base**z
    slope = cmath.log(base) * cmath.exp(value * cmath.log(base))
    (found,) = autograd.grad(power, z, autograd.ones_like(power), retain_graph=True)
    assert found.item() == pytest.approx(slope.conjugate(), rel=1e-13)
    (found,) = autograd.grad(power.abs(), z)
    modulus = cmath.exp(value * cmath.log(base))
    assert found.item() == pytest.approx(
        (modulus.conjugate() / abs(modulus) * slope).conjugate(), rel=1e-12
    )


def test_integers_to_negative_tensor_powers_round_towards_zero():
    base = Tensor(np.array([0, 1, -1, -1, 2, -3, 5]))
    exponent = Tensor(np.array([-1, -7, -2, -3, -1, -1, 2]))
    assert (base**exponent).tolist() == [0, 1, 1, -1, 0, 0, 25]
    assert (2 ** Tensor(np.array([-1, 3]))).tolist() == [0, 8]
    assert (base**exponent).dtype == np.int64


@pytest.mark.parametrize("name", ["pow", "remainder", "bitwise_and"])
def test_a_function_of_numbers_alone_is_refused(name):
    with pytest.raises(TypeError, match=rf"{name}\(\): at least one argument must be Tensor"):
        getattr(autograd, name)(2, 3)


@pytest.mark.parametrize("name", ["eq", "lt", "fmod", "maximum", "hypot", "logical_or", "isclose"])
def test_a_number_where_a_tensor_is_asked_is_refused(name):
    x = Tensor(np.ones(2))
    with pytest.raises(TypeError, match=rf"{name}\(\): argument 'input' \(position 1\) must be Te"):
        getattr(autograd, name)(2.0, x)
    if name not in ("eq", "lt", "fmod"):
        with pytest.raises(TypeError, match="argument 'other' .position 2. must be Tensor, not fl"):
            getattr(autograd, name)(x, 2.0)


TERNARY = [((), (), ()), ((2, 3), (3,), ()), ((2, 1), (1, 3), (2, 3)), ((0, 3), (3,), (1,))]


@pytest.mark.parametrize(
    "case",
    [
        OpCase(
            "addcmul",
            lambda x, y, z: autograd.addcmul(x, y, z, value=0.5),
            TERNARY,
            reference=lambda x, y, z: x + 0.5 * y * z,
            complex=True,
        ),
        OpCase(
            "addcdiv",
            lambda x, y, z: autograd.addcdiv(x, y, z, value=-2),
            TERNARY,
            domain=(0.5, 2),
            reference=lambda x, y, z: x - 2 * y / z,
        ),
    ],
    ids=str,
)
def test_products_and_quotients_that_are_added(case):
    check_op(case)


def test_integers_are_multiplied_and_not_divided():
    two = Tensor(np.array([2]))
    assert autograd.addcmul(two, two, two, value=3).tolist() == [14]
    with pytest.raises(RuntimeError, match="integer division is not supported"):
        two.addcdiv(two, two)


def test_numbers_alone_may_be_added():
    assert autograd.add(1, 2).item() == 3 and autograd.div(1, 2).item() == 0.5


@pytest.mark.parametrize("exponent", [1.5, 2.5, -1.5, -2.5, 7.5])
def test_powers_with_halves_are_those_of_c_at_zero_and_at_both_infinities(exponent):
    at = [-np.inf, np.inf, 0.0, -0.0, -2.0, np.nan, 4.0]
    for dtype in (np.float32, np.float64):
        x = np.array(at, dtype)
        with np.errstate(all="ignore"):
            expected = np.power(x, dtype(exponent))
        found = autograd.pow(autograd.tensor(x), exponent).numpy()
        np.testing.assert_allclose(found, expected, rtol=1e-6, strict=True)
        np.testing.assert_array_equal(np.signbit(found[:5]), np.signbit(expected[:5]))


# numpy's numbers are C's; slopes are y x**(y - 1), which is not known where a factor is 0 and
# the other one infinite
SLOPES = {
    np.inf: [np.inf, np.nan, np.inf, np.inf, np.nan, np.inf, np.nan, np.inf, np.nan],
    -np.inf: [np.nan, -np.inf, -np.inf, np.nan, -np.inf, -np.inf, -np.inf, np.nan, np.nan],
    np.nan: [np.nan] * 9,
}


@pytest.mark.parametrize("exponent", SLOPES)
def test_powers_that_are_infinite_or_no_number(exponent):
    at = np.array([2, 0.5, 1, -2, 0, -1, -0.5, np.inf, np.nan])
    with np.errstate(all="ignore"):
        expected = np.power(at, exponent)
    for function in (lambda x: x**exponent, autograd.compile(lambda x: x**exponent)):
        x = leaf(at)
        value = function(x)
        np.testing.assert_array_equal(value.detach().numpy(), expected)
        np.testing.assert_array_equal(autograd.grad(value.sum(), x)[0].numpy(), SLOPES[exponent])
    whole = autograd.tensor([2, 0, 1]) ** exponent
    with np.errstate(all="ignore"):  # some processors' numpy tells of 0 here, in float32 too
        expected = np.power(np.float32([2, 0, 1]), exponent)
    np.testing.assert_array_equal(whole.numpy(), expected)
