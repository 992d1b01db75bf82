"""Meshes and surfaces from files, clouds of points: sizes, parts, points; damaged files."""

import builtins
import copy
import itertools
import math
import os
import pickle

import numpy as np
import pytest

import pinn
from pinn.config import load
from pinn.files import DamagedFile, write_npz
from pinn.sampling import METHODS, stream

meshio = pytest.importorskip("meshio")
trimesh = pytest.importorskip("trimesh")

LHS = METHODS["latin-hypercube"]


def drawn(seed=0):
    return LHS, stream(seed, "points")


def plate(path, n=8, groups=True):
    """The L shape [-1, 1]^2 without its upper right quarter, as triangles; Gmsh 2.2."""
    axis = np.linspace(-1, 1, 2 * n + 1)
    points = np.stack(np.meshgrid(axis, axis, indexing="ij"), axis=-1).reshape(-1, 2)
    place = np.arange(len(points)).reshape(2 * n + 1, 2 * n + 1)
    corner = [place[:-1, :-1], place[1:, :-1], place[1:, 1:], place[:-1, 1:]]
    quads = np.stack([one.reshape(-1) for one in corner], axis=1)
    middle = points[quads].mean(axis=1)
    quads = quads[~((middle > 0).all(axis=1))]
    triangles = np.concatenate([quads[:, [0, 1, 2]], quads[:, [2, 3, 0]]])
    lines = np.stack([place[0, :-1], place[0, 1:]], axis=1)  # x = -1
    used, again = np.unique(triangles, return_inverse=True)
    number = np.full(len(points), -1)
    number[used] = np.arange(len(used))
    cells = [("triangle", again.reshape(-1, 3)), ("line", number[lines])]
    tags = [np.full(len(triangles), 7), np.full(len(lines), 3)]
    mesh = meshio.Mesh(
        np.column_stack([points[used], np.zeros(len(used))]), cells,
        cell_data={"gmsh:physical": tags, "gmsh:geometrical": tags} if groups else {},
        field_data={"the inlet": np.array([3, 1]), "body": np.array([7, 2])} if groups else {},
    )  # fmt: skip
    meshio.write(path, mesh, "gmsh22", binary=False)
    return str(path)


def cube_mesh(path, n=3):
    """The unit cube, each small cube cut into the 6 tetrahedra along the ways through its edges."""
    place = np.arange((n + 1) ** 3).reshape((n + 1,) * 3)
    starts = np.argwhere(np.ones((n,) * 3))
    cells = []
    for order in itertools.permutations(range(3)):
        corners = np.cumsum([np.zeros(3, int), *np.eye(3, dtype=int)[list(order)]], axis=0)
        cells.append(np.stack([place[tuple((starts + one).T)] for one in corners], axis=1))
    points = np.argwhere(np.ones((n + 1,) * 3)) / n
    inner = ((points > 0) & (points < 1)).all(axis=1)
    points[inner] += 0.1 / n * stream(0, "mesh").standard_normal((inner.sum(), 3))
    meshio.write(path, meshio.Mesh(points, [("tetra", np.concatenate(cells))]))
    return str(path)


def test_a_mesh_in_a_plane(tmp_path):
    mesh = pinn.Mesh(plate(tmp_path / "part.msh"))
    assert mesh.coordinates == ("x", "y")
    assert mesh.bounds == {"x": (-1, 1), "y": (-1, 1)}
    assert mesh.measure == pytest.approx(3, rel=1e-12)
    assert [(part.label, part.owner) for part in mesh.parts] == [
        ("the_inlet", "mesh"), ("mesh", "mesh")
    ]  # fmt: skip
    assert [part.measure for part in mesh.parts] == pytest.approx([2, 6], rel=1e-12)
    points, normals = mesh.sample_part(mesh.part("the_inlet"), 100, *drawn())
    assert (points[:, 0] == -1).all() and (normals == [-1, 0]).all()
    points, normals = mesh.sample_boundary(mesh.select("x=0"), 100, *drawn())
    np.testing.assert_allclose(points[:, 0], 0, atol=1e-12)
    assert (points[:, 1] >= 0).all() and (normals == [1, 0]).all()
    points = mesh.sample_interior(3000, *drawn())
    assert len(points) == 3000 and not (points > 1e-12).all(axis=1).any()
    # Three squares of area 1, and in each the mean of a uniform distribution.
    for low in ((-1, -1), (0, -1), (-1, 0)):
        within = points[((points >= low) & (points < np.add(low, 1))).all(axis=1)]
        assert abs(len(within) - 1000) < 6 * math.sqrt(3000 * 2 / 9)
        np.testing.assert_allclose(within.mean(axis=0) - low, 0.5, atol=6 / math.sqrt(12 * 1000))
    tried = stream(1, "box").uniform(-1.2, 1.2, (500, 2))
    outline = pinn.Polygon([(0, 0), (1, 0), (1, -1), (-1, -1), (-1, 1), (0, 1)])
    np.testing.assert_array_equal(mesh.contains(tried), outline.contains(tried))
    np.testing.assert_allclose(mesh.distance(tried), outline.distance(tried), atol=1e-12)


def test_a_mesh_of_tetrahedra(tmp_path):
    mesh = pinn.Mesh(cube_mesh(tmp_path / "cube.vtu"), names=("a", "b", "c"), name="wall")
    cube = pinn.Interval("a", 0, 1) * pinn.Interval("b", 0, 1) * pinn.Interval("c", 0, 1)
    assert mesh.coordinates == ("a", "b", "c")
    assert mesh.measure == pytest.approx(1, rel=1e-9)
    assert [(p.label, p.measure) for p in mesh.parts] == [("wall", pytest.approx(6, rel=1e-9))]
    points = mesh.sample_interior(4000, *drawn())
    assert mesh.contains(points).all()
    np.testing.assert_allclose(points.mean(axis=0), 0.5, atol=6 / math.sqrt(12 * 4000))
    np.testing.assert_allclose(np.cov(points.T), np.eye(3) / 12, atol=6 / 12 / math.sqrt(4000))
    tried = stream(1, "box").uniform(-0.2, 1.2, (300, 3))
    np.testing.assert_array_equal(mesh.contains(tried), cube.contains(tried))
    np.testing.assert_allclose(mesh.distance(tried), cube.distance(tried), atol=1e-9)
    edge, normals = mesh.sample_boundary(mesh.parts, 200, *drawn())
    assert mesh.contains(edge).all() and not mesh.contains(edge + 1e-6 * normals).any()
    assert not mesh.contains(edge, -1e-6).any() and mesh.contains(edge - 1e-4 * normals).all()


@pytest.mark.parametrize("turned", [False, True])
def test_a_surface(tmp_path, turned):
    ball = trimesh.creation.icosphere(subdivisions=3, radius=2.0)
    ball.apply_translation([1, 0, 0])
    if turned:
        ball.invert()
    path = tmp_path / "ball.stl"
    ball.export(path)
    surface = pinn.Surface(str(path), name="skin")
    assert surface.measure == pytest.approx(abs(ball.volume), rel=1e-5)  # STL holds float32
    assert surface.part("skin").measure == pytest.approx(ball.area, rel=1e-5)
    points, normals = surface.sample_boundary(surface.parts, 500, *drawn())
    outward = (points - [1, 0, 0]) / np.linalg.norm(points - [1, 0, 0], axis=1, keepdims=True)
    assert (np.einsum("nd,nd->n", outward, normals) > 0.99).all()
    np.testing.assert_allclose(np.linalg.norm(normals, axis=1), 1, rtol=1e-12)
    assert surface.contains(points).all()
    points = surface.sample_interior(2000, *drawn())
    radius = np.linalg.norm(points - [1, 0, 0], axis=1)
    assert len(points) == 2000 and (radius < 2).all()
    tried = stream(1, "box").uniform([-2, -3, -3], [4, 3, 3], (300, 3))
    distance = 2 - np.linalg.norm(tried - [1, 0, 0], axis=1)
    found = surface.distance(tried)
    # An icosphere lies inside of its sphere by less than a hundredth of the radius.
    np.testing.assert_allclose(found, distance, atol=0.02)
    clear = np.abs(distance) > 0.02
    np.testing.assert_array_equal(surface.contains(tried)[clear], distance[clear] > 0)


def test_a_surface_with_sides_along_the_coordinates(tmp_path):
    path = tmp_path / "box.stl"
    trimesh.creation.box((2, 2, 2)).export(path)
    box = pinn.Surface(str(path))
    (side,) = box.select("z=1")
    assert side.measure == pytest.approx(4, rel=2e-2)
    points, normals = box.sample_part(side, 50, *drawn())
    np.testing.assert_allclose(points[:, 2], 1, rtol=1e-12)
    assert (normals == [0, 0, 1]).all()
    cut = box - pinn.Ball((0, 0, 0), 0.5, name="bubble")
    points, normals = cut.sample_part(cut.part("bubble"), 50, *drawn())
    np.testing.assert_allclose(normals, -2 * points, atol=1e-12)
    with pytest.raises(TypeError, match="a Surface has no formula that vanishes on its boundary"):
        box.distance_function()


@pytest.mark.parametrize("kind", [pinn.Mesh, pinn.Surface])
def test_files_that_cannot_be_read_are_refused_with_their_names(tmp_path, kind, capfd):
    suffix = {pinn.Mesh: ".msh", pinn.Surface: ".stl"}[kind]
    with pytest.raises(ValueError, match=rf"path: .*none\{suffix}: there is no such file"):
        kind(str(tmp_path / f"none{suffix}"))
    with pytest.raises(ValueError, match="part.pkl: expected a file that ends in"):
        kind(str(tmp_path / "part.pkl"))
    whole = tmp_path / f"whole{suffix}"
    if kind is pinn.Mesh:
        plate(whole)
    else:
        trimesh.creation.icosphere(subdivisions=1).export(whole)
    kind(str(whole))
    content = whole.read_bytes()
    broken = tmp_path / f"broken{suffix}"
    rng = stream(0, "damage")
    refused = 0
    for i in range(60):
        damaged = bytearray(content)
        if i % 3 == 0:
            damaged = damaged[: int(rng.integers(len(content)))]
        elif i % 3 == 1:
            for place in rng.integers(len(content), size=20):
                damaged[place] = int(rng.integers(256))
        else:
            damaged = bytearray(rng.integers(0, 256, 200, dtype=np.uint8).tobytes())
        broken.write_bytes(damaged)
        try:
            kind(str(broken))
        except ValueError as error:
            assert f"broken{suffix}: " in str(error)
            refused += 1
    assert refused > 30
    assert capfd.readouterr() == ("", "")


def test_surfaces_that_have_no_inside_are_refused(tmp_path):
    ball = trimesh.creation.icosphere(subdivisions=1)
    ball.update_faces(np.arange(len(ball.faces)) > 3)
    ball.export(tmp_path / "open.stl")
    with pytest.raises(ValueError, match="open.stl: its surface is not closed"):
        pinn.Surface(str(tmp_path / "open.stl"))
    sphere = trimesh.creation.icosphere(subdivisions=1)
    mesh = meshio.Mesh(sphere.vertices, [("triangle", sphere.faces)])
    mesh.write(tmp_path / "sphere.vtu")
    with pytest.raises(ValueError, match="do not lie in a plane .* use surface"):
        pinn.Mesh(str(tmp_path / "sphere.vtu"))
    bricks = meshio.Mesh(np.eye(8, 3), [("hexahedron", [list(range(8))])])
    bricks.write(tmp_path / "bricks.vtu")
    with pytest.raises(ValueError, match="bricks.vtu: expected tetrahedra, got hexahedron"):
        pinn.Mesh(str(tmp_path / "bricks.vtu"))


def test_a_missing_package_is_named(tmp_path, monkeypatch):
    path = plate(tmp_path / "part.msh")
    real = builtins.__import__

    def without(name, *rest):
        if name == "meshio":
            raise ModuleNotFoundError("No module named 'meshio'", name="meshio")
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ValueError, match=r'meshio, which is missing; pip install "pinn\[mesh\]"'):
        pinn.Mesh(path)


def test_shapes_of_files_are_values(tmp_path):
    mesh = pinn.Mesh(plate(tmp_path / "part.msh"))
    cloud = pinn.PointCloud(stream(0, "cloud").random((20, 2)))
    for shape in (mesh, cloud):
        for other in (copy.deepcopy(shape), pickle.loads(pickle.dumps(shape))):
            assert other == shape and hash(other) == hash(shape)
    assert repr(cloud) == "PointCloud(20 points)"


def ring(n=60, normals=True):
    angles = 2 * np.pi * np.arange(n) / n
    outward = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    inside = pinn.Disk().sample_interior(500, METHODS["sobol"], stream(0, "cloud"))
    return pinn.PointCloud(inside, outward, outward if normals else None)


@pytest.mark.parametrize("normals", [True, False])
def test_a_cloud_of_points_gives_its_own(normals):
    cloud = ring(normals=normals)
    points = cloud.sample_interior(500, *drawn())
    given = {tuple(row) for row in np.array(cloud.points).tolist()}
    assert {tuple(row) for row in points.tolist()} == given  # each once: one of 500 slabs
    few = cloud.sample_interior(100, *drawn())
    assert len({tuple(row) for row in few.tolist()} & given) == 100
    edge, outward = cloud.sample_boundary(cloud.parts, 60, *drawn())
    assert len({tuple(row) for row in edge.tolist()}) == 60
    np.testing.assert_allclose(outward, edge, atol=1e-12 if normals else 0.01)
    assert cloud.part("boundary").measure == pytest.approx(2 * math.pi, rel=1e-2)
    assert cloud.contains(np.concatenate([points, edge])).all()
    assert not cloud.contains(1.05 * edge).any()
    tried = stream(1, "box").uniform(-1.5, 1.5, (2000, 2))
    inside = np.hypot(*tried.T)
    clear = np.abs(inside - 1) > 0.01  # the sides of the polygon of 60 corners
    np.testing.assert_array_equal(cloud.contains(tried)[clear], inside[clear] < 1)
    assert cloud.measure == pytest.approx(math.pi, rel=2e-2)
    timed = cloud * pinn.Time("t", 0, 1)
    assert timed.sample_interior(300, *drawn()).shape == (300, 3)
    with pytest.raises(TypeError, match="a PointCloud has no formula"):
        cloud.distance_function()
    with pytest.raises(TypeError, match="gives no distance"):
        cloud.distance(points)


def test_a_cloud_without_a_boundary_has_no_parts():
    cloud = pinn.PointCloud(stream(0, "cloud").random((400, 3)), names=("a", "b", "c"))
    assert cloud.parts == () and cloud.coordinates == ("a", "b", "c")
    assert cloud.contains(np.array([[0.5, 0.5, 0.5], [2, 0, 0]])).tolist() == [True, False]
    with pytest.raises(ValueError, match="on: expected a part of the boundary"):
        cloud.select()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"points": [[1, 2], [3]]}, "points, one a row, all with as many numbers"),
        ({"points": [1, 2, 3]}, r"points, one a row, shape \(n, d\), got shape \(3,\)"),
        ({"points": [[0, 1], [math.nan, 1]]}, r"finite numbers, got \[nan, 1.0\] in row 1"),
        ({"points": [[1], [2]]}, "two numbers or more; use an interval"),
        ({"points": [[1, 2]]}, "8 points or more, got 1"),
        ({"points": np.eye(8, 2), "boundary": np.eye(8, 3)}, "boundary: expected 2 numbers a row"),
        ({"points": np.eye(8, 2), "normals": np.eye(8, 2)}, "for each of the 0 boundary points"),
        ({"points": np.ones((9, 2))}, "do not have a coordinate in common"),
    ],
)
def test_clouds_that_make_no_sense_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        pinn.PointCloud(**arguments)


# ---- saved


def loaded_again(tmp_path, shape, **point):
    """A solution that was saved, after the file of its shape is gone; its residuals too."""
    problem = pinn.Problem(shape, ["u"], {"e": "laplacian(u) + 1"}, [pinn.Dirichlet("u", 0)])
    solution = pinn.solve(
        problem, pinn.MLP(width=4, depth=1), pinn.Sampling(interior=20), [pinn.Adam(2)]
    )
    solution.save(tmp_path / "solution.npz")
    os.unlink(shape.path.file)
    again = pinn.load(tmp_path / "solution.npz")
    found, expected = (s.evaluate_anywhere(**point)["u"] for s in (again, solution))
    np.testing.assert_array_equal(found, expected)
    kept, drawn = (s.experiment.draw_points() for s in (solution, again))
    for name, points in kept.items():
        np.testing.assert_array_equal(drawn[name].coordinates, points.coordinates)
    assert again.problem.domain == shape and again.problem.domain.measure == shape.measure
    assert [p.label for p in again.problem.domain.parts] == [p.label for p in shape.parts]
    again.save(tmp_path / "again.npz")
    assert (tmp_path / "again.npz").read_bytes() == (tmp_path / "solution.npz").read_bytes()


def test_a_saved_solution_on_a_mesh_does_not_need_its_file(tmp_path):
    loaded_again(tmp_path, pinn.Mesh(plate(tmp_path / "part.msh")), x=-0.5, y=0.5)
    solid = pinn.Mesh(cube_mesh(tmp_path / "cube.vtu"), names=("a", "b", "c"), name="wall")
    loaded_again(tmp_path, solid, a=0.5, b=0.1, c=0.2)


def test_a_saved_solution_in_a_surface_does_not_need_its_file(tmp_path):
    ball = trimesh.creation.icosphere(subdivisions=1)
    ball.invert()
    ball.export(tmp_path / "ball.stl")
    loaded_again(tmp_path, pinn.Surface(str(tmp_path / "ball.stl")), x=0.5, y=0.1, z=0.2)


def test_arrays_of_a_solution_that_were_changed_are_noticed(tmp_path):
    problem = pinn.Problem(
        pinn.Mesh(plate(tmp_path / "part.msh")), ["u"], {"e": "laplacian(u)"},
        [pinn.Dirichlet("u", 0)],
    )  # fmt: skip
    arrays = pinn.solve(
        problem, pinn.MLP(width=4, depth=1), pinn.Sampling(interior=20), [pinn.Adam(1)]
    ).arrays()
    beside = [name for name in arrays if name.startswith("arrays/")]
    assert len(beside) == 2  # facets and cells; a group of 16 is written out
    write_npz(tmp_path / "changed.npz", {**arrays, beside[0]: arrays[beside[0]] + 1})
    with pytest.raises(DamagedFile, match="is not the one of digest"):
        pinn.load(tmp_path / "changed.npz")
    write_npz(tmp_path / "less.npz", {n: a for n, a in arrays.items() if n != beside[1]})
    with pytest.raises(DamagedFile, match="domain.*expected corners of"):
        pinn.load(tmp_path / "less.npz")


@pytest.mark.parametrize("kind", ["mesh", "surface"])
def test_a_file_is_seen_from_its_config_and_kept_as_it_was(kind, tmp_path, monkeypatch):
    folder = tmp_path / "here"
    folder.mkdir()
    name = {"mesh": "part.msh", "surface": "part.stl"}[kind]

    def write(size):
        if kind == "mesh":
            plate(folder / name, n=size)
        else:
            trimesh.creation.box((size, 2, 2)).export(folder / name)

    write(2)
    config = folder / "plate.yaml"
    config.write_text(
        f"problem: {{domain: {{{kind}: {name}}}, unknowns: [u], equations: {{e: laplacian(u)}},\n"
        "  conditions: [dirichlet: {unknown: u, value: 0}]}\n"
        "sampling: {interior: 20, boundary: 10}\ntraining: [adam: {steps: 1}]\n"
    )
    monkeypatch.chdir(tmp_path)
    loaded = load(config)
    shape = loaded.experiment.problem.domain
    assert shape == type(shape)(str(folder / name)) != type(shape)(str(folder / name), name="rim")
    with pytest.warns(pinn.ProblemWarning):
        solution = pinn.solve(loaded.experiment.problem, pinn.MLP(3, 1),
                              loaded.experiment.sampling, loaded.experiment.training)
    solution.save(tmp_path / "solution.npz")
    (tmp_path / "again.yaml").write_text(loaded.text())
    monkeypatch.chdir(folder)
    middle = {axis: 0.1 for axis in shape.coordinates}
    found = pinn.load(tmp_path / "solution.npz")
    assert found.evaluate_anywhere(**middle) == solution.evaluate_anywhere(**middle)
    assert load(tmp_path / "again.yaml").experiment.problem.domain == shape
    write(3)
    assert pinn.load(tmp_path / "solution.npz").problem.domain == shape
    assert type(shape)(str(folder / name)) != shape


def test_the_points_of_a_cloud_may_come_many_times():
    """As the corners of triangles do, of which each is the corner of several."""
    inside = stream(0, "inside").random((400, 2))
    walk = np.linspace(0, 1, 41)[:-1]
    side = np.stack([walk, np.zeros(40)], axis=1)
    turns = [np.linalg.matrix_power([[0, -1], [1, 0]], k) for k in range(4)]
    edge = np.concatenate([0.5 + (side - 0.5) @ turn for turn in turns])
    once = pinn.PointCloud(inside, edge)
    often = pinn.PointCloud(np.repeat(inside, 3, axis=0), np.repeat(edge, 2, axis=0))
    tried = stream(1, "box").uniform(-0.2, 1.2, (500, 2))
    assert 150 < once.contains(tried).sum() < 400
    np.testing.assert_array_equal(often.contains(tried), once.contains(tried))
    assert often.parts == once.parts
    for one, other in zip(
        once.sample_boundary(once.parts, 30, *drawn()),
        often.sample_boundary(often.parts, 30, *drawn()), strict=True,
    ):  # fmt: skip
        np.testing.assert_array_equal(other, one)
