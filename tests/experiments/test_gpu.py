"""The program for a GPU: what it measures, what it counts without one, and its page."""

import json
from types import SimpleNamespace

import numpy as np
import pytest

from autograd.strict.kernels import compiler
from experiments.bench.engines import bursts, ours
from experiments.bench.network import Network
from experiments.bench.worker import Worker, _kind
from experiments.bench.workloads import NU, Workload
from experiments.gpu import __main__ as program
from experiments.gpu import counts, steps, training
from experiments.gpu.page import markdown
from experiments.gpu.rows import NETWORKS, POINTS, ROWS

SMALL = Workload(
    "small", ("u_t + u*u_x - nu*u_xx", "u_x - sin(x)"), 40, "float64",
    Network(kind="modified", width=6, depth=1, features=3), constants={"nu": NU},
)  # fmt: skip
COUNTED = {
    "steps": 4, "launches": 8, "uploads": 4, "downloads": 0, "synchronisations": 0,
    "allocations": 2, "sent": 1, "fetched": 0,
}  # fmt: skip


ABOUT = {
    "machine": {"cpu": "a", "cores": 2}, "versions": {}, "executor": "cuda", "command": "b",
}  # fmt: skip


@pytest.fixture
def quick(monkeypatch):
    """Have the program find no GPU, and count nothing itself."""
    monkeypatch.setattr(program, "_gpu", lambda: None)
    for name in ("networks", "solvers"):
        monkeypatch.setattr(counts, f"of_{name}", lambda name=name: {name: COUNTED})
    monkeypatch.setattr(counts, "of_redraw", lambda: {**COUNTED, "steps": 1, "uploads": 1})


def test_each_network_of_the_bench_is_there_in_both_precisions_and_three_sizes():
    found = {(row.network, row.workload.dtype, row.workload.points) for row in ROWS}
    assert len(found) == len(ROWS) == 2 * 3 * len(NETWORKS) == 60
    assert len({row.name for row in ROWS}) == 60
    assert {row.workload.network.width for row in ROWS} == {20, 64, 128}


def test_bursts_take_the_steps_of_the_host(gpu):
    step = bursts.prepare(SMALL, "bursts", seed=1, threads=1)
    other = ours.prepare(SMALL, "numpy", seed=1, threads=1)
    assert step.step() == pytest.approx(other.step(), rel=1e-12)
    np.testing.assert_allclose(step.first_moment(), other.first_moment(), rtol=0, atol=1e-12)
    assert step.facts() == {"size": step.first_moment().size}
    step.steps(3)
    for _ in range(3):
        last = other.step()
    assert step.step() == pytest.approx(other.step(), rel=1e-9) and last > 0


@pytest.mark.skipif(compiler() is None, reason="no C++ compiler")
def test_a_burst_is_a_launch_a_step_and_a_copy_each_way(monkeypatch):
    monkeypatch.setattr(counts, "NETWORKS", {"small": SMALL})
    (found,) = counts.of_networks().values()
    steps_ = found["steps"]
    assert found["launches"] == steps_ + 3 and found["allocations"] == 1
    assert found["uploads"] == found["downloads"] == found["synchronisations"] == 1


def test_without_a_gpu_it_counts_and_says_that_nothing_was_run_on_one(tmp_path, quick, capsys):
    assert program.main(["--out", str(tmp_path)]) == 0
    page = (tmp_path / "gpu.md").read_text()
    assert "**Not run on a GPU.**" in page and "| networks | 4     | 2 " in page
    (row,) = json.loads((tmp_path / "gpu.json").read_text())["rows"]
    assert row["name"] == "counts" and row["gpu"] is None
    assert "no usable GPU" in capsys.readouterr().err


def test_on_a_gpu_rows_go_on_where_the_last_command_ended(tmp_path, quick, monkeypatch, capsys):
    monkeypatch.setattr(program, "_gpu", lambda: "a device")
    seen = []

    def measured(row, known, remotes, rounds, say):
        seen.append(row.name)
        timed = {"ours-gpu": {"bursts": {"ms": 1.0, "gradient_difference": 1e-7}},
                 "jax-gpu": {"jet": {"ms": 1.5}, "reverse": {"ms": 3.0}},
                 "torch-gpu": {"nested": {"kind": "out of memory", "error": "no room"}},
                 "objective": {"objective": {"ms": 40.0}}}  # fmt: skip
        return {**row._asdict(), "engines": timed, "left_out": {}}

    monkeypatch.setattr(program, "measure", measured)
    names = [row.name for row in ROWS[:2]]
    given = ["--only", *names, "--out", str(tmp_path)]
    assert program.main([*given[:2], *given[3:]]) == 0
    assert program.main(given) == 0
    assert seen == names  # the first is not measured again
    page = (tmp_path / "gpu.md").read_text()
    assert "Not run" not in page and "a device" in page
    assert f"missed: {names[0]} by 0.50, {names[1]} by 0.50" in page
    assert "torch-gpu: out of memory" in page and "40.00x" in page
    capsys.readouterr()


def test_a_name_that_is_none_is_refused_with_the_nearest(tmp_path, capsys):
    with pytest.raises(SystemExit) as stopped:
        program.main(["--only", "burgers-64-f32-1e9", "--out", str(tmp_path)])
    assert stopped.value.code == 2 and "burgers-64-f32-1e4" in capsys.readouterr().err


class Remote:
    """An engine that is not there; notes that it was stopped."""

    def __init__(self, name):
        self.engine, self.stopped = SimpleNamespace(name=name), False

    def stop(self):
        self.stopped = True


def test_ways_of_jax_are_those_that_were_fast_on_the_network_with_few_points(monkeypatch):
    few, many = ROWS[0], next(row for row in ROWS if row.points == POINTS[1])
    other = next(row for row in ROWS if row.precision != few.precision)
    took = {"jet": 2.0, "reverse": 3.0, "hybrid": 1.0, "forward": 4.0}
    known = {**few._asdict(), "engines": {"jax-gpu": {w: {"ms": ms} for w, ms in took.items()}}}
    asked = []

    def compare(remotes, workload, rounds, say, *, ways, together):
        asked.append((ways["jax-gpu"], [one.engine.name for one in remotes]))
        return {"engines": {}}

    remotes = [Remote("objective"), Remote("jax-gpu")]
    monkeypatch.setattr(steps, "compare", compare)
    for row in (few, many, other):
        steps.measure(row, [{"name": "adam"}, known], remotes, 1, print)
    fast = ["hybrid", "jet", "reverse"]
    assert asked[0][0] == steps.GPU["jax-gpu"].ways  # its own figures are those to be replaced
    assert asked[1:] == [(fast, ["jax-gpu"]), (fast, ["objective", "jax-gpu"])]


@pytest.mark.parametrize("kind, points, stopped", [
    (None, POINTS[0], False), ("cannot run", POINTS[0], False), ("out of memory", POINTS[0], True),
    (None, POINTS[-1], True),
])  # fmt: skip
def test_memory_that_a_row_has_filled_is_given_back(monkeypatch, kind, points, stopped):
    entry = {"ms": 1.0} if kind is None else {"kind": kind, "error": "why"}
    monkeypatch.setattr(steps, "compare", lambda *given, **how: {"engines": {"a": {"b": entry}}})
    remotes = [Remote("objective"), Remote("torch-gpu")]
    row = next(row for row in ROWS if row.points == points)
    steps.measure(row, [], remotes, 1, print)
    assert [one.stopped for one in remotes] == [stopped] * 2


def test_full_memory_is_one_kind_of_error_whoever_says_it():
    class OutOfMemoryError(RuntimeError):
        pass

    full = (MemoryError(), OutOfMemoryError(), RuntimeError("RESOURCE_EXHAUSTED: Out of memory"))
    assert {_kind(error) for error in full} == {"out of memory"}
    assert _kind(ValueError("shape")) == "ValueError"


def test_several_steps_are_taken_and_waited_for_once():
    worker = Worker("ours", 1, 0)
    worker.prepare(SMALL.to_json(), "numpy")
    taken = []
    worker._steps["numpy"].steps = taken.append
    (seconds,) = worker.run("numpy", 7, together=True)["seconds"]
    assert taken == [7] and seconds > 0
    del worker._steps["numpy"].steps
    assert len(worker.run("numpy", 2, together=True)["seconds"]) == 2  # the host has no such steps


def test_a_run_that_fails_is_told_in_its_row(monkeypatch):
    def run(code, err=""):
        done = SimpleNamespace(returncode=code, stdout='{"steps": 1}', stderr=err)
        return lambda *given, **how: done

    monkeypatch.setattr(training.subprocess, "run", run(0))
    assert training.measure("adam", 1.0)["devices"]["cuda"] == {"steps": 1}
    monkeypatch.setattr(training.subprocess, "run", run(1, "Traceback\nRuntimeError: no kernel"))
    failed = training.measure("adam", 1.0)
    assert failed["devices"]["cuda"] == {"failed": "RuntimeError: no kernel"}
    page = markdown([], [{**failed, "gpu": "c", "measured": ABOUT}], None)
    assert "| RuntimeError: no kernel |" in page


def test_a_run_on_the_host_has_its_errors_and_no_memory(monkeypatch):
    monkeypatch.setitem(training.STAGES, "short", ["training=[{adam: {steps: 12}}]"])
    found = training.train("cpu", "short")
    assert found["steps"] == 12 and 0 < found["rel_l2"] < 2
    assert found["memory"] == {"early": 0, "last": 0, "most": 0}


def test_a_run_whose_memory_grows_is_not_flat():
    def run(last):
        memory = {"early": 100 << 20, "last": last << 20, "most": last << 20}
        one = {"rel_l2": 1e-6, "loss": 1e-9, "steps": 10, "seconds": 1.0, "memory": memory}
        return {"name": "adam", "devices": {"cuda": one}, "gpu": "c", "measured": ABOUT}

    assert "| yes  |" in markdown([], [run(104)], None)
    assert "| no   |" in markdown([], [run(106)], None)
