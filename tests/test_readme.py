"""What the README says is so; that its code runs is tests/docs/test_pages.py's matter."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(kind: str) -> list[str]:
    return re.findall(rf"^```{kind}\n(.*?)^```$", README, flags=re.MULTILINE | re.DOTALL)


def run(code: str, folder: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=folder, timeout=120,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_set_up_takes_two_commands_of_one_line():
    commands = blocks("bash setup")
    assert [command.count("\n") for command in commands] == [1, 1]
    assert "python -m pinn train configs/burgers.yaml" in commands[0]
    assert "python -m pytest" in commands[1]


def test_the_autograd_example_prints_what_it_says(tmp_path):
    (code,) = [block for block in blocks("python") if "T.gradcheck" in block]
    assert run(code, tmp_path).split() == re.findall(r"# ([\d. ]+|True)$", code, re.MULTILINE)[
        0
    ].split() + ["True"]


def test_every_config_that_ships_is_named():
    section = README.split("## Examples\n")[1].split("\n## ")[0]
    shipped = {f"configs/{path.name}" for path in (ROOT / "configs").glob("*.yaml")}
    assert set(re.findall(r"\]\((configs/\w+\.yaml)\)", section)) == shipped


def test_the_table_of_times_is_what_was_measured():
    measured = (ROOT / "experiments/results/bench.md").read_text(encoding="utf-8")
    rows = [
        [cell.strip() for cell in line.strip("|\n").split("|")]
        for line in measured.splitlines() if line.startswith("| ") and line.count("|") == 15
    ]
    times = {(row[1], row[2], row[4], row[6]) for row in rows}
    shown = re.findall(
        r"^\| .* \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \([\d.]+x\) \| ([\d.]+) \([\d.]+x\) \|$",
        README, flags=re.MULTILINE,
    )
    assert len(shown) == 12
    assert set(shown) <= times
