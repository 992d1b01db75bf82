"""Problems that are linear in unknowns and functions together get a network that is, too."""

import pytest

import pinn
from pinn.diagnosis.adapted.superposed import by_functions, is_superposed
from pinn.training.experiment import Experiment


def problem(equation, value="v", hard=True, **others):
    return pinn.Problem(**{
        "domain": pinn.Interval("x", 0, 1) * pinn.Time("t", 0, 1), "unknowns": ["u"],
        "function_spaces": {"v": {"over": "x", "length": 0.5}}, "equations": {"first": equation},
        "conditions": [pinn.Initial("u", value, hard=hard), pinn.Dirichlet("u", 0)], **others,
    })  # fmt: skip


@pytest.mark.parametrize("equation", [
    "u_t - u_xx", "u_t - u_xx - 3*v", "u_t + sin(x)*u_x - diff(v, x) - exp(t)",
    "u_t - integral(u, x, 0, 1) - v(x*t)",
])  # fmt: skip
def test_linear_problems_are_seen(equation):
    found = is_superposed(problem(equation))
    assert found == ("integral" not in equation)  # of what is elsewhere nothing is known


@pytest.mark.parametrize("equation", [
    "u_t + u*u_x", "u_t - v*u_xx", "u_t - u_xx - v**2", "u_t - u_xx + sin(u) - v"
])  # fmt: skip
def test_what_is_not_linear_is_not(equation):
    assert not is_superposed(problem(equation))


@pytest.mark.parametrize("hard", [True, False])
def test_conditions_count_too(hard):
    assert is_superposed(problem("u_t - u_xx", "x + 2*v", hard))
    assert not is_superposed(problem("u_t - u_xx", "exp(v)", hard))


def test_other_unknown_numbers_stand_against_it():
    families = {"nu": [0.1, 1]}
    assert not is_superposed(problem("u_t - nu*u_xx - v", families=families))
    assert is_superposed(problem("u_t - u_xx - v - nu", families=families))
    logarithmic = {"nu": {"low": 0.1, "high": 1, "spacing": "log"}}
    assert not is_superposed(problem("u_t - u_xx - v - nu", families=logarithmic))
    assert not is_superposed(problem("u_t - k*u_xx - v", parameters={"k": 1}))


def test_a_network_is_chosen_for_it_where_none_is_given():
    linear, other = problem("u_t - u_xx - v"), problem("u_t - u_xx - v*u")
    chosen, (decision,) = by_functions(Experiment(linear))
    assert chosen.model.branch is None and "linear" in decision.why
    assert chosen.model.by_trial and "each mode of v" in decision.what
    chosen, (decision,) = by_functions(Experiment(other))
    assert chosen.model == pinn.DeepONet() and "not known to be linear" in decision.why
    given = Experiment(linear, model=pinn.MLP())
    assert by_functions(given) == (given, ())
    plain = Experiment(problem("u_t - u_xx", 0, function_spaces={}))
    assert by_functions(plain) == (plain, ())


def test_families_that_the_solution_is_linear_in_are_seen_where_they_are_many():
    families = {"a": [0, 1], "b": [0, 1]}
    linear = problem("u_t - u_xx - a - b*x", 0, function_spaces={}, families=families)
    chosen, (decision,) = by_functions(Experiment(linear))
    assert chosen.model.branch is None and "for a, b" in decision.what
    one = problem("u_t - u_xx - a", 0, function_spaces={}, families={"a": [0, 1]})
    product = problem("u_t - a*u_xx - b", 0, function_spaces={}, families=families)
    for other in map(Experiment, (one, product)):
        assert by_functions(other) == (other, ())


def test_a_network_that_is_linear_where_the_problem_is_not_is_warned_of():
    def told(equation, model):
        found = problem(equation).check(model=model).warnings
        return any("leave branch out" in one for one in found)

    linear = pinn.DeepONet(branch=None)
    assert told("u_t - u_xx - v**2", linear)
    assert not told("u_t - u_xx - v**2", pinn.DeepONet())
    assert not told("u_t - u_xx - v", linear)
    assert not told("u_t - u_xx - integral(u, x, 0, 1) - v", linear)  # of which nothing is known


def test_functions_take_more_points():
    check = problem("u_t - u_xx - v").check(model=pinn.MLP(width=3, depth=1))
    assert {block.name: block.points for block in check.blocks}["first"] == 8000
