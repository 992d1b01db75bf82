"""Train what a case states and compare with its reference, which training never sees."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Iterable
from importlib import import_module
from types import ModuleType
from typing import Any

import pinn
from experiments.case import Case, compare, relative_l2
from experiments.resumable import ROOT
from pinn.config import Override, load
from pinn.models import MODELS, AutoModel, Model
from pinn.optimizers import StopReason
from pinn.schema.declared import dump, fields_of
from pinn.training.auto import Auto
from pinn.training.experiment import Experiment

_EMPTY = (None, False, [], {}, ())


def problem(case: Case) -> pinn.Problem:
    """Return what the case's config or program states."""
    return _program(case).PROBLEM if _is_program(case) else experiment(case).problem


def experiment(case: Case, settings: Iterable[str] = ()) -> Experiment:
    """Return what a case's config declares, with the case's own settings and these laid over it.

    settings: as on the command line, "sampling.interior=500". Raises ConfigError for what does not
    fit.
    """
    overrides = [Override.parse(text, case.name) for text in (*case.settings, *settings)]
    return load(case.file, overrides).experiment


def limit(case: Case, seconds: float) -> float:
    """Return the time that a case's training may take: the config's own, at most `seconds`."""
    own = None if _is_program(case) else experiment(case).seconds
    return seconds if own is None else min(own, seconds)


def left_to_auto(case: Case) -> list[str]:
    """Return what a case's config leaves to `auto`: "model", "stages", both or nothing.

    The model counts where its kind, width and depth are not said; what it sees may be.
    """
    if _is_program(case):
        return []
    declared = experiment(case)
    kinds = {"model": (declared.model, AutoModel), "stages": (declared.training, Auto)}
    return [what for what, (value, kind) in kinds.items() if isinstance(value, kind)]


def solve(case: Case, seconds: float, seed: int, threads: int | None = None) -> pinn.Solution:
    """Run the case's program, or train its config with these in place of its own settings.

    threads: of a config; all cores where left out. The error is not estimated: that is for after
    the time that is measured.
    """
    if _is_program(case):
        return _program(case).solve(seconds, seed)
    settings = {"seconds": seconds, "seed": seed, "threads": threads, "error_bars": False}
    given = [
        f"{name}={str(value).lower()}" for name, value in settings.items() if value is not None
    ]
    return pinn.solve(**experiment(case, given).arguments)


def _is_program(case: Case) -> bool:
    return case.file.suffix == ".py"


def _program(case: Case) -> ModuleType:
    return import_module(".".join(case.file.relative_to(ROOT).with_suffix("").parts))


def measure(
    case: Case, seconds: float, seed: int, threads: int | None = None
) -> tuple[dict[str, Any], pinn.Solution | None]:
    """Return the figures of a case and what was trained; `failed` is why nothing could be.

    seconds: how long it may train at most; a config that says a shorter time takes that. Raises
    KeyboardInterrupt where training was interrupted: what it leaves is no result.
    """
    facts: dict[str, Any] = {"name": case.name, "seed": seed}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            facts["limit_seconds"] = limit(case, seconds)
            facts["auto"] = left_to_auto(case)
            began, processor = time.perf_counter(), time.process_time()
            solution = solve(case, facts["limit_seconds"], seed, threads)
        except Exception as error:  # whatever goes wrong is the result of this case
            return {**facts, "failed": f"{type(error).__name__}: {error}"}, None
        wall, processor = time.perf_counter() - began, time.process_time() - processor
    report = solution.report
    if report.stop_reason == StopReason.INTERRUPTED:
        raise KeyboardInterrupt
    errors, agreement, method = compare(case, solution)
    worst = max(errors.values(), key=lambda e: math.inf if math.isnan(e) else e)
    with warnings.catch_warnings(record=True):
        warnings.simplefilter("always")
        estimate = estimated(case, solution)
    return {
        **facts, "errors": errors, "error": worst, "seconds": wall, "cpu_seconds": processor,
        "reference": method, "reference_agreement": agreement, "estimate": estimate,
        "loss": report.loss, "fresh_loss": report.fresh_loss, "steps": report.steps,
        "network": network(solution.experiment.model), "parameters": solution.theta.size,
        "points": {n: len(p.coordinates) for n, p in solution.experiment.draw_points().items()},
        "stages": [vars(stage) | {"reason": str(stage.reason)} for stage in report.stages],
        "setbacks": [str(setback) for setback in report.setbacks],
        "coefficients": dict(solution.parameters), "stop_reason": str(report.stop_reason),
        "warnings": sorted({str(warning.message) for warning in caught}),
    }, solution  # fmt: skip


def estimated(case: Case, solution: pinn.Solution) -> dict[str, Any]:
    """Return what the solution says of its own errors, without a reference.

    `errors`: relative ones, as experiments.case.compare has the true ones, by name; of coefficients
    what the equations say and the standard error that noise gives them, together. `trusted`:
    whether it believes them, else `doubts` say why not. `failed` is why there are none.
    """
    try:
        found = solution.error_estimate()
    except Exception as error:  # as above
        return {"failed": f"{type(error).__name__}: {error}"}
    errors = dict(found.relative_l2)
    if case.up_to_constant and found.error is not None:
        points = case.reference().points
        present, e = solution.evaluate(**points), found.error.evaluate(points)
        for name in case.up_to_constant:
            errors[name] = relative_l2(present[name], present[name] + e[name], up_to_constant=True)
    spread = solution.report.recovery.standard_errors
    for name in case.truth:
        moved = 0.0 if found.error is None else float(found.derivative(name))
        if moved or name in spread:
            both = math.hypot(moved, spread.get(name, 0.0))
            errors[name] = both / abs(solution.parameters[name])
    return {
        "errors": errors, "trusted": found.trusted, "unexplained": found.unexplained,
        "doubts": list(found.doubts), "remarks": list(found.remarks), "seconds": found.seconds,
    }  # fmt: skip


def network(model: Any) -> str:
    """Return a model in a few words, "mlp 3x20" with what else is not left at its default."""
    if not isinstance(model, Model):
        return type(model).__name__
    fields = {name: entry.default for name, entry in fields_of(type(model)).items()}
    given = {name: value for name, value in dump(model).items()
             if getattr(model, name) != fields[name]}  # fmt: skip
    words = [MODELS.name_of(model)]
    if "depth" in fields and "width" in fields:
        width = model.width
        words += [f"{model.depth}x{width}" if isinstance(width, int) else "-".join(map(str, width))]
        given = {name: value for name, value in given.items() if name not in ("width", "depth")}
    return ", ".join([" ".join(words), *(f"{name} {_short(one)}" for name, one in given.items())])


def _short(value: Any) -> str:
    """Return plain data as a line, without what is empty."""
    if isinstance(value, dict):
        kept = [f"{name}: {_short(one)}" for name, one in value.items() if one not in _EMPTY]
        return f"{{{', '.join(kept)}}}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(_short(one) for one in value)}]"
    return f"{value:g}" if isinstance(value, float) else str(value)
