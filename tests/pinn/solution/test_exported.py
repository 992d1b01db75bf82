"""Files for other programs: read again, they have what the solution evaluates to."""

import numpy as np
import pytest

import autograd as T
import pinn
from pinn.files import Columns
from pinn.solution import Report, Solution
from pinn.training.experiment import Experiment

pytestmark = pytest.mark.filterwarnings("ignore::pinn.ProblemWarning")

X, TIME = pinn.Interval("x", -1, 1), pinn.Time("t", 0, 0.5)
MODEL = pinn.MLP(width=5, depth=1)
REPORT = Report(
    "step limit", "", loss=1.0, losses={}, wall_seconds=1.0, steps=1, rel_l2={"u": 0.25},
    max_error={"u": 0.5},
)  # fmt: skip


def solution_of(domain, unknowns=("u",), equations=None, model=MODEL, **changes):
    """A solution that was never trained: its values are those of a network at random."""
    equations = equations or {name: f"laplacian({name})" for name in unknowns}
    run = Experiment(pinn.Problem(domain, unknowns, equations, **changes), model)
    return Solution(run, run.initial_parameters().theta, REPORT)


@pytest.fixture(scope="module")
def heat():
    return solution_of(
        X * TIME, equations={"heat": "u_t - u_xx"}, reference={"u": "exp(-t)*sin(pi*x)"}
    )


def pyvista():
    return pytest.importorskip("pyvista")


def at_points(solution, mesh, name="u", **held):
    space = solution.problem.domain.space
    return solution.evaluate(**dict(zip(space, mesh.points.T, strict=False)), **held)[name]


def test_csv_has_values_reference_and_signed_error(heat, tmp_path):
    assert heat.export(tmp_path / "a.csv", grid={"x": 4, "t": 3}) == [tmp_path / "a.csv"]
    table = Columns(path=tmp_path / "a.csv")
    assert table.names == ("x", "t", "u", "u_reference", "u_error")
    x, t, u, reference, error = (table.column(name) for name in table.names)
    assert len(x) == 12
    np.testing.assert_array_equal(u, heat.evaluate(x=x, t=t)["u"])
    np.testing.assert_allclose(reference, np.exp(-t) * np.sin(np.pi * x), atol=1e-15)
    np.testing.assert_array_equal(error, u - reference)


def test_one_number_is_that_of_the_points_in_each_coordinate(heat, tmp_path):
    heat.export(tmp_path / "a.csv", grid=5)
    heat.export(tmp_path / "b.csv", grid=dict.fromkeys(heat.problem.domain.coordinates, 5))
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()
    with pytest.raises(TypeError, match=r"grid: expected a number of points, or a mapping .*, got"):
        heat.export(tmp_path / "c.csv", grid=[5, 5])


def test_csv_has_the_points_in_the_domain_alone(tmp_path):
    disk = solution_of(pinn.Disk((0, 0), 1))
    disk.export(tmp_path / "a.csv", grid={"x": 9, "y": 9})
    table = Columns(path=tmp_path / "a.csv")
    x, y = table.column("x"), table.column("y")
    assert (x**2 + y**2 <= 1 + 1e-9).all() and 9 < len(x) < 81


def test_npz_and_netcdf_have_the_same_grid_with_nan_outside(tmp_path):
    from scipy.io import netcdf_file

    disk = solution_of(pinn.Disk((0, 0), 1) * TIME, equations={"heat": "u_t - laplacian(u)"})
    for name in ("a.npz", "a.nc"):
        disk.export(tmp_path / name, grid={"x": 5, "y": 5}, t=0.25)
    with np.load(tmp_path / "a.npz", allow_pickle=False) as found:
        assert {*found} == {"x", "y", "t", "u"}
        assert found["u"].shape == (5, 5) and found["t"] == 0.25
        nodes = np.meshgrid(found["x"], found["y"], indexing="ij")
        inside = np.hypot(*nodes) <= 1 + 1e-9
        want = disk.evaluate_anywhere(x=nodes[0], y=nodes[1], t=0.25)["u"]
        np.testing.assert_array_equal(found["u"], np.where(inside, want, np.nan))
        with netcdf_file(tmp_path / "a.nc", mmap=False) as same:
            np.testing.assert_array_equal(same.variables["u"][:], found["u"])
            assert (same.problem, same.rel_l2_u) == (b"problem", 0.25)


def test_an_instant_of_a_box_is_an_even_grid(heat, tmp_path):
    heat.export(tmp_path / "a.vti", grid={"x": 7}, t=0.25)
    mesh = pyvista().read(tmp_path / "a.vti")
    np.testing.assert_allclose(mesh["u"], at_points(heat, mesh, t=0.25), rtol=1e-12)
    np.testing.assert_array_equal(mesh["u_error"], mesh["u"] - mesh["u_reference"])


def test_a_series_has_a_file_for_each_instant(heat, tmp_path):
    paths = heat.export(tmp_path / "a.vts", grid={"x": [-1, 0, 0.9], "t": 3})
    assert [p.relative_to(tmp_path).as_posix() for p in paths] == [
        "a.pvd", "a/a_0000.vts", "a/a_0001.vts", "a/a_0002.vts",
    ]  # fmt: skip
    series = pyvista().PVDReader(str(paths[0]))
    assert series.time_values == [0, 0.25, 0.5]
    series.set_active_time_value(0.25)
    (mesh,) = series.read()
    np.testing.assert_allclose(mesh["u"], at_points(heat, mesh, t=0.25), rtol=1e-12)


def test_a_series_takes_the_simplest_files(heat, tmp_path):
    assert heat.export(tmp_path / "a.pvd", grid={"t": 2})[1].suffix == ".vti"
    uneven = {"x": [-1, 0, 0.9], "t": 2}
    assert heat.export(tmp_path / "b.pvd", grid=uneven)[1].suffix == ".vts"
    disk = solution_of(pinn.Disk((0, 0), 1) * TIME, equations={"heat": "u_t - laplacian(u)"})
    assert disk.export(tmp_path / "c.pvd", grid={"x": 9, "y": 9, "t": 2})[1].suffix == ".vtu"


def test_a_shape_is_a_mesh_with_vectors(tmp_path):
    hole = pinn.Box(pinn.Interval("x", 0, 1), pinn.Interval("y", 0, 1)) - pinn.Disk((0.5, 0.5), 0.2)
    equations = {"continuity": "u_x + v_y", "pressure": "laplacian(p)", "u": "u", "v": "v"}
    flow = solution_of(hole, ("u", "v", "p"), equations)
    flow.export(tmp_path / "a.vtu", grid={"x": 33, "y": 33})
    mesh = pyvista().read(tmp_path / "a.vtu")
    assert mesh.compute_cell_sizes()["Area"].sum() == pytest.approx(hole.measure, rel=1e-3)
    for name in "uvp":
        np.testing.assert_allclose(mesh[name], at_points(flow, mesh, name), rtol=1e-10, atol=1e-12)
    zero = np.zeros(mesh.n_points)
    np.testing.assert_array_equal(mesh["uv"], np.stack([mesh["u"], mesh["v"], zero], axis=1))
    meshio = pytest.importorskip("meshio")
    same = meshio.read(tmp_path / "a.vtu")
    np.testing.assert_array_equal(same.point_data["u"], mesh["u"])
    assert {block.type for block in same.cells} == {"quad", "triangle"}


def test_a_mesh_keeps_its_cells_unless_a_grid_is_asked_for(tmp_path):
    meshio = pytest.importorskip("meshio")
    points = np.array([[0, 0], [1, 0], [1, 1], [0, 1], [0.4, 0.6]])
    cells = [("triangle", np.array([[0, 1, 4], [1, 2, 4], [2, 3, 4], [3, 0, 4]]))]
    meshio.write_points_cells(tmp_path / "in.vtu", points=np.c_[points, np.zeros(5)], cells=cells)
    solution = solution_of(pinn.Mesh(str(tmp_path / "in.vtu")))
    solution.export(tmp_path / "own.vtu")
    found = meshio.read(tmp_path / "own.vtu")
    assert len(found.points) == 5 and [len(block.data) for block in found.cells] == [4]
    x, y, _ = found.points.T
    np.testing.assert_array_equal(found.point_data["u"], solution.evaluate(x=x, y=y)["u"])
    solution.export(tmp_path / "grid.vtu", grid={"x": 5, "y": 5})
    assert sum(len(block.data) for block in meshio.read(tmp_path / "grid.vtu").cells) == 16


def test_units_are_told(tmp_path):
    from scipy.io import netcdf_file

    rod = solution_of(X, reference={"u": "x"}, units={"x": "m", "u": "K"})
    rod.export(tmp_path / "a.nc", grid={"x": 3})
    with netcdf_file(tmp_path / "a.nc", mmap=False) as file:
        units = {name: variable.units for name, variable in file.variables.items()}
    assert units == {"x": b"m", "u": b"K", "u_reference": b"K", "u_error": b"K"}
    path, _ = rod.export(tmp_path / "evaluate.py")
    assert "Units: x in m, u in K." in path.read_text()


def test_an_unknown_has_no_value_outside_of_its_part(tmp_path):
    media = solution_of(
        X, ("a", "b"),
        {"left": pinn.Equation("a_xx", on="x < 0"), "right": pinn.Equation("b_xx", on="x > 0")},
    )  # fmt: skip
    media.export(tmp_path / "a.npz", grid={"x": 5})
    with np.load(tmp_path / "a.npz") as found:
        assert np.isnan(found["a"]).tolist() == [False, False, True, True, True]
        assert np.isnan(found["b"]).tolist() == [True, True, True, False, False]


def test_a_table_is_compared_with_between_its_points(tmp_path):
    x = np.linspace(-1, 1, 9)
    solution = solution_of(X, reference={"u": (x, x**2)})
    solution.export(tmp_path / "a.csv", grid={"x": 4})
    table = Columns(path=tmp_path / "a.csv")
    np.testing.assert_allclose(table.column("u_reference"), table.column("x") ** 2, atol=1e-12)


def test_a_module_has_the_values_and_says_what_it_is(heat, tmp_path):
    paths = heat.export(tmp_path / "deep" / "evaluate.py")
    assert paths == [tmp_path / "deep" / name for name in ("evaluate.py", "evaluate.npz")]
    scope = {"__file__": str(paths[0]), "__name__": "evaluate"}
    text = paths[0].read_text()
    exec(compile(text, paths[0], "exec"), scope)
    found = scope["evaluate"](0.5, np.array([0.1, 0.2]))["u"]
    want = heat.evaluate(x=0.5, t=np.array([0.1, 0.2]))["u"]
    np.testing.assert_allclose(found, want, rtol=1e-13)
    assert "u of the problem 'problem', seed 0." in text
    assert "Relative L2 error of u: 0.25." in text


class Looks(T.nn.Module):
    """A network that asks for a value."""

    def __init__(self):
        super().__init__()
        self.layer = T.nn.Linear(2, 1, dtype=T.float64)

    def forward(self, points):
        y = self.layer(points)
        return y if float(y.sum()) > 0 else -y


def test_a_module_is_not_written_of_what_looks_at_values(tmp_path):
    solution = solution_of(X * TIME, model=Looks())
    with pytest.raises(ValueError, match="cannot be written as plain numpy: .*write its values on"):
        solution.export(tmp_path / "evaluate.py")


def test_nothing_is_written_over_without_being_asked(heat, tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "a_0001.vti").write_text("mine")
    with pytest.raises(FileExistsError, match="a_0001.vti is there already"):
        heat.export(tmp_path / "a.pvd", grid={"x": 3, "t": 2})
    assert sorted(p.name for p in tmp_path.rglob("*")) == ["a", "a_0001.vti"]
    assert len(heat.export(tmp_path / "a.pvd", grid={"x": 3, "t": 2}, overwrite=True)) == 3
    assert (tmp_path / "a" / "a_0001.vti").read_text() != "mine"


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("a.txt", {}, "ends in .vti, .vts, .vtu, .pvd, .csv, .npz, .nc, .py, got"),
        ("a.vti", {"grid": {"x": [0, 0.1, 1], "t": 2}}, "ends in .vts: .* has uneven steps"),
        ("a.pvd", {"t": 0.5}, "there is one instant; expected a name that ends in .vti"),
        ("a.vtu", {"x": 0.5}, "one to three coordinates in space"),
        ("a.csv", {"grid": {"z": 3}}, "expected coordinates out of x, t, got 'z'"),
        ("a.csv", {"x": 7.0}, "no point of the grid lies in the domain"),
        ("two-words.py", {}, "the name of a Python module such as evaluate.py"),
        ("a.py", {"t": 0.5}, "a module evaluates anywhere"),
    ],
)
def test_what_does_not_fit_is_refused_before_anything_is_written(
    heat, tmp_path, name, arguments, said
):
    with pytest.raises(ValueError, match=said):
        heat.export(tmp_path / name, **arguments)
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


def test_a_grid_file_of_a_shape_is_refused(tmp_path):
    disk = solution_of(pinn.Disk((0, 0), 1))
    with pytest.raises(ValueError, match="ends in .vtu: what is written is no grid"):
        disk.export(tmp_path / "a.vti")
    with pytest.raises(ValueError, match="no cell of the grid has a corner in the domain"):
        disk.export(tmp_path / "a.vtu", grid={"x": [3, 4], "y": [3, 4]})


