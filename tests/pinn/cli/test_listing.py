"""`list`: what ships, from wherever it is asked."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from pinn.cli import main
from pinn.models import MODELS, Model
from pinn.schema import Positive, declared

ROOT = Path(__file__).parents[3]


def test_list_shows_configs_and_references(folder, capsys):
    assert main(["list"]) == 0
    out = capsys.readouterr().out
    assert "burgers.yaml  Burgers' equation" in out
    assert "cole-hopf  " in out


def test_list_shows_what_a_config_can_be_made_of(folder, capsys):
    assert main(["list"]) == 0
    out = capsys.readouterr().out
    assert "\nconditions:\n  initial(unknown, value, order=0, hard=false)  u = value, or u_t" in out
    assert "\n  mlp(width=20, depth=3, activation=tanh, adaptive=none, features=none, " in out
    assert "  A fully connected network: `depth` hidden layers of `width` units" in out
    assert "\n  periodic(coordinate, period=none, harmonics=1, trainable=false)  A coord" in out
    assert out.count("\n  gaussian  ") == 1  # what several models name is told of once
    assert "\n  adam(steps=2000, learning_rate=0.001, schedule=constant, warmup=0, " in out
    assert "\nsampling.method:\n  uniform  Independent uniform points.\n" in out
    assert "\nsampling.adaptive:\n  rad  " in out


def test_list_shows_a_class_that_was_added(folder, capsys):
    @declared
    class Ramp(Model):
        """A straight line. And more about it."""

        name: str
        slope: Positive = 0.5

        def build(self, *arguments):
            raise NotImplementedError

    MODELS.add("ramp", Ramp)
    try:
        assert main(["list"]) == 0
    finally:
        MODELS.remove("ramp")
    assert "\n  ramp(name, slope=0.5)  A straight line.\n" in capsys.readouterr().out


def test_list_shows_a_config_of_the_working_directory_too(folder, capsys):
    Path("configs").mkdir()
    Path("configs/mine.yaml").write_text("# A problem of mine\nproblem: {}\n")
    assert main(["list"]) == 0
    out = capsys.readouterr().out
    assert "  configs/mine.yaml  A problem of mine\n" in out
    assert "burgers.yaml  Burgers' equation" in out


def test_the_configs_ship_inside_the_package(tmp_path):
    setuptools = pytest.importorskip("setuptools")
    if int(setuptools.__version__.split(".")[0]) < 77:
        pytest.skip("pyproject.toml asks for setuptools 77")
    source, built = tmp_path / "source", tmp_path / "built"
    source.mkdir()
    for name in ("pinn", "autograd", "configs"):
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("setup.py", "pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    build = [sys.executable, "setup.py", "-q", "build_py", "--build-lib", str(built)]
    subprocess.run(build, cwd=source, check=True, capture_output=True)
    sources = {path.relative_to(source) for path in source.rglob("*.py")} - {Path("setup.py")}
    assert {path.relative_to(built) for path in built.rglob("*.py")} == sources
    tables = {path.name for path in (ROOT / "configs" / "data").iterdir()}
    assert {path.name for path in (built / "pinn" / "configs" / "data").iterdir()} == tables
    listed = subprocess.run(
        [sys.executable, "-m", "pinn", "list"],
        cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(built)}, text=True, capture_output=True,
    )  # fmt: skip
    assert listed.returncode == 0, listed.stderr
    for config in (ROOT / "configs").glob("*.yaml"):
        assert f"built/pinn/configs/{config.name}  " in listed.stdout
