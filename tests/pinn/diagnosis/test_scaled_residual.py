"""How far a solution is from solving, whatever the units; and what is said of it."""

import dataclasses

import numpy as np
import pytest

import pinn
from pinn.diagnosis import scaled_residuals, unsolved

SMALL = {"model": pinn.MLP(width=10, depth=1), "sampling": pinn.Sampling(interior=60)}


def decay(scale=1.0, amount=1.0, length=2.0, equation=None):
    return pinn.Problem(
        pinn.Time("t", 0, length), ["u"],
        {"decay": equation or f"{scale}*({length}*u_t + 2*u - 2*{amount})"},
        [pinn.Initial("u", 2 * amount)],
    )  # fmt: skip


def test_a_solved_problem_has_small_residuals_and_no_warning():
    report = pinn.solve(decay(), **SMALL, training=[pinn.LBFGS(500)]).report
    assert report.residual.keys() == {"decay", "initial_u"}
    assert max(report.residual.values()) < 1e-3
    assert report.warnings == () and "warning" not in report.summary()


def test_an_unsolved_problem_is_warned_of_after_training():
    with pytest.warns(pinn.UnsolvedWarning, match="does not seem to be solved: .* decay") as caught:
        solution = pinn.solve(decay(), **SMALL, training=[pinn.Adam(3)])
    assert solution.report.warnings == (str(caught[0].message),)
    assert caught[0].filename == __file__
    assert "1 warning" in solution.report.summary()


def test_who_interrupts_is_not_told_that_it_is_unfinished():
    def interrupt(record):
        raise KeyboardInterrupt

    report = pinn.solve(decay(), **SMALL, callbacks=[interrupt]).report
    assert report.residual["decay"] > 0.04 and report.warnings == ()


@pytest.mark.parametrize(("scale", "amount"), [(1e6, 1.0), (1e-9, 1.0), (1.0, 1e4)])
def test_units_do_not_matter(scale, amount):
    solution = pinn.solve(decay(), **SMALL, training=[pinn.Adam(3)])
    other = pinn.solve(decay(scale, amount), **SMALL, training=[pinn.Adam(1)])
    # The same function in other units: the last layer gives all of u.
    named = solution._parameters.named(solution.theta)
    last = {k: v * amount for k, v in named.items() if k in ("model.weight1", "model.bias1")}
    other._parameters.load(other._parameters.from_named({**named, **last}))
    first, second = scaled_residuals(solution), scaled_residuals(other)
    assert second == pytest.approx(first, rel=1e-9)


def test_the_measure_against_a_solution_that_is_known():
    solution = pinn.solve(decay(), **SMALL, training=[pinn.Adam(3)])
    t = np.linspace(0, 2, 200_001)
    u, slope = solution.evaluate(t=t)["u"], solution.derivative("u_t", t=t)
    r, size = 2 * slope + 2 * u - 2, np.abs(2 * slope) + np.abs(2 * u) + 2

    def rms(a):
        return np.sqrt(np.mean(a**2))

    expected = np.sqrt(rms(r) / rms(size) * rms(r / size))
    found = scaled_residuals(solution)
    assert found["decay"] == pytest.approx(expected, rel=0.02)
    at_start = abs(u[0] - 2) / (rms(u) + 2)
    assert found["initial_u"] == pytest.approx(at_start, rel=0.02)


def test_a_function_has_the_residual_of_its_text():
    text, function = (
        pinn.solve(decay(equation=e), **SMALL, training=[pinn.Adam(3)])
        for e in ("u_t + u**2 - t", lambda s: s.u_t + s.u**2 - s.t)
    )
    assert scaled_residuals(text) == pytest.approx(scaled_residuals(function), rel=1e-12)


def test_nothing_is_said_of_small_residuals():
    assert unsolved({"a": 0.039, "b": 0.0}) is None
    assert "b (0.5)" in unsolved({"a": 0.039, "b": 0.5})


def test_warnings_and_residuals_are_saved(tmp_path):
    solution = pinn.solve(decay(), **SMALL, training=[pinn.Adam(3)])
    solution.save(tmp_path / "s.npz")
    report = pinn.load(tmp_path / "s.npz").report
    assert report.residual == solution.report.residual
    assert report.warnings == solution.report.warnings != ()
    assert dataclasses.replace(report, warnings=()).summary().count("warning") == 0
