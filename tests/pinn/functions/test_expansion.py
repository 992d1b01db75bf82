"""Functions of a space as sums of modes: drawn, found again, evaluated, refused."""

import numpy as np
import pytest

import pinn
from pinn.functions import Drawn

X = np.linspace(0, 1, 41)


def problem(space, **others):
    return pinn.Problem(**{
        "domain": pinn.Interval("x", 0, 1) * pinn.Time("t", 0, 1), "unknowns": ["u"],
        "equations": {"first": "u_t - v"}, "function_spaces": {"v": space}, **others,
    })  # fmt: skip


@pytest.fixture(scope="module")
def functions():
    return problem({"over": "x", "length": 0.25}).functions["v"]


@pytest.mark.parametrize("periodic", [False, True])
def test_functions_have_the_covariance_that_was_asked_for(periodic):
    given = {"over": "x", "length": 0.25, "periodic": periodic, "scale": 3.0, "mean": "x - 1"}
    functions = problem(given).functions["v"]
    drawn = np.stack([functions.draw(seed)(X) for seed in range(2000)])
    x = X[:, None] - X
    chord = np.sin(np.pi * np.abs(x)) / np.pi if periodic else x
    expected = 9 * np.exp(-(chord**2) / (2 * 0.25**2))
    # four standard errors of a covariance of 2000 draws
    assert np.abs(np.cov(drawn.T) - expected).max() < 4 * 9 * np.sqrt(2 / 2000)
    assert np.abs(drawn.mean(axis=0) - (X - 1)).max() < 4 * 3 / np.sqrt(2000)


def test_a_seed_has_its_function(functions):
    first, again, other = (functions.draw(seed)(X) for seed in (1, 1, 2))
    assert np.array_equal(first, again) and not np.allclose(first, other)


@pytest.mark.parametrize("form", ["drawn", "function", "arrays"])
def test_a_function_that_was_drawn_is_found_again(functions, form):
    drawn = functions.draw(seed=5)
    xs = np.linspace(0, 1, 201)
    given = {"drawn": drawn, "function": lambda x: drawn(x), "arrays": (xs, drawn(xs))}[form]
    found, left = functions.coefficients(given)
    # arrays are cubic splines between points 1/200 apart
    close = {"drawn": 0, "function": 1e-7, "arrays": 1e-5}[form]
    assert left <= close
    assert Drawn(functions, found)(X) == pytest.approx(drawn(X), abs=close)


def test_a_draw_of_other_functions_is_no_draw_of_these(functions):
    other = problem({"over": "x", "length": 0.25, "scale": 5.0}).functions["v"].draw(seed=1)
    found, left = functions.coefficients(other)
    assert Drawn(functions, found)(X) == pytest.approx(other(X), abs=1e-6) and left < 1e-6
    equal = problem({"over": "x", "length": 0.25}).functions["v"].draw(seed=1)
    assert functions.coefficients(equal) == (equal.coefficients, 0.0)


def test_texts_and_functions_say_the_same(functions):
    by_text, left = functions.coefficients("sin(pi*x)")
    by_function, _ = functions.coefficients(lambda x: np.sin(np.pi * x))
    assert by_text == pytest.approx(by_function, abs=1e-12)
    # modes leave out a thousandth
    assert 0 < left < 1e-3
    assert functions.values(by_text, X) == pytest.approx(np.sin(np.pi * X), abs=3e-3)


def test_the_best_sum_of_modes_is_found(functions):
    """A projection: what is left is orthogonal to the modes, here by another quadrature."""
    found, left = functions.coefficients(np.exp)
    x = np.linspace(0, 1, 4001)
    rest = np.exp(x) - functions.values(found, x)
    names = list(found)
    for name in names[:4]:
        mode = functions.values({n: float(n == name) for n in names}, x)
        assert np.trapezoid(rest * mode, x) == pytest.approx(0, abs=1e-7)
    size = np.sqrt(np.trapezoid(np.exp(2 * x), x))
    assert left == pytest.approx(np.sqrt(np.trapezoid(rest**2, x)) / size, rel=1e-3)


def test_what_modes_leave_out_of_functions_of_the_space_is_known(functions):
    finer = problem({"over": "x", "length": 0.25, "modes": 12}).functions["v"]
    assert len(functions.names) < 12 and finer.left_out < 0.03 * functions.left_out
    rests = []
    for seed in range(100):
        drawn = finer.draw(seed)
        _, left = functions.coefficients(lambda x, drawn=drawn: drawn(x))
        rests.append(left**2 * np.mean(drawn(np.linspace(0, 1, 501)) ** 2))
    assert functions.left_out == pytest.approx(np.sqrt(np.mean(rests)), rel=0.25)


def test_a_function_of_two_coordinates():
    functions = problem({"over": ["x", "t"], "length": 0.7}).functions["v"]
    x, t = np.meshgrid(X, X, indexing="ij")
    found, left = functions.coefficients("cos(x + 2*t)")
    assert left < 1e-2
    assert functions.values(found, x, t) == pytest.approx(np.cos(x + 2 * t), abs=0.05)
    drawn = functions.draw(seed=2)
    assert functions.coefficients(drawn.__call__)[0] == pytest.approx(drawn.coefficients, abs=1e-6)


@pytest.mark.parametrize(("header", "order"), [
    ("x,v", (0, 1)), ("v,x", (1, 0)), ("x,measured", (0, 1)), ("v,x,other", (1, 0, 0)),
    ("", (0, 1)),
])  # fmt: skip
def test_files_have_functions(functions, tmp_path, header, order):
    columns = X, np.sin(3 * X)
    path = tmp_path / "v.csv"
    np.savetxt(path, np.stack([columns[k] for k in order], axis=1), delimiter=",", header=header,
               comments="")  # fmt: skip
    found, _ = functions.coefficients(path)
    expected, _ = functions.coefficients((X, np.sin(3 * X)))
    assert found == pytest.approx(expected, rel=1e-12)
    assert functions.several([path, "x"]) == [path, "x"]


def test_files_of_two_coordinates_have_a_row_for_each_node(tmp_path):
    square = pinn.Interval("x", 0, 1) * pinn.Interval("y", 0, 2)
    problem = pinn.Problem(
        square, ["u"], {"e": "u_x - v"}, [pinn.Dirichlet("u", 0)],
        function_spaces={"v": {"over": ["x", "y"], "length": 0.9}},
    )  # fmt: skip
    x, y = np.meshgrid(np.linspace(0, 1, 31), np.linspace(0, 2, 41), indexing="ij")
    rows = np.stack([x.reshape(-1), y.reshape(-1), np.sin(x + y).reshape(-1)], axis=1)
    np.savetxt(tmp_path / "v.csv", rows, delimiter=",", header="x,y,v", comments="")
    found, _ = problem.functions["v"].coefficients(tmp_path / "v.csv")
    expected, _ = problem.functions["v"].coefficients("sin(x + y)")
    assert found == pytest.approx(expected, abs=1e-4)


def test_files_without_a_function_are_refused(functions, tmp_path):
    with pytest.raises(ValueError, match=r"none\.csv"):
        functions.coefficients(tmp_path / "none.csv")
    (tmp_path / "a.csv").write_text("x,a,b\n0,1,1\n1,1,1\n")
    with pytest.raises(ValueError, match="for each of x, and one of v; its columns are x, a, b"):
        functions.coefficients(tmp_path / "a.csv")
    (tmp_path / "b.csv").write_text("x,v\n0,1\n0.5,1\n")
    with pytest.raises(ValueError, match="expected values all over 0 <= x <= 1, got x from 0 to"):
        functions.coefficients(tmp_path / "b.csv")


def test_what_is_no_function_is_refused(functions):
    with pytest.raises(TypeError, match=r"v: expected a function of x, a text .* got list"):
        functions.coefficients([1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match=r"v: expected \(64,\) values at arrays x .* got \(3,\)"):
        functions.coefficients(lambda x: x[:3])
    with pytest.raises(ValueError, match="v: expected finite values, got inf"):
        functions.coefficients(lambda x: np.full_like(x, np.inf))
    with pytest.raises(TypeError, match="v: it is called with an array for each of x, and takes"):
        functions.coefficients(lambda x, t: x)
    with pytest.raises(ValueError, match="v: expected values all over 0 <= x <= 1, got x from 0"):
        functions.coefficients((X[:20], X[:20]))
    with pytest.raises(ValueError, match="column 'x': expected increasing numbers"):
        functions.coefficients((X[::-1], X))
    with pytest.raises(ValueError, match="unknown name 'y'"):
        functions.coefficients("sin(y)")
    with pytest.raises(TypeError, match="v is a function of x, got 2 arrays"):
        functions.draw()(X, X)


@pytest.mark.parametrize(("given", "message"), [
    ({"over": "y", "length": 1}, "function_spaces.v.over: expected some of the coordinates x, t"),
    ({"over": ["x", "x"], "length": 1}, "function_spaces.v.over: expected each coordinate once"),
    ({"over": "x", "length": 0.001}, "function_spaces.v.length: .* have more than 100 modes"),
    ({"over": "x", "length": 0.01}, "function_spaces.v.length: functions of this length have"),
    ({"over": "x", "length": 5, "modes": 50}, "function_spaces.v.modes: expected"),
    ({"over": "x", "length": 1, "mean": "t"}, "unknown name 't'"),
])  # fmt: skip
def test_spaces_that_do_not_fit_a_problem_are_refused(given, message):
    with pytest.raises(ValueError, match=message):
        problem(given)


def test_names_mean_one_thing():
    with pytest.raises(ValueError, match="'v1' is declared as the number of a mode of a function"):
        problem({"over": "x", "length": 0.5}, constants={"v1": 2})
    with pytest.raises(ValueError, match="'v' is declared as"):
        problem({"over": "x", "length": 0.5}, constants={"v": 2})


def test_a_mean_may_use_constants():
    given = {"over": "x", "length": 0.5, "mean": "a*x"}
    functions = problem(given, constants={"a": "2/4"}).functions["v"]
    assert functions.values(dict.fromkeys(functions.names, 0.0), X) == pytest.approx(X / 2)
