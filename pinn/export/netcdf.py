"""Arrays on a grid as a NetCDF file."""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from pinn.files import write_bytes


def write_netcdf(
    path: Path,
    axes: Mapping[str, np.ndarray],
    values: Mapping[str, np.ndarray],
    held: Mapping[str, float],
    units: Mapping[str, str],
    about: Mapping[str, str | int | float],
) -> None:
    """Write arrays in float64 whose dimensions are the axes, as NetCDF 3 with 64-bit offsets.

    axes: name -> (n_k,). values: name -> (n_1, ..., n_d), nan where there is no value. held: the
    coordinates that are the same everywhere, variables without a dimension. units: of any of
    these. about: attributes of the file. Raises OSError naming the path.
    """
    from scipy.io import netcdf_file

    stream = io.BytesIO()
    with netcdf_file(stream, "w", version=2) as file:
        for name, value in about.items():
            # a float of Python's own would be written in single precision
            setattr(file, name, np.float64(value) if isinstance(value, float) else value)
        for name, axis in axes.items():
            file.createDimension(name, len(axis))
        coordinates: dict[str, tuple[tuple[str, ...], np.ndarray]]
        coordinates = {name: ((name,), axis) for name, axis in axes.items()}
        coordinates |= {name: ((), np.array(value)) for name, value in held.items()}
        fields = {name: (tuple(axes), array) for name, array in values.items()}
        for name, (dimensions, array) in (coordinates | fields).items():
            variable = file.createVariable(name, "f8", dimensions)
            variable[...] = array
            if name in units:
                variable.units = units[name].encode("utf-8", "replace")
        for name in fields if held else ():
            file.variables[name].coordinates = " ".join(held)
        file.flush()
        write_bytes(path, stream.getvalue())
