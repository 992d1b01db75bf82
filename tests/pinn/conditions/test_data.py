"""Data: every row at its point, by its noise; files, mistakes in them, and what is kept."""

import hashlib

import numpy as np
import pytest

import autograd as T
import pinn
from pinn.cli import main
from pinn.config import ConfigError, load
from pinn.files.columns import Columns
from pinn.objective import Objective
from pinn.objective.flat_parameters import FlatParameters
from pinn.sampling import stream

X, TIME = pinn.Interval("x", -1, 2), pinn.Time("t", 0, 1)
RNG = np.random.default_rng(3)
XS, TS = RNG.uniform(-1, 2, 25), RNG.random(25)
US, SIGMA, WEIGHT = RNG.standard_normal((3, 25)) ** 2 + 0.1
TABLE = {"x": XS, "t": TS, "u": US, "s": SIGMA, "w": WEIGHT}
SMALL = {"model": pinn.MLP(width=4, depth=1), "sampling": pinn.Sampling(interior=8, adaptive=None)}


class Waves(T.nn.Module):
    """u = a sin(x) t, v = a cos(x)."""

    def __init__(self):
        super().__init__()
        self.a = T.nn.Parameter(T.tensor(1.5, dtype=T.float64))

    def forward(self, points):
        x, t = points[:, 0:1], points[:, 1:2]
        return T.cat([self.a * T.sin(x) * t, self.a * T.cos(x)], dim=1)


U, V = 1.5 * np.sin(XS) * TS, 1.5 * np.cos(XS)


def problem_of(*conditions, **changes):
    return pinn.Problem(X * TIME, ["u", "v"], {"e": "u_t - v"}, conditions, **changes)


def objective_of(*conditions, **options):
    problem = problem_of(*conditions, constants={"k": 2.0})
    few = pinn.Sampling(interior=9)
    points = {r.name: r.source.draw(few, stream(0)) for r in problem.residuals}
    parameters = FlatParameters(Waves(), (), T.float64, "cpu")
    return Objective(problem, parameters, points, dtype=T.float64, **options)


def rows(condition, **options):
    found = objective_of(condition, **options).residuals(np.array([1.5]))
    del found["e"]
    return found


def test_every_row_is_used_at_its_point():
    objective = objective_of(pinn.Data("u", TABLE))
    points = objective.blocks[1].points
    np.testing.assert_array_equal(points.coordinates, np.stack([XS, TS], axis=1))
    assert objective.blocks[1].name == "data_u" and list(points.columns) == ["measured_0"]


@pytest.mark.parametrize("options", [{}, {"derivatives": "nested", "engine": "eager"}])
def test_rows_count_by_one_over_their_sigma(options):
    (plain,) = rows(pinn.Data("u", TABLE), **options).values()
    np.testing.assert_allclose(plain, U - US, rtol=0, atol=1e-14)
    (same,) = rows(pinn.Data("u", TABLE, sigma=0.01), **options).values()
    np.testing.assert_array_equal(same, plain)
    size = 1 / np.sqrt(np.mean(SIGMA**-2))
    (scaled,) = rows(pinn.Data("u", TABLE, sigma="s"), **options).values()
    np.testing.assert_allclose(scaled, (U - US) * size / SIGMA, rtol=0, atol=1e-13)
    (weighted,) = rows(pinn.Data("u", TABLE, weights="w"), **options).values()
    np.testing.assert_allclose(weighted, (U - US) * np.sqrt(WEIGHT), rtol=0, atol=1e-13)
    (both,) = rows(pinn.Data("u", TABLE, sigma="s", weights="w"), **options).values()
    np.testing.assert_allclose(both, scaled * np.sqrt(WEIGHT), rtol=0, atol=1e-13)


def test_what_lies_far_out_counts_by_its_size():
    condition = pinn.Data("u", TABLE, sigma=0.2, robust="huber", threshold=2)
    (found,) = rows(condition).values()
    r = np.abs(U - US) / 0.2
    loss = np.where(r < 2, r**2, 2 * 2 * r - 2**2)
    assert 3 < np.count_nonzero(r > 2) < 22
    np.testing.assert_allclose((found / 0.2) ** 2, loss, rtol=1e-12)
    np.testing.assert_array_equal(np.sign(found), np.sign(U - US))


def test_the_gradient_with_outliers_equals_finite_differences():
    objective = objective_of(pinn.Data("u", TABLE, sigma="s", robust="huber"))
    h = 1e-5
    slope = (objective.value(np.array([1.5 + h])) - objective.value(np.array([1.5 - h]))) / (2 * h)
    found = objective.value_and_gradient(np.array([1.5])).gradient
    np.testing.assert_allclose(found, slope, rtol=1e-8)
    exact = objective_of(pinn.Data("u", {"x": 0.5, "t": 0.5, "u": 1.5 * np.sin(0.5) * 0.5},
                                   sigma=1, robust="huber"))  # fmt: skip
    assert np.all(np.isfinite(exact.jacobian(np.array([1.5]))[1]))


def test_several_unknowns_share_their_points():
    table = {"x": XS, "t": TS, "u": US, "w": SIGMA}
    objective = objective_of(pinn.Data(["u", "v"], table, columns={"v": "w"}))
    assert [group.key for group in objective.groups] == [("e",), ("data_u", "data_v")]
    found = objective.residuals(np.array([1.5]))
    np.testing.assert_allclose(found["data_u"], U - US, rtol=0, atol=1e-14)
    np.testing.assert_allclose(found["data_v"], V - SIGMA, rtol=0, atol=1e-14)


def test_an_expression_is_measured_too():
    table = {"x": XS, "flux": US, "t": 0.5}
    condition = pinn.Data("k*u_x", table, columns={"value": "flux"}, name="flux")
    (found,) = rows(condition).values()
    np.testing.assert_allclose(found, 2 * 1.5 * np.cos(XS) * 0.5 - US, rtol=0, atol=1e-14)
    ((name, _),) = rows(pinn.Data("u_x", {"x": XS, "t": TS, "u_x": US})).items()
    assert name == "data_u_x"


def test_one_number_stands_for_all_rows_also_as_a_factor_and_in_what_was_stored():
    one = pinn.Data("u", {**TABLE, "t": 0.5, "w": 2.0, "s": 0.1}, sigma="s", weights="w")
    each = {**TABLE, "t": np.full(25, 0.5), "w": np.full(25, 2.0), "s": np.full(25, 0.1)}
    np.testing.assert_array_equal(
        rows(one)["data_u"], rows(pinn.Data("u", each, sigma="s", weights="w"))["data_u"]
    )
    # one instant of a grid
    grid = {"x": XS, "t": [0.5], "u": US[:, None]}
    np.testing.assert_array_equal(
        rows(pinn.Data("u", grid))["data_u"], rows(pinn.Data("u", {**TABLE, "t": 0.5}))["data_u"]
    )
    # what an older version took, [0.5] for all rows, is read back from its files
    arrays = {name: np.asarray(array) for name, array in TABLE.items()}
    stored = Columns({**arrays, "t": np.array([0.5])}, is_stored=True)
    np.testing.assert_array_equal(
        rows(pinn.Data("u", stored))["data_u"], rows(pinn.Data("u", {**TABLE, "t": 0.5}))["data_u"]
    )


def test_a_coordinate_may_be_a_number():
    (one,) = rows(pinn.Data("u", {"x": XS, "u": US}, at={"t": 0.5})).values()
    (other,) = rows(pinn.Data("u", {"x": XS, "u": US, "t": 0.5})).values()
    np.testing.assert_array_equal(one, other)
    np.testing.assert_allclose(one, 1.5 * np.sin(XS) * 0.5 - US, rtol=0, atol=1e-14)


@pytest.mark.parametrize(
    ("condition", "message"),
    [
        (lambda: pinn.Data("v", TABLE), "conditions.0.table: no column 'v'"),
        (lambda: pinn.Data("w", TABLE), "conditions.0.unknown: unknown name 'w'"),
        (lambda: pinn.Data("x", TABLE), "conditions.0.unknown: expected one of the unknowns u, v"),
        (lambda: pinn.Data(["u", "u_q"], TABLE, columns={"u_q": "u"}),
         "conditions.0.unknown.1: 'u_q': 'q' is not a coordinate"),
        (lambda: pinn.Data(["2*u", "3*u"], TABLE), "expected at most one expression"),
        (lambda: pinn.Data("u", TABLE, columns={"v": "u"}), "columns.v: expected names out of x"),
        (lambda: pinn.Data("u", TABLE, at={"y": 1}), "at.y: expected coordinates out of x, t"),
        (lambda: pinn.Data("u", {**TABLE, "u": US[:9]}), "got 25 of x, 25 of t, 9 of u"),
        (lambda: pinn.Data("u", {**TABLE, "u": [1.0]}), "1 of u; one that is the same in all rows"),
        (lambda: pinn.Data("u", {**TABLE, "u": [np.nan] * 25}), "table: row 0: column 'u': expec"),
        (lambda: pinn.Data("u", {**TABLE, "t": TS + (TS == TS[7])}),
         r"table: row 7: expected a point of the domain \(x in \[.*\], t in \[.*\]\), got x = .*, "
         r"t = 1\.[^(]*; leave it out, or make the domain larger$"),
        (lambda: pinn.Data("u", {**TABLE, "x": XS + 9}), r"row 0: expected .* \(and 24 more rows"),
        (lambda: pinn.Data("u", {"x": [], "t": 1, "u": 1}), "table.x: expected an array of number"),
        (lambda: pinn.Data("u", {**TABLE, "u": ["a"]}), "table.u: expected an array of numbers"),
        (lambda: pinn.Data("u", {}), "table: expected the path of a CSV or npz file, or a mapping"),
        (lambda: pinn.Data("u", 3), "table: expected the path of a CSV or npz file"),
        (lambda: pinn.Data("u", "nowhere.csv"), r"table: cannot read nowhere.csv: No such"),
        (lambda: pinn.Data("u", TABLE, sigma=0), "sigma: expected a number > 0, got 0"),
        (lambda: pinn.Data("u", TABLE, sigma="q"), "conditions.0.sigma: no column 'q'"),
        (lambda: pinn.Data("u", {**TABLE, "s": -SIGMA}, sigma="s"), "row 0: column 's': expected"),
        (lambda: pinn.Data("u", {**TABLE, "w": -SIGMA}, weights="w"), "number of zero or more"),
        (lambda: pinn.Data("u", TABLE, robust="huber"), "robust: expected `sigma`"),
        (lambda: pinn.Data("u", TABLE, sigma=1, robust="cauchy"), "robust: expected .*huber, got"),
        (lambda: pinn.Data("u", TABLE, hard=True), "unknown argument"),
    ],
)  # fmt: skip
def test_data_that_do_not_fit_are_refused(condition, message):
    with pytest.raises((ValueError, TypeError), match=message):
        problem_of(condition())


CONFIG = """
problem:
  domain: {x: [-1, 2], t: {time: [0, 1]}}
  unknowns: [u, v]
  equations: {e: u_t - v, f: v_t + u}
  conditions:
    - data: {unknown: u, table: measured.csv, columns: {u: temperature}, sigma: 1/100, name: probe}
    - data: {unknown: v, table: {x: [0, 1/2], v: [1, 2]}, at: {t: 1}, sigma: 2}
training: [adam: {steps: 2}]
sampling: {interior: 8, adaptive: null}
model: {mlp: {width: 4, depth: 1}}
"""
CSV = "x,t,temperature,remark\n0.5,0,1.5,a\n-1,1,2,b\n0.1,0.1,-0.25,c\n"


@pytest.fixture
def case(tmp_path, monkeypatch):
    folder = tmp_path / "case"
    folder.mkdir()
    (folder / "case.yaml").write_text(CONFIG)
    (folder / "measured.csv").write_text(CSV)
    monkeypatch.chdir(tmp_path)
    return folder


def test_a_path_is_relative_to_the_config(case):
    first, second = load(case / "case.yaml").experiment.problem.conditions
    assert first == pinn.Data(
        "u", case / "measured.csv", columns={"u": "temperature"}, sigma=0.01, name="probe"
    )
    assert first.digest == hashlib.sha256(CSV.encode()).hexdigest()
    assert second == pinn.Data("v", {"x": [0, 0.5], "v": [1, 2]}, at={"t": 1}, sigma=2)
    points = load(case / "case.yaml").experiment.draw_points()["probe"]
    np.testing.assert_array_equal(points.coordinates, [[0.5, 0], [-1, 1], [0.1, 0.1]])
    np.testing.assert_array_equal(points.columns["measured_0"], [1.5, 2, -0.25])


def test_the_resolved_config_trains_the_same(case, tmp_path):
    (tmp_path / "resolved.yaml").write_text(load(case / "case.yaml").text())
    assert load(tmp_path / "resolved.yaml").data == load("case/case.yaml").data
    assert main(["train", "case/case.yaml", "--out", "a", "--quiet"]) == 0
    assert main(["train", "a/config.yaml", "--out", "b", "--quiet"]) == 0
    one, other = (pinn.load(f"{run}/solution.npz").theta for run in "ab")
    np.testing.assert_array_equal(one, other)
    assert "probe" in (tmp_path / "a" / "metrics.jsonl").read_text()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (CSV.replace("-0.25", "nan"), "measured.csv:4: column 'temperature': expected a finite"),
        (CSV.replace("-1,1", "-1,7"), r"measured.csv:3: expected a point of the domain \(x in "
         r"\[.*\], t in \[.*\]\), got x = -1, t = 7; leave it out"),
        (CSV.replace("-1,1", "-1,7").replace("0.1,0.1", "0.1,9"),
         r"measured.csv:3: .*got x = -1, t = 7 \(and 1 more row, the last at .*measured.csv:4\)"),
        (CSV.replace("temperature", "t2"), "no column 'temperature'; its columns are x, t, t2"),
        (CSV + "1,2\n", "measured.csv:5: expected 4 cells"),
    ],
)
def test_mistakes_in_a_file_are_told_with_their_line(case, text, message):
    (case / "measured.csv").write_text(text)
    place = "case.yaml:7: problem.conditions.0.data.table: "
    with pytest.raises(ConfigError, match=f"{place}.*{message}"):
        load(case / "case.yaml")


def test_a_saved_solution_does_not_need_the_file(case):
    config = load(case / "case.yaml").experiment
    solution = pinn.solve(config.problem, config.model, config.sampling, config.training)
    solution.save("solution.npz")
    (case / "measured.csv").rename(case / "moved.csv")
    again = pinn.load("solution.npz")
    at = {"x": XS, "t": TS}
    np.testing.assert_array_equal(again.evaluate(**at)["u"], solution.evaluate(**at)["u"])
    assert again.problem.conditions[0].digest == config.problem.conditions[0].digest
    assert again.problem.conditions[1] == config.problem.conditions[1]
    with pytest.raises(ValueError, match="cannot read .*measured.csv: No such file"):
        again.experiment.draw_points()
    (case / "measured.csv").write_text(CSV.replace("1.5", "1.6"))
    with pytest.raises(ValueError, match="the file has changed since its digest was taken"):
        pinn.load("solution.npz").experiment.draw_points()
    (case / "measured.csv").write_text(CSV)
    assert len(pinn.load("solution.npz").experiment.draw_points()["probe"]) == 3


def test_a_coefficient_is_found_from_noisy_data_with_outliers():
    rng = np.random.default_rng(0)
    t = np.linspace(0, 2, 60)
    u = np.exp(-0.7 * t) + 0.01 * rng.standard_normal(60)
    u[40::4] += 0.5
    found = {}
    for robust in (None, "huber"):
        problem = pinn.Problem(
            pinn.Time("t", 0, 2), ["u"], {"decay": "u_t + k*u"},
            [pinn.Data("u", {"t": t, "u": u}, sigma=0.01, robust=robust)],
            parameters=[pinn.Parameter("k", 0.2, lower=0)],
        )  # fmt: skip
        solution = pinn.solve(
            problem, pinn.MLP(width=8, depth=1), pinn.Sampling(interior=30),
            [pinn.SSBroyden(120)], weighting={"decay": 10},
        )  # fmt: skip
        found[robust] = abs(solution.parameters["k"] - 0.7)
    assert found["huber"] < 0.02 < 0.1 < found[None]


def test_data_at_the_level_of_their_noise_are_no_unsolved_problem():
    t = np.linspace(0, 2, 60)
    u = np.exp(-t) * (1 + 0.1 * np.cos(1000 * t))
    problem = pinn.Problem(
        pinn.Time("t", 0, 2), ["u"], {"decay": "u_t + u"},
        [pinn.Data("u", {"t": t, "u": u}, sigma=0.1)],
    )  # fmt: skip
    training = [pinn.SSBroyden(80)]
    solution = pinn.solve(problem, pinn.MLP(width=8, depth=1), pinn.Sampling(interior=30), training)
    assert solution.report.residual["data_u"] == 0 and solution.report.warnings == ()
