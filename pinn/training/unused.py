"""Constants and functions that nothing of a run uses, as a misspelt one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pinn.checks import nearest
from pinn.expressions import ExpressionError, Number, nodes, parse_equation
from pinn.problem import Problem, references
from pinn.problem.uses import names_used, texts_in
from pinn.training.experiment import Experiment


def unused_constants(experiment: Experiment) -> list[str]:
    """Return a sentence for each constant and function space that a problem uses nowhere.

    Nothing is said where a function, or an object of a class of the user's own, may use any.
    """
    problem = experiment.problem
    used = names_used([*_stated(problem), experiment.model, experiment.sampling,
                       experiment.weighting])  # fmt: skip
    if used is None:
        return []
    used |= {name for needed in problem.computed_from.values() for name in needed}
    if isinstance(problem.reference, str):
        used |= set(references.get(problem.reference).constants)
    # The formulas of models have the numbers of constants already.
    written = set(_numbers([experiment.model, problem.fields]))
    unused = [
        name for name, value in problem.constants.items()
        if name not in used and abs(value) not in written
    ]  # fmt: skip
    functions = [name for name in problem.functions if name not in used]
    others = [name for name in (*problem.constants, *_adjustable(problem)) if name not in unused]
    return [
        f"constants.{name} is used nowhere"
        + (nearest(name, others) or ", so its value changes nothing; use it, or leave it out")
        for name in unused
    ] + [
        f"function_spaces.{name} is used nowhere, so the solution is the same for every function; "
        "use it, or leave it out"
        for name in functions
    ]


def _stated(problem: Problem) -> tuple[Any, ...]:
    """Return the parts of a problem that may use constants."""
    return (
        problem.equations, problem.conditions, problem.regions, problem.piecewise, problem.tables,
        problem.fields, problem.parameters, problem.reference,
        [space.mean for space in problem.function_spaces],
    )  # fmt: skip


def _adjustable(problem: Problem) -> Iterator[str]:
    """Give the names that a constant may be mistaken for."""
    named = (*problem.parameters, *problem.families, *problem.function_spaces)
    yield from (one.name for one in named)


def _numbers(stated: Any) -> Iterator[float]:
    """Give the numbers in the formulas of a declaration."""
    for text in texts_in(stated):
        try:
            tree = parse_equation(text)
        except ExpressionError:  # another text
            continue
        yield from (node.value for node in nodes(tree) if isinstance(node, Number))
