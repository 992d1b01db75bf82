"""The Taylor rule of every differentiable operation, against nested reverse mode."""

from __future__ import annotations

import numpy as np
import pytest

import autograd as T
from autograd.jets import Jet, Sum, partials
from autograd.jets.jet import TAYLOR_RULES
from autograd.nn import functional as F
from autograd.ops.pointwise import pointwise
from autograd.ops.registry import REGISTRY, Op
from autograd.ops.special.bspline import bspline

rng = np.random.default_rng(0)
N = 4
POINTS = [rng.uniform(0.5, 1.5, (N, 1)), rng.uniform(0.5, 1.5, (N, 1))]
M = T.tensor(rng.normal(size=(3, 3)) + 4 * np.eye(3))
ROWS = T.tensor(np.array([[2, 0, 1], [0, 1, 2], [1, 2, 0], [2, 1, 0]]))
MASK = T.tensor(np.array([[True, False, True]]))
COMPLEX = T.tensor(np.array([[1 + 2j, 2 - 1j, 0.5j]]))
KEYS = [
    (0,), (1,), (0, 0), (0, 1), (0, 0, 1), (1, 1, 1),
    Sum((((0, 0), 0.5), ((1, 1), -2.0), ((1,), 3.0))),
]  # fmt: skip


class Waves:
    """sin(x) cos(y), with its derivatives."""

    def values(self, xp, xs, orders):
        x, y = (a + k * np.pi / 2 for a, k in zip(xs, orders, strict=True))
        return xp.sin(x) * xp.cos(y)


def three(x, t):
    """Three columns that depend on both coordinates."""
    return T.cat([x * t, t * t + 0.3, x + 0.1 * t * x], dim=1)


def matrices(x, t):
    """A well-conditioned symmetric matrix a point."""
    a = three(x, t).reshape(N, 3, 1) * M
    return a @ a.mT + 3 * T.eye(3, dtype=T.float64) * x.reshape(N, 1, 1)


def signals(x, t):
    """A signal and a kernel a point, each a group of its own."""
    return three(x, t).reshape(1, N, 3), three(t, x)[:, :2].reshape(N, 1, 2)


def last(y):
    """One number a row from anything of N rows."""
    weights = T.linspace(0.5, 1.5, y.numel() // N, dtype=T.float64).reshape(1, -1)
    return (y.reshape(N, -1) * weights).sum(1, keepdim=True)


UNARY = (
    "abs acos acosh asin asinh atan atanh ceil cos cosh erf erfc erfinv exp exp2 expm1 floor log "
    "log10 log1p log2 neg reciprocal round rsqrt sigmoid sign sgn sin sinc sinh sqrt square tan "
    "tanh trunc"
).split()


def at_small(function):
    return lambda x, t: function(0.4 * x * t)


def at_both_signs(function):
    return lambda x, t: function(x * t - 1)


CASES = {
    **{name: at_small(getattr(T, name)) for name in UNARY},
    "acosh": lambda x, t: T.acosh(1.5 + x * t),
    "lgamma": at_small(T.lgamma),
    "digamma": at_small(T.digamma),
    "polygamma": at_small(lambda z: T.polygamma(2, z)),
    **{
        name: at_both_signs(getattr(T.nn.functional, name))
        for name in "elu gelu hardsigmoid hardswish leaky_relu mish relu silu softplus".split()
    },
    "gelu_tanh": lambda x, t: T.nn.functional.gelu(x * t - 1, approximate="tanh"),
    "softmax": lambda x, t: last(T.softmax(three(x, t), dim=1)),
    "log_softmax": lambda x, t: last(T.log_softmax(three(x, t), dim=1)),
    "logsumexp": lambda x, t: T.logsumexp(three(x, t), dim=1, keepdim=True),
    "logaddexp": lambda x, t: T.logaddexp(x * t, t),
    "logaddexp2": lambda x, t: T.logaddexp2(x * t, t),
    "logcumsumexp": lambda x, t: last(T.logcumsumexp(three(x, t), 1)),
    **{
        name: at_small(getattr(T.special, name))
        for name in (
            "bessel_j0 bessel_j1 bessel_y0 entr erfcx i0 i1e log_ndtr modified_bessel_k1 ndtri "
            "scaled_modified_bessel_k0"
        ).split()
    },
    "gammainc": lambda x, t: T.special.gammainc(T.tensor([[2.5]], dtype=T.float64), x * t),
    "gammaincc": lambda x, t: T.special.gammaincc(T.tensor([[2.5]], dtype=T.float64), x * t),
    "zeta": lambda x, t: T.special.zeta(2.5, x + t),
    "legendre": lambda x, t: T.special.legendre_polynomial_p(x * t, 4),
    "bspline": lambda x, t: t * bspline(x * t - 0.7, 7),
    "pointwise": lambda x, t: pointwise(Waves(), x * t, t, orders=(1, 0)),
    "add": lambda x, t: x * t + (2 + t),
    "sub": lambda x, t: (1 - x) - x * t - 2.0,
    "subtract from a constant": lambda x, t: T.tensor(3.0, dtype=T.float64) - x * t,
    "mul": lambda x, t: (x * t) * (x * 3.0),
    "div": lambda x, t: x / (t * t + x),
    "div by a number": lambda x, t: (x * t) / 3.0,
    "a number over": lambda x, t: 2.0 / (x * t),
    "pow": lambda x, t: (x * t) ** 2.5 + (x * t) ** 2 + (x + t) ** 3 + (x * t) ** -1,
    "pow of both": lambda x, t: x**t,
    "pow of a number": lambda x, t: 2.0 ** (x * t),
    "pow zero and one": lambda x, t: (x * t) ** 0 + (x * t) ** 1,
    "maximum": lambda x, t: T.maximum(x * t, x * x * x),
    "minimum": lambda x, t: T.minimum(x * t, T.tensor(1.0, dtype=T.float64)),
    "clamp": lambda x, t: T.clamp(x * t, 0.5, 1.2),
    "hardtanh": lambda x, t: F.hardtanh(x * t, 0.5, 1.2),
    "where": lambda x, t: T.where(x > t, x * t, x * x) + T.where(x > t, 2.0, t * t),
    "nan_to_num": lambda x, t: T.nan_to_num((x * t) ** 3, nan=1.0),
    "atan2": lambda x, t: T.atan2(x * x, t),
    "hypot": lambda x, t: T.hypot(x * x, t),
    "fmod": lambda x, t: T.fmod(3 * x * t, 1.25),
    "remainder": lambda x, t: T.remainder(3 * x * t, 1.25) + (5 * x) // 2 * t,
    "trunc_divide": lambda x, t: T.div(5 * x * t, t, rounding_mode="trunc") * t,
    "matmul": lambda x, t: last(three(x, t) @ M),
    "matmul from the left": lambda x, t: last(M @ three(x, t).reshape(N, 3, 1)),
    "matmul of both": lambda x, t: last(matrices(x, t) @ three(x, t).reshape(N, 3, 1)),
    "linear": lambda x, t: last(T.nn.functional.linear(three(x, t), M, M[0])),
    "einsum": lambda x, t: T.einsum("ni,ij,nj->n", three(x, t), M, three(x, t)).reshape(-1, 1),
    "cross": lambda x, t: last(T.cross(three(x, t), three(t, x), dim=1)),
    "sum": lambda x, t: three(x, t).sum(1, keepdim=True) ** 2,
    "mean": lambda x, t: three(x, t).mean(1, keepdim=True) ** 3,
    "var": lambda x, t: three(x, t).var(1, keepdim=True),
    "std": lambda x, t: three(x, t).std(1, keepdim=True),
    "prod": lambda x, t: three(x, t).prod(1, keepdim=True),
    "amax": lambda x, t: T.amax(three(x, t), 1, keepdim=True) ** 2,
    "amin": lambda x, t: T.amin(three(x, t), 1, keepdim=True) ** 2,
    "max": lambda x, t: T.max(three(x, t), dim=1)[0].reshape(-1, 1) ** 2,
    "sort": lambda x, t: last(T.sort(three(x, t), dim=1)[0] ** 2),
    "vector_norm": lambda x, t: T.linalg.vector_norm(three(x, t), dim=1, keepdim=True),
    "cdist": lambda x, t: last(T.cdist(three(x, t).reshape(N, 1, 3), M)),
    "norm of order 3": lambda x, t: T.linalg.vector_norm(three(x, t), 3, dim=1, keepdim=True),
    "cumsum": lambda x, t: last(T.cumsum(three(x, t), dim=1) ** 2),
    "cumprod": lambda x, t: last(T.cumprod(three(x, t), dim=1)),
    "trapezoid": lambda x, t: T.trapezoid(three(x, t) ** 2, three(t, x)).reshape(-1, 1)
    + last(T.cumulative_trapezoid(three(x, t) ** 2, dx=0.3)),
    "vander": lambda x, t: last(T.vander((x * t).reshape(-1), 4)),
    "reshape": lambda x, t: last(three(x, t).reshape(3, N).T.reshape(N, 3) ** 2) * 0
    + last(three(x, t).reshape(N, 1, 3) ** 2),
    "permute": lambda x, t: last(three(x, t).reshape(N, 1, 3).permute(0, 2, 1) ** 2),
    "expand": lambda x, t: last((x * t).expand(N, 3) * three(x, t)),
    "tile": lambda x, t: last(T.tile(three(x, t), (1, 2)) ** 2),
    "slice": lambda x, t: last(three(x, t)[:, 1:] ** 2),
    "index": lambda x, t: last(three(x, t)[:, [0, 2, 0]] ** 2),
    "split": lambda x, t: last(T.split(three(x, t), [1, 2], dim=1)[1] ** 2),
    "unbind": lambda x, t: (T.unbind(three(x, t), dim=1)[1] ** 2).reshape(-1, 1),
    "stack": lambda x, t: last(T.stack([x * t, T.ones(N, 1, dtype=T.float64), t], dim=2) ** 2),
    "cat with a constant": lambda x, t: last(T.cat([x * t, T.ones(N, 2, dtype=T.float64)], dim=1)),
    "flip": lambda x, t: last(T.flip(three(x, t), [1]) ** 2),
    "roll": lambda x, t: last(T.roll(three(x, t), 1, 1) ** 2),
    "tril": lambda x, t: last(T.tril(matrices(x, t)) ** 2) + last(T.triu(matrices(x, t)) ** 2),
    "diagonal": lambda x, t: last(T.diagonal(matrices(x, t), dim1=1, dim2=2) ** 2),
    "gather": lambda x, t: last(T.gather(three(x, t), 1, ROWS) ** 2),
    "scatter": lambda x, t: last(T.scatter(three(x, t), 1, ROWS[:, :1], x * x) ** 2),
    "scatter_add": lambda x, t: last(
        T.scatter_add(three(x, t), 1, ROWS[:, :2], three(t, x)[:, :2])
    ),
    "index_select": lambda x, t: last(T.index_select(three(x, t), 1, ROWS[0]) ** 2),
    "index_add": lambda x, t: last(T.index_add(three(x, t), 1, ROWS[0], three(t, x)) ** 2),
    "index_put": lambda x, t: last(
        T.index_put(three(x, t), (slice(None), ROWS[0][:1]), x * x)
    ),
    "grid_sample": lambda x, t: F.grid_sample(
        matrices(x, t).reshape(N, 1, 3, 3), T.cat([x * t - 1, t - 0.8], 1).reshape(N, 1, 1, 2)
    ).reshape(N, 1),
    "grid_sample, cubic": lambda x, t: last(
        F.grid_sample(
            matrices(x, t).reshape(N, 1, 3, 3),
            T.cat([x * t - 1, t - 2.8], 1).reshape(N, 1, 1, 2),
            "bicubic",
            "reflection",
        )
    ),
    "grid_sample, mirrored": lambda x, t: last(
        F.grid_sample(
            matrices(x, t).reshape(N, 1, 1, 3, 3),
            T.cat([x * t - 3, t - 0.8, x], 1).reshape(N, 1, 1, 1, 3),
            padding_mode="reflection",
        )
    ),
    "interpolate": lambda x, t: last(
        F.interpolate(matrices(x, t).reshape(N, 1, 3, 3), 5, mode="bicubic")
    )
    + last(F.interpolate(three(x, t).reshape(N, 1, 3) ** 2, 2, mode="area")),
    "masked_fill": lambda x, t: last(T.masked_fill(three(x, t), MASK, 0.5) ** 2),
    "take": lambda x, t: T.take(three(x, t), ROWS[:, :1] + 3 * T.arange(N).reshape(N, 1)) ** 2,
    "clone": lambda x, t: (x * t).clone() ** 2,
    "to": lambda x, t: (x * t).to(T.complex128).real ** 2,
    "to integers": lambda x, t: (5 * x * t).to(T.int64) * 2 * x + (5 * t).long().double() * x * t,
    "abs of complex numbers": lambda x, t: last((three(x, t) * COMPLEX).abs()),
    "sgn of complex numbers": lambda x, t: last(T.sgn(three(x, t) * COMPLEX).imag),
    "rounded": lambda x, t: T.floor(3 * x * t) * x + T.sign(x - t) * t,
    "complex": lambda x, t: T.complex(x * t, t * t).abs(),
    "view_as_real": lambda x, t: last(T.view_as_real(three(x, t) * COMPLEX) ** 2),
    "view_as_complex": lambda x, t: T.view_as_complex(
        T.cat([x * t, t * t], dim=1)
    ).abs().reshape(N, 1),
    "median": lambda x, t: (x * t) ** 2 + T.median(three(x, t)) * 0,
    "median of a row": lambda x, t: T.median(three(x, t), 1, keepdim=True)[0] ** 2,
    "nanmedian": lambda x, t: (x * t) ** 2 + T.nanmedian(three(x, t)) * 0,
    "kthvalue": lambda x, t: T.kthvalue(three(x, t), 2, 1, True)[0] ** 2,
    "cummax": lambda x, t: last(T.cummax(three(x, t), 1)[0] ** 2),
    "largest taken in": lambda x, t: last(
        T.scatter_reduce(three(x, t), 1, ROWS[:, :2], three(t, x)[:, :2], "amax") ** 2
    ),
    "products taken in": lambda x, t: last(
        T.scatter_reduce(three(x, t), 1, ROWS[:, :2], three(t, x)[:, :2], "prod") ** 2
    ),
    "quantile": lambda x, t: T.quantile(three(x, t), 0.3, 1, keepdim=True) ** 2,
    "conj": lambda x, t: last((three(x, t) * COMPLEX).conj().imag + (three(x, t) * COMPLEX).real),
    "conv": lambda x, t: last(F.conv1d(*signals(x, t), groups=N)[0]),
    "transposed conv": lambda x, t: last(F.conv_transpose1d(*signals(x, t), groups=N)[0]),
    "max_pool": lambda x, t: last(F.max_pool1d(three(x, t), 2, 1, 1) ** 2),
    "avg_pool": lambda x, t: last(F.avg_pool1d(three(x, t), 2, 1, 1) ** 2),
    "fft": lambda x, t: last(T.fft.irfft(T.fft.rfft(three(x, t)) * T.fft.fft(three(t, x))[:, :2])),
    "solve": lambda x, t: last(T.linalg.solve(matrices(x, t), three(x, t).reshape(N, 3, 1))),
    "solve_triangular": lambda x, t: last(
        T.linalg.solve_triangular(matrices(x, t), three(x, t).reshape(N, 3, 1), upper=True)
    ),
    "inv": lambda x, t: last(T.linalg.inv(matrices(x, t))),
    "det": lambda x, t: T.linalg.det(matrices(x, t)).reshape(-1, 1) / 1000,
    "det of 4 by 4": lambda x, t: T.linalg.det(
        T.cat([matrices(x, t), matrices(t, x)], dim=1)[:, :4].tile((1, 1, 2))[:, :, :4]
        + 9 * T.eye(4, dtype=T.float64)
    ).reshape(-1, 1) / 10000,
    "slogdet": lambda x, t: T.linalg.slogdet(matrices(x, t))[1].reshape(-1, 1),
    "cholesky": lambda x, t: last(T.linalg.cholesky(matrices(x, t))),
    "pinv": lambda x, t: last(T.linalg.pinv(matrices(x, t))),
    "eigvalsh": lambda x, t: last(T.linalg.eigvalsh(matrices(x, t))),
    "eigvals": lambda x, t: last((T.linalg.eigvals(matrices(x, t)) ** 3).sum(-1).real) / 1000,
    "lu": lambda x, t: last(T.linalg.lu(matrices(x, t))[2]),
    "svdvals": lambda x, t: last(T.linalg.svdvals(matrices(x, t)[:, :2])),
    "qr": lambda x, t: last(T.linalg.qr(matrices(x, t)).R),
    "matrix_exp": lambda x, t: last(T.matrix_exp(matrices(x, t) * 0.02)),
    "nuclear norm": lambda x, t: last(T.linalg.matrix_norm(matrices(x, t), "nuc")),
    "lstsq": lambda x, t: last(
        T.linalg.lstsq(matrices(x, t)[:, :, :2], three(x, t).reshape(N, 3, 1))[0]
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_derivatives_equal_nested_reverse_mode(name, nested):
    fn = CASES[name]
    expected = nested(fn, POINTS, KEYS)
    found = partials(fn, [T.tensor(p) for p in POINTS], KEYS[:-1], KEYS[-1:])
    for key in KEYS:
        scale = max(1.0, np.abs(expected[key]).max())
        np.testing.assert_allclose(found[key].numpy(), expected[key], rtol=0, atol=1e-10 * scale)


def test_a_matrix_and_a_bias_may_vary_too(nested):
    def fn(x, t):
        row = T.cat([x * t, t * t, x], dim=1)
        return T.nn.functional.linear(row, row * x, x.reshape(-1) * t.reshape(-1)) ** 2

    point = [p[:1] for p in POINTS]
    expected = nested(fn, point, KEYS)
    found = partials(fn, [T.tensor(p) for p in point], KEYS[:-1], KEYS[-1:])
    for key in KEYS:
        np.testing.assert_allclose(found[key].numpy(), expected[key], rtol=1e-12)


def test_a_bias_may_vary_alone(nested):
    def fn(x, t):
        rows = T.addmm(T.cat([x * t, t * t], dim=1), M[:1].expand(len(x), 3), M[:, :2])
        return (rows**2).sum(1, True)

    expected = nested(fn, POINTS, KEYS)
    found = partials(fn, [T.tensor(p) for p in POINTS], KEYS[:-1], KEYS[-1:])
    for key in KEYS:
        np.testing.assert_allclose(found[key].numpy(), expected[key], rtol=1e-12, atol=1e-12)


def without_a_rule(operations):
    """The operations that a sweep refuses, or pushes through at 2^order where n would do.

    The general rule is for what mixes elements or has several inputs with derivatives.
    """
    missing = []
    for op in operations:
        ruled = [rule for rule in op.rules if rule is not None]
        own = callable(op.taylor) or op.taylor in TAYLOR_RULES
        cheap = op.elementwise and len(ruled) == 1 and op.joint is None
        if op.differentiable and (not own or (cheap and op.taylor == "nested")):
            missing.append(op.name)
    return missing


def test_every_differentiable_operation_has_a_rule():
    assert without_a_rule(REGISTRY.values()) == []


@pytest.mark.parametrize("facts", [{}, {"taylor": "nested"}, {"taylor": "no such rule"}])
def test_a_smooth_function_without_its_rule_is_found(facts):
    op = Op(
        "sine_of_the_tests", lambda xp, x: xp.sin(x), {"x": lambda g, x: g * T.cos(x)},
        elementwise=True, **facts,
    )  # fmt: skip
    try:
        assert without_a_rule(REGISTRY.values()) == ["sine_of_the_tests"]
    finally:
        del REGISTRY[op.name]


# Gradients of other operations, met only in programs of reverse mode; the write into a view of a
# jet is refused, as is the complete QR decomposition; a second device is not here.  Steps of gates
# and what is standardized are made of other operations for jets.
_NOT_WRITTEN_BY_USERS = {
    "angle", "between", "cofactor", "conv_kernel", "diagonal_into", "drawn", "embed",
    "floor_divide", "gated_power", "grid_slopes", "gru_step", "inside", "leak",
    "linalg_qr_complete", "lstm_step", "masked_keep", "projected", "pulled", "quotient",
    "recurrence", "scaled", "shifted", "signed", "slope_of_line", "spread_over_windows",
    "standardized", "sum_to", "to_device", "trunc_divide", "view_write", "weighted_add",
    "weighted_match", "winner",
}  # fmt: skip


def test_the_cases_reach_every_operation_that_users_write(monkeypatch):
    met = set()
    dispatch = Jet.__dispatch__

    def noting(op, args, attributes):
        met.add(op.name)
        return dispatch(op, args, attributes)

    monkeypatch.setattr(Jet, "__dispatch__", staticmethod(noting))
    for fn in CASES.values():
        partials(fn, [T.tensor(p) for p in POINTS], [(0,)])
    differentiable = {
        name for name, op in REGISTRY.items()
        if op.differentiable and not name.endswith(("_slope", "_derivative"))
    }  # fmt: skip
    assert sorted(differentiable - met - _NOT_WRITTEN_BY_USERS) == []


def test_a_function_that_ignores_a_coordinate_has_zero_derivatives():
    found = partials(lambda x, t: t * t, [T.tensor(p) for p in POINTS], [(0,), (0, 1), (1, 1)])
    assert not found[(0,)].numpy().any() and not found[(0, 1)].numpy().any()
    np.testing.assert_allclose(found[(1, 1)].numpy(), 2.0)


def test_a_vanishing_derivative_is_zero_even_where_the_value_is_not_finite():
    x = T.tensor(np.array([[0.0], [1.0]]))
    found = partials(lambda x: x * T.inf, [x], [(0, 0)])
    np.testing.assert_array_equal(found[(0, 0)].numpy(), 0)


def test_comparisons_of_jets_are_plain_tensors():
    def fn(x, t):
        chosen = x > t
        assert not isinstance(chosen, Jet) and chosen.dtype == T.bool
        return T.where(chosen, x, t)

    partials(fn, [T.tensor(p) for p in POINTS], [(0,)])


def test_derivatives_do_not_depend_on_the_grad_mode():
    def found(x):
        return partials(lambda x: T.tanh(x) * T.sin(x) / x, [x], [(0,), (0, 0)])

    plain = found(T.tensor(POINTS[0]))
    with T.no_grad():
        for x in (T.tensor(POINTS[0]), T.tensor(POINTS[0], requires_grad=True)):
            for key, one in found(x).items():
                np.testing.assert_allclose(one.numpy(), plain[key].numpy(), rtol=1e-14)
                assert not one.requires_grad
