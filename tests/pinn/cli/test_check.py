"""`check`: the table, JSON and exit codes of the command."""

import json
import sys
from pathlib import Path

import pytest

from pinn.cli import main


def test_the_table_is_printed_and_nothing_is_written(folder, capsys):
    before = sorted(Path().rglob("*"))
    assert main(["check", "heat.yaml"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert out.startswith("heat        u on x in [0, 3.14159], t in [0, 1]\n")
    assert "constants   k = 0.5\n" in out
    names = [line.split()[0] for line in out.splitlines() if line[:1].isalpha()]
    table = names[names.index("block"):]
    assert table[:5] == ["block", "heat", "initial_u", "dirichlet_u", "total"]
    assert sorted(Path().rglob("*")) == before


def test_json_is_one_object(folder, capsys):
    assert main(["check", "heat.yaml", "--json", "--set", "sampling.interior=50"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert [block["points"] for block in data["blocks"]] == [50, 10, 10]
    assert data["name"] == "heat" and data["errors"] == []


@pytest.mark.parametrize("as_json", [[], ["--json"]])
def test_what_cannot_work_is_refused(folder, capsys, as_json):
    bad = ["--set", "problem.equations.heat=u_t - k*u_xx + log(u - 9)"]
    assert main(["check", "heat.yaml", *bad, *as_json]) == 2
    out, err = capsys.readouterr()
    assert err.startswith("heat.yaml: training cannot begin: the residual of block 'heat'")
    assert "log(u - 9) is nan there" in out


def test_a_mistake_in_the_config_is_told_as_by_train(folder, capsys):
    assert main(["check", "heat.yaml", "--set", "sampling.interior=none"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("--set sampling.interior=none: sampling.interior: expected a whole")
    assert main(["check", "haet.yaml"]) == 2
    assert "haet.yaml: no such file" in capsys.readouterr().err


def test_a_stage_that_is_too_large_is_refused(folder, capsys):
    large = ["--set", "model={mlp: {width: 200}}", "--set", "training=[ssbroyden]"]
    assert main(["check", "heat.yaml", *large]) == 2
    assert capsys.readouterr().err.startswith(
        "--set training=[ssbroyden]: training.0: ssbroyden: its inverse Hessian of 81201"
    )


def test_a_device_that_is_not_there_is_told_as_by_train(folder, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", None)
    assert main(["check", "heat.yaml", "--device", "cuda:0"]) == 4
    out, err = capsys.readouterr()
    assert out == "" and err.startswith("--device cuda:0 needs cupy, which is not installed; ")


BALL = "problem.domain={ball: {center: [0], radius: 1}}"
STEADY = [
    "problem.domain={x: [0, 1]}", "problem.equations={heat: u_xx}", "problem.reference=null",
    "problem.conditions=[dirichlet: {unknown: u, value: 0}]",
]  # fmt: skip


@pytest.mark.parametrize("given, said", [
    ([BALL], "expected a center of two numbers or more; use an interval for one"),
    (["problem.conditions=[dirichlet: {unknown: u, value: 0, on: t=0}]"],
     "use an initial condition at t=0"),
    (["problem.conditions=[dirichlet: {unknown: u, value: 0, on: t=1}]"],
     "use a terminal condition at t=1"),
    ([*STEADY, "problem.domain={t: {time: [0, 1]}}", "problem.equations={heat: u_t}"],
     "use an initial condition at the start of time"),
    ([*STEADY, "model={windows: {count: 2}}"], "t: {time: [0, 1]} in YAML"),
    ([*STEADY, "weighting=causal"], "t: {time: [0, 1]} in YAML"),
])  # fmt: skip
def test_a_remedy_speaks_of_a_config_and_not_of_python_alone(folder, capsys, given, said):
    options = [part for one in given for part in ("--set", one)]
    assert main(["check", "heat.yaml", *options]) == 2
    err = capsys.readouterr().err
    assert said in err
    assert "pinn." not in err or "in YAML" in err
