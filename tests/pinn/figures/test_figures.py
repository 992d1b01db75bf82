"""Figures: what they show, in which colours, and that nothing global is touched."""

import io
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from matplotlib.colors import LogNorm, SymLogNorm
from matplotlib.image import imread

from pinn.figures.field_data import FieldData
from pinn.figures.history import plot_history
from pinn.figures.lines import plot_overlay
from pinn.figures.maps import plot_error, plot_field, plot_maps, plot_panels, plot_reference
from pinn.figures.slices import plot_slices
from pinn.figures.style import figure_png
from pinn.problem.references import cole_hopf

X, T = np.linspace(-1, 1, 81), np.linspace(0, 1, 41)
EXACT = cole_hopf(X[:, None], T, 0.01 / np.pi)
BURGERS = FieldData("u", {"x": X, "t": T}, EXACT + 1e-3 * np.cos(X)[:, None] * T, EXACT)
WAVE = FieldData("y", {"t": T}, np.cos(T) + 1e-3 * T, np.cos(T))
RECORDS = [
    {
        "step": step, "stage": "adam" if step <= 300 else "lbfgs", "wall_s": 0.1 * step,
        "loss": 2.0**-step, "losses": {"burgers": 2.0**-step / 2, "initial_u": 2.0**-step / 3},
        "lr": 1e-3, "rel_l2": {"u": 1.4**-step},
    }
    for step in range(0, 1001, 50)
]  # fmt: skip


def mesh(axes):
    (collection,) = axes.collections
    return collection


def pixels(figure, dpi=50):
    return imread(io.BytesIO(figure_png(figure, dpi)))


def is_red(colour):
    return colour[0] > 0.4 and colour[2] < 0.3


def is_blue(colour):
    return colour[2] > 0.4 and colour[0] < 0.3


def test_time_runs_to_the_right_and_values_lie_where_they_belong():
    axes = plot_field(BURGERS).axes[0]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("$t$", "$x$")
    assert axes.get_xlim() == (0, 1) and axes.get_ylim() == (-1, 1)
    np.testing.assert_array_equal(mesh(axes).get_array(), BURGERS.values)
    swapped = FieldData("u", {"t": T, "x": X}, BURGERS.values.T)
    np.testing.assert_array_equal(mesh(plot_field(swapped).axes[0]).get_array(), BURGERS.values)


def test_the_drawn_picture_is_red_below_the_shock_and_blue_above_it():
    figure = plot_field(BURGERS)
    picture = pixels(figure)
    height = picture.shape[0]
    for x, check in ((-0.2, is_red), (0.2, is_blue)):
        column, row = figure.axes[0].transData.transform((0.5, x)) * (50 / figure.dpi)
        assert check(picture[height - 1 - int(row), int(column)])


def test_signs_that_mix_take_a_scale_centred_at_zero_shared_with_the_reference():
    field, reference = (mesh(plot(BURGERS).axes[0]) for plot in (plot_field, plot_reference))
    assert field.get_cmap().name == "RdBu_r"
    assert field.norm.vmin == -field.norm.vmax == -np.abs(EXACT).max()
    assert (field.norm.vmin, field.norm.vmax) == (reference.norm.vmin, reference.norm.vmax)


def test_a_positive_field_takes_a_sequential_scale_even_with_a_slight_undershoot():
    values = np.linspace(-1e-3, 2, X.size * T.size).reshape(X.size, T.size)
    drawn = mesh(plot_field(FieldData("p", {"x": X, "y": T}, values)).axes[0])
    assert drawn.get_cmap().name == "viridis"
    assert (drawn.norm.vmin, drawn.norm.vmax) == (-1e-3, 2)


def test_the_error_has_its_sign_around_zero_and_its_size_in_words():
    figure = plot_error(BURGERS)
    axes, bar = figure.axes
    error = BURGERS.values - EXACT
    np.testing.assert_array_equal(mesh(axes).get_array(), error)
    norm, largest = mesh(axes).norm, np.abs(error).max()
    assert isinstance(norm, SymLogNorm) and (norm.vmin, norm.vmax) == (-largest, largest)
    assert float(norm(0.0)) == pytest.approx(0.5) and bar.get_ylabel() == "error"
    # Decades are labelled on both sides of zero, and as far from each other.
    ticks = bar.get_yticks()
    np.testing.assert_allclose(ticks, -ticks[::-1])
    assert {0.0, 1e-4, 1e-5} <= set(np.round(ticks, 12)) and len(ticks) <= 9
    # Other colours than those of the field, whose values they are not.
    assert mesh(axes).get_cmap().name != mesh(plot_field(BURGERS).axes[0]).get_cmap().name
    words = " ".join(text.get_text() for text in axes.texts)
    relative = np.linalg.norm(BURGERS.values - EXACT) / np.linalg.norm(EXACT)
    assert f"{relative:.2e}".replace("e-0", "e-") in words
    assert BURGERS.rel_l2() == pytest.approx(relative)


def test_the_size_of_the_error_alone_is_on_a_logarithmic_scale():
    axes, bar = plot_error(BURGERS, absolute=True).axes
    error = np.abs(BURGERS.values - EXACT)
    assert isinstance(mesh(axes).norm, LogNorm) and bar.get_ylabel() == "absolute error"
    assert (mesh(axes).norm.vmin, mesh(axes).norm.vmax) == (1e-4 * error.max(), error.max())
    np.testing.assert_array_equal(mesh(axes).get_array(), np.maximum(error, 1e-4 * error.max()))


def test_units_stand_at_axes_colour_bars_and_what_is_held():
    units = {"u": "m/s", "x": "m", "y": "m", "t": "s"}
    data = at_time(0.5, units=units)
    axes, bar = plot_field(data).axes
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("$x$ (m)", "$y$ (m)")
    assert bar.get_ylabel() == "$u$ (m/s)"
    assert axes.get_title(loc="left") == "$u$($x$, $y$, $t$ = 0.5 s),  network"
    assert plot_error(data).axes[1].get_ylabel() == "error (m/s)"
    wave = replace(WAVE, units={"y": "kg m^-3", "t": "1"})
    top, bottom = plot_field(wave).axes
    assert top.get_ylabel() == "$y$ (kg m\N{SUPERSCRIPT MINUS}\N{SUPERSCRIPT THREE})"
    assert bottom.get_xlabel() == "$t$"  # a unit of one is none
    assert plot_slices(data, at=[0.5]).axes[0].get_title() == "$y$ = 0.5 m"


def test_panels_hold_field_reference_and_error_or_the_field_alone():
    titles = [axes.get_title(loc="left").strip() for axes in plot_panels(BURGERS).axes[:3]]
    assert [title.split()[-1] for title in titles] == ["network", "reference", "error"]
    alone = FieldData("u", {"x": X, "t": T}, EXACT)
    assert len(plot_panels(alone).axes) == 2  # the map and its colour bar


def test_slices_are_the_field_at_the_times_in_the_titles():
    figure = plot_slices(BURGERS)
    top = figure.axes[:3]
    assert [axes.get_title() for axes in top] == [f"$t$ = {t}" for t in ("0", "0.5", "1")]
    for axes, place in zip(top, (0, 20, 40), strict=True):
        network, reference = axes.get_lines()
        np.testing.assert_array_equal(network.get_ydata(), BURGERS.values[:, place])
        np.testing.assert_array_equal(reference.get_ydata(), EXACT[:, place])
        assert reference.is_dashed()
    assert len(figure.axes) == 6  # the errors below


def test_slices_over_each_other_are_told_apart_by_colour():
    figure = plot_slices(BURGERS, overlay=True)
    top, bottom = figure.axes
    networks, references = top.get_lines()[::2], top.get_lines()[1::2]
    assert [line.get_label() for line in networks] == [f"$t$ = {t}" for t in (0, 0.5, 1)]
    assert len({line.get_color() for line in networks}) == 3
    for line, reference, place in zip(networks, references, (0, 20, 40), strict=True):
        np.testing.assert_array_equal(line.get_ydata(), BURGERS.values[:, place])
        np.testing.assert_array_equal(reference.get_ydata(), EXACT[:, place])
    errors = [line.get_color() for line in bottom.get_lines()]
    assert errors == [line.get_color() for line in networks]
    assert [text.get_text() for text in top.get_legend().get_texts()][-1] == "reference"


def at_time(t, **changes):
    """DISK at a time, so much larger."""
    fields = {"values": DISK.values * (2 + t), "reference": DISK.reference * (2 + t)}
    return replace(DISK, fixed={"t": t}, **{**fields, **changes})


def test_figures_say_what_is_held_with_the_minus_of_the_axes():
    held = at_time(-1.5)
    minus = "$t$ = \N{MINUS SIGN}1.5"
    assert plot_field(held).axes[0].get_title(loc="left") == f"$u$($x$, $y$, {minus}),  network"
    figure = plot_slices(held)
    assert figure.get_suptitle() == minus
    assert plot_slices(held, overlay=True).axes[0].get_title(loc="left") == minus
    assert plot_slices(BURGERS).get_suptitle() == ""
    low = plot_slices(FieldData("p", {"x": X, "y": X}, EXACT[:, :1] + X)).axes[0]
    assert low.get_title() == "$y$ = \N{MINUS SIGN}0.5"


@pytest.mark.parametrize("flat", [False, True])
def test_maps_at_several_times_share_their_colours(flat):
    coordinates = {"x": 5 * X, "y": T} if flat else DISK.coordinates
    fields = [at_time(t, coordinates=coordinates) for t in (-1, 0, 1)]
    figure = plot_maps(fields)
    panels = np.array(figure.axes[:9], dtype=object).reshape(3, 3)
    kinds = panels.T if flat else panels
    titles = [axes.get_title(loc="left") for axes in kinds[0]]
    assert titles == ["$t$ = \N{MINUS SIGN}1", "$t$ = 0", "$t$ = 1"]
    for line, name in zip(kinds[:2], ("values", "reference"), strict=True):
        for axes, data in zip(line, fields, strict=True):
            np.testing.assert_array_equal(
                mesh(axes).get_array().T[ROUND], getattr(data, name)[ROUND]
            )
            assert mesh(axes).norm.vmax == fields[-1].reference[ROUND].max()
    assert len({mesh(axes).norm.vmax for axes in kinds[2]}) == 1
    words = [" ".join(text.get_text() for text in axes.texts) for axes in kinds[2]]
    assert words == [data.summary() for data in fields]
    pixels(figure, 30)


def test_planes_across_each_other_share_their_colours_and_keep_their_axes():
    fields = [
        FieldData("u", {a: X, b: T}, EXACT * size, fixed={c: 0.25})
        for (a, b, c), size in zip(("xyz", "xzy", "yzx"), (1, 2, 3), strict=True)
    ]
    panels = plot_maps(fields).axes[:3]
    assert [axes.get_title(loc="left") for axes in panels] == [f"${c}$ = 0.25" for c in "zyx"]
    assert [axes.get_xlabel() + axes.get_ylabel() for axes in panels] == [
        "$x$$y$", "$x$$z$", "$y$$z$"
    ]  # fmt: skip
    assert {mesh(axes).norm.vmax for axes in panels} == {3 * np.abs(EXACT).max()}


def test_what_is_no_length_is_not_drawn_to_scale():
    data = FieldData("u", {"r": T, "q": 2 * X}, EXACT.T)
    assert plot_field(data).axes[0].get_aspect() == 1.0
    assert plot_field(replace(data, to_scale=False)).axes[0].get_aspect() == "auto"


def test_maps_need_fields_of_one_unknown_in_two_coordinates():
    with pytest.raises(ValueError, match="a field or more of one unknown"):
        plot_maps([DISK, replace(DISK, unknown="v")])
    with pytest.raises(ValueError, match="a field or more of one unknown"):
        plot_maps([])
    with pytest.raises(ValueError, match="has one coordinate"):
        plot_maps([WAVE])


def test_unknowns_over_each_other():
    other = FieldData("v", {"t": T}, np.sin(T))
    top, bottom = plot_overlay([WAVE, other]).axes
    assert top.get_ylabel() == "$y$, $v$" and len(top.get_lines()) == 3
    assert len(bottom.get_lines()) == 1  # v has no reference
    for fields in ([WAVE, BURGERS], [WAVE, FieldData("w", {"x": T}, T)]):
        with pytest.raises(ValueError, match="one and the same coordinate, got .*; hold the"):
            plot_overlay(fields)
    with pytest.raises(ValueError, match="expected a field or more"):
        plot_overlay([])


def test_the_ends_of_colours_and_axes_are_those_asked_for():
    for plot in (plot_field, plot_reference, plot_panels):
        norm = mesh(plot(BURGERS, vmin=-0.25, vmax=0.5).axes[0]).norm
        assert (norm.vmin, norm.vmax) == (-0.25, 0.5)
    assert plot_field(WAVE, vmin=-2, vmax=3).axes[0].get_ylim() == (-2, 3)
    assert plot_slices(BURGERS, vmin=-2, vmax=3).axes[0].get_ylim() == (-2, 3)
    positive = FieldData("p", {"x": X, "y": T}, np.exp(10 * X)[:, None] + T)
    assert isinstance(mesh(plot_field(positive, log=True).axes[0]).norm, LogNorm)
    assert isinstance(mesh(plot_field(BURGERS, log=True).axes[0]).norm, SymLogNorm)
    assert plot_slices(positive, log=True).axes[0].get_yscale() == "log"
    assert plot_field(WAVE, log=True).axes[0].get_yscale() == "log"
    mixed = FieldData("y", {"t": T}, np.cos(9 * T))
    assert plot_field(mixed, log=True).axes[0].get_yscale() == "symlog"


def test_a_singular_corner_is_cut_off_and_the_colour_bar_says_so():
    values = 0.1 / np.hypot(X[:, None] + 1, T + 1e-3) + X[:, None] * T
    figure = plot_field(FieldData("p", {"x": X, "y": T}, values))
    assert mesh(figure.axes[0]).norm.vmax < 0.05 * values.max()
    label = figure.axes[1].get_ylabel()
    assert label == f"$p$\n(colours: 2 % to 98 % of the values;\nlargest {values.max():.3g})"


ROUND = np.hypot(X[:, None], 2 * T - 1) < 0.81
DISK = FieldData("u", {"x": X, "y": T}, np.where(ROUND, 1 + EXACT, 1e6), 1 + EXACT, inside=ROUND)


def test_values_outside_of_the_domain_are_not_drawn():
    assert np.isnan(DISK.values[~ROUND]).all() and np.isfinite(DISK.values[ROUND]).all()
    figure = plot_field(DISK)
    (drawn,), (rim,) = figure.axes[0].collections, figure.axes[0].patches
    # The rim is drawn, a cell at most from where it is, and the colours are cut off there.
    points = rim.get_path().vertices
    np.testing.assert_allclose(np.hypot(points[:, 0], 2 * points[:, 1] - 1), 0.81, atol=0.05)
    clip, _ = drawn.get_clip_path().get_transformed_path_and_affine()
    np.testing.assert_array_equal(clip.vertices, points)
    np.testing.assert_array_equal(drawn.get_array().T[ROUND], DISK.values[ROUND])
    inside = DISK.reference[ROUND]
    assert (drawn.norm.vmin, drawn.norm.vmax) == (inside.min(), inside.max())
    picture = pixels(plot_field(DISK), dpi=50)
    assert picture.mean() > 0.5  # white corners


def test_errors_are_those_inside():
    data = FieldData("u", DISK.coordinates, np.where(ROUND, 1.01, 9), 0 * EXACT + 1, inside=ROUND)
    assert data.rel_l2() == pytest.approx(0.01)
    assert data.summary() == "relative L2 1.00e-2,  max 1.00e-2"
    broken = np.where(ROUND & (X[:, None] > 0.7), np.inf, 1.0)
    data = FieldData("u", DISK.coordinates, broken, 0 * EXACT + 1, inside=ROUND)
    assert data.summary().startswith(f"not finite at {np.isinf(broken).sum()} of {ROUND.sum():,} ")
    # Missing values inside are grey, which is no colour of a value.
    drawn = mesh(plot_field(data).axes[0])
    missing = np.ma.getmaskarray(drawn.get_array()).T
    np.testing.assert_array_equal(missing[ROUND], ~np.isfinite(broken[ROUND]))
    assert drawn.get_cmap().get_bad()[:3] == pytest.approx(181 / 255)


def test_tick_labels_of_narrow_panels_do_not_touch():
    x, y = np.linspace(-0.2, 0.2, 20), np.linspace(-1, 1, 50)
    values = x[:, None] * y
    figure = plot_panels(FieldData("u", {"x": x, "y": y}, values, values + 1e-3))
    pixels(figure)
    for axes in figure.axes[:3]:
        labels = [label.get_window_extent() for label in axes.get_xticklabels()]
        labels = [box for box in labels if box.width]
        assert len(labels) >= 2
        for left, right in zip(labels, labels[1:], strict=False):
            assert right.x0 - left.x1 > 4


def test_slices_cross_the_domain_and_end_at_its_rim():
    figure = plot_slices(DISK)
    titles = [axes.get_title() for axes in figure.axes[:3]]
    assert titles == ["$y$ = 0.3", "$y$ = 0.5", "$y$ = 0.7"]
    drawn = figure.axes[0].get_lines()[0].get_ydata()
    np.testing.assert_array_equal(np.isnan(drawn), ~ROUND[:, 12])
    # A cut outside goes to the nearest one that crosses the domain.
    assert plot_slices(DISK, at=[0.0]).axes[0].get_title() == "$y$ = 0.1"


def test_lengths_are_drawn_to_scale_also_in_a_channel():
    x, y = np.linspace(0, 2.2, 60), np.linspace(0, 0.41, 30)
    values = x[:, None] * y
    figure = plot_panels(FieldData("u", {"x": x, "y": y}, values, values + 1e-3))
    first, second, third = figure.axes[:3]
    pixels(figure, dpi=30)
    assert first.get_aspect() == 1.0
    # One above the other, since three beside each other would be a ribbon.
    heights = [axes.get_position().y0 for axes in (first, second, third)]
    assert heights == sorted(heights, reverse=True) and heights[0] > heights[1]


def test_slices_cut_where_they_are_asked_to_and_without_a_time():
    figure = plot_slices(BURGERS, at=[0.0, 1.0])
    assert [axes.get_title() for axes in figure.axes[:2]] == ["$t$ = 0", "$t$ = 1"]
    space = FieldData("p", {"x": X, "y": T}, EXACT)
    axes = plot_slices(space, at=[0.5]).axes[0]
    assert (axes.get_title(), axes.get_xlabel()) == ("$y$ = 0.5", "$x$")


def test_one_coordinate_is_lines_with_the_reference_dashed_and_the_error_below():
    top, bottom = plot_field(WAVE).axes
    network, reference = top.get_lines()
    np.testing.assert_array_equal(network.get_ydata(), WAVE.values)
    assert reference.is_dashed() and not network.is_dashed()
    assert bottom.get_yscale() == "log"
    np.testing.assert_allclose(bottom.get_lines()[0].get_ydata()[1:], 1e-3 * T[1:], rtol=1e-9)
    assert bottom.get_xlabel() == "$t$"
    assert len(plot_field(FieldData("y", {"x": T}, np.cos(T))).axes) == 1


def test_errors_of_lines_may_keep_their_sign():
    for figure, expected in (
        (plot_field(WAVE, absolute=False), 1e-3 * T),
        (plot_slices(BURGERS, at=[1.0], absolute=False), BURGERS.values[:, -1] - EXACT[:, -1]),
        (plot_overlay([WAVE], absolute=False), 1e-3 * T),
    ):
        bottom = figure.axes[1]
        assert bottom.get_yscale() == "linear" and bottom.get_ylabel() == "error"
        np.testing.assert_allclose(bottom.get_lines()[0].get_ydata(), expected, atol=1e-12)
        low, high = bottom.get_ylim()
        assert low == -high and high == pytest.approx(1.1 * np.abs(expected).max())


def test_history_draws_every_named_loss_and_marks_the_stages():
    figure = plot_history(RECORDS)
    losses, errors = figure.axes
    assert losses.get_yscale() == errors.get_yscale() == "log"
    drawn = {line.get_label().split("  ")[0]: line for line in losses.get_lines()}
    for name, share in (("total", 1), ("burgers", 1 / 2), ("initial_u", 1 / 3)):
        steps, values = drawn[name].get_data()
        np.testing.assert_array_equal(steps, np.arange(0, 1001, 50))
        np.testing.assert_allclose(values, 2.0**-steps * share)
    assert [text.get_text() for text in losses.texts] == ["adam", "lbfgs"]
    (mark,) = [line for line in losses.get_lines() if line.get_label().startswith("_")]
    assert set(mark.get_xdata()) == {300}
    pixels(figure)


def test_history_draws_the_weights_that_a_scheme_chooses():
    weights = [{"burgers": 1.0, "initial_u": 2.0**k} for k in range(len(RECORDS))]
    records = [{**r, "weights": w} for r, w in zip(RECORDS, weights, strict=True)]
    figure = plot_history(records)
    losses, _, panel = figure.axes
    assert panel.get_ylabel() == "weight" and panel.get_yscale() == "log"
    own = {line.get_label().split("  ")[0]: line.get_color() for line in losses.get_lines()}
    drawn = [line for line in panel.get_lines() if len(line.get_xdata()) > 2]
    assert [line.get_color() for line in drawn] == [own["burgers"], own["initial_u"]]
    np.testing.assert_array_equal(drawn[1].get_ydata(), 2.0 ** np.arange(len(RECORDS)))
    pixels(figure)


def test_history_draws_the_loss_on_fresh_points_dashed():
    records = [{**record, "fresh_loss": 3 * record["loss"]} for record in RECORDS]
    axes = plot_history(records).axes[0]
    (line,) = [one for one in axes.get_lines() if one.get_label().startswith("on fresh points")]
    np.testing.assert_allclose(line.get_ydata(), [3 * record["loss"] for record in RECORDS])
    assert line.is_dashed()
    labels = [text.get_text() for text in axes.get_legend().get_texts()]
    assert [label.split("  ")[0] for label in labels[:2]] == ["total", "on fresh points"]


def test_history_draws_the_weights_of_points_as_a_band():
    records = [
        {**r, "weights": dict.fromkeys(r["losses"], 1.0),
         "row_weights": {"burgers": {"least": 0.5, "mean": 1.0 + k, "largest": 9.0 + k}}}
        for k, r in enumerate(RECORDS)
    ]  # fmt: skip
    # Blocks that all weigh 1 throughout have no panel.
    losses, _, panel = plot_history(records).axes
    assert panel.get_ylabel() == "weight of points"
    (mean,) = [line for line in panel.get_lines() if len(line.get_xdata()) == len(RECORDS)]
    np.testing.assert_array_equal(mean.get_ydata(), 1.0 + np.arange(len(RECORDS)))
    (band,) = panel.collections
    assert band.get_datalim(panel.transData).ymin == 0.5
    assert band.get_datalim(panel.transData).ymax == 9.0 + len(RECORDS) - 1
    own = {line.get_label().split("  ")[0]: line.get_color() for line in losses.get_lines()}
    assert mean.get_color() == own["burgers"]


def test_numbers_between_decades_are_labelled_where_there_are_few_decades():
    for fall, few in ((0.3, True), (6.0, False)):
        records = [{"step": s, "loss": 2 * 10.0 ** (-fall * s), "losses": {}} for s in (0, 1)]
        figure = plot_history(records)
        pixels(figure, 30)
        axes = figure.axes[0]
        labels = [label.get_text() for label in axes.get_yticklabels(minor=True)]
        assert any(labels) == few, labels


def test_steps_are_labelled_by_whole_numbers():
    axes = plot_history([{"step": s, "loss": 2.0**-s, "losses": {}} for s in (1, 2, 3)]).axes[0]
    assert all(float(tick).is_integer() for tick in axes.get_xticks())


def test_one_step_has_one_tick():
    axes = plot_history([{"step": 1, "loss": 1.0, "losses": {}}]).axes[0]
    low, high = axes.get_xlim()
    assert [tick for tick in axes.get_xticks() if low <= tick <= high] == [1]


def test_history_marks_where_points_were_drawn_anew():
    records = [{**record, "draw": record["step"] // 251} for record in RECORDS]
    axes = plot_history(records).axes[0]
    (marks,) = [line for line in axes.get_lines() if line.get_label() == "points drawn anew"]
    np.testing.assert_array_equal(marks.get_xdata(), [250, 500, 750])
    labels = [text.get_text() for text in axes.get_legend().get_texts()]
    assert labels[0].startswith("total  ") and labels[-1] == "points drawn anew"
    # The marks do not stretch the axis.
    assert axes.get_ylim() == plot_history(RECORDS).axes[0].get_ylim()
    kept = [{**record, "draw": 0} for record in RECORDS]
    for records in (kept, RECORDS):
        lines = plot_history(records).axes[0].get_lines()
        assert "points drawn anew" not in [line.get_label() for line in lines]


def test_history_shortens_long_names_in_the_middle():
    name = "momentum_of_the_flow_along_the_channel"
    label = plot_history(
        [{"step": s, "loss": 2.0, "losses": {name: 1.0, "u": 1.0}} for s in (0, 1)]
    ).axes[0].get_lines()[0].get_label()  # fmt: skip
    first, last = label.split("  ")[0].split("\N{HORIZONTAL ELLIPSIS}")
    assert name.startswith(first) and name.endswith(last) and len(first) == 12 == len(last) + 1


def test_history_leaves_gaps_for_what_is_missing_or_zero():
    records = [
        {"step": 0, "loss": 1.0, "losses": {"wave": 1.0, "initial_u": 0.0}, "rel_l2": None},
        {"step": 1, "loss": None, "losses": {"wave": None, "initial_u": 0.0}},
        {"step": 2, "loss": 0.5, "losses": {"wave": 0.5}},
    ]
    figure = plot_history(records)
    (axes,) = figure.axes
    labels = [line.get_label() for line in axes.get_lines()]
    assert labels == ["wave  5.00e-1", "initial_u  none above zero", "total  5.00e-1"]
    np.testing.assert_array_equal(axes.get_lines()[0].get_ydata(), [1.0, np.nan, 0.5])
    pixels(figure)


@pytest.mark.parametrize("count", [1, 2, 25])
def test_history_of_few_records_and_many_losses_can_be_drawn(count):
    losses = {f"n{i}": 10.0**-i for i in range(count)}
    records = [
        {"step": step, "stage": f"stage {step}", "loss": 1.0, "losses": losses}
        for step in range(count)
    ]
    pixels(plot_history(records))


def test_history_without_records_is_refused():
    with pytest.raises(ValueError, match="has not logged a step"):
        plot_history([])


@pytest.mark.parametrize(
    "values",
    [
        EXACT,
        0 * EXACT,
        0 * EXACT + 3,
        EXACT * np.nan,
        np.where(EXACT > 0.5, np.inf, EXACT),
        EXACT * 1e-200,
        EXACT * 1e200,
    ],
    ids=["equal", "zero", "constant", "nan", "inf", "tiny", "huge"],
)
def test_awkward_values_can_be_drawn(values):
    data = FieldData("u", {"x": X, "t": T}, values, EXACT)
    for figure in (plot_panels(data), plot_slices(data)):
        pixels(figure, dpi=30)
    line = FieldData("u", {"t": T}, values[20], values[20])
    pixels(plot_field(line), dpi=30)
    assert "not finite" in data.summary() or np.isfinite(values).all()


@pytest.mark.parametrize("name", ["u", "theta", "u_1", "u1", "phi_max", "pressure", "h_re_part"])
def test_any_name_can_be_a_label(name):
    pixels(plot_field(FieldData(name, {"x_1": T}, T)), dpi=30)


@pytest.mark.parametrize(
    "arguments, message",
    [
        (({"x": X, "y": X, "t": T}, EXACT), "one or two coordinates.*hold the others fixed"),
        (({}, EXACT), "got none"),
        (({"x": X[::-1], "t": T}, EXACT), "grid of 'x' must be finite, strictly increasing"),
        (({"x": X, "t": [0.0]}, EXACT[:, :1]), "grid of 't'.*two points or more"),
        (({"x": X, "t": T}, EXACT.T), r"values must have .* \(81, 41\), got \(41, 81\)"),
        (({"x": X, "t": T}, EXACT, EXACT[:2]), "reference must have the grid's shape"),
        (({"x": X, "t": T}, EXACT, None, None, {}, ROUND.T), "inside must be bool, have the grid"),
        (({"x": X, "t": T}, EXACT, None, None, {}, ROUND & False), "and be true somewhere"),
        (({"x": X, "t": T}, EXACT, None, None, {}, 1.0 * ROUND), "got float64"),
        (({"x": X, "t": T}, EXACT, None, "z"), "time 'z' is not one of its coordinates 'x', 't'"),
    ],
)
def test_data_that_do_not_fit_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        FieldData("u", *arguments)


def test_what_is_not_there_cannot_be_drawn():
    alone = FieldData("u", {"x": X, "t": T}, EXACT)
    for plot in (plot_reference, plot_error):
        with pytest.raises(ValueError, match="has no reference"):
            plot(alone)
    with pytest.raises(ValueError, match="one coordinate"):
        plot_reference(WAVE)
    with pytest.raises(ValueError, match="no slices"):
        plot_slices(WAVE)


def test_drawing_imports_no_pyplot_and_importing_no_matplotlib():
    code = (
        "import sys, numpy as np, pinn.figures as p\n"
        "assert 'matplotlib' not in sys.modules\n"
        "t = np.linspace(0, 1, 5)\n"
        "p.figure_png(p.plot_field(p.FieldData('u', {'t': t}, t)))\n"
        "assert 'matplotlib.pyplot' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
