"""A checked config: load it, build what it describes, write it down in full."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

from pinn.config.errors import ConfigError
from pinn.config.overrides import Override
from pinn.config.stages import fill_stages
from pinn.config.yaml_text import dump_yaml
from pinn.config.yaml_tree import parse_yaml, read_yaml
from pinn.models import MLP, MODELS
from pinn.sampling import Sampling
from pinn.schema import Count, NonNegative, declared, dump
from pinn.schema.arrays import with_texts
from pinn.schema.declared import Field, Member, Record, built, fields_of, read_fields
from pinn.schema.errors import DeclarationError
from pinn.schema.kinds import Items
from pinn.schema.reader import INVALID, Complaint, Reader
from pinn.schema.tree import Mapping, Node, Place, Scalar, tree_of
from pinn.tracking import TRACKERS, Tracker
from pinn.training.experiment import Experiment

_OUTPUT = "output"
_TRACKING = Items(Member(TRACKERS), "a list of trackers such as [tensorboard]")


@declared
class Output:
    """What a run writes: where and how often.

    directory: runs/NAME-SEED where left out. log_every: steps between two lines of the metrics;
    where left out one for each of few steps, and one for each hundred of many.
    checkpoint_seconds: wall seconds between two checkpoints, 0 for one after every step. tracking:
    other tools that log the run as well, such as [tensorboard, {wandb: {project: heat}}].
    """

    directory: str | None = None
    log_every: Count | None = None
    checkpoint_seconds: NonNegative = 60.0
    tracking: Annotated[tuple[Tracker, ...], _TRACKING] = ()


def sections() -> dict[str, Field]:
    """Return the sections of a config file: the declaration of a run, and its output."""
    return {**fields_of(Experiment), _OUTPUT: Field(Record(Output), Output())}


@dataclass(frozen=True)
class Config:
    """A config that passed every check: the run it declares, its output, and the file's name."""

    experiment: Experiment
    output: Output
    source: str
    reader: Reader = field(default_factory=Reader, repr=False, compare=False)

    @property
    def directory(self) -> Path:
        """Where the run goes: output.directory, or runs/NAME-SEED."""
        default = Path("runs") / f"{self.experiment.problem.name}-{self.experiment.seed}"
        return default if self.output.directory is None else Path(self.output.directory)

    @property
    def log_every(self) -> int | None:
        """The number of steps between two lines of the metrics; None: by how many there are."""
        return self.output.log_every

    @property
    def data(self) -> dict[str, Any]:
        """The config as plain data with every default filled in."""
        return with_texts({**dump(self.experiment), _OUTPUT: dump(self.output)})

    def mistakes(self, error: Exception) -> ConfigError:
        """Return what refused the run later on as mistakes of this file, with their places."""
        if not isinstance(error, DeclarationError):
            return ConfigError([Complaint(Place(self.source), "", str(error))])
        self.reader.complaints.clear()
        self.reader.refuse(error, ())
        return ConfigError(self.reader.complaints)

    def text(self) -> str:
        """Return the resolved config as YAML; loading it gives the same objects to the last bit."""
        return dump_yaml(self.data)


def load(path: str | Path, overrides: Iterable[Override] = ()) -> Config:
    """Load, check and build a config file, with overrides laid over it in order.

    Nothing is written. Raises ConfigError with every mistake that was found.
    """
    shown = str(path)
    return _config(read_yaml(Path(path), shown), shown, Path(path), overrides)


def parse(text: str, source: str, overrides: Iterable[Override] = ()) -> Config:
    """Check and build a config from its text, which messages call `source`; else as `load`.

    Files that it names are looked for from the working directory.
    """
    return _config(parse_yaml(text, source), source, Path(), overrides)


def _config(root: Node, shown: str, path: Path, overrides: Iterable[Override]) -> Config:
    if not isinstance(root, Mapping):
        message = f"expected a mapping with the key problem, got {root}"
        raise ConfigError([Complaint(root.place, "", message)])
    _name_by_file(root, path)
    overrides = list(overrides)
    _fill_defaults(root, overrides)
    for override in overrides:
        override.apply(root)

    reader = Reader(folder=path.parent)
    reader.note((), Place(shown))
    values = read_fields(sections(), root, (), reader)
    if values is not INVALID:
        output = values.pop(_OUTPUT)
        experiment = built(Experiment, values, (), reader)
    if reader.complaints:
        raise ConfigError(reader.complaints)
    return Config(experiment, output, shown, reader)


def _name_by_file(root: Mapping, path: Path) -> None:
    """Call a problem without a name like its file: two of them should not share a directory."""
    problem = root.entries.get("problem")
    name = re.sub(r"[^A-Za-z0-9_.+-]", "-", path.stem).lstrip(".+-")[:100]
    if isinstance(problem, Mapping) and "name" not in problem.entries and name:
        problem.put("name", Scalar(name, problem.place, quoted=True), problem.place)


def _fill_defaults(root: Mapping, overrides: list[Override]) -> None:
    """Add the sections that the file leaves out, before the overrides: they may reach into them.

    A model and stages that the overrides name are these.
    """
    place = Place(f"{root.place.source} (defaults)")
    fill_stages(root, overrides, place)
    for key, value, named in (("model", MLP(), _model_named), ("sampling", Sampling(), None)):
        below = [override.keys[1:] for override in overrides if override.keys[0] == key]
        if key not in root.entries and any(below):
            default = sections()[key].kind.dump(value)
            root.put(key, tree_of((named and named(below, default)) or default, place), place)


def _model_named(below: Iterable[tuple[str, ...]], default: Any) -> Any:
    """Return the model that overrides name, if that is not the default."""
    names = [keys[0] for keys in below if keys and keys[0] in MODELS and keys[0] not in default]
    return {names[0]: {}} if names else None
