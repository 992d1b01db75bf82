"""Each config that ships says what it is about, checks, trains for a moment and draws figures."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest
from matplotlib.figure import Figure

import pinn
from pinn.cli import main
from pinn.config import load
from pinn.runs import figures

FILES = sorted((Path(__file__).parents[1] / "configs").glob("*.yaml"))
# Few points and two steps, one of them of a quasi-Newton stage; the rest is what the config says.
SHORT = [
    "sampling.interior=40", "sampling.initial=8", "sampling.boundary=8", "sampling.candidates=null",
    "training=[adam: {steps: 1}, ssbroyden: {steps: 1}]",
]  # fmt: skip
# Ten thousand rows: their Jacobian, which standard errors are made of, is smaller so.
SMALLER = {"source_field": ["model.width=5", "problem.fields.q.model={mlp: {width: 5}}"]}
# Conditions that agree with each other, and are more than the equations take.
ADVISED = {"kovasznay"}


@pytest.fixture
def quick(monkeypatch):
    """Compile nothing, draw of each run its fields and history alone, take few points unadvised."""
    monkeypatch.setattr("pinn.diagnosis.few_points._FEW", 0.0)
    monkeypatch.setenv("AUTOGRAD_EXECUTOR", "numpy")
    for kind in ("reference", "error", "slices", "maps", "vectors", "points"):
        monkeypatch.setattr(figures, f"plot_{kind}", lambda *_, **__: Figure((1, 1)))
    monkeypatch.setattr(figures, "_UNASKED_SECONDS", 0.0)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_config_checks_trains_and_draws(file, quick, tmp_path, capsys):
    sets = SHORT + SMALLER.get(file.stem, [])
    short = [word for one in sets for word in ("--set", one)]
    assert main(["check", str(file), *short]) == 0
    out, err = capsys.readouterr()
    assert err == "" and ("Nothing seems wrong." in out or file.stem in ADVISED)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pinn.UnsolvedWarning)  # two steps solve nothing
        assert main(["train", str(file), *short, "--out", str(tmp_path), "--quiet"]) == 0
    out, err = capsys.readouterr()
    assert err == "" and out.startswith(f"{file.stem}: stopped: step limit; ")
    solution, drawn = pinn.load(tmp_path), {path.stem for path in tmp_path.glob("figures/*.png")}
    assert {f"field_{name}" for name in solution.problem.outputs} | {"history"} <= drawn
    assert ("coefficients" in drawn) == bool(solution.parameters)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_config_says_what_it_shows_and_how_long_it_takes(file):
    text = file.read_text(encoding="utf-8")
    title, *header = text.split("\n\n", 1)[0].splitlines()
    assert title.startswith("# ") and len(title) <= 100 and title[-1] == "."
    assert 3 <= len(header) <= 9 and all(line.startswith("#") for line in header)
    assert "# Shows: " in text and "# Try: " in text
    experiment = load(file).experiment
    limited = experiment.seconds is not None and 10 <= experiment.seconds <= 120
    assert limited or file.stem == "burgers"  # whose number of steps is fixed: equal bits anywhere
