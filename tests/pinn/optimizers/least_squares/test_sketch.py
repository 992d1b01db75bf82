"""The two sketches against the matrices that they stand for."""

import numpy as np
import pytest

from autograd.devices import Device
from autograd.strict import StrictArray, counted
from autograd.strict.kernels import TURNS
from pinn.optimizers.device_sketch import CosineSketchThere, CountSketchThere
from pinn.optimizers.least_squares.sketch import CosineSketch, CountSketch


def cosine_matrix(size):
    """The orthonormal DCT-II, written out: row k is the k-th cosine."""
    k, n = np.meshgrid(np.arange(size), np.arange(size), indexing="ij")
    matrix = np.sqrt(2 / size) * np.cos(np.pi * (n + 0.5) * k / size)
    matrix[0] /= np.sqrt(2)
    return matrix


def test_each_row_goes_to_some_rows_of_the_sketch_with_signs():
    count = CountSketch(30, 8, 3, np.random.default_rng(0))
    matrix = count.part(0, np.eye(30))
    assert matrix.shape == (count.sketched, 30) == (8, 30)
    # The same draw, one entry after the other; where two sums of a row meet they add up.
    rng, expected = np.random.default_rng(0), np.zeros((8, 30))
    targets, signs = rng.integers(8, size=90), rng.choice([-1.0, 1.0], size=90)
    for entry in range(90):
        expected[targets[entry], entry // 3] += signs[entry] / np.sqrt(3)
    np.testing.assert_allclose(matrix, expected, atol=1e-15)


def test_parts_of_the_rows_add_up_to_the_sketch_of_all():
    rng = np.random.default_rng(1)
    count, rows = CountSketch(100, 20, 4, rng), rng.standard_normal((100, 5))
    whole = count.part(0, rows)
    parts = sum(count.part(start, rows[start : start + 30]) for start in (0, 30, 60, 90))
    np.testing.assert_allclose(parts, whole, atol=1e-14)
    vector = sum(count.part(start, rows[start : start + 30, 0]) for start in (0, 30, 60, 90))
    np.testing.assert_allclose(vector, whole[:, 0], atol=1e-14)


def test_lengths_are_right_on_average():
    vector = np.random.default_rng(2).standard_normal(50)
    draws = 4000
    squares = [
        np.sum(CountSketch(50, 10, 2, np.random.default_rng(100 + n)).part(0, vector) ** 2)
        for n in range(draws)
    ]
    # Five standard errors of the mean, the spread of the draws being its own estimate.
    error = 5 * np.std(squares) / np.sqrt(draws)
    assert abs(np.mean(squares) - vector @ vector) < error < 0.05 * (vector @ vector)


def test_a_sketch_with_room_for_all_rows_is_the_identity():
    count = CountSketch(6, 6, 4, np.random.default_rng(3))
    np.testing.assert_array_equal(count.part(0, np.eye(6)), np.eye(6))


@pytest.mark.parametrize("size, sketched", [(12, 5), (12, 1), (7, 6)])
def test_the_columns_are_drawn_from_a_transform_of_shuffled_signs(size, sketched):
    omega = CosineSketch(size, sketched, np.random.default_rng(4))
    rng = np.random.default_rng(4)
    signs, order = rng.choice([-1.0, 1.0], size=size), rng.permutation(size)
    drawn = np.sort(rng.permutation(size)[:sketched])
    shuffle = np.zeros((size, size))
    shuffle[order, np.arange(size)] = signs[order]
    expected = (shuffle @ cosine_matrix(size).T)[:, drawn]
    np.testing.assert_allclose(omega.columns(np.eye(size)), expected, atol=1e-14)
    np.testing.assert_allclose(expected.T @ expected, np.eye(sketched), atol=1e-14)
    vector = np.random.default_rng(5).standard_normal(sketched)
    np.testing.assert_allclose(omega.back(vector), expected @ vector, atol=1e-14)


def test_with_all_columns_nothing_is_mixed():
    omega, matrix = CosineSketch(4, 9, np.random.default_rng(6)), np.arange(8.0).reshape(2, 4)
    np.testing.assert_array_equal(omega.columns(matrix), matrix)
    np.testing.assert_array_equal(omega.back(matrix[0]), matrix[0])


@pytest.mark.parametrize("turns", TURNS)
@pytest.mark.parametrize("rows, sketched", [(100, 20), (6, 6)])
def test_rows_of_a_device_are_added_up_there_as_on_the_host(stand_in, turns, rows, sketched):
    stand_in.xp.turns = turns
    count = CountSketch(rows, sketched, 4, np.random.default_rng(5))
    there = CountSketchThere(count, Device("cuda", 0))
    for shape in ((rows,), (rows, 1), (rows, 300)):
        given = np.random.default_rng(6).standard_normal(shape)
        with counted() as counts:
            found = there.of(StrictArray(given))
        assert (counts.launches, counts.uploads, counts.downloads) == (1, 0, 0)
        np.testing.assert_allclose(found._host, count.part(0, given), rtol=0, atol=1e-14)


@pytest.mark.parametrize("size, sketched", [(12, 5), (12, 1), (301, 300), (7, 7)])
def test_columns_of_a_device_are_mixed_there_as_on_the_host(stand_in, size, sketched):
    omega = CosineSketch(size, sketched, np.random.default_rng(7))
    with counted() as counts:
        there = CosineSketchThere(omega, Device("cuda", 0))
    assert (counts.uploads, counts.synchronisations) == (int(sketched < size), 0)
    matrix, vector = np.random.default_rng(8).standard_normal((4, size)), np.arange(sketched + 0.0)
    found = there.columns(StrictArray(matrix))._host, there.back(StrictArray(vector))._host
    np.testing.assert_allclose(found[0], omega.columns(matrix), rtol=0, atol=1e-13)
    np.testing.assert_allclose(found[1], omega.back(vector), rtol=0, atol=1e-13 * (1 + sketched))
