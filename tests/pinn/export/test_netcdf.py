"""NetCDF files, read again by scipy and by xarray."""

import numpy as np
import pytest
from scipy.io import netcdf_file

from pinn.export import write_netcdf

AXES = {"x": np.linspace(0, 1, 3), "t": np.array([0.0, 0.1, 0.5, 2.0])}
VALUES = {"u": np.add.outer(AXES["x"], AXES["t"])}
ABOUT = {"problem": "heat", "seed": 3, "rel_l2_u": 1 / 3}


@pytest.fixture
def path(tmp_path):
    VALUES["u"][1, 2] = np.nan
    write_netcdf(tmp_path / "grid.nc", AXES, VALUES, {"nu": 0.1}, {"u": "µK", "t": "s"}, ABOUT)
    return tmp_path / "grid.nc"


def test_scipy_reads_every_bit(path):
    with netcdf_file(path, mmap=False) as file:
        assert file.variables["u"].dimensions == ("x", "t")
        np.testing.assert_array_equal(file.variables["u"][:], VALUES["u"])
        np.testing.assert_array_equal(file.variables["t"][:], AXES["t"])
        assert (file.problem, file.seed, file.rel_l2_u) == (b"heat", 3, 1 / 3)


def test_xarray_has_axes_and_held_coordinates(path):
    xarray = pytest.importorskip("xarray")
    with xarray.open_dataset(path, engine="scipy", decode_times=False) as data:
        assert data["u"].dims == ("x", "t")
        np.testing.assert_array_equal(data["u"].sel(t=0.1), VALUES["u"][:, 1])
        assert (data["u"].attrs["units"], data["t"].attrs["units"]) == ("µK", "s")
        assert float(data["u"].coords["nu"]) == 0.1
        assert data.attrs["problem"] == "heat"
