"""The Cole-Hopf reference, against finer and independent quadrature and against the equation."""

import tracemalloc

import mpmath
import numpy as np
import pytest

import pinn
from pinn.problem import references
from pinn.problem.references import burgers, cole_hopf

NU = 0.01 / np.pi


def by_mpmath(x, t, nu):
    """The Cole-Hopf integrals by the trapezoidal rule with 40 digits.

    The integrands are entire and fall off like a Gaussian: the rule converges faster than any power
    of its step, and no weights of Gauss and Hermite are involved.
    """
    with mpmath.workdps(40):
        pi = mpmath.pi
        x, t, nu = mpmath.mpf(x), mpmath.mpf(t), mpmath.mpf(nu)
        width, height = 2 * mpmath.sqrt(nu * t), 1 / (2 * pi * nu)
        above = below = mpmath.mpf(0)
        for k in range(-1320, 1321):
            zeta = k * mpmath.mpf(1) / 60
            angle = pi * (x - width * zeta)
            weight = mpmath.exp(-height * (mpmath.cos(angle) + 1) - zeta**2)
            above += mpmath.sin(angle) * weight
            below += weight
        return float(-above / below)


def residual(x, t, nu, h, k):
    """u_t + u u_x - nu u_xx and its largest term, by eighth-order central differences."""
    first = np.array([1 / 280, -4 / 105, 1 / 5, -4 / 5, 0, 4 / 5, -1 / 5, 4 / 105, -1 / 280])
    second = np.array(
        [-1 / 560, 8 / 315, -1 / 5, 8 / 5, -205 / 72, 8 / 5, -1 / 5, 8 / 315, -1 / 560]
    )
    shift = np.arange(-4, 5)
    u = cole_hopf(x, t, nu)
    along_x = cole_hopf(x[:, None] + h * shift, t[:, None], nu)
    u_t = cole_hopf(x[:, None], t[:, None] + k * shift, nu) @ first / k
    u_x, u_xx = along_x @ first / h, along_x @ second / h**2
    terms = np.stack([u_t, u * u_x, -nu * u_xx])
    return np.abs(terms.sum(axis=0)), np.abs(terms).max()


def test_agrees_with_300_nodes_to_1e_14():
    x = np.concatenate([np.linspace(-1, 1, 201), np.linspace(-0.02, 0.02, 201)])
    t = np.linspace(0, 1, 41)
    coarse, fine = (cole_hopf(x[:, None], t, NU, nodes=n) for n in (200, 300))
    assert np.abs(coarse - fine).max() <= 1e-14


@pytest.mark.parametrize("nu", [NU, 0.01, 0.1])
@pytest.mark.parametrize("x, t", [(0.003, 1.0), (-0.01, 0.5), (0.4, 0.25), (-0.9, 0.02)])
def test_agrees_with_the_integrals_in_40_digits(x, t, nu):
    assert cole_hopf(x, t, nu) == pytest.approx(by_mpmath(x, t, nu), rel=0, abs=1e-14)


def test_satisfies_the_equation_where_the_solution_is_smooth():
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.uniform(0.25, 1, 100), rng.uniform(-1, -0.25, 100)])
    error, _ = residual(x, rng.uniform(0.1, 1, 200), NU, h=5e-3, k=5e-3)
    assert error.max() <= 1e-9


def test_satisfies_the_equation_inside_the_shock():
    rng = np.random.default_rng(1)
    x, t = rng.uniform(-0.03, 0.03, 200), rng.uniform(0.4, 1, 200)
    error, largest = residual(x, t, NU, h=2e-4, k=1e-3)
    assert largest > 50  # the terms that must cancel
    assert error.max() <= 1e-8 * largest


def test_satisfies_the_equation_at_high_viscosity():
    rng = np.random.default_rng(2)
    error, _ = residual(rng.uniform(-1, 1, 200), rng.uniform(0.1, 1, 200), 0.1, h=5e-3, k=2e-3)
    assert error.max() <= 1e-10


def test_is_exactly_the_initial_condition_at_time_zero_and_tends_to_it():
    x = np.linspace(-1, 1, 101)
    np.testing.assert_array_equal(cole_hopf(x, 0.0, NU), -np.sin(np.pi * x))
    np.testing.assert_allclose(cole_hopf(x, 1e-12, NU), -np.sin(np.pi * x), atol=1e-11)


def test_is_odd_and_vanishes_at_the_ends_and_the_middle():
    x, t = np.linspace(0, 1, 101)[:, None], np.linspace(0, 1, 21)
    np.testing.assert_allclose(cole_hopf(-x, t, NU), -cole_hopf(x, t, NU), rtol=0, atol=2e-15)
    assert np.abs(cole_hopf(np.array([[-1.0], [0.0], [1.0]]), t, NU)).max() <= 1e-15


def test_takes_very_small_viscosity_without_overflow():
    # exp(1 / (2 pi nu)) alone is beyond the largest float64.
    nu = 2e-4
    assert 1 / (2 * np.pi * nu) > 700
    assert cole_hopf(0.2, 0.1, nu) == pytest.approx(by_mpmath(0.2, 0.1, nu), rel=0, abs=1e-13)


def test_broadcasts_and_returns_float64():
    assert cole_hopf(np.zeros((4, 1)), np.ones(3), NU).shape == (4, 3)
    assert cole_hopf(0, 1, NU).shape == ()
    assert cole_hopf(np.float32([0.5]), [1], NU).dtype == np.float64
    assert cole_hopf(np.empty(0), 1.0, NU).shape == (0,)


def test_chunks_change_no_bit_and_bound_memory():
    rng = np.random.default_rng(3)
    x, t = rng.uniform(-1, 1, 60_000), rng.uniform(0, 1, 60_000)
    cole_hopf(x[:1], t[:1], NU)
    tracemalloc.start()
    try:
        u = cole_hopf(x, t, NU)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 12e6  # a points x nodes array would take 96 MB
    pick = rng.permutation(x.size)[:5000]
    np.testing.assert_array_equal(cole_hopf(x[pick], t[pick], NU), u[pick])


@pytest.mark.parametrize("nu, t", [(0.001 / np.pi, 1.0), (NU, 100.0), (2.0, 2.0)])
def test_refuses_where_the_quadrature_has_not_converged(nu, t):
    with pytest.raises(ValueError, match="has not converged"):
        cole_hopf(np.linspace(-1, 1, 5), t, nu)


@pytest.mark.parametrize(
    "arguments, message",
    [
        ((0.0, -0.1, NU), "t must be at least 0"),
        ((np.nan, 0.1, NU), "finite"),
        ((0.0, np.inf, NU), "finite"),
        ((0.0, 0.1, 0.0), "nu must be a positive number"),
        ((0.0, 0.1, NU, 400), "nodes must be 2 to 350"),
    ],
)
def test_refuses_wrong_arguments(arguments, message):
    with pytest.raises(ValueError, match=message):
        cole_hopf(*arguments)


@pytest.mark.parametrize("by_name", [False, True])
def test_a_value_of_another_shape_is_refused_with_the_shape_expected(by_name):
    def five(s):
        return np.zeros(5)

    problem = pinn.Problem(
        pinn.Interval("x", 0, 1), ["u"], {"e": "u_x"}, reference={"u": five} if by_name else five
    )
    message = r"reference of 'u': expected one value a point, of shape \(3,\), .*got shape \(5,\)"
    with pytest.raises(ValueError, match=message):
        problem.exact({"x": np.zeros(3)})


def test_registry_finds_the_reference_and_it_evaluates():
    assert "cole-hopf" in references.names()
    reference = references.get("cole-hopf")
    assert reference is burgers.REFERENCE
    assert reference.unknowns == ("u",)
    assert "-sin(pi x)" in reference.source
    x, t = np.linspace(-1, 1, 5)[:, None], np.linspace(0, 1, 3)
    values = reference.evaluate({"x": x, "t": t}, {"nu": NU})
    np.testing.assert_array_equal(values["u"], cole_hopf(x, t, NU))


def test_registry_names_the_nearest_reference():
    with pytest.raises(ValueError, match="'cole_hop'.*did you mean 'cole-hopf'"):
        references.get("cole_hop")
    with pytest.raises(ValueError, match="expected one of cole-hopf, got 'zzz'$"):
        references.get("zzz")


def test_reference_names_what_is_missing():
    evaluate = references.get("cole-hopf").evaluate
    with pytest.raises(ValueError, match="coordinates 'x', 't'; 't' is missing"):
        evaluate({"x": np.zeros(1)}, {"nu": NU})
    with pytest.raises(ValueError, match="'nu' is missing, the problem has 'D'"):
        evaluate({"x": np.zeros(1), "t": np.zeros(1)}, {"D": 1.0})
