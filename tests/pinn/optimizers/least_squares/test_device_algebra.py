"""Damped steps where the Jacobian stays on a device: those of the host, to rounding."""

import dataclasses
from contextlib import nullcontext
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.linalg import lapack

from autograd.devices import Device, registered
from autograd.strict import StrictArray, counted, strict_cuda
from pinn.optimizers.least_squares import damped as module
from pinn.optimizers.least_squares.algebra import Reduced
from pinn.optimizers.least_squares.damped import DampedLeastSquares
from pinn.optimizers.least_squares.device_algebra import (
    DeviceAlgebra,
    device_bytes,
    reduced_device_bytes,
)
from pinn.optimizers.least_squares.path import path_terms
from pinn.optimizers.least_squares.reduced import triangle_of
from pinn.optimizers.least_squares.workspace import Workspace

SHAPES = [(40, 12), (12, 40), (20, 20), (1, 5), (5, 1), (1, 1)]


@pytest.fixture(autouse=True)
def device():
    with strict_cuda() as backend:
        yield backend


def problem(shape, condition=10.0):
    rng = np.random.default_rng(0)
    least = min(shape)
    left, right = (np.linalg.qr(rng.standard_normal((n, least)))[0] for n in shape)
    matrix = (left * np.geomspace(1, 1 / condition, least)) @ right.T
    return np.ascontiguousarray(matrix), rng.standard_normal(shape[0])


def there(*arrays):
    return [StrictArray(array.copy()) for array in arrays]


def both(matrix, rows):
    """That of the device, and that of the host."""
    return DampedLeastSquares(*there(rows, matrix)), DampedLeastSquares(rows, matrix)


def agree(found, expected, tolerance):
    assert type(found) is np.ndarray
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance * np.abs(expected).max())


def agree_for(found, expected, damping, scale, tolerance):
    """Whether the minimisers for a damping do, and what they promise."""
    one, other = found.damped(damping, scale), expected.damped(damping, scale)
    b = np.cos(expected.rows)
    agree(one.step, other.step, tolerance)
    agree(one.minimiser(b), other.minimiser(b), tolerance)
    assert one.promised == pytest.approx(other.promised, rel=tolerance)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_all_that_is_told_is_told_as_on_the_host(shape):
    found, expected = both(*problem(shape))
    assert found.kernel_form == expected.kernel_form
    for name in ("rows", "gradient", "norms"):
        agree(getattr(found, name), getattr(expected, name), 1e-13)
    v = np.linspace(-1, 1, shape[1])
    agree(*found.along(v), *expected.along(v), 1e-13)
    # one scale spoils nothing of the next, nor one damping
    for scale in (None, np.linspace(0.5, 2, shape[1]), None):
        for damping in (1.0, 1e-3, 1e-6, 1.0):
            agree_for(found, expected, damping, scale, 1e-9)
    moved = found.of_rows(np.sin(expected.rows)).damped(1e-2)
    agree(moved.step, expected.of_rows(np.sin(expected.rows)).damped(1e-2).step, 1e-11)


@pytest.mark.parametrize("shape", [(60, 20), (20, 60)], ids=str)
@pytest.mark.parametrize("scaled", [False, True])
@pytest.mark.parametrize(
    "condition, damping, corrected, triangle",
    [
        (10, 1e-8, False, False), (10, 1e-12, True, False), (10, 1e-14, True, False),
        (1e9, 1e-16, False, True), (1e9, 1e-20, False, True), (10, 1e-30, False, True),
    ],
)  # fmt: skip
def test_dampings_that_a_factor_does_not_resolve_are_corrected_or_go_by_the_triangle(
    monkeypatch, shape, scaled, condition, damping, corrected, triangle
):
    matrix, rows = problem(shape, condition)
    scale = np.linspace(1, 2, shape[1]) if scaled else None
    taken = {"left": 0, "reduced": 0}
    reduced = DeviceAlgebra.reduced
    for form in (module._Normal, module._Kernel):
        left = form._left
        monkeypatch.setattr(
            form, "_left", lambda *a, left=left: (_add(taken, "left"), left(*a))[1]
        )
    monkeypatch.setattr(
        DeviceAlgebra, "reduced", lambda *a: (_add(taken, "reduced"), reduced(*a))[1]
    )
    found = DampedLeastSquares(*there(rows, matrix))
    step = found.damped(damping, scale).step
    assert taken["reduced"] == triangle and (triangle or taken["left"] == corrected)
    expected = solved(matrix, rows, damping, np.ones(shape[1]) if scale is None else scale)
    # of the reference, whose rounding grows with the condition of what it solves
    least = np.sqrt((1 / condition) ** 2 + damping)
    agree(step, expected, 1e-13 / least + (2e-3 if corrected else 1e-9))


def solved(matrix, rows, damping, d):
    """The minimiser, by QR of what is stacked: of J, or for few rows of the triangle of J / D."""
    if len(rows) < matrix.shape[1]:
        q, r = np.linalg.qr((matrix / d).T)
        return q @ solved(r.T, rows, damping, np.ones(len(rows))) / d
    stacked = np.vstack([matrix, np.sqrt(damping) * np.diag(d)])
    return np.linalg.lstsq(stacked, -np.append(rows, np.zeros(len(d))), rcond=0)[0]


def _add(taken, name):
    taken[name] += 1


def test_a_factor_that_fails_is_heard_of(device):
    (matrix,) = there(np.eye(3) + 1)
    algebra = DeviceAlgebra(Workspace(Device("cuda", 0)))
    with pytest.raises(np.linalg.LinAlgError):
        algebra.inner(matrix).factor(-2.0)
    # not so without asking, as it is with cupy
    with registered(dataclasses.replace(device, linalg_raises=nullcontext)):
        heedless = DeviceAlgebra(Workspace(Device("cuda", 0)))
        heedless.inner(matrix).factor(-2.0)


def test_where_rounding_leaves_no_factor_the_triangle_takes_over(monkeypatch):
    # columns that are nearly one: what rounding leaves of J'J is not definite
    matrix = 1 + 1e-9 * np.random.default_rng(0).standard_normal((90, 60))
    rows, reached = np.cos(np.arange(90.0)), []
    correct = module._Factored._corrected
    monkeypatch.setattr(
        module._Factored, "_corrected", lambda *a: (reached.append(None), correct(*a))[1]
    )
    found, expected = DampedLeastSquares(*there(rows, matrix)), triangle_of(rows, matrix)
    damping = 90 * 1.1e-15
    agree_for(found, SimpleNamespace(rows=rows, damped=expected.damped), damping, np.ones(60), 1e-5)
    assert not reached


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("damping", [1.0, 1e-10, 1e-24])
def test_the_triangle_is_that_of_the_host(shape, damping):
    matrix, rows = problem(shape, 100.0)
    found = DeviceAlgebra(Workspace(Device("cuda", 0))).reduced(*there(rows, matrix))
    expected = triangle_of(rows, matrix)
    assert isinstance(found, Reduced)
    agree(found.gradient, expected.gradient, 1e-13)
    assert found.largest == pytest.approx(expected.largest, rel=1e-12)
    for scale in (np.ones(shape[1]), np.linspace(0.5, 2, shape[1]), np.ones(shape[1])):
        one, other = found.damped(damping, scale), expected.damped(damping, scale)
        agree(one.step, other.step, 1e-10)
        agree(one.minimiser(np.cos(rows)), other.minimiser(np.cos(rows)), 1e-10)
        assert one.promised == pytest.approx(other.promised, rel=1e-10)


def test_nothing_to_solve_gives_nothing():
    found, _ = both(np.zeros((4, 3)), np.ones(4))
    np.testing.assert_array_equal(found.damped(1e-8).step, np.zeros(3))
    algebra = DeviceAlgebra(Workspace(Device("cuda", 0)))
    reduced = algebra.reduced(*there(np.ones(4), np.zeros((4, 3))))
    assert reduced.largest == 0


@pytest.mark.parametrize("shape", [(300, 40), (40, 300)], ids=str)
def test_vectors_alone_are_copied_and_a_damping_is_two_waits(shape):
    matrix, rows = problem(shape)
    found, vector = DampedLeastSquares(*there(rows, matrix)), 8 * max(shape)
    with counted() as counts:
        _ = found.rows, found.gradient, found.norms
        found.damped(1.0)
    assert counts.downloads <= 6 and counts.fetched <= 6 * vector
    with counted() as counts:
        damped = found.damped(1e-3)
    # what is added goes there; whether there is a factor, and the step, come back
    assert (counts.uploads, counts.downloads, counts.synchronisations) == (1, 2, 2)
    assert counts.sent + counts.fetched <= 3 * vector
    with counted() as counts:
        damped.minimiser(rows)
        found.along(damped.step)
    assert (counts.uploads, counts.downloads) == (2, 2)
    with counted() as counts:
        found.damped(1e-12)  # corrected
    assert counts.synchronisations == 3 and counts.sent + counts.fetched <= 4 * vector
    with counted() as counts:
        found.damped(1e-30)  # by the triangle
        found.damped(1e-30).minimiser(rows)
    assert counts.sent + counts.fetched <= 12 * vector


def test_memory_is_that_of_the_workspace_and_is_kept(device):
    workspace = Workspace(Device("cuda", 0))
    matrix, rows = problem((50, 20))
    jacobian = workspace.array("jacobian", 50, 20)
    jacobian[...] = StrictArray(matrix)
    assert workspace.array("jacobian", 50, 20)._host.base is jacobian._host.base
    first = DampedLeastSquares(StrictArray(rows), jacobian, workspace=workspace).damped(1e-2).step
    # smaller points next, and the first again: nothing of them is left over
    smaller = workspace.array("jacobian", 30, 20)
    smaller[...] = StrictArray(2 * matrix[:30])
    DampedLeastSquares(StrictArray(rows[:30]), smaller, workspace=workspace).damped(1e-2)
    jacobian = workspace.array("jacobian", 50, 20)
    jacobian[...] = StrictArray(matrix)
    again = DampedLeastSquares(StrictArray(rows), jacobian, workspace=workspace).damped(1e-2).step
    assert again.tobytes() == first.tobytes()
    device.xp.free = 8 * 50 * 20
    with pytest.raises(MemoryError, match="allocating 8,800 bytes"):
        workspace.array("jacobian", 55, 20)


@pytest.mark.parametrize("order", [1, 2, 4])
def test_paths_are_those_of_the_host(dense, order):
    a = np.random.default_rng(1).standard_normal((9, 4))
    function = dense.Rows(
        lambda t: np.exp(a @ t) - 1.2, lambda t: np.exp(a @ t)[:, None] * a, 4
    )
    theta, paths = np.full(4, 0.1), []
    for linear in both(*reversed(function.jacobian(theta))):
        damped = linear.damped(1e-3)
        paths.append(path_terms(function, theta, linear, damped, np.ones(4), order))
    assert len(paths[0]) == len(paths[1])
    for found, expected in zip(*paths, strict=True):
        agree(found, expected, 1e-9)


@pytest.fixture
def qr_in_cupys_memory(monkeypatch):
    """numpy's QR in what cupy's takes: a copy of the matrix and Q. numpy 2.5 itself takes more."""

    def qr(matrix):
        least = min(matrix.shape)
        copy = np.array(matrix, order="F")
        copy, scales, *_ = lapack.dgeqrf(copy, overwrite_a=1)
        triangle = np.triu(copy[:least])
        q, *_ = lapack.dorgqr(copy[:, :least].copy("F"), scales, overwrite_a=1)
        return q, triangle

    monkeypatch.setattr(np.linalg, "qr", qr)


MEASURED = [(1000, 300), (3000, 200), (400, 400), (150, 900)]


@pytest.mark.parametrize("scaled", [False, True])
@pytest.mark.parametrize("shape", MEASURED, ids=str)
def test_memory_is_counted_as_it_is_taken(most_bytes, qr_in_cupys_memory, shape, scaled):
    matrix, rows = problem(shape)
    scale = np.linspace(1, 2, shape[1]) if scaled else None

    def work():
        workspace = Workspace(Device("cuda", 0))
        jacobian = workspace.array("jacobian", *shape)
        jacobian[...] = StrictArray(matrix)
        found = DampedLeastSquares(StrictArray(rows), jacobian, workspace=workspace)
        for damping in (1.0, 1e-12, 1e-30, 1e-31):  # corrected, and twice by the triangle
            found.damped(damping, scale).minimiser(rows)

    work()  # what is imported
    assert device_bytes(*shape, divided=scaled) == pytest.approx(most_bytes(work), rel=0.03)


@pytest.mark.parametrize("shape", MEASURED, ids=str)
def test_memory_of_the_triangle_alone_is_counted_as_it_is_taken(
    most_bytes, qr_in_cupys_memory, shape
):
    matrix, rows = problem(shape)

    def work():
        workspace = Workspace(Device("cuda", 0))
        jacobian = workspace.array("jacobian", *shape)
        jacobian[...] = StrictArray(matrix)
        found = DeviceAlgebra(workspace).reduced(StrictArray(rows), jacobian)
        for damping in (1e-6, 1.0):
            found.damped(damping, np.ones(shape[1])).minimiser(rows)

    work()
    assert reduced_device_bytes(*shape) == pytest.approx(most_bytes(work), rel=0.03)
