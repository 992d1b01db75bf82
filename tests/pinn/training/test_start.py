"""Beginning from an old solution."""

import numpy as np
import pytest

import pinn

SMALL = {"model": pinn.MLP(width=6, depth=1), "sampling": pinn.Sampling(interior=20)}


def decay(rate="1", **arguments):
    return pinn.Problem(
        pinn.Time("t", 0, 1), ["u"], {"decay": f"u_t + {rate}*u"}, [pinn.Initial("u", 1)],
        **arguments,
    )  # fmt: skip


def first_theta(problem, start, **arguments):
    seen = []

    def stop(record):
        seen.append(record.theta)
        return True

    pinn.solve(problem, **{**SMALL, **arguments}, start=start, callbacks=[stop],
               training=[pinn.Adam(3)])  # fmt: skip
    return seen[0]


OLD = pinn.solve(decay(), **SMALL, training=[pinn.SSBroyden(60)])


@pytest.mark.parametrize("form", ["solution", "vector", "names"])
def test_the_first_step_is_where_the_old_solution_ended(form):
    start = {"solution": OLD, "vector": OLD.theta, "names": OLD.named_theta}[form]
    assert first_theta(decay("1.1"), start, seed=5).tobytes() == OLD.theta.tobytes()


def test_a_neighbouring_problem_is_solved_in_fewer_steps():
    problem, stages = decay("1.1", reference={"u": "exp(-1.1*t)"}), [pinn.SSBroyden(15)]
    warm = pinn.solve(problem, **SMALL, training=stages, start=OLD)
    cold = pinn.solve(problem, **SMALL, training=stages)
    assert warm.report.rel_l2["u"] < 0.1 * cold.report.rel_l2["u"]


def test_a_solution_that_was_loaded_is_a_start(tmp_path):
    OLD.save(tmp_path / "old.npz")
    loaded = pinn.load(tmp_path / "old.npz")
    assert first_theta(decay(), loaded).tobytes() == OLD.theta.tobytes()


# That nothing determines these coefficients is no matter here.
@pytest.mark.filterwarnings("ignore::pinn.ProblemWarning")
def test_coefficients_declared_alike_go_on_and_others_begin_at_their_initial():
    k, c = pinn.Parameter("k", 0.5, lower=0), pinn.Parameter("c", 2.0)
    old = pinn.solve(decay("k", parameters=[k]), **SMALL, training=[pinn.SSBroyden(20)])
    both = pinn.solve(
        decay("c*k", parameters=[c, k]), **SMALL, start=old, training=[pinn.Adam(1)],
        callbacks=[lambda record: True],
    )  # fmt: skip
    assert both.parameters == {"c": 2.0, "k": old.parameters["k"]}
    model = {name: part for name, part in old.named_theta.items() if name.startswith("model.")}
    assert all(np.array_equal(both.named_theta[name], part) for name, part in model.items())
    other = decay("k", parameters=[pinn.Parameter("k", 0.7, lower=0)])
    begun = pinn.solve(
        other, **SMALL, start=old, training=[pinn.Adam(1)], callbacks=[lambda record: True]
    )
    assert begun.parameters["k"] == pytest.approx(0.7, rel=1e-15)


@pytest.mark.parametrize(
    ("start", "model", "error", "message"),
    [
        (OLD, pinn.MLP(7, 1), ValueError, "start: parameter model.*: expected shape .*; give the m"
         r"odel of that solution, model=start\.experiment\.model"),
        (OLD, pinn.MLP(6, 2), ValueError, "start: expected the parameters .*missing: model."),
        (np.zeros(3), pinn.MLP(6, 1), ValueError, r"start: expected a vector of shape .*got \(3,"),
        (OLD.theta * np.nan, pinn.MLP(6, 1), ValueError, "start: expected finite numbers, got nan"),
        ("old.npz", pinn.MLP(6, 1), TypeError, "start: expected a pinn.Solution"),
    ],
)
def test_what_does_not_fit_is_refused_before_training(start, model, error, message):
    with pytest.raises(error, match=message):
        first_theta(decay(), start, model=model)
