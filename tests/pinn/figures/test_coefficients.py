"""The history of coefficients as a figure."""

import math

import numpy as np
import pytest

from pinn.figures.coefficients import plot_coefficients
from pinn.figures.style import figure_png

RECORDS = [
    {"step": step, "stage": "adam" if step < 50 else "lbfgs", "loss": 1.0, "losses": {},
     "parameters": {"nu": 0.1 + 1 / (step + 1), "k1": None if step == 20 else -2.0}}
    for step in range(0, 101, 10)
]  # fmt: skip


def test_each_coefficient_has_a_panel_with_its_values_and_its_error():
    figure = plot_coefficients(RECORDS, {"nu": 0.02, "k1": math.inf})
    first, second = figure.axes
    (line,) = [one for one in first.lines if len(one.get_xdata()) == 11]
    np.testing.assert_allclose(line.get_ydata(), [0.1 + 1 / (s + 1) for s in range(0, 101, 10)])
    gap = second.lines[0].get_ydata()
    assert np.isnan(gap[2]) and (np.delete(gap, 2) == -2).all()
    assert (first.get_ylabel(), second.get_ylabel()) == (r"$\nu$", "$k_{\\mathrm{1}}$")
    last = 0.1 + 1 / 101
    assert f"{last:.6g} ± 0.02" in [text.get_text() for text in first.texts]
    (band,) = first.patches
    low, high = band.get_y(), band.get_y() + band.get_height()
    assert (low, high) == pytest.approx((last - 0.04, last + 0.04))
    assert not second.patches
    figure_png(figure, 40)


def test_few_points_have_a_dot_each_and_many_are_a_line():
    many = [{"step": step, "parameters": {"nu": 1.0}} for step in range(100)]
    for records, marker in ((many[:3], "o"), (many, "None")):
        assert plot_coefficients(records).axes[0].lines[0].get_marker() == marker


def test_records_without_coefficients_are_refused():
    with pytest.raises(ValueError, match="no coefficients to draw"):
        plot_coefficients([{"step": 1, "stage": None}])
