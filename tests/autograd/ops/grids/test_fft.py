"""Fourier transforms against numpy's, and their derivatives."""

import numpy as np
import pytest

import autograd as T
from autograd import fft, plan
from autograd.plan.program import flops
from autograd.testing import OpCase, check_op

SIZES = [((5,),), ((2, 6),), ((0, 3),), ((3, 1),)]
NORMS = [None, "forward", "ortho"]


def of_numpy(name, **how):
    return lambda x: getattr(np.fft, name)(x, **how)


def case(name, shapes, norm=None, complex=True, numpy_dims="axis", **how):
    numbers = {numpy_dims if key == "dim" else key: value for key, value in how.items()}
    return OpCase(
        f"{name} {norm} {how}",
        lambda x: getattr(fft, name)(x, norm=norm, **how),
        shapes,
        reference=of_numpy(name, norm=norm, **numbers),
        complex=complex,
    )


def many(name, shapes, norm=None, complex=True, **how):
    return case(name, shapes, norm, complex, "axes", **how)


CASES = [
    *(case(name, SIZES, norm) for name in ("fft", "ifft") for norm in NORMS),
    *(case(name, SIZES, norm, complex=False) for name in ("rfft", "ihfft") for norm in NORMS),
    *(case(name, SIZES[:3], norm) for name in ("irfft", "hfft") for norm in NORMS),
    *(case(name, [((3, 4),)], n=n, dim=0) for name in ("fft", "irfft", "hfft") for n in (2, 5)),
    *(case("rfft", [((3, 4),)], n=n, dim=0, complex=False) for n in (2, 5)),
    *(many(name, [((2, 3, 4),)], "ortho") for name in ("fftn", "ifftn", "irfftn")),
    many("rfftn", [((2, 3, 4),)], "forward", complex=False),
    many("fftn", [((3, 4, 2),)], s=(2, 5), dim=(2, 0)),
    many("irfftn", [((3, 4, 2),)], s=(2, 5), dim=(2, 0)),
    many("rfftn", [((3, 4, 2),)], s=(2, 5), dim=(2, 0), complex=False),
    *(many(name, [((2, 3, 4),)]) for name in ("fft2", "ifft2", "irfft2")),
    many("rfft2", [((2, 3, 4),)], complex=False),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=str)
def test_values_and_derivatives(case):
    check_op(case)


def test_the_gradient_of_a_real_loss_is_the_conjugate_one():
    x = T.tensor(np.array([1 + 2j, 3 - 1j, 0.5j]), requires_grad=True)
    weights = np.array([2.0, -1.0, 3.0])
    (g,) = T.grad((fft.fft(x).real * T.tensor(weights)).sum(), x)
    matrix = np.exp(-2j * np.pi * np.outer(np.arange(3), np.arange(3)) / 3)
    np.testing.assert_allclose(g.numpy(), weights @ matrix.conj(), rtol=1e-13)


def test_a_size_of_minus_one_is_the_size_there_is_and_one_size_is_of_the_last_dimension():
    x = T.rand(3, 4, dtype=T.float64)
    assert T.allclose(fft.fftn(x, s=(-1, 2), dim=(1, 0)), fft.fft(fft.fft(x, 4, 1), 2, 0))
    assert T.equal(fft.fftn(x, s=3), fft.fft(x, 3, 1))
    assert fft.irfftn(x, s=(2, -1)).shape == (2, 6)
    assert T.equal(fft.fftn(x, dim=()), x.to(T.complex128))


def test_the_spectral_derivative_of_a_wave():
    n = 16
    x = T.arange(n, dtype=T.float64) * (2 * np.pi / n)
    k = fft.rfftfreq(n, 1 / n, dtype=T.float64)
    found = fft.irfft(1j * k * fft.rfft(T.sin(3 * x)), n)
    np.testing.assert_allclose(found.numpy(), 3 * np.cos(3 * x.numpy()), atol=1e-13)


@pytest.mark.parametrize("n", [1, 2, 5, 6])
def test_frequencies_and_their_order(n):
    for ours, theirs in ((fft.fftfreq, np.fft.fftfreq), (fft.rfftfreq, np.fft.rfftfreq)):
        found = ours(n, 0.3, dtype=T.float64, requires_grad=True)
        np.testing.assert_allclose(found.detach().numpy(), theirs(n, 0.3), rtol=1e-15)
        assert found.is_leaf and found.requires_grad and ours(n).dtype == T.float32
    x = T.arange(3 * n).reshape(3, n)
    for dim in (None, 1, (0,), (0, 1)):
        shifted = fft.fftshift(x, dim)
        np.testing.assert_array_equal(shifted.numpy(), np.fft.fftshift(x.numpy(), dim))
        assert T.equal(fft.ifftshift(shifted, dim), x)


def test_inside_compile_without_points_and_its_work():
    weights = T.rand(8, dtype=T.float64, requires_grad=True)

    def energy(x):
        return (fft.rfft(x * weights).abs() ** 2).sum()

    x = T.rand(3, 8, dtype=T.float64)
    compiled = T.compile(energy)
    for _ in range(2):
        assert compiled(x).item() == pytest.approx(energy(x).item(), rel=1e-13)
    program, _ = plan.trace(lambda z: [fft.fft(z)], [T.zeros(3, 8, dtype=T.complex128)])
    assert [flops(i) for i in program.instructions] == [5 * 24 * 3]


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda x: fft.fft(x, 0), RuntimeError, r"Invalid number of data points \(0\)"),
        (lambda x: fft.fft(x[:, :0]), RuntimeError, r"Invalid number of data points \(0\)"),
        (lambda x: fft.irfft(x[:, :1]), RuntimeError, r"Invalid number of data points \(0\)"),
        (lambda x: fft.fftn(x, (2, -2)), RuntimeError, r"Invalid number of data points \(-2\)"),
        (lambda x: fft.fft(x, dim=2), IndexError, "out of range"),
        (lambda x: fft.fft(x.sum()), IndexError, "tensor has no dimensions"),
        (lambda x: fft.fft(x, norm="none"), RuntimeError, "Invalid normalization mode: 'none'"),
        (lambda x: fft.rfft(x + 0j), RuntimeError, "rfft expects a real input .* complex64"),
        (lambda x: fft.fftn(x, (2, 2, 2)), RuntimeError, "3 values but .* has 2 dimensions"),
        (lambda x: fft.fftn(x, (2, 2), 0), RuntimeError, "must have the same length, got 1 and 2"),
        (lambda x: fft.fftn(x, dim=(0, -2)), RuntimeError, "FFT dims must be unique"),
        (lambda x: fft.rfftn(x, dim=()), RuntimeError, "must transform at least one axis"),
        (lambda x: fft.fft(x.half()), RuntimeError, "Unsupported dtype float16"),
        (lambda x: fft.fftfreq(3, dtype=T.int64), RuntimeError, "requires a floating point"),
        (lambda x: fft.fft(3.0), TypeError, "'input' .* must be Tensor, not float"),
    ],
)
def test_bad_arguments_are_refused(call, error, words):
    with pytest.raises(error, match=words):
        call(T.ones(2, 3))
