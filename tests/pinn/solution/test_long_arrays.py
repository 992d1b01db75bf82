"""Declared arrays of any length: through a solution file and through a resolved config."""

import numpy as np
import pytest

import pinn
from pinn.config import load as load_config
from pinn.config.config import Config, Output
from pinn.files import to_json
from pinn.schema import dump
from pinn.schema.arrays import with_texts
from pinn.solution.solution import Solution
from pinn.solution.storage import experiment_json
from pinn.training.experiment import Experiment

SQUARE = pinn.Interval("x", 0, 1) * pinn.Interval("y", 0, 1)
LINE = pinn.Interval("x", 0, 1)
RNG = np.random.default_rng(3)
ROWS = RNG.uniform(0.1, 0.9, (70, 2))
COLUMNS = {"x": ROWS[:, 0], "y": ROWS[:, 1]}
GRID = np.linspace(0, 1, 70)
ANGLES = np.linspace(0, 2 * np.pi, 70, endpoint=False)
CIRCLE = np.stack([np.cos(ANGLES), np.sin(ANGLES)], axis=1)


def experiment(domain=SQUARE, conditions=(), sampling=None, **more):
    laplace = "u_xx + u_yy" if len(domain.coordinates) > 1 else "u_xx"
    conditions = conditions or [pinn.Dirichlet("u", 0)]
    problem = pinn.Problem(domain, ["u"], {"l": laplace}, conditions, **more)
    return Experiment(problem, model=pinn.MLP(2, 1), sampling=sampling or pinn.Sampling(8, 8, 8))


def with_points(points):
    return experiment(sampling=pinn.Sampling(8, 8, 8, blocks={"l": {"points": points}}))


def with_values(value, domain=LINE):
    return experiment(domain, [pinn.Dirichlet("u", value)])


EXPERIMENTS = {
    "32 rows of points": lambda: with_points(ROWS[:32]),
    "33 rows of points": lambda: with_points(ROWS[:33]),
    "list of points": lambda: with_points(ROWS.tolist()),
    "columns of points": lambda: with_points(COLUMNS),
    "points of a condition": lambda: experiment(
        conditions=[pinn.Operator("u", on="x=0", name="left")],
        sampling=pinn.Sampling(
            8, 8, 8, blocks={"left": {"points": np.stack([0 * GRID, GRID], axis=1)}}
        ),
    ),
    "signal": lambda: with_values((GRID, np.sin(GRID))),
    "field": lambda: with_values((GRID, GRID, np.outer(GRID, GRID)), SQUARE),
    "table": lambda: with_values(pinn.Table("u", {"x": GRID, "u": GRID**2}, method="spline")),
    "table in an equation": lambda: experiment(
        constants={}, tables=[pinn.Table("k", {"x": GRID, "k": GRID**2})]
    ),
    "data": lambda: experiment(
        conditions=[pinn.Dirichlet("u", 0), pinn.Data("u", {**COLUMNS, "u": ROWS[:, 0]})]
    ),
    "column called array": lambda: experiment(
        conditions=[
            pinn.Dirichlet("u", 0),
            pinn.Data("u", {**COLUMNS, "array": ROWS[:, 0]}, columns={"u": "array"}),
        ]
    ),
    "places of a condition": lambda: experiment(
        conditions=[pinn.Operator("u - x", at={"x": GRID, "y": GRID})]
    ),
    "reference on a grid": lambda: experiment(
        reference={"u": (GRID, GRID, np.outer(GRID, GRID))}
    ),
    "reference at points": lambda: experiment(
        reference=pinn.Table("u", {**COLUMNS, "u": ROWS[:, 0]})
    ),
    "cloud": lambda: experiment(
        pinn.PointCloud(0.6 * CIRCLE, boundary=CIRCLE, normals=CIRCLE)
    ),
    "polygon": lambda: experiment(pinn.Polygon(CIRCLE)),
    "interface": lambda: experiment(pinn.Polygon(2 * CIRCLE) - pinn.Polygon(CIRCLE)),
}


@pytest.fixture(params=EXPERIMENTS)
def declared(request):
    return EXPERIMENTS[request.param]()


def test_a_solution_keeps_them_to_the_last_bit(declared, tmp_path):
    report = pinn.Report("", "", loss=0.0, losses={}, wall_seconds=0.0, steps=0)
    Solution(declared, declared.initial_parameters().theta, report).save(tmp_path / "s.npz")
    found = pinn.load(tmp_path / "s.npz").experiment
    assert experiment_json(found) == experiment_json(declared)
    assert points_of(found) == points_of(declared)


def test_a_resolved_config_keeps_them_to_the_last_bit(declared, tmp_path):
    (tmp_path / "config.yaml").write_text(Config(declared, Output(), "config.yaml").text())
    found = load_config(tmp_path / "config.yaml").experiment
    assert to_json(with_texts(dump(found))) == to_json(with_texts(dump(declared)))
    assert points_of(found) == points_of(declared)


def points_of(experiment):
    return {name: p.coordinates.tobytes() for name, p in experiment.draw_points().items()}
