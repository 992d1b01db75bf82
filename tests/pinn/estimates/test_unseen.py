"""How far an unknown may be off while the residual stays as small as it is."""

import math

import numpy as np
import pytest

import pinn
from pinn.estimates import estimate as estimating
from pinn.estimates import undetermined
from pinn.estimates.linearised import Linearised
from pinn.estimates.unseen import at_most
from pinn.evaluation import Evaluation

X = pinn.Interval("x", 0, 1)
# enough work for the error to be estimated at the end
FEATURES = pinn.RandomFeatures(300, (0.5, 4.0))
POINTS = pinn.Sampling(interior=1200)


def vibration(square):
    """u = x (1 - x), to which any multiple of sin(pi x) may be added where square is pi^2."""
    return pinn.Problem(
        X, ["u"], {"e": f"u_xx + {square}*u + 2 - {square}*x*(1 - x)"}, [pinn.Dirichlet("u", 0)]
    )


def test_an_unknown_that_the_equations_do_not_determine_is_told_of():
    with pytest.warns(pinn.ProblemWarning, match="u may be off by .* an eigenvalue") as caught:
        solution = pinn.solve(vibration("pi**2"), FEATURES, POINTS, seed=1)
    found = solution.report.error_estimate
    assert found.possible["u"] > 0.01 and not found.trusted
    assert any("do not determine it better" in doubt for doubt in found.doubts)
    assert str(caught[-1].message) in solution.report.warnings


def test_numbers_that_move_an_equation_very_far_hide_nothing_of_it():
    """Features in a layer have slopes of 1e9, beside which its residual is none the less one."""
    problem = pinn.Problem(
        X, ["u"], {"e": "-1e-4*u_xx + u_x - 1"}, [pinn.Dirichlet("u", 0)],
        layers={"x": [None, 1e-4]},
    )  # fmt: skip
    solution = pinn.solve(problem, sampling=pinn.Sampling(interior=1000), error_bars=False)
    assert solution.error_estimate().possible["u"] < 1e-9


def test_an_unknown_that_they_determine_has_errors_below_a_bound():
    solution = pinn.solve(vibration("(pi**2 - 1)"), FEATURES, POINTS, seed=1)
    found, x = solution.report.error_estimate, np.linspace(0, 1, 501)
    error = solution.evaluate(x=x)["u"] - x * (1 - x)
    relative = np.linalg.norm(error) / np.linalg.norm(x * (1 - x))
    assert relative < found.possible["u"] < 1e-8
    assert not solution.report.warnings
    assert found.trusted or any("larger ones would be seen" in one for one in found.remarks)


@pytest.mark.parametrize(("explained", "said"), [(True, "larger ones would be seen"),
                                                 (False, "larger ones of a kind")])  # fmt: skip
def test_a_bound_is_said_to_be_one_where_the_residual_is_explained(explained, said):
    (found,) = at_most({"u": 2e-3, "v": 5e-3}, {"u": 1e-6, "v": 6e-3}, explained)
    # v is estimated to be off by more than its bound
    assert found.startswith("errors up to 2.0e-03 of u (relative L2)") and said in found


def test_a_bound_beyond_the_size_of_an_unknown_is_no_number():
    possible = {"u": 0.02, "v": 1.9e12, "p": 3.0}
    first, second = at_most(possible, {"u": 1e-6, "v": 1e-3, "p": 1e-3}, True)
    assert first.startswith("errors up to 2.0e-02 of u (relative L2)")
    assert second == (
        "how far v, p may be off is not told: an error as large as each itself leaves the residual "
        "as small as it is"
    )
    assert list(at_most({}, {"u": 1e-3}, True)) == []


def test_no_bound_is_told_beside_a_solution_that_the_estimate_does_not_explain():
    """Burgers' equation without viscosity, before any training: the error is of no kind tried."""
    shock = pinn.Problem(
        pinn.Interval("x", -1, 1) * pinn.Time("t", 0, 1), ["u"], {"burgers": "u_t + u*u_x"},
        [pinn.Initial("u", "-4*sin(3*pi*x)"), pinn.Dirichlet("u", 0)],
    )  # fmt: skip
    with pytest.warns(pinn.UnsolvedWarning):
        solution = pinn.solve(shock, pinn.MLP(4, 1), pinn.Sampling(200), [pinn.Adam(1)])
    found = solution.error_estimate()
    assert found.unexplained > 0.5 and not found.trusted
    assert not any("would be seen" in one for one in found.remarks)


def test_the_largest_error_is_that_of_all_that_moves(monkeypatch):
    taken = []
    plain = estimating.possible_errors
    monkeypatch.setattr(
        estimating, "possible_errors", lambda *given: taken.append(given) or plain(*given)
    )
    solution = pinn.solve(
        vibration("3"), pinn.MLP(4, 1), pinn.Sampling(200), [pinn.LevenbergMarquardt(15)]
    )
    found = solution.error_estimate()
    linear, parameters, places, *_ = taken[-1]
    places = places["u"][::20]
    run = Evaluation(solution.experiment, parameters)
    theta, columns = parameters.theta, linear._columns
    before, slopes = run.at(places)["u"], []
    for k, norm in zip(columns, linear._norms, strict=True):
        ends = []
        for sign in (1, -1):
            moved = theta.copy()
            moved[k] += sign * 1e-5
            parameters.load(moved)
            ends.append(run.at(places)["u"])
        slopes.append((ends[0] - ends[1]) / (2e-5 * norm))
    slopes = np.stack(slopes, axis=1) / np.linalg.norm(before)
    for tiny in (1e-13, 1e-10, 1e-7, 1e-4):
        stacked = np.vstack([linear._fitted, tiny * np.eye(len(columns))])
        triangle = np.linalg.qr(stacked, mode="r")
        p = np.linalg.solve(triangle, np.linalg.svd(np.linalg.solve(triangle.T, slopes.T))[0][:, 0])
        seen = np.linalg.norm(linear._fitted @ p), np.linalg.norm(linear._apart @ p)
        # what huge numbers change is that of the rounding in differences
        is_known = 1e-9 * np.linalg.norm(p) < np.linalg.norm(slopes @ p)
        if seen[1] <= 1 and is_known:
            break
    assert is_known  # where rows apart see all of them, the smallest counts
    most = np.linalg.norm(slopes @ p) / max(np.linalg.norm(seen), tiny * np.linalg.norm(p))
    expected = np.linalg.norm(linear.rows) * most
    assert found.possible["u"] == pytest.approx(expected, rel=0.3)


def test_what_rows_that_took_no_part_see_is_no_possible_error(monkeypatch):
    solution = pinn.solve(
        vibration("3"), pinn.MLP(4, 1), pinn.Sampling(200), [pinn.LevenbergMarquardt(15)]
    )
    found, plain = solution.error_estimate(), Linearised.changes
    monkeypatch.setattr(Linearised, "changes", lambda self, p: (plain(self, p)[0], 1e4))
    seen = solution.error_estimate()
    assert 0 < seen.possible["u"] < 0.1 * found.possible["u"]


@pytest.mark.parametrize(("possible", "estimated", "told"), [
    (0.5, 1e-6, True), (5e-4, 1e-12, False), (0.5, 1e-4, False), (1e4, 0.02, False),
])  # fmt: skip
def test_what_counts_as_not_determined(possible, estimated, told):
    assert bool(list(undetermined({"u": possible}, {"u": estimated}))) == told
    assert not list(undetermined({"u": possible}, {}))


def test_a_solution_of_an_equation_across_a_jump_is_not_trusted():
    with pytest.warns(pinn.ProblemWarning, match="across a jump"):
        problem = pinn.Problem(
            X, ["u"], {"e": "diff(where(x < 0.5, 1, 4)*u_x, x)"},
            [pinn.Dirichlet("u", 0, on="x=0"), pinn.Dirichlet("u", 1, on="x=1")],
        )  # fmt: skip
        found = pinn.solve(problem, FEATURES, POINTS).report.error_estimate
    assert any("across a jump" in doubt for doubt in found.doubts)


def test_what_the_nodes_of_a_sum_do_not_resolve_is_no_error_that_may_be():
    """Waves shorter than the nodes of a chord were: a tenth of u, of a solution at rounding."""
    ball = pinn.Problem(
        pinn.Interval("x", -1, 1), ["u"], {"e": "fractional_laplacian(u, 1.2) - 1"},
        [pinn.Dirichlet("u", 0, hard=True, power=0.6)],
    )  # fmt: skip
    solution = pinn.solve(
        ball, pinn.RandomFeatures(100, (0.1, 1.0)), pinn.Sampling(200), error_bars=False, threads=1
    )
    x = np.linspace(-0.9, 0.9, 7)
    exact = (1 - x**2) ** 0.6 / math.gamma(2.2)
    np.testing.assert_allclose(solution.evaluate(x=x)["u"], exact, rtol=1e-13)
    assert solution.error_estimate().possible["u"] < 1e-12
