"""Shapes know where they turn inward: how wide they are there, and what lies behind."""

from __future__ import annotations

import math

import numpy as np
import pytest

import pinn
from pinn.geometry.corners import corner_at, corners_of_facets, ends_of
from pinn.geometry.facets import Facets


def box(x, y):
    return pinn.Interval("x", *x) * pinn.Interval("y", *y)


SQUARE = box((-1, 1), (-1, 1))
ELL = pinn.Polygon([(0, 0), (1, 0), (1, -1), (-1, -1), (-1, 1), (0, 1)])


def found(domain):
    return sorted((one.at, math.degrees(one.angle)) for one in domain.inward_corners)



@pytest.mark.parametrize(("domain", "corners"), [
    (ELL, [((0, 0), 270)]),
    (SQUARE - box((0, 2), (0, 2)), [((0, 0), 270)]),
    (box((0, 2), (0, 1)) | box((0, 1), (0, 2)), [((1, 1), 270)]),
    (SQUARE - box((-0.5, 0.5), (-0.2, 0.2)),
     [((-0.5, -0.2), 270), ((-0.5, 0.2), 270), ((0.5, -0.2), 270), ((0.5, 0.2), 270)]),
    (SQUARE - pinn.Triangle((0, 0), (0.5, 0), (0, 0.5)),
     [((0, 0), 270), ((0, 0.5), 315), ((0.5, 0), 315)]),
    (SQUARE & ELL.moved(0.5, 0), [((0.5, 0), 270)]),
    (pinn.Disk((-0.5, 0), 1) | pinn.Disk((0.5, 0), 1),
     [((0, -math.sqrt(0.75)), 240), ((0, math.sqrt(0.75)), 240)]),
])  # fmt: skip
def test_where_domains_turn_inward(domain, corners):
    assert found(domain) == [(pytest.approx(at, abs=1e-6), pytest.approx(angle, abs=1e-3))
                             for at, angle in corners]  # fmt: skip


@pytest.mark.parametrize("domain", [
    SQUARE, pinn.Disk(), SQUARE - pinn.Disk(radius=0.3), SQUARE & pinn.Disk((1, 1), 1.5),
    SQUARE - pinn.Disk((0, 1), 0.3), pinn.Triangle((0, 0), (1, 0), (0, 1)),
    SQUARE - pinn.Polygon([(0.3 * math.cos(t), 0.3 * math.sin(t))
                           for t in np.arange(24) * math.pi / 12]),
    SQUARE * pinn.Interval("z", 0, 1), pinn.Interval("x", 0, 1) * pinn.Time("t", 0, 1),
])  # fmt: skip
def test_where_nothing_turns_inward(domain):
    assert domain.inward_corners == ()


@pytest.mark.parametrize("domain", [ELL, SQUARE - box((0, 2), (0, 2))])
def test_corners_turn_and_move_with_their_shape(domain):
    (corner,) = domain.rotated(0.3).moved(2, 1).named("wall").inward_corners
    assert corner.at == pytest.approx((2, 1))
    away = np.subtract(corner.pole, corner.at)
    assert math.atan2(*away[::-1]) == pytest.approx(math.pi / 4 + 0.3)


def test_products_have_the_corners_of_their_factors():
    for domain in (ELL * pinn.Time("t", 0, 1), pinn.Interval("z", 0, 1) * ELL):
        (corner,) = domain.inward_corners
        assert corner.names == ("x", "y") and corner.at == (0, 0)


@pytest.mark.parametrize(("domain", "pole"), [
    (SQUARE - box((-0.5, 0.5), (-0.5, 0.5)), (0.0, 0.0)),
    (SQUARE - box((-0.5, 0.5), (-0.2, 0.2)), (-0.3, 0.0)),
    (SQUARE - box((-0.99, 0.99), (-0.99, 0.99)), (0.0, 0.0)),  # a frame with thin walls
])  # fmt: skip
def test_the_pole_of_a_corner_of_a_hole_lies_half_way_through_it(domain, pole):
    corner = min(domain.inward_corners, key=lambda one: one.at)
    assert corner.pole == pytest.approx(pole, abs=1e-9)
    assert corner.room == pytest.approx(math.dist(corner.at, pole))


def test_the_pole_of_a_corner_with_nothing_behind_lies_far_away():
    (corner,) = ELL.inward_corners
    assert corner.pole[0] == pytest.approx(corner.pole[1]) and corner.pole[0] > 100
    share = np.linspace(1e-6, 1, 100)[:, None]
    assert not ELL.contains(share * np.array(corner.pole), 0.0).any()


def test_the_pole_of_a_corner_in_a_slot_lies_along_it():
    for corner in (SQUARE - box((-0.01, 0.01), (0, 2))).inward_corners:
        assert corner.at[1] == 0 and corner.room > 0.1


@pytest.mark.parametrize("turn", np.arange(8) * math.pi / 180)
def test_the_angle_is_that_of_any_direction_also_between_bent_sides(turn):
    """Sectors that begin about the direction that angles are counted from."""
    domain = (pinn.Disk((-0.5, 0), 1) | pinn.Disk((0.5, 0), 1)).rotated(math.pi / 6 + turn)
    plain = pinn.Disk((-0.5 * math.cos(turn), -0.5 * math.sin(turn)), 1) | pinn.Disk(
        (0.5 * math.cos(turn), 0.5 * math.sin(turn)), 1
    )
    for one in (*domain.inward_corners, *plain.inward_corners):
        assert math.degrees(one.angle) == pytest.approx(240, abs=1e-3)


@pytest.mark.parametrize("width", [0.02, 0.002])
def test_a_crack_is_a_corner_of_360_degrees_but_for_its_width(width):
    (corner,) = (SQUARE - pinn.Triangle((0, 0), (2, width / 2), (2, -width / 2))).inward_corners
    assert corner.at == (0, 0)
    assert corner.angle == pytest.approx(2 * math.pi - 2 * math.atan(width / 4), abs=1e-6)


def test_boundaries_of_pieces_have_corners_but_for_curves():
    square = np.array([[0.3, 0.2], [0.3, -0.2], [-0.3, -0.2], [-0.3, 0.2]])
    outer = np.array([[1, 1], [-1, 1], [-1, -1], [1, -1]])
    angles = np.arange(60) * math.pi / 30
    ring = 0.1 * np.stack([np.cos(-angles), np.sin(-angles)], axis=1) + [0.7, 0.7]
    edges = [np.stack([one, np.roll(one, -1, axis=0)], axis=1) for one in (outer, square, ring)]
    boundary = Facets(np.concatenate(edges).astype(float))
    domain = SQUARE - box((-0.3, 0.3), (-0.2, 0.2))
    corners = corners_of_facets(domain, boundary)
    assert sorted(one.at for one in corners) == sorted(map(tuple, square.tolist()))


def test_a_point_of_a_straight_side_is_a_corner_of_180_degrees():
    corner = corner_at(SQUARE, np.array([0.2, -1.0]))
    assert corner.angle == pytest.approx(math.pi, abs=1e-9)
    assert corner.pole[0] == pytest.approx(0.2, abs=1e-6) and corner.pole[1] < -100


def test_where_parts_of_a_boundary_begin_and_end():
    (below,) = SQUARE.select("y=-1")
    (half,) = SQUARE.select("y=-1 and x < 0.25")
    assert sorted(ends_of(SQUARE, [below])[:, 0].tolist()) == [-1, 1]
    assert sorted(ends_of(SQUARE, [half])[:, 0].tolist()) == pytest.approx([-1, 0.25])
    domain = SQUARE - pinn.Disk((0, -1), 0.3)
    (left,) = domain.select("y=-1")
    assert sorted(ends_of(domain, [left])[:, 0]) == pytest.approx([-1, -0.3, 0.3, 1], abs=1e-6)
