"""Ensembles: the mean of several solutions of one problem, and how far they lie apart."""

import math

import numpy as np
import pytest

import pinn

# Two measurements and three steps determine nothing, which is no matter here.
pytestmark = pytest.mark.filterwarnings("ignore::pinn.ProblemWarning")

XS, TS = np.linspace(0, 1, 4), 0.5
SETTINGS = {
    "model": pinn.MLP(width=4, depth=1), "sampling": pinn.Sampling(20, 5, 5),
    "training": [pinn.Adam(steps=3, learning_rate=0.1)],
}  # fmt: skip
SEEDS = (3, 1, 4)


def heat(k=0.1):
    return pinn.Problem(
        domain=pinn.Interval("x", 0, 1) * pinn.Time("t", 0, 1), unknowns=["u"], name="heat",
        equations={"heat": "u_t - k*u_xx"}, parameters={"k": k},
        conditions=[
            pinn.Initial("u", "sin(pi*x)"), pinn.Dirichlet("u", 0),
            pinn.Data("u", {"x": [0.3, 0.6], "t": [0.5, 0.5], "u": [0.4, 0.5]}),
        ],
        reference={"u": "exp(-0.1*pi**2*t)*sin(pi*x)"},
    )  # fmt: skip


@pytest.fixture(scope="module")
def solutions():
    return [pinn.solve(heat(), **SETTINGS, seed=seed) for seed in SEEDS]


@pytest.fixture(scope="module")
def ensemble(solutions):
    return pinn.Ensemble(solutions)


def test_the_mean_and_the_standard_deviation_are_between_the_solutions(solutions, ensemble):
    each = [solution.evaluate(x=XS, t=TS)["u"] for solution in solutions]
    mean, spread = ensemble.evaluate(x=XS, t=TS)["u"], ensemble.spread(x=XS, t=TS)["u"]
    assert mean.shape == spread.shape == XS.shape
    for number in range(len(XS)):
        values = [float(one[number]) for one in each]
        middle = math.fsum(values) / 3
        assert mean[number] == pytest.approx(middle, rel=1e-14)
        deviation = math.sqrt(math.fsum((value - middle) ** 2 for value in values) / 2)
        assert spread[number] == pytest.approx(deviation, rel=1e-12)
        assert deviation > 0
    assert np.array_equal(ensemble.members(x=XS, t=TS)["u"], np.stack(each))


def test_a_single_point_gives_arrays_without_a_dimension(ensemble):
    for found in (ensemble.evaluate(x=0.5, t=TS), ensemble.spread(x=0.5, t=TS)):
        assert isinstance(found["u"], np.ndarray) and found["u"].shape == ()


def test_coefficients_have_a_mean_and_a_spread(solutions, ensemble):
    values = [solution.parameters["k"] for solution in solutions]
    assert len(set(values)) == 3
    middle = math.fsum(values) / 3
    assert ensemble.parameters == {"k": pytest.approx(middle, rel=1e-14)}
    deviation = math.sqrt(math.fsum((value - middle) ** 2 for value in values) / 2)
    assert ensemble.parameter_spread == {"k": pytest.approx(deviation, rel=1e-12)}


def test_the_error_is_that_of_the_mean(solutions, ensemble):
    """The error of a mean is the mean of the errors: the largest of these is no smaller."""
    found = ensemble.errors()
    largest = [solution.errors().max_error["u"] for solution in solutions]
    assert 0 < found.max_error["u"] <= math.fsum(largest) / 3
    alike = pinn.Ensemble([solutions[0], solutions[0]]).errors()
    assert alike.rel_l2["u"] == pytest.approx(solutions[0].errors().rel_l2["u"], rel=1e-12)


def test_points_outside_are_warned_of_once(ensemble):
    with pytest.warns(pinn.ExtrapolationWarning) as caught:
        ensemble.evaluate(x=1.5, t=TS)
    assert len(caught) == 1


def test_solutions_of_different_problems_are_refused(solutions):
    other = pinn.solve(heat(k=0.2), **SETTINGS)
    with pytest.raises(ValueError, match="solution 1 is of another problem than the first: its "
                                         "parameters is another"):
        pinn.Ensemble([solutions[0], other])
    with pytest.raises(ValueError, match="expected two solutions or more, got 1"):
        pinn.Ensemble(solutions[:1])


def test_runs_in_a_folder_are_read_but_for_those_that_diverged(solutions, tmp_path):
    for number, solution in enumerate(solutions):
        (tmp_path / f"seed={number}").mkdir()
        solution.save(tmp_path / f"seed={number}" / "solution.npz")
    (tmp_path / "diverged").mkdir()
    with pytest.warns(pinn.UnsolvedWarning, match="diverged"):
        wild = pinn.solve(heat(), **{**SETTINGS, "training": [pinn.Adam(9, learning_rate=1e300)]})
    wild.save(tmp_path / "diverged" / "solution.npz")
    found = pinn.Ensemble.load(tmp_path)
    assert repr(found) == "<Ensemble of 3 solutions of 'heat'>"
    same = pinn.Ensemble(solutions).evaluate(x=XS, t=TS)["u"]
    assert np.array_equal(found.evaluate(x=XS, t=TS)["u"], same)


def test_a_folder_without_runs_says_what_it_is(solutions, tmp_path):
    with pytest.raises(FileNotFoundError, match="nothing: no such folder; give"):
        pinn.Ensemble.load(tmp_path / "nothing")
    with pytest.raises(ValueError, match="expected two runs or more with a solution .* got 0"):
        pinn.Ensemble.load(tmp_path)
    run = tmp_path / "seed=0"
    run.mkdir()
    solutions[0].save(run / "solution.npz")
    with pytest.raises(ValueError, match="seed=0 is a run, not a folder of runs; give"):
        pinn.Ensemble.load(run)
    with pytest.raises(ValueError, match="expected two runs or more with a solution .* got 1"):
        pinn.Ensemble.load(tmp_path)
