"""References from files and arrays: compared with at their own points, drawn, saved, refused."""

from __future__ import annotations

import json
import os

import numpy as np
import pytest

import pinn
from pinn.cli import main
from pinn.config import ConfigError, load
from pinn.solution.accuracy import TestSet

X, Y, TIME = pinn.Interval("x", -1, 1), pinn.Interval("y", 0, 2), pinn.Time("t", 0, 1)
RNG = np.random.default_rng(5)
XS, TS = RNG.uniform(-1, 1, 40), RNG.random(40)
AXIS, TIMES = np.linspace(-1, 1, 9), np.linspace(0, 1, 6)
FEW = {"sampling": pinn.Sampling(interior=20), "training": [pinn.Adam(2)]}


def u_of(x, t):
    return np.exp(-t) * np.sin(x) + 2


def problem(reference, **changes):
    settings = dict(
        domain=X * TIME, unknowns=["u"], equations={"e": "u_t - u_xx"},
        conditions=[pinn.Initial("u", 0), pinn.Dirichlet("u", 0)],
    )  # fmt: skip
    return pinn.Problem(**{**settings, **changes}, reference=reference)


def solved(stated):
    return pinn.solve(stated, pinn.MLP(width=5, depth=1), **FEW)


ROWS = {"x": XS, "t": TS, "u": u_of(XS, TS)}
FORMS = {
    "table": lambda folder: {"u": pinn.Table("u", ROWS)},
    "alone": lambda folder: pinn.Table("u", ROWS),
    "other names": lambda folder: {"u": pinn.Table("temp", {**ROWS, "temp": ROWS["u"], "u": XS})},
    "arrays": lambda folder: {"u": (XS, TS, ROWS["u"])},
    "file": lambda folder: saved(folder, "ref.csv"),
    "npz": lambda folder: str(saved(folder, "ref.npz")),
    "mapping": lambda folder: {"u": {"table": saved(folder, "a.csv"), "columns": {"t": "time"}}},
}


def saved(folder, name):
    path = folder / name
    if path.suffix == ".npz":
        np.savez(path, **ROWS)
        return path
    head = "x,t,u,note" if name == "ref.csv" else "x,time,u,v"
    last = "here" if name == "ref.csv" else "nan"
    rows = zip(*(column.tolist() for column in ROWS.values()), strict=True)
    path.write_text("\n".join([head, *(f"{x!r},{t!r},{u!r},{last}" for x, t, u in rows)]))
    return path


@pytest.mark.parametrize("form", FORMS)
def test_errors_are_those_at_the_tables_points(form, tmp_path):
    solution = solved(problem(FORMS[form](tmp_path)))
    difference = solution.evaluate(x=XS, t=TS)["u"] - ROWS["u"]
    expected = np.linalg.norm(difference) / np.linalg.norm(ROWS["u"])
    report = solution.report
    assert report.rel_l2 == {"u": pytest.approx(expected, rel=1e-12)}
    assert report.max_error == {"u": pytest.approx(np.abs(difference).max(), rel=1e-12)}
    assert solution.errors().rel_l2 == report.rel_l2


def test_a_grid_of_axes_is_compared_with_at_its_nodes():
    grid = pinn.Table("u", {"x": AXIS[:, None], "t": TIMES, "u": u_of(AXIS[:, None], TIMES)})
    test = TestSet(problem({"u": grid}), [])
    asked = []
    errors = test.errors(lambda **at: asked.append(at) or {"u": u_of(**at) + 0.5})
    assert len(asked) == 1 and asked[0]["x"].shape == (54,)
    assert errors.max_error["u"] == pytest.approx(0.5, rel=1e-14)
    turned = pinn.Table(
        "u", {"x": AXIS, "t": TIMES, "u": u_of(AXIS, TIMES[:, None])}, over=["t", "x"]
    )
    with pytest.raises(ValueError, match=r"got \(6, 9\): transposed\?"):
        problem({"u": turned})


def test_unknowns_of_one_file_share_their_points_and_formulas_keep_theirs():
    stated = problem(
        {"u": pinn.Table("u", {**ROWS, "v": XS}), "v": pinn.Table("v", {**ROWS, "v": XS}),
         "w": "x"},
        unknowns=["w", "u", "v", "q"], equations={"e": "u_t - v_x + w - q"},
    )  # fmt: skip
    asked = []

    def evaluate(x, t):
        asked.append(len(x))
        return {"u": u_of(x, t), "v": 2 * x, "w": 3 * x}

    errors = TestSet(stated, []).errors(evaluate)
    assert asked == [257 * 101, 40]
    assert errors.rel_l2 == {"w": pytest.approx(2), "u": 0, "v": pytest.approx(1)}
    assert list(errors.rel_l2) == ["w", "u", "v"]  # q has no reference


def test_fields_and_families_have_tables_too():
    stated = problem(
        {"a": (AXIS, AXIS**2), "u": pinn.Table("u", {**ROWS, "k": TS + 1})},
        equations={"e": "u_t - a*k*u_xx"}, fields=[pinn.Field("a", ["x"])], families={"k": [1, 2]},
    )  # fmt: skip
    with pytest.warns(pinn.ProblemWarning, match="the field 'a' seems not to be determined"):
        solution = solved(stated)
    expected = np.abs(solution.evaluate(x=AXIS)["a"] - AXIS**2).max()
    assert solution.report.max_error["a"] == pytest.approx(expected, rel=1e-12)
    expected = np.abs(solution.evaluate(x=XS, t=TS, k=TS + 1)["u"] - ROWS["u"]).max()
    assert solution.report.max_error["u"] == pytest.approx(expected, rel=1e-12)
    with pytest.raises(ValueError, match="reference.u.table: no column 'k'; its columns are x, t"):
        problem(pinn.Table("u", ROWS), equations={"e": "u_t - k*u_xx"}, families={"k": [1, 2]})


# ---- figures


def test_a_figure_goes_through_the_nodes_of_a_grid():
    grid = pinn.Table("u", {"x": AXIS, "t": TIMES, "u": u_of(AXIS[:, None], TIMES)})
    solution = solved(problem({"u": grid}))
    data = solution.field_data("u")
    x, t = data.coordinates.values()
    np.testing.assert_allclose(data.reference, u_of(x[:, None], t), atol=1e-3)
    nodes = data.reference[np.ix_(np.isin(x, AXIS), np.isin(t, TIMES))]
    at = np.ix_(x[np.isin(x, AXIS)], t[np.isin(t, TIMES)])
    assert nodes.size >= 6
    np.testing.assert_allclose(nodes, u_of(*at), rtol=1e-12)
    relative, largest = solution.report.rel_l2["u"], solution.report.max_error["u"]
    assert data.errors == (relative, largest)
    for held in ({}, {"t": 0.3}, {"t": [0, 1]}):
        solution.plot("u", **held)


def test_a_figure_of_scattered_points_has_what_lies_between_them(tmp_path):
    disk = pinn.Disk()
    points = np.concatenate([disk.sample_interior(400, pinn.sampling.METHODS["sobol"],
                                                  np.random.default_rng(0)), np.eye(2)])
    points = np.concatenate([points, points[:3]])  # some twice, as solvers of several blocks do
    x, y = points.T
    stated = pinn.Problem(
        disk, ["u"], {"e": "laplacian(u)"}, [pinn.Dirichlet("u", 0)], reference={"u": (x, y, x - y)}
    )
    solution = solved(stated)
    data = solution.field_data("u")
    known = ~np.isnan(data.reference)
    assert 0.8 < known.sum() / data.inside.sum() < 1
    grid = np.subtract.outer(*data.coordinates.values())
    np.testing.assert_allclose(data.reference[known], grid[known], atol=1e-12)
    assert "not finite" not in data.summary()
    solution.plot("u")


def test_points_on_a_line_have_errors_and_no_figure_of_them():
    solution = solved(problem({"u": (XS, 0 * XS, XS)}))
    assert solution.report.rel_l2["u"] > 0
    assert solution.field_data("u").reference is None


def test_a_curve_is_compared_with_in_any_order():
    ts = np.array([0.5, 0.0, 1.0, 0.25, 0.75])
    stated = pinn.Problem(
        pinn.Time("t", 0, 1), ["u"], {"e": "u_t"}, [pinn.Initial("u", 0)],
        reference={"u": (ts, ts**3)},
    )  # fmt: skip
    data = solved(stated).field_data("u")
    t = data.coordinates["t"]
    np.testing.assert_allclose(data.reference, t**3, atol=1e-12)  # a cubic spline


# ---- files

CONFIG = """\
problem:
  domain: {x: [-1, 1], t: {time: [0, 1]}}
  unknowns: [u, v]
  equations: {e: u_t - v, f: v_t + u}
  conditions: [initial: {unknown: u, value: 0}, initial: {unknown: v, value: x}]
  reference: REFERENCE
model: {mlp: {width: 4, depth: 1}}
sampling: {interior: 8, adaptive: null}
training: [adam: {steps: 2}]
output: {log_every: 1}
"""


@pytest.fixture
def case(tmp_path, monkeypatch):
    """Returns what writes case/case.yaml with a reference."""
    (tmp_path / "case").mkdir()
    saved(tmp_path / "case", "ref.csv")
    monkeypatch.chdir(tmp_path)

    def written(reference):
        path = tmp_path / "case" / "case.yaml"
        path.write_text(CONFIG.replace("REFERENCE", reference))
        return path

    return written


@pytest.mark.parametrize(
    "reference",
    ["ref.csv", "{u: {table: ref.csv}}", "{u: {table: ref.csv, columns: {u: u}}, v: x*t}"],
)
def test_a_run_has_the_errors_and_its_directory_needs_no_table(case, reference, tmp_path):
    case(reference)
    assert main(["train", "case/case.yaml", "--out", "a", "--quiet"]) == 0
    os.unlink("case/ref.csv")
    summary = json.loads((tmp_path / "a" / "summary.json").read_text())
    lines = (tmp_path / "a" / "metrics.jsonl").read_text().splitlines()
    assert json.loads(lines[-1])["rel_l2"].keys() == summary["rel_l2"].keys() >= {"u"}
    assert {"reference_u.png", "error_u.png"} <= set(os.listdir("a/figures"))
    solution = pinn.load("a")
    difference = solution.evaluate(x=XS, t=TS)["u"] - ROWS["u"]
    assert np.abs(difference).max() == pytest.approx(summary["max_error"]["u"], rel=1e-12)
    assert solution.errors().max_error["u"] == summary["max_error"]["u"]
    assert main(["plot", "a"]) == 0
    assert main(["train", "a/config.yaml", "--out", "b", "--quiet"]) == 0
    assert json.loads((tmp_path / "b" / "summary.json").read_text())["rel_l2"] == summary["rel_l2"]


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        ("rof.csv", "case.yaml:6: problem.reference: cannot read .*rof.csv: No such file"),
        ("{u: {table: rof.csv}}", "case.yaml:6: problem.reference.u.table: cannot read .*rof.csv"),
        ("{v: {table: ref.csv}}", "reference.v.table: .*ref.csv: no column 'v'; its columns are x"),
        ("{u: {table: ref.csv, columns: {u: note}}}", "ref.csv:2: column 'note': expected a numb"),
        ("{q: {table: ref.csv, columns: {q: u}}}", "reference.q: expected one of the unknowns u"),
        ("{u: {tables: ref.csv}}", "reference.u.tables: unknown key; valid keys: table, over"),
        ("{u: {table: far.csv}}", "reference.u.table: case/far.csv:3: expected a point of the dom"),
        ("few.csv", "problem.reference: case/few.csv: expected a column for one of u, v at least"),
        ("exact", "problem.reference: expected one of cole-hopf, the name of a file, or {unknown"),
    ],
)
def test_mistakes_are_told_with_file_and_line(case, reference, message, tmp_path):
    (tmp_path / "case" / "far.csv").write_text("x,t,u\n0,0,1\n0,3,1\n")
    (tmp_path / "case" / "few.csv").write_text("x,t,h\n0,0,1\n")
    with pytest.raises(ConfigError, match=message):
        load(case(reference))


def test_points_on_a_rim_may_be_rounded():
    angles = np.linspace(0, 6, 30)
    x, y = np.round(np.cos(angles), 6), np.round(np.sin(angles), 6)
    assert (np.hypot(x, y) > 1 + 1e-8).any()
    pinn.Problem(
        pinn.Disk(), ["u"], {"e": "laplacian(u)"}, [pinn.Dirichlet("u", 0)],
        reference={"u": (x, y, x)},
    )  # fmt: skip
