"""The numbers that the fields of a page are drawn from."""

import base64

import numpy as np
import pytest

import pinn
from pinn.report.fields import fields_data, layout_of, packed, thinned

from .conftest import solved


def unpacked(text, *shape):
    return np.frombuffer(base64.b64decode(text), dtype="<f4").reshape(shape)


def grid(axis):
    return np.linspace(axis["low"], axis["high"], axis["count"])


def test_a_map_has_the_values_of_the_solution_and_their_signed_errors(heat):
    (group,) = fields_data(heat)
    across, up = group["axes"]
    assert (across["name"], up["name"]) == ("t", "x")  # time runs to the right
    (one,) = group["unknowns"]
    x, t = np.meshgrid(grid(up), grid(across), indexing="ij")
    exact = np.exp(-0.5 * t) * np.sin(x)
    values = heat.evaluate(x=x, t=t)["u"]
    shape = up["count"], across["count"]
    np.testing.assert_allclose(unpacked(one["values"], *shape), values, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(
        unpacked(one["error"], *shape), values - exact, rtol=1e-6, atol=1e-7
    )
    assert one["scale"]["low"] == pytest.approx(0, abs=1e-12)
    assert one["scale"]["high"] == pytest.approx(1)
    assert one["error_scale"]["low"] == -one["error_scale"]["high"]


def test_small_errors_are_not_lost_in_the_digits_of_float32(heat):
    """They are differences of float64: those of float32 values near 1 end at 6e-8."""
    (group,) = fields_data(heat)
    (one,) = group["unknowns"]
    up, across = group["axes"][1]["count"], group["axes"][0]["count"]
    error = unpacked(one["error"], up, across)[up // 2, across // 2]
    x, t = (np.mean([axis["low"], axis["high"]]) for axis in group["axes"][::-1])
    exact = heat.evaluate(x=x, t=t)["u"] - np.exp(-0.5 * t) * np.sin(x)
    assert abs(error - exact) <= 1e-7 * abs(exact)


def test_time_has_a_slider_where_two_coordinates_of_space_are_drawn(plate):
    (group,) = fields_data(plate)
    assert [axis["name"] for axis in group["axes"]] == ["x", "y"]
    (slider,) = group["sliders"]
    assert (slider["name"], slider["low"], slider["high"], slider["start"]) == ("t", 0, 2, 0)
    (one,) = group["unknowns"]
    assert one["error"] is None
    across, up = group["axes"]
    values = unpacked(one["values"], slider["count"], up["count"], across["count"])
    x, y, t = grid(across)[3], grid(up)[5], grid(slider)[2]
    assert values[2, 5, 3] == pytest.approx(plate.evaluate(x=x, y=y, t=t)["u"], rel=1e-6)


def test_what_lies_in_a_hole_has_no_value_and_its_rim_is_as_sharp_as_the_shape(plate):
    (group,) = fields_data(plate)
    across, up = group["axes"]
    (one,) = group["unknowns"]
    values = unpacked(one["values"], -1, up["count"], across["count"])[0]
    x, y = np.meshgrid(grid(across), grid(up))
    assert np.array_equal(np.isnan(values), np.hypot(x, y) < 0.5 - 1e-9)
    assert one["rims"]["over"] == []  # the same at all times
    (curves,) = one["rims"]["curves"]
    circle = min(curves, key=lambda curve: np.ptp(curve[0]))
    np.testing.assert_allclose(np.hypot(*circle), 0.5, atol=1e-4)
    assert 20 < len(circle[0]) < 200  # thinned


def test_a_rim_that_moves_with_a_slider_is_there_for_each_of_its_places():
    ball = pinn.Ball(center=(0, 0, 0), radius=1)
    solution = solved(pinn.Problem(
        domain=ball, unknowns=["u"], equations={"poisson": "laplacian(u) - 1"},
        conditions=[pinn.Dirichlet("u", 0)],
    ))  # fmt: skip
    (group,) = fields_data(solution, 20_000)
    (slider,) = group["sliders"]
    (one,) = group["unknowns"]
    assert one["rims"]["over"] == [0]
    assert len(one["rims"]["curves"]) == slider["count"]
    for z, curves in zip(grid(slider)[1:-1], one["rims"]["curves"][1:-1], strict=True):
        np.testing.assert_allclose(np.hypot(*curves[0]), np.sqrt(1 - z**2), atol=1e-3)


def test_unknowns_of_one_coordinate_are_lines_of_one_group(pair):
    (group,) = fields_data(pair)
    assert [one["name"] for one in group["unknowns"]] == ["a", "b"]
    assert [axis["name"] for axis in group["axes"]] == ["t"]
    t = grid(group["axes"][0])
    values = pair.evaluate(t=t)
    for one in group["unknowns"]:
        np.testing.assert_allclose(
            unpacked(one["values"], -1), values[one["name"]], rtol=1e-6, atol=1e-7
        )


def box(*names):
    domain = None
    for name in names:
        factor = pinn.Time("t", 0, 1) if name == "t" else pinn.Interval(name, 0, 1)
        domain = factor if domain is None else domain * factor
    return domain


@pytest.mark.parametrize(
    "names, drawn, sliders, held",
    [
        ("x", "x", "", ""),
        ("xt", "tx", "", ""),
        ("tx", "tx", "", ""),
        ("xy", "xy", "", ""),
        ("xyt", "xy", "t", ""),
        ("txy", "xy", "t", ""),
        ("xyzt", "xy", "tz", ""),
        ("vwxyzt", "vw", "tx", "yz"),
    ],
)
def test_two_coordinates_are_drawn_two_have_sliders_and_others_are_held(
    names, drawn, sliders, held
):
    found = layout_of(box(*names), 50_000)
    assert ("".join(found.drawn), "".join(found.sliders)) == (drawn, sliders)
    assert dict(found.held) == dict.fromkeys(held, 0.5)
    assert np.prod(list(found.counts.values())) <= 50_000


def test_families_have_sliders_and_are_never_drawn_beside_a_coordinate():
    found = layout_of(box("x") * pinn.Family("nu", 0.1, 0.2), 50_000)
    assert (found.drawn, found.sliders) == (("x",), ("nu",))


def test_many_numbers_are_shared_by_all_unknowns(plate):
    for numbers in (40_000, 150_000):
        (group,) = fields_data(plate, numbers)
        values = unpacked(group["unknowns"][0]["values"], -1)
        assert 0.2 * numbers < values.size <= numbers / 2


def test_lengths_are_drawn_to_scale_in_space_alone(heat, plate):
    assert fields_data(plate)[0]["equal"] is True
    assert fields_data(heat)[0]["equal"] is False


def test_names_have_their_units_and_other_units_are_not_drawn_to_scale():
    problem = pinn.Problem(
        domain=pinn.Interval("x", 0, 1) * pinn.Interval("y", 0, 1), unknowns=["T"],
        equations={"heat": "laplacian(T)"}, conditions=[pinn.Dirichlet("T", 0)],
        units={"x": "m", "y": "mm", "T": "K"},
    )  # fmt: skip
    (group,) = fields_data(solved(problem))
    assert [axis["label"] for axis in group["axes"]] == ["x (m)", "y (mm)"]
    assert group["unknowns"][0]["label"] == "T (K)"
    assert group["equal"] is False


def measured_in(path):
    return solved(pinn.Problem(
        domain=pinn.Interval("x", 0, 1) * pinn.Time("t", 0, 1), unknowns=["u"],
        equations={"heat": "u_t - u_xx"}, conditions=[pinn.Data("u", str(path))],
    ))  # fmt: skip


def test_places_of_measurements_are_marked_and_data_that_have_changed_are_not(tmp_path):
    table = tmp_path / "data.csv"
    table.write_text("x,t,u\n0.25,0.5,1\n0.75,1,2\n")
    measured_in(table).save(tmp_path / "solution.npz")
    (group,) = fields_data(pinn.load(tmp_path / "solution.npz"))
    assert group["unknowns"][0]["measured"] == [[0.5, 1.0], [0.25, 0.75]]  # time to the right
    table.write_text("x,t,u\n0.25,0.5,7\n")
    (group,) = fields_data(pinn.load(tmp_path / "solution.npz"))
    assert group["unknowns"][0]["measured"] is None


def test_numbers_beyond_float32_are_infinite_and_give_no_warning():
    assert unpacked(packed(np.array([1e300, -1e300, np.nan])), 3)[:2].tolist() == [np.inf, -np.inf]


def test_thinning_keeps_a_curve_to_the_tolerance():
    angle = np.linspace(0, 2 * np.pi, 4001)
    curve = np.stack([3 * np.cos(angle), np.sin(angle)], axis=1)
    found = thinned(curve, np.array([1e-3, 1e-3]))
    assert len(found) < 200
    assert np.array_equal(found[[0, -1]], curve[[0, -1]])
    # The furthest that any point of the curve lies from the polygon that is left.
    start, step = found[:-1, None], np.diff(found, axis=0)[:, None]
    share = ((curve - start) * step).sum(-1) / (step**2).sum(-1)
    near = start + np.clip(share, 0, 1)[..., None] * step
    assert np.hypot(*(curve - near).T).T.min(axis=0).max() <= 1.001e-3
