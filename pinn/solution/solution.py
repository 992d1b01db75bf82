"""A trained solution: evaluate it, differentiate it, draw it, save it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import autograd as T
from pinn.checks import nearest
from pinn.equations.functions import TENSOR_FUNCTIONS
from pinn.equations.nested import NestedPlan, NestedValues
from pinn.equations.term import Term
from pinn.equations.values import coordinate_columns
from pinn.files import DamagedFile, read_npz, write_npz
from pinn.solution.accuracy import Errors, TestSet
from pinn.solution.storage import checkpoint_arrays, read_arrays, solution_arrays
from pinn.training.records import StepRecord
from pinn.training.resources import one_blas_thread
from pinn.training.setup import Setup

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from pinn.figures.field_data import FieldData
from pinn.solution.report import Report

# Points that go through the network at once.
_CHUNK = 8192


_PLOT_POINTS = {1: 1001, 2: 257}


class Solution:
    """The unknowns of a problem as functions of its coordinates.

    setup: the arguments of pinn.solve. theta: all parameters as one float64 vector, or by name.
    report: a Report. last: the last step of training, where one was taken here.
    """

    def __init__(
        self,
        setup: Setup,
        theta: np.ndarray | Mapping[str, np.ndarray],
        report: Report,
        last: StepRecord | None = None,
    ) -> None:
        self.setup = setup
        self.report = report
        self._last = last
        # A model of its own: training that goes on elsewhere cannot change this solution.
        self._parameters = setup.initial_parameters()
        if isinstance(theta, Mapping):
            theta = self._parameters.from_named(theta)
        self._parameters.load(theta)

    def __repr__(self) -> str:
        return f"<Solution of {self.problem.name!r}: {self.report.summary()}>"

    @property
    def problem(self):
        """The problem that is solved."""
        return self.setup.problem

    @property
    def theta(self) -> np.ndarray:
        """All parameters as one float64 vector."""
        return self._parameters.theta

    @property
    def parameters(self) -> dict[str, float]:
        """The trained coefficients of the problem by name."""
        return {name: c.item() for name, c in self._parameters.coefficients().items()}

    def evaluate(self, **coordinates: Any) -> dict[str, np.ndarray]:
        """Return every unknown at points: solution.evaluate(x=xs, t=ts)["u"].

        coordinates: a number or array for each coordinate of the problem; they broadcast, and the
        results have the broadcast shape. Points outside the domain are extrapolated. Raises
        TypeError for a missing or unknown coordinate, ValueError for shapes that do not broadcast.
        """
        points, shape = self._points(coordinates)
        with one_blas_thread():
            outputs = np.concatenate([np.asarray(chunk) for chunk in self._run(points)])
        return {
            unknown: outputs[:, j].reshape(shape)
            for j, unknown in enumerate(self.problem.unknowns)
        }

    def derivative(self, expression: str, **coordinates: Any) -> np.ndarray:
        """Return a derivative, or any expression of an equation, at points.

        expression: text such as "u_xx", "laplacian(u)" or "u_t + u*u_x - nu*u_xx". coordinates: as
        in evaluate. Raises ValueError, with a caret under the place, for a text without a meaning.
        """
        points, shape = self._points(coordinates)
        term = Term("derivative", expression, self.problem.scope)
        plan = NestedPlan(term.leaves or (), self.problem.scope)
        with one_blas_thread():
            return self._derivative(term, plan, points).reshape(shape)

    def _derivative(self, term: Term, plan: NestedPlan, points: np.ndarray) -> np.ndarray:
        results = []
        for start in range(0, len(points), _CHUNK):
            columns = coordinate_columns(
                points[start : start + _CHUNK], self.setup.dtype, self.setup.device
            )
            values = NestedValues(
                self._parameters.module,
                self.problem.scope,
                columns,
                self._parameters.coefficients(),
                plan,
            )
            value = term.evaluate(values, TENSOR_FUNCTIONS)
            if isinstance(value, T.Tensor):
                value = value.detach().cpu().numpy()
            results.append(np.broadcast_to(value, (len(columns[0]),)))
        return np.concatenate(results)

    def errors(self) -> Errors:
        """Compare with the problem's reference on its test points; empty without a reference."""
        return TestSet(
            self.problem, (points.coordinates for points in self.setup.draw_points().values())
        ).errors(self.evaluate)

    def field_data(self, unknown: str, **held: float) -> FieldData:
        """Return an unknown on an even grid, ready for pinn.figures.

        A problem in one or two coordinates is taken whole. Of more, the first two are drawn and the
        others held at the middle of their bounds, unless `held` says which are held and where.
        """
        from pinn.figures.field_data import FieldData

        if unknown not in self.problem.unknowns:
            raise ValueError(
                f"expected one of the unknowns {', '.join(self.problem.unknowns)}, "
                f"got {unknown!r}{nearest(unknown, self.problem.unknowns)}"
            )
        bounds = self.problem.domain.bounds
        for name in held:
            if name not in bounds:
                raise ValueError(
                    f"expected coordinates out of {', '.join(bounds)}, got {name!r}"
                    f"{nearest(name, bounds)}"
                )
        drawn = [name for name in bounds if name not in held][:2]
        if not drawn:
            raise ValueError("every coordinate is held; leave one or two of them to draw")
        fixed = {
            name: held.get(name, (low + high) / 2)
            for name, (low, high) in bounds.items()
            if name not in drawn
        }
        grids = {name: np.linspace(*bounds[name], _PLOT_POINTS[len(drawn)]) for name in drawn}
        meshed = dict(zip(drawn, np.meshgrid(*grids.values(), indexing="ij"), strict=True))
        points = {name: meshed[name] if name in meshed else fixed[name] for name in bounds}
        shape = next(iter(meshed.values())).shape
        exact = self.problem.exact(
            {name: np.broadcast_to(np.asarray(p, dtype=float), shape) for name, p in points.items()}
        )
        time = self.problem.domain.time
        return FieldData(
            unknown=unknown,
            coordinates=grids,
            values=self.evaluate(**points)[unknown],
            reference=None if exact is None else exact.get(unknown),
            time=time if time in drawn else None,
            fixed=fixed,
        )

    def plot(self, unknown: str | None = None, **held: float) -> Figure:
        """Return a matplotlib figure of an unknown: field, reference and error, or a line.

        unknown: the first one where left out. held: as in field_data.
        """
        from pinn.figures import plot_field, plot_panels

        data = self.field_data(self.problem.unknowns[0] if unknown is None else unknown, **held)
        draw = plot_panels if len(data.coordinates) == 2 else plot_field
        return draw(data)

    def arrays(self) -> dict[str, np.ndarray]:
        """Return the named arrays of a solution file; see pinn.solution.storage."""
        named = self._parameters.named(self.theta)
        return solution_arrays(self.setup, named, self.report.as_dict())

    def checkpoint(self) -> dict[str, np.ndarray]:
        """Return the named arrays of a checkpoint: a solution file with the state of training."""
        return {**self.arrays(), **checkpoint_arrays(self.setup, self._last)}

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the solution to an npz file, without pickle; `pinn.load` reads it.

        An equation or value that is a Python function is not saved: the solution loads and
        evaluates all the same, but its residual cannot be computed. Raises ValueError for a name
        that does not end in .npz, TypeError for a model of a class that pinn does not ship, OSError
        from the disk.
        """
        path = Path(path)
        if path.suffix != ".npz":
            raise ValueError(f"expected a file name that ends in .npz, got {str(path)!r}")
        write_npz(path, self.arrays())

    def _points(self, coordinates: Mapping[str, Any]) -> tuple[np.ndarray, tuple[int, ...]]:
        """Return points (n, d) in declared order, and the broadcast shape."""
        names = self.problem.domain.coordinates
        missing = [name for name in names if name not in coordinates]
        unknown = [name for name in coordinates if name not in names]
        if missing or unknown:
            raise TypeError(
                f"expected the coordinates {', '.join(names)}; missing: "
                f"{', '.join(missing) or 'none'}, not known: {', '.join(unknown) or 'none'}"
            )
        arrays = [np.asarray(coordinates[name], dtype=np.float64) for name in names]
        try:
            arrays = np.broadcast_arrays(*arrays)
        except ValueError as error:
            shapes = ", ".join(f"{n} {a.shape}" for n, a in zip(names, arrays, strict=True))
            raise ValueError(f"the coordinates do not broadcast together: {shapes}") from error
        return np.stack([array.reshape(-1) for array in arrays], axis=1), arrays[0].shape

    def _run(self, points: np.ndarray):
        with T.no_grad():
            # At least one pass, so that no points at all have a result of the right width.
            for start in range(0, max(len(points), 1), _CHUNK):
                chunk = T.tensor(
                    points[start : start + _CHUNK], dtype=self.setup.dtype, device=self.setup.device
                )
                yield self._parameters.module(chunk).detach().cpu().numpy()


def load(path: str | os.PathLike[str]) -> Solution:
    """Read a solution that `Solution.save` wrote, or a checkpoint of a run.

    Nothing in the file is ever run. Raises FileNotFoundError, and pinn.files.DamagedFile for a file
    that is not such a file.
    """
    contents = read_arrays(read_npz(path), str(path))
    try:
        return Solution(contents.setup, contents.theta, Report.from_dict(contents.report))
    except (KeyError, TypeError, ValueError) as error:
        raise DamagedFile(f"{path}: its parts do not fit together ({error})") from error
