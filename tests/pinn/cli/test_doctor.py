"""`doctor`: what holds a run back."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

import pinn
from pinn.cli import main
from pinn.files import read_npz


def test_it_prints_the_table_of_a_run(finished, folder, capsys):
    assert main(["doctor", str(finished)]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("heat: ")
    assert all(name in printed for name in ("initial_u", "dirichlet_u", "> --set"))


def test_its_advice_is_what_set_takes(finished, folder, capsys):
    assert main(["doctor", str(finished), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    settings = [one for finding in found["findings"][:1] for one in finding["set"]]
    assert settings
    arguments = [part for one in settings for part in ("--set", one)]
    assert main(["check", "heat.yaml", *arguments]) == 0
    assert {block["name"] for block in found["blocks"]} == {"heat", "initial_u", "dirichlet_u"}


def test_a_saved_solution_and_a_checkpoint_will_do(finished, folder, capsys):
    assert main(["doctor", str(finished / "solution.npz")]) == 0
    shutil.copytree(finished, "run")
    Path("run/solution.npz").unlink()
    assert main(["doctor", "run"]) == 0
    assert capsys.readouterr().out.count("heat: ") == 2


def test_nothing_is_written(finished, folder):
    shutil.copytree(finished, "run")
    before = {path: path.read_bytes() for path in Path("run").rglob("*") if path.is_file()}
    assert main(["doctor", "run"]) == 0
    assert {p: p.read_bytes() for p in Path("run").rglob("*") if p.is_file()} == before


@pytest.mark.parametrize("run", ["nowhere", "heat.yaml", ".", "nowhere.npz"])
def test_it_refuses_what_is_no_run(folder, capsys, run):
    assert main(["doctor", run]) == 2
    assert "expected a run directory" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["doctor", "plot", "report"])
def test_of_a_config_it_says_what_is_for_it(folder, capsys, command):
    assert main([command, "heat.yaml"]) == 2
    said = capsys.readouterr().err
    assert "heat.yaml: expected a run directory, got a config; python -m pinn train heat" in said
    assert "python -m pinn check heat.yaml says what seems wrong with it before that" in said


@pytest.mark.parametrize("command, options", [
    ("doctor", ""), ("plot", ""), ("report", ""), ("runs show", ""), ("runs compare", "nowhere"),
    ("evaluate", "--points p.csv"), ("export", "--format csv"),
])  # fmt: skip
def test_in_place_of_a_sweep_one_of_its_runs_is_named(finished, folder, capsys, command, options):
    for seed in (0, 1):
        shutil.copytree(finished, f"all of them/seed={seed}")
    Path("all of them/notes").mkdir()
    assert main([*command.split(), "all of them", *options.split()]) == 2
    assert capsys.readouterr().err == (
        "all of them: expected one run directory, got a folder with 2 runs in it, as a sweep "
        f"leaves; give one of them: python -m pinn {command} 'all of them/seed=0'\n"
    )


def test_a_run_without_a_solution_is_refused(finished, folder, capsys):
    shutil.copytree(finished, "run", ignore=shutil.ignore_patterns("*.npz"))
    assert main(["doctor", "run"]) == 2
    assert "neither solution.npz nor checkpoint.npz is there" in capsys.readouterr().err


def test_damaged_files_are_a_disk_failure(finished, folder, capsys):
    shutil.copytree(finished, "run")
    lines = Path("run/metrics.jsonl").read_text()
    Path("run/metrics.jsonl").write_text("{\n" + lines)
    assert main(["doctor", "run"]) == 4
    assert "run/metrics.jsonl:1" in capsys.readouterr().err
    Path("run/solution.npz").write_bytes(Path("run/solution.npz").read_bytes()[:-200])
    assert main(["doctor", "run"]) == 4
    assert "run/solution.npz" in capsys.readouterr().err


def test_an_equation_that_no_file_holds_is_told_of(folder, capsys):
    problem = pinn.Problem(
        pinn.Interval("x", 0, 1), ["u"], {"ode": lambda s: s.u_xx}, [pinn.Dirichlet("u", 0)]
    )
    solution = pinn.solve(
        problem, pinn.MLP(4, 1), pinn.Sampling(interior=20), [pinn.Adam(3)], error_bars=False
    )
    solution.save("own.npz")
    assert main(["doctor", "own.npz"]) == 2
    assert "pinn.doctor(solution) looks at it in Python" in capsys.readouterr().err
    assert np.isfinite(pinn.doctor(solution).fresh)
    assert str(read_npz("own.npz")["format"])
