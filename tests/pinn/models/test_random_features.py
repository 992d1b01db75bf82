"""A layer that stays as it was drawn, and factors that are trained."""

from dataclasses import replace

import numpy as np
import pytest

import autograd as T
import pinn
from pinn.schema import DeclarationError
from pinn.training.experiment import Experiment

DOMAIN = pinn.Box(pinn.Interval("x", 0, 4), pinn.Interval("y", -1, 1))


def build(model, seed=0):
    return model.build(DOMAIN, ["u", "v"], np.random.default_rng(seed), T.float64)


def arrays(module):
    found = dict(module.named_buffers()) | dict(module.named_parameters())
    return {name: tensor.detach().numpy() for name, tensor in found.items()}


def test_it_is_a_sum_of_ridge_functions_of_the_scaled_coordinates():
    module = build(pinn.RandomFeatures(width=7, activation="sin"))
    rng = np.random.default_rng(1)
    with T.no_grad():
        module.weight.copy_(T.tensor(rng.standard_normal((2, 7))))
        module.bias.copy_(T.tensor([0.3, -0.2]))
    x = rng.uniform((0, -1), (4, 1), (5, 2))
    a = arrays(module)
    hidden = np.sin((x - (2, 0)) / (2, 1) @ a["features_weight"].T + a["features_bias"])
    expected = hidden @ a["weight"].T + a["bias"]
    got = module(T.tensor(x)).detach().numpy()
    np.testing.assert_allclose(got, expected, rtol=1e-13, atol=1e-14)


def test_only_the_last_layer_is_trained_and_it_starts_at_zero():
    model = pinn.RandomFeatures(width=7)
    module = build(model)
    assert {name for name, _ in module.named_parameters()} == {"weight", "bias"}
    assert model.parameter_count(DOMAIN, ["u", "v"]) == 2 * 8
    assert not np.any(module(T.tensor([[1.0, 0.5]])).detach().numpy())


def test_features_pass_through_the_box_as_steeply_as_was_asked_for():
    a = arrays(build(pinn.RandomFeatures(width=4000, steepness=(2, 8))))
    weight, bias = a["features_weight"], a["features_bias"]
    steepness = np.abs(weight).max(axis=1)  # of two uniform numbers in [-s, s]
    assert steepness.max() <= 8
    # log-uniform s: its logarithm has the mean of the two ends; the larger of two uniform numbers
    # in [0, 1] has a logarithm of mean -1/2.
    assert np.log(steepness).mean() == pytest.approx(np.log(4) - 0.5, abs=0.05)
    # a.c within sum |a|, as the centres are in the box
    assert np.all(np.abs(bias) <= np.abs(weight).sum(axis=1) + 1e-12)


def test_the_rows_of_a_linear_problem_are_linear_in_what_is_trained():
    problem = pinn.Problem(
        DOMAIN, ["u"], {"poisson": "laplacian(u) - x*y"}, [pinn.Dirichlet("u", "x")]
    )
    objective = Experiment(
        problem, pinn.RandomFeatures(width=12), pinn.Sampling(interior=30, boundary=10), threads=1
    ).objective()
    step = np.random.default_rng(0).standard_normal(objective.size)
    start, rows = objective.jacobian(objective.theta)
    np.testing.assert_allclose(
        objective.weighted_rows(objective.theta + step), start + rows @ step, rtol=1e-11, atol=1e-11
    )


@pytest.mark.parametrize(
    ("width", "interaction", "expected"),
    [(12, 1, {1: 12}), (60, 2, {1: 24, 2: 36}), (20, 4, None), (20, 9, None)],
)
def test_features_depend_on_few_inputs_and_sets_of_inputs_share_them_evenly(
    width, interaction, expected
):
    cube = pinn.Box(*(pinn.Interval(name, 0, 1) for name in ("x", "y", "z", "w")))
    model = pinn.RandomFeatures(width=width, interaction=interaction)
    module = model.build(cube, ["u"], np.random.default_rng(0), T.float64)
    seen = arrays(module)["features_weight"] != 0
    sets, counts = np.unique(seen, axis=0, return_counts=True)
    if expected is None:  # of all four nothing is left out
        assert seen.all()
        return
    assert len(set(counts)) == 1
    sizes = sets.sum(axis=1)
    assert {k: counts[sizes == k].sum() for k in set(sizes.tolist())} == expected


def test_features_see_the_coordinates_a_hole_or_both_and_never_two_holes():
    square = pinn.Interval("x", -1, 1) * pinn.Interval("y", -1, 1)
    holes = [pinn.InversionEmbedding((at, 0.0), 0.1) for at in (-0.5, 0.5)]
    square = square - pinn.Disk((-0.5, 0.0), 0.1) - pinn.Disk((0.5, 0.0), 0.1)
    model = pinn.RandomFeatures(width=50, embedding=holes)
    module = model.build(square, ["u"], np.random.default_rng(0), T.float64)
    seen = arrays(module)["features_weight"] != 0
    everywhere, left, right = [1, 1], [1, 1, 1], [0, 0, 0]
    expected = [
        [*everywhere, *right, *right], [0, 0, *left, *right], [0, 0, *right, *left],
        [*everywhere, *left, *right], [*everywhere, *right, *left],
    ]  # fmt: skip
    assert (seen == np.tile(expected, (10, 1))).all()
    few = replace(model, width=20).build(square, ["u"], np.random.default_rng(0), T.float64)
    np.testing.assert_array_equal(
        arrays(few)["features_weight"], arrays(module)["features_weight"][:20]
    )
    alone = replace(model, interaction=1)
    module = alone.build(square, ["u"], np.random.default_rng(0), T.float64)
    assert ((arrays(module)["features_weight"] != 0).sum(axis=1) == 1).all()


def test_of_more_sets_than_features_random_ones_have_one():
    cube = pinn.Box(*(pinn.Interval(f"x{i}", 0, 1) for i in range(30)))
    model = pinn.RandomFeatures(width=200, interaction=2)
    module = model.build(cube, ["u"], np.random.default_rng(0), T.float64)
    sizes = (arrays(module)["features_weight"] != 0).sum(axis=1)
    assert set(sizes.tolist()) == {1, 2}
    # 30 sets of one against 435 of two
    assert np.mean(sizes == 1) == pytest.approx(30 / 465, abs=4 * np.sqrt(30 * 435 / 465**2 / 200))


def test_a_sum_of_functions_of_one_coordinate_is_found_in_many():
    names = [f"x{i}" for i in range(8)]
    squares = " + ".join(f"{name}**2" for name in names)
    problem = pinn.Problem(
        pinn.Box(*(pinn.Interval(name, 0, 1) for name in names)), ["u"],
        {"poisson": "laplacian(u)/16 - 1"}, [pinn.Dirichlet("u", squares)],
        reference={"u": squares},
    )  # fmt: skip
    solution = pinn.solve(
        problem, pinn.RandomFeatures(width=96, steepness=(0.1, 1), interaction=1),
        pinn.Sampling(interior=150, boundary=300), [pinn.GaussNewton(steps=2, cutoff=1e-14)],
        error_bars=False,
    )  # fmt: skip
    assert solution.report.rel_l2["u"] < 1e-5


@pytest.mark.parametrize("given", [(3, 1), (0, 1), (1, 2, 3), (1,)])
def test_a_range_that_is_none_is_refused(given):
    with pytest.raises(DeclarationError, match="steepness"):
        pinn.RandomFeatures(steepness=given)


def test_a_factorised_last_layer_would_not_be_linear():
    with pytest.raises(DeclarationError, match="factorization"):
        build(pinn.RandomFeatures(factorization=pinn.Factorization()))


def test_more_features_begin_with_those_that_fewer_are():
    def features(width):
        module = pinn.RandomFeatures(width, (0.5, 8.0)).build(
            pinn.Box(pinn.Interval("x", 0, 1), pinn.Interval("y", 0, 2)), ["u"],
            np.random.default_rng(3), np.dtype(float),
        )
        return {name: buffer.numpy() for name, buffer in module.named_buffers()}

    few, many = features(5), features(11)
    hidden = [name for name in few if "features" in name]
    assert len(hidden) == 2
    for name in hidden:
        np.testing.assert_array_equal(many[name][:5], few[name])
