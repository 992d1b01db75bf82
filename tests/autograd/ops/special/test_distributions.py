"""Functions of probability: scipy's values, tails, derivatives, and what they refuse."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.special
import scipy.stats

import autograd as T
from autograd import special
from autograd.func import grad, jacfwd, vmap
from autograd.jets import partials
from autograd.testing import BINARY_SHAPES, OpCase, check_op


def in_second(function):
    return lambda x: function(0 * x.detach() + 2.5, x)


CASES = [
    OpCase("erfcx", special.erfcx, reference=scipy.special.erfcx),
    OpCase("ndtr", special.ndtr, reference=scipy.special.ndtr, order=3),
    OpCase("log_ndtr", special.log_ndtr, reference=scipy.special.log_ndtr, order=3),
    OpCase("ndtri", special.ndtri, domain=(0.1, 0.9), reference=scipy.special.ndtri),
    OpCase("entr", special.entr, domain=(0.1, 3), reference=scipy.special.entr),
    OpCase("logit", special.logit, domain=(0.1, 0.9), reference=scipy.special.logit),
    OpCase(
        "multigammaln", lambda a: special.multigammaln(a, 3), domain=(1.5, 4),
        reference=lambda a: np.vectorize(scipy.special.multigammaln)(a, 3) if a.size else a,
    ),
    OpCase("spherical_bessel_j0", special.spherical_bessel_j0, reference=lambda x: np.sin(x) / x),
    OpCase(
        "xlog1py", special.xlog1py, BINARY_SHAPES, domain=(0.2, 2), reference=scipy.special.xlog1py
    ),
    *(
        OpCase(
            ours.__name__, lambda a, x, f=ours: f(a.detach(), x), BINARY_SHAPES,
            domain=(0.5, 3), reference=theirs, order=0,
        )
        for ours, theirs in (
            (special.gammainc, scipy.special.gammainc),
            (special.gammaincc, scipy.special.gammaincc),
        )
    ),
    OpCase(
        "zeta", lambda q: special.zeta(3.5, q), domain=(0.5, 3), order=2,
        reference=lambda q: scipy.special.zeta(3.5, q),
    ),
    OpCase("gammainc in x", in_second(special.gammainc), domain=(0.5, 3), order=2),
    OpCase("gammaincc in x", in_second(special.gammaincc), domain=(0.5, 3), order=2),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=str)
def test_every_shape_dtype_layout_and_device(case):
    check_op(case)


def test_far_tails_do_not_underflow():
    x = T.tensor([-40.0, -10.0, 0.0, 9.0], dtype=T.float64, requires_grad=True)
    y = special.log_ndtr(x)
    np.testing.assert_allclose(y.detach(), scipy.special.log_ndtr(x.detach().numpy()), rtol=1e-13)
    (slope,) = T.grad(y.sum(), x)
    # the density over the probability, which is about -x - 1/x far on the left
    assert slope[0].item() == pytest.approx(40 + 1 / 40, rel=1e-4)
    assert slope[3].item() == pytest.approx(math.exp(-40.5) / math.sqrt(2 * math.pi), rel=1e-12)
    found = special.erfcx(T.tensor([50.0], dtype=T.float64)).item()
    assert found == pytest.approx(1 / (50 * math.sqrt(math.pi)), rel=1e-3)


def test_ends_of_the_domains():
    def values(function, *x):
        return function(T.tensor(x, dtype=T.float64)).tolist()

    assert values(special.entr, 0.0, 1.0, -1.0)[:2] == [0.0, 0.0]
    assert values(special.entr, -1.0) == [-math.inf]
    assert math.isnan(values(special.entr, math.nan)[0])
    assert values(special.logit, 0.0, 1.0) == [-math.inf, math.inf]
    assert math.isnan(values(special.logit, 1.5)[0])
    limited = values(lambda x: T.logit(x, 0.25), 0.0, 1.0)
    np.testing.assert_allclose(limited, [-math.log(3), math.log(3)], rtol=1e-14)
    assert values(special.ndtri, 0.0, 0.5, 1.0) == [-math.inf, 0.0, math.inf]
    assert values(lambda y: special.xlog1py(0, y), -1.0, 5.0) == [0.0, 0.0]
    assert math.isnan(values(lambda y: special.xlog1py(0, y), math.nan)[0])


def test_logit_takes_integers_and_bools():
    for dtype in (T.uint8, T.int64, T.bool):
        found = T.logit(T.tensor([0, 1], dtype=dtype))
        assert found.tolist() == [-math.inf, math.inf] and found.dtype == T.get_default_dtype()
    assert math.isnan(T.logit(T.tensor(200, dtype=T.uint8)).item())


def test_logit_is_the_inverse_of_sigmoid_and_stops_at_its_limits():
    x = T.tensor([-3.0, 0.0, 5.0], dtype=T.float64)
    np.testing.assert_allclose(T.logit(T.sigmoid(x)).numpy(), x.numpy(), atol=1e-13)
    p = T.tensor([0.1, 0.5], dtype=T.float64, requires_grad=True)
    T.logit(p, eps=0.2).sum().backward()
    assert p.grad.tolist() == [0.0, 4.0]


@pytest.mark.parametrize("function", [special.gammainc, special.gammaincc, special.zeta])
def test_the_first_argument_has_no_derivative_and_the_second_one_has(function):
    a, x = (T.tensor(v, dtype=T.float64, requires_grad=True) for v in (2.5, 1.5))
    value = function(a, x)
    words = r"first argument is not implemented; detach\(\) it"
    with pytest.raises(NotImplementedError, match=words):
        T.grad(value, a, retain_graph=True)
    (slope,) = T.grad(value, x)
    (constant,) = T.grad(function(a.detach(), x), x)
    assert slope.item() == constant.item() != 0


@pytest.mark.parametrize("eps", [None, 0.1])
def test_logit_has_no_slope_where_it_has_no_value(eps):
    at = [-1.0, 2.0, math.nan, 0.25]
    p = T.tensor(at, dtype=T.float64, requires_grad=True)
    T.logit(p, eps).sum().backward()
    outside = [math.nan, math.nan] if eps is None else [0.0, 0.0]
    np.testing.assert_allclose(p.grad.numpy(), [*outside, math.nan, 16 / 3])


def test_entr_is_steep_at_zero_and_has_no_slope_below():
    p = T.tensor([0.0, -1.0, 0.5, math.inf, math.nan], dtype=T.float64, requires_grad=True)
    value = special.entr(p)
    np.testing.assert_array_equal(value.detach().numpy(), scipy.special.entr(p.detach().numpy()))
    (slope,) = T.grad(value.sum(), p)
    expected = [math.inf, math.nan, math.log(2) - 1, -math.inf, math.nan]
    np.testing.assert_allclose(slope.numpy(), expected)


def test_a_first_argument_that_depends_on_a_coordinate_is_refused():
    with pytest.raises(RuntimeError, match="first argument is not implemented"):
        partials(lambda x: T.igamma(x, T.ones(1, 1)), [T.ones(1, 1)], [(0,)])


def test_names_outside_of_special():
    a = T.tensor([2.5, 3.0])
    assert T.mvlgamma(a, 2).tolist() == special.multigammaln(a, 2).tolist()
    assert a.mvlgamma(2).tolist() == T.mvlgamma(a, 2).tolist()
    assert a.igamma(a).tolist() == special.gammainc(a, a).tolist()
    assert (a.igamma(a) + T.igammac(a, a)).tolist() == [1.0, 1.0]


def test_taylor_mode_equals_nested_grad():
    def function(x, t):
        return special.log_ndtr(x * t) + special.erfcx(x) * special.ndtri(0.3 + 0.2 * t)

    x, t = (
        T.tensor([[a], [b]], dtype=T.float64, requires_grad=True)
        for a, b in ((0.3, 0.9), (1.2, 0.4))
    )
    nested = function(x, t)
    for wanted in (x, x, t):
        (nested,) = T.grad(nested.sum(), wanted, create_graph=True)
    found = partials(function, [x.detach(), t.detach()], [(0, 0, 1)])
    np.testing.assert_allclose(found[0, 0, 1].detach(), nested.detach(), rtol=1e-12)


def test_the_dimension_of_the_gamma_function_is_positive():
    with pytest.raises(RuntimeError, match="p has to be greater than or equal to 1"):
        special.multigammaln(T.ones(2), 0)


def test_no_tangent_in_the_first_argument_is_lost_inside_of_a_map():
    a = T.tensor([0.5, 1.5, 2.5], dtype=T.float64)
    found = vmap(T.igamma, in_dims=(0, None))(a, a[1])
    np.testing.assert_allclose(found.numpy(), scipy.special.gammainc(a.numpy(), 1.5), rtol=1e-14)
    for slope in (grad, jacfwd):
        with pytest.raises(RuntimeError, match="derivative for the first argument"):
            vmap(slope(T.igamma))(a, a)
        density = scipy.stats.gamma.pdf(1.5, a.numpy())
        found = vmap(slope(T.igamma, 1), in_dims=(0, None))(a, a[1])
        np.testing.assert_allclose(found.numpy(), density, rtol=1e-13)
    with pytest.raises(RuntimeError, match="derivative for the first argument"):
        jacfwd(lambda a: vmap(T.igamma)(a, a.detach()))(a)


def test_densities_of_large_parameters_do_not_overflow():
    a, x = T.tensor([200.0, 500.0, 200.0]).double(), T.tensor([200.0, 480.0, 1.0]).double()
    found = vmap(grad(T.igamma, 1))(a, x)
    np.testing.assert_allclose(found, scipy.stats.gamma.pdf(x, a), rtol=1e-12)
    np.testing.assert_allclose(vmap(grad(T.igammac, 1))(a, x), -found.numpy(), rtol=0)


def test_densities_at_0_have_all_their_derivatives():
    a = T.tensor([1.0, 2.0, 3.0, 4.5]).double()
    for order, expected in enumerate([[1, 0, 0, 0], [-1, 1, 0, 0], [1, -2, 1, 0]], 1):
        function = T.igamma
        for _ in range(order):
            function = grad(function, 1)
        found = vmap(function, in_dims=(0, None))(a, T.tensor(0.0).double())
        assert found.tolist() == expected
