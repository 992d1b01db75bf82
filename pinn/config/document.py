"""The config file's keys, declared once, and the checks that need more than one of them."""

from __future__ import annotations

import functools
import operator
import re
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from pinn import expressions
from pinn.checks import NAME, nearest
from pinn.conditions import CONDITIONS
from pinn.config.errors import listed
from pinn.config.schema import (
    INVALID,
    Choice,
    Field,
    Integer,
    Items,
    Kind,
    Names,
    Number,
    Optional,
    Path,
    Reader,
    Record,
    Tagged,
    Text,
    record_of,
)
from pinn.config.tree import Mapping, Node, Scalar
from pinn.equations.names import check_names as check_declared
from pinn.equations.scope import Scope
from pinn.geometry import Domain, Interval, Time
from pinn.models import MODELS
from pinn.objective import DERIVATIVES, ENGINES
from pinn.optimizers import STAGES
from pinn.problem import references
from pinn.problem.parameter import Parameter
from pinn.sampling import Sampling
from pinn.training.setup import PRECISIONS

# The classes behind the names a config gives, with the settings that their signatures declare.
CLASSES: dict[str, type] = {**CONDITIONS, **MODELS, **STAGES}

# What a config may leave out. The training stages come from `pinn.default_training`.
DEFAULTS = "{model: mlp, sampling: {}, weighting: {}, output: {}}"

_FILE_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]{0,99}")
_EXPRESSION = Text("an expression such as -sin(pi*x)")


@dataclass(frozen=True)
class Axis:
    """A coordinate of the domain: `[low, high]` for space, `{time: [low, high]}` for time."""

    what = "[low, high] or {time: [low, high]}"

    def read(self, node: Node, path: Path, reader: Reader) -> Any:
        if not isinstance(node, Mapping):
            return self._bounds(node, path, reader)
        if list(node.entries) != ["time"]:
            return reader.complain(path, f"expected {self.what}, got {node}", node.place)
        bounds = self._bounds(node.entries["time"], (*path, "time"), reader)
        return INVALID if bounds is INVALID else {"time": bounds}

    def _bounds(self, node: Node, path: Path, reader: Reader) -> Any:
        bounds = reader.read(Items(Number(), self.what, length=2), node, path)
        if bounds is not INVALID and not bounds[0] < bounds[1]:
            low, high = bounds
            message = f"expected low < high, got low {low:g} and high {high:g}"
            return reader.complain(path, message, node.place)
        return bounds


@dataclass(frozen=True)
class Shipped:
    """A reference solution: the name of one that ships, or a formula for each unknown."""

    what = "the name of a shipped reference or a mapping from unknowns to expressions"

    def read(self, node: Node, path: Path, reader: Reader) -> Any:
        kind: Kind = Names(_EXPRESSION) if isinstance(node, Mapping) else Text(self.what)
        return kind.read(node, path, reader)


@dataclass(frozen=True)
class Listed:
    """Names of unknowns: a list, or one name."""

    what = "a list of names such as [u, v]"

    def read(self, node: Node, path: Path, reader: Reader) -> Any:
        name = Text("a name of letters, digits and _ that starts with a letter", NAME)
        if isinstance(node, Scalar) and not node.is_null:
            value = name.read(node, path, reader)
            return INVALID if value is INVALID else [value]
        return Items(name, self.what, least=1).read(node, path, reader)


def document() -> Record:
    """The whole config file."""
    kinds: dict[str, Kind] = {
        "unknown": Text(),
        "value": _EXPRESSION,
        "order": Integer(low=0),
        "on": Optional(Text("a face such as x=-1")),
    }
    condition = Tagged(_records(CONDITIONS, **kinds), "condition")
    settings = record_of(Parameter).record.fields
    parameter = Record({key: entry for key, entry in settings.items() if key != "name"})
    conditions = "a list of conditions such as [initial: {unknown: u, value: 0}]"
    numbers = "a mapping from names to numbers"
    ranges = "a mapping from names to {initial, lower, upper}"
    weights = "a mapping from block names to weights"
    axes = "a mapping from coordinates to their bounds such as {x: [-1, 1], t: {time: [0, 1]}}"
    texts = "a mapping from names to equations such as {heat: u_t - u_xx}"
    problem = Record(
        {
            "name": Field(Text("a name of letters, digits, _, - and .", _FILE_NAME), "problem"),
            "domain": Field(Names(Axis(), axes, least=1)),
            "unknowns": Field(Listed()),
            "constants": Field(Optional(Names(Number(), numbers), dict), dict),
            "parameters": Field(Optional(Names(parameter, ranges), dict), dict),
            "equations": Field(Names(_EXPRESSION, texts, least=1)),
            "conditions": Field(Optional(Items(condition, conditions), list), list),
            "reference": Field(Optional(Shipped()), None),
        }
    )
    stage = Tagged(_records(STAGES), "training stage")
    return Record(
        {
            "problem": Field(problem),
            "model": Field(Tagged(_records(MODELS), "model")),
            "sampling": Field(record_of(Sampling)),
            "weighting": Field(Optional(Names(Number(low=0), weights), dict), dict),
            "training": Field(Items(stage, "a list of training stages", least=1)),
            "precision": Field(Choice(tuple(PRECISIONS)), "float64"),
            "device": Field(Choice(("cpu", "cuda")), "cpu"),
            "engine": Field(Choice(ENGINES), "recorded"),
            "derivatives": Field(Choice(DERIVATIVES), "jets"),
            "threads": Field(Optional(Integer(low=1)), None),
            "seed": Field(Integer(low=0), 0),
            "output": Field(
                Record(
                    {
                        "directory": Field(Optional(Text("a directory")), None),
                        "log_every": Field(Integer(low=1), 100),
                    }
                )
            ),
        }
    )


def _records(classes: dict[str, type], **kinds: Kind) -> dict[str, Kind]:
    """Return the record of each class by its name; `kinds` holds for the arguments called so."""
    return {tag: record_of(made, **kinds) for tag, made in classes.items()}


def make_domain(axes: dict[str, Any]) -> Domain:
    """Build the domain from its section; ValueError for two times."""
    made = [
        Time(name, *axis["time"]) if isinstance(axis, dict) else Interval(name, *axis)
        for name, axis in axes.items()
    ]
    return functools.reduce(operator.mul, made)


def make(tagged: dict[str, dict[str, Any]]) -> Any:
    """Build a condition, model or training stage from `{name: settings}`."""
    ((tag, values),) = tagged.items()
    return CLASSES[tag](**values)


def check_names(data: dict[str, Any], reader: Reader) -> None:
    """Check the names of a whole config against each other; mistakes go to `reader`.

    Takes the data as `document` reads it. The classes would refuse most of this as well, but they
    do not know the line.
    """
    problem = data["problem"]
    try:
        domain = make_domain(problem["domain"])
    except ValueError as error:
        reader.complain(("problem", "domain"), str(error))
        return
    known = _Known(problem, domain, reader)
    if not known.names_are_usable():
        return  # a text's meaning hangs on them
    for name, values in problem["parameters"].items():
        try:
            Parameter(name, **values)
        except ValueError as error:
            message = str(error).removeprefix(f"parameter {name!r}: ")
            reader.complain(("problem", "parameters", name), message)
    for name, text in problem["equations"].items():
        known.expression(text, ("problem", "equations", name), equation=True)
    blocks = [*problem["equations"]]
    for i, tagged in enumerate(problem["conditions"]):
        ((kind, body),) = tagged.items()
        path = ("problem", "conditions", str(i), kind)
        known.unknown(body["unknown"], (*path, "unknown"))
        known.expression(body["value"], (*path, "value"))
        condition = make(tagged)
        try:
            condition.name(domain)
            if not condition.hard:  # a hard one has no block
                blocks.append(condition.name(domain))
        except ValueError as error:
            reader.complain(path, str(error))
    known.reference(problem["reference"])
    if not reader.complaints:  # else a block may be missing here only for want of its equation
        for name in data["weighting"]:
            if name not in blocks:
                message = f"expected a block out of {listed(blocks)}, got {name!r}"
                reader.complain(("weighting", name), message + nearest(name, blocks))


class _Known:
    """The names of one problem, and the checks of texts against them."""

    def __init__(self, problem: dict[str, Any], domain: Domain, reader: Reader) -> None:
        self.problem = problem
        self.domain = domain
        self.reader = reader
        self.unknowns = tuple(problem["unknowns"])

    @cached_property
    def scope(self) -> Scope:
        """The names of an equation; for names that are usable."""
        return Scope(
            self.unknowns,
            self.domain.coordinates,
            self.domain.space,
            dict.fromkeys(self.problem["constants"], 0.0),
            tuple(self.problem["parameters"]),
        )

    def names_are_usable(self) -> bool:
        """Check that every declared name can be written in an equation and means one thing."""
        groups: dict[str, list[str]] = {}
        sections = {"domain": "coordinates"}  # where a section is not called like its names
        usable = True
        for section in ("domain", "unknowns", "constants", "parameters"):
            group = groups.setdefault(sections.get(section, section), [])
            for i, name in enumerate(self.problem[section]):
                try:
                    # One name more each time: the first that does not fit is the one to tell of.
                    group.append(name)
                    check_declared(**{"unknowns": [], **groups})
                except ValueError as error:
                    group.pop()
                    key = str(i) if section == "unknowns" else name
                    self.reader.complain(("problem", section, key), str(error))
                    usable = False
        return usable

    def unknown(self, name: str, path: Path) -> None:
        """Check the name of an unknown."""
        if name not in self.unknowns:
            message = f"expected an unknown out of {listed(self.unknowns)}, got {name!r}"
            self.reader.complain(path, message + nearest(name, self.unknowns))

    def expression(
        self, text: str, path: Path, *, equation: bool = False, exact: bool = False
    ) -> None:
        """Resolve a text: only equations know the unknowns, and an exact value no parameters."""
        try:
            scope = self.scope if equation else self.scope.of_values(parameters=not exact)
            scope.resolve(text)
        except expressions.ExpressionError as error:
            self.reader.complain(path, str(error))

    def reference(self, reference: str | dict[str, str] | None) -> None:
        """Check the name of a reference that ships, or the formula of each unknown."""
        path = ("problem", "reference")
        if isinstance(reference, dict):
            for unknown, text in reference.items():
                self.unknown(unknown, (*path, unknown))
                self.expression(text, (*path, unknown), exact=True)
        elif reference is not None and reference not in references.names():
            names = references.names()
            message = f"expected one of {listed(names)}, or {{unknown: expression}}"
            message += f", got {reference!r}{nearest(reference, names)}"
            self.reader.complain(path, message)
