"""The arrays of a solution file, written without pickle.

    format      "pinn solution 2"
    experiment  JSON: the declaration of the run, as in a config file (functions become null)
    report      JSON: what training reported so far
    arrays/DIGEST   the longer arrays of the declaration, which names them by their SHA-256
    theta/NAME  every part of the parameter vector, float64: model.weight0, nu, ...
    held        JSON: the digests of what modules of the user's hold besides, buffers and frozen
                parameters, by name; only where they do

A checkpoint has more of them, see pinn.solution.checkpoint.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

import autograd as T
from pinn.expressions import abridge
from pinn.files import DamagedFile, from_json, to_json
from pinn.models import is_by_trial
from pinn.models.model import has_own
from pinn.objective.flat_parameters import FlatParameters
from pinn.schema import dump
from pinn.schema.arrays import digest, with_arrays_beside, with_texts
from pinn.schema.declared import Record
from pinn.schema.reader import Reader
from pinn.schema.tree import Place, tree_of
from pinn.solution.report import Report
from pinn.training.experiment import Experiment

FORMAT = "pinn solution 2"
_BESIDE = "arrays/"
# Of what is told about a file that is damaged: it may quote anything.
LONGEST = 1000

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

    experiment: Experiment
    theta: dict[str, np.ndarray]
    report: Report
    held: dict[str, str]


def solution_arrays(
    experiment: Experiment,
    theta: Mapping[str, np.ndarray],
    report: Report,
    held: Mapping[str, str] | None = None,
) -> dict[str, np.ndarray]:
    """Return the named arrays of a solution file.

    held: as of `held_by_own_models`.

    Raises TypeError for a hard condition whose value is a function: without it the unknowns have no
    value.
    """
    declaration, beside = short_json(experiment)
    return {
        "format": np.array(FORMAT),
        "experiment": np.array(declaration),
        "report": np.array(to_json(report.as_dict())),
        **{f"{_BESIDE}{found}": array for found, array in beside.items()},
        **{f"theta/{name}": np.array(part) for name, part in theta.items()},
        **({"held": np.array(to_json(dict(held)))} if held else {}),
    }


def held_by_own_models(experiment: Experiment, parameters: FlatParameters) -> dict[str, str]:
    """Return the digests of what modules of the user's hold besides theta, by name.

    Of a module that was given these are the buffers that it was given with: training has a copy,
    whose own, such as a counter of calls, may change.
    """
    models = {"model": experiment.model}
    models |= {one.name: one.model for one in experiment.problem.fields}
    found: dict[str, np.ndarray] = {}
    for owner, model in models.items():
        if has_own(model):
            found |= parameters.frozen(owner)
        if isinstance(model, T.nn.Module):
            buffers = model.named_buffers()
            found |= {f"{owner}.{name}": tensor.cpu().numpy() for name, tensor in buffers}
    return {name: digest(array) for name, array in found.items()}


def check_held(found: Mapping[str, str], expected: Mapping[str, str], path: str) -> None:
    """Raise ValueError where modules that are given hold other numbers than those of training."""
    other = [name for name, one in expected.items() if found.get(name) != one]
    if other:
        raise ValueError(
            f"{path}: {other[0]} of the module that was given is not what it was in training: a "
            "file holds what was trained, and no buffers and frozen parameters; give the module "
            "with the same ones, as by its load_state_dict(...)"
        )


def read_arrays(arrays: Mapping[str, np.ndarray], path: str) -> Contents:
    """Return what solution_arrays packed; DamagedFile, naming the path, for anything else."""
    try:
        found = text_in(arrays, "format")
        if found != FORMAT:
            raise ValueError(f"its format is {found!r}, expected {FORMAT!r}")
        theta = _theta(arrays)
        experiment = read_experiment(text_in(arrays, "experiment"), path, _beside(arrays))
        _check_model(experiment, theta)
        report = Report.from_dict(from_json(text_in(arrays, "report")))
        held = from_json(text_in(arrays, "held")) if "held" in arrays else {}
        if not isinstance(held, dict):
            raise ValueError("'held' is no table of names")
    except SIGNS_OF_DAMAGE as error:
        what = str(error).removeprefix(f"{path}: ") or type(error).__name__
        raise DamagedFile(
            f"{path}: expected a solution or checkpoint that pinn wrote, but "
            f"{abridge(what, LONGEST)}"
        ) from error
    return Contents(experiment, theta, report, held)


def text_in(arrays: Mapping[str, np.ndarray], name: str) -> str:
    """Return a text among named arrays; ValueError where it is none."""
    if name not in arrays:
        raise ValueError(f"no {name!r} is in it")
    array = arrays[name]
    if array.dtype.kind != "U" or array.shape != ():
        raise ValueError(f"{name!r} is not one text")
    return str(array)


def _beside(arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return the arrays of the declaration by digest; ValueError for one of another digest."""
    found = {k.removeprefix(_BESIDE): a for k, a in arrays.items() if k.startswith(_BESIDE)}
    for name, array in found.items():
        if digest(array) != name:
            raise ValueError(f"an array of its declaration is not the one of digest {name}")
    return found


def _theta(arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    prefix = "theta/"
    theta = {k.removeprefix(prefix): a for k, a in arrays.items() if k.startswith(prefix)}
    for name, part in theta.items():
        if part.dtype != np.float64:
            raise ValueError(f"parameter {name}: expected float64, got {part.dtype}")
    return theta


def _check_model(experiment: Experiment, theta: Mapping[str, np.ndarray]) -> None:
    """Raise ValueError for a model that has not been chosen, or larger than its parameters are.

    Before it is built: a few letters of the file can declare more memory than a machine has.
    """
    if is_by_trial(experiment.model):
        raise ValueError("its model has not been chosen: it is auto, which has no parameters")
    there = sum(part.size for part in theta.values())
    declared = experiment.network_size()
    if declared > there:
        raise ValueError(f"its model has {declared} parameters and the file {there}")


def experiment_json(experiment: Experiment) -> str:
    """Return the declaration of a run as JSON; TypeError where a function is needed to evaluate."""
    return to_json(with_texts(_declaration(experiment)))


def short_json(experiment: Experiment) -> tuple[str, dict[str, np.ndarray]]:
    """Return the declaration of a run with the digests of its longer arrays, and these."""
    beside: dict[str, np.ndarray] = {}
    return to_json(with_arrays_beside(_declaration(experiment), beside)), beside


def _declaration(experiment: Experiment) -> dict[str, Any]:
    problem = experiment.problem
    for condition in problem.conditions:
        held = condition.exact(problem.domain) if condition.hard else ()
        if any(callable(value) for exact in held for value in exact.values):
            raise TypeError(
                f"the hard condition {held[0].condition!r} has a Python function as its value, "
                "which a file cannot hold, and the solution is made of it; give the value as text "
                "to save it"
            )
    data = dump(experiment)
    del data["threads"], data["executor"]  # they change no bit, and belong to the machine
    return data


def read_experiment(
    text: str, source: str, arrays: Mapping[str, np.ndarray] | None = None
) -> Experiment:
    """Return the declaration that `experiment_json` wrote.

    An equation or value that was a function comes back as one that only raises RuntimeError: the
    solution can be evaluated and differentiated, but not trained further. arrays: those that stand
    beside the text, by digest. Raises ValueError for other text.
    """
    reader = Reader(stored=True, arrays=arrays or {})
    tree = tree_of(from_json(text), Place(source))
    experiment = reader.read(Record(Experiment), tree, ())
    if reader.complaints:
        first, *others = map(str, reader.complaints)
        raise ValueError(first + (f" (and {len(others)} more)" if others else ""))
    return experiment
