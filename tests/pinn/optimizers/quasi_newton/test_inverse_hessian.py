"""The inverse Hessian's update: against the dense formulas, direct and inverse."""

import math

import numpy as np
import pytest

import pinn
from pinn.optimizers.quasi_newton.inverse_hessian import PLAIN, Change, Mixture, mixture
from pinn.optimizers.quasi_newton.packed_inverse_hessian import PackedInverseHessian

MEMBERS = [pinn.BFGS, pinn.SSBFGS, pinn.SSBroyden]


def unpacked(inverse):
    size = inverse.size
    full = np.zeros((size, size))
    columns = [np.arange(j, size) for j in range(size)]
    start = 0
    for j, rows in enumerate(columns):
        full[rows, j] = full[j, rows] = inverse.packed[start : start + len(rows)]
        start += len(rows)
    return inverse.scale * full


def pack(matrix):
    return np.concatenate([matrix[j:, j] for j in range(len(matrix))])


def made(matrix, scale=1.0):
    inverse = PackedInverseHessian(len(matrix))
    inverse.set_packed(pack(matrix) / scale, scale)
    return inverse


def spd(rng, size, spread=1.0):
    q, _ = np.linalg.qr(rng.standard_normal((size, size)))
    return (q * np.exp(spread * rng.standard_normal(size))) @ q.T


def pair(rng, size, curvature=None):
    """A random pair with y's > 0, and H, B, s'Bs of a random matrix."""
    H = spd(rng, size)
    s = rng.standard_normal(size)
    y = spd(rng, size) @ s if curvature is None else curvature @ s
    B = np.linalg.inv(H)
    return H, B, s, y, float(s @ B @ s)


def written_out(member, b, h, n):
    """tau, phi and theta as the paper gives them."""
    if member is pinn.BFGS:
        return 1.0, 1.0, 0.0
    if member is pinn.SSBFGS:
        return min(1.0, 1 / b), 1.0, 0.0
    a = b * h - 1
    c = np.sqrt(a / (1 + a))
    rho_minus = min(1.0, h * (1 - c))
    theta_minus = (rho_minus - 1) / a
    theta_plus = 1 / rho_minus
    theta = max(theta_minus, min(theta_plus, (1 - b) / b))
    sigma = 1 + a * theta
    sigma_n = abs(sigma) ** (1 / (1 - n))
    rho_bar = min(1.0, 1 / b)
    if theta <= 0:
        tau = min(rho_bar * sigma_n, sigma)
    else:
        tau = rho_bar * min(sigma_n, 1 / theta)
    return tau, (1 - theta) / sigma, theta


@pytest.mark.parametrize("member", MEMBERS)
@pytest.mark.parametrize("size", [2, 3, 8, 30])
def test_the_update_is_the_formula_written_out(member, size):
    rng = np.random.default_rng(size)
    signs = set()
    for _ in range(40):
        H, B, s, y, sbs = pair(rng, size)
        s, y = s * np.exp(rng.normal()), y * np.exp(rng.normal())
        sbs = float(s @ B @ s)
        inverse = made(H, scale=np.exp(rng.normal()))
        assert inverse.update(s, y, sbs, member.mixture)
        ys, hy = y @ s, H @ y
        q = y @ hy
        tau, phi, theta = written_out(member, sbs / ys, q / ys, size)
        signs.add(np.sign(theta))
        v = s / ys - hy / q
        expected = (H - np.outer(hy, hy) / q + phi * q * np.outer(v, v)) / tau + np.outer(s, s) / ys
        error = np.abs(unpacked(inverse) - expected).max()
        assert error < 1e-11 * np.abs(expected).max()
        # The same in terms of B = inverse(H).
        w = y / ys - B @ s / sbs
        direct = tau * (
            B - np.outer(B @ s, B @ s) / sbs + theta * sbs * np.outer(w, w)
        ) + np.outer(y, y) / ys
        np.testing.assert_allclose(
            direct @ unpacked(inverse), np.eye(size), atol=1e-8 * np.linalg.cond(expected)
        )
    assert signs == ({-1, 1} if member is pinn.SSBroyden else {0})


@pytest.mark.parametrize("member", MEMBERS)
def test_the_new_matrix_meets_the_secant_condition_and_stays_positive_definite(member):
    rng = np.random.default_rng(5)
    inverse = made(spd(rng, 12))
    for _ in range(60):
        H = unpacked(inverse)
        s = rng.standard_normal(12)
        y = spd(rng, 12) @ s
        assert inverse.update(s, y, float(s @ np.linalg.solve(H, s)), member.mixture)
        np.testing.assert_allclose(inverse.times(y), s, rtol=0, atol=1e-9 * np.abs(s).max())
        assert np.linalg.eigvalsh(unpacked(inverse)).min() > 0
        assert inverse.is_positive_definite()


@pytest.mark.parametrize("member", MEMBERS)
def test_a_step_learns_its_pair_and_gives_the_next_direction_from_one_product(member, monkeypatch):
    rng = np.random.default_rng(7)
    stepped, updated = made(spd(rng, 12)), PackedInverseHessian(12)
    updated.set_packed(stepped.packed, stepped.scale)
    quadratic, theta = spd(rng, 12), rng.standard_normal(12)
    direction, products = -stepped.times(quadratic @ theta), []
    plain = PackedInverseHessian.times
    monkeypatch.setattr(
        PackedInverseHessian, "times", lambda self, v: products.append(self) or plain(self, v)
    )
    for _ in range(9):
        s, before = 0.3 * direction, quadratic @ theta
        theta = theta + s
        y, gradient = quadratic @ theta - before, quadratic @ theta
        sbs = -0.3 * float(s @ before)
        products.clear()
        found = stepped.step(s, y, sbs, member.mixture, direction, gradient)
        assert products == [stepped]
        assert updated.update(s, y, sbs, member.mixture)
        H = unpacked(updated)
        np.testing.assert_allclose(unpacked(stepped), H, rtol=0, atol=1e-11 * np.abs(H).max())
        expected = -H @ gradient
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-11 * np.abs(expected).max())
        direction = found


def test_a_step_whose_gradients_hardly_differ_takes_a_product_for_its_change():
    rng = np.random.default_rng(8)
    H, B, s, y, sbs = pair(rng, 9)
    stepped, updated = made(H), made(H)
    before = 1e4 * rng.standard_normal(9)
    rule = pinn.SSBroyden.mixture
    # a direction that is wrong would spoil Hy if it were taken
    assert stepped.step(s, y, sbs, rule, rng.standard_normal(9), before + y) is None
    assert updated.update(s, y, sbs, rule)
    assert np.array_equal(stepped.packed, updated.packed)


def test_a_step_whose_pair_is_skipped_still_gives_the_next_direction():
    rng = np.random.default_rng(9)
    H, B, s, y, sbs = pair(rng, 6)
    inverse, gradient = made(H), rng.standard_normal(6)
    found = inverse.step(s, -y, sbs, pinn.BFGS.mixture, -H @ (gradient + y), gradient)
    assert np.array_equal(unpacked(inverse), unpacked(made(H)))
    np.testing.assert_allclose(found, -H @ gradient, rtol=1e-12)


def test_a_definite_form_is_added_as_well():
    # Here the rank-2 form has no real factors: phi > 1 and a small y'Hy.
    rng = np.random.default_rng(0)
    H, s, hy = spd(rng, 6), rng.standard_normal(6), rng.standard_normal(6)
    inverse = made(H)
    inverse.add(s, hy, Change(2.0, 0.5, 3.0, 0.7))
    expected = (
        H / 0.7 + 2 * np.outer(s, s) + 0.5 * (np.outer(s, hy) + np.outer(hy, s))
        + 3 * np.outer(hy, hy)
    )  # fmt: skip
    np.testing.assert_allclose(unpacked(inverse), expected, rtol=1e-13, atol=1e-14)


def test_the_update_is_in_place():
    rng = np.random.default_rng(1)
    H, B, s, y, sbs = pair(rng, 9)
    for member in MEMBERS:
        inverse = made(H)
        memory = inverse.packed
        inverse.update(s, y, sbs, member.mixture)
        assert inverse.packed is memory


@pytest.mark.parametrize("scale", [1e-60, 1e60])
def test_an_extreme_scale_is_multiplied_in(scale):
    rng = np.random.default_rng(2)
    H, B, s, y, sbs = pair(rng, 5)
    plain, extreme = made(H), made(H)
    extreme.set_packed(extreme.packed / scale, scale)
    for inverse in (plain, extreme):
        inverse.update(s, y, sbs, pinn.SSBroyden.mixture)
    assert extreme.scale == 1.0
    np.testing.assert_allclose(unpacked(extreme), unpacked(plain), rtol=1e-12)


def test_identity_and_products():
    inverse = PackedInverseHessian(4)
    inverse.set_identity(2.5)
    np.testing.assert_array_equal(unpacked(inverse), 2.5 * np.eye(4))
    rng = np.random.default_rng(3)
    H, x = spd(rng, 7), rng.standard_normal(7)
    np.testing.assert_allclose(made(H, 3.0).times(x), H @ x, rtol=1e-12)


def test_positive_definiteness_is_seen():
    rng = np.random.default_rng(4)
    H = spd(rng, 6)
    values, vectors = np.linalg.eigh(H)
    values[0] = -1e-3
    inverse = made((vectors * values) @ vectors.T)
    before = inverse.packed.copy()
    assert not inverse.is_positive_definite()
    np.testing.assert_array_equal(inverse.packed, before)
    assert made(H).is_positive_definite()


@pytest.mark.parametrize("member", MEMBERS)
@pytest.mark.parametrize("y", [(-1.0, -2.0), (0.0, 0.0), (2.0, -1.0), (2.0, -1.0 + 2e-16)])
def test_a_pair_without_positive_curvature_is_skipped(member, y):
    s, y = np.array([1.0, 2.0]), np.array(y)
    inverse = made(np.diag([1.0, 2.0]))
    before = unpacked(inverse)
    assert not inverse.update(s, y, 1.0, member.mixture)
    np.testing.assert_array_equal(unpacked(inverse), before)


def test_a_change_that_would_overflow_is_skipped():
    inverse = made(np.eye(2))
    s = np.array([1e-160, 0.0])
    assert not inverse.update(s, s, 1e-320, pinn.BFGS.mixture)
    np.testing.assert_array_equal(unpacked(inverse), np.eye(2))


@pytest.mark.parametrize("b", [1e-300, 1e-8, 0.3, 1 - 1e-12, 1.0, 1.7, 1e8, 1e300])
@pytest.mark.parametrize("h", [1e-300, 1e-8, 0.3, 1.0, 3.0, 1e8, 1e300])
@pytest.mark.parametrize("size", [1, 2, 1000])
def test_tau_is_always_positive_and_phi_finite(b, h, size):
    for member in MEMBERS:
        tau, phi = mixture(member.mixture, b, h, size)
        assert tau > 0 and math.isfinite(tau) and math.isfinite(phi)


@pytest.mark.parametrize("member", MEMBERS)
@pytest.mark.parametrize("b", [0.0, -1.0, math.nan, math.inf])
def test_outside_of_the_formulas_it_is_bfgs(member, b):
    assert mixture(member.mixture, b, 1.0, 5) == mixture(member.mixture, 1.0, b, 5) == PLAIN


@pytest.mark.parametrize("tau, phi", [(0, 1), (-1, 1), (math.nan, 1), (math.inf, 1), (1, math.nan)])
def test_a_rule_that_says_no_number_is_bfgs(tau, phi):
    assert mixture(lambda b, h, size: Mixture(tau, phi), 1.0, 2.0, 5) == PLAIN


def test_a_triangle_of_another_size_is_refused():
    with pytest.raises(ValueError, match="expected 6 numbers, .* 3 parameters, got shape .10,"):
        PackedInverseHessian(3).set_packed(np.zeros(10), 1.0)
