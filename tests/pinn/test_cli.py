"""The command line: exit codes, messages, and what a run leaves on disk."""

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import pinn
from pinn.cli import main
from pinn.files import read_npz

ROOT = Path(__file__).parents[2]

HEAT = """\
problem:
  name: heat
  domain: {x: [0, pi], t: {time: [0, 1]}}
  unknowns: [u]
  constants: {k: 1/2}
  equations:
    heat: u_t - k*u_xx
  conditions:
    - initial: {unknown: u, value: sin(x)}
    - dirichlet: {unknown: u, value: 0}
  reference: {u: exp(-k*t)*sin(x)}
model: {mlp: {width: 6, depth: 2}}
sampling: {interior: 60, initial: 10, boundary: 10}
training:
  - adam: {steps: 12}
  - lbfgs: {steps: 5}
output: {log_every: 5}
"""
ENDLESS = HEAT.replace("steps: 12", "steps: 10000000")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty working directory with heat.yaml in it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PINN_DEBUG", raising=False)
    (tmp_path / "heat.yaml").write_text(HEAT)
    return tmp_path


def contents(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def start(*arguments, **options):
    """Start the command in a process of its own, with the working directory as it is."""
    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    return subprocess.Popen(
        [sys.executable, "-m", "pinn", *arguments],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths), "OPENBLAS_NUM_THREADS": "1"},
        stdout=options.pop("stdout", subprocess.PIPE),
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )


def wait_for(condition, process):
    deadline = time.monotonic() + 60
    while not condition():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.02)


# ---- train


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A run that is done: its folder."""
    folder = tmp_path_factory.mktemp("finished")
    (folder / "heat.yaml").write_text(HEAT)
    assert main(["train", str(folder / "heat.yaml"), "--out", str(folder / "run"), "--quiet"]) == 0
    return folder / "run"


def test_a_run_leaves_everything_in_its_directory(finished):
    names = sorted(str(p.relative_to(finished)) for p in finished.rglob("*") if p.is_file())
    assert names == [
        "checkpoint.npz",
        "config.yaml",
        "figures/error_u.png",
        "figures/field_u.png",
        "figures/history.png",
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
    for record in records:
        assert list(record["losses"]) == ["heat", "initial_u", "dirichlet_u"]
        assert record["loss"] == pytest.approx(sum(record["losses"].values()), rel=1e-12)
        assert record["rel_l2"]["u"] > 0
    walls = [record["wall_s"] for record in records]
    assert walls == sorted(walls)
    assert records[0]["lr"] == 1e-3


def test_the_summary_agrees_with_the_solution_on_disk(finished):
    summary = json.loads((finished / "summary.json").read_text())
    assert (summary["name"], summary["seed"], summary["steps"]) == ("heat", 0, 17)
    assert summary["stop_reason"] == "steps done"
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
    assert out.startswith("heat: stopped: steps done; loss ")
    assert "relative L2 error of u " in out
    assert out.endswith("results in runs/heat-3\n")
    assert "trainable numbers" in err
    assert (folder / "runs" / "heat-3" / "summary.json").exists()


def test_quiet_shows_only_the_final_line(folder, capsys):
    assert main(["train", "heat.yaml", "--quiet", "--set", "training=[adam: {steps: 2}]"]) == 0
    out, err = capsys.readouterr()
    assert (out.count("\n"), err) == (1, "")


def test_a_run_that_is_there_is_not_touched_without_overwrite(finished, folder, capsys):
    shutil.copytree(finished, "run")
    before = contents(folder)
    assert main(["train", "heat.yaml", "--out", "run"]) == 2
    assert "--overwrite" in capsys.readouterr().err
    assert contents(folder) == before
    short = ["--set", "training=[adam: {steps: 2}]"]
    assert main(["train", "heat.yaml", "--out", "run", "--overwrite", "--quiet", *short]) == 0
    assert json.loads(Path("run/summary.json").read_text())["steps"] == 2


# ---- what is refused


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere.yaml"], "nowhere.yaml: no such file"),
        (["."], ".: expected a YAML file, got a directory"),
        (["bad.yaml"], "bad.yaml:2: not valid YAML (column "),
        (["heat.yaml", "--set", "modl=3"], "--set modl=3: modl: unknown key; valid keys: "),
        (["heat.yaml", "--seed", "x"], "--seed x: seed: expected a whole number >= 0, got 'x'"),
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
    Path("heat.yaml").write_text(HEAT.replace("u_xx", "u_zz").replace("sin(x)}", "sin(q)}", 1))
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


@pytest.mark.parametrize("arguments", [[], ["trian"], ["train"], ["train", "a", "--bogus"]])
def test_wrong_usage_exits_with_2(arguments, capsys):
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2
    assert capsys.readouterr().err.startswith("usage: ")


# ---- trouble on the way


def test_a_directory_that_cannot_be_made_is_a_disk_failure(folder, capsys):
    assert main(["train", "heat.yaml", "--quiet", "--out", "heat.yaml/run"]) == 4
    err = capsys.readouterr().err
    assert err.startswith("cannot write heat.yaml/run: Not a directory")


def test_a_full_disk_is_a_disk_failure(folder):
    # A limit on the size of a file stands for a disk that fills while the metrics grow.
    limit = 4000
    process = start(
        "train",
        "heat.yaml",
        "--quiet",
        "--set",
        "output.log_every=1",
        "--set",
        "training.0.adam.steps=1000",
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
    )
    out, err = process.communicate(timeout=60)
    assert process.returncode == 4, err
    assert err.startswith("cannot write runs/heat-0/metrics.jsonl: ")
    for line in Path("runs/heat-0/metrics.jsonl").read_text().splitlines():
        json.loads(line)


def test_a_gpu_that_is_not_there_is_a_device_failure(folder, capsys):
    from autograd.devices import DeviceError

    try:
        import autograd

        autograd.zeros(1, device="cuda")
        pytest.skip("a GPU is there")
    except DeviceError:
        pass
    assert main(["train", "heat.yaml", "--device", "cuda"]) == 4
    err = capsys.readouterr().err
    assert "cuda" in err
    assert err.count("\n") == 1
    assert not Path("runs").exists()


def test_training_that_diverges_exits_with_3(folder, capsys):
    assert main(["train", "heat.yaml", "--set", "training.0.adam.learning_rate=1e200"]) == 3
    err = capsys.readouterr().err
    assert "training diverged: the residual of block 'heat' is not finite" in err
    summary = json.loads(Path("runs/heat-0/summary.json").read_text())
    assert summary["stop_reason"] == "diverged"
    assert np.isfinite(pinn.load("runs/heat-0/checkpoint.npz").theta).all()


def test_an_unexpected_error_is_one_line_and_a_way_to_the_traceback(folder, capsys, monkeypatch):
    def broken(*_, **__):
        raise RuntimeError("boom")

    monkeypatch.setattr(pinn, "solve", broken)
    assert main(["train", "heat.yaml"]) == 1
    assert capsys.readouterr().err == (
        "unexpected RuntimeError: boom\nrun again with PINN_DEBUG=1 for the traceback\n"
    )
    monkeypatch.setenv("PINN_DEBUG", "1")
    with pytest.raises(RuntimeError, match="boom"):
        main(["train", "heat.yaml"])


def test_running_out_of_memory_says_what_to_do(folder, capsys, monkeypatch):
    def hungry(*_, **__):
        raise MemoryError("Unable to allocate 9 TiB")

    monkeypatch.setattr(pinn, "solve", hungry)
    assert main(["train", "heat.yaml"]) == 4
    assert "Unable to allocate 9 TiB; take fewer points" in capsys.readouterr().err


# ---- Ctrl-C


def running(*arguments):
    """A training run in a process of its own that has logged some steps."""
    Path("endless.yaml").write_text(ENDLESS)
    process = start("train", "endless.yaml", "--out", "run", *arguments)
    metrics = Path("run/metrics.jsonl")
    wait_for(lambda: metrics.exists() and metrics.read_text().count("\n") >= 3, process)
    return process


def check_interrupted(process, err):
    assert process.returncode == 130, err
    assert "Traceback" not in err
    arrays = read_npz("run/checkpoint.npz")
    assert json.loads(str(arrays["progress"]))["step"] >= 10
    assert np.isfinite(pinn.load("run/checkpoint.npz").evaluate(x=1.0, t=0.5)["u"])
    assert not [path for path in Path("run").rglob("*") if path.name.endswith(".tmp")]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_writes_a_checkpoint_and_exits_with_130(folder, number):
    process = running()
    process.send_signal(number)
    _, err = process.communicate(timeout=60)
    check_interrupted(process, err)
    assert "interrupted after step " in err
    assert "a checkpoint is in run/checkpoint.npz" in err
    assert json.loads(Path("run/summary.json").read_text())["stop_reason"] == "interrupted"


def test_an_impatient_ctrl_c_does_not_cost_the_checkpoint(folder):
    process = running("--quiet")
    for _ in range(3):
        process.send_signal(signal.SIGINT)
        time.sleep(0.001)
    _, err = process.communicate(timeout=60)
    check_interrupted(process, err)


def test_an_interrupted_run_can_be_drawn(folder, capsys):
    process = running("--quiet")
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert main(["plot", "run"]) == 0
    assert "run/figures/field_u.png\n" in capsys.readouterr().out


def test_ctrl_c_before_training_writes_nothing(folder, capsys, monkeypatch):
    def impatient(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(pinn, "solve", impatient)
    assert main(["train", "heat.yaml"]) == 130
    assert capsys.readouterr().err == "interrupted\n"
    assert not Path("runs").exists()


# ---- the other commands


def test_plot_draws_the_figures_again(finished, folder, capsys):
    shutil.copytree(finished, "run", ignore=shutil.ignore_patterns("figures"))
    assert main(["plot", "run"]) == 0
    paths = capsys.readouterr().out.splitlines()
    assert sorted(paths) == [
        f"run/figures/{name}.png"
        for name in ("error_u", "field_u", "history", "reference_u", "slices_u")
    ]
    assert all(Path(path).read_bytes().startswith(b"\x89PNG") for path in paths)


@pytest.mark.parametrize("run", ["nowhere", "heat.yaml", "."])
def test_plot_refuses_what_is_no_run(folder, capsys, run):
    assert main(["plot", run]) == 2
    assert "expected a run directory" in capsys.readouterr().err


def test_plot_of_a_damaged_solution_is_a_disk_failure(finished, folder, capsys):
    shutil.copytree(finished, "run")
    Path("run/solution.npz").write_bytes(Path("run/solution.npz").read_bytes()[:-200])
    assert main(["plot", "run"]) == 4
    assert "run/solution.npz" in capsys.readouterr().err


def test_list_shows_configs_and_references(folder, capsys):
    assert main(["list"]) == 0
    out = capsys.readouterr().out
    assert "burgers.yaml  Burgers' equation" in out
    assert "cole-hopf  " in out


def test_version_and_help(capsys):
    for option, start_of_output in (("--version", "pinn "), ("--help", "usage: python -m pinn ")):
        with pytest.raises(SystemExit) as caught:
            main([option])
        assert caught.value.code == 0
        assert capsys.readouterr().out.startswith(start_of_output)


@pytest.mark.parametrize("arguments", [["list"], ["--help"]])
def test_nobody_reading_the_output_is_no_failure(folder, arguments):
    reader, writer = os.pipe()
    os.close(reader)
    process = start(*arguments, stdout=writer)
    os.close(writer)
    _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, "")


def test_a_closed_terminal_does_not_cost_the_run(folder):
    process = start("train", "heat.yaml")
    process.stdout.close()
    process.stderr.close()
    assert process.wait(timeout=60) == 0
    assert Path("runs/heat-0/solution.npz").exists()
