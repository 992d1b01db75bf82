"""Places where slopes are infinite: equations count less near them."""

import numpy as np
import pytest

import pinn
from pinn.config import load
from pinn.equations.functions import NUMPY_FUNCTIONS
from pinn.equations.values import Values
from pinn.problem.singularity import order_of, orders_of
from pinn.training.experiment import Experiment

SQUARE = pinn.Interval("x", 0, 1) * pinn.Interval("y", 0, 1)
CORNER = pinn.Singularity({"x": 0, "y": 0}, 0.5)


def problem(equations=("laplacian(u) - 1",), places=(CORNER,), **given):
    named = {f"e{k}": text for k, text in enumerate(equations)}
    return pinn.Problem(
        SQUARE, ["u"], named,
        **{"conditions": [pinn.Dirichlet("u", 0)], "singularities": places} | given,
    )  # fmt: skip


def factor(residual, x, y):
    values = Values({"x": np.array([x]), "y": np.array([y])}, {})
    return float(np.asarray(residual.scale.evaluate(values, NUMPY_FUNCTIONS)).item())


def test_an_equation_counts_by_the_distance_to_a_power():
    second, fourth, first = problem(
        ["laplacian(u) - 1", "u_xxxx + u", "u_x + u_y"]
    ).residuals[:3]  # fmt: skip
    near = 0.3 / np.hypot(0.3, 0.5)
    assert factor(second, 0.3, 0.0) == pytest.approx(near, rel=1e-14)
    assert factor(fourth, 0.3, 0.0) == pytest.approx(near**3, rel=1e-14)
    assert factor(second, 0.0, 0.0) == 0
    assert first.scale is None


def test_values_on_a_wall_count_as_they_are_and_slopes_by_a_root_of_the_distance():
    conditions = [pinn.Dirichlet("u", 0, on="x=0"), pinn.Neumann("u", 1, on="y=0")]
    _, value, slope = problem(conditions=conditions).residuals
    assert value.scale is None
    near = 0.3 / np.hypot(0.3, 0.5)
    assert factor(slope, 0.3, 0.0) == pytest.approx(near**0.5, rel=1e-14)


def test_measurements_and_starts_count_as_they_are():
    asked = pinn.Problem(
        SQUARE * pinn.Time("t", 0, 1), ["u"], {"e": "u_t - laplacian(u)"},
        [pinn.Initial("u", 0), pinn.PointValue("u", 0, x=0.5, y=0.5, t=1)],
        singularities=[CORNER],
    )  # fmt: skip
    _, *others = asked.residuals
    assert [one.scale for one in others] == [None, None]


def test_several_places_multiply_and_so_do_layers():
    other = pinn.Singularity({"x": 1, "y": 1}, 0.25)
    both = problem(places=[CORNER, other]).residuals[0]
    at = (0.2, 0.4)
    one, two = (factor(problem(places=[p]).residuals[0], *at) for p in (CORNER, other))
    assert factor(both, *at) == pytest.approx(one * two, rel=1e-14)
    layered = {"equations": ["-0.01*laplacian(u) + u_x"], "layers": {"x": [None, 0.01]}}
    alone = factor(problem(**layered, places=()).residuals[0], *at)
    assert factor(problem(**layered).residuals[0], *at) == pytest.approx(one * alone, rel=1e-14)


def test_a_residual_is_multiplied_by_the_factor():
    def residual(places):
        asked = problem(["laplacian(u) - x"], places)
        solution = pinn.solve(
            asked, pinn.MLP(width=4, depth=1), pinn.Sampling(interior=50),
            [pinn.Adam(steps=1)], error_bars=False,
        )  # fmt: skip
        objective = solution.experiment.objective()
        (block, _) = objective.blocks
        return block.points.coordinates, objective.residuals(objective.theta)["e0"]

    points, plain = residual(())
    places, less = residual([CORNER])
    np.testing.assert_array_equal(points, places)
    r = np.hypot(*points.T)
    np.testing.assert_allclose(less, plain * r / np.hypot(r, 0.5), rtol=1e-12)


@pytest.mark.parametrize("given, message", [
    ({"x": 0, "z": 0}, r"singularities\.0\.at: expected coordinates of space, x, y, got 'z'"),
    ({"x": 0, "y": 9}, r"0\.at\.y: expected a place of the domain, y from 0 to 1, got 9"),
    ({"x": 0}, r"singularities\.0\.at: expected two coordinates or more, got x"),
    ({}, r"singularities\.0\.at: expected two coordinates or more, got none"),
])  # fmt: skip
def test_what_is_no_place_is_refused(given, message):
    with pytest.raises(ValueError, match=message):
        problem(places=[pinn.Singularity(given, 0.1)])


def test_a_reach_of_nothing_is_refused():
    with pytest.raises(ValueError, match=r"reach: expected a number > 0, got 0"):
        pinn.Singularity({"x": 0, "y": 0}, 0)


def test_a_config_names_places(tmp_path):
    file = tmp_path / "corner.yaml"
    file.write_text(
        "problem:\n"
        "  domain: {x: [0, 1], y: [0, 1]}\n"
        "  unknowns: [u]\n"
        "  equations: {e: laplacian(u) - 1}\n"
        "  conditions: [dirichlet: {unknown: u, value: 0}]\n"
        "  singularities: [{at: {x: 0, y: 0}, reach: 0.5}]\n"
    )
    config = load(file)
    assert config.experiment.problem.singularities == (CORNER,)
    file.write_text(config.text())
    assert load(file).experiment.problem.singularities == (CORNER,)


def test_orders_of_unknowns():
    asked = pinn.Problem(
        SQUARE * pinn.Time("t", 0, 1), ["u", "p"], {"e": "u_t - laplacian(u) + p_x + u*p"}
    )
    (residual,) = asked.residuals
    assert orders_of(residual, ("x", "y")) == {"u": 2, "p": 1}
    assert order_of(residual, ("x", "y")) == 2


def test_a_density_has_as_many_points_at_any_scale_of_the_distance():
    text = CORNER.density(0.5, SQUARE.bounds)
    sampling = pinn.Sampling(interior=4000, density=text)
    asked = Experiment(problem(places=()), pinn.MLP(), sampling=sampling)
    r = np.hypot(*asked.draw_points()["e0"].coordinates.T)
    counts = [np.mean((r > 10.0**-k) & (r < 10.0 ** (1 - k))) for k in (1, 2)]
    assert counts[1] == pytest.approx(counts[0], rel=0.2)
    # a quarter of the circle lies in the square
    grid = (np.arange(2000) + 0.5) / 2000
    x, y = np.meshgrid(grid, grid)
    values = eval(text, {"x": x, "y": y})
    assert np.mean(values) == pytest.approx(0.5 / 4, rel=0.2)
