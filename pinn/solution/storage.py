"""The arrays of a solution file and of a checkpoint: one format, written without pickle.

    format      "pinn solution 2"
    experiment  JSON: the declaration of the run, as in a config file (functions become null)
    report      JSON: what training reported so far
    theta/NAME  every part of the parameter vector, float64: model.weight0, nu, ...
    points/BLOCK, columns/BLOCK/NAME, solver/NAME, progress   in a checkpoint only: collocation
                points with what is attached to them, the solver's own arrays, and JSON with the
                stage, step and draw they belong to

No random state is stored because none is left over: every stream starts from the seed by name.
scipy's L-BFGS keeps its memory to itself, so a checkpoint in that stage has no solver arrays.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pinn.files import DamagedFile, to_json
from pinn.schema import dump
from pinn.schema.declared import Record
from pinn.schema.reader import Reader
from pinn.schema.tree import Place, tree_of
from pinn.training.experiment import Experiment

if TYPE_CHECKING:
    from pinn.training.records import StepRecord

FORMAT = "pinn solution 2"


class Contents(NamedTuple):
    """What a solution file or a checkpoint holds."""

    experiment: Experiment
    theta: dict[str, np.ndarray]
    report: dict[str, Any]


def solution_arrays(
    experiment: Experiment, theta: Mapping[str, np.ndarray], report: Mapping[str, Any]
) -> dict[str, np.ndarray]:
    """Return the named arrays of a solution file.

    Raises TypeError for a hard condition whose value is a function: without it the unknowns have no
    value.
    """
    return {
        "format": np.array(FORMAT),
        "experiment": np.array(experiment_json(experiment)),
        "report": np.array(to_json(report)),
        **{f"theta/{name}": np.array(part) for name, part in theta.items()},
    }


def checkpoint_arrays(
    experiment: Experiment, last: StepRecord | None
) -> dict[str, np.ndarray]:
    """Return the arrays that a checkpoint adds: points, solver state and progress."""
    progress = {"stage_index": 0, "stage_step": 0, "step": 0, "draw": 0}
    solver: Mapping[str, np.ndarray] = {}
    if last is not None:
        progress = {name: getattr(last, name) for name in progress}
        solver = last.solver_state
    drawn = experiment.draw_points() if last is None else last.points
    return {
        "progress": np.array(to_json(progress)),
        **{f"points/{name}": points.coordinates for name, points in drawn.items()},
        **{
            f"columns/{name}/{column}": array
            for name, points in drawn.items()
            for column, array in points.columns.items()
        },
        **{f"solver/{name}": np.array(array) for name, array in solver.items()},
    }


def read_arrays(arrays: Mapping[str, np.ndarray], path: str) -> Contents:
    """Return what solution_arrays packed; DamagedFile, naming the path, for anything else."""
    try:
        found = str(arrays["format"])
        if found != FORMAT:
            raise ValueError(f"its format is {found!r}, expected {FORMAT!r}")
        experiment = read_experiment(str(arrays["experiment"]), path)
        report = json.loads(str(arrays["report"]))
    except (KeyError, ValueError, TypeError, AttributeError) as error:
        reason = f"no {error}" if isinstance(error, KeyError) else str(error)
        raise DamagedFile(
            f"{path}: expected a solution or checkpoint that pinn wrote, but {reason}"
        ) from error
    prefix = "theta/"
    theta = {k.removeprefix(prefix): a for k, a in arrays.items() if k.startswith(prefix)}
    return Contents(experiment, theta, report)


def experiment_json(experiment: Experiment) -> str:
    """Return the declaration of a run as JSON; TypeError where a function is needed to evaluate."""
    problem = experiment.problem
    for condition in problem.conditions:
        held = condition.exact(problem.domain) if condition.hard else ()
        if any(callable(exact.value) for exact in held):
            raise TypeError(
                f"the hard condition {held[0].condition!r} has a Python function as its value, "
                "which a file cannot hold, and the solution is made of it; give the value as text "
                "to save it"
            )
    data = dump(experiment)
    del data["threads"]  # they change no bit, and belong to the machine
    return to_json(data)


def read_experiment(text: str, source: str) -> Experiment:
    """Return the declaration that `experiment_json` wrote.

    An equation or value that was a function comes back as one that only raises RuntimeError: the
    solution can be evaluated and differentiated, but not trained further. Raises ValueError for
    other text.
    """
    reader = Reader(stored=True)
    tree = tree_of(json.loads(text), Place(source))
    experiment = reader.read(Record(Experiment), tree, ())
    if reader.complaints:
        first, *others = map(str, reader.complaints)
        raise ValueError(first + (f" (and {len(others)} more)" if others else ""))
    return experiment
