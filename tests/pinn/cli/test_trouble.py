"""Training that runs into trouble: the exit code, the sentence, and what is saved."""

import contextlib
import json
import resource
import signal
from pathlib import Path

import numpy as np
import pytest

import pinn
from pinn.cli import main
from pinn.optimizers import Adam
from pinn.runs import Run, figures


def test_a_directory_that_cannot_be_made_is_a_disk_failure(folder, capsys):
    assert main(["train", "heat.yaml", "--quiet", "--out", "heat.yaml/run"]) == 4
    err = capsys.readouterr().err
    assert err.startswith("cannot write heat.yaml/run: Not a directory")


def limit_files(size):
    """A limit on the size of a file stands for a disk that fills while training goes on."""
    usual = resource.RLIM_INFINITY

    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, usual))

    return limit


# Without a reference a line of the metrics is written in no time.
LOGS = ["--quiet", "--set", "output.log_every=1", "--set", "training.0.adam.steps=1000"]
LOGS += ["--set", "problem.reference=null"]


def test_a_disk_that_fills_up_costs_lines_and_no_steps(start):
    process = start("train", "heat.yaml", *LOGS, before=limit_files(200_000))
    out, err = process.communicate(timeout=240)
    assert process.returncode == 4, err
    lines = [line for line in err.splitlines() if not line.startswith("warning: ")]
    assert lines[0].startswith("cannot write runs/heat-0/metrics.jsonl: ")
    assert "training goes on" in lines[0]
    assert "lines could not be written" in lines[1]
    assert lines[2].startswith("saved in runs/heat-0: solution.npz, summary.json")
    assert "step limit" in out
    for line in Path("runs/heat-0/metrics.jsonl").read_text().splitlines():
        json.loads(line)
    assert json.loads(Path("runs/heat-0/summary.json").read_text())["steps"] == 1005
    assert pinn.load("runs/heat-0/solution.npz").report.steps == 1005


def test_a_disk_without_room_for_the_solvers_memory_keeps_the_solution(small_disk, capsys):
    wide = ["--set", "model={mlp: {width: 20, depth: 3}}"]
    wide += ["--set", "training=[ssbroyden: {steps: 3}]"]
    arguments = ["train", "heat.yaml", "--quiet", *wide, "--out", str(small_disk / "run")]
    assert main(arguments) == 4
    out, err = capsys.readouterr()
    assert "checkpoint.npz: No space left on device" in err
    assert "solution.npz, summary.json" in err
    assert "results in" in out
    assert pinn.load(small_disk / "run" / "solution.npz").report.steps == 3


def test_the_room_for_the_solution_is_kept_from_the_start(small_disk, capsys, monkeypatch):
    really_log = Run.log

    def somebody_else_fills_the_disk(self, record):
        really_log(self, record)
        with contextlib.suppress(OSError), open(small_disk / "other", "ab", buffering=0) as other:
            while True:
                other.write(bytes(1024))

    monkeypatch.setattr(Run, "log", somebody_else_fills_the_disk)
    assert main(["train", "heat.yaml", "--quiet", "--out", str(small_disk / "run")]) == 4
    assert "No space left on device" in capsys.readouterr().err
    assert pinn.load(small_disk / "run" / "solution.npz").report.steps == 17
    assert json.loads((small_disk / "run" / "summary.json").read_text())["steps"] == 17


def test_a_disk_without_room_for_any_result_is_said_before_training(small_disk, capsys):
    with contextlib.suppress(OSError), open(small_disk / "other", "ab", buffering=0) as other:
        for _ in range(950):
            other.write(bytes(1024))
    assert main(["train", "heat.yaml", "--out", str(small_disk / "run")]) == 4
    err = capsys.readouterr().err
    assert "solution.npz: No space left on device; 0.1 MB are kept free for it" in err
    assert "adam" not in err


def test_training_that_fails_saves_what_it_had_reached(folder, capsys, monkeypatch):
    really_run = Adam.run

    def broken(self, *arguments):
        for step in really_run(self, *arguments):
            if step.number == 8:
                raise RuntimeError("boom")
            yield step

    monkeypatch.setattr(Adam, "run", broken)
    assert main(["train", "heat.yaml", "--quiet"]) == 1
    err = capsys.readouterr().err
    assert "what training had reached is in runs/heat-0" in err
    assert "unexpected RuntimeError: boom" in err
    summary = json.loads(Path("runs/heat-0/summary.json").read_text())
    assert (summary["stop_reason"], summary["steps"]) == ("failed", 7)
    assert summary["message"].startswith("RuntimeError after") and "boom" in summary["message"]
    report = pinn.load("runs/heat-0/solution.npz").report
    assert report.history[-1]["step"] == 7
    assert pinn.load("runs/heat-0/checkpoint.npz").report.steps == 7


def test_figures_that_cannot_be_drawn_do_not_hide_the_results(folder, capsys, monkeypatch):
    def refuse(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(figures, "draw_run", refuse)
    assert main(["train", "heat.yaml", "--quiet"]) == 4
    out, err = capsys.readouterr()
    assert out.startswith("heat: stopped: ") and "results in runs/heat-0" in out
    assert err.startswith("the figures are not complete: ")
    assert Path("runs/heat-0/solution.npz").exists()


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
    wild = ["--set", "training.0.adam.learning_rate=1e200", "--quiet"]
    assert main(["train", "heat.yaml", *wild]) == 3
    out, err = capsys.readouterr()
    assert out.startswith("heat: stopped: diverged; ")
    assert "training diverged: the residual of block 'heat' is not finite" in err
    assert "went back: the residual of block 'heat'" in err
    summary = json.loads(Path("runs/heat-0/summary.json").read_text())
    assert summary["stop_reason"] == "diverged"
    assert [setback["attempt"] for setback in summary["setbacks"]] == [1, 2, 3]
    lines = map(json.loads, Path("runs/heat-0/metrics.jsonl").read_text().splitlines())
    assert [line["setback"][-10:] for line in lines if "setback" in line] == [
        "try 1 of 3", "try 2 of 3", "try 3 of 3"
    ]  # fmt: skip
    checkpoint, solution = (pinn.load(f"runs/heat-0/{n}.npz") for n in ("checkpoint", "solution"))
    assert np.isfinite(checkpoint.theta).all()
    assert checkpoint.theta.tobytes() == solution.theta.tobytes()
    assert checkpoint.report.setbacks == solution.report.setbacks
    assert len(solution.report.setbacks) == 3


def test_training_that_takes_shorter_steps_says_so_and_is_done(folder, capsys):
    changes = ["training.0.adam.learning_rate=1", "problem.reference=null"]
    changes += ["problem.equations.heat=u_t - k*u_xx + u*log(u + 1.1)"]
    arguments = [part for change in changes for part in ("--set", change)]
    assert main(["train", "heat.yaml", *arguments]) == 0
    out, err = capsys.readouterr()
    assert "; went back " in out
    assert "log(u + 1.1) is nan there for u + 1.1 = -" in err
    assert "with shorter steps, try 1 of 3" in err
    summary = json.loads(Path("runs/heat-0/summary.json").read_text())
    assert summary["steps"] == 17 and summary["setbacks"][0]["stage"] == "adam"


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


def test_points_of_your_own_that_do_not_fit_are_told_with_their_line(folder, capsys):
    (folder / "points.csv").write_text("x,t\n0,0.5\n0,7\n")
    (folder / "own.yaml").write_text(
        "problem: {domain: {x: [-1, 1], t: {time: [0, 1]}}, unknowns: u, equations: "
        "{heat: u_t - u_xx}, conditions: [initial: {unknown: u, value: 0}]}\n"
        "sampling: {blocks: {heat: {points: points.csv}}}\n"
    )
    assert main(["train", "own.yaml", "--quiet"]) == 2
    err = capsys.readouterr().err
    assert "sampling.blocks.heat.points: points.csv:3: expected a point of the domain" in err
    (folder / "points.csv").unlink()
    assert main(["train", "own.yaml", "--quiet"]) == 2
    assert "points: cannot read points.csv: No such file" in capsys.readouterr().err
    assert not (folder / "runs").exists()
