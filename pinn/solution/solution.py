"""A trained solution: evaluate it, differentiate it, draw it, save it."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from autograd.devices import DeviceError
from pinn.estimates import ErrorEstimate, error_estimate
from pinn.evaluation import Evaluation
from pinn.evaluation.extrapolation import warn_unlike
from pinn.evaluation.places import points_of
from pinn.files import DamagedFile, read_npz, write_npz
from pinn.geometry import Shape, projection
from pinn.models import NotSavedModel
from pinn.problem import Problem
from pinn.solution.accuracy import Errors, TestSet
from pinn.solution.checkpoint import checkpoint_arrays
from pinn.solution.drawn import drawn, error_drawn
from pinn.solution.exported import export
from pinn.solution.pictured import field_data, is_local
from pinn.solution.pictured import frames as frames_of
from pinn.solution.report import Report
from pinn.solution.storage import (
    SIGNS_OF_DAMAGE,
    check_held,
    held_by_own_models,
    read_arrays,
    solution_arrays,
)
from pinn.training.experiment import Experiment
from pinn.training.records import Resume, StepRecord
from pinn.training.resources import training_resources

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from pinn.equations.values import ModelValues
    from pinn.figures.animation import Animation
    from pinn.figures.field_data import FieldData


class Solution:
    """The unknowns of a problem as functions of its coordinates.

    experiment: the declaration of the run. theta: all parameters as one float64 vector, or by
    name. report: a Report. resume: where training can be gone on from, if a step was taken here.
    asked: the declaration as it was before a model was chosen, the same where left out.

    Ranks that trained it together each have one of their own: what it is asked for is computed by
    the process that asks.
    """

    def __init__(
        self,
        experiment: Experiment,
        theta: np.ndarray | Mapping[str, np.ndarray],
        report: Report,
        resume: Resume | None = None,
        asked: Experiment | None = None,
    ) -> None:
        if experiment.executor != "process":
            experiment = dataclasses.replace(experiment, executor="process")
        self.experiment = experiment
        self.report = report
        self._resume = resume
        self._asked = asked or experiment
        # A model of its own: training that goes on elsewhere cannot change this solution.
        self._parameters = experiment.initial_parameters()
        if isinstance(theta, Mapping):
            theta = self._parameters.from_named(theta)
        self._parameters.load(theta)
        self._evaluation = Evaluation(experiment, self._parameters)

    def __repr__(self) -> str:
        return f"<Solution of {self.problem.name!r}: {self.report.summary()}>"

    def _repr_html_(self) -> str:
        """Return its errors and small figures of its unknowns, as a notebook shows it."""
        from pinn.solution.notebook import solution_html

        return solution_html(self)

    @property
    def problem(self) -> Problem:
        """The problem that is solved."""
        return self.experiment.problem

    @property
    def last(self) -> StepRecord | None:
        """The last step of training; None of a solution that was loaded."""
        return self._resume and self._resume.last

    @property
    def theta(self) -> np.ndarray:
        """All parameters as one float64 vector."""
        return self._parameters.theta

    @property
    def named_theta(self) -> dict[str, np.ndarray]:
        """The same by name: "model.NAME" for a parameter of the model, NAME for a coefficient."""
        return self._parameters.named(self.theta)

    @property
    def parameters(self) -> dict[str, float]:
        """The trained coefficients of the problem by name."""
        return {name: c.item() for name, c in self._parameters.coefficients().items()}

    def domain_of(self, unknown: str) -> Shape:
        """Return the domain in the coordinates that an unknown, field or quantity depends on.

        unknown: or an expression of them, as of `derivative`. Raises ValueError for a text without
        a meaning, and where it is the same everywhere.
        """
        seen = self._evaluation.sees(unknown)
        if not seen:
            raise ValueError(
                f"{unknown!r} is the same everywhere, and no field; expected an unknown "
                f"({', '.join(self.problem.solved)}) or an expression with one in it"
            )
        return projection(self.problem.domain, seen)

    def made_of(self, unknown: str) -> set[str]:
        """Return the unknowns in an expression, and of an unknown, field or quantity itself."""
        return self._evaluation.made_of(unknown)

    def evaluate(self, *points: Any, **coordinates: Any) -> dict[str, np.ndarray]:
        """Return every unknown and field at points: solution.evaluate(x=xs, t=ts)["u"].

        A piecewise name that is made of unknowns is among them.

        coordinates: a number or array for each coordinate of the problem, families included; they
        broadcast, and the results have the broadcast shape. A function space has a function by its
        name (a function of arrays, a text, arrays, a pathlib.Path of a file, a draw), or a list of
        m: results are then (m, *shape). Without some of them the result has the
        fields that do not depend on these. Points outside the domain, in its holes or beyond the
        range of a family are extrapolated, with a pinn.ExtrapolationWarning. Raises TypeError for a
        missing or unknown coordinate, ValueError for shapes that do not broadcast and for nan.
        """
        if points:
            named = ", ".join(f"{name}=..." for name in self.problem.domain.coordinates)
            raise TypeError(
                f"the coordinates are given by name: evaluate({named}), each a number or an array; "
                "of an array with a column for each, write x=points[:, 0]"
            )
        return self._evaluation.evaluate(coordinates, stacklevel=2)

    def evaluate_anywhere(self, **coordinates: Any) -> dict[str, np.ndarray]:
        """Return what `evaluate` does, without a warning of points outside of the domain."""
        return self._evaluation.evaluate(coordinates)

    def derivative(self, expression: str, **coordinates: Any) -> np.ndarray:
        """Return a derivative, or any expression of an equation, at points.

        expression: text such as "u_xx", "laplacian(u)" or "u_t + u*u_x - nu*u_xx". coordinates: as
        in evaluate; those that nothing in it depends on may be left out. Raises ValueError, with a
        caret under the place, for a text without a meaning.
        """
        return self._evaluation.expressions([expression], coordinates, stacklevel=2)[0]

    def derivative_anywhere(self, expression: str, **coordinates: Any) -> np.ndarray:
        """Return what `derivative` does, without a warning of points outside of the domain."""
        return self._evaluation.expressions([expression], coordinates)[0]

    def derivatives(self, expressions: Iterable[str], **coordinates: Any) -> list[np.ndarray]:
        """Return several derivatives or expressions at points, from one run of the network.

        Arguments and errors are as of `derivative`; the results are in the order of expressions.
        """
        if isinstance(expressions, str):
            raise TypeError(
                f"expected a list of expressions, got {expressions!r}; put it in [ ], or take "
                "`derivative` for one"
            )
        return self._evaluation.expressions(expressions, coordinates, stacklevel=2)

    def residuals(self, **coordinates: Any) -> dict[str, np.ndarray]:
        """Return what is left of each equation at points, by the equation's name.

        coordinates: as in evaluate, all of them. Left out are equations that have no value at a
        point by itself: a mean, or one with the normal of a boundary in it. Raises RuntimeError
        where a file could not hold an equation that is a Python function.
        """
        problem = self.problem
        local = [residual for residual in problem.residuals if is_local(problem, residual)]
        terms = [residual.left for residual in local]
        found = self._evaluation.terms(terms, coordinates, stacklevel=2)
        return {residual.name: array for residual, array in zip(local, found, strict=True)}

    def model_values(self, points: np.ndarray) -> ModelValues:
        """Return what equations are made of at points (n, d): coordinates in the domain's order.

        Unknowns and derivatives are tensors (n,) that are computed when they are asked for, here or
        elsewhere.
        """
        return self._evaluation.values(points)

    def errors(self) -> Errors:
        """Compare with the problem's reference, a table at its own points; empty without one."""
        return TestSet(
            self.problem, (points.coordinates for points in self.experiment.draw_points().values())
        ).errors(self.evaluate_anywhere)

    def error_estimate(self) -> ErrorEstimate:
        """Return how far the solution seems to be from the true one, without a reference.

        What the end of training found, or what is found now: of a solution that was loaded, of a
        run that was cut short, of one too short to have its error estimated by itself, and where a
        limit in time left no room for all of it. Printed it is a table; `evaluate(x=xs)["u"]` gives
        e = u* - u itself, and `derivative("u_x", x=xs)` that of any expression. The solution stays
        as it is. Takes two to five seconds for networks of a thousand numbers, ten to forty for
        2000 random features, longer for integrals; see pinn.estimates. Raises RuntimeError where a
        file could not hold an equation that is a Python function.
        """
        known = self.report.error_estimate
        if known.is_whole:
            return known
        objective = self.experiment.objective()
        objective.parameters.load(self.theta)
        with training_resources():
            found = error_estimate(
                self.experiment, objective, self.theta, self.report.residual,
                sizes=self.report.sizes,
            )  # fmt: skip
        # what noise has moved was found when training ended
        largest = {name: known.maximum[name] for name in known.noise}
        moved = found.moved_by_noise(known.noise, largest, known.where, solved=known.trusted)
        return dataclasses.replace(moved, band=known.band)

    def plot_error(
        self, unknown: str | None = None, *, absolute: bool | None = None, **held: float
    ) -> Figure:
        """Return a matplotlib figure of the estimated error, drawn as that against a reference.

        It is u - (u + e), where u + e is the better solution of `error_estimate`. unknown: whose,
        as in `plot`; of the first unknown where left out. absolute: as in `plot`.
        held: as in field_data. Raises ValueError, saying why, where no error can be estimated.
        """
        self._warn_of_functions(held)
        return error_drawn(self, unknown, held, absolute)

    def field_data(self, unknown: str, **held: float) -> FieldData:
        """Return an unknown, a field or an expression on an even grid, ready for pinn.figures.

        A problem in one or two coordinates is taken whole. Of more, the first two are drawn and the
        others held at the middle of their bounds, unless `held` says which are held and where.
        Families are held in the middle of their range, or drawn where nothing else is left.
        Points of the grid outside of the domain, or of the part of it that all equations of the
        unknown hold in, are marked as such and have no value. A reference that is a table is what
        lies between its points (pinn.Table.between); an expression has none. Raises ValueError for
        names that are not there and where no point lies in the domain.
        """
        self._warn_of_functions(held)
        return field_data(self, unknown, held)

    def plot(
        self,
        unknown: str | Sequence[str] | None = None,
        *,
        vmin: float | None = None,
        vmax: float | None = None,
        log: bool = False,
        absolute: bool | None = None,
        **held: float | Sequence[float],
    ) -> Figure:
        """Return a matplotlib figure of an unknown: field, reference and error, or a line.

        unknown: or a derivative or expression such as "u_x" or "u*u_x - nu*u_xx", as of
        `derivative`; where left out all of them if they are curves of one coordinate, else the
        first; a list draws several over each other, where one coordinate is left to draw, and the
        components of a vector (problem.vectors) as its lines over its size. held: as in
        field_data; a list of values of one coordinate, as in plot("u", t=[0, 0.5, 1]), draws a line
        or a map for each. vmin, vmax: the ends of the colours or of the vertical axis. log: whether
        these are logarithmic. absolute: whether errors are drawn without their sign, as those of
        lines are where it is left out. A line has the data near it, and the band of two standard
        errors where the estimate of the error found one. Of training that diverged the figure says
        so.
        """
        self._warn_of_functions(held)
        return drawn(self, unknown, held, absolute, vmin=vmin, vmax=vmax, log=log)

    def animation(self, unknown: str | None = None, frames: int = 48, **held: float) -> Animation:
        """Return an unknown moving through time as pinn.figures.Animation, which `save` writes.

        unknown: the first where left out. held: where coordinates other than the time are held, as
        in field_data. Raises ValueError for an unknown that does not move.
        """
        from pinn.figures import animation

        name = self.problem.unknowns[0] if unknown is None else unknown
        self._warn_of_functions(held)
        return animation(list(frames_of(self, name, frames, held)))

    @property
    def warning_of_figures(self) -> str:
        """What a figure of the solution must say of its training; empty where that went well."""
        diverged = self.report.stop_reason == "diverged"
        return "training diverged: its last good state" if diverged else ""

    def arrays(self) -> dict[str, np.ndarray]:
        """Return the named arrays of a solution file; see pinn.solution.storage."""
        return solution_arrays(self.experiment, self.named_theta, self.report, self.held)

    @property
    def held(self) -> dict[str, str]:
        """The digests of what modules of one's own hold besides theta, by name."""
        return held_by_own_models(self.experiment, self._parameters)

    def checkpoint(self) -> dict[str, np.ndarray]:
        """Return the named arrays of a checkpoint: a solution file with the state of training.

        Raises RuntimeError for a solution that is not as the last step of training left it.
        """
        if self._resume is None and self.report.steps:
            raise RuntimeError(
                "a checkpoint is made of the last step of training, whose state this solution does "
                "not have"
            )
        return {**self.arrays(), **checkpoint_arrays(self._asked, self._resume)}

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the solution to an npz file, without pickle; `pinn.load` reads it.

        An equation or value that is a Python function is not saved: the solution loads and
        evaluates all the same, but its residual cannot be computed. Raises ValueError for a name
        that does not end in .npz, TypeError for a model of a class that pinn does not ship and for
        a hard condition whose value is a Python function (the field is made of it: write it as a
        text), OSError from the disk.
        """
        path = Path(path)
        if path.suffix != ".npz":
            raise ValueError(f"expected a file name that ends in .npz, got {str(path)!r}")
        write_npz(path, self.arrays())

    def export(
        self,
        path: str | os.PathLike[str],
        *,
        grid: Mapping[str, int | Sequence[float]] | int | None = None,
        overwrite: bool = False,
        **held: float,
    ) -> list[Path]:
        """Write the solution on a grid for other programs; return the files that were written.

        path: what its name ends in says what is written. .csv: a line for each point in the domain,
        with 17 digits. .npz: the axes and the values by name. .nc: the same as NetCDF. .vti, .vts,
        .vtu: VTK's even grids, other grids, and meshes that end at the rim of the domain; a problem
        in time has a file for each instant, in a folder of the name, and a .pvd that lists them;
        .pvd chooses among the three. .py: no grid, but a module of plain numpy with a function
        evaluate(...) that gives the same values anywhere, and beside it an .npz of its arrays.

        Values are called by the unknowns, and where the problem has a reference by u_reference and
        u_error, which is u - u_reference. In VTK files the components of a vector are one as well
        (problem.vectors).

        grid: coordinate -> how many points from bound to bound, or the points themselves; a number
        is how many there are of each. held: coordinates at one value. The rest is chosen: up to
        three coordinates in space and the time have a grid, others and families are held in the
        middle. Raises FileExistsError for what is there already, unless `overwrite`; ValueError for
        another ending, coordinates that are not there or do not fit to the ending, and a model that
        numpy alone cannot repeat; OSError from the disk.
        """
        self._warn_of_functions(held)
        return export(self, path, grid or {}, held, overwrite)

    def _warn_of_functions(self, held: Mapping[str, Any]) -> None:
        """Warn the caller of a method of functions that are not made of their modes."""
        found, left = self.problem.with_functions(held, lists=True)
        warn_unlike(left, self.problem.farthest_modes(left, found), stacklevel=3)

    def points(
        self, coordinates: Mapping[str, Any], needed: set[str] | None = None
    ) -> tuple[np.ndarray, tuple[int, ...]]:
        """Return points (n, d) in declared order, and the broadcast shape.

        needed: the coordinates that must be given, all where left out; others are then nan.
        """
        return points_of(self.problem.domain, coordinates, needed)


def load(
    path: str | os.PathLike[str],
    model: Any = None,
    device: str | None = None,
    fields: Mapping[str, Any] | None = None,
) -> Solution:
    """Read a solution that `Solution.save` wrote, or a checkpoint of a run.

    path: the file, or the directory of a run, whose solution.npz is read. model: where the solution
    was trained with a module or a class of one's own, which a file cannot hold: the same again.
    fields: the same of the models of fields, by name. device: where it is evaluated, as of
    pinn.solve; the one it was trained on where left out. Nothing in the file is ever run. Raises
    FileNotFoundError, ValueError for a solution whose model has to be given,
    pinn.files.DamagedFile for a file that is not such a file, and autograd.devices.DeviceError
    where there is no such device.
    """
    if os.path.isdir(path):
        path = Path(path) / "solution.npz"
    contents = read_arrays(_arrays_in(Path(path)), str(path))
    experiment = contents.experiment
    if device is not None:
        experiment = dataclasses.replace(experiment, device=device)
    if fields:
        experiment = _with_field_models(experiment, fields)
    if model is not None:
        experiment = dataclasses.replace(experiment, model=model)
    elif isinstance(experiment.model, NotSavedModel):
        raise ValueError(
            f"{path}: its model is a {experiment.model.name}, whose class a file cannot hold; "
            f"give it: pinn.load(path, model={experiment.model.name}(...))"
        )
    for one in experiment.problem.fields:
        if isinstance(one.model, NotSavedModel):
            raise ValueError(
                f"{path}: the model of its field {one.name!r} is a {one.model.name}, whose class a "
                f"file cannot hold; give it: pinn.load(path, fields={{{one.name!r}: "
                f"{one.model.name}(...)}})"
            )
    try:
        solution = Solution(experiment, contents.theta, contents.report)
    except DeviceError as error:
        if device is not None or experiment.device == "cpu":
            raise
        raise DeviceError(
            f"{path} was trained on {experiment.device!r}: {error}; "
            f'pinn.load({str(path)!r}, device="cpu") evaluates it on the CPU'
        ) from error
    except SIGNS_OF_DAMAGE as error:
        raise DamagedFile(f"{path}: its parts do not fit together ({error})") from error
    check_held(solution.held, contents.held, str(path))
    return solution


def _arrays_in(path: Path) -> dict[str, np.ndarray]:
    """Return the arrays of a file; DamagedFile, which says what was expected, of other files."""
    try:
        return read_npz(path)
    except DamagedFile as error:
        if path.suffix == ".npz":
            raise
        raise DamagedFile(
            f"{path}: expected a solution file, the .npz of solution.save or the solution.npz of a "
            "run, but it is none, or a damaged one"
        ) from error


def _with_field_models(experiment: Experiment, models: Mapping[str, Any]) -> Experiment:
    """Return the declaration of a run with other models for some of its fields."""
    problem = experiment.problem
    known = [one.name for one in problem.fields]
    for name in models:
        if name not in known:
            raise ValueError(f"fields: expected some of {', '.join(known) or 'none'}, got {name!r}")
    fields = [
        dataclasses.replace(one, model=models.get(one.name, one.model)) for one in problem.fields
    ]
    return dataclasses.replace(experiment, problem=problem.with_fields(fields))
