"""The arrays of a solution file and of a checkpoint: one format, written without pickle.

    format      "pinn solution 1"
    setup       JSON: the arguments of pinn.solve (functions become null)
    report      JSON: what training reported so far
    theta/NAME  every part of the parameter vector, float64: model.weight0, nu, ...
    points/BLOCK, solver/NAME, progress   in a checkpoint only: collocation points, the solver's
                own arrays, and JSON with the stage, step and draw they belong to

No random state is stored because none is left over: every stream starts from the seed by name.
scipy's L-BFGS keeps its memory to itself, so a checkpoint in that stage has no solver arrays.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pinn.files import DamagedFile, from_json, to_json
from pinn.solution.report import Report
from pinn.training.setup import Setup

if TYPE_CHECKING:
    from pinn.training.records import StepRecord

FORMAT = "pinn solution 1"

# What constructors raise when they are given the values of another type or size than declared.
# A file's text reaches all of them, so each means here that the file is not one of ours.
SIGNS_OF_DAMAGE = (
    ArithmeticError,
    AttributeError,
    LookupError,
    RecursionError,
    TypeError,
    ValueError,
)


class Contents(NamedTuple):
    """What a solution file or a checkpoint holds."""

    setup: Setup
    theta: dict[str, np.ndarray]
    report: Report


def setup_text(setup: Setup) -> str:
    """Return a setup as the text that a file holds; TypeError for one that no file can hold."""
    return setup.to_json()


def solution_arrays(
    setup: Setup, theta: Mapping[str, np.ndarray], report: Report
) -> dict[str, np.ndarray]:
    """Return the named arrays of a solution file; TypeError for a model that cannot be saved."""
    return {
        "format": np.array(FORMAT),
        "setup": np.array(setup_text(setup)),
        "report": np.array(to_json(report.as_dict())),
        **{f"theta/{name}": np.array(part) for name, part in theta.items()},
    }


def checkpoint_arrays(setup: Setup, last: StepRecord | None) -> dict[str, np.ndarray]:
    """Return the arrays that a checkpoint adds: points, solver state and progress."""
    progress = {"stage_index": 0, "stage_step": 0, "step": 0, "draw": 0}
    solver: Mapping[str, np.ndarray] = {}
    if last is not None:
        progress = {name: getattr(last, name) for name in progress}
        solver = last.solver_state
    drawn = setup.draw_points() if last is None else last.points
    return {
        "progress": np.array(to_json(progress)),
        **{f"points/{name}": points for name, points in drawn.items()},
        **{f"solver/{name}": np.array(array) for name, array in solver.items()},
    }


def read_arrays(arrays: Mapping[str, np.ndarray], path: str) -> Contents:
    """Return what solution_arrays packed; DamagedFile, naming the path, for anything else."""
    try:
        found = _text(arrays, "format")
        if found != FORMAT:
            raise ValueError(f"its format is {found!r}, expected {FORMAT!r}")
        theta = _theta(arrays)
        setup = Setup.from_json(_text(arrays, "setup"))
        _check_size(setup, theta)
        report = Report.from_dict(from_json(_text(arrays, "report")))
    except SIGNS_OF_DAMAGE as error:
        raise DamagedFile(
            f"{path}: expected a solution or checkpoint that pinn wrote, but "
            f"{str(error) or type(error).__name__}"
        ) from error
    return Contents(setup, theta, report)


def _text(arrays: Mapping[str, np.ndarray], name: str) -> str:
    if name not in arrays:
        raise ValueError(f"no {name!r} is in it")
    array = arrays[name]
    if array.dtype.kind != "U" or array.shape != ():
        raise ValueError(f"{name!r} is not one text")
    return str(array)


def _theta(arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    prefix = "theta/"
    theta = {k.removeprefix(prefix): a for k, a in arrays.items() if k.startswith(prefix)}
    for name, part in theta.items():
        if part.dtype != np.float64:
            raise ValueError(f"parameter {name}: expected float64, got {part.dtype}")
    return theta


def _check_size(setup: Setup, theta: Mapping[str, np.ndarray]) -> None:
    """Raise ValueError where the model would be larger than the parameters that are there.

    Before it is built: a few letters of the setup can declare more memory than a machine has.
    """
    count = getattr(setup.model, "parameter_count", None)
    there = sum(part.size for part in theta.values())
    declared = 0 if count is None else count(setup.problem.domain, setup.problem.unknowns)
    if declared > there:
        raise ValueError(f"its model has {declared} parameters and the file {there}")
