"""What the README shows works as it is shown."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

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


def test_the_solver_example_runs(tmp_path):
    code = "\n".join(block for block in blocks("python") if "pinn.solve" in block)
    shortened = re.sub(r"seconds=\d+", "training=[pinn.Adam(steps=3)]", code)
    assert shortened != code
    shortened = re.sub(r"steps=\d+", "steps=3", shortened)
    shortened = shortened.replace("pinn.AutoModel()", "pinn.RandomFeatures(60)")  # no trial
    out = run(shortened, tmp_path)
    assert re.search(r"^unknown +relative L2 +max error.*\nu +\d", out, flags=re.MULTILINE)
    assert (tmp_path / "u.png").stat().st_size > 10_000


def test_the_autograd_example_prints_what_it_says(tmp_path):
    (code,) = [block for block in blocks("python") if "T.gradcheck" in block]
    assert run(code, tmp_path).split() == re.findall(r"# ([\d. ]+|True)$", code, re.MULTILINE)[
        0
    ].split() + ["True"]


@pytest.mark.parametrize("target", re.findall(r"\]\(([^)#]+)\)", README))
def test_every_link_leads_somewhere(target):
    assert (ROOT / target).exists()


def test_every_config_that_ships_is_named():
    section = README.split("## Examples\n")[1].split("\n## ")[0]
    shipped = {f"configs/{path.name}" for path in (ROOT / "configs").glob("*.yaml")}
    assert set(re.findall(r"\]\((configs/\w+\.yaml)\)", section)) == shipped


def test_the_table_of_times_is_what_was_measured():
    measured = (ROOT / "experiments" / "results" / "bench.md").read_text(encoding="utf-8")
    rows = [
        [cell.strip() for cell in line.strip("|\n").split("|")]
        for line in measured.splitlines() if line.startswith("| ") and line.count("|") == 13
    ]
    times = {(row[1], row[2], row[4], row[5]) for row in rows}
    shown = re.findall(
        r"^\| .* \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \([\d.]+x\) \| ([\d.]+) \([\d.]+x\) \|$",
        README, flags=re.MULTILINE,
    )
    assert len(shown) == 12
    assert set(shown) <= times
