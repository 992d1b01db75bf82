"""Stages of training that overrides reach into, where a config leaves them to be chosen."""

from __future__ import annotations

from collections.abc import Mapping as Lookup
from collections.abc import Sequence as List
from typing import Any, NoReturn

from pinn.checks import nearest
from pinn.config.errors import ConfigError
from pinn.config.overrides import Override
from pinn.optimizers import STAGES
from pinn.schema.declared import fields_of
from pinn.schema.reader import Complaint
from pinn.schema.tree import Mapping, Node, Place, Scalar, tree_of
from pinn.training.auto import default_training
from pinn.training.plan import PLANS, TRAINING

_SECTION = "training"


def fill_stages(root: Mapping, overrides: List[Override], place: Place) -> None:
    """Put in the stages that overrides reach into, where the config has none.

    Those that they name one by one; otherwise those that are foreseen for a small model. Raises
    ConfigError for an override that reaches into neither.
    """
    own = [override for override in overrides if override.keys[0] == _SECTION]
    within = [one for one in own if len(one.keys) > 1 and one.keys[1] not in PLANS]
    if not within or not _is_open(root.entries.get(_SECTION)):
        return
    stages = _named(within) or TRAINING.dump(default_training(0))
    if len(within) == len(own):  # none of them gives all stages anew
        for override in within:
            _check(override, stages)
    root.put(_SECTION, tree_of(stages, place), place)


def _is_open(node: Node | None) -> bool:
    """Return whether stages are chosen on the way: nothing is said of them, or auto."""
    return node is None or isinstance(node, Scalar) and (node.is_null or node.text in PLANS)


def _named(overrides: List[Override]) -> list[dict[str, Any]]:
    """Return the stages that overrides name, if these are not those of the default."""
    paths = [override.keys for override in overrides]
    names = {path[1]: path[2] for path in paths if len(path) > 2 and path[2] in STAGES}
    places = [str(number) for number in range(len(names))]
    if set(names) != set(places):
        return []
    stages = [{names[place]: {}} for place in places]
    default = TRAINING.dump(default_training(0))
    kinds = zip(stages, default, strict=False)
    is_default = len(stages) <= len(default) and all(one.keys() <= of.keys() for one, of in kinds)
    return [] if is_default else stages


def _check(override: Override, stages: List[Lookup[str, Any]]) -> None:
    _, number, *below = override.keys
    if number.isdigit() and int(number) < len(stages):
        (name,) = stages[int(number)]
        if not below or below[0] == name or below[0] in fields_of(STAGES[name]):
            return
    _refuse(override)


def _refuse(override: Override) -> NoReturn:
    """Say that there is no such stage, and how to have one."""
    known = {name: list(fields_of(kind)) for name, kind in STAGES.items()}
    setting = next((key for key in reversed(override.keys[1:]) if not key.isdigit()), "")
    every = list(dict.fromkeys(key for settings in known.values() for key in settings))
    owners = [name for name, settings in known.items() if setting in settings]
    name = next(iter(owners), next(iter(STAGES)))
    hint = ""
    if 0 < len(owners) < len(known):
        hint = f" ({setting} is a setting of {', '.join(owners)})"
    elif not owners and setting and setting not in STAGES:
        hint = f" (no stage has a setting {setting!r}{nearest(setting, every)})"
    value = override.value.text if isinstance(override.value, Scalar) else "..."
    one = f"{setting}: {value}" if owners else "steps: 2000"
    message = (
        "the stages are chosen while it runs (auto), and there is none to change; write stages of "
        f"your own in the file, as in training: [{{{name}: {{{one}}}}}], or name them here, as in "
        f"--set training.0.{name}.{one.replace(': ', '=')}{hint}"
    )
    raise ConfigError([Complaint(override.place, _SECTION, message)])
