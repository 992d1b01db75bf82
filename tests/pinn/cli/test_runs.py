"""`runs list`, `runs show` and `runs compare`."""

import json
import shutil
from pathlib import Path

import pytest

from pinn.cli import main

TRAIN = ["train", "heat.yaml", "--quiet"]


@pytest.fixture
def several(folder, finished):
    """Three runs: one that ended, one of another seed, one that was cut short after 10 steps."""
    Path("runs").mkdir()
    shutil.copytree(finished, "runs/a")
    assert main([*TRAIN, "--seed", "1", "--set", "training.0.steps=20", "--out", "runs/b"]) == 0
    shutil.copytree(finished, "runs/c")
    for name in ("summary.json", "solution.npz"):
        Path("runs/c", name).unlink()
    lines = Path("runs/c/metrics.jsonl").read_text().splitlines(keepends=True)
    kept = [line for line in lines if json.loads(line)["step"] <= 10]
    Path("runs/c/metrics.jsonl").write_text("".join(kept))
    return Path("runs")


def cells(line):
    return [cell.strip() for cell in line.split("  ") if cell.strip()]


def test_list_has_a_line_for_each_run(several, capsys):
    capsys.readouterr()
    assert main(["runs", "list"]) == 0
    head, *lines, why = capsys.readouterr().out.splitlines()
    assert cells(head) == ["run", "state", "steps", "seconds", "loss", "error", "estimated"]
    assert [cells(line)[:3] for line in lines] == [
        ["runs/a", "step limit, unsolved", "17"], ["runs/b", "step limit, unsolved", "25"],
        ["runs/c", "cut short", "10"],
    ]  # fmt: skip
    assert cells(why) == [
        "unsolved", "the problem does not seem to be solved (why: runs show RUN)"
    ]  # fmt: skip
    summary = json.loads(Path("runs/a/summary.json").read_text())
    assert cells(lines[0])[3:] == [
        f"{summary['wall_s']:.1f}", f"{summary['loss']:.2e}", f"{summary['rel_l2']['u']:.2e}"
    ]


def with_estimate(directory, **estimate):
    """Write an estimated error of u into the summary of a run."""
    path = Path(directory, "summary.json")
    summary = json.loads(path.read_text())
    path.write_text(json.dumps({**summary, "error_estimate": estimate}))


def test_estimates_that_are_not_to_be_trusted_are_marked_in_every_table(several, capsys):
    with_estimate("runs/a", relative_l2={"u": 0.01}, doubts=["it jumps"])
    with_estimate("runs/b", relative_l2={"u": 0.02}, doubts=[])
    capsys.readouterr()
    why = "the estimated error is not to be trusted (why: runs show RUN)"
    assert main(["runs", "list"]) == 0
    _, a, b, _, *said = map(cells, capsys.readouterr().out.splitlines())
    assert (a[-1], b[-1]) == ("1.00e-02 ?", "2.00e-02") and ["?", why] in said
    assert main(["runs", "compare", "runs/a", "runs/b"]) == 0
    lines = [cells(line) for line in capsys.readouterr().out.splitlines()]
    assert ["estimated error of u", "1.00e-02 ?", "2.00e-02"] in lines and ["?", why] in lines
    assert ["state", "step limit, unsolved", "step limit, unsolved"] in lines
    assert main(["runs", "show", "runs/a"]) == 0
    out = capsys.readouterr().out
    assert "the estimated error is not to be trusted: it jumps\n" in out
    assert "warning: the problem does not seem to be solved" in out


def with_summary(directory, **facts):
    """Write facts into the summary of a run."""
    path = Path(directory, "summary.json")
    path.write_text(json.dumps({**json.loads(path.read_text()), **facts}))


@pytest.mark.parametrize(("unsolved", "k"), [(False, "0.301 ± 0.0042"),
                                             (True, "0.301 ± 0.0042, not to be trusted")])
def test_coefficients_have_their_standard_errors(several, capsys, unsolved, k):
    for name in ("runs/a", "runs/b"):
        with_summary(
            name, parameters={"k": 0.301, "c": 2.0, "d": 1.0, "e": 5.0}, unsolved=unsolved,
            recovery={"standard_errors": {"k": 0.0042, "c": None}, "untrained": ["d"]},
        )  # fmt: skip
    assert main(["runs", "show", "runs/a"]) == 0
    lines = [cells(line) for line in capsys.readouterr().out.splitlines()]
    doubt = ", not to be trusted" * unsolved
    assert ["k", k] in lines and ["c", f"2 ± inf{doubt}"] in lines
    assert ["d", "1 (not trained)"] in lines and ["e", "5"] in lines
    assert main(["runs", "compare", "runs/a", "runs/b"]) == 0
    assert ["k", k, k] in [cells(line) for line in capsys.readouterr().out.splitlines()]


def test_show_tells_of_the_data_and_the_notes_as_the_report_does(several, capsys):
    fit = {
        "rows": 100, "sigma": 0.1, "freedom": 99.0, "chi_square": 139.0, "probability": 0.004,
        "left_out": 0, "outliers": 0,
    }  # fmt: skip
    told = {"rows": 60, "sigma": 0.0543, "freedom": 58.0, "chi_square": 58.0, "probability": None}
    with_summary(
        "runs/a", parameters={"k": 0.301}, unsolved=False,
        recovery={"standard_errors": {"k": 0.0042}, "data": {"sensors": fit, "others": told}},
        error_estimate={"relative_l2": {"u": 1e-3}, "doubts": [], "remarks": ["a remark"]},
    )  # fmt: skip
    assert main(["runs", "show", "runs/a"]) == 0
    out = capsys.readouterr().out.splitlines()
    assert any(one.startswith("data: sensors: 100 rows, 1.18 sigma") for one in out)
    assert "data: others: 60 rows, noise of about 0.054 by what is left of them" in out
    assert any(one.startswith("coefficients: the standard errors are those") for one in out)
    assert "note: a remark" in out
    assert ["k", "0.301 ± 0.0042, not to be trusted"] in map(cells, out)

    for wrong in ({"rows": "many"}, {**fit, "chi_square": -1.0}, {**fit, "sigma": "small"}):
        with_summary("runs/a", recovery={"data": {"sensors": wrong}})
        assert main(["runs", "show", "runs/a"]) != 0
        assert "'recovery'" in capsys.readouterr().err


@pytest.mark.parametrize("key", ["sigma", "freedom", "chi_square", "probability", "left_out"])
def test_what_a_summary_lacks_of_a_fit_is_not_known(several, capsys, key):
    fit = {
        "rows": 100, "sigma": 0.1, "freedom": 99.0, "chi_square": 139.0, "probability": 0.004,
        "left_out": 3, "outliers": 0,
    }  # fmt: skip
    for less in ({**fit, key: None}, {name: fit[name] for name in fit if name != key}):
        with_summary("runs/a", recovery={"data": {"sensors": less}})
        assert main(["runs", "show", "runs/a"]) == 0
        out = capsys.readouterr().out
        assert "data: sensors: 100 rows" in out
        assert "beyond the threshold" not in out or key != "left_out"


def test_an_estimate_as_large_as_the_solution_is_marked_without_a_doubt(several, capsys):
    with_estimate("runs/a", relative_l2={"u": 1.3}, doubts=[])
    capsys.readouterr()
    assert main(["runs", "show", "runs/a"]) == 0
    out = capsys.readouterr().out
    assert "1.30e+00 ?" in out and "not to be trusted: u has one of half the size" in out


def test_list_tells_of_damage_and_goes_on(several, capsys):
    Path("runs/a/summary.json").write_text("{")
    capsys.readouterr()
    assert main(["runs", "list", "runs"]) == 0
    out = capsys.readouterr().out
    assert "runs/a/summary.json: expected JSON" in out and "runs/b  step limit" in out


def test_list_of_nothing(folder, capsys):
    assert main(["runs", "list"]) == 2
    assert "runs: expected a folder with runs" in capsys.readouterr().err
    Path("runs").mkdir()
    assert main(["runs", "list"]) == 0
    assert capsys.readouterr().out == "runs: no runs are there\n"


def test_a_run_that_goes_on_is_told_as_such(running, capsys):
    running("--quiet")
    assert main(["runs", "list", "."]) == 0
    (line,) = capsys.readouterr().out.splitlines()[1:]
    assert cells(line)[:2] == ["run", "running"] and int(cells(line)[2]) >= 10


def test_show_has_results_stages_and_files(several, capsys):
    capsys.readouterr()
    assert main(["runs", "show", "runs/a"]) == 0
    out = capsys.readouterr().out
    summary = json.loads(Path("runs/a/summary.json").read_text())
    assert ["error of u", f"{summary['rel_l2']['u']:.2e}"] in map(cells, out.splitlines())
    assert "adam: all 12 steps done; loss " in out and "lbfgs: all 5 steps done; loss " in out
    assert "stopped: all 5 steps done" in out
    assert "runs/a/figures/field_u.png" in out and ".pinn-run" not in out
    assert main(["runs", "show", "runs/c"]) == 0
    out = capsys.readouterr().out
    assert "cut short" in out and "nan" not in out
    assert main(["runs", "show", "runs/nothing"]) == 2
    assert "runs/nothing: expected a run directory" in capsys.readouterr().err


def test_compare_has_what_differs_what_came_of_it_and_a_figure(several, capsys):
    capsys.readouterr()
    assert main(["runs", "compare", "runs/a", "runs/b", "runs/c"]) == 0
    out = capsys.readouterr().out
    lines = [cells(line) for line in out.splitlines()]
    assert ["runs/a", "runs/b", "runs/c"] == lines[0]
    assert ["seed", "0", "1", "0"] in lines
    assert ["training.0.adam.steps", "12", "20", "12"] in lines
    assert not any(line and line[0].startswith("output") for line in lines)
    assert ["steps", "17", "25", "10"] in lines
    (errors,) = [line for line in lines if line and line[0] == "error of u"]
    assert errors[3] == "-" and 0 < float(errors[1]) < 2
    assert lines[-1] == ["comparison.png"]
    assert Path("comparison.png").read_bytes().startswith(b"\x89PNG")


def test_compare_says_when_configs_are_the_same(several, capsys):
    capsys.readouterr()
    assert main(["runs", "compare", "runs/a", "runs/c", "--figure", "two.png"]) == 0
    assert capsys.readouterr().out.startswith("their configs are the same\n")
    assert Path("two.png").exists()


@pytest.mark.parametrize("arguments, said", [
    (["runs/a"], "two runs or more"),
    (["runs/a", "runs/b", "--figure", "a.jpg"], "ends in .png"),
    (["runs/a", "nothing"], "nothing: expected a run directory"),
])  # fmt: skip
def test_what_cannot_be_compared_is_refused(several, capsys, arguments, said):
    assert main(["runs", "compare", *arguments]) == 2
    assert said in capsys.readouterr().err


def test_configs_that_are_damaged_are_told_of(several, capsys):
    Path("runs/b/config.yaml").write_text("seed: [1")
    assert main(["runs", "compare", "runs/a", "runs/b"]) == 2
    assert "runs/b/config.yaml:1" in capsys.readouterr().err
