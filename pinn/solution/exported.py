"""A solution as files for other programs: which files, and what is in them."""

from __future__ import annotations

import dataclasses
import errno
import os
from collections.abc import Iterable, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from autograd.plan import TraceError
from pinn.evaluation import Evaluation
from pinn.export import NoSource, write_columns, write_evaluator, write_netcdf
from pinn.export.cells import Cells, cells_inside, cells_of_corners, cells_of_grid
from pinn.export.vtk import image_text, structured_text, unstructured_text, write_series
from pinn.files import write_npz, write_text
from pinn.geometry import Mesh
from pinn.problem.belonging import region_of
from pinn.solution.grid import Grid, GridSizes
from pinn.solution.sampled import lies_inside

if TYPE_CHECKING:
    from pinn.solution.solution import Solution

VTK = (".vti", ".vts", ".vtu", ".pvd")
FORMATS = {
    "vtk": VTK, "csv": (".csv",), "npz": (".npz",), "netcdf": (".nc",), "weights": (".py",)
}  # fmt: skip
"""What can be written, and how the names of such files end."""

# A module is written from two recordings of so many points, which tell what depends on that.
_ROWS = (5, 7)


def export(
    solution: Solution,
    path: str | os.PathLike[str],
    sizes: GridSizes | int,
    held: Mapping[str, float],
    overwrite: bool = False,
) -> list[Path]:
    """Write a solution as what the name of a file ends in; return the files that were written.

    See `Solution.export`.
    """
    path, domain = Path(path), solution.problem.domain
    held, _ = solution.problem.with_functions(held)
    if isinstance(sizes, int):
        sizes = dict.fromkeys(Grid.of(domain, {}, held).axes, sizes)
    if not isinstance(sizes, Mapping):
        raise TypeError(
            f"grid: expected a number of points, or a mapping from coordinates to these such as "
            f"{{{domain.coordinates[0]!r}: 101}}, got {sizes!r:.60}"
        )
    known = [suffix for suffixes in FORMATS.values() for suffix in suffixes]
    if path.suffix not in known:
        raise ValueError(f"expected a file name that ends in {', '.join(known)}, got {str(path)!r}")
    if path.suffix == ".py":
        return _export_module(solution, path, sizes or held, overwrite)
    grid = Grid.of(domain, sizes, held)
    if path.suffix in VTK:
        return _Field(solution, grid, dict(sizes)).write(path, overwrite)
    _prepare([path], overwrite)
    inside = _inside(solution, grid)
    if not inside.any():
        raise ValueError("no point of the grid lies in the domain; take a finer one")
    there = {name: column[inside] for name, column in grid.columns().items()}
    found = values_at(solution, there)
    if path.suffix == ".csv":
        write_columns(path, there | found)
        return [path]
    values = {}
    for name, array in found.items():
        flat = np.full(len(inside), np.nan)
        flat[inside] = array
        values[name] = flat.reshape(grid.shape)
    if path.suffix == ".npz":
        write_npz(path, {**grid.axes, **grid.held, **values})
    else:
        units = _units(solution, {*grid.axes, *grid.held, *values})
        write_netcdf(path, grid.axes, values, grid.held, units, _about(solution))
    return [path]


def suffix_of(solution: Solution, kind: str, sizes: GridSizes, held: Mapping[str, float]) -> str:
    """Return how the name of a file of one of FORMATS ends, where nobody has said."""
    if kind != "vtk":
        return FORMATS[kind][0]
    held, _ = solution.problem.with_functions(held)
    field = _Field(solution, Grid.of(solution.problem.domain, sizes, held), dict(sizes))
    return ".pvd" if field.is_series else field.suffix


def values_at(solution: Solution, columns: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return all that is known at points (n,): unknowns, and NAME_reference, NAME_error.

    The error is the unknown less its reference. An unknown has nan outside of the part of the
    domain that its equations hold in.
    """
    problem = solution.problem
    names = problem.domain.coordinates
    points = np.stack([columns[name] for name in names], axis=1)
    given = {name: columns[name] for name in names}
    references = dict(problem.exact(given) or {})
    for name, table in problem.reference_tables.items():
        between = table.between(np.stack([columns[one] for one in table.over], axis=1))
        if between is not None:
            references[name] = between
    found = {}
    for name, values in solution.evaluate_anywhere(**given).items():
        region = region_of(problem, name, names)
        there = np.ones(len(points), dtype=bool) if region is None else region(points)
        found[name] = np.where(there, values.astype(np.float64), np.nan)
        if name in references:
            found[f"{name}_reference"] = np.where(there, references[name], np.nan)
            found[f"{name}_error"] = found[name] - found[f"{name}_reference"]
    return found


class _Field:
    """A solution on a grid in space, at an instant or at many, as VTK has it."""

    def __init__(self, solution: Solution, grid: Grid, sizes: GridSizes) -> None:
        domain = solution.problem.domain
        self._solution, self._grid = solution, grid
        self._space = [name for name in grid.axes if name in domain.space]
        others = [n for n in grid.axes if n not in self._space and n != domain.time]
        if not 1 <= len(self._space) <= 3 or others:
            axes = ", ".join(grid.axes)
            raise ValueError(
                f"a VTK file has one to three coordinates in space, and a series of them the time; "
                f"this grid has {axes}: write .csv, .npz or .nc, or hold some of them"
            )
        time = domain.time
        self._time = time if time in grid.axes else None
        self.is_series = self._time is not None
        # The shape in space is the same at all times.
        self._at_once = grid if not self._time else grid.at(self._time, grid.axes[self._time][0])
        own = [one for one in domain.factors if isinstance(one, Mesh)]
        self._mesh = own[0] if own and self._space == list(own[0].coordinates) else None
        if self._mesh is not None and sizes.keys() & set(self._space):
            self._mesh = None

    @cached_property
    def suffix(self) -> str:
        """How the name of the file of an instant ends: the simplest that can hold it."""
        if self._mesh is not None or not _inside(self._solution, self._at_once).all():
            return ".vtu"
        steps = [np.diff(axis) for axis in self._at_once.axes.values()]
        even = all(np.allclose(step, step[0], rtol=1e-9, atol=0) for step in steps)
        return ".vti" if even else ".vts"

    def write(self, path: Path, overwrite: bool) -> list[Path]:
        """Write the file, or those of a series; return the paths."""
        suffix = self.suffix if path.suffix == ".pvd" else path.suffix
        if suffix != ".vtu" and suffix != self.suffix and self.suffix != ".vti":
            what = "is no grid" if self.suffix == ".vtu" else "has uneven steps"
            raise ValueError(
                f"{path}: expected a name that ends in {self.suffix}: what is written {what}"
            )
        if self._time is None:
            if path.suffix == ".pvd":
                raise ValueError(
                    f"{path}: a .pvd is a series in time, and there is one instant; expected a "
                    f"name that ends in {self.suffix}"
                )
            _prepare([path], overwrite)
            write_text(path, self._text(self._grid, suffix, None))
            return [path]
        instants = self._grid.axes[self._time]
        folder = path.with_suffix("")
        pieces = [folder / f"{path.stem}_{k:04d}{suffix}" for k in range(len(instants))]
        series = path.with_suffix(".pvd")
        _prepare([series, *pieces], overwrite)
        for instant, piece in zip(instants.tolist(), pieces, strict=True):
            write_text(piece, self._text(self._grid.at(self._time, instant), suffix, instant))
        write_series(series, zip(instants.tolist(), pieces, strict=True))
        return [series, *pieces]

    def _text(self, grid: Grid, suffix: str, time: float | None) -> str:
        if suffix == ".vtu":
            columns = dict(zip(self._space, self._cells.points.T, strict=True))
            count = len(self._cells.points)
            columns |= {name: np.full(count, value) for name, value in grid.held.items()}
            return unstructured_text(self._cells, self._data(columns, (count,)), time)
        text = image_text if suffix == ".vti" else structured_text
        return text(list(grid.axes.values()), self._data(grid.columns(), grid.shape), time)

    def _data(
        self, columns: Mapping[str, np.ndarray], shape: tuple[int, ...]
    ) -> dict[str, np.ndarray]:
        """Return the values at points and the vectors among them, in the shape of the points."""
        found = {n: a.reshape(shape) for n, a in values_at(self._solution, columns).items()}
        for parts in self._solution.problem.vectors:
            stem = parts[0].removesuffix(self._space[0]).rstrip("_")
            name = stem if stem and stem != parts[0] else "".join(parts)
            if name in found:
                continue
            flat = np.zeros(shape)
            found[name] = np.stack([*(found[part] for part in parts), flat][:3], axis=-1)
        return found

    @cached_property
    def _cells(self) -> Cells:
        if self._mesh is not None:
            return cells_of_corners(self._mesh.cells)
        axes = list(self._at_once.axes.values())
        if self.suffix != ".vtu":
            nodes = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)
            return Cells(nodes.reshape(-1, len(axes)), cells_of_grid(self._at_once.shape))
        found = cells_inside(axes, self._contains)
        if not found.cells:
            raise ValueError(
                "no cell of the grid has a corner in the domain; take a finer grid, or hold "
                "coordinates elsewhere"
            )
        return found

    def _contains(self, places: np.ndarray) -> np.ndarray:
        held = {n: np.full(len(places), value) for n, value in self._at_once.held.items()}
        return _contained(self._solution, held | dict(zip(self._space, places.T, strict=True)))


def _export_module(solution: Solution, path: Path, given: object, overwrite: bool) -> list[Path]:
    if given:
        raise ValueError(f"{path}: a module evaluates anywhere, without grid and coordinates")
    if not path.stem.isidentifier():
        raise ValueError(f"expected the name of a Python module such as evaluate.py, got {path}")
    _prepare([path, path.with_suffix(".npz")], overwrite)
    on_cpu = dataclasses.replace(solution.experiment, device="cpu")
    parameters = on_cpu.initial_parameters()
    parameters.load(solution.theta)
    evaluation = Evaluation(on_cpu, parameters)
    problem = solution.problem
    about = _about(solution)
    errors = [f"Relative L2 error of {n}: {e:.3g}." for n, e in solution.report.rel_l2.items()]
    try:
        first, second = (evaluation.recorded(rows) for rows in _ROWS)
        left_out = [name for name in problem.solved if name not in first.outputs]
        title = f"{', '.join(first.outputs)} of the problem {about['problem']!r}, "
        title += f"seed {about['seed']}."
        less = [f"Without {', '.join(left_out)}: made of derivatives."] if left_out else []
        units = _units(solution, (*problem.domain.coordinates, *first.outputs))
        shown = ", ".join(f"{name} in {unit}" for name, unit in units.items())
        written_by = [
            f"Written by pinn {about['pinn']}, which it does not need.",
            *([f"Units: {shown}."] if shown else []), *errors, *less,
        ]  # fmt: skip
        return write_evaluator(
            path, (first.program, second.program), _ROWS, problem.domain.coordinates,
            first.outputs, first.arrays, [title, *written_by],
        )  # fmt: skip
    except (NoSource, TraceError) as error:
        raise ValueError(
            f"the model cannot be written as plain numpy: {error}; write its values on a grid "
            "(.npz, .csv), or keep solution.npz, which pinn.load reads"
        ) from error


def _units(solution: Solution, names: Iterable[str]) -> dict[str, str]:
    """Return the units of what a file has, by name; those of an error are the unknown's."""
    units = solution.problem.units
    plain = {name: name.removesuffix("_reference").removesuffix("_error") for name in names}
    return {name: units[of] for name, of in plain.items() if of in units}


def _inside(solution: Solution, grid: Grid) -> np.ndarray:
    """Return which points of a grid, (n,), lie in the domain."""
    return _contained(solution, grid.columns())


def _contained(solution: Solution, columns: Mapping[str, np.ndarray]) -> np.ndarray:
    problem = solution.problem
    points = np.stack([columns[name] for name in problem.domain.coordinates], axis=1)
    return lies_inside(problem, problem.domain, points)


def _about(solution: Solution) -> dict[str, str | int | float]:
    """Return what a file says of the solution it was made of."""
    import pinn

    report = solution.report
    return {
        "problem": solution.problem.name,
        "seed": solution.experiment.seed,
        "pinn": pinn.__version__,
        **{f"rel_l2_{name}": value for name, value in report.rel_l2.items()},
        **{f"max_error_{name}": value for name, value in report.max_error.items()},
    }


def _prepare(paths: list[Path], overwrite: bool) -> None:
    """Make the folders of files; FileExistsError where one of the files is there already."""
    for path in paths:
        if path.is_dir() or (path.exists() and not overwrite):
            raise FileExistsError(
                f"{path} is there already, and nothing is written over it without `overwrite`"
            )
    for folder in dict.fromkeys(path.parent for path in paths):
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except FileExistsError:
            raise NotADirectoryError(
                errno.ENOTDIR, "expected a folder, and a file is there", str(folder)
            ) from None
