"""Error against time of two sides: the curves, the table, the picture and going on."""

import json
import math
from types import SimpleNamespace

import numpy as np
import pytest

import pinn
from experiments.case import relative_l2
from experiments.measure import problem as problem_of
from experiments.versus_deepxde import __main__ as program
from experiments.versus_deepxde import ours
from experiments.versus_deepxde.curve import Stopwatch, error_at, final, time_to
from experiments.versus_deepxde.figure import figure
from experiments.versus_deepxde.page import markdown
from experiments.versus_deepxde.pair import BY_NAME, PAIRS
from experiments.versus_deepxde.sides import MISSING
from experiments.versus_deepxde.verdict import Verdict
from experiments.versus_deepxde.yardstick import Yardstick

CURVE = [(0.1, 1.0), (1.0, 0.2), (2.0, 0.3), (4.0, 0.01)]


def test_what_is_read_from_a_curve_is_what_was_seen():
    assert final(CURVE) == (4.0, 0.01)
    assert time_to(CURVE, 0.25) == 1.0 and time_to(CURVE, 0.01) == 4.0
    assert time_to(CURVE, 1e-3) == math.inf
    assert error_at(CURVE, 3.9) == 0.3 and error_at(CURVE, 100.0) == 0.01
    assert error_at(CURVE, 0.05) == math.inf
    assert error_at([(1.0, None)], 2.0) == math.inf


def test_looks_take_no_time_and_come_at_times_that_grow():
    now = [0.0]
    watch = Stopwatch(lambda: now[0])

    def look(value=0.5):
        now[0] += 100.0
        return value

    taken = 0
    for _ in range(1000):
        now[0] += 0.01
        before = now[0]
        watch.look(look)
        taken += now[0] > before
    assert watch.seconds == pytest.approx(10.0)
    times = [seconds for seconds, _ in watch.curve]
    assert times[0] == pytest.approx(0.02) and len(times) == taken < 60
    growth = np.divide(times[1:], times[:-1])
    assert growth.min() > 1 and growth[-20:].max() < 1.13
    watch.look(lambda: math.nan, anyway=True)
    assert watch.curve[-1] == (pytest.approx(10.0), None)


def test_the_verdict_is_of_our_time_to_their_error_and_our_error_at_their_time():
    good = Verdict.of([(1.0, 0.5), (100.0, 1e-2)], [(1.0, 0.1), (9.0, 1e-2), (50.0, 5e-5)])
    assert (good.our_seconds, good.our_error) == (9.0, 5e-5)
    assert good.part_of_time == pytest.approx(0.09) and good.part_of_error == pytest.approx(5e-3)
    assert good.is_sooner and good.is_closer
    bad = Verdict.of([(10.0, 1e-6)], [(1.0, 0.1), (9.0, 1e-2)])
    assert bad.part_of_time == math.inf and not bad.is_sooner and not bad.is_closer
    lost = Verdict.of([(10.0, None)], [(0.5, 0.1)])
    assert lost.is_sooner and lost.is_closer


def test_a_yardstick_has_the_worst_of_the_errors_at_points_that_stay():
    kovasznay = Yardstick(BY_NAME["f11_kovasznay"].row)
    off = {"u": 1e-3, "v": 1e-2, "p": 1e-4}

    def shifted(points):
        assert points is kovasznay.points
        return {name: values * (1 + off[name]) for name, values in kovasznay.values.items()}

    assert kovasznay.error(shifted, {}) == pytest.approx(1e-2)
    assert kovasznay.method == "formula" and kovasznay.agreement is None
    lorenz = Yardstick(BY_NAME["i1_lorenz"].row)
    assert lorenz.error(None, {"C1": 10, "C2": 15.15, "C3": 8 / 3}) == pytest.approx(1e-2)
    assert math.isnan(lorenz.error(None, {"C1": math.nan, "C2": 15, "C3": 3}))


def test_the_problems_are_those_of_the_peers_table():
    assert len(BY_NAME) == len(PAIRS) >= 10
    for pair in PAIRS:
        assert pair.row.file.suffix == ".yaml" and pair.row.file.exists()


LINE = """
problem:
  domain: {x: [0, 1]}
  unknowns: [u]
  equations: {line: u_x - 1}
  conditions: [{dirichlet: {unknown: u, value: 0, on: x=0}}]
  reference: {u: x}
model: {mlp: {width: 5, depth: 1}}
sampling: {interior: 20}
training: [{adam: {steps: 60, learning_rate: 0.02}}]
"""


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.name)
def test_a_reference_is_known_in_the_domain_of_its_problem(pair):
    if pair.row.reference is None:
        return
    reference, stated = pair.row.reference(), problem_of(pair.row)
    if reference.values:
        points = np.stack([reference.points[n] for n in stated.domain.coordinates], axis=1)
        assert stated.domain.contains(points).all()
        assert set(reference.values) == set(stated.unknowns) and reference.agreement < 1e-7


def test_our_side_is_trained_without_the_reference_and_looked_at_on_the_way(tmp_path, monkeypatch):
    file = tmp_path / "line.yaml"
    file.write_text(LINE)
    case = SimpleNamespace(
        name="line", file=file, settings=(), reference=None, up_to_constant=(), truth={}
    )
    solved, solve = [], pinn.solve

    def solve_and_keep(problem, *others, **settings):
        solved.append((problem.reference, settings["threads"], settings["seconds"]))
        return solve(problem, *others, **settings)

    monkeypatch.setattr(pinn, "solve", solve_and_keep)
    facts = ours.run(case, 500.0, 0, 1)
    assert solved == [(None, 1, 60.0)]
    times = [seconds for seconds, _ in facts["curve"]]
    assert times == sorted(times) and len(times) >= 2
    assert facts["seconds"] == times[-1] and facts["error"] == facts["curve"][-1][1]
    assert facts["error"] < 0.5 * facts["curve"][0][1] and facts["steps"] == 60
    assert facts["limit_seconds"] == 60.0 and facts["reference"] == "formula"
    assert facts["network"] == "mlp 1x5" and facts["stop_reason"] == "step limit"


def their_facts(error=1e-2, whole=True):
    stages = [
        {"stage": "Adam 10 steps of 0.001", "steps": 10, "whole": True},
        {"stage": "L-BFGS, at most 15000 steps", "steps": 60, "whole": whole},
    ]
    return {
        "curve": [[0.1, 1.0], [50.0, 0.1], [100.0, error]], "seconds": 100.0, "error": error,
        "stages": stages, "whole": whole, "cpu_seconds": 180.0, "parameters": 921,
        "versions": {"deepxde": "1.15.0", "torch": "2.13.0"}, "coefficients": {},
    }  # fmt: skip


def our_facts():
    stages = [{"name": "adam", "steps": 5}, {"name": "ssbroyden", "steps": 70}]
    return {
        "curve": [[0.2, 1.0], [5.0, 9e-3], [20.0, 1e-6]], "seconds": 20.0, "error": 1e-6,
        "stages": stages, "stop_reason": "time limit", "network": "mlp 3x20", "parameters": 921,
        "cpu_seconds": 38.0, "reference": "DOP853", "reference_agreement": 1e-11,
        "limit_seconds": 20.0, "coefficients": {}, "loss": 1e-9, "fresh_loss": 2e-9, "steps": 75,
        "warnings": [],
    }  # fmt: skip


class StandIn:
    """Both sides, made up; keeps what was asked of it."""

    def __init__(self, **other):
        self.asked, self.other = [], other

    def __call__(self, side, name, seconds, seed, threads):
        self.asked.append((side, name, seconds, seed, threads))
        answer = self.other.get(name) if side == "deepxde" else None
        if isinstance(answer, BaseException):
            raise answer
        return answer or (their_facts() if side == "deepxde" else our_facts())


def rows(tmp_path):
    return json.loads((tmp_path / "versus_deepxde.json").read_text())["rows"]


def test_a_table_and_a_picture_are_written_and_what_was_measured_is_kept(tmp_path):
    out = ["--out", str(tmp_path)]
    first = StandIn(f13_lotka_volterra=their_facts(1e-8, whole=False))
    assert program.main(["--only", "F13", "f5", *out], first) == 0
    assert [one[:2] for one in first.asked] == [
        ("deepxde", "f13_lotka_volterra"), ("ours", "f13_lotka_volterra"),
        ("deepxde", "f5_euler_beam"), ("ours", "f5_euler_beam"),
    ]  # fmt: skip
    assert {one[2:] for one in first.asked} == {(600.0, 0, 2)}
    page = (tmp_path / "versus_deepxde.md").read_text()
    assert "`python -m experiments.versus_deepxde --seconds 600 --seed 0 --threads 2`" in page
    assert "deepxde 1.15.0, torch 2.13.0" in page
    assert "In 1 of 2 problems we are at DeepXDE's final error within 0.1" in page
    cells = {
        line.split("|")[1].strip(): [cell.strip() for cell in line.split("|")[2:-1]]
        for line in page.splitlines() if line.startswith("|")
    }  # fmt: skip
    assert cells["Euler beam"] == [
        "0.01", "100", "5", "0.05", "1e-06", "0.0001", "1e-06", "20"
    ]  # fmt: skip
    assert cells["Lotka-Volterra"][:4] == ["1e-08", "100*", "-", "-"]
    assert "L-BFGS, at most 15000 steps (60 taken)" in page and "known to 1e-11" in page
    assert (tmp_path / "versus_deepxde.png").read_bytes().startswith(b"\x89PNG")
    assert {row["measured"]["command"].split()[-1] for row in rows(tmp_path)} == {"2"}

    second = StandIn()
    assert program.main(["--only", "F5", "F13", "F16", *out], second) == 0
    assert {one[1] for one in second.asked} == {"f16_l_shape"}
    assert [row["name"] for row in rows(tmp_path)] == [
        "f5_euler_beam", "f13_lotka_volterra", "f16_l_shape"
    ]  # fmt: skip


def test_other_settings_or_anew_measure_again(tmp_path, monkeypatch):
    monkeypatch.setattr(program, "_write", lambda *_: None)
    for other, count in ((), 2), ((), 0), (("--seconds", "9"), 2), (("--seconds", "9"), 0), \
            (("--seconds", "9", "--anew"), 2):
        again = StandIn()
        assert program.main(["--only", "F5", *other, "--out", str(tmp_path)], again) == 0
        assert len(again.asked) == count
    assert [row["limit_seconds"] for row in rows(tmp_path)] == [9.0]


def test_a_run_that_is_interrupted_goes_on_where_it_was(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(program, "_write", lambda *_: None)
    out = ["--out", str(tmp_path), "--only", "F5", "F16"]
    assert program.main(out, StandIn(f16_l_shape=KeyboardInterrupt())) == 130
    assert "the same command goes on" in capsys.readouterr().err
    again = StandIn()
    assert program.main(out, again) == 0
    assert {one[1] for one in again.asked} == {"f16_l_shape"} and len(rows(tmp_path)) == 2


def test_a_side_that_failed_is_told_and_tried_again(tmp_path, capsys):
    out = ["--out", str(tmp_path), "--only", "F5"]
    assert program.main(out, StandIn(f5_euler_beam={"failed": "ValueError: no"})) == 0
    assert "deepxde: ValueError: no" in capsys.readouterr().out
    page = (tmp_path / "versus_deepxde.md").read_text()
    assert "DeepXDE: ValueError: no." in page and "In 0 of 0 problems" in page
    again = StandIn()
    assert program.main(out, again) == 0
    assert len(again.asked) == 2 and "failed" not in rows(tmp_path)[0]["deepxde"]


def test_wrong_usage_is_told(tmp_path, monkeypatch, capsys):
    assert program.main(["--only", "F99", "--out", str(tmp_path)], StandIn()) == 2
    assert "expected some of F1, F3, F5" in capsys.readouterr().err
    monkeypatch.setattr(program, "find_spec", lambda name: None)
    assert program.main(["--out", str(tmp_path)]) == 2
    assert capsys.readouterr().err.strip() == MISSING and "pip install deepxde" in MISSING


def test_the_picture_has_a_panel_for_each_problem():
    measured = [
        {"name": pair.name, "deepxde": their_facts(), "ours": our_facts()} for pair in PAIRS[:5]
    ]
    measured[2]["deepxde"] = {"failed": "no"}
    measured[3]["ours"] = our_facts() | {"curve": [[0.1, None], [2.0, 0.0], [3.0, 1e-3]]}
    drawn = figure(measured)
    assert [axes.get_title() for axes in drawn.axes] == [pair.title for pair in PAIRS[:5]]
    assert all(axes.get_xscale() == axes.get_yscale() == "log" for axes in drawn.axes)
    assert [len(axes.lines) for axes in drawn.axes] == [4, 4, 2, 4, 4]
    assert "Euler beam" in markdown([
        row | {"measured": {"command": "a", "machine": {"cpu": "c", "cores": 2}, "versions": {},
                            "executor": "numpy"}} for row in measured
    ])  # fmt: skip


def test_relative_errors_are_those_of_the_tables():
    assert relative_l2(np.array([3.0, 4.4]), np.array([3.0, 4.0])) == pytest.approx(0.08)
