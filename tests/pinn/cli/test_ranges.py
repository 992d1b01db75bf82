"""Ranges of values in the grid of a sweep."""

import numpy as np
import pytest

from pinn.cli import main
from pinn.cli.grid import Axis
from pinn.cli.ranges import written_out
from pinn.cli.verdict import Misuse


def values(text):
    return [float(one) for one in written_out(text, "--grid").split(",")]


@pytest.mark.parametrize("text, expected", [
    ("linspace(0.01, 0.1, 5)", np.linspace(0.01, 0.1, 5)),
    ("linspace(-1,1,7)", np.linspace(-1, 1, 7)),
    ("linspace(3, 9, 1)", np.linspace(3, 9, 1)),
    ("linspace(0.01/pi, sqrt(2), 3)", np.linspace(0.01 / np.pi, np.sqrt(2), 3)),
    ("geomspace(1e-3, 0.1, 3)", np.geomspace(1e-3, 0.1, 3)),
    ("geomspace(-8, -1, 4)", np.geomspace(-8, -1, 4)),
    ("range(5)", range(5)),
    ("range(2, 9, 3)", range(2, 9, 3)),
    ("5, linspace(0, 1, 3) , 7", [5, 0, 0.5, 1, 7]),
])  # fmt: skip
def test_ranges_are_those_of_numpy_and_python(text, expected):
    assert values(text) == pytest.approx(list(expected), rel=1e-11)


def test_what_is_trained_is_what_the_directory_says():
    axis = Axis.parse("problem.constants.nu=linspace(0, 0.3, 4)")
    assert axis.texts == ("0", "0.1", "0.2", "0.3")
    assert [one.value.text for one in axis.values] == list(axis.texts)
    assert Axis.parse("model.width=linspace(10, 30, 3)").texts == ("10", "20", "30")


@pytest.mark.parametrize("text", [
    "0,1,2", "adam,lbfgs", "[1, 2],[3, 4]", "{mlp: {width: 3}},kan", "'a, b',c", "sin(x),cos(x)",
])  # fmt: skip
def test_all_else_stays_as_it_is(text):
    assert written_out(text, "--grid") == text


@pytest.mark.parametrize("text, said", [
    ("linspace(0, 1)", "expected linspace(first, last, count), such as linspace(0.01, 0.1, 5), "
                       "but got 2 numbers"),
    ("linspace(0, 1, 2.5)", "but got 2.5 values, and 1 to 10000 make a sweep"),
    ("linspace(0, 1, 0)", "but got 0 values"),
    ("linspace(0, 1, 1e9)", "but got 1e+09 values"),
    ("linspace(a, 1, 3)", "but 'a' is no number: "),
    ("linspace(, 1, 3)", "but '' is no number: "),
    ("geomspace(0, 1, 3)", "but got ends of 0 and 1, which no factor leads between"),
    ("logspace(-3, -1, 3)", "expected geomspace(first, last, count), such as "
                            "geomspace(0.001, 0.1, 3), but logspace takes exponents"),
    ("range(0, 1, 0.1)", "but got a number that is not whole; linspace takes any"),
    ("range(3, 3)", "but got 0 values"),
    ("range(1e300)", "expected range(end)"),
    ("range(0, 5, 0)", "expected range(end)"),
])  # fmt: skip
def test_what_is_no_range_is_refused_with_an_example(folder, capsys, text, said):
    with pytest.raises(Misuse):
        written_out(text, "--grid")
    assert main(["sweep", "heat.yaml", "--grid", f"seed={text}"]) == 2
    assert f"--grid seed={text}: expected " in (err := capsys.readouterr().err)
    assert said in err


@pytest.mark.parametrize("text, said", [
    ("linspace(0, 1, 5", "this '(' is never closed\n    linspace(0, 1, 5\n            ^"),
    ("1,range(5))", "this ')' has no '('\n    1,range(5))\n              ^"),
    ("[1, 2", "this '[' is never closed\n    [1, 2\n    ^"),
    ("linspace(0, 1, 5]", "this '(' is never closed"),
    ("linspac(0, 1, 5)", "no range 'linspac'; did you mean 'linspace'? Ranges are linspace, "),
])  # fmt: skip
def test_brackets_and_names_that_are_wrong_are_told_with_their_place(folder, capsys, text, said):
    assert main(["sweep", "heat.yaml", "--grid", f"seed={text}"]) == 2
    assert f"--grid seed={text}: {said}" in capsys.readouterr().err


def test_brackets_in_quotes_are_letters():
    assert written_out("'a(b', c", "--grid") == "'a(b', c"


def test_a_sweep_over_a_range_has_a_run_for_each_value(folder, capsys):
    grid = ["--grid", "problem.constants.k=linspace(0.5, 1, 3)", "--grid", "seed=range(2)"]
    assert main(["sweep", "heat.yaml", "--out", "all", "--quiet", *grid]) == 0
    assert sorted(path.name for path in (folder / "all").iterdir() if path.is_dir()) == [
        f"k={k}_seed={seed}" for k in ("0.5", "0.75", "1") for seed in (0, 1)
    ]
