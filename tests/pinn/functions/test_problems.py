"""Problems of functions: names in texts, saving, evaluation, pictures, commands."""

import numpy as np
import pytest

import autograd as T
import pinn
from pinn.cli import main

SPACE = {"over": "x", "length": 0.3, "periodic": True}
LM = pinn.LevenbergMarquardt


def advection(**others):
    return pinn.Problem(**{
        "domain": pinn.Interval("x", 0, 1) * pinn.Time("t", 0, 1), "unknowns": ["u"],
        "function_spaces": {"v": SPACE}, "equations": {"advection": "u_t + u_x"},
        "conditions": [pinn.Periodic("u", "x", hard=True), pinn.Initial("u", "v", hard=True)],
        "reference": {"u": "v(x - t)"}, "name": "advection", **others,
    })  # fmt: skip


@pytest.fixture(scope="module")
def solution():
    return pinn.solve(
        advection(), sampling=pinn.Sampling(interior=1500), training=[LM(25)], error_bars=False
    )


def test_training_finds_the_solution_for_functions_that_it_never_saw(solution):
    x = np.linspace(0, 1, 101)
    functions = solution.problem.functions["v"]
    for seed in range(5):
        v = functions.draw(seed)
        for t in (0.0, 0.4, 1.0):
            found = solution.evaluate(x=x, t=t, v=v)["u"]
            assert found == pytest.approx(v((x - t) % 1), abs=0.05 * np.abs(v(x)).max())
    assert solution.report.rel_l2["u"] < 0.02


def test_hard_conditions_hold_for_any_function(solution):
    x = np.linspace(0, 1, 11)
    v = solution.problem.functions["v"].draw(seed=8)
    assert solution.evaluate(x=x, t=0.0, v=v)["u"] == pytest.approx(v(x), abs=1e-12)


def test_every_form_of_a_function_gives_the_same(solution):
    x, xs = np.linspace(0, 1, 7), np.linspace(0, 1, 4001)
    forms = ("sin(2*pi*x)", lambda x: np.sin(2 * np.pi * x), (xs, np.sin(2 * np.pi * xs)))
    first, *others = (solution.evaluate(x=x, t=0.3, v=v)["u"] for v in forms)
    for other in others:
        assert other == pytest.approx(first, abs=1e-5)


def test_texts_have_functions_their_slopes_and_their_values_elsewhere(solution):
    x = np.linspace(0.1, 0.9, 9)
    at = {"x": x, "t": 0.25, "v": "sin(2*pi*x)"}
    wave = 2 * np.pi
    assert solution.derivative("v", **at) == pytest.approx(np.sin(wave * x), abs=1e-9)
    assert solution.derivative("v(x - t)", **at) == pytest.approx(
        np.sin(wave * (x - 0.25)), abs=1e-9
    )
    assert solution.derivative("diff(v, x, 2)", **at) == pytest.approx(
        -(wave**2) * np.sin(wave * x), abs=1e-7
    )
    assert solution.derivative("diff(v(x - t), t)", **at) == pytest.approx(
        -wave * np.cos(wave * (x - 0.25)), abs=1e-8
    )
    left = solution.residuals(**at)["advection"]
    assert left == pytest.approx(solution.derivative("u_t + u_x", **at))


def test_slopes_of_a_field_that_is_not_periodic():
    problem = advection(
        function_spaces={"v": {"over": "x", "length": 0.4}}, conditions=[], reference=None,
        equations={"first": "u - diff(v, x)"},
    )  # fmt: skip
    solution = pinn.solve(problem, pinn.DeepONet(branch=None, trunk=pinn.MLP(width=3, depth=1)),
                          training=[pinn.Adam(1)], error_bars=False)  # fmt: skip
    x, h = np.linspace(0.1, 0.9, 9), 1e-4
    v = problem.functions["v"].draw(seed=3)
    slope = solution.derivative("diff(v, x)", x=x, t=0.0, v=v)
    assert slope == pytest.approx((v(x + h) - v(x - h)) / (2 * h), rel=1e-5, abs=1e-6)


def test_a_function_that_is_not_of_the_space_is_warned_of(solution):
    with pytest.warns(pinn.ExtrapolationWarning) as told:
        solution.evaluate(x=0.5, t=0.5, v=lambda x: np.sign(x - 0.5))
    first, second = (str(one.message) for one in told)
    assert first.startswith("v is far from the functions of its space: a mode of it is 16 deviat")
    assert second.startswith("0.31 of v (relative L2) is rougher than the functions of its space")
    assert {one.filename for one in told} == {__file__}
    with pytest.warns(pinn.ExtrapolationWarning) as told:
        figure = solution.plot("u", v="9*cos(2*pi*x)")
    assert len(told) == 1 and told[0].filename == __file__
    assert np.isfinite(figure.axes[0].collections[0].get_array()).all()
    with pytest.warns(pinn.ExtrapolationWarning, match="x = 1.5 is not in 0 <= x <= 1"):
        solution.evaluate(x=1.5, t=0.5, v="cos(2*pi*x)")


def test_what_is_missing_is_the_function_and_not_its_modes(solution):
    with pytest.raises(TypeError, match=r"^v is missing: .*evaluate\(x=\.\.\., t=\.\.\., v=f\)"):
        solution.evaluate(x=0.5, t=0.5)
    with pytest.raises(TypeError, match="v is given, and v1, which is a number of it, again"):
        solution.evaluate(x=0.5, t=0.5, v="x", v1=2)
    with pytest.raises(TypeError, match="'w' is no coordinate of this problem, which has x, t, v"):
        solution.evaluate(x=0.5, t=0.5, v="1", w=2)


def test_a_solution_is_saved_with_its_functions(solution, tmp_path):
    solution.save(tmp_path / "a.npz")
    again = pinn.load(tmp_path / "a.npz")
    at = {"x": 0.3, "t": 0.6, "v": "cos(2*pi*x)"}
    assert np.array_equal(again.evaluate(**at)["u"], solution.evaluate(**at)["u"])
    assert again.problem.function_spaces == solution.problem.function_spaces
    assert again.problem.domain.coordinates == solution.problem.domain.coordinates


def test_pictures_say_which_function_they_show(solution):
    data = solution.field_data("u")
    assert set(data.coordinates) == {"x", "t"} and not data.fixed
    assert data.held() == ["v drawn at random"]
    assert solution.field_data("u", v="sin(2*pi*x)").held() == ["v = sin(2*pi*x)"]
    xs = np.linspace(0, 1, 50)
    figure = solution.plot("u", v=(xs, np.sin(2 * np.pi * xs)), t=[0, 0.5])
    assert "v given" in figure.axes[0].get_title(loc="left")


def test_several_functions_have_an_axis_of_their_own(solution):
    xs = np.linspace(0, 1, 50)
    drawn = solution.problem.functions["v"].draw(2)
    functions = ["sin(2*pi*x)", lambda x: np.cos(2 * np.pi * x), drawn, (xs, np.sin(xs * 0))]
    t = np.linspace(0, 1, 3)[:, None]
    found = solution.evaluate(x=xs[:5], t=t, v=functions)["u"]
    slopes = solution.derivative("u_x", x=0.3, t=0.2, v=functions)
    assert found.shape == (4, 3, 5) and slopes.shape == (4,)
    for one, own, slope in zip(functions, found, slopes, strict=True):
        expected = solution.evaluate(x=xs[:5], t=t, v=one)["u"]
        np.testing.assert_allclose(own, expected, rtol=1e-12, atol=1e-14)
        assert slope == pytest.approx(solution.derivative("u_x", x=0.3, t=0.2, v=one), rel=1e-10)
    with pytest.warns(pinn.ExtrapolationWarning, match="v"):
        solution.evaluate(x=0.5, t=0.5, v=["0", "1000*sin(2*pi*x)"])


def test_lists_of_functions_are_equally_long():
    stated = advection(
        function_spaces={name: {"over": "x", "length": 0.5, "modes": 2} for name in "vw"},
        conditions=[pinn.Initial("u", "v + w")], reference=None,
    )  # fmt: skip
    _, left = stated.with_functions({"v": ["1", "x"], "w": ["x", "1"], "t": np.zeros((2, 3))}, True)
    assert left.keys() == {"v", "w"}
    with pytest.raises(ValueError, match="as many functions of each kind, got 2 of v, 1 of w"):
        stated.with_functions({"v": ["1", "x"], "w": ["x"]}, True)


def test_one_function_alone_is_exported_and_has_an_error_drawn(solution, tmp_path):
    several = ["sin(2*pi*x)", "cos(2*pi*x)"]
    for refused in (
        lambda: solution.export(tmp_path / "u.csv", grid={"x": 3, "t": 2}, v=several),
        lambda: solution.field_data("u", v=several),
    ):
        with pytest.raises(ValueError, match="v: expected one function here, got 2"):
            refused()


def test_lines_of_several_functions_are_called_by_these(solution):
    figure = solution.plot("u", v=["sin(2*pi*x)", lambda x: 0 * x], t=0.5)
    (legend,) = [one.get_legend() for one in figure.axes if one.get_legend()]
    texts = [text.get_text() for text in legend.get_texts()]
    assert {"v = sin(2*pi*x)", "v number 2"} <= set(texts)
    assert "sin" not in figure.axes[0].get_title(loc="left")


def test_functions_of_the_namespace_call_them_elsewhere():
    text = advection(equations={"e": "u_t + u_x - v(x*t) + diff(v, x)"})
    called = advection(equations={"e": lambda s: s.u_t + s.u_x - s.v(s.x * s.t) + s.diff("v", "x")})
    assert str(called.residuals[0].left.tree) == str(text.residuals[0].left.tree)
    with pytest.raises(ValueError, match="v takes 1 argument, x; got 2"):
        advection(equations={"e": lambda s: s.u_t - s.v(s.x, s.t)})
    values = advection(equations={"e": lambda s: s.u_t - T.sin(s.v(s.x * s.t))})
    with pytest.raises(TypeError, match=r'v at the point is a value, .* s\.at\("v", \.\.\.\)'):
        values.check()


def test_data_say_which_function_they_belong_to():
    with pytest.raises(ValueError, match=r"no column 'v1'; these values .*coefficients\(f\)"):
        advection(conditions=[pinn.Data("u", {"x": [0.5], "t": [0.5], "u": [1.0]})])
    functions = advection().functions["v"]
    numbers, _ = functions.coefficients("sin(2*pi*x)")
    data = pinn.Data("u", {"x": [0.5], "t": [0.5], "u": [1.0]}, at=numbers)
    assert advection(conditions=[data]).residuals


def test_the_shown_function_is_a_typical_one():
    functions = advection().functions["v"]
    shown = [mode.middle for mode in functions.families]
    assert 0.3 < np.std(shown) < 2 and shown == [mode.middle for mode in functions.families]


def test_exports_hold_a_function(solution, tmp_path):
    (path,) = solution.export(tmp_path / "u.csv", grid={"x": 3, "t": 2}, v="sin(2*pi*x)")
    rows = np.genfromtxt(path, delimiter=",", names=True)
    expected = solution.evaluate(x=rows["x"], t=rows["t"], v="sin(2*pi*x)")["u"]
    assert rows["u"] == pytest.approx(expected, abs=1e-14)


def test_commands_take_a_function_as_a_text(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.yaml").write_text("""\
problem:
  domain: {x: [0, 1], t: {time: [0, 1]}}
  unknowns: [u]
  function_spaces: {v: {over: x, length: 0.4, periodic: true}}
  equations: {advection: u_t + u_x = 0}
  conditions: [initial: {unknown: u, value: v, hard: true}]
sampling: {interior: 40, candidates: null}
training: [adam: {steps: 1}]
error_bars: false
""")
    assert main(["check", "a.yaml"]) == 0
    assert "u on x in [0, 1], t in [0, 1], v(x) of 9 modes" in capsys.readouterr().out
    assert main(["train", "a.yaml", "--out", "run", "--quiet"]) in (0, 1)
    (tmp_path / "points.csv").write_text("x\n0.25\n0.75\n")
    capsys.readouterr()
    given = ["--points", "points.csv", "--hold", "t=0", "--hold", "v=sin(2*pi*x)"]
    assert main(["evaluate", "run", *given, "--derivatives", "v"]) == 0
    header, *lines = capsys.readouterr().out.splitlines()
    assert header == "x,t,u,v"
    values = [[float(word) for word in line.split(",")] for line in lines]
    assert np.allclose(values, [[0.25, 0, 1, 1], [0.75, 0, -1, -1]], atol=1e-6)
    x = np.linspace(0, 1, 101)
    table = np.stack([x, np.sin(2 * np.pi * x)], axis=1)
    np.savetxt("v.csv", table, delimiter=",", header="x,v", comments="")
    assert main(["evaluate", "run", *given[:-1], "v=v.csv", "--derivatives", "v"]) == 0
    _, *again = capsys.readouterr().out.splitlines()
    read = [[float(word) for word in line.split(",")] for line in again]
    assert np.allclose(read, values, atol=1e-5)
    assert main(["plot", "run", "--at", "v=v.csv", "--at", "t=0"]) == 0
    assert "u_at_v=v_t=0.png" in capsys.readouterr().out
    assert main(["plot", "run", "--at", "v=w.csv"]) == 2
    assert "w.csv" in capsys.readouterr().err
    assert main(["plot", "run", "--at", "v=sin(2*pi*x)", "--at", "t=0"]) == 0
    assert "u_at_v=sin(2-times-pi-times-x)_t=0.png" in capsys.readouterr().out
    assert main(["plot", "run", "--at", "v=1", "--at", "v=cos(2*pi*x)", "--at", "t=0.5"]) == 0
    assert "u_at_v=1,cos(2-times-pi-times-x)_t=0.5.png" in capsys.readouterr().out
    assert main(["evaluate", "run", "--points", "points.csv", "--hold", "t=0"]) == 2
    assert "v is missing; say which v with --hold \"v=sin(pi*x)\"" in capsys.readouterr().err
    assert main(["plot", "run", "--at", "v=sin(y)"]) == 2
    assert "unknown name 'y'" in capsys.readouterr().err
    assert main(["evaluate", "run", "--points", "points.csv", "--hold", "s=1"]) == 2
    assert "--hold: expected some of x, t, v1" in capsys.readouterr().err


def test_a_space_that_nothing_uses_is_told(capsys):
    check = advection(conditions=[pinn.Initial("u", 0)], reference=None).check()
    assert any("function_spaces.v is used nowhere" in one for one in check.warnings)


def test_a_value_where_a_function_is_not_known_is_told_by_its_name():
    with pytest.raises(ValueError, match=r"^v: expected x in \[0, 1\], where it is known, got 1\."):
        advection(
            function_spaces={"v": {"over": "x", "length": 0.3}}, conditions=[], reference=None,
            equations={"first": "u_t - v(2*x)"},
        ).check()  # fmt: skip
    with pytest.raises(ValueError, match="write diff\\(v, x, x\\), which takes any"):
        advection(equations={"first": "u_t - v_xx"})
    with pytest.raises(ValueError, match="v takes 1 argument, x; got 2"):
        advection(equations={"first": "u_t - v(x, t)"})


@pytest.mark.parametrize("equation", ["u_t - 1e5*v", "u_t - 1e-4*v", "u_t - 1e5*v**2"])
def test_outputs_are_scaled_where_their_size_is_far_from_one(equation):
    """DeepONets have the scale of an unknown at each output of their trunk."""
    problem = advection(
        equations={"first": equation}, conditions=[pinn.Initial("u", 0, hard=True)], reference=None
    )
    solution = pinn.solve(problem, training=[pinn.Adam(1)], error_bars=False)
    (scale,) = set(solution.experiment.model.trunk.scale.values())
    assert abs(np.log10(scale)) > 2


@pytest.mark.parametrize("equation", ["u_t - exp(v)", "u_t - diff(exp(3*v)*u_x, x)"])
def test_functions_are_no_narrow_parts_of_a_text(equation):
    problem = advection(
        function_spaces={"v": {"over": "x", "length": 0.2}}, equations={"first": equation},
        conditions=[pinn.Initial("u", 0, hard=True)], reference=None,
    )  # fmt: skip
    assert not any("small places" in one for one in problem.check().warnings)


def test_functions_stand_in_equations_as_coefficients():
    """An ordinary equation u' = v of one function, whose solution is its integral."""
    problem = pinn.Problem(
        domain=pinn.Interval("x", 0, 1), unknowns=["u"],
        function_spaces={"v": {"over": "x", "length": 0.5}}, equations={"slope": "u_x - v"},
        conditions=[pinn.Dirichlet("u", 0, on="x=0", hard=True)],
    )  # fmt: skip
    solution = pinn.solve(problem, training=[LM(30)], error_bars=False,
                          sampling=pinn.Sampling(interior=1500))  # fmt: skip
    x = np.linspace(0, 1, 21)
    found = solution.evaluate(x=x, v="cos(2*x)")["u"]
    assert found == pytest.approx(np.sin(2 * x) / 2, abs=2e-3)
