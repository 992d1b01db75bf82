"""The reduced Jacobian against least squares on stacked matrices: tall, square and wide."""

from types import SimpleNamespace

import numpy as np
import pytest

from autograd.ranks import ALONE
from pinn.optimizers.least_squares.reduced import (
    reduced,
    reduced_bytes,
    triangle_bytes,
    triangle_of,
)

SHAPES = [(2600, 40), (4200, 9), (70, 33), (33, 33), (20, 41), (1, 1), (3, 1), (1, 4)]


class Linear:
    """Rows b + A theta, whose Jacobian comes in pieces of the lengths given, around."""

    on_device, ranks = None, ALONE

    def __init__(self, matrix, b, lengths=(7, 400, 1, 1000)):
        self.matrix, self.b, self.lengths = matrix, b, lengths
        self.rows, self.size = matrix.shape

    def jacobian(self, theta):
        return self.b, self.matrix

    def jacobian_chunks(self, theta, rows=None):
        start = 0
        while start < self.rows:
            for length in self.lengths:
                part = slice(start, start + length)
                if start < self.rows:
                    yield self.b[part], self.matrix[part]
                start += length


class Copied(Linear):
    """The same, whose Jacobian is computed anew each time, and in the pieces asked for."""

    def jacobian(self, theta):
        return self.b, self.matrix.copy()

    def jacobian_chunks(self, theta, rows):
        for start in range(0, self.rows, rows):
            part = slice(start, start + rows)
            jacobian = self.matrix[part].copy()
            yield self.b[part], jacobian


@pytest.mark.parametrize("keep", [True, False])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_damped_steps_are_those_of_the_stacked_matrix(shape, keep):
    rng = np.random.default_rng(0)
    matrix, r = rng.standard_normal(shape), rng.standard_normal(shape[0])
    before = matrix.copy()
    found = triangle_of(r, matrix) if keep else reduced(Linear(matrix, r), np.zeros(shape[1]))
    scale = np.abs(matrix.T @ r).max()
    np.testing.assert_allclose(found.gradient, 2 * matrix.T @ r, rtol=0, atol=1e-12 * scale)
    values = np.linalg.svd(matrix, compute_uv=False)
    assert 0.8 * values[0] <= found.largest <= values[0] * (1 + 1e-12)
    # Another order of dampings and scales than one after the other: none spoils the next.
    for damping, d in ((0.3, 1.0), (1e-3, rng.uniform(0.5, 2, shape[1])), (1e4, 2.0), (0.3, 1.0)):
        d = np.broadcast_to(d, shape[1:]).copy()
        below = np.sqrt(damping) * np.diag(d)
        damped = found.damped(damping, d)
        for b in (r, rng.standard_normal(shape[0])) if keep or shape[0] < shape[1] else (r,):
            right = -np.concatenate([b, np.zeros(shape[1])])
            expected = np.linalg.lstsq(np.vstack([matrix, below]), right)[0]
            # rounding, by the condition of the stacked matrix
            bound = 1e-13 * np.linalg.cond(np.vstack([matrix, below])) ** 2
            step = damped.step if b is r else damped.minimiser(b)
            assert np.linalg.norm(step - expected) <= bound * np.linalg.norm(expected)
            if b is not r:
                again = found.again(b)
                np.testing.assert_array_equal(again.damped(damping, d).step, step)
                right = 2 * matrix.T @ b
                np.testing.assert_allclose(again.gradient, right, rtol=0, atol=1e-12 * scale)
        fall = r @ r - np.sum((matrix @ damped.step + r) ** 2)
        assert damped.promised == pytest.approx(fall, rel=1e-9, abs=1e-12 * (r @ r))
    np.testing.assert_array_equal(matrix, before)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_a_damping_of_next_to_nothing_gives_the_step_of_least_norm(shape):
    rng = np.random.default_rng(1)
    matrix, r = rng.standard_normal(shape), rng.standard_normal(shape[0])
    step = reduced(Linear(matrix, r), np.zeros(shape[1])).damped(1e-18, np.ones(shape[1])).step
    expected = -np.linalg.lstsq(matrix, r, rcond=1e-12)[0]
    bound = 1e-12 * max(1, np.linalg.norm(expected)) * np.linalg.cond(matrix)
    np.testing.assert_allclose(step, expected, rtol=0, atol=bound)


def test_columns_whose_squares_are_lost_in_rounding_are_told_apart():
    """Lauchli's matrix: J'J is singular in float64, the triangle is not."""
    e = 1e-9
    matrix = np.array([[1.0, 1, 1], [e, 0, 0], [0, e, 0], [0, 0, e]])
    truth = np.array([1.0, -2.0, 3.0])
    assert np.linalg.matrix_rank(matrix.T @ matrix) == 1
    found = reduced(Linear(matrix, -matrix @ truth), np.zeros(3))
    # A damping of its least singular value's millionth, squared, moves it by less than rounding.
    step = found.damped((1e-6 * e) ** 2, np.ones(3)).step
    bound = 10 * np.finfo(float).eps * np.linalg.cond(matrix)
    np.testing.assert_allclose(step, truth, rtol=0, atol=bound * np.linalg.norm(truth))


def test_a_polynomial_of_high_degree_is_fitted_where_normal_equations_have_no_digit():
    x = np.linspace(0, 1, 3000)
    matrix = np.vander(x, 13, increasing=True)
    truth = np.cos(np.arange(13.0))
    condition = np.linalg.cond(matrix)
    assert 1e8 < condition < 1e10
    r = -matrix @ truth
    step = reduced(Linear(matrix, r), np.zeros(13)).damped(1e-30, np.ones(13)).step
    error = np.linalg.norm(step - truth) / np.linalg.norm(truth)
    assert error < 10 * np.finfo(float).eps * condition
    normal = np.linalg.solve(matrix.T @ matrix, -matrix.T @ r)
    assert np.linalg.norm(normal - truth) > 100 * error * np.linalg.norm(truth)


# One block of rows, two, six, as many as numbers, and fewer.
MEASURED = [(1000, 450), (2600, 450), (9000, 450), (500, 500), (300, 600), (100, 3000)]


@pytest.mark.parametrize("shape", MEASURED, ids=str)
@pytest.mark.parametrize("given", ["at hand", "by chunks", "by chunks, kept"])
def test_memory_is_counted_as_it_is_taken(most_bytes, shape, given):
    rng = np.random.default_rng(0)
    matrix, r, d = rng.standard_normal(shape), rng.standard_normal(shape[0]), np.ones(shape[1])
    function, at_hand, keep = Copied(matrix, r), given == "at hand", given.endswith("kept")
    theta = np.zeros(shape[1])

    def work():
        found = triangle_of(r, matrix) if at_hand else reduced(function, theta, keep)
        for damping in (1e-6, 1e-3, 1.0):
            assert len(found.damped(damping, d).step) == shape[1]
        if at_hand or keep:
            found.damped(1.0, d).minimiser(r)

    work()  # what is imported
    said = triangle_bytes(*shape) if at_hand else reduced_bytes(function, keep)
    # a chunk is counted as if it were 1024 rows, which for numbers as few as these is much
    assert 0.97 * most_bytes(work) < said < (1.05 if at_hand else 1.25) * most_bytes(work)


def test_memory_of_ranks_is_that_of_their_blocks():
    def counted(ranks):
        known = {"rows": 9000, "size": 900, "on_device": None}
        return reduced_bytes(SimpleNamespace(**known, ranks=SimpleNamespace(size=ranks)))

    # six blocks of 1500 rows: alone one at a time, of two ranks three at once, of three two
    one, two, three = map(counted, (1, 2, 3))
    assert (two - one, three - one) == (2 * 8 * 1500 * 900, 1 * 8 * 1500 * 900)
