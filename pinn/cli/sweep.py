"""`sweep`: a run for each combination of some values of a config."""

from __future__ import annotations

import argparse
import itertools
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pinn.cli import train
from pinn.cli.configured import add_config, add_track, read_config
from pinn.cli.output import say, tell
from pinn.cli.verdict import DONE, INTERRUPTED, Misuse

if TYPE_CHECKING:
    from pinn.config import Override

_ABOUT = """\
Train a run for each combination of the values, one after the other, and print them as
one table. The same command again goes on where it was cut short, and trains only what
is not there yet.
"""
_EPILOG = """\
example:
  python -m pinn sweep burgers --grid model.width=20,40 --grid seed=0,1,2 --seconds 60
"""
_LONGEST_NAME = 120


@dataclass(frozen=True)
class _Axis:
    """The values that a key of the config has in turn, as texts and as overrides."""

    key: str
    texts: tuple[str, ...]
    values: tuple[Override, ...]


def add_parser(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "sweep",
        help="train a run for each combination of some values",
        description=_ABOUT,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_config(parser)
    parser.add_argument(
        "--grid", metavar="KEY.PATH=VALUE,VALUE", action="append", required=True,
        help="the values that one key of the config has in turn; may be given many times",
    )  # fmt: skip
    parser.add_argument("--out", metavar="DIR", help="the folder of the runs (runs/NAME-sweep)")
    add_track(parser)
    parser.add_argument("--quiet", action="store_true", help="print only the table")
    parser.set_defaults(command=sweep)


def sweep(arguments: argparse.Namespace) -> int:
    """Train what is not there yet, and print the table; return the first exit code but 0."""
    from pinn.runs.overview import HEADINGS, Overview
    from pinn.text import aligned

    axes = [_axis(text) for text in arguments.grid]
    repeated = [axis.key for axis in axes if [one.key for one in axes].count(axis.key) > 1]
    if repeated:
        raise Misuse(f"--grid {repeated[0]}: it is given twice; write all values after one =")
    names = _short_names([axis.key for axis in axes])
    runs: dict[Path, tuple[list[str], argparse.Namespace]] = {}
    for places in itertools.product(*(range(len(axis.values)) for axis in axes)):
        texts = [axis.texts[place] for axis, place in zip(axes, places, strict=True)]
        own = _arguments_of(arguments, axes, places)
        config = read_config(own)  # every combination, before the first is trained
        folder = Path(arguments.out or Path("runs", f"{config.experiment.problem.name}-sweep"))
        directory = folder / _directory_name(names, texts)
        if directory in runs:
            raise Misuse(f"{directory}: two combinations would go there; give other values")
        own.out = str(directory)
        runs[directory] = (texts, own)
    code = DONE
    for number, (directory, (_, own)) in enumerate(runs.items(), 1):
        if not arguments.quiet:
            tell(f"run {number} of {len(runs)}: {directory}")
        ended = train.train(own)
        code = code or ended
        if ended == INTERRUPTED:
            break
    seen = [(texts, Overview.of(directory)) for directory, (texts, _) in runs.items()]
    rows = [(*names, *HEADINGS[1:]), *((*texts, *one.cells[1:]) for texts, one in seen)]
    say(aligned(rows, left=len(names) + 1))
    return code


def _axis(text: str) -> _Axis:
    from pinn.config import Override
    from pinn.config.yaml_tree import parse_yaml
    from pinn.schema.tree import Place, Sequence

    source = f"--grid {text}"
    key, equals, values = text.partition("=")
    tree = parse_yaml(f"[{values}]", source, line=None)
    if not equals or not isinstance(tree, Sequence) or not tree.items:
        raise Misuse(f"{source}: expected key.path=value,value, such as seed=0,1,2")
    keys = Override.parse(f"{key}=0", source).keys
    place = Place(source)
    overrides = tuple(Override(keys, item, place) for item in tree.items)
    texts = tuple(getattr(item, "text", f"{number}") for number, item in enumerate(tree.items))
    return _Axis(".".join(keys), texts, overrides)


def _arguments_of(
    arguments: argparse.Namespace, axes: list[_Axis], places: tuple[int, ...]
) -> argparse.Namespace:
    """Return the arguments of `train` for one combination."""
    chosen = [axis.values[place] for axis, place in zip(axes, places, strict=True)]
    given = {**vars(arguments), "out": None, "overwrite": False, "resume": True, "extend": False}
    return argparse.Namespace(**{**given, "overrides": chosen})


def _short_names(keys: list[str]) -> list[str]:
    """Return the last part of each key, the whole of those that this does not tell apart."""
    last = [key.rpartition(".")[2] for key in keys]
    return [one if last.count(one) == 1 else key for one, key in zip(last, keys, strict=True)]


def _directory_name(names: list[str], texts: list[str]) -> str:
    """Return a name for the directory of a combination, of letters that every system takes."""
    pairs = zip(names, texts, strict=True)
    name = re.sub(r"[^A-Za-z0-9_.+=-]", "-", "_".join(f"{one}={text}" for one, text in pairs))
    if len(name) > _LONGEST_NAME:
        raise Misuse(f"{name[:60]}...: the values are too long for the name of a directory")
    return name
