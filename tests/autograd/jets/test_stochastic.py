"""Random estimates of Laplacians: unbiased, with the variance that is stated."""

from __future__ import annotations

import numpy as np
import pytest

import autograd as T
from autograd.jets import laplacian_estimate

D = 6
rng = np.random.default_rng(3)
A = rng.normal(size=(D, D))
H = (A + A.T) / 2  # the Hessian of x^T H x / 2 everywhere
TRACE = np.trace(H)


def quadratic(x):
    return ((x @ T.tensor(H)) * x).sum(1) / 2


def stated_variance(kind, samples):
    if kind == "rademacher":
        return 2 * (np.sum(H**2) - np.sum(np.diag(H) ** 2)) / samples
    if kind == "gaussian":
        return 2 * np.sum(H**2) / samples
    return D**2 * (1 - samples / D) * np.var(np.diag(H), ddof=1) / samples


@pytest.mark.parametrize("samples", [1, 4])
@pytest.mark.parametrize("kind", ["rademacher", "gaussian", "coordinates"])
def test_mean_and_variance_are_as_stated(kind, samples):
    draws = 40_000
    x = T.tensor(rng.normal(size=(draws, D)))
    generator = T.Generator().manual_seed(7)
    found = laplacian_estimate(quadratic, x, generator, samples, kind).numpy()
    variance = stated_variance(kind, samples)
    # six standard deviations of the sample mean, and of the sample variance by its own kurtosis
    assert abs(found.mean() - TRACE) < 6 * np.sqrt(variance / draws)
    spread = np.sqrt(np.var((found - TRACE) ** 2) / draws)
    assert abs(found.var() - variance) < 6 * spread
    # and the bound can tell the kinds apart
    assert spread < 0.05 * variance


def test_all_coordinates_give_the_laplacian_itself():
    # u = sum_i x_i^4 + x_1 x_2: lap u = 12 |x|^2
    x = rng.normal(size=(5, D))
    found = laplacian_estimate(
        lambda x: (x**4).sum(1) + x[:, 1] * x[:, 2], T.tensor(x), None, D, "coordinates"
    )
    np.testing.assert_allclose(found.numpy(), 12 * (x * x).sum(1), rtol=1e-12)


def test_signs_are_exact_on_diagonal_hessians():
    x = rng.normal(size=(5, D))
    found = laplacian_estimate(lambda x: (x**4).sum(1), T.tensor(x), None, 1)
    np.testing.assert_allclose(found.numpy(), 12 * (x * x).sum(1), rtol=1e-12)


def test_a_seed_fixes_the_estimate_and_points_draw_independently():
    x = T.zeros(200, D, dtype=T.float64)
    one, two = (
        laplacian_estimate(quadratic, x, T.Generator().manual_seed(1), 2).numpy() for _ in range(2)
    )
    np.testing.assert_array_equal(one, two)
    assert len(np.unique(one)) > 20


def test_the_estimate_can_be_differentiated():
    scale = T.tensor(2.0, dtype=T.float64, requires_grad=True)
    x = T.tensor(rng.normal(size=(5, D)))
    found = laplacian_estimate(lambda x: scale**3 * (x * x).sum(1), x, None, 3)
    (gradient,) = T.grad(found.sum(), scale)
    assert gradient.item() == pytest.approx(5 * 3 * 2.0**2 * 2 * D)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((T.zeros(3), None, 1), r"expected points of shape \(n, d\), got \[3\]"),
        ((T.zeros(3, 2), None, 0), "samples: expected at least 1, got 0"),
        ((T.zeros(3, 2), None, 3, "coordinates"), "at most the 2 coordinates, got 3"),
        ((T.zeros(3, 2), None, 1, "normal"), "kind: expected rademacher.*got 'normal'"),
    ],
)
def test_what_does_not_fit_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        laplacian_estimate(quadratic, *arguments)
