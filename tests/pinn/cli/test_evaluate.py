"""`evaluate`: a solution at the points of a table."""

import warnings
from pathlib import Path

import numpy as np
import pytest

import pinn
from pinn.cli import main
from pinn.files import Columns

POINTS = "x,t\n0.5,0.25\n1,0.5\n2,1\n"


@pytest.fixture
def points(folder):
    Path("points.csv").write_text(POINTS)
    return "points.csv"


def test_values_are_printed_as_they_are_to_the_last_bit(finished, points, capsys):
    given = ["--points", points, "--derivatives", "u_x,at(u, x=0)", "--derivatives", "u_t - u_xx/2"]
    assert main(["evaluate", str(finished), *given]) == 0
    Path("found.csv").write_text(capsys.readouterr().out)
    table = Columns(path=Path("found.csv"))
    assert table.names == ("x", "t", "u", "u_x", "at(u, x=0)", "u_t - u_xx/2")
    solution = pinn.load(finished)
    at = {"x": np.array([0.5, 1, 2]), "t": np.array([0.25, 0.5, 1])}
    np.testing.assert_array_equal(table.column("u"), solution.evaluate(**at)["u"])
    for text in table.names[3:]:
        np.testing.assert_array_equal(table.column(text), solution.derivative(text, **at))


@pytest.mark.parametrize("out", ["found.csv", "found.npz"])
def test_values_are_written_to_a_file(finished, points, capsys, out):
    np.savez("points.npz", t=[0.25, 0.5], x=[1.0, 2.0])
    assert main(["evaluate", str(finished), "--points", "points.npz", "--out", out]) == 0
    assert capsys.readouterr().out == f"{out}\n"
    table = Columns(path=Path(out))
    assert table.names == ("x", "t", "u")
    want = pinn.load(finished).evaluate(x=[1.0, 2.0], t=[0.25, 0.5])["u"]
    np.testing.assert_array_equal(table.column("u"), want)


def test_rows_without_names_are_in_the_order_of_the_coordinates(finished, folder, capsys):
    Path("points.csv").write_text("0.5,0.25\n1,0.5\n")
    assert main(["evaluate", str(finished), "--points", "points.csv"]) == 0
    assert capsys.readouterr().out.startswith("x,t,u\n0.5,0.25,")


def test_points_outside_are_told_of_once(finished, points, capfd):
    Path(points).write_text("x,t\n1,0.5\n9,0.5\n")
    with pytest.warns(pinn.ExtrapolationWarning, match="1 of 2 points lie outside") as told:
        given = ["--points", points, "--derivatives", "u_x"]
        assert main(["evaluate", str(finished), *given]) == 0
    assert len(told) == 1


def test_points_in_a_hole_are_told_of(folder):
    square = pinn.Interval("x", -1, 1) * pinn.Interval("y", -1, 1)
    problem = pinn.Problem(square - pinn.Disk((0, 0), 0.5), ["u"], {"laplace": "laplacian(u)"})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pinn.ProblemWarning)
        model = pinn.MLP(width=4, depth=1)
        pinn.solve(problem, model, pinn.Sampling(20), [pinn.Adam(2)]).save("u.npz")
    Path("points.csv").write_text("x,y\n0.9,0.9\n0.1,0\n")
    with pytest.warns(pinn.ExtrapolationWarning, match="1 of 2 points, the first at x = 0.1, y"):
        assert main(["evaluate", "u.npz", "--points", "points.csv"]) == 0


def test_a_column_that_is_no_coordinate_is_told_of(finished, points, capsys):
    Path(points).write_text("x,t,u,note\n1,0.5,3,hello\n")
    assert main(["evaluate", str(finished), "--points", points]) == 0
    said = capsys.readouterr()
    assert "points.csv: u, note are no coordinates, and not looked at" in said.err
    assert said.out.startswith("x,t,u\n")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x,s\n1,2\n", "points.csv: expected a column for each of x, t, got x, s: t is missing"),
        ("x,t\n1,nan\n", "points.csv:2: column 't': expected a finite number, got nan"),
        ("x,t\n1,2\n1,here\n", "points.csv:3: column 't': expected a number, got 'here'"),
        ("1,2,3\n", "expected rows of 2 numbers, x, t, got 3"),
        ("", "expected a line of names and lines of numbers"),
    ],
)
def test_tables_that_do_not_fit_are_refused_with_the_place(finished, points, capsys, text, said):
    Path(points).write_text(text)
    assert main(["evaluate", str(finished), "--points", points]) == 2
    assert said in capsys.readouterr().err


def test_several_derivatives_as_arguments_of_their_own_are_told_how_they_are_named(
    finished, points, capsys
):
    with pytest.raises(SystemExit) as ended:
        main(["evaluate", str(finished), "--points", points, "--derivatives", "u_x", "u_xx"])
    assert ended.value.code == 2
    said = capsys.readouterr().err
    assert "unrecognized arguments: u_xx; several derivatives are one argument" in said
    assert "--derivatives u_x,u_xx" in said


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["--points", "none.csv"], "cannot read none.csv: No such file"),
        (["--points", "points.csv", "--derivatives", "u_z"], "'z' is not a coordinate"),
        (["--points", "points.csv", "--derivatives", "u_x,laplacian"],
         "--derivatives: \"laplacian\": 'laplacian' is a function; write laplacian(...); it takes "
         "derivatives such as u_x, and expressions such as u*u_x and laplacian(u), of u, x, t\n"
         "    laplacian\n    ^"),
        (["--points", "points.csv", "--derivatives", "u_x,v"], "--derivatives: \"v\": unknown"),
        (["--points", "points.csv", "--derivatives", "sin(u"], "this '(' is never closed"),
        (["--points", "points.csv", "--derivatives", "u"], "u is among the columns anyway"),
        (["--points", "points.csv", "--out", "a.txt"], "ends in .csv or .npz, got a.txt"),
        (["--points", "points.csv", "--out", "points.csv"], "without --overwrite"),
    ],
)
def test_mistakes_are_told_in_a_sentence(finished, points, capsys, given, said):
    assert main(["evaluate", str(finished), *given]) == 2
    assert said in capsys.readouterr().err
    assert Path(points).read_text() == POINTS
