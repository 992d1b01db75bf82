"""Ranges of colours and axes: ends asked for, logarithms, and the spikes of singular corners."""

import numpy as np
import pytest
from matplotlib.colors import LogNorm, SymLogNorm

from pinn.figures.scales import error_scale, scale_of

G = np.linspace(0, 1, 257)
X, Y = np.meshgrid(G, G, indexing="ij")
SMOOTH = 1 + np.sin(3 * X) * Y


def corner(core):
    """A field of size one, with the singularity 1/r in a corner, rounded off on a small core."""
    return SMOOTH + 0.05 / np.hypot(X, Y + core)


def ends(scale):
    return scale.low, scale.high


def test_the_range_is_that_of_the_values():
    assert ends(scale_of(SMOOTH, np.array([np.nan, 5.0, np.inf]))) == (SMOOTH.min(), 5.0)
    assert ends(scale_of(SMOOTH, None, vmin=0.5)) == (0.5, SMOOTH.max())
    assert ends(scale_of(SMOOTH, vmin=-3, vmax=2.5)) == (-3, 2.5)
    assert ends(scale_of(np.full(3, np.nan))) == (-1, 1)


@pytest.mark.parametrize("core", [1e-3, 3e-3, 1e-2])
def test_a_singular_corner_does_not_take_the_whole_scale(core):
    values = corner(core)
    scale = scale_of(values, robust=True)
    assert scale.low == values.min() and scale.high == np.quantile(values, 0.98)
    assert scale.note == f"colours: 2 % to 98 % of the values; largest {values.max():.3g}"
    assert scale.beyond(values) == "max"
    # Where someone says what to show, that is shown.
    for asked in ({"vmax": 9}, {"vmin": 0}, {"log": True}):
        assert scale_of(values, robust=True, **asked).note == ""


def test_spikes_on_both_sides_keep_zero_in_the_middle():
    values = corner(1e-3) - corner(1e-3)[::-1]
    scale = scale_of(values, centred=True, robust=True)
    assert scale.low == -scale.high and scale.colours == "RdBu_r"
    assert "smallest" in scale.note and "largest" in scale.note
    assert scale.beyond(values) == "both"


@pytest.mark.parametrize(
    "values",
    [
        SMOOTH,
        np.tanh((X - 0.5) / 1e-3),
        np.exp((X - 1) / 1e-3),
        np.exp(-((X - 0.3) ** 2 + (Y - 0.6) ** 2) / (2 * 0.03**2)),
        np.sin(20 * X) * np.exp(-5 * Y),
        np.where((X == 0) & (Y == 0), 1.0, 0.0),
        0 * X + 3,
    ],
    ids=["smooth", "shock", "layer", "peak", "wave", "point", "constant"],
)
def test_what_belongs_to_the_field_is_not_cut_off(values):
    scale = scale_of(values, robust=True)
    assert scale.note == ""
    assert scale.low <= values.min() and scale.high >= values.max()


def test_a_logarithm_of_positive_values():
    values = np.array([0.0, 1e-9, 1e-3, 10.0])
    scale = scale_of(values, log=True)
    assert (scale.kind, *ends(scale)) == ("log", pytest.approx(1e-5), 10.0)
    assert isinstance(scale.norm(), LogNorm)
    # What is smaller takes the lowest colour, and an arrow says so.
    assert scale.shown(values).min() == scale.low and scale.beyond(values) == "min"
    assert ends(scale_of(values, log=True, vmin=1e-2, vmax=1)) == (1e-2, 1)


def test_a_logarithm_on_both_sides_of_zero():
    scale = scale_of(np.array([-3.0, 1.0, 40.0]), log=True)
    assert (scale.kind, *ends(scale)) == ("symlog", -40, 40)
    norm = scale.norm()
    assert isinstance(norm, SymLogNorm) and float(norm(0.0)) == pytest.approx(0.5)
    # A decade up is the same step everywhere.
    steps = np.diff(norm(np.array([0.1, 1.0, 10.0])))
    assert steps[0] == pytest.approx(steps[1])


def test_errors_share_a_scale_that_shows_sign_and_decades():
    scale = error_scale(np.array([-3e-5, 1e-9]), np.array([2e-3, np.nan]))
    assert (scale.kind, *ends(scale)) == ("symlog", -2e-3, 2e-3)
    assert scale.ticks() == pytest.approx([-1e-3, -1e-4, -1e-5, 0, 1e-5, 1e-4, 1e-3])
    norm = scale.norm()
    assert norm(1e-3) - norm(1e-4) == pytest.approx(norm(-1e-4) - norm(-1e-3))
    size = error_scale(np.array([-3e-5, 2e-3]), absolute=True)
    assert (size.kind, *ends(size)) == ("log", pytest.approx(2e-7), 2e-3) and size.ticks() is None


@pytest.mark.parametrize("error", [0 * X, X * np.nan, X * 1e-308, (X - 0.5) * 1e200])
def test_any_error_has_a_scale(error):
    for absolute in (False, True):
        scale = error_scale(error, absolute=absolute)
        assert np.isfinite(ends(scale)).all() and scale.low < scale.high
        shown = scale.norm()(np.ma.masked_invalid(scale.shown(np.abs(error))))
        assert np.isfinite(shown.compressed()).all()
        assert len(scale.ticks() or ()) <= 9


@pytest.mark.parametrize(
    ("asked", "error", "message"),
    [
        ({"vmin": 1, "vmax": 1}, ValueError, "expected vmin < vmax, got vmin = 1 and vmax = 1"),
        ({"vmax": "2"}, TypeError, "vmax: expected a number, got '2'"),
        ({"vmin": np.nan}, ValueError, "vmin: expected a finite number"),
        ({"vmin": -1, "log": True}, ValueError, "log: expected vmin > 0 on a logarithmic scale"),
    ],
)
def test_ends_that_make_no_range_are_refused(asked, error, message):
    with pytest.raises(error, match=message):
        scale_of(SMOOTH, **asked)


@pytest.mark.parametrize("values", [SMOOTH * 1e-250, SMOOTH * 1e200, -SMOOTH, 0 * X])
@pytest.mark.parametrize("asked", [{}, {"log": True}, {"vmin": 7.0}, {"vmax": -7.0}])
def test_any_values_have_a_range(values, asked):
    if asked == {"vmin": 7.0} and values.max() > 1e100:
        asked = {}
    scale = scale_of(values, robust=True, centred=True, **asked)
    assert np.isfinite(ends(scale)).all() and scale.low < scale.high
    assert np.isfinite(scale.norm()(np.ma.masked_invalid(scale.shown(values)))).all()
