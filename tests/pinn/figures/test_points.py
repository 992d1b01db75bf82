"""Collocation points, coloured by the residual there."""

import numpy as np
import pytest
from matplotlib.colors import LogNorm

from pinn.figures.points import PointsData, plot_points
from pinn.figures.style import figure_png

RNG = np.random.default_rng(0)


def points(names, n=300, **changes):
    arguments = {
        "equation": "heat", "points": RNG.uniform(0, 1, (n, len(names))),
        "residual": np.linspace(-1, 1e-3, n), "bounds": dict.fromkeys(names, (0.0, 1.0)),
    }  # fmt: skip
    return PointsData(**{**arguments, **changes})


def dots(axes):
    return [c for c in axes.collections if c.get_array() is not None][0]


def test_points_of_two_coordinates_lie_where_they_are_in_the_colour_of_their_residual():
    data = points("xt", time="t", others=np.array([[0.5, 0.0], [1.0, 0.25]]))
    axes, bar = plot_points([data]).axes
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("$t$", "$x$")
    drawn = dots(axes)
    order = np.argsort(np.abs(data.residual), kind="stable")  # the largest are drawn over others
    np.testing.assert_array_equal(drawn.get_offsets(), data.points[order][:, ::-1])
    np.testing.assert_array_equal(drawn.get_array(), np.maximum(np.abs(data.residual)[order], 1e-4))
    assert isinstance(drawn.norm, LogNorm) and drawn.norm.vmax == 1.0
    (conditions,) = [c for c in axes.collections if c is not drawn]
    np.testing.assert_array_equal(conditions.get_offsets(), [[0.0, 0.5], [0.25, 1.0]])
    assert bar.get_ylabel() == "|residual|"
    assert axes.get_title(loc="left").strip() == "heat"
    rms = np.sqrt(np.mean(data.residual**2))
    assert f"300 points,  rms {rms:.2e}".replace("e-0", "e-") in axes.texts[0].get_text()


def test_each_equation_has_a_panel_and_a_scale_of_its_own():
    data = [points("xy", equation=f"e{i}", residual=np.full(300, 10.0**i)) for i in range(4)]
    figure = plot_points(data)
    panels = [axes for axes in figure.axes if axes.get_title(loc="left")]
    assert [axes.get_title(loc="left").strip() for axes in panels] == ["e0", "e1", "e2", "e3"]
    assert [dots(axes).norm.vmax for axes in panels] == [1.0, 10.0, 100.0, 1000.0]
    figure_png(figure, 30)


def test_panels_of_a_long_domain_stand_below_each_other():
    bounds, lengths = {"x": (0.0, 4.0), "y": (0.0, 1.0)}, ("x", "y")
    data = [points("xy", equation=f"e{i}", bounds=bounds, lengths=lengths) for i in range(3)]
    figure = plot_points(data)
    figure_png(figure, 30)
    panels = [axes.get_position() for axes in figure.axes if axes.get_title(loc="left")]
    assert len({round(one.x0, 6) for one in panels}) == 1
    assert panels[0].y0 > panels[1].y1 > panels[1].y0 > panels[2].y1
    assert panels[0].width > 0.5


def test_in_one_coordinate_the_residual_is_drawn_over_it():
    data = points("x", others=np.array([[0.0], [1.0], [1.0]]))
    (axes,) = plot_points([data]).axes
    line, conditions = axes.get_lines()
    assert axes.get_yscale() == "log" and axes.get_ylabel() == "|residual|"
    np.testing.assert_array_equal(np.sort(line.get_xdata()), np.sort(data.points[:, 0]))
    np.testing.assert_array_equal(np.sort(line.get_ydata()), np.sort(np.abs(data.residual)))
    np.testing.assert_array_equal(conditions.get_xdata(), [0.0, 1.0])
    vanishing = points("x", residual=np.zeros(300))
    figure_png(plot_points([vanishing, data]), 30)


@pytest.mark.parametrize(
    "names, views",
    [
        ("xyt", ["xy", "tx", "ty"]),
        ("xyzt", ["xy", "tz"]),
        ("abcdt", ["ab", "cd", "td"]),
        ("abcdeft", ["ab", "cd", "tf"]),
    ],
)
def test_more_coordinates_are_seen_from_several_sides(names, views):
    data = points(names, time="t")
    figure = plot_points([data])
    panels = figure.axes[: len(views)]
    assert [axes.get_xlabel() + axes.get_ylabel() for axes in panels] == [
        f"${a}$${b}$" for a, b in views
    ]
    order = np.argsort(np.abs(data.residual), kind="stable")
    for axes, view in zip(panels, views, strict=True):
        columns = [list(names).index(name) for name in view]
        np.testing.assert_array_equal(dots(axes).get_offsets(), data.points[order][:, columns])
    assert len({dots(axes).norm.vmax for axes in panels}) == 1


def test_lengths_in_one_unit_are_drawn_to_scale():
    units = {"x": "m", "y": "m"}
    panels = plot_points([points("xyt", time="t", lengths=("x", "y"), units=units)]).axes[:3]
    assert [axes.get_aspect() for axes in panels] == [1.0, "auto", "auto"]
    assert panels[0].get_xlabel() == "$x$ (m)"


def test_of_very_many_points_those_of_large_residual_are_drawn():
    residual = np.full(50_000, 1e-3)
    residual[123] = 1.0
    data = points("xy", 50_000, residual=residual, count=200_000)
    drawn = dots(plot_points([data]).axes[0])
    assert len(drawn.get_offsets()) == 10_000 and drawn.get_array().max() == 1.0
    assert data.summary().startswith("200,000 points")


def test_residuals_that_are_not_finite_are_told_and_drawn():
    residual = np.linspace(0, 1, 300)
    residual[[3, 7]] = np.nan, np.inf
    data = points("xy", residual=residual)
    assert data.summary() == "300 points,  not finite at 2"
    assert np.ma.getmaskarray(dots(plot_points([data]).axes[0]).get_array()).sum() == 2


def test_what_does_not_fit_is_refused():
    with pytest.raises(ValueError, match=r"points of 'heat': points must have shape \(300, 2\)"):
        points("xy", points=np.zeros((300, 3)))
    with pytest.raises(ValueError, match=r"others must have shape \(4, 2\), got \(4, 1\)"):
        points("xy", others=np.zeros((4, 1)))
    with pytest.raises(ValueError, match="points of an equation or more"):
        plot_points([])
