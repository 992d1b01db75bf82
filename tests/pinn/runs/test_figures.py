"""What a run draws: which figures there are, and what is in them."""

import numpy as np
import pytest
from matplotlib.image import imread

import pinn
from pinn.figures.coefficients import plot_coefficients
from pinn.runs import figures
from pinn.runs.figures import Look, draw_animation, draw_at, draw_run
from pinn.runs.recorder import Recorder
from pinn.runs.run import Run

pytestmark = pytest.mark.filterwarnings("ignore::pinn.ProblemWarning")

X, Y, Z = (pinn.Interval(name, -1, 1) for name in "xyz")
TIME = pinn.Time("t", 0, 1)
SMALL = Look(dpi=30)


def solved(problem, directory=None, **changes):
    recorder = [] if directory is None else [Recorder(directory, "problem: {}\n", log_every=1)]
    arguments = {
        "model": pinn.MLP(4, 1), "sampling": pinn.Sampling(interior=40, boundary=8, initial=8),
        **changes,
    }  # fmt: skip
    solution = pinn.solve(
        problem, training=[pinn.Adam(2)], callbacks=recorder, error_bars=False,
        **arguments,
    )  # fmt: skip
    if recorder:
        recorder[0].write_results(solution)
    return solution


def drawn(solution, directory, **arguments):
    run = Run(directory)
    return [path.name for path in draw_run(run, solution, SMALL, **arguments)]


def test_a_plane_of_space_and_time(tmp_path):
    problem = pinn.Problem(
        X * TIME, ["u", "p"], {"heat": "u_t - u_xx", "sum": "p - u_x"}, [pinn.Initial("u", "x")],
        reference={"u": "x"},
    )  # fmt: skip
    solution = solved(problem, tmp_path / "run")
    assert drawn(solution, tmp_path / "run") == [
        "field_u.png", "reference_u.png", "error_u.png", "slices_u.png", "field_p.png",
        "slices_p.png", "points.png", "history.png",
    ]  # fmt: skip
    folder = tmp_path / "run" / "figures"
    for path in folder.iterdir():
        picture = imread(path)
        assert picture.shape[0] > 50 and picture[..., :3].std() > 0.01
    # Only what was asked for, and nothing of the run as a whole.
    assert drawn(solution, tmp_path / "run", only=["p"]) == ["field_p.png", "slices_p.png"]


def test_what_moves_in_a_plane_is_animated_without_being_asked(tmp_path, monkeypatch):
    monkeypatch.setattr(figures, "_UNASKED_SECONDS", 1000.0)
    monkeypatch.setattr(figures, "_UNASKED_FRAMES", 3)
    equations = {"u": "u_t + p_x", "v": "v_t + p_y", "p": "p_t + u_x + v_y"}
    problem = pinn.Problem(X * Y * TIME, ["u", "v", "p"], equations, [pinn.Initial("u", 0)])
    solution = solved(problem)
    names = drawn(solution, Run.create(tmp_path / "run").directory)
    assert names == [
        *(f"{kind}_{name}.png" for name in "uvp" for kind in ("field", "slices")),
        "vector_u_v.png", *(f"animation_{name}.gif" for name in "uvp"), "points.png",
    ]  # fmt: skip
    monkeypatch.setattr(figures, "_UNASKED_SECONDS", 0.0)  # there is no time for it
    again = drawn(solution, Run.create(tmp_path / "other").directory)
    assert again == [name for name in names if not name.endswith("gif")]


def test_three_coordinates_of_space_are_cut_by_three_planes(tmp_path, monkeypatch):
    problem = pinn.Problem(
        X * Y * Z, ["u"], {"e": "laplacian(u)"}, reference={"u": "x + 2*y + 4*z"}
    )
    taken, plot = [], figures.plot_maps

    def watched(fields, **options):
        taken.append(fields)
        return plot(fields, **options)

    monkeypatch.setattr(figures, "plot_maps", watched)
    names = drawn(solved(problem), Run.create(tmp_path / "run").directory)
    assert "planes_u.png" in names and not any(name.endswith("gif") for name in names)
    (fields,) = taken
    assert [tuple(data.coordinates) for data in fields] == [("x", "y"), ("x", "z"), ("y", "z")]
    assert [data.fixed for data in fields] == [{"z": 0.0}, {"y": 0.0}, {"x": 0.0}]
    for data, (a, b) in zip(fields, ((1, 2), (1, 4), (2, 4)), strict=True):
        first, second = data.coordinates.values()
        np.testing.assert_allclose(data.reference, a * first[:, None] + b * second, atol=1e-12)


def test_curves_are_drawn_together_as_well(tmp_path):
    problem = pinn.Problem(TIME, ["u", "v"], {"a": "u_t - v", "b": "v_t + u"})
    names = drawn(solved(problem), Run.create(tmp_path / "run").directory)
    assert names == ["field_u.png", "field_v.png", "field.png", "points.png"]


def test_the_points_are_those_of_the_last_step_also_of_a_run_that_was_loaded(tmp_path, monkeypatch):
    problem = pinn.Problem(
        X * TIME, ["u"], {"heat": "u_t - u_xx"}, [pinn.Initial("u", "x")], units={"x": "m"}
    )
    sampling = pinn.Sampling(interior=50, initial=9, redraw=1, adaptive="rad")
    solution = solved(problem, tmp_path / "run", sampling=sampling)
    taken = []
    plot = figures.plot_points
    monkeypatch.setattr(figures, "plot_points", lambda data: taken.append(data) or plot(data))
    for one in (solution, pinn.load(tmp_path / "run")):
        drawn(one, tmp_path / "run")
    for (data,) in taken:
        points = solution.last.points["heat"].coordinates
        np.testing.assert_array_equal(data.points, points)
        left = solution.derivative("u_t - u_xx", x=points[:, 0], t=points[:, 1])
        np.testing.assert_allclose(data.residual, left, rtol=1e-12)
        np.testing.assert_array_equal(data.others[:, 1], np.zeros(9))
        assert (data.time, data.units, data.count) == ("t", {"x": "m"}, 50)
    assert len(taken) == 2


def test_the_points_of_windows_are_told_to_be_those_of_one(tmp_path, monkeypatch):
    problem = pinn.Problem(X * TIME, ["u"], {"heat": "u_t - u_xx"}, [pinn.Initial("u", "x")])
    drawn_figures = []
    plot = figures.plot_points
    monkeypatch.setattr(
        figures, "plot_points", lambda data: drawn_figures.append(plot(data)) or drawn_figures[-1]
    )
    for model in (pinn.Windows(4, model=pinn.MLP(3, 1)), pinn.MLP(3, 1)):
        run = tmp_path / type(model).__name__
        drawn(solved(problem, run, model=model), run)
    windowed, plain = (figure.get_suptitle() for figure in drawn_figures)
    assert windowed.startswith("points of window 4 of 4, t from 0.75 to 1:")
    assert "window" not in plain


def test_a_run_whose_equations_no_file_holds_is_drawn_without_points(tmp_path):
    problem = pinn.Problem(TIME, ["u"], {"e": lambda s: s.u_t + s.u})
    solved(problem, tmp_path / "run")
    assert drawn(pinn.load(tmp_path / "run"), tmp_path / "run") == ["field_u.png", "history.png"]


def test_coefficients_are_drawn_at_as_many_steps_as_are_known(tmp_path, monkeypatch):
    """Logged are the first and the last; and no band is drawn about those of an unsolved run."""
    asked = []

    def plotted(*given):
        asked.append(given)
        return plot_coefficients(*given)

    monkeypatch.setattr(figures, "plot_coefficients", plotted)
    times = np.linspace(0, 1, 6)
    problem = pinn.Problem(
        TIME, ["u"], {"decay": "u_t + k*u"}, [pinn.Data("u", {"t": times, "u": np.exp(-times)})],
        parameters=[pinn.Parameter("k", 5.0)],
    )  # fmt: skip
    recorder = Recorder(tmp_path / "run", "", log_every=100)
    solution = pinn.solve(
        problem, pinn.MLP(4, 1), pinn.Sampling(interior=20), [pinn.Adam(30)],
        callbacks=[recorder], error_bars=False,
    )  # fmt: skip
    assert solution.report.unsolved and "k" in solution.report.recovery.standard_errors
    recorder.write_results(solution)
    figures.draw_training(recorder.run, solution, SMALL)
    ((records, errors, _),) = asked
    assert [record["step"] for record in recorder.run.metrics()] == [1, 30]
    assert [record["step"] for record in records] == [1, 10, 20, 30] and errors == {}


def test_places_that_are_asked_for_have_figures_of_their_own(tmp_path):
    solution = solved(pinn.Problem(X * Y * TIME, ["u"], {"heat": "u_t - laplacian(u)"}))
    run = Run.create(tmp_path / "run")
    path = draw_at(run, solution, "u", {"t": [0, 0.5], "y": 0.25}, SMALL)
    assert path.name == "u_at_t=0,0.5_y=0.25.png" and imread(path).shape[0] > 50
    with pytest.raises(ValueError, match="expected coordinates out of x, y, t, got 'z'"):
        draw_at(run, solution, "u", {"z": 0.0}, SMALL)
    assert [path.name for path in run.figure_path("x").parent.iterdir()] == [path.name]


def test_an_animation_that_is_asked_for(tmp_path, monkeypatch):
    monkeypatch.setattr(figures, "_FRAMES", 3)
    run = Run.create(tmp_path / "run")
    solution = solved(pinn.Problem(X * TIME, ["u"], {"heat": "u_t - u_xx"}))
    path = draw_animation(run, solution, "u")
    assert path.name == "animation_u.gif" and path.read_bytes().startswith(b"GIF89a")
    still = solved(pinn.Problem(X * Y, ["u"], {"e": "laplacian(u)"}))
    with pytest.raises(ValueError, match="'u' does not move: it needs a coordinate of space and"):
        draw_animation(run, still, "u")
    with pytest.raises(ValueError, match="'t' moves on; hold another"):
        draw_animation(run, solution, "u", at={"t": 0.5})


@pytest.mark.parametrize("format, begin", [("pdf", b"%PDF"), ("svg", b"<?xml")])
def test_figures_of_other_formats(tmp_path, format, begin):
    solution = solved(pinn.Problem(X * Y, ["u"], {"e": "laplacian(u)"}))
    paths = draw_run(Run.create(tmp_path / "run"), solution, Look(format, 30))
    assert {path.suffix for path in paths} == {f".{format}"}
    for path in paths:
        data = path.read_bytes()
        assert data.startswith(begin) and len(data) < 600_000  # maps and points are pictures in it
