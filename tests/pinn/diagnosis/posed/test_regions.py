"""Regions without a point, and coordinates that a precision does not resolve."""

import re

import numpy as np
import pytest

import pinn
from pinn.diagnosis import preflight
from pinn.training.experiment import Experiment

SQUARE = pinn.Interval("x", 0, 1) * pinn.Interval("y", 0, 1)
FEW = pinn.Sampling(interior=40, boundary=20)


def said(domain=SQUARE, precision="float64", **changes):
    names = "*".join(["1", *changes.get("piecewise", {})])
    problem = pinn.Problem(
        domain, ["u"], {"e": f"({names})*laplacian(u) + 1"}, [pinn.Dirichlet("u", 0.0)], **changes
    )
    return preflight(Experiment(problem, pinn.MLP(4, 1), FEW, precision=precision).objective())


@pytest.mark.parametrize("region", ["x > a", "x**2 + y**2 > 4 or y < -x", pinn.Disk((5, 5), 0.3)])
def test_a_region_without_a_point_is_told(region):
    (sentence,) = said(regions={"far": region, "near": "x < a/2"}, constants={"a": 1.5})
    assert sentence.startswith(
        "the region 'far' has no point of the domain (x in [0, 1], y in [0, 1])"
    )


def test_a_shape_that_is_taken_away_from_elsewhere_is_told():
    (sentence,) = said(SQUARE - pinn.Disk((5, 5), 0.2, name="pipe"))
    assert sentence.startswith("the disk 'pipe' takes nothing away: it lies outside")
    assert said(SQUARE - pinn.Disk((0.5, 0.5), 0.2, name="pipe")) == []


def test_a_region_that_points_hardly_meet_is_not_said_to_be_empty():
    (sentence,) = said(regions={"tiny": "hypot(x - 0.5, y - 0.5) < 0.002"})
    share = float(re.search(r"'tiny' is (\S+) of the domain", sentence)[1])
    assert share == pytest.approx(np.pi * 0.002**2, rel=0.3)
    assert "about 0.1, that what it stands for hardly counts" in sentence
    assert said(regions={"small": "hypot(x - 0.5, y - 0.5) < 0.05"}) == []


def test_a_region_that_others_cover_is_told_where_it_never_counts():
    regions = {"left": "x < 0.5", "corner": "x < 0.2 and y < 0.2", "right": "x > 0.4"}
    values = {"left": 1, "corner": 2, "right": 3, "elsewhere": 4}
    (sentence,) = said(regions=regions, piecewise={"k": values})
    assert sentence.startswith(
        "of 'k' the value for the region 'corner' never counts: it lies in 'left', which comes"
    )
    values = {"corner": 2, "left": 1, "right": 3, "elsewhere": 4}
    assert said(regions=regions, piecewise={"k": values}) == []


def test_nothing_is_said_of_regions_that_have_points():
    holed = SQUARE - pinn.Disk((0.5, 0.5), 0.2)
    assert said(holed, regions={"thin": "0.5 < x < 0.51", "hole": pinn.Disk((0.2, 0.2), 0.1)}) == []
    # Nobody knows where an unknown is positive.
    assert said(regions={"wet": "u > 1000"}) == []


def test_a_coordinate_that_the_precision_does_not_resolve_is_told():
    far = pinn.Interval("x", 1e6, 1e6 + 1) * pinn.Interval("y", 0, 1)
    (sentence,) = said(far, "float32")
    assert sentence.startswith("float32 has only about 8 numbers between x = 1000000 and 1000001")
    steps = np.unique(np.linspace(1e6, 1e6 + 1, 1000).astype(np.float32)).size
    assert 8 <= steps <= 17  # from one number to the next is eps or half of it
    assert said(far) == [] and said(precision="float32") == []
