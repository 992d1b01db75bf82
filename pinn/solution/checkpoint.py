"""The arrays of a checkpoint: a solution file, and all that training goes on with.

Besides those of pinn.solution.storage:

    asked       JSON in UTF-8: the declaration of the run as asked for, before a model was chosen
    progress    JSON in UTF-8: the version that wrote it, the last step and what came before, and
                name -> shape of all arrays that follow: one that is gone is missed
    theta       (size,) float64, that of the last step: what solvers step in, whatever the precision
    points/BLOCK, columns/BLOCK/NAME   the points of that step with what is attached to them, of
                blocks that share theirs under the first name
    solver/NAME, weights/BLOCK, row_weights/BLOCK, weighting/NAME, looks/NAME   the solver's own
                arrays, the weights and what their scheme remembers, the losses that the run is
                judged by

No random state is stored because none is left over: every stream starts from the seed by name.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from pinn.expressions import abridge
from pinn.files import DamagedFile, from_json, read_npz, to_json
from pinn.optimizers import STAGES
from pinn.sampling import Points
from pinn.schema.declared import Member
from pinn.schema.reader import Reader
from pinn.schema.tree import Place, tree_of
from pinn.solution.restored import restored
from pinn.solution.storage import (
    LONGEST,
    SIGNS_OF_DAMAGE,
    read_arrays,
    short_json,
)
from pinn.training.course import Choice, Course, Decision
from pinn.training.experiment import Experiment
from pinn.training.looks import Looks
from pinn.training.records import LegReport, Resume, Setback, StageReport, StepRecord

FORMAT = "pinn checkpoint 2"
# In the directory of a run: the newest, and the one before.
CHECKPOINT, PREVIOUS_CHECKPOINT = "checkpoint.npz", "checkpoint.previous.npz"
# Among its arrays, where a run wrote it: how many lines of metrics there were.
METRICS_LINES = "metrics_lines"

# Of arrays whose names depend on the run.
_KINDS = {"points", "columns", "solver", "weights", "row_weights", "weighting", "looks"}
_MOST_NAMED = 8


class Checkpoint(NamedTuple):
    """What a checkpoint holds.

    experiment: the run as it goes on; asked: its declaration before a model was chosen, as JSON.
    resume: where it goes on, None before the first step. writer: the version of pinn that wrote it.
    lines: how many lines of metrics its run had written, None where it is of no run directory.
    """

    experiment: Experiment
    asked: dict[str, Any]
    resume: Resume | None
    writer: str
    lines: int | None


@dataclass(frozen=True)
class _Choice:
    stage: Any
    why: str


@dataclass(frozen=True)
class _Progress:
    """All of a Resume that is no array; the step's numbers under their names in StepRecord."""

    step: int
    stage: str
    stage_index: int
    stage_step: int
    stage_steps: int
    loss: float
    losses: dict[str, float]
    learning_rate: float | None
    seconds: float
    stage_seconds: float
    draw: int
    parameters: dict[str, float]
    lowest: float
    setbacks: tuple[Setback, ...]
    choices: tuple[_Choice, ...]
    decisions: tuple[Decision, ...]
    drawn_at: int
    grown: dict[str, int]
    history: list[dict[str, Any]]
    stages: tuple[StageReport, ...]
    legs: tuple[LegReport, ...]
    began: float
    run_decisions: tuple[Decision, ...]
    started: bool
    shared: dict[str, str] = field(default_factory=dict)
    weighed_at: int = field(default=0, metadata={"later": True})


# Those of its fields that are the step's own.
_OF_STEP = [
    "step", "stage", "stage_index", "stage_step", "stage_steps", "loss", "losses",
    "learning_rate", "seconds", "stage_seconds", "draw", "parameters", "lowest", "setbacks",
]  # fmt: skip


def checkpoint_arrays(asked: Experiment, resume: Resume | None) -> dict[str, np.ndarray]:
    """Return the arrays that a checkpoint adds to those of its solution."""
    import pinn

    about = {"format": FORMAT, "pinn": pinn.__version__}
    found = {"asked": _bytes_of(short_json(asked)[0])}
    if resume is None:
        return {**found, "progress": _bytes_of(to_json({**about, "last": None, "arrays": {}}))}
    record = resume.record
    shared = _shared(record.points)
    last = _plain(_progress(resume, shared))
    own = {name: points for name, points in record.points.items() if shared[name] == name}
    looks = record.course.looks
    arrays = {
        "theta": np.array(record.theta, dtype=np.float64),
        **{f"points/{name}": points.coordinates for name, points in own.items()},
        **{
            f"columns/{name}/{column}": array
            for name, points in own.items()
            for column, array in points.columns.items()
        },
        **{f"solver/{name}": np.array(array) for name, array in record.solver_state.items()},
        **{f"weights/{name}": np.array(weight) for name, weight in record.weights.items()},
        **{f"row_weights/{name}": array for name, array in record.row_weights.items()},
        **{f"weighting/{n}": np.array(array) for n, array in record.weighting_state.items()},
        **{f"looks/{one.name}": getattr(looks, one.name) for one in fields(looks)},
    }
    shapes = {name: list(np.shape(array)) for name, array in arrays.items()}
    progress = to_json({**about, "last": last, "arrays": shapes})
    return {**found, "progress": _bytes_of(progress), **arrays}


def read_checkpoint(path: Path) -> Checkpoint:
    """Return what a checkpoint holds.

    Raises FileNotFoundError, and DamagedFile for a file that is damaged or none of ours.
    """
    arrays = read_npz(path)
    contents = read_arrays(arrays, str(path))
    remedy = "restore it from a copy, or begin the run anew"
    try:
        asked = from_json(_bytes_in(arrays, "asked"))
        if not isinstance(asked, dict):
            raise ValueError("its declaration is no object")
        progress = from_json(_bytes_in(arrays, "progress"))
        if not isinstance(progress, dict) or "format" not in progress:
            raise ValueError("its progress is of another form")
        if progress["format"] != FORMAT:
            remedy = "go on with the version of pinn that wrote it, or begin the run anew"
            raise ValueError(f"its format is {progress['format']!r}, expected {FORMAT!r}")
        if progress.keys() != {"format", "pinn", "last", "arrays"}:
            raise ValueError("its progress is of another form")
        _check_all_there(progress["arrays"], arrays)
        last, resume = progress["last"], None
        if last is not None:
            resume = _resume(restored(_Progress, last, "progress"), arrays, path)
        writer, lines = str(progress["pinn"]), _lines(arrays)
        return Checkpoint(contents.experiment, asked, resume, writer, lines)
    except SIGNS_OF_DAMAGE as error:
        what = str(error) or type(error).__name__
        raise DamagedFile(
            f"{path}: expected a checkpoint to go on from, but {abridge(what, LONGEST)}; "
            f"{remedy}"
        ) from error


def _check_all_there(written: Any, arrays: Mapping[str, np.ndarray]) -> None:
    """Raise ValueError, with their names, where arrays are not those that a checkpoint was given.

    Without its arrays a solver would begin with an empty memory and nobody would know.
    """
    if not isinstance(written, dict):
        raise ValueError("its list of arrays is of another form")
    gone = [name for name in written if name not in arrays]
    if gone:
        more = f" and {len(gone) - _MOST_NAMED} more" if len(gone) > _MOST_NAMED else ""
        many = len(gone) > 1
        raise ValueError(
            f"its array{'s' * many} {', '.join(gone[:_MOST_NAMED])}{more} "
            f"{'are' if many else 'is'} missing"
        )
    for name, shape in written.items():
        if list(arrays[name].shape) != shape:
            raise ValueError(f"{name} has shape {list(arrays[name].shape)}, not {shape}")
    added = [name for name in arrays if name.split("/")[0] in _KINDS and name not in written]
    if added:
        raise ValueError(f"it was written without the array {abridge(added[0], 80)}")


def _bytes_of(text: str) -> np.ndarray:
    """Return a text as bytes: an array of letters takes four times as much."""
    return np.frombuffer(text.encode("utf-8"), dtype=np.uint8)


def _bytes_in(arrays: Mapping[str, np.ndarray], name: str) -> bytes:
    if arrays[name].dtype != np.uint8:
        raise ValueError(f"{name!r} is not a text in bytes")
    return arrays[name].tobytes()


def _shared(points: Mapping[str, Points]) -> dict[str, str]:
    """Return under which block's name the points of each are kept."""
    first: dict[int, str] = {}
    return {name: first.setdefault(id(one), name) for name, one in points.items()}


def _progress(resume: Resume, shared: dict[str, str]) -> _Progress:
    record, course = resume.record, resume.record.course
    choices = tuple(_Choice(Member(STAGES).dump(one.stage), one.why) for one in course.choices)
    return _Progress(
        **{name: getattr(record, name) for name in _OF_STEP},
        choices=choices, decisions=course.decisions, drawn_at=course.drawn_at,
        grown=dict(course.grown), history=list(resume.history), stages=tuple(resume.stages),
        legs=resume.legs, began=resume.began, run_decisions=resume.decisions,
        started=resume.started, shared=shared, weighed_at=course.weighed_at,
    )  # fmt: skip


def _plain(value: Any) -> Any:
    """Return dataclasses, within each other and in sequences, as mappings of their fields."""
    if hasattr(value, "__dataclass_fields__"):
        return {one.name: _plain(getattr(value, one.name)) for one in fields(value)}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    return value


def _lines(arrays: Mapping[str, np.ndarray]) -> int | None:
    found = arrays.get(METRICS_LINES)
    if found is None:
        return None
    if found.shape or found.dtype.kind != "i" or found < 0:
        raise ValueError(f"{METRICS_LINES!r} is not a number of lines")
    return int(found)


def _resume(told: _Progress, arrays: Mapping[str, np.ndarray], path: Path) -> Resume:
    def under(kind: str) -> dict[str, np.ndarray]:
        start = f"{kind}/"
        return {n.removeprefix(start): a for n, a in arrays.items() if n.startswith(start)}

    columns: dict[str, dict[str, np.ndarray]] = {}
    for name, array in under("columns").items():
        block, column = name.rsplit("/", 1)
        columns.setdefault(block, {})[column] = array
    own = {name: Points(array, columns.get(name, {})) for name, array in under("points").items()}
    course = Course(
        Looks(**under("looks")),
        tuple(Choice(_stage(one.stage, path), one.why) for one in told.choices),
        told.decisions, told.drawn_at, told.grown, told.weighed_at,
    )  # fmt: skip
    numbers = {name: getattr(told, name) for name in _OF_STEP}
    for name in ("step", "stage_index", "stage_step", "draw"):
        if numbers[name] < 0:
            raise ValueError(f"progress.{name}: expected zero or more, got {numbers[name]}")
    if math.isnan(told.lowest):  # before the first
        numbers["lowest"] = math.inf
    record = StepRecord(
        **numbers,
        theta=_theta(arrays),
        solver_state=under("solver"),
        points={name: own[first] for name, first in told.shared.items()},
        weights={name: float(array) for name, array in under("weights").items()},
        row_weights=under("row_weights"),
        weighting_state=under("weighting"),
        course=course,
    )
    return Resume(
        record, told.history, told.stages, told.legs, told.began, told.run_decisions, told.started
    )


def _theta(arrays: Mapping[str, np.ndarray]) -> np.ndarray:
    theta, parts = arrays["theta"], (a for n, a in arrays.items() if n.startswith("theta/"))
    size = sum(part.size for part in parts)
    if theta.dtype != np.float64 or theta.shape != (size,):
        raise ValueError(f"theta: expected ({size},) numbers in float64")
    return theta


def _stage(stored: Any, path: Path) -> Any:
    reader = Reader(stored=True)
    stage = reader.read(Member(STAGES), tree_of(stored, Place(str(path))), ())
    if reader.complaints:
        raise ValueError(str(reader.complaints[0]))
    return stage
