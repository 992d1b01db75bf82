"""The runs that are killed: which they are, how they are compared, and how kills are counted."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from experiments.kills import __main__ as kills
from experiments.kills import killing
from experiments.kills.cases import CASES
from experiments.kills.left import differences, left
from pinn.cli import main
from pinn.config import Override, load
from pinn.files import read_npz, write_npz

ROOT = Path(__file__).parents[2]
FEW = [
    "--quiet", "--set", "seconds=null", "--set", "training=[adam: {steps: 3}]", "--set",
    "model={mlp: {width: 4, depth: 1}}", "--set", "error_bars=false", "--set",
    "sampling.interior=20", "--set", "output.checkpoint_seconds=0",
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_config_of_a_case_takes_its_settings(case):
    given = [Override.parse(setting, case.name) for setting in case.settings]
    config = load(ROOT / "configs" / f"{case.config}.yaml", given)
    assert config.experiment.seconds is None  # a limit in time would end runs at other steps


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A run that was never stopped."""
    folder = tmp_path_factory.mktemp("whole")
    assert main(["train", "ode_system", "--out", str(folder / "run"), *FEW]) == 0
    return folder / "run"


@pytest.fixture
def other(whole, tmp_path):
    return shutil.copytree(whole, tmp_path / "run")


def change_json(path, **values):
    path.write_text(json.dumps({**json.loads(path.read_text()), **values}))


def test_a_copy_is_equal_whatever_its_clock_said(whole, other):
    change_json(other / "summary.json", wall_s=77.0, machine={"cpu": "another"})
    assert differences(left(whole), left(other)) == []
    names = left(whole)
    assert {"config.yaml", "metrics.jsonl:1", "summary.json/loss", "figures/history.png",
            "solution.npz/report", "checkpoint.npz/progress"} <= names.keys()  # fmt: skip


def test_the_last_bit_of_an_array_is_compared(whole, other):
    arrays = read_npz(other / "checkpoint.npz")
    arrays["theta"] = arrays["theta"].copy()
    arrays["theta"][3] = np.nextafter(arrays["theta"][3], 1.0)
    write_npz(other / "checkpoint.npz", arrays)
    assert differences(left(whole), left(other)) == ["checkpoint.npz/theta"]


def test_a_number_a_line_and_a_figure_are_compared(whole, other):
    loss = json.loads((other / "summary.json").read_text())["loss"]
    change_json(other / "summary.json", loss=float(np.nextafter(loss, 1.0)))
    lines = (other / "metrics.jsonl").read_text().splitlines()
    (other / "metrics.jsonl").write_text("\n".join(lines[:-1]) + "\n")
    figure = other / "figures" / "history.png"
    figure.write_bytes(figure.read_bytes()[:-1])
    assert differences(left(whole), left(other)) == [
        "figures/history.png", f"metrics.jsonl:{len(lines)}", "summary.json/loss",
    ]  # fmt: skip


class Played:
    """Stands for runs of a process: each is killed so often before it ends by itself."""

    def __init__(self, patch, kills_of_each, result):
        self.kills_of_each, self.moments = list(kills_of_each), []
        self.left = {name: 0 for name in ("a", "b")}
        patch.setattr(killing, "_run", lambda case, folder: 5.0)
        patch.setattr(killing, "_killed", self.killed)
        patch.setattr(killing, "_steps", lambda folder: 3)
        patch.setattr(killing, "left", lambda folder: result(folder.parent.name))

    def killed(self, case, folder, moment):
        self.moments.append(moment)
        if self.kills_of_each[0] == 0:
            self.kills_of_each.pop(0)
            return False
        self.kills_of_each[0] -= 1
        return True


def test_runs_are_killed_until_there_are_so_many_kills(monkeypatch):
    played = Played(monkeypatch, [2, 0, 9], lambda name: {"a": "x"})
    row = killing.kill_and_compare(CASES[0], 4, seed=0)
    assert [kill["run"] for kill in row["kills"]] == [0, 0, 2, 2]
    assert row["runs"] == 3 and row["differ"] == [[], [], []]
    assert all(0 <= moment.seconds <= 5 for moment in played.moments)
    assert len(set(played.moments)) == 6


def test_moments_are_of_time_and_at_steps_that_are_still_to_come(monkeypatch, tmp_path):
    monkeypatch.setattr(killing, "_steps", lambda folder: 10)
    draw = np.random.default_rng(0)
    moments = [killing._moment(draw, tmp_path, 40, 5.0) for _ in range(500)]
    steps = [moment.step for moment in moments if moment.step]
    assert 300 < len(steps) < 400 and set(steps) == set(range(11, 41))
    assert max(moment.seconds for moment in moments if not moment.step) > 4.5
    ended = [killing._moment(draw, tmp_path, 10, 5.0) for _ in range(50)]
    assert {moment.step for moment in ended} == {0}


def test_a_run_is_killed_when_it_has_logged_the_step(monkeypatch, tmp_path):
    writes = (
        "import time\n"
        "for step in range(1, 1000):\n"
        "    line = f'{{\"step\": {step}, \"stage\": \"adam\", \"loss\": 1}}\\n'\n"
        "    open('run/metrics.jsonl', 'a').write(line); time.sleep(0.005)\n"
    )
    (tmp_path / "run").mkdir()
    monkeypatch.setattr(killing, "_started", lambda case, folder: subprocess.Popen(
        [sys.executable, "-c", writes], cwd=folder, text=True, stderr=subprocess.PIPE
    ))  # fmt: skip
    assert killing._killed(CASES[0], tmp_path, killing.Moment(30, 0.01))
    assert 30 <= killing._steps(tmp_path) < 900


def test_what_differs_is_told_by_run(monkeypatch):
    Played(monkeypatch, [1, 1], lambda name: {"a": "y" if name == "run1" else "x"})
    row = killing.kill_and_compare(CASES[0], 2, seed=0)
    assert row["differ"] == [[], ["a"]]


def test_kills_are_shared_out_and_the_table_goes_on(monkeypatch, tmp_path, capsys):
    asked = []

    def played(case, times, seed):
        asked.append((case.name, times))
        return {"name": case.name, "what": case.what, "seconds": 1.0, "parts": 3, "runs": 1,
                "kills": [{"run": 0, "steps": 2}] * times, "differ": [[]]}  # fmt: skip

    monkeypatch.setattr(kills, "kill_and_compare", played)
    names = [case.name for case in CASES[:3]]
    command = ["--times", "5", "--only", *names, "--out", str(tmp_path)]
    assert kills.main(command) == 0
    assert asked == list(zip(names, (2, 2, 1), strict=True))
    assert kills.main(command) == 0 and len(asked) == 3
    assert "5 kills in 3 runs: 3 of 3 ended as" in (tmp_path / "kills.md").read_text()


def test_a_run_that_ended_otherwise_makes_the_command_fail(monkeypatch, tmp_path):
    row = {"name": CASES[0].name, "what": "", "seconds": 1.0, "parts": 3, "runs": 1,
           "kills": [{"run": 0, "steps": 2}], "differ": [["summary.json/loss"]]}  # fmt: skip
    monkeypatch.setattr(kills, "kill_and_compare", lambda *given: row)
    assert kills.main(["--times", "1", "--only", row["name"], "--out", str(tmp_path)]) == 1
    assert f"- {row['name']}: summary.json/loss" in (tmp_path / "kills.md").read_text()


def test_a_run_that_breaks_is_no_kill(tmp_path):
    broken = killing.Kill("broken", "no_such_config", "", ())
    with pytest.raises(killing.NotAsMeant, match="exit code 2"):
        killing.kill_and_compare(broken, 1, seed=0)
