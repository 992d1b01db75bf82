"""Rims of domains: on the boundary itself, with holes that turn the other way."""

import numpy as np
import pytest

from pinn.figures.field_data import FieldData
from pinn.figures.maps import plot_field
from pinn.figures.rim import filled_across, rim_of
from pinn.geometry import Disk, Interval, Polygon


def rim(shape):
    low_high = shape.bounds.values()
    return rim_of(*(np.linspace(*pair, 20) for pair in low_high), shape.contains)


def curves(path):
    """Return the closed curves of a path, without the point that repeats the first."""
    starts = [*np.flatnonzero(path.codes == path.MOVETO), len(path.codes)]
    return [path.vertices[a : b - 1] for a, b in zip(starts, starts[1:], strict=False)]


def signed_area(points):
    x, y = points.T
    return (x * np.roll(y, -1) - y * np.roll(x, -1)).sum() / 2


SQUARE = Interval("x", 0, 1) * Interval("y", 0, 1)
BENT = Polygon([(0, 0), (1, 0), (1, 0.53), (0.47, 0.53), (0.47, 1), (0, 1)])


@pytest.mark.parametrize(
    ("shape", "area"),
    [
        (Disk((1, -2), 0.7), np.pi * 0.49),
        (Disk((0, 0), 1) - Disk((0, 0), 0.4), np.pi * 0.84),
        (BENT, 0.53 + 0.47 * 0.47),
        (SQUARE - Disk((0.3, 0.3), 0.13) - Disk((0.7, 0.6), 0.2), 1 - np.pi * (0.13**2 + 0.2**2)),
        (SQUARE.rotated(0.5).moved(-1, 0.2), 1.0),
    ],
    ids=["disk", "annulus", "bent", "holes", "rotated"],
)
def test_a_rim_lies_on_the_boundary_and_holds_the_area(shape, area):
    path = rim(shape)
    assert np.abs(shape.distance(path.vertices)).max() < 1e-7 * shape.size
    parts = [signed_area(points) for points in curves(path)]
    assert parts[0] > 0 and all(part < 0 for part in parts[1:])
    # Chords as long as a cell's diagonal lose 2 pi / 12 * 2 cells of a circle's area, of two
    # circles 2.1, and four cut corners half a cell each.
    assert sum(parts) == pytest.approx(area, abs=5 * (shape.size / 512) ** 2)


def test_a_figure_is_cut_out_along_the_rim_also_where_time_runs_to_the_right():
    grid = np.linspace(0, 1, 30)
    contains = Disk((0.4, 0.5), 0.35).contains
    x, t = np.meshgrid(grid, grid, indexing="ij")
    inside = contains(np.stack([x, t], -1).reshape(-1, 2)).reshape(x.shape)
    data = FieldData("u", {"x": grid, "t": grid}, x, inside=inside, contains=contains)
    (patch,) = plot_field(data).axes[0].patches
    across, up = patch.get_path().vertices.T
    np.testing.assert_allclose(np.hypot(up - 0.4, across - 0.5), 0.35, atol=1e-7)


def test_values_are_carried_over_the_rim_from_their_neighbours():
    inside = np.zeros((5, 6), bool)
    inside[1:3, 1:3] = True
    values = np.where(inside, [[0], [1], [3], [0], [0]], np.nan)
    filled = filled_across(values, inside)
    np.testing.assert_array_equal(filled[inside], values[inside])
    assert (filled[0, 1], filled[3, 2], filled[2, 3]) == (1, 3, 2)
    assert np.isnan(filled[:, 5]).all() and np.isfinite(filled[:, :5]).all()
    gap = filled_across(np.where(inside, np.nan, 0), inside)
    assert np.isnan(gap).all()
