"""VTK's XML files: grids, meshes, and series of them in time, as ParaView and pyvista read them."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from xml.sax.saxutils import quoteattr

import numpy as np

from pinn.export.cells import Cells
from pinn.files import write_text

# The numbers of VTK's kinds of cell.
_KINDS = {"line": 3, "triangle": 5, "quad": 9, "tetra": 10, "hexahedron": 12}
_TYPES = {"float64": "Float64", "int64": "Int64", "uint8": "UInt8"}


def image_text(
    axes: Sequence[np.ndarray], data: Mapping[str, np.ndarray], time: float | None = None
) -> str:
    """Return the text of a .vti file: values at the nodes of an even grid.

    axes: one to three, (n_k,), evenly spaced. data: name -> (n_1, ..., n_d), or (n_1, ..., n_d, 3)
    for vectors. time: the instant that the values are of.
    """
    extent, spacing = _extent(axes), [np.ptp(axis) / (len(axis) - 1) for axis in axes]
    origin = [axis[0] for axis in axes]
    attributes = (
        f'WholeExtent="{extent}" Origin="{_numbers(origin, 0.0)}" '
        f'Spacing="{_numbers(spacing, 1.0)}"'
    )
    parts = [_point_data(data, len(axes))]
    return _file("ImageData", attributes, f'Extent="{extent}"', parts, time)


def structured_text(
    axes: Sequence[np.ndarray], data: Mapping[str, np.ndarray], time: float | None = None
) -> str:
    """Return the text of a .vts file: values at the nodes of a grid of any spacing.

    Arguments as of `image_text`.
    """
    nodes = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)
    parts = [_point_data(data, len(axes)), _points(_in_order(nodes, len(axes)))]
    extent = _extent(axes)
    return _file(
        "StructuredGrid", f'WholeExtent="{extent}"', f'Extent="{extent}"', parts, time
    )


def unstructured_text(
    mesh: Cells, data: Mapping[str, np.ndarray], time: float | None = None
) -> str:
    """Return the text of a .vtu file: values at the points of a mesh, (n,), or (n, 3) vectors."""
    connectivity = [cells.ravel() for cells in mesh.cells.values()]
    corners = [np.full(len(cells), cells.shape[1]) for cells in mesh.cells.values()]
    kinds = [np.full(len(cells), _KINDS[kind], np.uint8) for kind, cells in mesh.cells.items()]
    cells = [
        _array("connectivity", np.concatenate(connectivity)),
        _array("offsets", np.cumsum(np.concatenate(corners))),
        _array("types", np.concatenate(kinds)),
    ]
    parts = [_point_data(data, 1), _points(mesh.points), _element("Cells", "", cells)]
    sizes = f'NumberOfPoints="{len(mesh.points)}" NumberOfCells="{sum(map(len, corners))}"'
    return _file("UnstructuredGrid", "", sizes, parts, time)


def write_series(path: Path, pieces: Iterable[tuple[float, Path]]) -> None:
    """Write a .pvd file: the instants of a series, each with its file, somewhere below the path."""
    entries = [
        f'<DataSet timestep="{float(time)!r}" part="0" '
        f"file={quoteattr(piece.relative_to(path.parent).as_posix())}/>"
        for time, piece in pieces
    ]
    inner = _element("Collection", "", entries)
    write_text(path, _HEAD + _element("VTKFile", 'type="Collection" version="1.0"', [inner]) + "\n")


_HEAD = '<?xml version="1.0"?>\n'


def _file(
    kind: str, attributes: str, piece: str, parts: Sequence[str], time: float | None
) -> str:
    instant = []
    if time is not None:
        value = _array("TimeValue", np.array([time]), 'NumberOfTuples="1"')
        instant = [_element("FieldData", "", [value])]
    grid = _element(kind, attributes, [*instant, _element("Piece", piece, parts)])
    about = f'type="{kind}" version="1.0" byte_order="LittleEndian" header_type="UInt64"'
    return _HEAD + _element("VTKFile", about, [grid]) + "\n"


def _element(name: str, attributes: str, inner: Sequence[str]) -> str:
    return "\n".join([f"<{name}{attributes and ' ' + attributes}>", *inner, f"</{name}>"])


def _point_data(data: Mapping[str, np.ndarray], d: int) -> str:
    """Return the arrays of points, which have d dimensions of a grid."""
    return _element("PointData", "", [_array(n, _in_order(a, d)) for n, a in data.items()])


def _points(points: np.ndarray) -> str:
    inner = np.zeros((len(points), 3))
    inner[:, : points.shape[1]] = points
    return _element("Points", "", [_array("Points", inner)])


def _in_order(array: np.ndarray, d: int) -> np.ndarray:
    """Return values (n_1, ..., n_d, ...) as rows, of which the first axis goes fastest."""
    turned = np.transpose(array, (*reversed(range(d)), *range(d, array.ndim)))
    return turned.reshape(-1, *array.shape[d:])


def _array(name: str, array: np.ndarray, more: str = "") -> str:
    """Return an array (n,) or (n, k), in base64: the number of bytes, then these."""
    data = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<")).tobytes()
    text = base64.b64encode(len(data).to_bytes(8, "little") + data).decode("ascii")
    attributes = [f'type="{_TYPES[str(array.dtype)]}" Name={quoteattr(name)}']
    if array.ndim == 2:
        attributes.append(f'NumberOfComponents="{array.shape[1]}"')
    return f'<DataArray {" ".join([*attributes, more])} format="binary">{text}</DataArray>'


def _extent(axes: Sequence[np.ndarray]) -> str:
    last = [len(axis) - 1 for axis in axes] + [0] * (3 - len(axes))
    return " ".join(f"0 {k}" for k in last)


def _numbers(values: Sequence[float], missing: float) -> str:
    return " ".join(repr(float(v)) for v in [*values, *[missing] * (3 - len(values))])
