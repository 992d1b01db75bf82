"""A shape written by a user, in one class: everything works with it."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pytest

import pinn
from pinn.evaluation.test_grid import test_points as points_of
from pinn.figures import figure_png, plot_slices
from pinn.geometry import TOLERANCE, Part, Shape
from pinn.residuals import Boundary, End, Interior, Start
from pinn.sampling import LATTICES, METHODS, stream
from pinn.training.experiment import Experiment


@dataclass(frozen=True)
class Disk(Shape):
    """The points of a circle and inside of it."""

    radius: float = 1.0
    centre: tuple[float, float] = (0.0, 0.0)
    names: tuple[str, str] = ("x", "y")
    name: str = "rim"

    @property
    def bounds(self) -> Mapping[str, tuple[float, float]]:
        pairs = zip(self.names, self.centre, strict=True)
        return {name: (c - self.radius, c + self.radius) for name, c in pairs}

    def contains(self, points: np.ndarray, tolerance: float = TOLERANCE) -> np.ndarray:
        return np.hypot(*(points - self.centre).T) <= self.radius * (1 + 2 * tolerance)

    @property
    def parts(self) -> tuple[Part, ...]:
        return (Part(self.name, measure=2 * np.pi * self.radius),)

    def on_part(self, part: Part, unit: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        angle = 2 * np.pi * unit[:, 0]
        outward = np.stack([np.cos(angle), np.sin(angle)], axis=1)
        return np.array(self.centre) + self.radius * outward, outward


DISK = Disk(2.0, (1.0, 0.0))
TIME, Z = pinn.Time("t", 0, 1), pinn.Interval("z", 0, 3)
RANDOM = [name for name in METHODS if name not in LATTICES]


def off(points):
    """How far from the disk's centre points are."""
    return np.hypot(points[:, 0] - 1, points[:, 1])


def test_what_follows_from_the_four():
    assert DISK.coordinates == DISK.space == ("x", "y") and DISK.time is None
    # Counted on 2^18 points.
    assert DISK.measure == pytest.approx(4 * np.pi, rel=3e-4)
    assert DISK == Disk(2.0, (1.0, 0.0)) != Disk() and hash(DISK) == hash(Disk(2.0, (1.0, 0.0)))
    with pytest.raises(TypeError, match="a Disk gives no distance to its boundary"):
        DISK.distance(np.zeros((1, 2)))
    with pytest.raises(ValueError, match="no face 'hole' in this domain; faces: rim"):
        DISK.select("hole")


@pytest.mark.parametrize("method", RANDOM)
def test_interior_points_are_even(method):
    points = DISK.sample_interior(2000, METHODS[method], stream(0, "a"))
    assert points.shape == (2000, 2) and DISK.contains(points, 0.0).all()
    # Rings of equal areas, then sectors of equal angles; four standard deviations.
    for values, edges in (
        ((off(points) / 2) ** 2, np.linspace(0, 1, 5)),
        (np.arctan2(points[:, 1], points[:, 0] - 1), np.linspace(-np.pi, np.pi, 5)),
    ):
        counts, _ = np.histogram(values, edges)
        assert np.abs(counts - 500).max() < 4 * np.sqrt(2000 * 3 / 16)


def test_its_boundary_in_a_product_keeps_its_name_and_gets_normals():
    domain = TIME * DISK * Z
    assert domain.coordinates == ("t", "x", "y", "z") and domain.space == ("x", "y", "z")
    assert [part.label for part in domain.parts] == ["rim", "z_low", "z_high"]
    assert [p.measure for p in domain.parts] == pytest.approx(
        [12 * np.pi, 4 * np.pi, 4 * np.pi], rel=1e-3
    )
    points, normals = domain.sample_boundary(
        domain.parts, 1000, METHODS["latin-hypercube"], stream(0, "a")
    )
    assert points.shape == (1000, 4) and normals.shape == (1000, 3)
    assert domain.contains(points).all()
    np.testing.assert_allclose(np.linalg.norm(normals, axis=1), 1.0, rtol=1e-12)
    rim = normals[:, 2] == 0
    assert rim.sum() == pytest.approx(600, abs=1)
    np.testing.assert_allclose(off(points[rim, 1:]), 2, rtol=1e-12)
    np.testing.assert_allclose(normals[rim, 0], (points[rim, 1] - 1) / 2, atol=1e-12)
    for z, sign in ((0, -1), (3, 1)):
        lid = points[:, 3] == z
        assert lid.sum() == pytest.approx(200, abs=1)
        assert (normals[lid] == [0, 0, sign]).all()
        # All over the lid, not only near its rim.
        assert (off(points[lid, 1:]) < np.sqrt(2)).mean() == pytest.approx(0.5, abs=0.15)


def test_a_product_takes_one_sequence_for_all_its_coordinates():
    def miss(method):
        points = (DISK * TIME).sample_interior(1000, METHODS[method], stream(0, "a"))
        # Time against the square of the radius: both even, and neither knows of the other.
        values = np.stack([points[:, 2], (off(points) / 2) ** 2], axis=1)
        counts, *_ = np.histogram2d(*values.T, bins=4, range=[(0, 1), (0, 1)])
        return np.std(counts)

    assert miss("sobol") < 0.5 * miss("uniform")


def test_pieces_of_its_boundary():
    parts = DISK.select("x < 0")
    assert parts[0].measure == pytest.approx(4 * np.pi / 3, rel=2e-3)
    points, normals = DISK.sample_boundary(parts, 300, METHODS["sobol"], stream(0, "a"))
    assert len(points) == 300 and (points[:, 0] < 0).all()
    np.testing.assert_allclose(points, [1.0, 0.0] + 2 * normals, atol=1e-12)
    assert len((DISK * Z).select("normal_y > 0")) == 1


@pytest.mark.parametrize("method", METHODS)
def test_sources(method):
    domain = DISK * TIME
    sampling = pinn.Sampling(interior=200, boundary=60, initial=50, method=method, candidates=500)
    at = {
        source: source.draw(sampling, stream(0, "a"))
        for source in (
            Interior(domain), Start(domain), End(domain),
            Boundary(domain, domain.parts), Boundary(domain, domain.parts, normals=True),
        )
    }  # fmt: skip
    inside, start, end, plain, rim = at.values()
    assert all((off(points.coordinates) <= 2 + 1e-9).all() for points in at.values())
    assert (start.coordinates[:, 2] == 0).all() and (end.coordinates[:, 2] == 1).all()
    if method not in LATTICES:
        assert [len(points) for points in at.values()] == [200, 50, 50, 60, 60]
    assert plain.columns == {} and plain.coordinates.tobytes() == rim.coordinates.tobytes()
    assert list(rim.columns) == ["normal_x", "normal_y"]
    np.testing.assert_allclose(rim.columns["normal_x"], (rim.coordinates[:, 0] - 1) / 2, atol=1e-12)
    candidates = Interior(domain).draw(sampling.uniform(500), stream(0, "a"))
    assert len(candidates) == 500 and domain.contains(candidates.coordinates).all()


def test_a_grid_in_many_coordinates_is_refused_before_anything_is_drawn():
    box = pinn.Box(*(pinn.Interval(f"x{i}", 0, 1) for i in range(50)))
    with pytest.raises(ValueError, match="along each of 11 coordinates at most, .* has 50; take"):
        Interior(box).draw(pinn.Sampling(2500, method="grid"), stream(0, "a"))


@pytest.mark.parametrize(
    ("domain", "least"), [(DISK, 25_000), (DISK * TIME, 22_000), (Disk() * Z * TIME, 18_000)]
)
def test_test_points_lie_inside(domain, least):
    points = points_of(domain)
    assert domain.contains(points).all() and least < len(points) < 30_000
    np.testing.assert_array_equal(points, points_of(domain))


def test_a_thin_shape_is_tested_inside_as_well():
    @dataclass(frozen=True)
    class Ring(Disk):
        def contains(self, points, tolerance=TOLERANCE):
            from_rim = np.abs(np.hypot(*(points - self.centre).T) - self.radius)
            return super().contains(points, tolerance) & (from_rim < 4e-3)

    points = points_of(Ring())
    assert len(points) == 26_000 and Ring().contains(points).all()


@pytest.mark.parametrize("adaptive", [None, "rad"])
def test_poisson_on_it_is_solved(adaptive):
    # -laplacian(u) = 4 with u = 0 on the rim of the unit disk: u = 1 - x^2 - y^2.
    problem = pinn.Problem(
        Disk(), ["u"], {"poisson": "laplacian(u) + 4"}, [pinn.Dirichlet("u", 0)],
        reference={"u": "1 - x**2 - y**2"},
    )  # fmt: skip
    solution = pinn.solve(
        problem,
        model=pinn.MLP(width=10, depth=2),
        sampling=pinn.Sampling(
            interior=200, boundary=80, redraw=50, adaptive=adaptive, candidates=1000
        ),
        training=[pinn.Adam(steps=100, learning_rate=1e-2), pinn.SSBroyden(steps=150)],
    )
    errors = solution.errors()
    assert errors.rel_l2["u"] < 1e-2
    assert errors.max_error["u"] < 3e-2
    assert [r.name for r in problem.residuals] == ["poisson", "dirichlet_u"]
    data = solution.field_data("u")
    grid = np.stack(np.meshgrid(*data.coordinates.values(), indexing="ij"), axis=-1)
    np.testing.assert_array_equal(data.inside, np.hypot(*np.moveaxis(grid, -1, 0)) <= 1 + 2e-9)
    np.testing.assert_array_equal(np.isnan(data.values), ~data.inside)
    assert data.rel_l2() == pytest.approx(errors.rel_l2["u"], rel=0.05)
    for figure in (solution.plot(), solution.plot("u", y=0.5), plot_slices(data)):
        assert len(figure_png(figure, dpi=30)) > 1000


def test_time_on_it():
    problem = pinn.Problem(
        DISK * TIME, ["u"], {"heat": "u_t - laplacian(u)"},
        [pinn.Initial("u", "x"), pinn.Dirichlet("u", "x", on="rim")],
    )  # fmt: skip
    drawn = Experiment(problem).draw_points()
    assert {name: len(points) for name, points in drawn.items()} == {
        "heat": 2500, "initial_u": 100, "dirichlet_u_rim": 200,
    }  # fmt: skip
    np.testing.assert_allclose(off(drawn["dirichlet_u_rim"].coordinates), 2, rtol=1e-12)
    assert (drawn["initial_u"].coordinates[:, 2] == 0).all()


def test_a_cut_through_a_cylinder_is_round_or_square():
    problem = pinn.Problem(
        DISK * Z, ["u"], {"laplace": "laplacian(u)"}, [pinn.Dirichlet("u", "z")]
    )
    solution = pinn.solve(
        problem,
        model=pinn.MLP(width=4, depth=1),
        sampling=pinn.Sampling(interior=50, boundary=50),
        training=[pinn.Adam(steps=2)],
    )
    round_, square = solution.field_data("u"), solution.field_data("u", y=0)
    assert round_.fixed == {"z": 1.5} and round_.inside.mean() == pytest.approx(np.pi / 4, rel=0.01)
    assert list(square.coordinates) == ["x", "z"] and square.inside.all()
    # Cells are squares: 4 wide, 3 high.
    assert square.values.shape == (296, 222)


def test_products_that_make_no_sense_are_refused():
    with pytest.raises(ValueError, match="repeated: x, y"):
        DISK * Disk(3.0)
    with pytest.raises(ValueError, match="each part of the boundary .* repeated: rim"):
        DISK * Disk(names=("v", "w"))
    with pytest.raises(ValueError, match="rim is no part of the boundary of"):
        (pinn.Interval("x", 0, 1) * TIME).sample_part(
            DISK.parts[0], 5, METHODS["uniform"], stream(0, "a")
        )


def test_a_shape_that_cannot_be_hashed_is_refused_in_one_sentence():
    class Loose(Disk):
        def __eq__(self, other):
            return self is other

    for make in (lambda: pinn.Problem(Loose(), ["u"], {"e": "u"}), lambda: Loose() * TIME):
        with pytest.raises(TypeError, match="Loose cannot; make it a dataclass with frozen=True"):
            make()
