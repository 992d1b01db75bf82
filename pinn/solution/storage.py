"""The arrays of a solution file and of a checkpoint: one format, written without pickle.

    format      "pinn solution 1"
    setup       JSON: the arguments of pinn.solve (functions become null)
    report      JSON: what training reported so far
    theta/NAME  every part of the parameter vector, float64: model.weight0, nu, ...
    points/BLOCK, solver/NAME, progress   in a checkpoint only: collocation points, the solver's
                own arrays, and JSON with the stage, step and draw they belong to

No random state is stored because none is left over: every stream starts from the seed by name.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pinn.files import DamagedFile, to_json
from pinn.training.setup import Setup

if TYPE_CHECKING:
    from pinn.training.records import StepRecord

FORMAT = "pinn solution 1"


class Contents(NamedTuple):
    """What a solution file or a checkpoint holds."""

    setup: Setup
    theta: dict[str, np.ndarray]
    report: dict[str, Any]


def solution_arrays(
    setup: Setup, theta: Mapping[str, np.ndarray], report: Mapping[str, Any]
) -> dict[str, np.ndarray]:
    """Return the named arrays of a solution file; TypeError for a model that cannot be saved."""
    return {
        "format": np.array(FORMAT),
        "setup": np.array(setup.to_json()),
        "report": np.array(to_json(report)),
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
        found = str(arrays["format"])
        if found != FORMAT:
            raise ValueError(f"its format is {found!r}, expected {FORMAT!r}")
        setup = Setup.from_json(str(arrays["setup"]))
        report = json.loads(str(arrays["report"]))
    except (KeyError, ValueError, TypeError, AttributeError) as error:
        reason = f"no {error}" if isinstance(error, KeyError) else str(error)
        raise DamagedFile(
            f"{path}: expected a solution or checkpoint that pinn wrote, but {reason}"
        ) from error
    prefix = "theta/"
    theta = {k.removeprefix(prefix): a for k, a in arrays.items() if k.startswith(prefix)}
    return Contents(setup, theta, report)
