"""Train what a row states and compare with its reference, which training never sees."""

from __future__ import annotations

import dataclasses
import math
import time
import warnings
from importlib import import_module
from types import ModuleType
from typing import Any

import numpy as np

import pinn
from experiments.peers.row import Row
from pinn.config import ConfigError, Override, load

GOAL = 1e-3


def problem(row: Row) -> pinn.Problem:
    """Return what the row's config or program states."""
    return _program(row).PROBLEM if _is_program(row) else load(row.file).experiment.problem


def limit(row: Row, seconds: float) -> float:
    """Return the time that a row's training may take: the config's own, at most `seconds`."""
    own = None if _is_program(row) else load(row.file).experiment.seconds
    return seconds if own is None else min(own, seconds)


def solve(row: Row, seconds: float, seed: int) -> pinn.Solution:
    """Run the row's program, or train its config with these in place of its own limit and seed."""
    if _is_program(row):
        return _program(row).solve(seconds, seed)
    overrides = [Override.parse(f"seconds={seconds!r}", "--seconds"),
                 Override.parse(f"seed={seed}", "--seed")]
    experiment = load(row.file, overrides).experiment
    given = {f.name: getattr(experiment, f.name) for f in dataclasses.fields(experiment)}
    return pinn.solve(**given)


def _is_program(row: Row) -> bool:
    return row.file.suffix == ".py"


def _program(row: Row) -> ModuleType:
    return import_module(f"experiments.peers.problems.{row.name}")


def measure(row: Row, seconds: float, seed: int) -> tuple[dict[str, Any], pinn.Solution | None]:
    """Return the figures of a row and what was trained; `refused` is why it could not be.

    seconds: how long it may train at most; a config that says a shorter time takes that.
    """
    facts: dict[str, Any] = {"name": row.name, "seed": seed}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            facts["limit_seconds"] = limit(row, seconds)
            began = time.perf_counter()
            solution = solve(row, facts["limit_seconds"], seed)
        except (ConfigError, ValueError) as error:
            return {**facts, "refused": str(error), "reached": False}, None
        wall = time.perf_counter() - began
    errors, agreement, method = compare(row, solution)
    worst = max(errors.values(), key=lambda e: math.inf if math.isnan(e) else e)
    report = solution.report
    return {
        **facts, "errors": errors, "error": worst, "reached": bool(worst < GOAL), "seconds": wall,
        "reference": method, "reference_agreement": agreement,
        "loss": report.loss, "fresh_loss": report.fresh_loss, "steps": report.steps,
        "parameters": solution.theta.size, "coefficients": dict(solution.parameters),
        "stop_reason": str(report.stop_reason),
        "warnings": sorted({str(warning.message) for warning in caught}),
    }, solution


def compare(row: Row, solution: pinn.Solution) -> tuple[dict[str, float], float | None, str]:
    """Return the relative errors by name, how well the reference is known, and what it is.

    Of unknowns and fields the relative L2 error, of coefficients the relative error.
    """
    agreement, method = None, "formula"
    if row.reference is None:
        errors = dict(solution.report.rel_l2)
        if row.up_to_constant:
            raise ValueError(f"{row.name}: a formula cannot be compared up to a constant yet")
    else:
        reference = row.reference()
        agreement, method = reference.agreement, reference.method
        found = solution.evaluate(**reference.points) if reference.values else {}
        errors = {
            name: relative_l2(found[name], values, name in row.up_to_constant)
            for name, values in reference.values.items()
        }
    for name, value in row.truth.items():
        errors[name] = abs(solution.parameters[name] - value) / abs(value)
    return errors, agreement, method


def relative_l2(found: np.ndarray, exact: np.ndarray, up_to_constant: bool = False) -> float:
    """Return |found - exact| / |exact|; up_to_constant: of both without their means."""
    found, exact = np.ravel(found), np.ravel(exact)
    if up_to_constant:
        found, exact = found - found.mean(), exact - exact.mean()
    return float(np.linalg.norm(found - exact) / np.linalg.norm(exact))
