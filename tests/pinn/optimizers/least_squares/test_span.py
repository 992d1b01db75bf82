"""Jacobians reduced by few columns, against all of them and against singular values."""

import numpy as np
import pytest

import pinn
from autograd.ranks import ALONE
from pinn.models import RandomFeatures
from pinn.objective import Layout
from pinn.optimizers.least_squares import span
from pinn.optimizers.least_squares.reduced import reduced
from pinn.optimizers.least_squares.span import reduced_by_few

CUTOFF = 1e-12


class Linear:
    """Rows b + A theta of a matrix (outputs, n) and some numbers; asked: chunks so far."""

    on_device, ranks = None, ALONE

    def __init__(self, matrix, outputs, n, others=0):
        self.matrix, self.b = matrix, np.random.default_rng(1).standard_normal(len(matrix))
        self.rows, self.size = matrix.shape
        parts = [("model.weight", (outputs, n), False)]
        self.layout = Layout.of([*parts, ("model.bias", (others,), False)] if others else parts)
        self.asked = 0

    def jacobian_chunks(self, theta, rows=None):
        for start in range(0, self.rows, rows):
            self.asked += 1
            yield self.b[start : start + rows], self.matrix[start : start + rows].copy()


def features(count, n, seed=0):
    """Values of n smooth functions of one variable, and their slopes, at some points."""
    rng = np.random.default_rng(seed)
    slopes, centres = rng.uniform(-3, 3, n), rng.uniform(-1, 1, n)
    values = np.tanh(slopes * (np.linspace(-1, 1, count)[:, None] - centres))
    return values, slopes * (1 - values**2)


def of_two_outputs(count=1500, n=90):
    """Rows of two equations for two unknowns with a bias each: u_t + v and v_t - u."""
    values, slopes = features(count, n)
    first = np.hstack([slopes, values, np.zeros((count, 1)), np.ones((count, 1))])
    second = np.hstack([-values, slopes, -np.ones((count, 1)), np.zeros((count, 1))])
    return Linear(np.vstack([first, second]), 2, n, others=2)


def assert_same(found, expected, function):
    scale = np.abs(expected.gradient).max()
    np.testing.assert_allclose(found.gradient, expected.gradient, rtol=0, atol=1e-11 * scale)
    assert found.largest == pytest.approx(expected.largest, rel=0.05)
    ones = np.ones(function.size)
    for cutoff in (1e-2, 1e-5):
        damping = (cutoff * expected.largest) ** 2
        one, other = found.damped(damping, ones), expected.damped(damping, ones)
        # rounding of the smallest singular values that count, and what is left out
        bound = 1e-13 / cutoff**2 * np.linalg.norm(other.step)
        np.testing.assert_allclose(one.step, other.step, rtol=0, atol=bound)
        assert one.promised == pytest.approx(other.promised, rel=1e-10)


def test_few_directions_give_the_steps_that_all_numbers_give():
    function = of_two_outputs()
    found, by_few = reduced_by_few(function, np.zeros(function.size), CUTOFF)
    assert by_few
    assert_same(found, reduced(function, np.zeros(function.size)), function)


def test_there_are_about_as_many_as_there_are_singular_values_above_rounding():
    function = of_two_outputs()
    found, _ = reduced_by_few(function, np.zeros(function.size), CUTOFF)
    stacked = np.vstack([*features(1500, 90), np.zeros((1, 90))])
    values = np.linalg.svd(stacked, compute_uv=False)
    expected = np.count_nonzero(values > 1e-2 * CUTOFF * values[0])
    inner = (found._span.size - 2) / 2  # without the biases, of each output
    assert expected <= inner <= 1.3 * expected
    assert inner < 45


def test_a_direction_of_one_row_among_thousands_is_kept():
    values, _ = features(3000, 90)
    for place in (0, 1234, 2999):
        matrix = values.copy()
        matrix[place] = np.random.default_rng(3).standard_normal(90)
        function = Linear(matrix, 1, 90)
        found, by_few = reduced_by_few(function, np.zeros(90), CUTOFF)
        assert by_few
        assert_same(found, reduced(function, np.zeros(90)), function)


def test_where_all_directions_count_the_jacobian_is_what_it_was_and_computed_once():
    matrix = np.random.default_rng(0).standard_normal((2500, 70))
    function = Linear(matrix, 1, 70)
    found, by_few = reduced_by_few(function, np.zeros(70), CUTOFF)
    assert not by_few
    plain = reduced(Linear(matrix, 1, 70), np.zeros(70))
    np.testing.assert_array_equal(found.gradient, plain.gradient)
    assert function.asked == 3


@pytest.mark.parametrize(
    ("count", "times"), [(300, 1), (20_000, 2)], ids=["few rows", "many rows"]
)
def test_a_jacobian_is_computed_again_only_where_it_would_take_more_memory(count, times):
    function = Linear(features(count, 90)[0], 1, 90)
    _, by_few = reduced_by_few(function, np.zeros(90), CUTOFF)
    assert by_few
    assert function.asked == times * -(-count // 1024)


def test_what_is_kept_is_there_for_other_rows():
    function, other = of_two_outputs(), of_two_outputs()
    other.b = np.random.default_rng(5).standard_normal(function.rows)
    theta, ones = np.zeros(function.size), np.ones(function.size)
    found = reduced_by_few(function, theta, CUTOFF, keep=True)[0].again(other.b)
    expected = reduced_by_few(other, theta, CUTOFF)[0]
    np.testing.assert_array_equal(found.gradient, expected.gradient)
    one, two = found.damped(1e-3, ones), expected.damped(1e-3, ones)
    np.testing.assert_array_equal(one.step, two.step)
    assert one.promised == two.promised


@pytest.mark.parametrize("n", [20, 31])
def test_small_matrices_are_left_alone(n):
    function = Linear(features(500, n)[0], 1, n)
    found, by_few = reduced_by_few(function, np.zeros(n), CUTOFF)
    assert not by_few
    expected = reduced(function, np.zeros(n))
    np.testing.assert_array_equal(found.gradient, expected.gradient)


def test_fewer_rows_than_numbers_are_reduced_as_they_are():
    function = Linear(features(60, 90)[0], 1, 90)
    function.jacobian = lambda theta: (function.b, function.matrix)
    assert not reduced_by_few(function, np.zeros(90), CUTOFF)[1]


def test_what_a_span_leaves_out_is_seen(monkeypatch):
    function = of_two_outputs()
    real = span._found

    def too_few(*given):
        found = real(*given)
        pieces = [one._replace(directions=one.directions[:, :-20]) for one in found._pieces]
        return span._Span(pieces, function.size)

    monkeypatch.setattr(span, "_found", too_few)
    found, by_few = reduced_by_few(function, np.zeros(function.size), CUTOFF)
    assert not by_few
    plain = reduced(function, np.zeros(function.size))
    np.testing.assert_array_equal(found.gradient, plain.gradient)


def test_scales_of_their_own_are_refused():
    function = of_two_outputs()
    found, _ = reduced_by_few(function, np.zeros(function.size), CUTOFF)
    with pytest.raises(AssertionError, match="a scale of each number does not go with a span"):
        found.damped(1.0, np.linspace(1, 2, function.size))


def test_a_problem_on_a_line_is_solved_as_well_by_few_columns(monkeypatch):
    problem = pinn.Problem(
        domain=pinn.Interval("x", 0, 1),
        unknowns=["u"],
        equations={"oscillator": "u_xx + 100*u - sin(7*x)"},
        conditions=[pinn.Dirichlet("u", 0.0)],
    )
    x = np.linspace(0, 1, 101)
    exact = (np.sin(7 * x) - np.sin(7) / np.sin(10) * np.sin(10 * x)) / (100 - 49)

    def error():
        solution = pinn.solve(
            problem, model=RandomFeatures(200, (1.0, 10.0)),
            sampling=pinn.Sampling(interior=800), error_bars=False,
        )  # fmt: skip
        found = np.ravel(solution.evaluate(x=x)["u"])
        return np.linalg.norm(found - exact) / np.linalg.norm(exact)

    whole = []

    def seen(*given):
        found, by_few = reduced_by_few(*given)
        whole.append(by_few)
        return found, by_few

    monkeypatch.setattr("pinn.optimizers.gauss_newton.reduced_by_few", seen)
    assert error() < 1e-13
    assert whole == [True]  # once, as the problem is linear
