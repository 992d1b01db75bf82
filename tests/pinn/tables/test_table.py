"""Tables: what they are made of, where they are refused, and their way through files."""

from __future__ import annotations

import numpy as np
import pytest

import pinn
from pinn.config import ConfigError, load
from pinn.schema.errors import DeclarationError
from pinn.solution.storage import experiment_json

XS = np.linspace(-1, 1, 9)
YS = np.linspace(0, 2, 6)
FIELD = np.sin(XS)[:, None] * np.cos(YS)


def same(one, other):
    """Whether two tables have the same values, bit by bit."""
    at = [np.linspace(*ends, 13) for ends in one.bounds.values()]
    return one.over == other.over and np.array_equal(one.at(*at), other.at(*at))


def test_a_grid_is_read_from_arrays_rows_npz_and_csv(tmp_path):
    table = pinn.Table("a", {"x": XS, "y": YS, "a": FIELD})
    x, y = (m.reshape(-1) for m in np.meshgrid(XS, YS, indexing="ij"))
    shuffled = np.random.default_rng(0).permutation(len(x))
    rows = {"x": x[shuffled], "y": y[shuffled], "a": FIELD.reshape(-1)[shuffled]}
    np.savez_compressed(tmp_path / "grid.npz", x=XS, y=YS, perm=FIELD)
    lines = [f"{a!r};{b!r};{c!r}" for a, b, c in zip(*(r.tolist() for r in rows.values()))]  # noqa: B905
    (tmp_path / "rows.csv").write_text("# a comment\nx; y; a\n\n" + "\n".join(lines) + "\n")
    for other in (
        pinn.Table("a", rows),
        pinn.Table("a", str(tmp_path / "grid.npz"), columns={"a": "perm"}),
        pinn.Table("a", tmp_path / "rows.csv"),
        pinn.Table("a", {"t": [9, 9], **rows}, over=["x", "y"]),
    ):
        assert same(table, other)
    assert table.bounds == {"x": (-1, 1), "y": (0, 2)}


def csv(text):
    return lambda folder: (folder / "t.csv").write_text(text) and str(folder / "t.csv")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (csv("x,a\n0,1\n1,nan\n2,0\n"), r"t\.csv:3: column 'a': expected a finite num.*, got nan"),
        (csv("x,a\n0,1\n# no\n1,inf\n"), r"t\.csv:4: column 'a': expected a finite num.*, got inf"),
        (csv("x,a\n0,1\n2,1\n1,3\n"), r"t\.csv:4: column 'x': expected increasing .* 1 after 2"),
        (csv("x,a\n0,1\n1\n"), r"t\.csv:3: expected 2 cells, one for each of x, a, got 1"),
        (csv("x,a\n0,1\n1,one\n"), r"t\.csv:3: column 'a': expected a number, got 'one'"),
        (csv("0,1\n1,2\n"), r"t\.csv:1: expected the names of the columns"),
        (csv("x,b\n0,1\n1,2\n"), r"no column 'a'; its columns are x, b"),
        (csv("a\n1\n2\n"), "expected a column besides 'a'"),
        (csv("x,a\n"), "expected lines of numbers below the names"),
        (csv("x,y,a\n0,0,1\n1,0,1\n0,0,2\n1,1,1\n"), r"t\.csv:4: the point is given twice"),
        ("missing.csv", "cannot read .*missing.csv: No such file"),
        ({"x": [0, 1], "a": [1, 2, 3]}, r"values of shape \(2,\)"),
        ({"x": [0], "a": [1]}, "expected 2 values along it at least, got 1"),
        ({"x": [[0, 1]], "a": [[1, 2]]}, r"x: expected a list of numbers, got shape \(1, 2\)"),
        ({"x": ["zero"], "a": [1]}, "table.x: expected an array of numbers"),
        ({"x": [0, 1, 2], "y": [0, 1, 2], "a": [1, 2, 3]}, "they lie on a line"),
        (7, "expected the path of a CSV or npz file"),
    ],
)  # fmt: skip
def test_what_is_no_table_is_refused_with_its_place(data, message, tmp_path):
    with pytest.raises(DeclarationError, match=message):
        pinn.Table("a", data(tmp_path) if callable(data) else data).as_function()


def test_a_spline_takes_four_values():
    with pytest.raises(DeclarationError, match="expected 4 values along it at least, got 3"):
        pinn.Table("a", {"x": [0, 1, 2], "a": [0, 1, 4]}, method="spline").as_function()


def test_places_outside_are_refused_held_or_extrapolated():
    data = {"x": [0.0, 1.0, 2.0], "a": [0.0, 1.0, 4.0]}
    with pytest.raises(ValueError, match=r"table 'a': expected x in \[0, 2\], got 2.5"):
        pinn.Table("a", data).at([0.5, 2.5])
    near, out = (pinn.Table("a", data, outside=how) for how in ("nearest", "extrapolate"))
    np.testing.assert_array_equal(near.at([-1, 0.5, 3]), [0, 0.5, 4])
    np.testing.assert_array_equal(near.at([-1, 0.5, 3], orders=(1,)), [0, 1, 0])
    np.testing.assert_array_equal(out.at([-1, 0.5, 3]), [-1, 0.5, 7])
    pinn.Table("a", data).at([2 + 1e-16, -1e-16])  # rounding is not outside
    corner = {"x": [0, 1, 0, 2.0], "y": [0, 0, 1, 2.0], "a": [1, 2, 3, 4.0]}
    with pytest.raises(ValueError, match="x = 0.1, y = 1.9 is not between its points"):
        pinn.Table("a", corner).at([0.1], [1.9])
    assert pinn.Table("a", corner, outside="nearest").at([0.1], [1.9]) == 3
    with pytest.raises(DeclarationError, match="do not go on outside"):
        pinn.Table("a", corner, outside="extrapolate").as_function()


# ---- in problems

X, TIME = pinn.Interval("x", -1, 1), pinn.Time("t", 0, 1)


def problem(**changes):
    settings = dict(
        domain=X * TIME, unknowns=["u"], equations={"heat": "u_t - k*u_xx"},
        conditions=[pinn.Initial("u", (XS, np.sin(XS))), pinn.Dirichlet("u", 0)],
        tables=[pinn.Table("k", {"x": XS, "k": 1 + XS**2}, method="spline")],
    )  # fmt: skip
    return pinn.Problem(**{**settings, **changes})


POINTS = np.random.default_rng(2).uniform([-1, 0], [1, 1], (30, 2))


def residuals(stated, name, **settings):
    from pinn.training.experiment import Experiment

    case = Experiment(stated, model=pinn.MLP(width=5, depth=2), **settings).objective()
    return case.residuals(case.theta, {name: POINTS})[name]


@pytest.mark.parametrize("derivatives", ["jets", "nested"])
@pytest.mark.parametrize(
    ("text", "function", "formula"),
    [
        ("u_t - k*u_xx", lambda s: s.u_t - s.k * s.u_xx, "u_t - (1 + x**2)*u_xx"),
        ("u - k(x)", lambda s: s.u - s.k, "u - 1 - x**2"),
        (
            "div(k*grad(u)) + diff(k, x, 2)",
            lambda s: s.div("k*grad(u)") + s.diff("k", "x", 2),
            "2*x*u_x + (1 + x**2)*u_xx + 2",
        ),
        ("u - k(x*t)*t", lambda s: s.u - s.at("k", x=s.x * s.t) * s.t, "u - (1 + (x*t)**2)*t"),
        ("diff(u*k(x*t), t)", lambda s: s.diff("u*k(x*t)", "t"),
         "u_t*(1 + (x*t)**2) + 2*u*x**2*t"),
        ("u_t + integral(k*u, x, -1, x)", lambda s: s.u_t + s.integral("k*u", "x", -1, s.x),
         "u_t + integral((1 + x**2)*u, x, -1, x)"),
    ],
)  # fmt: skip
def test_a_table_is_a_function_in_texts_and_functions(text, function, formula, derivatives):
    """A cubic spline gives back the parabola it was made of, with its slopes."""
    expected = residuals(problem(equations={"e": formula}), "e", engine="eager")
    for equation in (text, function):
        got = residuals(problem(equations={"e": equation}), "e", derivatives=derivatives)
        np.testing.assert_allclose(got, expected, rtol=1e-10, atol=1e-11)


def test_arrays_are_initial_and_boundary_values():
    ts = np.linspace(0, 1, 5)
    stated = problem(
        conditions=[
            pinn.Initial("u", (XS, np.sin(XS))), pinn.Dirichlet("u", (ts, ts**2), on="x=-1"),
            pinn.Dirichlet("u", pinn.Table("g", {"t": ts, "g": 3 * ts}), on="x=1"),
        ]
    )  # fmt: skip
    initial, low, high = stated.residuals[1:]
    assert str(initial.right.tree) == "values(x)" and str(high.right.tree) == "g(t)"
    assert str(low.right.tree) == "values(t)", "x is held there"


def test_a_hard_initial_value_is_the_table():
    wall = pinn.Dirichlet("u", "sin(x)")
    stated = problem(conditions=[pinn.Initial("u", (XS, np.sin(XS)), hard=True), wall])
    solution = pinn.solve(
        stated, pinn.MLP(width=4, depth=1), pinn.Sampling(interior=20), [pinn.Adam(2)]
    )
    np.testing.assert_allclose(solution.evaluate(x=XS, t=0)["u"], np.sin(XS), atol=1e-12)
    again = (XS[1:] + XS[:-1]) / 2
    middle = (np.sin(XS[1:]) + np.sin(XS[:-1])) / 2
    np.testing.assert_allclose(solution.evaluate(x=again, t=0)["u"], middle, atol=1e-12)


@pytest.mark.parametrize("size", [9, 90])
def test_a_saved_solution_carries_its_tables(tmp_path, size):
    xs = np.linspace(-1, 1, size)
    stated = problem(
        conditions=[
            pinn.Initial("u", (xs, np.sin(xs)), hard=True), pinn.Dirichlet("u", "sin(x)"),
        ],
        tables=[pinn.Table("k", {"x": xs, "k": 1 + xs**2}, method="spline")],
    )
    solution = pinn.solve(
        stated, pinn.MLP(width=4, depth=1), pinn.Sampling(interior=20), [pinn.Adam(2)]
    )
    solution.save(tmp_path / "s.npz")
    loaded = pinn.load(tmp_path / "s.npz")
    at = dict(x=np.linspace(-1, 1, 17), t=0.3)
    np.testing.assert_array_equal(loaded.evaluate(**at)["u"], solution.evaluate(**at)["u"])
    text = "u_t - k*u_xx + diff(k, x)"
    np.testing.assert_array_equal(
        loaded.derivative(text, **at), solution.derivative(text, **at)
    )
    assert same(loaded.problem.tables[0], stated.tables[0])
    assert experiment_json(loaded.experiment) == experiment_json(solution.experiment)


CONFIG = """
problem:
  domain: {x: [-1, 1], t: {time: [0, 1]}}
  unknowns: [u]
  equations:
    heat: u_t - k*u_xx
  tables:
    k: {table: data/k.csv, method: spline}
  conditions:
    - initial: {unknown: u, value: {value: u, table: {x: [-1, 0, 1], u: [0, 1, 0]}}}
    - dirichlet: {unknown: u, value: 0}
"""


def test_a_config_names_a_file_beside_it(tmp_path, monkeypatch):
    (tmp_path / "data").mkdir()
    rows = "\n".join(f"{x!r},{1 + x * x!r}" for x in XS.tolist())
    (tmp_path / "data" / "k.csv").write_text("x,k\n" + rows)
    (tmp_path / "heat.yaml").write_text(CONFIG)
    monkeypatch.chdir(tmp_path.parent)
    config = load(tmp_path / "heat.yaml")
    found = config.experiment.problem
    assert same(found.tables[0], problem().tables[0])
    assert str(found.residuals[1].right.tree) == "u(x)"
    resolved = tmp_path / "elsewhere.yaml"
    resolved.write_text(config.text())
    (tmp_path / "data" / "k.csv").unlink()
    assert same(load(resolved).experiment.problem.tables[0], found.tables[0])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("data/k.csv", "k.csv"), r"heat\.yaml:8: problem\.tables\.k\.table: cannot read .*k\.csv"),
        (("spline", "cubic"), r"problem\.tables\.k\.method: expected one of linear, spline"),
        (("u: [0, 1, 0]", "u: [0, a, 0]"), r"value\.table\.u\.1: expected a number"),
        (("x: [-1, 0, 1]", "x: [-1, 0, -1]"), "expected increasing numbers, got -1 after 0"),
        (("x: [-1, 0, 1]", "z: [-1, 0, 1]"), "a function of z, and 'z' means nothing here"),
        (("u_t - k*u_xx", "u_t - k(x, t)*u_xx"), "k takes 1 argument, x; got 2"),
        (("u_t - k*u_xx", "u_t - kk(x)*u_xx"), "unknown function 'kk'; did you mean 'k'"),
        (("    k: {", "    u: {columns: {u: k}, "), "as an unknown and again as a table"),
    ],
)
def test_a_config_with_a_wrong_table_is_told_its_line(tmp_path, change, message):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "k.csv").write_text("x,k\n-1,1\n0,2\n0.5,1\n1,1\n")
    assert change[0] in CONFIG
    (tmp_path / "heat.yaml").write_text(CONFIG.replace(*change))
    with pytest.raises(ConfigError, match=message):
        load(tmp_path / "heat.yaml")


def test_arrays_that_are_too_many_are_refused():
    with pytest.raises(DeclarationError, match="expected an array for each of x and one of values"):
        problem(conditions=[pinn.Initial("u", (XS, YS, FIELD))])
