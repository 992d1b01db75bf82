"""The problem as it was stated, in words and tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pinn.conditions.condition import CONDITIONS
from pinn.markup import Html, code, element, facts, joined, table
from pinn.schema import dump, fields_of

if TYPE_CHECKING:
    from pinn.problem.problem import Problem

_LONGEST = 160
# Of a condition: said beside it, and of no use to people.
_NOT_TOLD = ("hard", "digest")
# Which no file holds, and no text can show.
_FUNCTION = "a Python function"


def statement(problem: Problem) -> Html:
    """Return the equations, conditions, domain, constants and what else a problem is made of."""
    parts: list[Html] = [element("h3", "Equations")]
    parts.append(table(
        ["name", "vanishes, or holds", "where"],
        [[name, _formula(given), _place(given)] for name, given in problem.equations.items()],
    ))  # fmt: skip
    if problem.conditions:
        parts.append(element("h3", "Conditions"))
        parts.append(table(
            ["name", "kind", "what it says", "holds"],
            [
                [_called(problem, number), CONDITIONS.name_of(one).replace("_", " "),
                 _settings(one), "exactly" if one.hard else "as a term of the loss"]
                for number, one in enumerate(problem.conditions)
            ],
        ))  # fmt: skip
    parts.append(element("h3", "Where, and with what"))
    parts.append(facts(_made_of(problem)))
    return joined(parts)


def _called(problem: Problem, number: int) -> str:
    """Return what a condition is called: by its block where it has one alone."""
    blocks = problem.by_condition[number]
    if len(blocks) == 1:
        return blocks[0].name
    return problem.conditions[number].label(problem.domain)


def _made_of(problem: Problem) -> Iterator[tuple[str, str]]:
    stated = dump(problem)

    def value(name: str, text: str) -> str:
        unit = problem.units.get(name)
        return f"{text} {unit}" if unit else text

    for name, (low, high) in problem.domain.bounds.items():
        if name in problem.mode_names:
            continue  # told of with the functions
        kind = "time" if name == problem.domain.time else "coordinate"
        kind = "family" if name in stated["families"] else kind
        yield f"{kind} {name}", value(name, _text([low, high]))
    shapes = {
        name: one for name, one in stated["domain"].items() if name not in problem.domain.bounds
    }
    if shapes:
        yield "domain", code(_text(shapes))
    yield "unknowns", ", ".join(value(name, name) for name in problem.unknowns)
    for title, key in (
        ("constant", "constants"), ("coefficient", "parameters"), ("field", "fields"),
        ("function", "function_spaces"), ("table", "tables"),
        ("region", "regions"), ("piecewise", "piecewise"),
    ):  # fmt: skip
        given = stated[key]
        for name, one in given.items():
            yield f"{title} {name}", code(value(name, _text(one)))
    if problem.reference is not None:
        yield "reference", code(_text(stated["reference"]))


def _formula(given: Any) -> Html:
    expression = getattr(given, "expression", given)
    return code(expression) if isinstance(expression, str) else element("i", _FUNCTION)


def _place(given: Any) -> str:
    on = getattr(given, "on", None)
    return "everywhere" if on is None else _text(on)


def _settings(condition: Any) -> Html:
    """Return what was given for a condition, without what it would have been anyhow."""
    defaults = {name: entry.default for name, entry in fields_of(type(condition)).items()}
    parts: list[str] = []
    for name, value in dump(condition).items():
        function = callable(getattr(condition, name))
        told = name not in _NOT_TOLD and _says(value) and not _is(value, defaults.get(name))
        if function or told:
            said = element("i", _FUNCTION) if function else code(_text(value))
            parts += [" \N{MIDDLE DOT} " if parts else "", f"{name}: ", said]
    return joined(parts)


def _says(value: Any) -> bool:
    """Whether something was given."""
    return value is not None and not (isinstance(value, list | dict | tuple) and not value)


def _is(value: Any, default: Any) -> bool:
    return isinstance(value, str | int | float) and value == default


def _text(value: Any) -> str:
    """Return plain data in a line, without its middle where it is long."""
    text = _line(value)
    if len(text) <= _LONGEST:
        return text
    half = _LONGEST // 2
    return f"{text[:half]} \N{HORIZONTAL ELLIPSIS} {text[-half:]}"


def _line(value: Any) -> str:
    if value is None:
        return _FUNCTION
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.8g}"
    if isinstance(value, Mapping):
        given = {name: one for name, one in value.items() if _says(one)}
        return ", ".join(f"{name}: {_nested(one)}" for name, one in given.items())
    if isinstance(value, Sequence) and not isinstance(value, str):
        return f"[{', '.join(_nested(one) for one in value)}]"
    if hasattr(value, "shape"):
        return f"{value.size} numbers"
    return str(value)


def _nested(value: Any) -> str:
    return f"{{{_line(value)}}}" if isinstance(value, Mapping) else _line(value)
