"""`train`: what it leaves on disk, what it says, what it refuses."""

import json
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest

import pinn
from autograd import devices
from autograd.devices import DeviceError
from autograd.plan.lanes.host import host
from pinn.cli import main
from pinn.config import load
from pinn.objective import Objective


def contents(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_run_leaves_everything_in_its_directory(finished):
    names = sorted(str(p.relative_to(finished)) for p in finished.rglob("*") if p.is_file())
    assert names == [
        ".pinn-run",
        "checkpoint.npz",
        "config.yaml",
        "figures/error_u.png",
        "figures/field_u.png",
        "figures/history.png",
        "figures/points.png",
        "figures/reference_u.png",
        "figures/slices_u.png",
        "metrics.jsonl",
        "solution.npz",
        "summary.json",
    ]


def test_metrics_have_the_first_and_last_step_of_each_stage_and_every_fifth(finished):
    records = [json.loads(line) for line in (finished / "metrics.jsonl").read_text().splitlines()]
    assert [record["step"] for record in records] == [1, 5, 10, 12, 13, 15, 17]
    assert [record["stage"] for record in records] == ["adam"] * 4 + ["lbfgs"] * 3
    weights = pinn.load(finished).experiment.weighting.initial
    for record in records:
        assert list(record["losses"]) == ["heat", "initial_u", "dirichlet_u"]
        weighed = sum(weights.get(name, 1) * loss for name, loss in record["losses"].items())
        assert record["loss"] == pytest.approx(weighed, rel=1e-12)
        assert record["rel_l2"]["u"] > 0
    walls = [record["wall_s"] for record in records]
    assert walls == sorted(walls)
    assert records[0]["lr"] == 1e-3


def test_the_summary_agrees_with_the_solution_on_disk(finished):
    summary = json.loads((finished / "summary.json").read_text())
    assert (summary["name"], summary["seed"], summary["steps"]) == ("heat", 0, 17)
    assert summary["stop_reason"] == "step limit"
    assert {"numpy", "pinn", "python"} <= set(summary["versions"])
    assert summary["machine"]["cores"] >= 1
    # The error once more, from the formula, on a grid of our own.
    x, t = np.meshgrid(np.linspace(0, np.pi, 201), np.linspace(0, 1, 101), indexing="ij")
    exact = np.exp(-t / 2) * np.sin(x)
    values = pinn.load(finished / "solution.npz").evaluate(x=x, t=t)["u"]
    error = np.linalg.norm(values - exact) / np.linalg.norm(exact)
    assert summary["rel_l2"]["u"] == pytest.approx(error, rel=0.02)
    assert summary["max_error"]["u"] == pytest.approx(np.abs(values - exact).max(), rel=0.02)


def test_the_checkpoint_holds_the_same_network(finished):
    solution = pinn.load(finished / "solution.npz")
    assert np.array_equal(pinn.load(finished / "checkpoint.npz").theta, solution.theta)


def test_the_config_of_a_run_gives_the_same_bits(finished, folder):
    assert main(["train", str(finished / "config.yaml"), "--out", "again", "--quiet"]) == 0
    first, again = (pinn.load(run / "solution.npz") for run in (finished, Path("again")))
    assert np.array_equal(first.theta, again.theta)


def test_the_default_directory_and_the_final_line(folder, capsys):
    assert main(["train", "heat.yaml", "--seed", "3", "--set", "training=[adam: {steps: 2}]"]) == 0
    out, err = capsys.readouterr()
    assert out.count("\n") == 1
    assert out.startswith("heat: stopped: step limit; loss ")
    assert "relative L2 error of u " in out
    assert out.endswith("results in runs/heat-3\n")
    assert "trainable numbers" in err
    assert err.endswith("drawing the figures into runs/heat-3/figures\n")
    assert (folder / "runs" / "heat-3" / "summary.json").exists()


def test_quiet_shows_only_the_final_line(folder, capsys):
    assert main(["train", "heat.yaml", "--quiet", "--set", "training=[adam: {steps: 2}]"]) == 0
    out, err = capsys.readouterr()
    assert (out.count("\n"), err) == (1, "")


def test_warnings_are_a_line_each_and_stand_in_the_summary(folder, capsys):
    short = ["--set", "training=[adam: {steps: 2}]"]
    alone = ["--set", "problem.conditions=[dirichlet: {unknown: u, value: 0}]"]
    assert main(["train", "heat.yaml", *short, *alone]) == 0
    out, err = capsys.readouterr()
    said = [line for line in err.splitlines() if line.startswith("warning: ")]
    assert len(said) == 2 and "2 warnings" in out
    assert said[0].startswith("warning: the solution seems not to be determined in t: ")
    assert said[1].startswith("warning: the problem does not seem to be solved: ")
    assert err.index(said[0]) < err.index("adam: ") < err.index(said[1])
    summary = json.loads(Path("runs/heat-0/summary.json").read_text())
    assert [f"warning: {sentence}" for sentence in summary["warnings"]] == said
    assert summary["residual"].keys() == {"heat", "dirichlet_u"}


@pytest.mark.parametrize("given", ["--device cuda", "--device cuda:0", "--set device=cuda:1"])
def test_a_device_that_is_not_there_is_told_before_a_directory_that_is(
    finished, folder, capsys, monkeypatch, given
):
    monkeypatch.setitem(sys.modules, "cupy", None)
    shutil.copytree(finished, "run")
    before = contents(Path("run"))
    for how in ([], ["--overwrite"], ["--resume"]):
        assert main(["train", "heat.yaml", "--out", "run", *given.split(), *how]) == 4
        assert capsys.readouterr().err == (
            f"{given} needs cupy, which is not installed; for CUDA 12 pip install \".[gpu12]\" "
            'brings it, for CUDA 13 pip install ".[gpu13]"; or choose the device cpu\n'
        )
    assert contents(Path("run")) == before


def test_a_device_that_fails_is_called_as_it_was_given(folder, capsys, monkeypatch):
    def fails():
        raise DeviceError("device 'cuda' is not usable: no GPU found")

    monkeypatch.setitem(devices._loaders, "cuda", fails)
    monkeypatch.delitem(devices._by_type, "cuda", raising=False)
    assert main(["train", "heat.yaml", "--device", "cuda:0"]) == 4
    assert capsys.readouterr().err.startswith("--device cuda:0: device 'cuda' is not usable: no")
    Path("heat.yaml").write_text(f"device: cuda\n{Path('heat.yaml').read_text()}")
    assert main(["train", "heat.yaml"]) == 4
    assert capsys.readouterr().err.startswith("device 'cuda' is not usable: no GPU found")


def test_a_run_ends_with_what_it_was_warned_of(folder, capsys):
    alone = ["--set", "problem.conditions=[dirichlet: {unknown: u, value: 0}]"]
    assert main(["train", "heat.yaml", "--out", "run", *alone]) == 0
    err = capsys.readouterr().err
    first, last = err.split("\nstopped ", 1)
    assert "warning: the solution seems not to be determined in t" in first
    assert "warning     the solution seems not to be determined in t" in last


def test_a_run_that_is_there_is_not_touched_without_overwrite(finished, folder, capsys):
    shutil.copytree(finished, "run")
    before = contents(folder)
    assert main(["train", "heat.yaml", "--out", "run"]) == 2
    assert "--overwrite" in capsys.readouterr().err
    assert contents(folder) == before
    short = ["--set", "training=[adam: {steps: 2}]"]
    assert main(["train", "heat.yaml", "--out", "run", "--overwrite", "--quiet", *short]) == 0
    assert json.loads(Path("run/summary.json").read_text())["steps"] == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere.yaml"], "nowhere.yaml: no such file"),
        (["."], ".: expected a YAML file, got a directory"),
        (["bad.yaml"], "bad.yaml:2: not valid YAML (column "),
        (["heat.yaml", "--set", "modl=3"], "--set modl=3: modl: unknown key; valid keys: "),
        (["heat.yaml", "--seed", "x"], "--seed x: seed: expected a whole number >= 0, got 'x'"),
        (["heat.yaml", "--seconds", "0"], "--seconds 0: seconds: expected "),
        (["heat.yaml", "--device", "tpu"], "--device tpu: device: expected one of cpu, cuda"),
        (["heat.yaml", "--set", "problem.domain.x=[1, 0]"], "--set problem.domain.x=[1, 0]: "),
    ],
)
def test_bad_input_is_one_message_and_nothing_is_written(folder, capsys, arguments, message):
    Path("bad.yaml").write_text("problem: {\n  a: b: c\n")
    before = contents(folder)
    assert main(["train", *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(message)
    assert "Traceback" not in err
    assert contents(folder) == before
    assert not Path("runs").exists()


def test_every_mistake_has_a_line_of_its_own(folder, capsys):
    text = Path("heat.yaml").read_text()
    Path("heat.yaml").write_text(text.replace("u_xx", "u_zz").replace("sin(x)}", "sin(q)}", 1))
    assert main(["train", "heat.yaml"]) == 2
    told = [line for line in capsys.readouterr().err.splitlines() if line.startswith("heat.yaml:")]
    assert [line.split(": ")[:2] for line in told] == [
        ["heat.yaml:7", "problem.equations.heat"],
        ["heat.yaml:9", "problem.conditions.0.initial.value"],
    ]


def test_what_solve_refuses_before_training_is_a_mistake_in_the_config(
    folder, capsys, monkeypatch
):
    def refusing(*_, **__):
        raise ValueError("reference of 'u': not finite at 3 of 9 test points")

    monkeypatch.setattr(pinn, "solve", refusing)
    assert main(["train", "heat.yaml"]) == 2
    assert capsys.readouterr().err == (
        "heat.yaml: reference of 'u': not finite at 3 of 9 test points\n"
    )
    assert not Path("runs").exists()


def test_a_folder_that_merely_holds_a_config_is_not_overwritten(folder, capsys):
    Path("mine").mkdir()
    Path("mine/config.yaml").write_text("mine")
    Path("mine/solution.npz").write_text("mine")
    before = contents(folder)
    assert main(["train", "heat.yaml", "--out", "mine", "--overwrite"]) == 2
    assert "this is not a run" in capsys.readouterr().err
    assert contents(folder) == before


def test_figures_that_are_a_link_are_not_followed(finished, folder, capsys):
    shutil.copytree(finished, "run")
    Path("run/figures").rename("pictures")
    Path("run/figures").symlink_to(folder / "pictures")
    before = contents(folder)
    assert main(["train", "heat.yaml", "--out", "run", "--overwrite"]) == 2
    assert "run/figures: " in capsys.readouterr().err
    assert contents(folder) == before


def test_a_config_with_very_many_mistakes_shows_the_first(folder, capsys):
    keys = "".join(f"k{number}: 0\n" for number in range(3000))
    Path("heat.yaml").write_text(Path("heat.yaml").read_text() + keys)
    assert main(["train", "heat.yaml"]) == 2
    err = capsys.readouterr().err
    assert err.count("unknown key") == 20
    assert err.endswith("\n... and 2980 more\n")
    assert len(err) < 20_000


@pytest.mark.parametrize(
    ("error", "code"),
    [(ValueError("no such executor"), 2), (TypeError("no rule"), 2), (ImportError("no numba"), 2)],
)
def test_what_only_shows_in_the_first_evaluation_is_said_before_the_directory_is_made(
    folder, capsys, monkeypatch, error, code
):
    def refuse(*_):
        raise error

    monkeypatch.setattr(Objective, "value_and_gradient", refuse)
    assert main(["train", "heat.yaml", "--quiet"]) == code
    assert capsys.readouterr().err == f"heat.yaml: {error}\n"
    assert not Path("runs").exists()


@pytest.mark.parametrize("environment, said", [
    ({"AUTOGRAD_EXECUTOR": "abacus"},
     "AUTOGRAD_EXECUTOR is 'abacus', expected 'numpy', 'numba' or 'llvm'"),
    ({"AUTOGRAD_EXECUTOR": "numba", "NUMBA_DISABLE_JIT": "1"}, "NUMBA_DISABLE_JIT is set, so that"),
])  # fmt: skip
def test_an_executor_that_cannot_be_had_is_one_sentence_about_the_environment(
    folder, start, environment, said
):
    pytest.importorskip("numba")
    process = start("train", "heat.yaml", env=environment)
    _, err = process.communicate(timeout=240)
    assert process.returncode == 2
    assert said in err and err.count("\n") == 1
    assert "heat.yaml" not in err
    assert not Path("runs").exists()


def test_numba_that_may_not_compile_is_told_of_where_it_is_needed(folder, start):
    pytest.importorskip("numba")
    short = ["--quiet", "--set", "training=[adam: {steps: 2}]"]
    process = start(
        "train", "heat.yaml", *short, env={"AUTOGRAD_EXECUTOR": "", "NUMBA_DISABLE_JIT": "1"}
    )
    _, err = process.communicate(timeout=240)
    assert process.returncode == 0
    lines = [line for line in err.splitlines() if "NUMBA" in line]
    assert len(lines) == (host() is None)
    said = "warning: NUMBA_DISABLE_JIT is set: recorded steps are replayed with"
    assert all(line.startswith(said) for line in lines)


def test_figures_are_drawn_whatever_the_backend_of_windows_is(folder, start):
    short = ["--set", "training=[adam: {steps: 2}]"]
    process = start("train", "heat.yaml", *short, env={"MPLBACKEND": "abacus"})
    _, err = process.communicate(timeout=240)
    assert process.returncode == 0, err
    assert Path("runs/heat-0/figures/field_u.png").exists()


def test_the_command_gives_the_bits_that_python_gives(finished, folder):
    experiment = load("heat.yaml").experiment
    theta = pinn.solve(**vars(experiment)).theta
    assert np.array_equal(pinn.load(finished / "solution.npz").theta, theta)


def test_of_windows_of_time_two_are_tried_before_a_run_begins(folder, monkeypatch):
    """All of them at once are more to compile than any step of their training."""
    sizes, evaluated = [], Objective.value_and_gradient

    def value_and_gradient(objective, theta):
        sizes.append(len(theta))
        return evaluated(objective, theta)

    monkeypatch.setattr(Objective, "value_and_gradient", value_and_gradient)
    given = ["model={windows: {count: 4, model: {mlp: {width: 3, depth: 1}}}}",
             "training=[{adam: {steps: 1}}]"]  # fmt: skip
    assert main(["train", "heat.yaml", "--quiet", *(f"--set={one}" for one in given)]) == 0
    window = 3 * 3 + 3 + 1
    assert sizes[0] == 2 * window and 4 * window not in sizes
