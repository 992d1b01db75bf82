"""Equations that hold on a part of the domain, and fields that are joined of several unknowns."""

import re
from pathlib import Path

import numpy as np
import pytest

import pinn
from pinn.config import ConfigError, load
from pinn.runs import Run
from pinn.runs.figures import draw_run
from pinn.training.experiment import Experiment

PAGE = (Path(__file__).parents[3] / "docs" / "language.md").read_text(encoding="utf-8")
X, TIME = pinn.Interval("x", 0, 1), pinn.Time("t", 0, 2)
SQUARE = pinn.Interval("x", -1, 1) * pinn.Interval("y", -1, 1)


def points_of(problem, block, **sampling):
    return Experiment(problem, pinn.MLP(3, 1), pinn.Sampling(**sampling)).draw_points()[block]


def wave(on, domain=X * TIME, **changes):
    equations = {"e": pinn.Equation("u_t + c*u_x", on=on)}
    return pinn.Problem(domain, ["u"], equations, constants={"c": 0.5}, **changes)


@pytest.fixture(scope="module")
def two_media(tmp_path_factory):
    (text,) = (t for t in re.findall(r"```yaml\n(.*?)```", PAGE, re.S) if "two-media" in t)
    path = tmp_path_factory.mktemp("page") / "two-media.yaml"
    path.write_text(text)
    one = load(path).experiment
    return pinn.solve(one.problem, one.model, one.sampling, one.training)


def test_two_media_of_the_page_are_solved_to_1e_6(two_media):
    assert two_media.report.rel_l2.keys() == {"u"}
    assert two_media.report.rel_l2["u"] < 1e-6
    assert not two_media.report.warnings


def test_the_joined_field_is_evaluated_differentiated_and_drawn(two_media, tmp_path):
    xs = np.linspace(0, 1, 11)
    found = two_media.evaluate(x=xs)
    assert np.array_equal(found["u"], np.where(xs < 0.4, found["u1"], found["u2"]))
    assert np.array_equal(two_media.derivative("u", x=xs), found["u"])
    slopes = two_media.derivatives(["u1_x", "u2_x", "diff(u, x)"], x=xs)
    assert np.allclose(slopes[2], np.where(xs < 0.4, *slopes[:2]))
    data = two_media.field_data("u")
    assert np.abs(data.values - data.reference).max() < 1e-4
    two_media.save(tmp_path / "two.npz")
    assert np.array_equal(pinn.load(tmp_path / "two.npz").evaluate(x=xs)["u"], found["u"])
    paths = draw_run(Run.create(tmp_path / "run"), two_media)
    assert {"field_u1.png", "field_u2.png", "field_u.png"} <= {path.name for path in paths}


@pytest.mark.parametrize(
    ("on", "inside"),
    [
        ("x < 0.3", lambda x, t: x < 0.3),
        ("x < c*t and t > 1", lambda x, t: (x < 0.5 * t) & (t > 1)),
        ("late", lambda x, t: t > 1.5),
        ("not late or x > 0.9", lambda x, t: (t <= 1.5) | (x > 0.9)),
    ],
)
def test_points_lie_where_the_equation_holds(on, inside):
    problem = wave(on, regions={"late": "t > 1.5"})
    for method in ("latin-hypercube", "sobol", "uniform"):
        points = points_of(problem, "e", interior=90, method=method).coordinates
        assert len(points) == 90 and inside(*points.T).all()
    assert inside(*points_of(problem, "e", interior=90, method="grid").coordinates.T).all()
    case = Experiment(problem, pinn.MLP(3, 1), pinn.Sampling(90))
    residuals = case.objective().residuals
    again = case.draw_points(1, lambda at: residuals(case.objective().theta, at))["e"]
    assert inside(*again.coordinates.T).all()


def test_they_are_spread_evenly_over_a_shape():
    disk = pinn.Disk((0.2, 0), 0.5)
    problem = pinn.Problem(SQUARE, ["u"], {"e": pinn.Equation("laplacian(u) - 1", on=disk)})
    x, y = points_of(problem, "e", interior=2000).coordinates.T
    r = np.hypot(x - 0.2, y) / 0.5
    assert r.max() < 1
    # r^2 is uniform: its mean is 1/2 to 4 standard deviations.
    assert abs((r**2).mean() - 0.5) < 4 / np.sqrt(12 * 2000)


def test_equations_of_one_region_share_their_points_and_take_points_of_the_users_own():
    part = "x < 0.3"
    problem = pinn.Problem(
        X, ["u", "v"],
        {"a": pinn.Equation("u_x - v", part), "b": pinn.Equation("v_x", part), "c": "u - v"},
    )  # fmt: skip
    drawn = Experiment(problem, pinn.MLP(3, 1), pinn.Sampling(40)).draw_points()
    assert drawn["a"] is drawn["b"] and drawn["c"].coordinates.max() > 0.9
    own = {"a": {"points": [[0.1], [0.2]]}}
    assert len(points_of(problem, "a", blocks=own)) == 2
    with pytest.raises(ValueError, match=r"row 1: expected a point of x < 0.3, got x = 0.4"):
        points_of(problem, "a", blocks={"a": {"points": [[0.1], [0.4]]}})


def test_functions_hold_on_a_part_too_and_what_is_no_part_is_refused(tmp_path):
    problem = pinn.Problem(X, ["u"], {"e": pinn.Equation(lambda s: s.u_x - 1, on="x > 0.5")})
    assert points_of(problem, "e", interior=20).coordinates.min() > 0.5
    for on, message in {
        "x > 2": "equations.e.on: expected a part of the domain, got x > 2, in which no point of",
        "lfet": "equations.e.on: expected a comparison such as x < 0.5",
        "not lfet": "equations.e.on: unknown name 'lfet'",
        "u > 0": "equations.e.on: unknown name 'u'",
        "x + 1": "equations.e.on: expected a comparison",
    }.items():
        with pytest.raises(ValueError, match=message):
            wave(on)
    with pytest.raises(ValueError, match=r"equations.e.expression: unknown name 'w'"):
        pinn.Problem(X, ["u"], {"e": pinn.Equation("w", on="x > 0.5")})
    path = tmp_path / "case.yaml"
    path.write_text(
        "problem: {domain: {x: [0, 1]}, unknowns: [u], equations: {e: {expression: u_x, no: x}}}"
    )
    with pytest.raises(ConfigError, match="1: problem.equations.e.no: unknown key; valid keys: ex"):
        load(path)
