"""`plot`: the figures of a run, drawn again."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from pinn.cli import main
from pinn.files import read_npz, write_npz


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


def test_plot_draws_a_solution_that_was_trained_on_a_gpu(finished, folder):
    shutil.copytree(finished, "run")
    arrays = read_npz("run/solution.npz")
    assert '"device": "cpu"' in str(arrays["experiment"])
    text = str(arrays["experiment"]).replace('"device": "cpu"', '"device": "cuda"')
    write_npz("run/solution.npz", {**arrays, "experiment": np.array(text)})
    assert main(["plot", "run"]) == 0


@pytest.mark.parametrize("line", ["{}", '{"step": 1, "losses": []}', "nothing"])
def test_plot_of_damaged_metrics_names_the_line(finished, folder, capsys, line):
    shutil.copytree(finished, "run")
    lines = Path("run/metrics.jsonl").read_text().splitlines()
    Path("run/metrics.jsonl").write_text("\n".join([*lines[:2], line, *lines[3:], ""]))
    assert main(["plot", "run"]) == 4
    assert capsys.readouterr().err.startswith("run/metrics.jsonl:3: expected ")
