"""`sweep` with several runs at a time: real processes, MPI, Dask and submitit; lost workers."""

import importlib.util
import json
import os
import re
import shutil
import signal
import sysconfig
from pathlib import Path

import numpy as np
import pytest

import pinn
from pinn.cli import main
from pinn.runs import Run

from .conftest import HEAT, ROOT, wait_for

SCRIPTS = Path(sysconfig.get_path("scripts"))
MPIEXEC = shutil.which("mpiexec", path=f"{SCRIPTS}{os.pathsep}{os.environ.get('PATH', '')}")
GRID = ["--grid", "seed=0,1"]

needs_mpi = pytest.mark.skipif(
    MPIEXEC is None or importlib.util.find_spec("mpi4py") is None, reason="no mpi4py, or no mpiexec"
)
needs_dask = pytest.mark.skipif(
    importlib.util.find_spec("distributed") is None, reason="no distributed"
)
needs_submitit = pytest.mark.skipif(
    importlib.util.find_spec("submitit") is None, reason="no submitit"
)
LOCAL = [
    pytest.param(["--jobs", "2"], id="processes"),
    pytest.param(["--executor", "dask", "--jobs", "2"], id="dask", marks=needs_dask),
]


def training(directory):
    """The process that trains in a run directory, None before one has reached a checkpoint."""
    if not Path(directory, "checkpoint.npz").exists():
        return None
    found = re.match(r"process (\d+) ", Path(directory, ".pinn-run").read_text())
    return int(found[1]) if found else None


def check_same(folder, other):
    for seed in (0, 1):
        run, alone = (Path(one, f"seed={seed}") for one in (folder, other))
        assert np.array_equal(pinn.load(run).theta, pinn.load(alone).theta)
        config = (alone / "config.yaml").read_text().replace(f"{other}/", f"{folder}/")
        assert (run / "config.yaml").read_text() == config


@pytest.fixture(scope="module")
def one_by_one(tmp_path_factory):
    """The folder of the same sweep in this process: what workers have to end with, to the bit."""
    folder = tmp_path_factory.mktemp("one_by_one")
    (folder / "heat.yaml").write_text(HEAT)
    command = ["sweep", str(folder / "heat.yaml"), "--out", str(folder / "all"), "--quiet", *GRID]
    assert main(command) == 0
    return folder / "all"


EVERYWHERE = [
    *LOCAL,
    pytest.param(["--executor", "mpi"], id="mpiexec", marks=needs_mpi),
    pytest.param(["--executor", "mpi", "--jobs", "2"], id="mpi", marks=needs_mpi),
    pytest.param(
        ["--executor", "slurm:cluster=local,timeout_min=9"], id="submitit", marks=needs_submitit
    ),
]


@pytest.mark.parametrize("options", EVERYWHERE)
def test_workers_end_with_the_bits_of_runs_one_after_the_other(start, options, one_by_one):
    command = ["sweep", "heat.yaml", "--out", "all", *GRID, *options]
    if options == ["--executor", "mpi"]:
        process = start(*command, before_program=[MPIEXEC, "-n", "3"])
    else:
        process = start(*command, env={"PATH": f"{SCRIPTS}{os.pathsep}{os.environ['PATH']}"})
    out, err = process.communicate(timeout=240)
    assert process.returncode == 0, err
    assert "Traceback" not in err
    check_same("all", one_by_one)
    head, *lines, why = (line.split() for line in out.splitlines())
    assert head == ["seed", "state", "steps", "seconds", "loss", "error", "estimated"]
    assert [line[:5] for line in lines] == [
        [seed, "step", "limit,", "unsolved", "17"] for seed in "01"
    ]  # fmt: skip
    assert why[0] == "unsolved"
    for number, seed in ((1, 0), (2, 1)):
        told = [line for line in err.splitlines() if line.startswith(f"all/seed={seed} ")]
        assert told[0] == f"all/seed={seed} ({number} of 2): begins"
        assert told[1].startswith(f"all/seed={seed} ({number} of 2): stopped: step limit; loss ")
        assert len(told) == 2
    assert not list(Path("all").glob(".pinn-sweep-*"))


@pytest.mark.parametrize("options", LOCAL)
def test_a_killed_worker_and_ctrl_c_cost_no_bit(start, options):
    endless = ["--set", "training.0.adam.steps=10000000", "--set", "output.checkpoint_seconds=0"]
    command = ["sweep", "heat.yaml", "--out", "all", *GRID]
    process = start(*command, *endless, *options)
    runs = ["all/seed=0", "all/seed=1"]
    wait_for(lambda: all(map(training, runs)), process)
    wait_for(lambda: Run(runs[1]).last_step(), process)  # before it a run begins anew
    lost = training(runs[1])
    os.kill(lost, signal.SIGKILL)
    wait_for(lambda: training(runs[1]) not in (None, lost), process)
    again = Run(runs[1]).last_step().step
    wait_for(lambda: Run(runs[1]).last_step().step > again, process)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=240)
    assert process.returncode == 130, err
    assert "Traceback" not in err
    assert "all/seed=1 (2 of 2): its worker was lost (" in err
    assert re.search(r"^all/seed=1 \(2 of 2\): goes on from step \d+$", err, re.MULTILINE)
    assert err.count("every run ends after this step") == 1
    for run in runs:
        assert json.loads(Path(run, "summary.json").read_text())["stop_reason"] == "interrupted"
    assert out.count("interrupted") == 2
    # The same command goes on, and ends with the bits of runs that never stopped.
    steps = max(Run(run).last_step().step for run in runs) + 5
    limit = ["--set", f"training.0.adam.steps={steps}"]
    assert main([*command, *limit, "--quiet"]) == 0
    assert main(["sweep", "heat.yaml", "--out", "other", "--quiet", *GRID, *limit]) == 0
    check_same("all", "other")


# Python's own hook: a process of multiprocessing says that it has started, and imports for a while.
SLOW_TO_IMPORT = """\
import sys, time
from pathlib import Path

if "--multiprocessing-fork" in sys.orig_argv:
    Path("importing").touch()
    time.sleep(0.5)
"""


def test_ctrl_c_before_the_first_run_begins_is_an_interrupt(start, folder):
    """A terminal sends it to the processes too, which have not come to what ignores it."""
    (folder / "sitecustomize.py").write_text(SLOW_TO_IMPORT)
    process = start(
        "sweep", "heat.yaml", "--out", "all", *GRID, "--jobs", "2", start_new_session=True,
        env={"PYTHONPATH": f"{folder}{os.pathsep}{ROOT}"},
    )  # fmt: skip
    wait_for(Path("importing").exists, process)
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=240)
    assert process.returncode == 130, err
    assert [line.split()[1] for line in out.splitlines()[1:]] == ["empty", "empty"]
    assert err.splitlines() == [
        "every run ends after this step (Ctrl-C again: without waiting for that)",
        "interrupted: the same command goes on with the runs that have not ended",
    ]
    assert not list(Path("all").iterdir())


@needs_mpi
def test_a_mistake_under_mpiexec_is_told_once(start):
    """And who does the runs needs no --executor there."""
    wrong = (["sead=0"], "sead: unknown key"), (["seed=0", "--jobs", "2"], "its own -n")
    for options, said in wrong:
        process = start(
            "sweep", "heat.yaml", "--grid", *options,
            before_program=[MPIEXEC, "-n", "3"],
        )  # fmt: skip
        _, err = process.communicate(timeout=240)
        assert process.returncode == 2
        assert err.count(said) == 1


@needs_mpi
def test_a_killed_rank_ends_all_and_the_same_command_goes_on(start):
    endless = ["--set", "training.0.adam.steps=10000000", "--set", "output.checkpoint_seconds=0"]
    command = ["sweep", "heat.yaml", "--out", "all", *GRID, "--executor", "mpi"]
    process = start(*command, *endless, before_program=[MPIEXEC, "-n", "3"])
    runs = ["all/seed=0", "all/seed=1"]
    wait_for(lambda: all(map(training, runs)), process)
    os.kill(training(runs[1]), signal.SIGKILL)
    process.communicate(timeout=240)
    assert process.returncode != 0
    steps = max(Run(run).last_step().step for run in runs) + 5
    limit = ["--set", f"training.0.adam.steps={steps}"]
    process = start(*command, *limit, before_program=[MPIEXEC, "-n", "3"])
    _, err = process.communicate(timeout=240)
    assert process.returncode == 0, err
    assert err.count(": goes on from step ") == 2
    assert main(["sweep", "heat.yaml", "--out", "other", "--quiet", *GRID, *limit]) == 0
    check_same("all", "other")


def test_workers_end_with_whoever_started_them(start):
    process = start("sweep", "endless.yaml", "--out", "all", *GRID, "--jobs", "2")
    runs = ["all/seed=0", "all/seed=1"]
    begun = [Path(run, ".pinn-run") for run in runs]
    wait_for(lambda: all(mark.exists() and mark.read_text() for mark in begun), process)
    metrics = [Path(run, "metrics.jsonl") for run in runs]
    wait_for(lambda: all(path.exists() for path in metrics), process)
    process.kill()
    process.communicate()  # returns when the workers have closed their ends too
    for run in runs:
        assert json.loads(Path(run, "summary.json").read_text())["stop_reason"] == "interrupted"
        assert Run(run).last_step() is not None


def test_a_run_that_fails_ends_no_other_and_is_the_exit_code(start):
    # A rate that no step survives, twice over, between two that do well.
    process = start(
        "sweep", "heat.yaml", "--out", "all", "--jobs", "2",
        "--grid", "training.0.adam.learning_rate=1e-3,1e300,1e-4",
    )  # fmt: skip
    out, err = process.communicate(timeout=240)
    assert process.returncode == 3, err
    _, *lines, why, reason = out.splitlines()
    assert [line.split()[1] for line in lines] == ["step", "diverged", "step"]
    assert why.startswith("unsolved ")
    assert reason.startswith("learning_rate=1e300: stopped: diverged; ")


UNGUARDED = """\
import pinn

decay = pinn.Problem(
    domain=pinn.Time("t", 0, 2), unknowns=["u"], equations={"decay": "u_t + u**2"},
    conditions=[pinn.Initial("u", 1, hard=True)], name="decay",
)
try:
    pinn.sweep(
        decay, pinn.MLP(width=4, depth=1), training=[pinn.Adam(steps=3)], jobs=2,
        grid={"seed": [0, 1]}, out="all", tell=print,
    )
except Exception as error:
    print(type(error).__name__, error)
print("the script ends")
"""


def test_a_script_without_a_guard_is_told_of_it_once_and_nothing_is_trained(start, folder):
    (folder / "script.py").write_text(UNGUARDED)
    out, err = start(program=("script.py",)).communicate(timeout=240)
    error, end = out.splitlines()
    assert error.startswith("RuntimeError sweep: no process begins: 2 were started, one after ")
    assert " with exit codes 1 and 1; " in error
    assert error.endswith(' below `if __name__ == "__main__":`')
    assert end == "the script ends"  # and it ends once: the processes go no further than the call
    assert not err
    assert not list((folder / "all").iterdir())


@pytest.mark.parametrize("options, said", [
    (["--jobs", "0"], "argument --jobs: expected a whole number >= 1, got '0'"),
    (["--executor", "dusk"], "expected one of processes, mpi, dask, slurm, got 'dusk'"),
    (["--executor", "processes:4"], "processes takes no options, got '4'"),
    (["--executor", "dask:tcp://h:1", "--jobs", "2"], "the workers of dask's scheduler say"),
    (["--executor", "ranks"], "--executor ranks: ranks share one run, of pinn.solve"),
    (["--executor", "slurm:cluster=local,timeout_min=abc"],
     "--executor slurm:cluster=local,timeout_min=abc: timeout_min: expected a whole number, got "
     "'abc'"),
    (["--executor", "slurm:cluster=local,mem_gb=much"], 'mem_gb=much: Parameter "mem_gb" expected'),
])  # fmt: skip
def test_mistakes_in_who_does_the_runs(folder, capsys, options, said):
    if "dask" in options[1]:
        pytest.importorskip("distributed")
    if "slurm" in options[1]:
        pytest.importorskip("submitit")
    try:
        code = main(["sweep", "heat.yaml", "--out", "all", *GRID, *options])
    except SystemExit as end:
        code = end.code
    assert code == 2
    assert said in capsys.readouterr().err
    assert not Path("all").exists()
