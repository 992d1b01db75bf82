"""VTK's files, read again by VTK itself and by meshio."""

import xml.etree.ElementTree as ET

import numpy as np
import pytest

from pinn.export.cells import Cells
from pinn.export.vtk import image_text, structured_text, unstructured_text, write_series

AXES = [np.linspace(0, 1, 3), np.linspace(-1, 1, 5), np.linspace(2, 2.5, 2)]


def field(d):
    """A value that tells every node from every other, and vectors."""
    nodes = np.meshgrid(*AXES[:d], indexing="ij")
    values = sum(10.0**k * node for k, node in enumerate(nodes))
    return {"u": values, "flow": np.stack([values, -values, 2 * values], axis=-1)}


def read(text, path):
    pyvista = pytest.importorskip("pyvista")
    path.write_text(text)
    return pyvista.read(path)


def at_points(mesh, d):
    return sum(10.0**k * mesh.points[:, k] for k in range(d))


@pytest.mark.parametrize("d", [1, 2, 3])
@pytest.mark.parametrize(("text", "suffix"), [(image_text, ".vti"), (structured_text, ".vts")])
def test_grids_have_their_values_at_their_points(tmp_path, d, text, suffix):
    mesh = read(text(AXES[:d], field(d), 0.25), tmp_path / f"grid{suffix}")
    assert mesh.n_points == np.prod([len(axis) for axis in AXES[:d]])
    want = at_points(mesh, d)
    np.testing.assert_allclose(mesh["u"], want, rtol=1e-14, atol=1e-14)
    np.testing.assert_allclose(mesh["flow"], np.stack([want, -want, 2 * want], 1), atol=1e-13)
    assert mesh.field_data["TimeValue"] == [0.25]
    bounds = [end for axis in AXES[:d] for end in (axis[0], axis[-1])]
    assert mesh.bounds[: 2 * d] == pytest.approx(bounds)


MESH = Cells(
    np.array([[0, 0], [1, 0], [1, 1], [0, 1], [2, 0.5]], dtype=float),
    {"quad": np.array([[0, 1, 2, 3]]), "triangle": np.array([[1, 4, 2]])},
)
ON_MESH = {"u": MESH.points @ [1.0, 10.0], "flow": np.ones((5, 3))}


def test_meshes_are_read_by_vtk(tmp_path):
    mesh = read(unstructured_text(MESH, ON_MESH), tmp_path / "mesh.vtu")
    assert mesh.n_cells == 2
    assert mesh.compute_cell_sizes()["Area"] == pytest.approx([1.0, 0.5])
    np.testing.assert_array_equal(mesh["u"], at_points(mesh, 2))


def test_meshes_are_read_by_meshio(tmp_path):
    meshio = pytest.importorskip("meshio")
    (tmp_path / "mesh.vtu").write_text(unstructured_text(MESH, ON_MESH, 1.0))
    mesh = meshio.read(tmp_path / "mesh.vtu")
    np.testing.assert_array_equal(mesh.points[:, :2], MESH.points)
    np.testing.assert_array_equal(mesh.point_data["u"], ON_MESH["u"])
    np.testing.assert_array_equal(mesh.point_data["flow"], ON_MESH["flow"])
    assert {c.type: c.data.tolist() for c in mesh.cells} == {
        kind: cells.tolist() for kind, cells in MESH.cells.items()
    }


def test_a_series_names_its_files_from_where_it_lies(tmp_path):
    pieces = [(0.0, tmp_path / "a&b" / "one.vti"), (0.1, tmp_path / "a&b" / "two.vti")]
    write_series(tmp_path / "all.pvd", pieces)
    sets = ET.parse(tmp_path / "all.pvd").getroot().findall("./Collection/DataSet")
    assert [(one.get("timestep"), one.get("file")) for one in sets] == [
        ("0.0", "a&b/one.vti"), ("0.1", "a&b/two.vti"),
    ]  # fmt: skip


def test_names_are_escaped():
    text = image_text(AXES[:1], {'a"<b>&': np.zeros(3)})
    names = [one.get("Name") for one in ET.fromstring(text).iter("DataArray")]
    assert names == ['a"<b>&']
