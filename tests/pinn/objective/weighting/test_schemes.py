"""Each scheme against small examples worked out by hand."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import pinn
from pinn.objective.weighting import (
    LRA,
    NTK,
    Attention,
    Causal,
    Combined,
    Discrepancy,
    EqualLosses,
    Fixed,
    GradNorm,
    ReLoBRaLo,
    SelfAdaptive,
    SoftAdapt,
    View,
    Weights,
)
from pinn.objective.weighting.rows import nearest_rows
from pinn.sampling import Points, stream
from pinn.training.experiment import Experiment

DOMAIN = pinn.Interval("x", -1, 1) * pinn.Time("t", 0, 2)
NOTHING = Weights()


def view(step=0, equations=("wave",), points=None, **known):
    """What a scheme sees of an objective that is not there."""
    named = next(iter(known.values()))
    points = points or {name: np.zeros((1, 2)) for name in named}
    return SimpleNamespace(
        names=list(named), equations=list(equations), step=step, new_points=False, hold=1,
        points={name: Points(array) for name, array in points.items()},
        objective=SimpleNamespace(problem=SimpleNamespace(domain=DOMAIN)), **known,
    )  # fmt: skip


def losses(step=0, **named):
    return view(step, losses=named)


def updates(scheme, views):
    """The weights after each of some updates, and the last state."""
    weights, state, found = NOTHING, {}, []
    for one in views:
        weights, state = scheme.update(one, weights, state)
        found.append(weights)
    return found, state


def values(weights):
    return list(weights.blocks.values())


# ---- blocks


def test_grad_norm_makes_the_gradients_equal():
    given = {"wave": np.array([3.0, 4.0]), "start": np.array([0.0, 0.5])}  # norms 5 and 1/2
    mean = 2.75
    wanted = [mean / (5 + 1e-5 * mean), mean / (0.5 + 1e-5 * mean)]
    (weights,), state = updates(GradNorm(), [view(gradients=given)])
    np.testing.assert_allclose(values(weights), wanted, rtol=1e-14)
    # twice the second gradient: mean of 5 and 1, a tenth of which comes to nine of the old
    other = given | {"start": np.array([0.0, -1.0])}
    again, _ = GradNorm().update(view(gradients=other), weights, state)
    fresh = np.array([3 / (5 + 3e-5), 3 / (1 + 3e-5)])
    np.testing.assert_allclose(values(again), 0.9 * np.array(wanted) + 0.1 * fresh, rtol=1e-14)


def test_equal_losses_move_by_a_small_power_and_have_mean_one():
    # weighted losses 8 and 2 of weights 2 and 1/2, mean 5; the square root of 5/8 and of 5/2
    start = Weights({"wave": 2.0, "start": 0.5})
    weights, state = EqualLosses(rate=0.5).update(losses(wave=4.0, start=4.0), start, {})
    moved = np.array([2 * (5 / 8) ** 0.5, 0.5 * (5 / 2) ** 0.5])
    np.testing.assert_allclose(values(weights), moved / moved.mean(), rtol=1e-14)
    assert not state


def test_equal_losses_are_where_it_ends():
    weights = NOTHING
    for _ in range(400):
        weights, _ = EqualLosses().update(losses(wave=9.0, start=1e-6), weights, {})
    weighted = np.array(values(weights)) * [9.0, 1e-6]
    np.testing.assert_allclose(weighted, weighted.mean(), rtol=1e-6)
    assert sum(values(weights)) == pytest.approx(2)


def test_equal_losses_leave_blocks_of_no_weight_and_losses_of_zero():
    start = Weights({"wave": 0.0, "start": 1.0, "end": 1.0})
    weights, _ = EqualLosses().update(losses(wave=5.0, start=1.0, end=0.0), start, {})
    assert values(weights)[0] == 0 and np.isfinite(values(weights)).all()
    nothing, _ = EqualLosses().update(losses(wave=0.0, start=0.0, end=0.0), start, {})
    assert nothing is start


def test_a_condition_that_holds_already_does_not_get_all_the_weight():
    given = {"wave": np.array([2.0]), "start": np.array([0.0])}
    (weights,), _ = updates(GradNorm(), [view(gradients=given)])
    np.testing.assert_allclose(values(weights), [1 / (2 + 1e-5), 1e5], rtol=1e-14)
    (weights,), _ = updates(GradNorm(), [view(gradients={"a": np.zeros(2), "b": np.zeros(2)})])
    assert values(weights) == [1.0, 1.0]


def test_ntk_makes_the_traces_equal():
    rows = {"wave": np.array([1.0, 2.0, 9.0]), "start": np.array([0.5])}  # means 4 and 1/2
    (weights,), _ = updates(NTK(), [view(kernel_diagonals=rows)])
    mean = 2.25
    wanted = [mean / (4 + 1e-5 * mean), mean / (0.5 + 1e-5 * mean)]
    np.testing.assert_allclose(values(weights), wanted, rtol=1e-14)
    # rows that weigh 1, 0 and 0 leave a mean of 1/3
    masked, _ = NTK().update(
        view(kernel_diagonals=rows), Weights({}, {"wave": np.array([1.0, 0.0, 0.0])}), {}
    )
    mean = (1 / 3 + 0.5) / 2
    wanted = [mean / (1 / 3 + 1e-5 * mean), mean / (0.5 + 1e-5 * mean)]
    np.testing.assert_allclose(values(masked), wanted, rtol=1e-14)


def test_learning_rate_annealing_weighs_conditions_by_the_gradient_of_the_equations():
    given = {
        "first": np.array([3.0, -1.0]), "second": np.array([-8.0, 0.0]),
        "start": np.array([0.1, -0.3]), "wall": np.array([0.0, 0.0]),
    }  # fmt: skip
    seen = view(gradients=given, equations=("first", "second"))
    (weights,), state = updates(LRA(), [seen])
    # The sum of the equations' gradients is (-5, -1). A wall that holds: 1e-5 of the largest.
    np.testing.assert_allclose(values(weights), [1, 1, 5 / 0.2, 5 / 5e-5], rtol=1e-13)
    other = view(gradients=given | {"start": np.array([1.0, 1.0])}, equations=("first", "second"))
    again, _ = LRA(memory=0.75).update(other, weights, state)
    np.testing.assert_allclose(values(again)[2], 0.75 * 25 + 0.25 * 5, rtol=1e-13)


def softmax(*numbers):
    powers = np.exp(numbers)
    return len(powers) * powers / powers.sum()


def test_relobralo_by_hand():
    scheme = ReLoBRaLo(memory=0.9, lookback=0.5, temperature=0.5)
    history = [(4.0, 1.0), (2.0, 1.0), (1.0, 0.8), (0.5, 0.9), (0.4, 0.6)]
    views = [losses(step, wave=a, start=b) for step, (a, b) in enumerate(history)]
    found, _ = updates(scheme, views)
    assert values(found[0]) == [1.0, 1.0]
    expected = softmax(2 / 4 / 0.5, 1 / 1 / 0.5)  # the second update knows the start alone
    np.testing.assert_allclose(values(found[1]), expected, rtol=1e-13)
    for k in (2, 3, 4):
        (a0, b0), (a1, b1), (a, b) = history[0], history[k - 1], history[k]
        looks_back = stream(0, "relobralo", str(k)).random() >= 0.5
        old = softmax(a / a0 / 0.5, b / b0 / 0.5) if looks_back else expected
        expected = 0.9 * old + 0.1 * softmax(a / a1 / 0.5, b / b1 / 0.5)
        np.testing.assert_allclose(values(found[k]), expected, rtol=1e-13)
        assert sum(values(found[k])) == pytest.approx(2, rel=1e-13)


def test_relobralo_counts_the_steps_that_went_by():
    scheme = ReLoBRaLo(memory=0.9, lookback=1 - 1e-12)
    views = [losses(step, wave=1.0, start=b) for step, b in [(0, 1), (1, 0.9), (21, 0.5)]]
    found, _ = updates(scheme, views)
    latest = softmax(10.0, 10 * 0.5 / 0.9)
    expected = 0.9**20 * np.array(values(found[1])) + (1 - 0.9**20) * latest
    np.testing.assert_allclose(values(found[2]), expected, rtol=1e-13)


def test_relobralo_bears_a_loss_of_zero():
    views = [losses(step, wave=0.0, start=1.0) for step in range(4)]
    found, _ = updates(ReLoBRaLo(), [*views, losses(4, wave=1.0, start=1.0)])
    assert np.isfinite([values(one) for one in found]).all()


def test_softadapt_by_hand():
    views = [losses(0, wave=5.0, start=2.0), losses(10, wave=2.0, start=1.0)]  # slopes -3 and -1
    plain, _ = updates(SoftAdapt(beta=0.5, normalized=False, by_loss=False), views)
    assert values(plain[0]) == [1.0, 1.0]
    np.testing.assert_allclose(values(plain[1]), softmax(-1.5, -0.5), rtol=1e-13)
    normal, _ = updates(SoftAdapt(beta=0.5, by_loss=False), views)
    np.testing.assert_allclose(values(normal[1]), softmax(-0.375, -0.125), rtol=1e-13)
    by_loss, _ = updates(SoftAdapt(beta=0.5), views)
    terms = np.array([2 * np.exp(-0.375), 1 * np.exp(-0.125)])
    np.testing.assert_allclose(values(by_loss[1]), 2 * terms / terms.sum(), rtol=1e-13)
    still, _ = updates(SoftAdapt(), [losses(0, wave=0.0, start=0.0)] * 2)
    assert values(still[1]) == [1.0, 1.0]


# ---- rows

LINE = np.array([[-1.0, 0.0], [0.0, 1.0], [1.0, 2.0]])


def rows(step, points=LINE, **residuals):
    return view(step, residuals=residuals, points=dict.fromkeys(residuals, points))


def test_attention_sums_up_shares_of_the_residual():
    scheme = Attention(gamma=0.5, eta=0.25, every=1)
    first, second = np.array([1.0, -2.0, 4.0]), np.array([3.0, 0.0, -3.0])
    found, _ = updates(scheme, [rows(0, wave=first), rows(1, wave=second)])
    np.testing.assert_allclose(found[0].rows["wave"], [1 / 16**2, 1 / 8**2, 1 / 4**2])
    attention = 0.5 * np.array([1 / 16, 1 / 8, 1 / 4]) + 0.25 * np.array([1, 0, 1])
    np.testing.assert_allclose(found[1].rows["wave"], attention**2, rtol=1e-14)


def test_attention_after_some_steps_is_that_of_each_of_them():
    residuals = np.array([1.0, -2.0, 4.0]), np.array([3.0, 0.0, -3.0])
    now_and_then = [rows(0, wave=residuals[0]), rows(7, wave=residuals[1])]
    always = [now_and_then[0], *(rows(k, wave=residuals[1]) for k in range(1, 8))]
    (*_, some), _ = updates(Attention(), now_and_then)
    (*_, every), _ = updates(Attention(), always)
    np.testing.assert_allclose(some.rows["wave"], every.rows["wave"], rtol=1e-12)


def test_attention_and_self_adaptive_weigh_the_blocks_that_are_asked_for():
    seen = rows(0, wave=np.ones(3), start=np.ones(3))
    whole = rows(0, wave=np.ones(1), start=np.ones(3))  # a row for all points
    for scheme, named, expected in [
        (Attention, None, {"wave"}), (SelfAdaptive, None, {"wave", "start"}),
        (Attention, ["start"], {"start"}), (SelfAdaptive, ["start"], {"start"}),
    ]:  # fmt: skip
        weights, _ = scheme(rows=named, blocks={"start": 5}).update(seen, NOTHING, {})
        assert weights.rows.keys() == expected
        assert weights.blocks == {"start": 5.0}
        assert "wave" not in scheme(rows=named).update(whole, NOTHING, {})[0].rows


def test_self_adaptive_rows_climb_up_the_loss():
    scheme = SelfAdaptive(rate=0.5, transform="value", every=1, blocks={"wave": 3})
    residual = np.array([1.0, -2.0, 0.0])
    found, state = updates(scheme, [rows(0, wave=residual), rows(1, wave=residual)])
    np.testing.assert_array_equal(found[0].rows["wave"], 1)
    # d/dlambda of 3 mean(lambda^2 r^2) = 3 (2 lambda r^2) / 3 at lambda = 1
    climbed = 1 + 0.5 * 2 * np.array([1.0, 4.0, 0.0])
    np.testing.assert_allclose(found[1].rows["wave"], climbed**2, rtol=1e-14)
    np.testing.assert_allclose(state["wave/lambda"], climbed, rtol=1e-14)


def test_self_adaptive_rows_climb_up_the_logarithm_whatever_its_scale():
    scheme = SelfAdaptive(rate=0.1, power=3, start=2, every=1)
    for scale in (1.0, 1e-9):
        residual = scale * np.array([1.0, -2.0, 0.0])
        found, _ = updates(scheme, [rows(0, wave=residual), rows(2, wave=residual)])
        trained = np.full(3, 2.0)
        for _ in range(2):
            loss = np.mean(trained**3 * residual**2)
            trained = trained + 0.1 * 3 * trained**2 * residual**2 / loss  # 3 d(log loss)/dlambda
        np.testing.assert_allclose(found[1].rows["wave"], trained**3, rtol=1e-13)


@pytest.mark.parametrize("power", [1, 2])
def test_self_adaptive_rows_may_begin_at_zero(power):
    scheme = SelfAdaptive(power=power, starts={"wave": 0})
    found, _ = updates(scheme, [rows(k, wave=np.zeros(3)) for k in (0, 4)])
    np.testing.assert_array_equal(found[1].rows["wave"], 0)


@pytest.mark.parametrize(
    ("scheme", "what"), [(Attention(), "attention"), (SelfAdaptive(), "lambda")]
)
def test_points_that_are_drawn_anew_take_over_from_the_nearest(scheme, what):
    residual = np.array([1.0, -2.0, 4.0])
    _, state = updates(scheme, [rows(k, wave=residual) for k in (0, 5)])
    learned = state[f"wave/{what}"]
    assert len(set(learned)) == 3
    # Near the second, the third and the first; one that was kept has its own. No step went by.
    others = np.array([[0.1, 1.1], [0.9, 1.7], [-1.0, 0.1], [1.0, 2.0]])
    _, carried = scheme.update(rows(5, others, wave=np.ones(4)), NOTHING, state)
    np.testing.assert_array_equal(carried[f"wave/{what}"], learned[[1, 2, 0, 2]])
    np.testing.assert_array_equal(carried["wave/points"], others)


def test_nearest_is_measured_in_shares_of_the_extent():
    old = np.array([[0.0, 0.0], [1.0, 1e6], [0.0, 1e6]])
    new = np.array([[0.9, 4e5], [0.1, 6e5]])  # by length alone, 0 and 1 would be the nearest
    np.testing.assert_array_equal(nearest_rows(old, new), [1, 2])
    flat = np.array([[0.0, 3.0], [1.0, 3.0]])
    np.testing.assert_array_equal(nearest_rows(flat, flat[::-1]), [1, 0])


TIMES = np.array([0.1, 0.4, 0.6, 1.2, 1.9, 2.0])
LATER = np.column_stack([np.zeros(6), TIMES])


def test_causal_rows_wait_for_those_before():
    scheme = Causal(slices=4, epsilons=[0.5])  # of a length of 1/2
    residual = np.array([1.0, 3.0, 2.0, 1.0, 5.0, 1.0])
    # mean squares in the slices: 5, 4, 1, 13
    before = np.array([0, 0, 5, 9, 10, 10])
    (weights,), _ = updates(scheme, [rows(0, LATER, wave=residual)])
    np.testing.assert_allclose(weights.rows["wave"], np.exp(-0.5 * before), rtol=1e-14)
    backward = Causal(slices=4, epsilons=[0.5], backward=True)
    (weights,), _ = updates(backward, [rows(0, LATER, wave=residual)])
    after = np.array([18, 18, 14, 13, 0, 0])
    np.testing.assert_allclose(weights.rows["wave"], np.exp(-0.5 * after), rtol=1e-14)


def test_causal_slices_without_rows_hold_nothing_back():
    points = np.array([[0.0, 0.0], [0.0, 2.0]])
    (weights,), _ = updates(Causal(epsilons=[1]), [rows(0, points, wave=np.array([2.0, 1.0]))])
    np.testing.assert_allclose(weights.rows["wave"], [1, np.exp(-4)], rtol=1e-14)


def test_of_several_equations_each_slice_takes_the_smallest_weight():
    points = np.array([[0.0, 0.1], [0.0, 1.1]])
    seen = view(
        residuals={"first": np.array([1.0, 0]), "second": np.array([2.0, 0]), "start": np.ones(2)},
        points=dict.fromkeys(("first", "second", "start"), points), equations=("first", "second"),
    )  # fmt: skip
    weights, _ = Causal(slices=2, epsilons=[1], blocks={"start": 9}).update(seen, NOTHING, {})
    assert weights.rows.keys() == {"first", "second"} and weights.blocks == {"start": 9}
    for own in weights.rows.values():
        np.testing.assert_allclose(own, [1, np.exp(-4)], rtol=1e-14)


def test_causal_epsilon_grows_once_all_weights_are_near_one():
    scheme = Causal(slices=2, epsilons=[0.1, 1, 10], next_at=0.9)
    points = np.array([[0.0, 0.1], [0.0, 1.1]])
    sizes = [2.0, 1.1, 0.9, 0.2, 0.2, 0.2]  # squares: 4, 1.21, 0.81, 0.04
    views = [rows(10 * k, points, wave=np.array([r, 1.0])) for k, r in enumerate(sizes)]
    weights, state, epsilons = NOTHING, {}, []
    for one in views:
        weights, state = scheme.update(one, weights, state)
        epsilons.append(float(state["epsilon"]))
        own = np.exp(-epsilons[-1] * one.residuals["wave"][0] ** 2)
        np.testing.assert_allclose(weights.rows["wave"], [1, own], rtol=1e-14)
    # exp(-0.1 * 0.81) = 0.92 is above 0.9; then exp(-0.04) = 0.96 is.
    assert epsilons == [0.1, 0.1, 1, 10, 10, 10]


def test_several_schemes_are_multiplied_and_updated_each_in_its_time():
    problem = pinn.Problem(
        DOMAIN, ["u"], {"wave": "u_t + u_x"}, [pinn.Initial("u", "x")],
    )  # fmt: skip
    objective = Experiment(
        problem, pinn.MLP(width=4, depth=1), pinn.Sampling(interior=20, initial=8, adaptive=None),
    ).objective()  # fmt: skip
    causal, norms = Causal(every=2, slices=4), GradNorm(every=4)
    scheme = Combined([causal, norms, Fixed({"initial_u": 3})])
    assert (scheme.every, scheme.per_row) == (2, True)
    assert scheme.initial == {"initial_u": 3}
    assert [step for step in range(9) if scheme.is_due(step)] == [0, 2, 4, 6, 8]
    theta = objective.theta
    weights, state = scheme.update(View(objective, theta), NOTHING, {})
    rows, _ = causal.update(View(objective, theta), NOTHING, {})
    np.testing.assert_array_equal(weights.rows["wave"], rows.rows["wave"])
    # the gradients under those weights of rows
    objective.set_weights({}, rows.rows)
    sizes = {n: np.linalg.norm(g) for n, g in objective.gradients(theta).items()}
    mean = np.mean(list(sizes.values()))
    expected = {n: mean / (size + 1e-5 * mean) for n, size in sizes.items()}
    expected["initial_u"] *= 3
    assert weights.blocks == pytest.approx(expected, rel=1e-12)
    # At step 2 the rows are weighed again, at another theta, and the blocks keep their weights.
    later, state = scheme.update(View(objective, 1.5 * theta, step=2), weights, state)
    assert later.blocks == weights.blocks
    assert (later.rows["wave"] != weights.rows["wave"]).any()
    arrays = {name: np.asarray(array) for name, array in state.items()}
    assert all(array.dtype.kind in "fi" for array in arrays.values())


# ---- what is refused


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Causal(epsilons=[1, 0.1]), "epsilons: expected numbers that grow, got 1, 0.1"),
        (lambda: Causal(epsilons=[]), "epsilons: expected a list of numbers > 0"),
        (lambda: Attention(gamma=1), "attention: gamma: expected a number >= 0 and < 1, got 1"),
        (lambda: SelfAdaptive(power=0.5), "power: expected a number >= 1, got 0.5"),
        (lambda: GradNorm(every=0), "gradnorm: every: expected a whole number >= 1, got 0"),
        (lambda: Combined([]), "schemes: expected a list of weightings, got none"),
    ],
)  # fmt: skip
def test_bad_settings_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def problem(domain, **constants):
    return pinn.Problem(domain, ["u"], {"wave": "u_x"}, [pinn.Dirichlet("u", 0.0)])


@pytest.mark.parametrize(
    ("weighting", "message"),
    [
        (Causal(), "weighting: expected a problem with a time coordinate"),
        (Attention(rows=["wav"]), r"weighting.rows.wav: .*did you mean 'wave'"),
        (SelfAdaptive(starts={"waves": 1}), r"weighting.starts.waves: .*did you mean 'wave'"),
        (Attention(blocks={"bc": 1}), "weighting.blocks.bc: expected a block out of wave, dir"),
        ([GradNorm(), {"bc": 1}], "weighting.1.bc: expected a block out of wave"),
    ],
)
def test_a_scheme_that_does_not_fit_the_problem_is_refused_before_training(weighting, message):
    with pytest.raises(ValueError, match=message):
        pinn.solve(problem(pinn.Interval("x", 0, 1)), weighting=weighting)


# ---- data with noise

DECAY = pinn.Problem(
    pinn.Interval("x", 0, 1), ["u"], {"decay": "u_x + k*u"},
    [pinn.PointValue("u", 1, x=0),
     pinn.Data("u", {"x": [0, 0.5, 1], "u": [1, 0.4, 0.1]}, sigma=0.1),
     pinn.Data("u", {"x": [0.2], "u": [0.7]}, name="no_sigma")],
    parameters={"k": 1.0},
)  # fmt: skip


def measured(off, decay=1.0):
    """What a scheme sees where data lie so many sigma off, and the equation has this loss."""
    rows = np.array([0.1, -0.1, 0.1]) * off
    data, point, other = "data_u", "value_u_x_0", "no_sigma"
    blocks = [SimpleNamespace(name=one.name, residual=one) for one in DECAY.residuals]
    assert sorted(one.name for one in blocks) == sorted(["decay", point, data, other])
    known = {"decay": decay, point: 0.0, data: float(np.mean(rows**2)), other: 0.0}
    return SimpleNamespace(
        names=list(known), losses=known, residuals={data: rows, "decay": np.zeros(4)},
        objective=SimpleNamespace(blocks=blocks),
    )  # fmt: skip


def heavier(*seen, **settings):
    """The weight of the equation after each look."""
    found, _ = updates(Discrepancy(**settings), [measured(*one) for one in seen])
    for one in found:
        assert one.blocks["data_u"] == one.blocks["no_sigma"] == 1
        assert one.blocks["value_u_x_0"] == one.blocks["decay"]
    return [one.blocks["decay"] for one in found]


def test_what_is_exact_grows_heavier_while_data_lie_within_their_noise():
    seen = [(1, 1), (1, 1), (3, 1e-3), (1, 1e-3), (1, 1e-4), (1, 1e-5)]
    assert heavier(*seen, factor=4, most=50) == [1, 4, 4, 16, 50, 50]


def test_noise_may_bring_two_standard_deviations_of_its_mean_square():
    # of three rows: 1 + 2 sqrt(2/3) = 2.633 is the square of 1.6227
    assert heavier((1,), (1.62,)) == [1, 10]
    assert heavier((1,), (1.63,)) == [1, 1]


def test_what_holds_beside_the_data_grows_no_heavier():
    # the loss of the data is 0.01: 1e-5 of that is left to what is exact, as it is weighed
    assert heavier((1,), (1, 0.9e-7), (1, 0.9e-7)) == [1, 1, 1]
    assert heavier((1,), (1, 1.1e-6), (1, 0.9e-8)) == [1, 10, 10]
    assert heavier((1,), (1, 1.1e-6), (1, 1.1e-8)) == [1, 10, 100]


def test_what_a_network_cannot_hold_better_grows_no_heavier():
    # ten times the weight is worth it where the loss fell to a twentieth
    assert heavier((1,), (1, 1), (1, 0.051), (1, 0.051), (1, 0.049)) == [1, 10, 10, 10, 100]


def test_weights_that_are_given_are_grown_from():
    found, _ = updates(Discrepancy(blocks={"decay": 3, "data_u": 2}), 2 * [measured(1)])
    assert [one.blocks["decay"] for one in found] == [3, 30]
    assert all(one.blocks["data_u"] == 2 for one in found)
