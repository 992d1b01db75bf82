"""What the tests of the command line share."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pinn.cli import main

ROOT = Path(__file__).parents[3]

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
    """An empty working directory with heat.yaml and endless.yaml in it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PINN_DEBUG", raising=False)
    (tmp_path / "heat.yaml").write_text(HEAT)
    (tmp_path / "endless.yaml").write_text(ENDLESS)
    return tmp_path


@pytest.fixture(scope="session")
def finished(tmp_path_factory):
    """A run that is done: its folder, to be read or copied only."""
    folder = tmp_path_factory.mktemp("finished")
    (folder / "heat.yaml").write_text(HEAT)
    assert main(["train", str(folder / "heat.yaml"), "--out", str(folder / "run"), "--quiet"]) == 0
    return folder / "run"


@pytest.fixture
def small_disk(folder):
    """A file system of 1 MB, where we may mount one."""
    place = folder / "small"
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(place)]
    try:
        mounted = subprocess.run(command, capture_output=True).returncode == 0
    except OSError:
        mounted = False
    if not mounted:
        pytest.skip("may not mount a file system here")
    yield place
    subprocess.run(["umount", str(place)], check=True)


def usual_signals():
    """Undo what a shell does for its background jobs, in which these tests may run."""
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        signal.signal(getattr(signal, name), signal.SIG_DFL)


@pytest.fixture
def start(folder):
    """A function that starts the command in a process of its own, ended with the test."""
    processes = []

    def start(
        *arguments, program=("-m", "pinn"), before_program=(), before=usual_signals, env=(),
        **options,
    ):
        paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
        ours = {"PYTHONPATH": os.pathsep.join(paths), "OPENBLAS_NUM_THREADS": "1"}
        process = subprocess.Popen(
            [*before_program, sys.executable, *program, *arguments],
            env={**os.environ, **ours, **dict(env)},
            preexec_fn=before,
            text=True,
            **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options},
        )
        processes.append(process)
        return process

    yield start
    for process in processes:
        process.kill()
        process.communicate()


def wait_for(condition, process):
    deadline = time.monotonic() + 240
    while not condition():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.fixture
def running(start):
    """A function that starts a training run without an end, and waits until it logged steps."""

    def running(*arguments, **options):
        process = start("train", "endless.yaml", "--out", "run", *arguments, **options)
        metrics = Path("run/metrics.jsonl")
        wait_for(lambda: metrics.exists() and metrics.read_text().count("\n") >= 3, process)
        return process

    return running
