"""Named regions, and constants that differ between them."""

from __future__ import annotations

import numpy as np
import pytest

import pinn
from pinn.config import ConfigError, load
from pinn.schema.errors import DeclarationError
from pinn.training.experiment import Experiment

SQUARE = pinn.Interval("x", -1, 1) * pinn.Interval("y", -1, 1)
POINTS = np.random.default_rng(0).uniform(-1, 1, (200, 2))
X, Y = POINTS.T
HOLE = X**2 + Y**2 < 0.25
REGIONS = {"left": "x < 0 and not y > 0.5", "hole": pinn.Disk(radius=0.5)}


def value(text, **changes):
    """Return a text without the unknown at the points, by way of a residual."""
    settings = dict(regions=REGIONS, piecewise={"k": {"hole": 5, "left": "1 + x", "elsewhere": 2}})
    problem = pinn.Problem(SQUARE, ["u"], {"e": text}, **{**settings, **changes})
    case = Experiment(problem, model=pinn.MLP(width=3, depth=1)).objective()
    found = case.residuals(case.theta, {"e": POINTS})["e"]
    none = pinn.Problem(SQUARE, ["u"], {"e": "u"})
    plain = Experiment(none, model=pinn.MLP(width=3, depth=1)).objective()
    return found - plain.residuals(plain.theta, {"e": POINTS})["e"]


LEFT = (X < 0) & ~(Y > 0.5)
K = np.where(HOLE, 5, np.where(LEFT, 1 + X, 2))


@pytest.mark.parametrize(
    ("equation", "expected"),
    [
        ("u + k", K),
        (lambda s: s.u + s.k, K),
        ("u + where(hole, x, y)", np.where(HOLE, X, Y)),
        ("u + where(hole and left or y > 0.8, 1, 2)", np.where(HOLE & LEFT | (Y > 0.8), 1, 2)),
        ("u + 3*hole - left", 3.0 * HOLE - LEFT),
        ("u + (x < 0)*(y < 0)*x", X * ((X < 0) & (Y < 0))),
        ("u + where((x < 0)*hole, 1, 0)", (X < 0) & HOLE),
        ("u + diff(k*y, y)", K),
        ("u + diff(k, x)", np.where(HOLE, 0, LEFT)),
        ("u + at(k, x=0, y=x)", np.where(np.abs(X) < 0.5, 5, 2)),
        ("u + integral(hole, x, -1, 1, nodes=400)/2", None),
    ],
)
def test_regions_are_names_in_equations(equation, expected):
    got = value(equation)
    if expected is None:  # the share of the line that is in the hole
        np.testing.assert_allclose(got, np.sqrt(np.maximum(0.25 - Y**2, 0)), atol=0.01)
    else:
        np.testing.assert_allclose(got, expected, rtol=0, atol=1e-13)


def test_the_first_of_overlapping_regions_counts():
    for order in (("hole", "left"), ("left", "hole")):
        sizes = {"hole": 5.0, "left": 1.0}
        got = value("u + k", piecewise={"k": {**{n: sizes[n] for n in order}, "elsewhere": 0}})
        first, second = ({"hole": HOLE, "left": LEFT}[name] for name in order)
        expected = np.where(first, sizes[order[0]], np.where(second, sizes[order[1]], 0))
        np.testing.assert_array_equal(np.round(got, 12), expected)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"regions": {"hole": "x + y"}}, "problem: regions.hole: expected a comparison such as"),
        ({"regions": {"hole": "x < z"}}, "regions.hole: unknown name 'z'"),
        ({"regions": {"hole": pinn.Ball((0, 0, 0), 1)}}, "a shape of the space coordinates x, y"),
        ({"regions": {"x": "y < 0"}}, "'x' is declared as a coordinate and again as a region"),
        ({"regions": {"hole": 3}}, "regions.hole: expected a comparison"),
        ({"piecewise": {"k": {"hole": 1}}}, "piecewise.k: expected a value for 'elsewhere'"),
        ({"piecewise": {"k": {"hol": 1, "elsewhere": 2}}}, "got 'hol'.*did you mean 'hole'"),
        ({"equations": {"e": "u + hle"}}, "unknown name 'hle'; did you mean 'hole'"),
        ({"equations": {"e": "u*where(k, 1, 2)"}}, "the first argument of where is a comparison"),
    ],
)
def test_a_region_that_is_none_is_refused(changes, message):
    settings = dict(
        domain=SQUARE, unknowns=["u"], equations={"e": "u"}, regions=REGIONS, constants={"q": 1},
        piecewise={"k": {"hole": 5, "elsewhere": 2}},
    )  # fmt: skip
    with pytest.raises(DeclarationError, match=message):
        pinn.Problem(**{**settings, **changes})


CONFIG = """
problem:
  domain: {x: [-1, 1], y: [-1, 1]}
  unknowns: [u]
  regions:
    hole: {disk: {radius: 0.5}}
    left: x < 0 and not y > 0.5
  piecewise: {k: {hole: 5, left: 1 + x, elsewhere: 2}}
  equations: {poisson: k*laplacian(u) - 1}
  conditions:
    - dirichlet: {unknown: u, value: "where(left, 0, k)"}
"""


def test_a_config_says_the_same_and_is_saved(tmp_path):
    path = tmp_path / "blocks.yaml"
    path.write_text(CONFIG)
    config = load(path)
    stated = config.experiment.problem
    same = pinn.Problem(
        SQUARE, ["u"], {"e": "u"}, regions=REGIONS,
        piecewise={"k": {"hole": 5, "left": "1 + x", "elsewhere": 2}},
    )  # fmt: skip
    assert stated.scope.definitions == same.scope.definitions
    path.write_text(config.text())
    assert load(path).experiment.problem.scope.definitions == same.scope.definitions
    path.write_text(CONFIG.replace("left: 1", "lft: 1"))
    with pytest.raises(ConfigError, match=r"piecewise.*expected one of the regions hole, left"):
        load(path)
