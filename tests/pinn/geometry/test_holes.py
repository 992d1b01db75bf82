"""Shapes know their holes: where they are, and how large a circle or ball fits in."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import pinn
from pinn.expressions import evaluate, parse
from pinn.geometry.densities import density_around
from pinn.geometry.facets import Facets
from pinn.geometry.holes import holes_of

SQUARE = pinn.Interval("x", -1, 1) * pinn.Interval("y", -1, 1)
CUBE = SQUARE * pinn.Interval("z", -1, 1)
DISK = pinn.Disk((0.2, 0.1), 0.3)


def found(domain):
    return [(hole.center, hole.radius) for hole in domain.holes]


@pytest.mark.parametrize(("domain", "holes"), [
    (SQUARE - DISK, [((0.2, 0.1), 0.3)]),
    (SQUARE - pinn.Disk((0.7, 0), 0.295), [((0.7, 0), 0.295)]),
    (SQUARE - DISK - pinn.Disk((-0.5, -0.5), 0.2), [((0.2, 0.1), 0.3), ((-0.5, -0.5), 0.2)]),
    (SQUARE - (DISK | pinn.Disk((-0.5, -0.5), 0.2)), [((0.2, 0.1), 0.3), ((-0.5, -0.5), 0.2)]),
    (pinn.Disk() - pinn.Disk((0.4, 0.0), 0.3, name="inner"), [((0.4, 0.0), 0.3)]),
    (CUBE - pinn.Ball((0, 0.1, 0), 0.3), [((0.0, 0.1, 0.0), pytest.approx(0.3, rel=1e-9))]),
    ((SQUARE - DISK) * pinn.Time("t", 0, 1), [((0.2, 0.1), 0.3)]),
    ((SQUARE - DISK).moved(1, -2), [((1.2, -1.9), 0.3)]),
    ((SQUARE - DISK).rotated(np.pi / 2), [((-0.1, 0.2), 0.3)]),
    ((SQUARE - DISK).named("plate"), [((0.2, 0.1), 0.3)]),
    ((SQUARE - DISK) & pinn.Disk((0, 0), 0.9), [((0.2, 0.1), 0.3)]),
    ((SQUARE - DISK) | pinn.Disk((2, 0), 1.2), [((0.2, 0.1), 0.3)]),
])  # fmt: skip
def test_what_is_taken_out_of_the_middle_is_a_hole(domain, holes):
    assert found(domain) == holes


@pytest.mark.parametrize("domain", [
    SQUARE, pinn.Disk(), pinn.Interval("x", 0, 1) - pinn.Interval("x", 0.4, 0.6),
    SQUARE - pinn.Disk((1, 0), 0.3), (SQUARE - DISK) | pinn.Disk((0.2, 0.1), 0.4),
    SQUARE - pinn.Box(pinn.Interval("x", -0.2, 0.2), pinn.Interval("y", -1, 0)),
    SQUARE - pinn.Disk((0.7123, 0.2), 1 - 0.7123), pinn.Disk() - pinn.Disk((0.3, 0.4), 0.5),
], ids=repr)  # fmt: skip
def test_a_notch_and_what_is_filled_again_are_none(domain):
    assert domain.holes == ()


def test_what_is_taken_away_from_elsewhere_is_idle():
    away, other = pinn.Disk((5, 5), 0.3, name="away"), pinn.Disk((3, 0), 0.4)
    domain = (SQUARE - DISK - away).moved(1, 0) * pinn.Time("t", 0, 1)
    assert domain.idle == (away,) and (SQUARE - DISK).idle == ()
    assert ((SQUARE - away) | (pinn.Disk((3, 0), 1) - other)).idle == (away,)
    with pytest.raises(ValueError, match="away takes nothing away: it lies outside"):
        domain.select("away")


def test_the_middle_of_a_crooked_hole_is_where_there_is_room():
    crooked = pinn.Polygon([(0, 0), (0.6, 0), (0.6, 0.2), (0.2, 0.2), (0.2, 0.6), (0, 0.6)])
    ((center, radius),) = found(SQUARE - crooked)
    assert crooked.contains(np.array([center])).all()
    assert 0.09 < radius <= crooked.distance(np.array([center]))[0] + 1e-3


def test_an_island_has_no_middle_in_the_hole():
    ring = pinn.Disk(radius=0.6) - pinn.Disk(radius=0.3, name="inner")
    ((center, radius),) = found(SQUARE - ring)
    assert 0.3 < np.hypot(*center) < 0.6 and radius <= 0.15 + 1e-3


def outline(*corners):
    corners = np.array(corners, float)
    return np.stack([corners, np.roll(corners, -1, axis=0)], axis=1)


def test_a_boundary_of_segments_has_those_parts_that_turn_inward():
    outer = outline((0, 0), (4, 0), (4, 4), (0, 4))
    inner = outline((1, 1), (1, 2), (2, 2), (2, 1))
    (hole,) = holes_of(("x", "y"), Facets(np.concatenate([outer, inner])))
    assert hole.center == (1.5, 1.5) and hole.radius == pytest.approx(0.5, abs=1e-3)
    assert list(holes_of(("x", "y"), Facets(outer))) == []


def cube(low, high, inward=False):
    """The 12 triangles of a cube, counterclockwise as seen from outside."""
    triangles = []
    for axis, side in itertools.product(range(3), (0, 1)):
        ends = np.array(list(itertools.product((0, 1), repeat=2)))[[0, 1, 3, 2]]
        face = np.insert(ends, axis, side, axis=1)
        if np.cross(face[1] - face[0], face[2] - face[1])[axis] * (2 * side - 1) < 0:
            face = face[::-1]
        triangles += [face[[0, 1, 2]], face[[0, 2, 3]]]
    corners = low + (high - low) * np.array(triangles, float)
    return corners[:, ::-1] if inward else corners


def test_a_hollow_of_triangles_is_a_hole():
    facets = Facets(np.concatenate([cube(0.0, 4.0), cube(1.0, 2.0, inward=True)]))
    (hole,) = holes_of(("x", "y", "z"), facets)
    assert hole.center == (1.5, 1.5, 1.5) and hole.radius == pytest.approx(0.5, abs=0.02)


def test_a_mesh_with_a_hole_has_it(tmp_path):
    meshio = pytest.importorskip("meshio")
    axis = np.arange(5) - 2.0
    points = np.stack(np.meshgrid(axis, axis, indexing="ij"), axis=-1).reshape(-1, 2)
    place = np.arange(25).reshape(5, 5)
    corner = [place[:-1, :-1], place[1:, :-1], place[1:, 1:], place[:-1, 1:]]
    quads = np.stack([one.reshape(-1) for one in corner], axis=1)
    quads = quads[(np.abs(points[quads].mean(axis=1)) > 1).any(axis=1)]
    used, again = np.unique(quads, return_inverse=True)
    path = tmp_path / "ring.vtk"
    meshio.write(path, meshio.Mesh(
        np.column_stack([points[used], np.zeros(len(used))]), [("quad", again.reshape(-1, 4))]
    ))  # fmt: skip
    ((center, radius),) = found(pinn.Mesh(str(path)))
    assert center == (0.0, 0.0) and radius == pytest.approx(1.0, abs=1e-3)


@pytest.mark.parametrize("domain", [SQUARE - DISK, CUBE - pinn.Ball((0.1, 0, -0.2), 0.2)])
def test_half_of_the_points_lie_around_holes_at_all_scales(domain):
    """The mean of what is added to 1, where it is: all over the domain."""
    (hole,) = domain.holes
    text = density_around(domain.holes, domain.bounds)
    points = domain.from_unit(np.random.default_rng(0).random((200_000, len(hole.names))))
    points = points[~np.isnan(points).any(axis=1)]
    columns = dict(zip(hole.names, points.T, strict=True))
    density = evaluate(parse(text), columns)
    assert 1.6 < density.mean() < 2.2
    distance = np.linalg.norm(points - hole.center, axis=1)
    rings = np.geomspace(hole.radius, 0.7, 4)
    near = [
        (density[(low < distance) & (distance < high)] - 1).sum()
        for low, high in itertools.pairwise(rings)
    ]
    assert max(near) < 1.1 * min(near)


def test_without_holes_there_is_no_density():
    assert density_around((), SQUARE.bounds) is None
