"""Domains of shapes in config files and saved solutions, trained, evaluated and drawn."""

import json
import math

import numpy as np
import pytest

import pinn
from pinn.cli import main
from pinn.config import ConfigError, load
from pinn.schema import dump
from pinn.schema.reader import Reader
from pinn.schema.tree import Place, tree_of

X, Y = pinn.Interval("x", -1, 1), pinn.Interval("y", -1, 1)
SQUARE = X * Y
CORNERS = ((0, 0), (1, 0), (1, -1), (-1, -1), (-1, 1), (0, 1))

CASE = """\
problem:
  domain: {domain}
  unknowns: [u]
  equations: {{poisson: u_xx + u_yy + 1}}
  conditions:
    - dirichlet: {{unknown: u, value: 0}}
training: [adam: {{steps: 5}}]
sampling: {{interior: 40, boundary: 20, adaptive: null, redraw: null}}
"""


@pytest.fixture
def loaded(tmp_path):
    def load_domain(text):
        path = tmp_path / "case.yaml"
        path.write_text(CASE.format(domain=text))
        return load(path)

    return load_domain


FORMS = [
    ("{disk: {}}", pinn.Disk()),
    ("{disk: }", pinn.Disk()),
    ("{disk: {center: [1/2, 0], radius: pi/4, name: rim}}",
     pinn.Disk((0.5, 0), math.pi / 4, name="rim")),
    ("{ball: {center: [0, 0]}}", pinn.Ball((0, 0))),
    ("{ellipse: {radii: [2, 1]}}", pinn.Ellipse(radii=(2, 1))),
    ("{triangle: {a: [0, 0], b: [1, 0], c: [0, 1]}}", pinn.Triangle((0, 0), (1, 0), (0, 1))),
    ("{polygon: [[0, 0], [1, 0], [1, -1], [-1, -1], [-1, 1], [0, 1]]}", pinn.Polygon(CORNERS)),
    ("{polygon: {points: [[0, 0], [1, 0], [0, 1]], name: rim}}",
     pinn.Polygon([(0, 0), (1, 0), (0, 1)], name="rim")),
    ("{difference: [{x: [-1, 1], y: [-1, 1]}, {disk: {radius: 0.5, name: hole}}]}",
     SQUARE - pinn.Disk(radius=0.5, name="hole")),
    ("{difference: {shapes: [{x: [-1, 1], y: [-1, 1]}, {disk: {radius: 0.5}}], name: all}}",
     pinn.Difference((SQUARE, pinn.Disk(radius=0.5)), name="all")),
    ("{union: [{disk: {}}, {difference: [{disk: {center: [1, 0]}}, {disk: {center: [2, 0]}}]}]}",
     pinn.Disk() | (pinn.Disk((1, 0)) - pinn.Disk((2, 0)))),
    ("{intersection: [{disk: {}}, {x: [0, 1], y: [0, 1]}]}",
     pinn.Disk() & pinn.Interval("x", 0, 1) * pinn.Interval("y", 0, 1)),
    ("{x: [-1, 1], y: [-1, 1], name: plate}", SQUARE.named("plate")),
    ("{difference: [{disk: {}}, {x: [0, 1], y: [0, 1], name: notch}]}",
     pinn.Disk() - (pinn.Interval("x", 0, 1) * pinn.Interval("y", 0, 1)).named("notch")),
    ("{moved: {shape: {disk: {}}, by: [1, 0]}}", pinn.geometry.Moved(pinn.Disk(), (1, 0))),
    ("{rotated: {shape: {x: [-1, 1], y: [-1, 1]}, angle: pi/4, about: [1, 1]}}",
     SQUARE.rotated(math.pi / 4, about=(1, 1))),
    ("{disk: {}, z: [0, 1]}", pinn.Disk() * pinn.Interval("z", 0, 1)),
    ("{difference: [{disk: {}}, {disk: {radius: 0.5}}], t: {time: [0, 1]}}",
     (pinn.Disk() - pinn.Disk(radius=0.5)) * pinn.Time("t", 0, 1)),
]  # fmt: skip


@pytest.mark.parametrize(("text", "shape"), FORMS)
def test_a_file_says_what_python_does(loaded, text, shape):
    config = loaded(text)
    assert config.experiment.problem.domain == shape
    (data,) = [dump(config.experiment)["problem"]["domain"]]
    kind = pinn.schema.fields_of(pinn.Problem)["domain"].kind
    reader = Reader(stored=True)
    assert kind.read(tree_of(data, Place("json")), (), reader) == shape and not reader.complaints
    path = config.experiment.problem.name
    assert path == "case"


def test_the_resolved_config_gives_the_same_domain(loaded, tmp_path):
    config = loaded(FORMS[10][0])
    (tmp_path / "again.yaml").write_text(config.text())
    again = load(tmp_path / "again.yaml")
    assert again.experiment.problem.domain == config.experiment.problem.domain


@pytest.mark.parametrize(
    ("text", "key", "message"),
    [
        ("{disk: {radius: -1}}", "disk.radius", "expected a number > 0, got '-1'"),
        ("{disk: {radios: 1}}", "disk.radios", "unknown key; valid keys: center, radius"),
        ("{dusk: {radius: 1}}", "dusk", "expected [low, high] or {time: [low, high]}"),
        ("{difference: [{disk: {}}]}", "difference.shapes", "two shapes or more, got 1"),
        ("{difference: [{disk: {}}, {disk: {radius: 2}}]}", "difference.shapes",
         "the difference is empty"),
        ("{intersection: [{disk: {}}, {disk: {center: [3, 0]}}]}", "intersection.shapes",
         "the intersection is empty"),
        ("{union: [{disk: {}}, {x: [0, 1]}]}", "union.shapes.1", "of the same coordinates"),
        ("{union: [{disk: {}}, {disk: {radius: 0}}]}", "union.shapes.1.disk.radius", "> 0"),
        ("{polygon: [[0, 0], [1, 0]]}", "polygon.points", "three corners or more, got 2"),
        ("{mesh: none.msh}", "mesh.path", "none.msh: there is no such file"),
        ("{surface: {path: none.stl}}", "surface.path", "none.stl: there is no such file"),
        ("{point_cloud: none.csv}", "point_cloud.points", "none.csv: No such file"),
        ("{disk: {}, y: [0, 1]}", "domain", "each coordinate of a domain needs its own name"),
        ("{x: [0, 1], y: [0, 1], name: 2}", "domain.name", "expected a name of letters"),
    ],
)  # fmt: skip
def test_mistakes_are_told_with_their_keys(loaded, text, key, message):
    with pytest.raises(ConfigError) as caught:
        loaded(text)
    (complaint,) = caught.value.complaints
    assert complaint.key.endswith(key) and message in complaint.message
    assert complaint.place.line == 2


def test_a_cloud_comes_from_a_csv_file(loaded, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = "\n".join(f"{i}, {i * i}" for i in range(9))
    (tmp_path / "points.csv").write_text("x, y\n" + text)
    (tmp_path / "edge.csv").write_text(text)
    config = loaded("{point_cloud: {points: points.csv, boundary: edge.csv}}")
    domain = config.experiment.problem.domain
    assert domain.points == domain.boundary == tuple((float(i), float(i * i)) for i in range(9))
    with pytest.raises(ConfigError, match="faces: none: nothing is known of the boundary of Point"):
        loaded("{point_cloud: points.csv}")
    for content in (b"1, 2\n3", b"\xff\xfe\x00", b"", b"x, y"):
        (tmp_path / "points.csv").write_bytes(content)
        with pytest.raises(ConfigError, match="problem.domain.point_cloud.points: "):
            loaded("{point_cloud: points.csv}")


DRAWN = {
    "L": (pinn.Polygon(CORNERS), 3),
    "hole": (SQUARE - pinn.Disk(radius=0.5, name="hole"), 4 - math.pi / 4),
    "annulus in time": (
        (pinn.Disk() - pinn.Disk(radius=0.5)) * pinn.Time("t", 0, 1), 0.75 * math.pi,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", DRAWN)
def test_solutions_are_saved_evaluated_and_drawn_on_their_domain(tmp_path, name):
    domain, area = DRAWN[name]
    conditions = [pinn.Dirichlet("u", 0.0)]
    equation = "u_xx + u_yy + 1"
    if domain.time:
        equation, conditions = f"u_t - ({equation})", [*conditions, pinn.Initial("u", 0.0)]
    problem = pinn.Problem(
        domain=domain, unknowns=["u"], equations={"e": equation}, conditions=conditions,
        reference={"u": "x + y"},
    )  # fmt: skip
    solution = pinn.solve(
        problem, pinn.MLP(width=8, depth=1), pinn.Sampling(interior=50, initial=20, boundary=40),
        [pinn.Adam(steps=3)], seed=0,
    )  # fmt: skip
    solution.save(tmp_path / "solution.npz")
    again = pinn.load(tmp_path / "solution.npz")
    assert again.problem.domain == domain
    data = again.field_data("u")
    grid = np.meshgrid(*data.coordinates.values(), indexing="ij")
    times = [np.full(grid[0].shape, 0.5)] if domain.time else []
    points = np.stack([*grid, *times], axis=-1).reshape(-1, len(domain.coordinates))
    np.testing.assert_array_equal(data.inside.reshape(-1), domain.contains(points))
    cell = np.prod([np.diff(axis)[0] for axis in data.coordinates.values()])
    assert data.inside.sum() * cell == pytest.approx(area, rel=0.03)
    assert np.isfinite(data.values[data.inside]).all() and np.isnan(data.values[~data.inside]).all()
    assert again.plot("u") is not None
    assert again.errors().rel_l2["u"] == solution.errors().rel_l2["u"]


def test_poisson_on_a_disk_is_solved():
    disk = pinn.Disk((0.5, 0), 0.8)
    problem = pinn.Problem(
        domain=disk, unknowns=["u"], equations={"poisson": "u_xx + u_yy + 4"},
        conditions=[pinn.Dirichlet("u", 0.0)],
        reference={"u": "0.64 - (x - 0.5)**2 - y**2"},
    )  # fmt: skip
    solution = pinn.solve(
        problem, pinn.MLP(width=10, depth=2), pinn.Sampling(interior=200, boundary=60),
        [pinn.SSBroyden(steps=240)], seed=0,
    )  # fmt: skip
    assert solution.errors().rel_l2["u"] < 1e-2


def test_a_file_is_trained_and_drawn_on_an_l(tmp_path):
    text = CASE.format(domain=FORMS[6][0]).replace("steps: 5", "steps: 60")
    (tmp_path / "corner.yaml").write_text(text)
    run = tmp_path / "run"
    assert main(["train", str(tmp_path / "corner.yaml"), "--out", str(run), "--quiet"]) == 0
    solution = pinn.load(run / "solution.npz")
    assert solution.problem.domain == pinn.Polygon(CORNERS)
    lines = (run / "metrics.jsonl").read_text().splitlines()
    first, last = (json.loads(line)["loss"] for line in (lines[0], lines[-1]))
    assert last < 0.5 * first
    assert (run / "figures" / "field_u.png").is_file()
