"""Runs that are asked to end, and runs that are killed."""

import json
import signal
import time
from pathlib import Path

import numpy as np
import pytest

import pinn
from pinn.cli import main
from pinn.files import read_npz
from pinn.runs import Run


def wait_for(condition, process):
    deadline = time.monotonic() + 240
    while not condition():
        assert process.poll() is None and time.monotonic() < deadline
        time.sleep(0.002)


def check_interrupted(process, err):
    assert process.returncode == 130, err
    assert "Traceback" not in err
    arrays = read_npz("run/checkpoint.npz")
    assert json.loads(arrays["progress"].tobytes())["last"]["step"] >= 10
    assert np.isfinite(pinn.load("run/checkpoint.npz").evaluate(x=1.0, t=0.5)["u"])
    assert not [path for path in Path("run").rglob("*") if path.name.endswith(".tmp")]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_request_to_end_saves_and_draws_and_exits_with_130(running, number):
    process = running()
    process.send_signal(number)
    out, err = process.communicate(timeout=240)
    check_interrupted(process, err)
    assert "interrupted after step " in err
    assert "a checkpoint is in run/checkpoint.npz" in err
    # The same line and the same figures as those of a run that came to its end.
    assert out.startswith("heat: stopped: interrupted; loss ")
    assert "relative L2 error of u " in out and out.endswith("; results in run\n")
    assert sorted(path.stem for path in Path("run/figures").iterdir()) == [
        "error_u", "field_u", "history", "points", "reference_u", "slices_u"
    ]  # fmt: skip
    assert json.loads(Path("run/summary.json").read_text())["stop_reason"] == "interrupted"
    assert pinn.load("run/solution.npz").report.stop_reason == "interrupted"


def test_an_impatient_ctrl_c_does_not_cost_the_checkpoint(running):
    process = running("--quiet")
    for _ in range(3):
        process.send_signal(signal.SIGINT)
        time.sleep(0.001)
    _, err = process.communicate(timeout=240)
    check_interrupted(process, err)
    assert json.loads(Path("run/summary.json").read_text())["stop_reason"] == "interrupted"


def test_a_second_ctrl_c_skips_the_figures(running):
    process = running("--quiet")
    process.send_signal(signal.SIGINT)
    wait_for(lambda: Path("run/checkpoint.npz").exists(), process)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=240)
    check_interrupted(process, err)
    assert out.startswith("heat: stopped: interrupted; loss ")
    assert "python -m pinn plot run draws them" in err
    assert not Path("run/figures/history.png").exists()


def test_an_interrupted_run_can_be_drawn(running, capsys):
    process = running("--quiet")
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=240)
    assert main(["plot", "run"]) == 0
    assert "run/figures/field_u.png\n" in capsys.readouterr().out


def test_ctrl_c_before_training_writes_nothing(folder, capsys, monkeypatch):
    def impatient(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(pinn, "solve", impatient)
    assert main(["train", "heat.yaml"]) == 130
    assert capsys.readouterr().err == "interrupted\n"
    assert not Path("runs").exists()


# ---- a run beside another, and runs that are killed


def test_a_run_that_goes_on_is_not_overwritten(running, capsys):
    process = running("--quiet")
    config = Path("run/config.yaml").read_bytes()
    for option in ([], ["--overwrite"]):
        assert main(["train", "heat.yaml", "--out", "run", *option]) == 2
        err = capsys.readouterr().err
        assert err.startswith(f"run: another training run is writing there (process {process.pid} ")
    assert Path("run/config.yaml").read_bytes() == config
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=240)
    assert process.returncode == 130
    lines = Path("run/metrics.jsonl").read_text().splitlines()
    steps = [json.loads(line)["step"] for line in lines]
    assert steps[0] == 1 and steps == sorted(set(steps))


def test_a_run_that_is_killed_leaves_what_loads_and_a_directory_for_the_next(start):
    moments = np.random.default_rng(5).uniform(0.0, 0.4, 4)
    short = ["--set", "output.log_every=1", "--set", "training.0.adam.steps=60"]
    short += ["--set", "problem.reference=null", "--set", "output.checkpoint_seconds=0"]
    command = ["train", "heat.yaml", "--out", "run", "--overwrite", *short]
    loaded = 0
    for moment in moments:
        process = start(*command)
        # Its own mark: that of the run before names another process.
        mark = f"process {process.pid} "
        wait_for(lambda mark=mark: mark in read_mark(), process)
        time.sleep(moment)
        process.kill()
        process.communicate()
        for path in Path("run").glob("*.npz"):
            assert np.isfinite(pinn.load(path).evaluate(x=1.0, t=0.5)["u"])
            loaded += 1
        Run("run").metrics()
    assert loaded > 1
    assert main([*command, "--quiet"]) == 0
    assert not [path for path in Path("run").rglob("*.tmp")]


def read_mark():
    try:
        return Path("run/.pinn-run").read_text()
    except FileNotFoundError:
        return ""
