"""Going on with a run that was cut short: its checkpoint, and whether it is of the same run."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import pinn
from pinn.files import DamagedFile, from_json, to_json
from pinn.models import is_by_trial
from pinn.objective.weighting import Fixed
from pinn.solution.checkpoint import (
    CHECKPOINT,
    PREVIOUS_CHECKPOINT,
    Checkpoint,
    read_checkpoint,
)
from pinn.solution.storage import short_json
from pinn.training.experiment import Experiment
from pinn.training.records import Resume

# What says how long a run goes on, which may grow.
_LIMITS = ("seconds", "target", "error_bars")
_OF_STAGES = ("steps", "seconds")
# What a trial chooses of the points.
_BY_TRIAL = ("interior", "boundary", "initial", "density")
_MOST_TOLD, _MOST_SHOWN = 8, 60


class Resumed(NamedTuple):
    """The experiment that goes on, where (None before the first step), and from which file.

    lines: of metrics that its run had written.
    """

    experiment: Experiment
    resume: Resume | None = None
    path: Path | None = None
    lines: int | None = None


def resumed(
    path: str | os.PathLike[str], asked: Experiment, stated: Experiment
) -> Resumed:
    """Return what a checkpoint goes on with.

    path: the file, or the directory of a run. Where its newest is damaged, the one before is taken,
    with a RuntimeWarning. asked: the run that is declared now. stated: the same with what follows
    from its problem; what a trial has chosen is the checkpoint's. Raises ValueError, with the keys
    that differ, where that is another than the checkpoint's, or another version of pinn wrote it;
    FileNotFoundError; pinn.files.DamagedFile.
    """
    path, found = _of_the_same_run(path, asked)
    if found.resume is None:
        return Resumed(asked, None, path, found.lines)
    chosen, experiment = found.experiment, stated
    if isinstance(asked.weighting, Fixed):  # chosen beside a target, which may be another now
        experiment = stated = replace(stated, weighting=chosen.weighting)
    if is_by_trial(asked.model):
        points = {name: getattr(chosen.sampling, name) for name in _BY_TRIAL}
        sampling = replace(stated.sampling, **points)
        experiment = replace(
            stated, model=chosen.model, sampling=sampling, continuation=chosen.continuation
        )
    return Resumed(experiment, found.resume, path, found.lines)


def check_alike(asked: Experiment) -> None:
    """Refuse a declaration that is another than rank 0's; called by all ranks.

    Raises ValueError on the ranks where it is, with the keys that differ. Of what no text holds (a
    Python function) nothing is compared.
    """
    try:
        here = short_json(asked)[0]
    except TypeError:  # a hard condition made of a function
        here = ""
    there = asked.ranks.agreed(lambda: here)
    if here and there and here != there:
        told = _told(list(_differences(from_json(there), from_json(here), (), None)))
        raise ValueError(
            f"pinn.solve was called with other arguments than on rank 0: {told}; give all ranks "
            "the same"
        )


class OtherLimits(NamedTuple):
    """Where the limits of a run that is declared now differ from those of a checkpoint.

    told: each that does, with what is there and here, "" where none does. raised: whether the run
    may go on for longer by one of them.
    """

    told: str
    raised: bool


def other_limits(path: str | os.PathLike[str], asked: Experiment) -> OtherLimits:
    """Return in which limits the run that is declared now differs from that of a checkpoint.

    path, asked, and what is raised: as for `resumed`.
    """
    _, found = _of_the_same_run(path, asked)
    differing = dict(_limits(found.asked, from_json(short_json(asked)[0]), ()))
    return OtherLimits(_told(list(differing)), any(differing.values()))


def _of_the_same_run(path: str | os.PathLike[str], asked: Experiment) -> tuple[Path, Checkpoint]:
    """Return a checkpoint and its file; ValueError where it is of another run than is asked for."""
    path, found = _found(Path(path))
    if found.writer != pinn.__version__:
        raise ValueError(
            f"resume: {path} was written by pinn {found.writer}, and this is pinn "
            f"{pinn.__version__}, whose bits may be others; begin a new run, which in Python "
            f"start=pinn.load({str(path)!r}) does from its numbers"
        )
    ended = 0 if found.resume is None else found.resume.record.stage_index
    try:
        here = from_json(short_json(asked)[0])
        different = list(_differences(found.asked, here, (), ended))
    except RecursionError:
        raise DamagedFile(f"{path}: its declaration is nested too deeply") from None
    if different:
        raise ValueError(
            f"resume: {path} is of another run: {_told(different)}; only what says how long a run "
            f"goes on may change ({', '.join(_LIMITS)}, {' and '.join(_OF_STAGES)} of a stage that "
            "has not ended): give the run's own settings for the rest, or begin a new one elsewhere"
        )
    return path, found


def _told(different: Sequence[str]) -> str:
    more = len(different) - _MOST_TOLD
    return "; ".join(different[:_MOST_TOLD]) + (f"; and {more} more" if more > 0 else "")


def _limits(there: Any, here: Any, path: tuple[str, ...]) -> Iterator[tuple[str, bool]]:
    """Give each limit in which two declarations differ, and whether the second goes further."""
    if isinstance(there, dict) and isinstance(here, dict):
        for key in {**there, **here}:
            at, one, other = (*path, key), there.get(key), here.get(key)
            if _is_limit(at, 0):
                lower, higher = (other, one) if at == ("target",) else (one, other)
                if one != other:
                    further = one is not None and (other is None or lower < higher)
                    yield _difference(at, one, other), further
            else:
                yield from _limits(one, other, at)
    elif isinstance(there, list) and isinstance(here, list):
        for number, (one, other) in enumerate(zip(there, here, strict=False)):
            yield from _limits(one, other, (*path, str(number)))


def _found(path: Path) -> tuple[Path, Checkpoint]:
    if path.is_dir():
        path = path / CHECKPOINT
    before = path.with_name(PREVIOUS_CHECKPOINT)
    try:
        return path, read_checkpoint(path)
    except (DamagedFile, FileNotFoundError) as error:
        if path.name != CHECKPOINT or not before.exists():
            raise
        found = read_checkpoint(before)
        what = "is damaged" if isinstance(error, DamagedFile) else "is gone"
        warnings.warn(
            f"{path} {what}, and training goes on from {before.name} ({error})",
            RuntimeWarning, stacklevel=4,
        )  # fmt: skip
        return before, found


def _differences(there: Any, here: Any, path: tuple[str, ...], ended: int | None) -> Iterator[str]:
    """Give each place at which two declarations differ, with what is there and here.

    ended: how many stages have, so that their limits cannot grow; None where no limit may differ.
    """
    if isinstance(there, dict) and isinstance(here, dict):
        for key in [*there, *(key for key in here if key not in there)]:
            at = (*path, key)
            if not _is_limit(at, ended):
                yield from _differences(there.get(key), here.get(key), at, ended)
    elif isinstance(there, list) and isinstance(here, list) and len(there) == len(here):
        for number, (one, other) in enumerate(zip(there, here, strict=True)):
            yield from _differences(one, other, (*path, str(number)), ended)
    elif there != here:
        yield _difference(path, there, here)


def _difference(path: tuple[str, ...], there: Any, here: Any) -> str:
    return f"{'.'.join(path)} is {_short(there)} there and {_short(here)} here"


def _short(value: Any, room: int = _MOST_SHOWN) -> str:
    """Return a value as JSON, within so many letters: what is long is cut between its items."""
    text = to_json(value)
    if len(text) <= room:
        return text
    if isinstance(value, dict):
        begin, end, items = "{", "}", [(f"{to_json(key)}: ", one) for key, one in value.items()]
    elif isinstance(value, list):
        begin, end, items = "[", "]", [("", one) for one in value]
    elif isinstance(value, str):
        return f'{text[: max(room - 4, 1)]}..."'
    else:  # a number that is cut is another one
        return text
    shown: list[str] = []
    for label, one in items:
        left = room - len(begin + "".join(f"{item}, " for item in shown) + f"{label}, ...{end}")
        item = _short(one, left)
        if len(item) > left:
            break
        shown.append(label + item)
        if item != to_json(one):
            break
    rest = ["..."] * (len(shown) < len(items))
    return f"{begin}{', '.join([*shown, *rest])}{end}"


def _is_limit(path: tuple[str, ...], ended: int | None) -> bool:
    if ended is None:
        return False
    if len(path) == 1:
        return path[0] in _LIMITS
    if path[0] != "training" or path[-1] not in _OF_STAGES:
        return False
    return not (path[1].isdigit() and int(path[1]) < ended)
