"""Operations that choose, count or decompose, recorded at one point and replayed at another."""

import numpy as np
import pytest

import autograd as T

W = T.tensor(np.random.default_rng(0).normal(size=(3, 3)))
ROW = T.tensor([True, False, True])
FUNCTIONS = {
    "running maximum": lambda x: T.cummax(x, 1).values,
    "running sum of exponentials": lambda x: T.logcumsumexp(x, 1),
    "rank": lambda x: T.kthvalue(x, 2, 1).values,
    "quantile": lambda x: T.nanquantile(x, 0.3, 1),
    "mantissa": lambda x: T.frexp(x).mantissa,
    "larger": lambda x: T.fmax(x, -x) + T.copysign(x, -x),
    "Bessel": lambda x: T.i0(x) + T.special.bessel_j1(x),
    "incomplete Gamma": lambda x: T.special.gammainc(T.tensor(2.5, dtype=T.float64), x * x),
    "polynomial": lambda x: T.special.legendre_polynomial_p(x, 4),
    "correlation": lambda x: T.corrcoef(x[:3]),
    "differences": lambda x: T.gradient(x)[1],
    "slices replaced": lambda x: T.index_copy(x, 1, T.tensor([1]), x[:, :1] * 2),
    "elements replaced": lambda x: T.masked_scatter(x, ROW, x * 2),
    "extremes taken in": lambda x: T.scatter_reduce(x, 1, T.tensor([[0, 0]] * 6), x[:, :2], "amax"),
    "products taken in": lambda x: T.index_reduce(x, 1, T.tensor([0, 0]), x[:, :2], "prod"),
    "windows": lambda x: x.unfold(1, 2, 1),
    "triangular system": lambda x: T.linalg.solve_triangular(W, x.mT, upper=True),
    "LU": lambda x: T.linalg.lu(x[:3]).U,
    "eigenvalues": lambda x: T.linalg.eigvals(x[:3]).abs(),
    "membership": lambda x: x * T.isin(T.floor(x), T.tensor([0.0, -1.0], dtype=T.float64)),
    "in place": lambda x: (x * 1).erf_().tril_(),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_replay_at_another_point_gives_its_value_and_gradient(name):
    rng = np.random.default_rng(1)
    first, other = (T.tensor(rng.normal(size=(6, 3)), requires_grad=True) for _ in range(2))

    def loss(x):
        return (FUNCTIONS[name](x) ** 2).sum()

    recorded = T.compile(loss)
    recorded(first)
    found, expected = recorded(other), loss(other)
    np.testing.assert_allclose(found.item(), expected.item(), rtol=1e-11)
    for ours, theirs in zip(T.grad(found, other), T.grad(expected, other), strict=True):
        np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: T.histc(x, 4), lambda x: T.bincount(x.long().abs()),
        lambda x: T.unique_consecutive(x), lambda x: T.histogram(x, 3).hist,
    ],
)  # fmt: skip
def test_what_depends_on_the_values_is_not_frozen(function):
    with pytest.raises(T.TraceError):
        T.compile(lambda x: function(x).sum())(T.ones(5))
