"""A checked config: load it, build what it describes, write it down in full."""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from pinn.config.document import CLASSES, DEFAULTS, check_names, document, make, make_domain
from pinn.config.errors import Complaint, ConfigError, Place
from pinn.config.overrides import Override
from pinn.config.schema import INVALID, Reader, plain, without_prefix
from pinn.config.tree import Mapping, parse_yaml, read_yaml
from pinn.optimizers import Stage
from pinn.problem.parameter import Parameter
from pinn.problem.problem import Problem
from pinn.sampling import Sampling
from pinn.training.defaults import default_training


@dataclass(frozen=True)
class Experiment:
    """The objects a config describes; the fields are the arguments of `pinn.solve`."""

    problem: Problem
    model: Any
    sampling: Sampling
    training: list[Stage]
    weights: dict[str, float]
    seed: int
    precision: str
    device: str
    engine: str
    derivatives: str
    threads: int | None


@dataclass(frozen=True)
class Config:
    """A config that passed every check.

    `data` is plain data with every default filled in, `experiment` what it describes, `source` the
    file's name.
    """

    data: dict[str, Any]
    experiment: Experiment
    source: str

    @property
    def directory(self) -> Path:
        """Where the run goes: output.directory, or runs/NAME-SEED."""
        given = self.data["output"]["directory"]
        default = Path("runs") / f"{self.data['problem']['name']}-{self.data['seed']}"
        return default if given is None else Path(given)

    @property
    def log_every(self) -> int:
        """The number of steps between two lines of the metrics."""
        return self.data["output"]["log_every"]

    def text(self) -> str:
        """The resolved config as YAML; loading it gives the same objects to the last bit."""
        return dump(self.data)


def load(path: str | Path, overrides: Iterable[Override] = ()) -> Config:
    """Load, check and build a config file, with overrides laid over it in order.

    Nothing is written. Raises ConfigError with every mistake that was found.
    """
    shown = str(path)
    root = read_yaml(Path(path), shown)
    if not isinstance(root, Mapping):
        message = f"expected a mapping with the key problem, got {root}"
        raise ConfigError([Complaint(root.place, "", message)])
    _fill_defaults(root)
    for override in overrides:
        override.apply(root)

    reader = Reader()
    data = reader.read(document(), root, (), Place(shown))
    if data is not INVALID:
        check_names(data, reader)
    if reader.complaints:
        raise ConfigError(reader.complaints)
    return Config(data, _build(data, reader), shown)


def dump(data: Any) -> str:
    """Config data as YAML text, in the order of its keys."""
    return yaml.dump(
        data,
        Dumper=_Dumper,
        sort_keys=False,
        default_flow_style=None,
        allow_unicode=True,
        width=10_000,  # an equation stays on its line
    )


def settings(spec: object) -> dict[str, Any]:
    """The settings of a model or training stage by the names of its constructor's arguments."""
    return {name: plain(getattr(spec, name)) for name in inspect.signature(type(spec)).parameters}


def _tag(spec: object) -> str:
    return next(tag for tag, made in CLASSES.items() if made is type(spec))


class _Dumper(yaml.SafeDumper):
    """Writes what our own reader takes, which needs fewer quotes, and no aliases."""

    def ignore_aliases(self, data: Any) -> bool:
        return True

    def number(self, value: float) -> yaml.Node:
        """A whole number without the .0; any other with all its digits."""
        negative_zero = value == 0 and math.copysign(1, value) < 0
        if value.is_integer() and abs(value) < 1e15 and not negative_zero:
            return self.represent_int(int(value))
        return self.represent_float(value)

    def text(self, value: str) -> yaml.Node:
        """A text; one that is a number, such as an expression 0, needs no quotes."""
        tag = self.resolve(yaml.ScalarNode, value, (True, False))
        if tag.endswith((":int", ":float")):
            return self.represent_scalar(tag, value)
        return self.represent_str(value)


_Dumper.add_representer(float, _Dumper.number)
_Dumper.add_representer(str, _Dumper.text)


def _fill_defaults(root: Mapping) -> None:
    """Add the sections that the file leaves out, before the overrides: they may reach into them."""
    stages = [{_tag(stage): settings(stage)} for stage in default_training(0)]
    place = Place(f"{root.place.source} (defaults)")
    for text in (DEFAULTS, dump({"training": stages})):
        for key, value in parse_yaml(text, place.source, line=None).entries.items():
            if key not in root.entries:
                root.put(key, value, place)


def _build(data: dict[str, Any], reader: Reader) -> Experiment:
    section = data["problem"]
    try:
        problem = Problem(
            domain=make_domain(section["domain"]),
            unknowns=section["unknowns"],
            equations=section["equations"],
            conditions=[make(condition) for condition in section["conditions"]],
            constants=section["constants"],
            parameters=[Parameter(n, **p) for n, p in section["parameters"].items()],
            reference=section["reference"],
            name=section["name"],
        )
    except ValueError as error:
        path = _concerned(str(error), section)
        prefixes = (*path, f"equation {path[-1]!r}")
        reader.complain(path, without_prefix(str(error), prefixes))
        raise ConfigError(reader.complaints) from None
    return Experiment(
        problem,
        make(data["model"]),
        Sampling(**data["sampling"]),
        [make(stage) for stage in data["training"]],
        data["weighting"],
        data["seed"],
        data["precision"],
        data["device"],
        data["engine"],
        data["derivatives"],
        data["threads"],
    )


def _concerned(message: str, section: dict[str, Any]) -> tuple[str, ...]:
    """The path of what a message of the Problem is about: an equation, or a key it names."""
    words = re.findall(r"\w+", message)
    if words[:1] == ["equation"] and words[1] in section["equations"]:
        return ("problem", "equations", words[1])
    return ("problem", *[word for word in words if word in section][:1])
