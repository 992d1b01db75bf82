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
    head, *lines = capsys.readouterr().out.splitlines()
    assert cells(head) == ["run", "state", "steps", "seconds", "loss", "error", "estimated"]
    assert [cells(line)[:3] for line in lines] == [
        ["runs/a", "step limit", "17"], ["runs/b", "step limit", "25"],
        ["runs/c", "cut short", "10"],
    ]  # fmt: skip
    summary = json.loads(Path("runs/a/summary.json").read_text())
    assert cells(lines[0])[3:] == [
        f"{summary['wall_s']:.1f}", f"{summary['loss']:.2e}", f"{summary['rel_l2']['u']:.2e}"
    ]


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
    assert f"error of u  {summary['rel_l2']['u']:>10.2e}" in out
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
