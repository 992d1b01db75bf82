"""Fractional derivatives: applied to functions whose result is known in closed form."""

from __future__ import annotations

import math

import numpy as np
import pytest

import autograd as T
import pinn
from pinn.equations.chords import _TERMS, _table, coefficients, lines
from pinn.equations.fractional import sphere
from pinn.equations.functions import TENSOR_FUNCTIONS
from pinn.equations.jets import JetPlan, JetValues
from pinn.equations.nested import NestedPlan, NestedValues
from pinn.equations.term import Term
from pinn.equations.values import coordinate_columns
from pinn.expressions import ExpressionError
from pinn.training.experiment import Experiment

LINE = pinn.Interval("x", -1, 1)
DISK = pinn.Disk()
BALL = pinn.Ball((0.0, 0.0, 0.0), 1.0)
G = math.gamma


def exact(alpha, radii, d):
    """(-laplacian)^(alpha/2) of (1 - r^2)^(1 + alpha/2) on the unit ball (Dyda 2012, table 1)."""
    factor = 2**alpha * G(2 + alpha / 2) * G((d + alpha) / 2) / G(d / 2)
    return factor * (1 - (1 + alpha / d) * radii**2)


class Bump(T.nn.Module):
    """(1 - r^2)^p inside, times the first coordinate to a power; nan outside."""

    def __init__(self, p, power=0, space=None):
        super().__init__()
        self.p, self.power, self.space = p, power, space

    def forward(self, points):
        places = points if self.space is None else points[:, : self.space]
        value = (1 - (places * places).sum(dim=1, keepdim=True)) ** self.p
        return value * points[:, :1] ** self.power if self.power else value


def problem(domain, equation="u", **more):
    return pinn.Problem(domain, ["u"], {"e": equation}, **more)


def applied(text, domain, module, points, kind=NestedValues, alpha=None, **more):
    scope = problem(domain, **more).scope
    term = Term("term", text, scope)
    plan = (NestedPlan if kind is NestedValues else JetPlan)(term.leaves or (), scope)
    columns = coordinate_columns(points, T.float64, "cpu")
    coefficients = {} if alpha is None else {"alpha": alpha}
    values = kind(module, scope, columns, coefficients, plan)
    return term.evaluate(values, TENSOR_FUNCTIONS)


def in_ball(n, d, radius=0.9):
    points = np.random.default_rng(d).uniform(-1, 1, (50 * n, d))
    return points[np.linalg.norm(points, axis=1) < radius][:n]


def errors(domain, d, alpha, steps, **counts):
    points = in_ball(8, d)
    wanted = exact(alpha, np.linalg.norm(points, axis=1), d)
    found = []
    for count in steps:
        named = ", ".join(f"{name}={n}" for name, n in {"steps": count, **counts}.items())
        text = f"fractional_laplacian(u, {alpha}, {named})"
        with T.no_grad():
            got = applied(text, domain, Bump(1 + alpha / 2), points).numpy()
        found.append(np.sqrt(np.mean((got - wanted) ** 2) / np.mean(wanted**2)))
    return found


@pytest.mark.parametrize("alpha", [0.5, 1.0, 1.5, 1.8])
def test_on_an_interval_it_converges_with_the_square_of_the_step(alpha):
    coarse, fine = errors(LINE, 1, alpha, (200, 800))
    assert math.log(coarse / fine, 4) > 1.8
    assert fine < 1e-4


@pytest.mark.parametrize("alpha", [1.0, 1.8])
def test_on_a_disk_it_converges_with_the_square_of_the_step(alpha):
    coarse, fine = errors(DISK, 2, alpha, (50, 200), directions=24)
    assert math.log(coarse / fine, 4) > 1.7
    assert fine < 1e-3


def test_on_a_ball_it_converges_with_the_square_of_the_step():
    coarse, fine = errors(BALL, 3, 1.8, (25, 100), directions=10)
    assert math.log(coarse / fine, 4) > 1.7
    assert fine < 3e-3


def test_the_defaults_are_accurate_to_a_thousandth():
    for domain, d in ((LINE, 1), (DISK, 2), (BALL, 3)):
        points = in_ball(6, d, 0.8)
        wanted = exact(1.8, np.linalg.norm(points, axis=1), d)
        with T.no_grad():
            got = applied("fractional_laplacian(u, 1.8)", domain, Bump(1.9), points).numpy()
        assert np.sqrt(np.mean((got - wanted) ** 2) / np.mean(wanted**2)) < 5e-3


def test_the_order_two_is_the_laplacian():
    points = in_ball(10, 1, 0.9)
    got = applied("fractional_laplacian(u, 2, steps=400)", LINE, Bump(4), points).detach().numpy()
    x = points[:, 0]
    expected = 8 * (1 - x**2) ** 3 - 48 * x**2 * (1 - x**2) ** 2
    np.testing.assert_allclose(got, expected, atol=2e-3)
    one = applied("fractional_laplacian(u, 2, steps=100)", LINE, Bump(4), points).detach().numpy()
    two = applied("fractional_laplacian(u, 2, steps=200)", LINE, Bump(4), points).detach().numpy()
    ratio = np.abs(one - expected).max() / np.abs(two - expected).max()
    assert 3.5 < ratio < 4.5


class Cubic(T.nn.Module):
    """x^3 (1 - x)^3: the left derivative of x^k is G(k + 1) / G(k + 1 - alpha) x^(k - alpha)."""

    def forward(self, x):
        return (x * (1 - x)) ** 3

    @staticmethod
    def both(x, alpha):
        """The sum of its left and its right derivative."""
        return sum(
            c * G(k + 1) / G(k + 1 - alpha) * (x ** (k - alpha) + (1 - x) ** (k - alpha))
            for c, k in zip((1, -3, 3, -1), (3, 4, 5, 6), strict=True)
        )


def test_both_riemann_liouville_derivatives_of_a_polynomial():
    line, alpha = pinn.Interval("x", 0, 1), 1.5
    x = np.linspace(0.1, 0.9, 9)
    wanted = Cubic.both(x, alpha)

    def error(steps):
        text = f"riemann_liouville(u, x, {alpha}, steps={steps})"
        return np.abs(applied(text, line, Cubic(), x[:, None]).detach().numpy() - wanted).max()

    assert 1.8 < math.log(error(100) / error(400), 4) < 2.2
    assert error(400) < 1e-4


def test_half_of_them_over_the_cosine_is_the_fractional_laplacian():
    """Of x (1 - x^2)^(alpha/2) it is G(alpha + 2) x; next to the ends it is not smooth."""
    points, alpha = in_ball(8, 1, 0.8), 1.8
    text = f"riemann_liouville(u, x, {alpha}, steps=800)/(2*cos(pi*{alpha}/2))"
    with T.no_grad():
        got = applied(text, LINE, Bump(alpha / 2, power=1), points).numpy()
    np.testing.assert_allclose(got, G(alpha + 2) * points[:, 0], atol=5e-3)
    same = f"fractional_laplacian(u, {alpha}, steps=800)"
    with T.no_grad():
        also = applied(same, LINE, Bump(alpha / 2, power=1), points).numpy()
    np.testing.assert_allclose(got, also, rtol=1e-10)


def test_time_stays_and_other_expressions_are_taken():
    domain = LINE * pinn.Time("t", 0, 1)
    points = np.column_stack([in_ball(5, 1)[:, 0], np.linspace(0, 1, 5)])
    wanted = exact(1.5, points[:, 0], 1)
    text = "fractional_laplacian(2*u*exp(-t), 1.5, steps=400)*exp(t)"
    got = applied(text, domain, Bump(1.75, space=1), points).detach()
    np.testing.assert_allclose(got, 2 * wanted, atol=2e-3)


@pytest.mark.parametrize("kind", [NestedValues, JetValues])
def test_the_gradient_in_a_trainable_order_is_a_difference(kind):
    points = in_ball(6, 1)
    named = dict(parameters=[pinn.Parameter("alpha", 1.5, lower=1, upper=2)])

    def value(alpha, source="fractional_laplacian(u, alpha, steps=20)"):
        return applied(source, LINE, Bump(2), points, kind, alpha, **named).sum()

    alpha = T.tensor(1.5, dtype=T.float64, requires_grad=True)
    value(alpha).backward()
    h = 1e-5
    high, low = (value(T.tensor(1.5 + s, dtype=T.float64)).item() for s in (h, -h))
    np.testing.assert_allclose(alpha.grad.item(), (high - low) / (2 * h), rtol=1e-7)
    fixed = applied("fractional_laplacian(u, 1.5, steps=20)", LINE, Bump(2), points, kind).sum()
    np.testing.assert_allclose(value(alpha).item(), fixed.item(), rtol=1e-12)
    twice = value(alpha, "fractional_laplacian(u, alpha, steps=20)*alpha")
    np.testing.assert_allclose(twice.item(), 1.5 * fixed.item(), rtol=1e-12)


def test_its_slope_in_space_is_that_of_the_sum():
    points = in_ball(6, 1, 0.5)
    text = "fractional_laplacian(u, 1.5, steps=30)"
    got = applied(f"diff({text}, x)", LINE, Bump(3), points).detach().numpy()
    h = 1e-5
    high, low = (applied(text, LINE, Bump(3), points + s).detach().numpy() for s in (h, -h))
    np.testing.assert_allclose(got, (high - low) / (2 * h), rtol=1e-6)


def test_the_directions_integrate_polynomials_over_the_sphere():
    for d, area in ((1, 2), (2, 2 * math.pi), (3, 4 * math.pi)):
        theta, weights = sphere(d, 4)
        np.testing.assert_allclose(np.linalg.norm(theta, axis=1), 1, rtol=1e-15)
        np.testing.assert_allclose(weights.sum(), area, rtol=1e-14)
        # the mean of x^4 is 3 / (d (d + 2)), that of x^2 is 1 / d
        np.testing.assert_allclose(weights @ theta[:, 0] ** 2, area / d, rtol=1e-13)
        fourth = 3 * area / (d * (d + 2))
        np.testing.assert_allclose(weights @ theta[:, -1] ** 4, fourth, rtol=1e-13)


# What the weights are to a trainable order is shared by all rows of the Jacobian.
@pytest.mark.filterwarnings("ignore:rows of the Jacobian")
def test_functions_mean_the_same_and_engines_agree():
    named = dict(parameters=[pinn.Parameter("alpha", 1.5, lower=1, upper=2)])
    text = (
        "fractional_laplacian(u, alpha, steps=12, directions=3)"
        " - riemann_liouville(u, x, 1.3, steps=100)"
    )
    equations = [
        text,
        lambda s: s.fractional_laplacian("u", s.alpha, steps=12, directions=3)
        - s.riemann_liouville(s.u, "x", 1.3, steps=100),
    ]
    found = []
    for equation in equations:
        for settings in ({"engine": "eager", "derivatives": "nested"}, {"engine": "recorded"}):
            case = Experiment(
                problem(DISK, equation, **named), model=pinn.MLP(width=5, depth=1),
                sampling=pinn.Sampling(interior=12), **settings,
            ).objective()  # fmt: skip
            loss, gradient, _ = case.value_and_gradient(case.theta)
            found.append((loss, gradient, *case.jacobian(case.theta)))
    for other in found[1:]:
        for one, two in zip(found[0], other, strict=True):
            np.testing.assert_allclose(one, two, rtol=1e-9, atol=1e-10 * np.abs(one).max())
    assert case.groups[0].spread == 2 * 100


@pytest.mark.parametrize(
    ("text", "domain", "message"),
    [
        ("fractional_laplacian(u, 2.5)", LINE, "above 0 and at most 2, got 2.5"),
        ("fractional_laplacian(u, a)", LINE, "above 0 and at most 2, got 3"),
        ("fractional_laplacian(u, 0)", LINE, "above 0 and at most 2, got 0"),
        ("fractional_laplacian(u, 1, step=3)", LINE, "takes no 'step'; did you mean 'steps'"),
        ("fractional_laplacian(u, 1, steps=0)", LINE, "number of steps is a whole number from 1"),
        ("fractional_laplacian(u, 1)", pinn.Time("t", 0, 1), "needs a space coordinate"),
        ("riemann_liouville(u, 1, 1.5)", LINE, "one of the space coordinates x, got 1"),
        ("riemann_liouville(u, x)", LINE, "takes 3 arguments, got 2"),
        ("diff(fractional_laplacian(u, 1 + x**2/2), x)", LINE, "varies in space"),
    ],
)
def test_a_meaningless_order_is_refused(text, domain, message):
    scope = problem(domain, constants={"a": 3}).scope
    with pytest.raises(ExpressionError, match=message):
        scope.resolve(text)


# ---- along chords

DOMAINS = [(LINE, 1), (DISK, 2), (BALL, 3)]


@pytest.mark.parametrize("alpha", [0.3, 1.0, 1.8, 2.0])
@pytest.mark.parametrize(("domain", "d"), DOMAINS)
def test_of_a_bump_it_is_exact_up_to_the_boundary(domain, d, alpha):
    points = in_ball(8, d)
    points[0] *= (1 - 1e-6) / np.linalg.norm(points[0])
    wanted = exact(alpha, np.linalg.norm(points, axis=1), d)
    text = f"fractional_laplacian(u, {alpha}, nodes=6, directions=3)"
    with T.no_grad():
        found = applied(text, domain, Bump(1 + alpha / 2), points).numpy()
    np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-9 * np.abs(wanted).max())


def test_of_what_leaves_the_ends_as_the_theory_says_it_is_exact():
    """Of x (1 - x^2)^(alpha/2) it is G(alpha + 2) x."""
    x = np.array([-0.999, -0.3, 0.2, 0.9])[:, None]
    for alpha in (0.5, 1.8):
        with T.no_grad():
            text = f"fractional_laplacian(u, {alpha}, nodes=4)"
            found = applied(text, LINE, Bump(alpha / 2, power=1), x).numpy()
        np.testing.assert_allclose(found, G(alpha + 2) * x[:, 0], rtol=1e-12)


def test_it_agrees_with_sums_over_steps_on_a_moved_interval_and_disk():
    class Smooth(T.nn.Module):
        def __init__(self, center, radius):
            super().__init__()
            self.center, self.radius = T.tensor(center, dtype=T.float64), radius

        def forward(self, points):
            z = (points - self.center) / self.radius
            return (1 - (z * z).sum(dim=1, keepdim=True)) ** 4 * T.exp(z[:, :1])

    for domain, center, radius in (
        (pinn.Interval("x", 1, 4), [2.5], 1.5), (pinn.Disk((1.0, -2.0), 0.5), [1.0, -2.0], 0.5),
    ):
        points = np.array(center) + 0.8 * radius * in_ball(5, len(center))
        module = Smooth(center, radius)
        with T.no_grad():
            text = "fractional_laplacian(u, 1.4"
            sums = [applied(f"{text}, steps={n})", domain, module, points).numpy()
                    for n in (200, 400)]
            found = applied(f"{text})", domain, module, points).numpy()
        # of second order: a third of the difference is what is left of the finer ones' error
        better = sums[1] + (sums[1] - sums[0]) / 3
        np.testing.assert_allclose(found, better, rtol=1e-4, atol=1e-4 * np.abs(better).max())


def test_both_riemann_liouville_derivatives_along_a_chord():
    line, alpha = pinn.Interval("x", 0, 1), 1.5
    x = np.linspace(0.01, 0.99, 9)
    wanted = Cubic.both(x, alpha)

    def error(nodes):
        text = f"riemann_liouville(u, x, {alpha}, nodes={nodes})"
        with T.no_grad():
            found = applied(text, line, Cubic(), x[:, None]).numpy()
        return np.abs(found - wanted).max()

    # (1 - y^2)^(3 - alpha/2) is no polynomial: what is left falls as a power of the nodes
    assert error(20) < 1e-4
    assert error(40) < error(20) / 2**4


def test_on_an_interval_the_network_is_asked_at_the_nodes_alone():
    class Counted(Bump):
        def forward(self, points):
            asked.append(len(points))
            return super().forward(points)

    asked: list[int] = []
    text = "fractional_laplacian(u, 1.5, nodes=9)"
    for domain, d, count in ((LINE, 1, 9), (DISK, 2, 6 * 9 * 8)):
        asked.clear()
        applied(text, domain, Counted(2), in_ball(6, d))
        assert asked == [count]


@pytest.mark.parametrize("kind", [NestedValues, JetValues])
def test_a_trainable_order_means_the_same_and_has_a_gradient(kind):
    named = dict(parameters=[pinn.Parameter("alpha", 1.5, lower=1, upper=2)])
    for domain, d in DOMAINS[:2]:
        points = in_ball(6, d)

        def value(alpha, domain=domain, points=points):
            return applied("fractional_laplacian(u, alpha, nodes=7)", domain, Bump(2), points, kind,
                           alpha, **named).sum()

        alpha = T.tensor(1.5, dtype=T.float64, requires_grad=True)
        value(alpha).backward()
        h = 1e-5
        high, low = (value(T.tensor(1.5 + s, dtype=T.float64)).item() for s in (h, -h))
        np.testing.assert_allclose(alpha.grad.item(), (high - low) / (2 * h), rtol=1e-7)
        fixed = applied("fractional_laplacian(u, 1.5, nodes=7)", domain, Bump(2), points, kind)
        np.testing.assert_allclose(value(alpha).item(), fixed.sum().item(), rtol=1e-11)


@pytest.mark.parametrize("alpha", [0.02, 0.9, 1.97])
def test_the_sums_over_chebyshev_polynomials_are_the_coefficients(alpha):
    wanted = coefficients(alpha, 20)
    basis = np.cos(np.arange(_TERMS) * np.arccos(alpha - 1))
    found = (basis @ _table(20, 0)).reshape(wanted.shape)
    np.testing.assert_allclose(found, wanted, atol=1e-11 * np.abs(wanted).max())


def test_its_slope_along_chords_is_a_difference():
    for domain, d in DOMAINS[:2]:
        points = in_ball(6, d, 0.5)
        text = "fractional_laplacian(u, 1.5, nodes=8, directions=2)"
        got = applied(f"diff({text}, x)", domain, Bump(3), points).detach().numpy()
        step = np.eye(d)[0] * 1e-5
        high, low = (applied(text, domain, Bump(3), points + s).detach().numpy()
                     for s in (step, -step))
        np.testing.assert_allclose(got, (high - low) / 2e-5, rtol=1e-6, atol=1e-6)


def test_engines_agree_with_a_time_beside_space():
    named = dict(parameters=[pinn.Parameter("alpha", 1.5, lower=1, upper=2)])
    text = "u_t + fractional_laplacian(u, alpha, nodes=5) - riemann_liouville(u, x, 1.3, nodes=4)"
    found = []
    for settings in ({"engine": "eager", "derivatives": "nested"}, {"engine": "recorded"}):
        case = Experiment(
            problem(DISK * pinn.Time("t", 0, 1), text, **named), model=pinn.MLP(width=5, depth=1),
            sampling=pinn.Sampling(interior=12), **settings,
        ).objective()  # fmt: skip
        loss, gradient, _ = case.value_and_gradient(case.theta)
        found.append((loss, gradient, *case.jacobian(case.theta)))
    for one, two in zip(*found, strict=True):
        np.testing.assert_allclose(one, two, rtol=1e-9, atol=1e-10 * np.abs(one).max())


def test_there_is_one_direction_for_each_line():
    for d in (1, 2, 3):
        for count in (1, 2, 3, 4):
            thetas, weights = lines(d, count)
            whole, area = sphere(d, count)
            assert 2 * len(thetas) == len(whole)
            np.testing.assert_allclose(weights.sum(), area.sum(), rtol=1e-14)
            both = np.concatenate([thetas, -thetas])
            gaps = np.abs(both[:, None] - whole).max(axis=2).min(axis=0)
            assert gaps.max() < 1e-12


@pytest.mark.parametrize(
    ("text", "domain", "message"),
    [
        ("fractional_laplacian(u, 1, nodes=5, steps=3)", LINE, "steps= is another way; leave out"),
        ("fractional_laplacian(u, 1, nodes=5)", LINE * pinn.Interval("y", 0, 1), "not; leave out"),
        ("riemann_liouville(u, x, 1.5, nodes=5, steps=3)", LINE, "steps= is another way"),
        ("diff(fractional_laplacian(u, 1 + x**2/2, nodes=3), x)", LINE, "varies in space"),
    ],
)
def test_what_has_no_meaning_is_refused(text, domain, message):
    with pytest.raises(ExpressionError, match=message):
        problem(domain).scope.resolve(text)
