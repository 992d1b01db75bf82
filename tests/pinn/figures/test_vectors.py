"""Vector fields: their lines over their size."""

from dataclasses import replace

import numpy as np
import pytest

from pinn.figures.field_data import FieldData
from pinn.figures.style import figure_png
from pinn.figures.vectors import plot_vectors

X, Y = np.linspace(-1, 1, 81), np.linspace(-1, 1, 61)
GRID = np.meshgrid(X, Y, indexing="ij")


def field(name, values, **changes):
    return FieldData(name, {"x": X, "y": Y}, np.broadcast_to(values, GRID[0].shape), **changes)


TURN = [field("u", -GRID[1]), field("v", GRID[0])]


def segments(axes):
    """The starts and the ends of all pieces of the lines, (n, 2) each."""
    (lines,) = [c for c in axes.collections if type(c).__name__ == "LineCollection"]
    pieces = lines.get_segments()
    return (np.concatenate([one[:-1] for one in pieces]),
            np.concatenate([one[1:] for one in pieces]))  # fmt: skip


def size(axes):
    return [c for c in axes.collections if type(c).__name__ == "QuadMesh"][0]


def test_the_lines_of_a_rotation_are_circles_over_the_distance_from_the_middle():
    axes, bar = plot_vectors([TURN]).axes
    np.testing.assert_allclose(size(axes).get_array(), np.hypot(*GRID).T)
    assert size(axes).get_clim() == (0, np.hypot(1, 1)) and bar.get_ylabel() == "|($u$, $v$)|"
    starts, ends = segments(axes)
    np.testing.assert_allclose(np.hypot(*starts.T), np.hypot(*ends.T), atol=0.01)
    # Counterclockwise, as they are in the plane and not in the arrays.
    turn = starts[:, 0] * ends[:, 1] - starts[:, 1] * ends[:, 0]
    assert (turn >= 0).all() and turn.sum() > 10 and axes.get_xlim() == (-1, 1) == axes.get_ylim()


def test_panels_share_their_colours_and_say_what_is_held():
    panels = [
        [replace(one, values=(1 + t) * one.values, fixed={"t": t}, units={"t": "s", "u": "m/s"})
         for one in TURN]
        for t in (0.0, 1.0)
    ]  # fmt: skip
    first, second, bar = plot_vectors(panels).axes
    assert [axes.get_title(loc="left") for axes in (first, second)] == ["$t$ = 0 s", "$t$ = 1 s"]
    assert size(first).get_clim() == size(second).get_clim() == (0, 2 * np.hypot(1, 1))
    assert bar.get_ylabel() == "|($u$, $v$)| (m/s)"


def test_a_component_across_the_plane_counts_for_the_size_alone():
    still = [field("u", 0.0), field("v", 0.0), field("w", 3.0)]
    figure = plot_vectors([still])
    (mesh,) = figure.axes[0].collections  # no lines
    np.testing.assert_array_equal(mesh.get_array(), np.full((61, 81), 3.0))
    figure_png(figure, 30)


def test_lines_end_at_the_rim_of_the_domain():
    ring = np.hypot(*GRID) > 0.5
    axes = plot_vectors([[replace(one, inside=ring) for one in TURN]]).axes[0]
    radius = np.hypot(*np.concatenate(segments(axes)).T)
    assert radius.min() > 0.5 - 0.06  # a cell
    figure_png(axes.figure, 30)


def test_no_line_follows_what_is_left_of_no_flow_at_a_wall():
    """At y = -1 and 1 the rest of a condition, 0.5 % of the flow, points out of the channel."""
    across = np.where(np.abs(GRID[1]) > 0.97, 0.005, 0.0)
    axes = plot_vectors([[field("u", 1 - GRID[1] ** 2), field("v", across)]]).axes[0]
    starts, ends = segments(axes)
    assert np.abs(starts[:, 1]).max() < 0.999
    np.testing.assert_allclose(starts[:, 1], ends[:, 1], atol=1e-3)
    # lines go through from one end to the other
    assert starts[:, 0].min() < -0.99 and ends[:, 0].max() > 0.99


@pytest.mark.parametrize(
    "fields", [[], [[]], [TURN[:1]], [[TURN[0], FieldData("v", {"x": X}, X)]]]
)
def test_what_is_no_vector_is_refused(fields):
    with pytest.raises(ValueError, match="two components or more in the same|a panel or more"):
        plot_vectors(fields)
