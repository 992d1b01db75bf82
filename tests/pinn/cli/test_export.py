"""`export`: a solution as files for other programs."""

import os
import shutil
from pathlib import Path

import numpy as np
import pytest

import pinn
from pinn.cli import main
from pinn.files import Columns


def test_a_table_of_a_run_has_its_values(finished, folder, capsys):
    given = ["--out", "a.csv", "--grid", "x=3", "--hold", "t=0.5"]
    assert main(["export", str(finished), *given]) == 0
    assert capsys.readouterr().out == "a.csv\n"
    table = Columns(path=Path("a.csv"))
    found = pinn.load(finished).evaluate(x=table.column("x"), t=0.5)["u"]
    np.testing.assert_array_equal(table.column("u"), found)


@pytest.mark.parametrize(
    ("kind", "names"),
    [
        ("csv", ["exports/run.csv"]),
        ("npz", ["exports/run.npz"]),
        ("netcdf", ["exports/run.nc"]),
        ("vtk", ["exports/run.pvd", "exports/run/run_0000.vti", "exports/run/run_0001.vti"]),
        ("weights", ["exports/run/evaluate.py", "exports/run/evaluate.npz"]),
    ],
)
def test_files_without_a_name_are_called_like_the_run(finished, folder, capsys, kind, names):
    grid = [] if kind == "weights" else ["--grid", "x=5, t=2"]
    assert main(["export", str(finished), "--format", kind, *grid]) == 0
    assert capsys.readouterr().out.splitlines() == names
    assert all(Path(name).stat().st_size for name in names)


def test_a_saved_solution_and_a_checkpoint_will_do(finished, folder):
    assert main(["export", str(finished / "solution.npz"), "--format", "csv", "--hold", "t=1"]) == 0
    shutil.copytree(finished, "run")
    Path("run/solution.npz").unlink()
    assert main(["export", "run", "--out", "b.csv", "--hold", "t=1"]) == 0
    assert Path("exports/solution.csv").read_bytes() == Path("b.csv").read_bytes()


def test_files_that_are_there_are_written_over_when_asked(finished, folder, capsys):
    Path("a.csv").write_text("mine")
    given = ["export", str(finished), "--out", "a.csv", "--hold", "t=1"]
    assert main(given) == 2
    assert "a.csv is there already, and nothing is written over it without --overwrite" in (
        capsys.readouterr().err
    )
    assert Path("a.csv").read_text() == "mine"
    assert main([*given, "--overwrite"]) == 0
    assert Path("a.csv").read_text().startswith("x,t,u")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ([], "expected --format vtk, csv, npz, netcdf or weights, or a file name in --out"),
        (["--format", "cvs"], "expected one of vtk, csv, npz, netcdf, weights, got 'cvs'; did you"),
        (["--out", "a.txt"], "expected a file name that ends in"),
        (["--format", "vtk", "--out", "a.csv"], "ends in .vti or .vts or .vtu or .pvd for vtk"),
        (["--format", "csv", "--grid", "z=3"], "expected coordinates out of x, t, got 'z'"),
        (["--format", "csv", "--hold", "s=3"], "expected coordinates out of x, t, got 's'"),
        (["--format", "csv", "--grid", "x=3.5"], "--grid: expected a number of points such as"),
        (["--format", "csv", "--grid", "x"], "--grid: expected a number of points such as"),
        (["--format", "csv", "--hold", "t=now"], "--hold: expected a number such as t=0.5"),
        (["--format", "csv", "--grid", "x=3,x=4"], "--grid: x is given twice"),
        (["--format", "csv", "--hold", "x=nan"], "x is held: expected a number, got nan"),
    ],
)
def test_mistakes_are_told_in_a_sentence(finished, folder, capsys, given, said):
    before = sorted(os.listdir())
    assert main(["export", str(finished), *given]) == 2
    said_at_all = capsys.readouterr().err
    assert said in said_at_all and said_at_all.count("\n") == 1
    assert sorted(os.listdir()) == before


@pytest.mark.parametrize("run", ["nowhere", "heat.yaml", "."])
def test_what_is_no_run_is_refused(folder, capsys, run):
    assert main(["export", run, "--format", "csv"]) == 2
    assert "expected a run directory" in capsys.readouterr().err


def test_a_run_without_a_solution_is_refused(finished, folder, capsys):
    shutil.copytree(finished, "run")
    for name in ("solution.npz", "checkpoint.npz"):
        Path("run", name).unlink(missing_ok=True)
    assert main(["export", "run", "--format", "csv"]) == 2
    assert "neither solution.npz nor checkpoint.npz is there" in capsys.readouterr().err


def test_a_place_that_cannot_be_written_to_is_a_disk_failure(finished, folder, capsys):
    for out in ("heat.yaml/a.csv", "/proc/nothing/a.csv"):
        assert main(["export", str(finished), "--out", out, "--hold", "t=1"]) == 4
        assert str(Path(out).parent) in capsys.readouterr().err
